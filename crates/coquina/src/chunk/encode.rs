//! Encoding chunks.
//!
//! In: bytes and [`Params`]. Out: a chunk that this library, C-Blosc2 and (if asked for) C-Blosc decode.
//! Source: `docs/formats/chunk.md`, "Writing".
//! Invariant: same bytes and parameters give the same chunk, for any number of threads on any machine.

use std::borrow::Cow;
use std::ops::Range;

use super::block::DICTIONARY_BYTES_MAX;
use super::header::{BLOSC2_DICTIONARY, FLAG_MEMCPYED, FLAGS_EXTENDED, HEADER_BYTES, Header};
use super::input::{BlockSource, Input};
use super::params::{Generation, Params};
use super::scratch::{ChunkScratch, with_chunk_scratch};
use super::sink::{Piece, Sink};
use super::stream;
use crate::base::error::{Error, Result};
use crate::base::ordered::Ordered;
use crate::base::pool::{INLINE_COPY_BYTES, Job};
use crate::codec::{Encode, Samples};
use crate::filter::Steps;

/// A task encodes about this much: enough to be worth handing out, little enough to share evenly.
const TASK_BYTES_MAX: usize = 512 << 10;
/// A codec made for size has about so many times the work of a fast one.
const SLOW_WEIGHT: usize = 8;
/// Training wants so many samples, of one byte in so many of the data, for a dictionary of at least so many bytes.
const SAMPLES_MIN: usize = 8;
const SAMPLED_PART: usize = 16;
const DICTIONARY_BYTES_MIN: usize = 256;
/// The value of the special-value bits that says zeros.
const SPECIAL_ZEROS: u8 = 1 << 4;

/// Encodes `bytes` as a chunk.
///
/// # Errors
/// `Invalid` or `Unsupported` for the parameters, `Limit` for more bytes than a chunk holds, `Cancelled`.
pub fn encode(bytes: &[u8], params: &Params, job: &Job<'_>) -> Result<Vec<u8>> {
    let mut out = vec![0; params.bound(bytes.len())];
    let cbytes = encode_into(bytes, params, &mut out, job)?;
    out.truncate(cbytes);
    out.shrink_to_fit();
    Ok(out)
}

/// Encodes `bytes` as a chunk at the front of `out`, which has [`Params::bound`] bytes; returns its length.
///
/// # Errors
/// As [`encode`], and `Invalid` for a shorter `out`.
pub fn encode_into(bytes: &[u8], params: &Params, out: &mut [u8], job: &Job<'_>) -> Result<usize> {
    encode_input(Input::Slice(bytes), params, out, job)
}

/// Encodes `nbytes` bytes, whose blocks `source` makes, as a chunk at the front of `out`; returns its length.
/// The blocks are of [`Params::block_bytes`], and the chunk is that which [`encode`] makes of the same bytes.
///
/// `out` grows to [`Params::bound`] if it is shorter, but its memory is touched no further than the chunk reaches,
/// so that a buffer that is used for many chunks costs about as much as the largest of them.
///
/// # Errors
/// As [`encode`].
pub fn encode_blocks_of(
    source: &dyn BlockSource,
    nbytes: usize,
    params: &Params,
    out: &mut Vec<u8>,
    job: &Job<'_>,
) -> Result<usize> {
    params.check_input(nbytes)?;
    if out.len() < params.bound(nbytes) {
        // Fresh zeros, since to grow would touch them all.
        *out = vec![0; params.bound(nbytes)];
    }
    encode_input(Input::Source(source, nbytes), params, out, job)
}

fn encode_input(input: Input<'_>, params: &Params, out: &mut [u8], job: &Job<'_>) -> Result<usize> {
    let nbytes = input.len();
    params.check_input(nbytes)?;
    let bound = params.bound(nbytes);
    let room = out.len();
    let out = out.get_mut(..bound).ok_or_else(|| {
        Error::invalid(format!("output: {room} bytes, a chunk of {nbytes} may take {bound}"))
    })?;
    let mut header = params.header(nbytes);
    if params.stores(nbytes) {
        if params.generation == Generation::Blosc2 {
            header.flags = FLAGS_EXTENDED;
        }
        return store(header, input, out, job);
    }
    match encode_blocks(header, input, params, out, job)? {
        Some(cbytes) => Ok(cbytes),
        None => store(header, input, out, job),
    }
}

/// The header of a chunk of `nbytes` that are stored as they are.
pub(crate) fn stored_header(params: &Params, nbytes: usize) -> [u8; HEADER_BYTES] {
    let mut header = params.header(nbytes);
    header.flags = FLAGS_EXTENDED | FLAG_MEMCPYED;
    header.cbytes = header.len() + nbytes;
    let mut bytes = [0; HEADER_BYTES];
    header.write(&mut bytes);
    bytes
}

/// Writes the bytes as they are.
fn store(mut header: Header, input: Input<'_>, out: &mut [u8], job: &Job<'_>) -> Result<usize> {
    let nbytes = input.len();
    header.cbytes = header.len() + nbytes;
    header.flags |= FLAG_MEMCPYED;
    if nbytes == 0 && header.is_extended() {
        header.blocksize = 1;
    }
    let data = &mut put_header(&header, out)[..nbytes];
    let block_bytes = header.block_bytes();
    if nbytes < INLINE_COPY_BYTES {
        input.copy(0, block_bytes, data);
        return Ok(header.cbytes);
    }
    let run_blocks = TASK_BYTES_MAX.div_ceil(block_bytes);
    let runs = data.chunks_mut(run_blocks * block_bytes).enumerate();
    job.run(nbytes, runs, |(number, out)| {
        input.copy(number * run_blocks, block_bytes, out);
        Ok(out.len())
    })?;
    Ok(header.cbytes)
}

/// Writes the header to the front of `out`; returns the rest.
fn put_header<'o>(header: &Header, out: &'o mut [u8]) -> &'o mut [u8] {
    let mut bytes = [0; HEADER_BYTES];
    let written = header.write(&mut bytes);
    let (front, rest) = out.split_at_mut(written);
    front.copy_from_slice(&bytes[..written]);
    rest
}

/// Encodes the blocks of a chunk.
struct BlockEncoder<'a> {
    input: Input<'a>,
    header: Header,
    steps: Steps,
    encoder: Box<dyn Encode>,
    is_slow: bool,
    /// Block 0 as a decoder will have it, if other blocks need it.
    reference: Option<Cow<'a, [u8]>>,
}

/// Returns the length of the chunk, or `None` if it would not be smaller than the bytes themselves.
fn encode_blocks(
    mut header: Header,
    input: Input<'_>,
    params: &Params,
    out: &mut [u8],
    job: &Job<'_>,
) -> Result<Option<usize>> {
    let mut blocks = BlockEncoder {
        input,
        header,
        steps: params.pipeline.for_encoding(header.typesize, header.version, &params.layout)?,
        encoder: params.codec.encoder(&params.encode_options(&[]))?,
        is_slow: params.codec.is_high_ratio(),
        reference: None,
    };
    blocks.reference = blocks.reference()?;
    let mut data_start = usize::try_from(header.bstarts_end()).unwrap_or(usize::MAX);
    if params.dictionary {
        let dictionary = blocks.train(params)?;
        if !dictionary.is_empty() {
            blocks.encoder = params.codec.encoder(&params.encode_options(&dictionary))?;
            header.blosc2_flags |= BLOSC2_DICTIONARY;
            let Some(room) = out.get_mut(data_start..data_start + 4 + dictionary.len()) else {
                return Ok(None);
            };
            room[..4].copy_from_slice(&u32::try_from(dictionary.len()).unwrap_or(0).to_le_bytes());
            room[4..].copy_from_slice(&dictionary);
            data_start += room.len();
        }
    }
    if data_start > out.len() {
        return Ok(None);
    }
    let bstarts_end = usize::try_from(header.bstarts_end()).unwrap_or(usize::MAX);
    let sink = Sink::new(out, header.len()..bstarts_end, data_start);
    let Some((cbytes, is_zeros)) = blocks.run(sink, job)?.finish() else { return Ok(None) };
    header.cbytes = cbytes;
    if is_zeros && header.is_extended() {
        header.cbytes = header.len();
        header.blosc2_flags = SPECIAL_ZEROS;
    }
    put_header(&header, out);
    Ok(Some(header.cbytes))
}

impl<'a> BlockEncoder<'a> {
    /// Block 0 as a decoder will have it: lossy filters have already been at work on it.
    fn reference(&self) -> Result<Option<Cow<'a, [u8]>>> {
        if !self.steps.need_reference() {
            return Ok(None);
        }
        let block_bytes = self.header.block_bytes();
        match self.input {
            Input::Slice(bytes) if !self.steps.is_lossy() => return Ok(Some(bytes[..block_bytes].into())),
            _ => {}
        }
        let mut reference = vec![0; block_bytes];
        self.input.copy(0, block_bytes, &mut reference);
        if self.steps.is_lossy() {
            with_chunk_scratch(|ChunkScratch { buffers, .. }| {
                let filtered = self.steps.encode(&reference, None, buffers)?.to_vec();
                buffers.first[..block_bytes].copy_from_slice(&filtered);
                self.steps.decode(None, buffers, &mut reference)
            })?;
        }
        Ok(Some(reference.into()))
    }

    /// Encodes all blocks, in runs, into the sink.
    fn run<'o>(&self, sink: Sink<'o>, job: &Job<'_>) -> Result<Sink<'o>> {
        let (nbytes, block_bytes) = (self.input.len(), self.header.block_bytes());
        // A slow codec has more work in as many bytes, so that helpers pay earlier.
        let weight = if self.is_slow { SLOW_WEIGHT * nbytes } else { nbytes };
        let threads = job.width(weight);
        let share = if threads == 1 { TASK_BYTES_MAX } else { nbytes / (4 * threads) };
        let run_blocks = share.min(TASK_BYTES_MAX).div_ceil(block_bytes).max(1);
        let nblocks = nbytes.div_ceil(block_bytes);
        let sink = Ordered::new(sink, threads);
        job.run(weight, 0..nblocks.div_ceil(run_blocks), |number| {
            let first = number * run_blocks;
            let run = first..(first + run_blocks).min(nblocks);
            let placed = sink.put(number, || {
                let piece = sink.with(Sink::empty_piece);
                piece.map(|piece| self.encode_run(run.clone(), piece)).transpose()
            })?;
            // Copied here and not in the sink, by all threads at once: the room is often fresh memory.
            for placed in placed.into_iter().flatten() {
                let piece = placed.copy();
                sink.with(|sink| sink.recycle(piece));
            }
            Ok((run.end * block_bytes).min(nbytes) - run.start * block_bytes)
        })?;
        Ok(sink.into_taker())
    }

    fn encode_run(&self, run: Range<usize>, mut piece: Piece) -> Result<Piece> {
        with_chunk_scratch(|scratch| {
            for number in run {
                piece.starts.push(piece.len);
                match self.input.encoded(number) {
                    Some(stored) => piece.push_stored(&stored),
                    None => self
                        .filter(number, scratch)
                        .and_then(|block| self.encode_streams(block, &mut piece))
                        .map_err(|e| e.at(format!("block {number}")))?,
                }
            }
            Ok(piece)
        })
    }

    /// The bytes of a block, filtered.
    fn filter<'s>(&'s self, number: usize, scratch: &'s mut ChunkScratch) -> Result<&'s [u8]> {
        let ChunkScratch { buffers, block, .. } = scratch;
        let block = self.input.block(number, self.header.block_bytes(), block);
        self.steps.encode(block, self.reference.as_deref().filter(|_| number > 0), buffers)
    }

    fn encode_streams(&self, block: &[u8], piece: &mut Piece) -> Result<()> {
        let nstreams = self.header.nstreams(block.len());
        let has_runs = stream::has_runs(&self.header);
        piece.make_room(block.len() + stream::LENGTH_BYTES * nstreams);
        for stream in block.chunks(block.len() / nstreams) {
            let written = stream::encode(stream, &mut piece.bytes[piece.len..], &*self.encoder, has_runs)?;
            piece.is_zeros &= written == stream::LENGTH_BYTES;
            piece.len += written;
        }
        Ok(())
    }

    /// A dictionary from the front of every stream, in samples; empty if the data are too few.
    fn train(&self, params: &Params) -> Result<Vec<u8>> {
        let (nbytes, block_bytes) = (self.input.len(), self.header.block_bytes());
        let per_block = self.header.nstreams(block_bytes);
        let nstreams = nbytes.div_ceil(block_bytes) * per_block;
        let per_stream = SAMPLES_MIN.div_ceil(nstreams);
        let bytes_each = nbytes / (nstreams * per_stream) / SAMPLED_PART;
        let limit = DICTIONARY_BYTES_MAX.min(nbytes / 20);
        if limit < DICTIONARY_BYTES_MIN || bytes_each == 0 {
            return Ok(Vec::new());
        }
        let mut taken = Vec::with_capacity(nstreams * per_stream * bytes_each);
        for number in 0..nbytes / block_bytes {
            with_chunk_scratch(|scratch| {
                for stream in self.filter(number, scratch)?.chunks_exact(block_bytes / per_block) {
                    taken.extend_from_slice(&stream[..per_stream * bytes_each]);
                }
                Ok::<_, Error>(())
            })?;
        }
        let samples = Samples { count: taken.len() / bytes_each, bytes_each };
        Ok(params.codec.train(&taken, &samples, limit))
    }
}
