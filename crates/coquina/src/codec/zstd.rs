//! Zstd: Zstandard frames (RFC 8878), coded by libzstd.
//!
//! Leading noise goes into raw blocks, which cost nothing to write or read; libzstd codes the rest. Where bytes differ in
//! frequency but do not repeat each other, it does so without matches, which is shorter, and decoded twice as fast.
//! Source: `docs/formats/codecs.md`, "The library codecs"; RFC 8878, section 3.1.1; dictionaries in
//! `docs/formats/chunk.md`.

use std::cell::RefCell;

use zstd_safe::{
    CCtx, CDict, CParameter, DCtx, DDict, InBuffer, OutBuffer, ParamSwitch, ResetDirective, Strategy,
};

use super::frequencies::{Values, coded_bytes, repeats_little};
use super::noise::{Coder, is_matchless, noise_prefix};
use super::zstd_params::{self, Choice};
use super::{Codec, Decode, DecodeOptions, Encode, EncodeOptions, Pieces, Samples, Shape};
use crate::base::error::{Error, Result};
use crate::base::scratch::with_scratch;

pub(super) struct Zstd;

struct Encoder {
    level: u8,
    shape: Shape,
    typesize: usize,
    dictionary: Option<CDict<'static>>,
}

struct Decoder {
    dictionary: Option<DDict<'static>>,
}

/// libzstd's level for each of ours, where a dictionary has been digested at that level.
const DICTIONARY_LEVELS: [i32; 10] = [0, 1, 3, 5, 7, 9, 11, 13, 15, 22];
/// libzstd's strategies; the first has number 1.
const STRATEGIES: [Strategy; 9] = [
    Strategy::ZSTD_fast,
    Strategy::ZSTD_dfast,
    Strategy::ZSTD_greedy,
    Strategy::ZSTD_lazy,
    Strategy::ZSTD_lazy2,
    Strategy::ZSTD_btlazy2,
    Strategy::ZSTD_btopt,
    Strategy::ZSTD_btultra,
    Strategy::ZSTD_btultra2,
];
/// A frame that holds its content as one segment and says its length in four bytes.
const FRAME_START: [u8; 5] = [0x28, 0xb5, 0x2f, 0xfd, 0xa0];
/// The most bytes of a block of a frame.
const BLOCK_BYTES_MAX: usize = 128 << 10;
/// libzstd's level whose search takes such steps that it finds nothing.
const LEAST_SEARCH: i32 = -131_072;
/// Levels up to this one are chosen for speed.
const FAST_LEVEL: u8 = 2;
/// At these such a part more is no loss, for streams that are decoded twice as fast.
const FAST_SHARE: usize = 32;
/// Where bytes take more bits each, a search takes little time, as it finds nothing to look at.
const CODED_BITS_MAX: usize = 5;
/// Shorter streams are searched only.
const FREQUENCIES_BYTES_MIN: usize = 2048;
/// Bytes of a block's header.
const BLOCK_HEADER_BYTES: usize = 3;

/// A context of this thread, and the choice that its sticky parameters were set to.
struct Context {
    context: CCtx<'static>,
    choice: Choice,
}

thread_local! {
    static COMPRESSOR: RefCell<Option<Context>> = const { RefCell::new(None) };
    /// Another one, that looks for no matches: contexts are slow to set to other parameters.
    static LITERALS: RefCell<Option<Context>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
    /// Another one, with the memory that decoding piece by piece takes.
    static PIECEWISE: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

impl Codec for Zstd {
    fn name(&self) -> &'static str {
        "zstd"
    }

    fn id(&self) -> u8 {
        5
    }

    fn format(&self) -> u8 {
        4
    }

    fn is_high_ratio(&self) -> bool {
        true
    }

    fn splits(&self, level: u8) -> bool {
        level <= 5
    }

    fn takes_dictionary(&self) -> bool {
        true
    }

    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        let level = DICTIONARY_LEVELS.get(usize::from(options.level)).copied().unwrap_or(22);
        let dictionary = options.dictionary;
        let dictionary = (!dictionary.is_empty()).then(|| CDict::create(dictionary, level));
        let EncodeOptions { level, shape, typesize, .. } = *options;
        Ok(Box::new(Encoder { level, shape, typesize, dictionary }))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        let dictionary = options.dictionary;
        if dictionary.is_empty() {
            return Ok(Box::new(Decoder { dictionary: None }));
        }
        // libzstd has no words for a dictionary that it cannot load.
        let made = DDict::try_create(dictionary);
        let dictionary = made.ok_or_else(|| Error::corrupt("zstd: the dictionary is damaged"))?;
        Ok(Box::new(Decoder { dictionary: Some(dictionary) }))
    }

    fn train(&self, bytes: &[u8], samples: &Samples, limit: usize) -> Vec<u8> {
        let sizes = vec![samples.bytes_each; samples.count];
        let mut dictionary = vec![0; limit];
        // Too few or too uniform samples are no error: there is then no dictionary.
        let trained = zstd_safe::train_from_buffer(&mut dictionary[..], bytes, &sizes).unwrap_or(0);
        dictionary.truncate(trained);
        dictionary
    }
}

impl Encode for Encoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        Ok(self.compress(stream, out))
    }
}

impl Encoder {
    /// `None` if it does not fit, or is better stored as it is.
    fn compress(&self, stream: &[u8], out: &mut [u8]) -> Option<usize> {
        COMPRESSOR.with_borrow_mut(|slot| {
            let context = slot.get_or_insert_with(Context::new);
            if let Some(dictionary) = &self.dictionary {
                return context.context.compress_using_cdict(out, stream, dictionary).ok();
            }
            let is_noisy = zstd_params::cuts_noise(self.level, self.shape);
            let noise_bytes = if is_noisy { noise_prefix(stream, Coder::Entropy) } else { 0 };
            match stream.split_at(noise_bytes) {
                ([], _) => self.search(context, stream, out),
                (_, []) => None,
                (noise, rest) => {
                    let at = put_raw_blocks(noise, stream.len(), out)?;
                    let coded = self.search(context, rest, out.get_mut(at..)?)?;
                    // What follows a frame's header follows ours as well: raw blocks leave no trace in the state
                    // that later blocks refer to, and matches reach back by distance.
                    let header_bytes = frame_header_bytes(&out[at..at + coded])?;
                    out.copy_within(at + header_bytes..at + coded, at);
                    Some(at + coded - header_bytes)
                }
            }
        })
    }

    fn search(&self, context: &mut Context, stream: &[u8], out: &mut [u8]) -> Option<usize> {
        let is_slow = self.level >= 6;
        let choice = if is_slow && is_matchless(stream, self.level == 9) {
            zstd_params::MATCHLESS
        } else {
            zstd_params::choice(self.level, self.shape, self.typesize)
        };
        let values = if stream.len() < FREQUENCIES_BYTES_MIN { Values::Many } else { Values::of(stream) };
        // A search would take more time than all else, for nothing.
        if values == Values::Few
            && self.level <= FAST_LEVEL
            && is_without_matches(stream)
            && let Some(bytes) = literals(stream, out)
        {
            return Some(bytes);
        }
        context.set(choice)?;
        let matched = context.context.compress2(out, stream).ok()?;
        // Without matches a byte takes a bit at least.
        let is_possible = values != Values::Many && matched > stream.len() / 8;
        let better = is_possible.then(|| self.without_matches(stream, matched, out)).flatten();
        Some(better.unwrap_or(matched))
    }

    /// Codes a stream by frequencies alone where that takes no more than the `matched` bytes that `out` holds, or hardly
    /// more at levels that are chosen for speed; `None` if what is there is better.
    fn without_matches(&self, stream: &[u8], matched: usize, out: &mut [u8]) -> Option<usize> {
        let more = if self.level <= FAST_LEVEL { matched / FAST_SHARE } else { 0 };
        let room = out.get_mut(..matched + more)?;
        if coded_bytes(stream) > room.len() {
            return None;
        }
        with_scratch(room.len(), |coded| {
            let bytes = literals(stream, coded)?;
            room[..bytes].copy_from_slice(&coded[..bytes]);
            Some(bytes)
        })
    }
}

/// Whether a stream of few values is best coded without a search, told from samples.
fn is_without_matches(stream: &[u8]) -> bool {
    repeats_little(stream) && coded_bytes(stream) < stream.len() / 8 * CODED_BITS_MAX
}

/// Codes a stream by frequencies alone; `None` if it does not fit.
fn literals(stream: &[u8], out: &mut [u8]) -> Option<usize> {
    LITERALS.with_borrow_mut(|slot| {
        let context = slot.get_or_insert_with(Context::new);
        context.set(Choice::Literals)?;
        context.context.compress2(out, stream).ok()
    })
}

impl Context {
    fn new() -> Self {
        Self { context: CCtx::create(), choice: Choice::Level(0) }
    }

    fn set(&mut self, choice: Choice) -> Option<()> {
        if self.choice == choice {
            return Some(());
        }
        // The session too: a stream that did not fit leaves it open, and parameters can then not be reset.
        self.context.reset(ResetDirective::SessionAndParameters).ok()?;
        match choice {
            Choice::Level(level) => self.set_all(&[CParameter::CompressionLevel(level)])?,
            Choice::Literals => self.set_all(&[
                CParameter::CompressionLevel(LEAST_SEARCH),
                CParameter::LiteralCompressionMode(ParamSwitch::Enable),
            ])?,
            Choice::Row([window, chain, hash, search, min_match, target, strategy]) => self.set_all(&[
                CParameter::WindowLog(window),
                CParameter::ChainLog(chain),
                CParameter::HashLog(hash),
                CParameter::SearchLog(search),
                CParameter::MinMatch(min_match),
                CParameter::TargetLength(target),
                CParameter::Strategy(*STRATEGIES.get(usize::try_from(strategy).ok()?.checked_sub(1)?)?),
            ])?,
        }
        self.choice = choice;
        Some(())
    }

    fn set_all(&mut self, parameters: &[CParameter]) -> Option<()> {
        parameters.iter().try_for_each(|&parameter| self.context.set_parameter(parameter).map(drop)).ok()
    }
}

/// Writes the front of a frame of `content_bytes`: its header and `bytes` in raw blocks, none of them the last.
fn put_raw_blocks(bytes: &[u8], content_bytes: usize, out: &mut [u8]) -> Option<usize> {
    let (start, rest) = out.split_first_chunk_mut::<{ FRAME_START.len() }>()?;
    *start = FRAME_START;
    rest.first_chunk_mut::<4>()?.copy_from_slice(&u32::try_from(content_bytes).ok()?.to_le_bytes());
    let mut at = FRAME_START.len() + 4;
    for block in bytes.chunks(BLOCK_BYTES_MAX) {
        let [low, middle, high, _] = (u32::try_from(block.len()).ok()? << 3).to_le_bytes();
        let (header, rest) = out.get_mut(at..)?.split_first_chunk_mut::<BLOCK_HEADER_BYTES>()?;
        *header = [low, middle, high];
        rest.get_mut(..block.len())?.copy_from_slice(block);
        at += header.len() + block.len();
    }
    Some(at)
}

/// Bytes of the header of a frame, from its descriptor.
fn frame_header_bytes(frame: &[u8]) -> Option<usize> {
    let descriptor = *frame.get(4)?;
    let is_single_segment = descriptor & 0x20 != 0;
    let content_size_bytes = match descriptor >> 6 {
        0 => usize::from(is_single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let dictionary_id_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    Some(5 + usize::from(!is_single_segment) + dictionary_id_bytes + content_size_bytes)
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        let filled = DECOMPRESSOR.with_borrow_mut(|slot| {
            let context = slot.get_or_insert_with(DCtx::create);
            match &self.dictionary {
                Some(dictionary) => context.decompress_using_ddict(out, stream, dictionary),
                None => context.decompress(out, stream),
            }
        });
        match filled {
            Ok(bytes) if bytes == out.len() => Ok(()),
            Ok(bytes) => Err(Error::corrupt(format!("zstd: {bytes} bytes in place of {}", out.len()))),
            Err(code) => Err(Error::corrupt(format!("zstd: {}", zstd_safe::get_error_name(code)))),
        }
    }

    fn pieces<'s>(&'s self, stream: &'s [u8]) -> Option<Box<dyn Pieces + 's>> {
        if self.dictionary.is_some() {
            return None;
        }
        let mut context = PIECEWISE.take().unwrap_or_else(DCtx::create);
        context.reset(ResetDirective::SessionOnly).ok()?;
        Some(Box::new(Piecewise { context: Some(context), stream, read: 0, written: 0 }))
    }
}

/// A frame that is being decoded piece by piece.
struct Piecewise<'s> {
    context: Option<DCtx<'static>>,
    stream: &'s [u8],
    read: usize,
    written: usize,
}

impl Pieces for Piecewise<'_> {
    fn decode_until(&mut self, end: usize, out: &mut [u8]) -> Result<usize> {
        let damaged = |what: &str| Error::corrupt(format!("zstd: {what}"));
        let (Some(context), Some(out)) = (&mut self.context, out.get_mut(..end)) else {
            return Err(damaged("more bytes are wanted than there are"));
        };
        let mut from = InBuffer { src: self.stream, pos: self.read };
        while self.written < end {
            let before = (from.pos, self.written);
            let mut to = OutBuffer::around_pos(&mut *out, self.written);
            let code = context.decompress_stream(&mut to, &mut from);
            self.written = to.pos();
            code.map_err(|code| damaged(zstd_safe::get_error_name(code)))?;
            if before == (from.pos, self.written) {
                return Err(damaged("the stream ends before"));
            }
        }
        self.read = from.pos;
        Ok(self.written)
    }
}

impl Drop for Piecewise<'_> {
    fn drop(&mut self) {
        PIECEWISE.set(self.context.take());
    }
}
