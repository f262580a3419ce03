//! Chunks that are rounded block by block are those that rounding all items first gives, and fast loops say what plain ones do.

use coquina_kernels::Errors;

use super::contract::{Bound, Contract, LossyMethod};
use super::items::{Items, with_number};
use super::measure::{Counted, plain_errors};
use super::number::{Compared, Rounded};
use super::policy::Bounded;
use super::round::{Rule, Unrounded, round_piece, round_run};
use crate::base::pool::Job;
use crate::base::sequencer::Sequencer;
use crate::base::testing::random;
use crate::chunk::{BlockSource, ChunkShape, Header, Params, Plain};
use crate::policy::{ChunkBlocks, EncodePolicy, NewChunk};
use crate::store::{BloscFormat, EncodedChunk};

/// A chunk of 40 by 64 items in 20 blocks of 8 by 16, of which 37 by 61 are inside.
const CHUNK: ([u64; 2], [u64; 2], [u64; 2], usize) = ([40, 64], [8, 16], [37, 61], 20);

struct Items2d(Vec<u8>, usize);

impl BlockSource for Items2d {
    fn fill(&self, number: usize, out: &mut [u8]) {
        Plain { plain: &self.0, block_bytes: self.1 }.fill(number, out);
    }
}

impl ChunkBlocks for Items2d {
    fn fill_old(&self, _number: usize, out: &mut [u8]) {
        out.fill(0);
    }

    fn written(&self) -> Vec<usize> {
        (0..CHUNK.3).collect()
    }

    fn old_header(&self) -> Option<Header> {
        None
    }
}

/// Numbers of a smooth field with noise; some special ones.
#[expect(clippy::cast_possible_truncation, reason = "numbers of narrower types are meant")]
fn numbers(dtype: &str, seed: u64) -> Vec<u8> {
    let mut next = random(seed);
    let special = [0.0, -0.0, f64::NAN, f64::INFINITY, -1e34, 1e-300, 3.25];
    let number = |at: usize| match next(40) {
        0 => special[at % special.len()],
        noise => 280.0 + (at as f64 / 50.0).sin() * 20.0 + noise as f64 / 40.0,
    };
    let all: Vec<f64> = (0..2560).map(number).collect();
    let bytes = |x: &f64| match dtype {
        "<f4" => (*x as f32).to_le_bytes().to_vec(),
        ">f4" => (*x as f32).to_be_bytes().to_vec(),
        "<i2" => (*x as i16).to_le_bytes().to_vec(),
        _ => x.to_le_bytes().to_vec(),
    };
    all.iter().flat_map(bytes).collect()
}

fn with_chunk<T>(plain: Vec<u8>, fill: Option<&[u8]>, work: impl FnOnce(&NewChunk<'_>) -> T) -> T {
    let (chunk, block, inside, nblocks) = CHUNK;
    let item_bytes = plain.len() / 2560;
    let block_bytes = 128 * item_bytes;
    let format =
        BloscFormat(Params { typesize: item_bytes, blocksize: Some(block_bytes), ..Params::default() });
    let blocks = Items2d(plain, block_bytes);
    let shape =
        ChunkShape { chunk: &chunk, block: &block, inside: &inside, item_bytes, block_bytes, nblocks };
    work(&NewChunk {
        blocks: &blocks,
        shape,
        is_covered: true,
        may_repeat: false,
        format: &format,
        fill,
        known: None,
    })
}

fn bytes_of(made: EncodedChunk) -> Vec<u8> {
    let EncodedChunk::Bytes(bytes, _) = made else { panic!("no chunk of a special value") };
    bytes
}

/// The chunk that rounding all items first gives.
fn plainly(dtype: &str, rule: Rule, chunk: &NewChunk<'_>) -> Vec<u8> {
    let items = Items::of(dtype).unwrap();
    let from = chunk.plain(&Job::inline()).unwrap();
    let mut to = from.clone();
    let mut all = Rounded { from: &from, before: None, fill: chunk.fill, to: &mut to, is_big: items.is_big };
    with_number!(items.kind, T => round_piece::<T>(rule, &mut all));
    chunk.format.encode_plain(&to, &chunk.shape, None, &Job::inline()).unwrap()
}

#[test]
fn chunks_rounded_by_blocks_are_those_that_rounding_all_items_gives() {
    let bounds =
        [Bound::MaxError(0.01), Bound::MaxError(1e-9), Bound::RelativeError(1e-3), Bound::KeepBits(5)];
    for dtype in ["<f4", "<f8", ">f4", "<i2"] {
        for bound in bounds {
            let contract = Contract::new(bound, Some(LossyMethod::Round), dtype).unwrap();
            let rules = contract.rules();
            for fill in [None, Some(numbers(dtype, 1)[..Items::of(dtype).unwrap().number_bytes()].to_vec())] {
                with_chunk(numbers(dtype, 1), fill.as_deref(), |chunk| {
                    let policy = Bounded::new(&contract, None);
                    let sequencer = Sequencer::default();
                    let made = policy.encode(chunk, &sequencer.ticket(0), &Job::inline()).unwrap();
                    assert_eq!(rules.len(), 1);
                    assert!(bytes_of(made) == plainly(dtype, rules[0], chunk), "{dtype} {bound:?}");
                    assert_eq!(policy.counters(), (1, 0), "{dtype} {bound:?}: nothing else was tried");
                });
            }
        }
    }
}

#[test]
fn methods_are_compared_for_every_eighth_chunk_in_their_order() {
    // Integers are rounded by one of two rules.
    let contract = Contract::new(Bound::MaxError(5.0), None, "<i2").unwrap();
    let encoded = |threads| {
        let policy = Bounded::new(&contract, None);
        let sequencer = Sequencer::default();
        let chunks = std::sync::Mutex::new(vec![Vec::new(); 20]);
        let job = Job::default().threads(Some(threads));
        job.run(1 << 30, 0..20_usize, |number| {
            let seed = number as u64 / 3;
            let bytes = with_chunk(numbers("<i2", seed), None, |chunk| {
                // Those at the end of the array have no choice.
                let inside = [40, 64];
                let shape = ChunkShape { inside: &inside, ..chunk.shape };
                let chunk = NewChunk { shape, ..*chunk };
                policy.encode(&chunk, &sequencer.ticket(number), &Job::inline()).map(bytes_of)
            })?;
            chunks.lock().unwrap()[number] = bytes;
            Ok(1)
        })
        .unwrap();
        (chunks.into_inner().unwrap(), policy.counters(), policy.lost())
    };
    let (chunks, (by_blocks, compared), lost) = encoded(1);
    assert_eq!((by_blocks, compared), (20, 3));
    assert!(lost.max_error <= 5.0 && lost.chunks.iter().sum::<u64>() == 20);
    assert!(encoded(4) == (chunks, (20, 3), lost), "bytes do not depend on threads");
}

#[test]
fn fast_loops_round_and_measure_as_plain_ones() {
    for dtype in ["<f4", "<f8", "<c8", "<c16"] {
        let items = Items::of(dtype).unwrap();
        for seed in 0..20 {
            let mut next = random(seed);
            let from: Vec<u8> = match seed % 2 {
                0 => numbers(if items.number_bytes() == 4 { "<f4" } else { "<f8" }, seed),
                _ => (0..4096).map(|_| u8::try_from(next(256)).unwrap()).collect(),
            };
            for exponent in [-140, -30, -3, 0, 9, 100] {
                let rule = Rule::multiples(exponent);
                let (mut fast, mut plain) = (from.clone(), from.clone());
                round_run(rule, items, &Unrounded { from: &from, before: None, fill: None }, &mut fast);
                let mut all =
                    Rounded { from: &from, before: None, fill: None, to: &mut plain, is_big: false };
                with_number!(items.kind, T => round_piece::<T>(rule, &mut all));
                assert!(fast == plain, "{dtype} {rule:?}");
                let inside = 0..from.len() / items.number_bytes() / items.numbers();
                let inside = std::slice::from_ref(&inside);
                let counted = Counted { items, given: &from, before: None, inside };
                let run = Compared { given: &from, before: None, decoded: &plain, is_big: false };
                let slow = with_number!(items.kind, T => plain_errors::<T>(&run, 1.0 / 3.0));
                let found = counted.errors(&plain, 3.0);
                assert!((found.squares - slow.squares).abs() <= slow.squares * 1e-12);
                assert_eq!(found, Errors { squares: found.squares, ..slow }, "{dtype} {rule:?}");
            }
        }
    }
}
