//! What every policy holds, whatever it does to a chunk.

use coquina_kernels::Type;

use super::bounded::{Bound, Bounded, Contract};
use super::exact::Exact;
use super::tuned::{Goal, Tuned, Tuner, Wants};
use super::{ChunkBlocks, EncodePolicy, KnownItems, NewChunk};
use crate::base::pool::Job;
use crate::base::sequencer::Ticket;
use crate::base::testing::random;
use crate::chunk::{BlockSource, ChunkShape, Header, Params};
use crate::store::{BloscFormat, ChunkFormat, EncodedChunk, Statistics};

/// A chunk of 6 by 8 items in blocks of 3 by 4, of which 5 by 7 are inside.
const SHAPE: ChunkShape<'_> = ChunkShape {
    chunk: &[6, 8],
    block: &[3, 4],
    inside: &[5, 7],
    item_bytes: 8,
    block_bytes: 96,
    nblocks: 4,
};
const LIMIT: f64 = 0.01;

/// Items of a chunk, and those that stood there: the first block is written.
struct Items {
    new: Vec<f64>,
    old: Vec<f64>,
}

impl Items {
    fn new(seed: u64) -> Self {
        let mut next = random(seed);
        let mut item = || f64::from(u32::try_from(next(1 << 20)).unwrap()) / 7.0;
        let old: Vec<f64> = (0..48).map(|_| item()).collect();
        let mut new = old.clone();
        new[..12].iter_mut().for_each(|number| *number = item());
        Self { new, old }
    }

    fn put(items: &[f64], number: usize, out: &mut [u8]) {
        let block = &items[number * 12..(number + 1) * 12];
        out.copy_from_slice(&block.iter().flat_map(|item| item.to_le_bytes()).collect::<Vec<_>>());
    }
}

impl BlockSource for Items {
    fn fill(&self, number: usize, out: &mut [u8]) {
        Self::put(&self.new, number, out);
    }
}

impl ChunkBlocks for Items {
    fn fill_old(&self, number: usize, out: &mut [u8]) {
        Self::put(&self.old, number, out);
    }

    fn written(&self) -> Vec<usize> {
        vec![0]
    }

    fn old_header(&self) -> Option<Header> {
        None
    }
}

fn encoded(
    policy: &dyn EncodePolicy,
    items: &Items,
    is_covered: bool,
    job: &Job<'_>,
) -> (Vec<f64>, Statistics) {
    let params = Params { typesize: 8, blocksize: Some(96), ..Params::default() };
    let format = BloscFormat(params);
    let known = KnownItems { ty: Type::F64, before: &|| None };
    let chunk = NewChunk {
        blocks: items,
        shape: SHAPE,
        is_covered,
        may_repeat: true,
        format: &format,
        fill: None,
        known: Some(known),
    };
    let EncodedChunk::Bytes(bytes, statistics) = policy.encode(&chunk, &Ticket::alone(), job).unwrap() else {
        panic!("random items are no special value")
    };
    let mut plain = vec![0; SHAPE.chunk_bytes()];
    format.decode(&bytes, &mut plain, job).unwrap();
    let numbers = plain.as_chunks::<8>().0.iter().map(|item| f64::from_le_bytes(*item));
    (numbers.collect(), statistics.unwrap())
}

/// Runs `check` with each policy, and how far it may move an item.
fn with_policies(check: impl Fn(&dyn EncodePolicy, f64)) {
    let params = Params { typesize: 8, blocksize: Some(96), ..Params::default() };
    let tuner = Tuner::new(Goal::new(0.5, Wants::Both, None, false).unwrap());
    let contract = Contract::new(Bound::MaxError(LIMIT), None, "<f8").unwrap();
    let tuned = Tuned { tuner: &tuner, params: &params };
    check(&Exact, 0.0);
    check(&tuned, 0.0);
    check(&Bounded::new(&contract, None), LIMIT);
    check(&Bounded::new(&contract, Some(tuned)), LIMIT);
}

#[test]
fn a_chunk_decodes_to_its_items_and_those_that_are_not_written_stay() {
    with_policies(|policy, limit| {
        for seed in 0..20 {
            let items = Items::new(seed);
            for is_covered in [false, true] {
                let (found, _) = encoded(policy, &items, is_covered, &Job::inline());
                for run in SHAPE.runs() {
                    for at in run {
                        let may_move = is_covered || items.new[at].to_bits() != items.old[at].to_bits();
                        let most = if may_move { limit } else { 0.0 };
                        assert!((found[at] - items.new[at]).abs() <= most, "seed {seed}, item {at}");
                    }
                }
            }
        }
    });
}

#[test]
fn statistics_are_those_of_the_items_inside_as_they_decode() {
    with_policies(|policy, _| {
        for seed in 0..20 {
            let (found, statistics) = encoded(policy, &Items::new(seed), true, &Job::inline());
            let inside: Vec<f64> = SHAPE.runs().into_iter().flatten().map(|at| found[at]).collect();
            let min = inside.iter().copied().fold(f64::INFINITY, f64::min);
            let max = inside.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!((statistics.min, statistics.max), (min.to_le_bytes(), max.to_le_bytes()), "{seed}");
            assert!(statistics.is_exact && !statistics.has_nan);
        }
    });
}
