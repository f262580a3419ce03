//! The table of targets, and those for chunks. Each works on one thread, so that what it allocates can be counted.

use coquina::bloscpack::Reader;
use coquina::chunk::{Chunk, Generation, HEADER_BYTES, Params, Split, encode};
use coquina::codec::{CODECS, DecodeOptions};
use coquina::filter::{FILTERS, Pipeline, SLOTS, Slot};
use coquina::{Job, Limits};

use crate::block_codecs::{block_stream, block_streams};
use crate::frame_mutate::{damage, mutate_frame};
use crate::frame_seeds::{array_files, array_metalayers, damaged_seeds, frames};
use crate::frame_targets::{array_metalayer, array_open, damaged_array, frame_open};
use crate::hdf5_chunks::{
    hdf5_chunks, hdf5_frame_chunk, hdf5_frames, hdf5_pipeline, mutate_chunk, mutate_framed,
};
use crate::hdf5_index::{hdf5_files, hdf5_index, mutate_hdf5};
use crate::hdf5_zones::{hdf5_zoned, hdf5_zones, mutate_zoned};
use crate::images::{image_stream, image_streams};
use crate::index_run::{index_run, index_runs, mutate_run};
use crate::lossy_record::{lossy_record, lossy_records, mutate_record};
use crate::mutate::{Random, mutate, mutate_parameters};
use crate::query_texts::{mutate_texts, query_texts, texts};
use crate::seeds::{corpus, packed_files, streams};

/// The most bytes that a chunk may decode to in a target.
pub const LIMIT_BYTES: usize = 1 << 18;

pub(crate) const LIMITS: Limits = Limits { chunk_bytes: LIMIT_BYTES as u64 };

/// A decoder of bzip2 has four bytes for each of the up to 900,000 of a block.
const BZIP2_STATE_BYTES: usize = 4_000_000;

/// A function that bytes are thrown at.
pub struct Target {
    /// Its name, as a report prints it.
    pub name: &'static str,
    /// Runs it; panics where a law is broken. Returns whether the bytes were accepted.
    pub run: fn(&[u8]) -> bool,
    /// How often it is chosen, of the sum of all.
    pub weight: u64,
    /// What its inputs are mutations of.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// How they are mutated.
    pub mutate: Mutate,
    /// What the state of a codec may take beyond what all targets may hold.
    pub state_bytes: usize,
    /// Whether its inputs are the seeds as they are: then it accepts all that are not mutated.
    pub takes_seeds: bool,
}

/// Makes another input of a seed, with bytes of a second one.
pub type Mutate = fn(&[u8], &[u8], &mut Random) -> Vec<u8>;

impl Target {
    const fn new(name: &'static str, weight: u64, run: fn(&[u8]) -> bool) -> Self {
        Self { name, run, weight, seeds: corpus, mutate, state_bytes: 0, takes_seeds: false }
    }

    const fn on(self, seeds: fn() -> Vec<Vec<u8>>, mutate: Mutate) -> Self {
        Self { seeds, mutate, takes_seeds: true, ..self }
    }
}

/// Every target there is.
pub static TARGETS: &[Target] = &[
    Target::new("chunk_whole", 40, chunk_whole).on(corpus, mutate),
    Target::new("chunk_ranges", 20, chunk_ranges).on(corpus, mutate),
    Target::new("packed_file", 20, packed_file).on(packed_files, mutate),
    Target { seeds: streams, ..Target::new("codec_stream", 12, codec_stream) },
    Target::new("block_stream", 12, block_stream).on(block_streams, mutate),
    // OpenJPEG takes longer for an input than all others.
    Target::new("image_stream", 1, image_stream).on(image_streams, mutate),
    Target::new("filter_pipeline", 12, filter_pipeline),
    Target { mutate: mutate_parameters, ..Target::new("encode_parameters", 4, encode_parameters) },
    Target::new("frame_open", 12, frame_open).on(frames, mutate_frame),
    Target::new("array_open", 12, array_open).on(array_files, mutate_frame),
    Target::new("array_metalayer", 4, array_metalayer).on(array_metalayers, mutate),
    Target::new("damaged_array", 12, damaged_array).on(damaged_seeds, damage),
    Target {
        state_bytes: BZIP2_STATE_BYTES,
        ..Target::new("hdf5_pipeline", 20, hdf5_pipeline).on(hdf5_chunks, mutate_chunk)
    },
    Target::new("hdf5_frame_chunk", 12, hdf5_frame_chunk).on(hdf5_frames, mutate_framed),
    Target::new("hdf5_zones", 12, hdf5_zones).on(hdf5_zoned, mutate_zoned),
    Target::new("hdf5_index", 12, hdf5_index).on(hdf5_files, mutate_hdf5),
    Target::new("query_texts", 8, query_texts).on(texts, mutate_texts),
    Target::new("index_run", 8, index_run).on(index_runs, mutate_run),
    Target::new("lossy_record", 2, lossy_record).on(lossy_records, mutate_record),
];

pub(crate) fn job() -> Job<'static> {
    Job::default().threads(Some(1))
}

/// The chunk decodes to the same bytes over zeros and over ones, or fails over both.
fn chunk_whole(bytes: &[u8]) -> bool {
    let Ok(chunk) = Chunk::parse(bytes, &LIMITS) else { return false };
    let nbytes = chunk.header().nbytes;
    assert!(nbytes <= LIMIT_BYTES, "a chunk of {nbytes} bytes passed the limit");
    let mut out = vec![0; nbytes];
    let over_zeros = chunk.decode_into(&mut out, &job());
    let first = out.clone();
    out.fill(0xff);
    let over_ones = chunk.decode_into(&mut out, &job());
    assert_eq!(over_zeros.is_ok(), over_ones.is_ok(), "an error that depends on the output's old bytes");
    if over_zeros.is_ok() {
        assert!(first == out, "bytes of the output were not written");
    }
    over_zeros.is_ok()
}

/// Ranges are slices of the whole. Where the whole fails, a range may still be read if its blocks are sound.
fn chunk_ranges(bytes: &[u8]) -> bool {
    let Ok(chunk) = Chunk::parse(bytes, &LIMITS) else { return false };
    let nbytes = chunk.header().nbytes;
    let mut whole = vec![0; nbytes];
    let is_sound = chunk.decode_into(&mut whole, &job()).is_ok();
    let middle = nbytes / 2 + usize::from(bytes.len().is_multiple_of(7));
    // Fronts of blocks are decoded in another way where they are whole items.
    let items = middle / 40 * 40;
    let last = nbytes.saturating_sub(1);
    for (start, stop) in
        [(0, 1), (1, middle), (middle, nbytes), (last, nbytes), (0, items), (items, items + 80)]
    {
        let (start, stop) = (start.min(nbytes), stop.min(nbytes).max(start.min(nbytes)));
        let mut part = vec![0x77; stop - start];
        let read = chunk.decode_range(start, &mut part, &job());
        if is_sound {
            assert!(read.is_ok() && part == whole[start..stop], "range {start}..{stop} is not the slice");
        }
    }
    assert!(chunk.decode_range(nbytes, &mut [0], &job()).is_err(), "a byte behind the end");
    is_sound
}

/// A Bloscpack file is read to its end, or is an error; parts of it are slices of the whole.
fn packed_file(bytes: &[u8]) -> bool {
    let Ok(file) = Reader::open(Box::new(bytes.to_vec()), LIMITS) else { return false };
    let nbytes = usize::try_from(file.nbytes()).unwrap_or(usize::MAX);
    let mut part = vec![0; nbytes.min(100)];
    let start = (nbytes - part.len()) / 2;
    let has_part = file.read_range(start as u64, &mut part, &job()).is_ok();
    if nbytes > LIMIT_BYTES {
        return has_part;
    }
    let mut whole = vec![0xff; nbytes];
    let is_sound = file.read_range(0, &mut whole, &job()).is_ok();
    let is_slice = has_part && part == whole[start..start + part.len()];
    assert!(!is_sound || is_slice, "a part that is not the slice");
    is_sound
}

/// The first four bytes choose the codec, a dictionary and the length of the output; the rest is one stream.
fn codec_stream(bytes: &[u8]) -> bool {
    let Some(([which, dictionary, low, high], stream)) = bytes.split_first_chunk() else { return false };
    let codec = CODECS[usize::from(*which) % CODECS.len()];
    let nbytes = usize::from(u16::from_le_bytes([*low, *high]));
    let cut = usize::from(*dictionary).min(stream.len());
    let (dictionary, stream) =
        if codec.takes_dictionary() { stream.split_at(cut) } else { (&[][..], stream) };
    let options = DecodeOptions { dictionary, ..DecodeOptions::default() };
    let Ok(decoder) = codec.decoder(&options) else { return false };
    let mut low = vec![0; nbytes];
    let is_sound = decoder.decode(stream, &mut low).is_ok();
    let mut high = vec![0xff; nbytes];
    assert_eq!(is_sound, decoder.decode(stream, &mut high).is_ok(), "{}", codec.name());
    assert!(!is_sound || low == high, "{}: bytes of the output were not written", codec.name());
    // Of a stream that no encoder writes the front need not be that of the whole, but it shows nothing else.
    let fronts = [0x77, 0].map(|before| {
        let mut front = vec![before; nbytes / 3];
        decoder.decode_front(stream, &mut front).is_ok_and(|done| done).then_some(front)
    });
    assert!(fronts[0] == fronts[1], "{}: a front that shows what lay there before", codec.name());
    is_sound
}

/// A chunk of raw streams whose header the first bytes make up, so that every pipeline is reached.
fn filter_pipeline(bytes: &[u8]) -> bool {
    let Some((head, content)) = bytes.split_first_chunk::<16>() else { return false };
    let content = &content[..content.len().min(5000)];
    let [typesize, version, block_low, block_high, ids @ .., _, _] = *head;
    let typesize = typesize.max(1);
    let blocksize = usize::from(u16::from_le_bytes([block_low, block_high])).clamp(1, 6000);
    let mut header = [0; HEADER_BYTES];
    header[0] = 3 + version % 3;
    header[2] = 0x15;
    header[3] = typesize;
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
    header[4..8].copy_from_slice(&size(content.len()));
    header[8..12].copy_from_slice(&size(blocksize));
    for slot in 0..SLOTS {
        // Mostly filters that there are.
        let id = ids.get(slot).copied().unwrap_or(0);
        let known = FILTERS.get(usize::from(id) % (FILTERS.len() + 2)).map_or(0, |filter| filter.id());
        header[16 + slot] = if id == 255 { id } else { known };
        header[24 + slot] = head[(slot + 5) % 16];
    }
    let mut chunk = raw_chunk(&header, content, blocksize, usize::from(typesize));
    let cbytes = size(chunk.len());
    chunk[12..16].copy_from_slice(&cbytes);
    chunk_whole(&chunk)
}

/// The header, block starts, and each block as one raw stream.
fn raw_chunk(header: &[u8], content: &[u8], blocksize: usize, typesize: usize) -> Vec<u8> {
    let bytes = blocksize.min(content.len()).max(1);
    let bytes = if bytes > typesize { bytes - bytes % typesize } else { bytes };
    let mut chunk = header.to_vec();
    let mut start = header.len() + 4 * content.len().div_ceil(bytes);
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
    for block in content.chunks(bytes) {
        chunk.extend(size(start));
        start += 4 + block.len();
    }
    for block in content.chunks(bytes) {
        chunk.extend(size(block.len()));
        chunk.extend_from_slice(block);
    }
    chunk
}

/// The first 24 bytes are parameters, the rest is to be encoded. Refused, or a round trip.
fn encode_parameters(bytes: &[u8]) -> bool {
    let Some((head, content)) = bytes.split_first_chunk::<24>() else { return false };
    let content = &content[..content.len().min(20_000)];
    let Some(params) = parameters(head) else { return false };
    let Ok(chunk) = encode(content, &params, &job()) else { return false };
    assert!(chunk.len() <= params.bound(content.len()), "{} bytes", chunk.len());
    let decoded = whole(&chunk);
    let is_lossy = params.pipeline.slots.iter().any(|slot| matches!(slot.id, 4 | 36));
    assert!(is_lossy || decoded == content, "a round trip that is none");
    if is_lossy {
        // What has lost its bits once loses no more.
        let again = encode(&decoded, &params, &job()).map(|chunk| whole(&chunk));
        assert!(again.is_ok_and(|again| again == decoded), "truncating twice is not truncating once");
    }
    true
}

fn parameters(head: &[u8; 24]) -> Option<Params> {
    let [codec, level, type_low, type_high, block_low, block_high, split, rest @ ..] = head;
    let is_typical = type_high % 4 != 0;
    let typesize = if is_typical { type_low % 33 } else { *type_low };
    let blocksize = usize::from(u16::from_le_bytes([*block_low, *block_high]));
    let slots: [Slot; SLOTS] = std::array::from_fn(|i| Slot {
        id: FILTERS.get(usize::from(rest[i]) % (2 * FILTERS.len())).map_or(0, |filter| filter.id()),
        meta: rest[SLOTS + i],
    });
    Some(Params {
        codec: CODECS[usize::from(*codec) % CODECS.len()],
        level: level % 11,
        typesize: usize::from(typesize) + 256 * usize::from(*type_high == 4),
        pipeline: Pipeline::new(&slots).ok()?,
        blocksize: (blocksize % 3 != 0).then_some(blocksize),
        split: [Split::Auto, Split::Always, Split::Never][usize::from(*split) % 3],
        dictionary: rest[12] % 4 == 0,
        generation: if rest[13] % 4 == 0 { Generation::Blosc1 } else { Generation::Blosc2 },
        ..Params::default()
    })
}

fn whole(chunk: &[u8]) -> Vec<u8> {
    let decoded = Chunk::parse(chunk, &LIMITS).and_then(|chunk| {
        let mut out = vec![0xd5; chunk.header().nbytes];
        chunk.decode_into(&mut out, &job())?;
        Ok(out)
    });
    match decoded {
        Ok(decoded) => decoded,
        Err(error) => panic!("what was just encoded must decode: {error}"),
    }
}
