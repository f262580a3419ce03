//! What is looked at of a chunk: some of its blocks, spread evenly.

use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::BlockSource;

/// At most so many bytes of a block are tried, and about so many of a chunk.
const PIECE_BYTES_MAX: usize = 512 << 10;
const TRIED_BYTES: usize = 256 << 10;
const TRIED_BLOCKS_MAX: usize = 32;
/// One of so many pieces is tried first.
const PART: usize = 4;
/// A look is at so many blocks, and at so many runs of bytes of each.
const SEEN_BLOCKS: usize = 2;
const SEEN_RUNS: usize = 2;
const SEEN_RUN_BYTES: usize = 2 << 10;

/// Blocks of a chunk that is to be encoded.
#[derive(Clone, Copy)]
pub struct Sampled<'s> {
    /// Makes them.
    pub source: &'s dyn BlockSource,
    /// Those that may be looked at, each in the place of its number.
    pub numbers: &'s [usize],
    /// Bytes of a block.
    pub block_bytes: usize,
}

/// Bytes of a block that are tried: whole items.
fn piece_bytes(block_bytes: usize, typesize: usize) -> usize {
    if block_bytes <= PIECE_BYTES_MAX {
        return block_bytes;
    }
    (PIECE_BYTES_MAX / typesize).max(1) * typesize.min(block_bytes)
}

/// How many blocks are tried.
fn tried_blocks(piece_bytes: usize) -> usize {
    (TRIED_BYTES / piece_bytes.max(1)).clamp(1, TRIED_BLOCKS_MAX)
}

/// `count` of the numbers: one of each of as many equal parts, at another place in each, as blocks at even distances may all
/// be of one column of a grid of blocks. The places go by the golden ratio.
fn spread(numbers: &[usize], count: usize) -> impl Iterator<Item = usize> + '_ {
    let count = count.min(numbers.len());
    let mut at = FIRST;
    (0..count).map(move |part| {
        let (start, end) = (part * numbers.len() / count, (part + 1) * numbers.len() / count);
        let shift = (u64::from(at) * (end - start) as u64) >> 32;
        at = at.wrapping_add(GOLDEN);
        numbers[start + usize::try_from(shift).unwrap_or_default()]
    })
}

/// The golden ratio's part below 1, of 2 to the power of 32, and where to begin: about at 0.2.
const GOLDEN: u32 = 0x9e37_79b9;
const FIRST: u32 = 0x3333_3333;

/// Blocks to be tried, one behind another, and the bytes of each.
pub(super) struct Pieces {
    pub(super) bytes: Vec<u8>,
    pub(super) piece_bytes: usize,
}

impl Pieces {
    /// Those of a chunk.
    pub(super) fn of(sampled: &Sampled<'_>, typesize: usize, job: &Job<'_>) -> Result<Self> {
        let piece_bytes = piece_bytes(sampled.block_bytes, typesize).max(1);
        let numbers: Vec<usize> = spread(sampled.numbers, tried_blocks(piece_bytes)).collect();
        let mut bytes = vec![0; numbers.len() * piece_bytes];
        let total = bytes.len();
        job.run(total, bytes.chunks_mut(piece_bytes).zip(numbers), |(piece, number)| {
            if piece.len() == sampled.block_bytes {
                sampled.source.fill(number, piece);
            } else {
                let mut block = vec![0; sampled.block_bytes];
                sampled.source.fill(number, &mut block);
                piece.copy_from_slice(&block[..piece.len()]);
            }
            Ok(piece.len())
        })?;
        Ok(Self { bytes, piece_bytes })
    }

    /// One of every `PART`, and the others; `None` of fewer.
    pub(super) fn parted(&self) -> Option<(Self, Self)> {
        let (mut first, mut others) = (Vec::new(), Vec::new());
        let pieces: Vec<&[u8]> = self.bytes.chunks(self.piece_bytes).collect();
        for group in pieces.chunks(PART) {
            let place = group.len() / 2;
            first.extend_from_slice(group[place]);
            group[..place]
                .iter()
                .chain(&group[place + 1..])
                .for_each(|piece| others.extend_from_slice(piece));
        }
        let part = |bytes| Self { bytes, piece_bytes: self.piece_bytes };
        (pieces.len() >= PART).then(|| (part(first), part(others)))
    }
}

/// Runs of items out of some blocks: what a look sees.
pub(super) fn seen(sampled: &Sampled<'_>, typesize: usize) -> Vec<Vec<u8>> {
    let mut runs = Vec::new();
    let mut block = vec![0; sampled.block_bytes];
    let run_bytes = (SEEN_RUN_BYTES / typesize).max(1) * typesize;
    for number in spread(sampled.numbers, SEEN_BLOCKS) {
        sampled.source.fill(number, &mut block);
        if block.len() <= SEEN_RUNS * run_bytes {
            runs.push(block.clone());
            continue;
        }
        for at in 0..SEEN_RUNS {
            let start = (block.len() - run_bytes) * (2 * at + 1) / (2 * SEEN_RUNS) / typesize * typesize;
            runs.push(block[start..start + run_bytes].to_vec());
        }
    }
    runs
}

/// Blocks that are not all the item that the first of them begins with, as many as are tried.
pub(super) fn various(sampled: &Sampled<'_>, typesize: usize) -> Vec<usize> {
    let count = tried_blocks(piece_bytes(sampled.block_bytes, typesize));
    let mut block = vec![0; sampled.block_bytes];
    let mut item: Option<Vec<u8>> = None;
    let mut is_other = |number: usize| {
        sampled.source.fill(number, &mut block);
        let size = typesize.min(block.len());
        let item = item.get_or_insert_with(|| block[..size].to_vec());
        block.chunks(size.max(1)).any(|part| part != &item[..part.len()])
    };
    sampled.numbers.iter().copied().filter(|&number| is_other(number)).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbered;

    impl BlockSource for Numbered {
        fn fill(&self, number: usize, out: &mut [u8]) {
            out.fill(u8::try_from(number).unwrap());
        }
    }

    #[test]
    fn parts_of_pieces_are_all_of_them_once() {
        for (count, first) in [(4, &[2][..]), (5, &[2, 4]), (8, &[2, 6])] {
            let pieces = Pieces { bytes: (0..count).flat_map(|n| [n, n]).collect(), piece_bytes: 2 };
            let (some, others) = pieces.parted().unwrap();
            let numbers = |pieces: &Pieces| pieces.bytes.chunks(2).map(|piece| piece[0]).collect::<Vec<_>>();
            assert_eq!(numbers(&some), first);
            let mut all = [numbers(&some), numbers(&others)].concat();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
        assert!(Pieces { bytes: vec![0; 6], piece_bytes: 2 }.parted().is_none());
    }

    #[test]
    fn blocks_are_spread_evenly_and_whole_where_they_are_small() {
        let numbers: Vec<usize> = (0..100).collect();
        assert_eq!(spread(&numbers, 4).collect::<Vec<_>>(), [4, 45, 60, 76]);
        // Of blocks in rows of eight or four, in either half of them.
        for width in [4, 8] {
            for count in [2, 4] {
                let columns: Vec<usize> =
                    spread(&numbers[..width * width], count).map(|number| number % width).collect();
                assert!(columns.iter().any(|&column| column < width / 2), "{columns:?} of {width}");
                assert!(columns.iter().any(|&column| column >= width / 2), "{columns:?} of {width}");
            }
        }
        assert_eq!(spread(&numbers, 200).count(), 100);
        assert_eq!(spread(&numbers[..2], 4).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(spread(&[], 4).count(), 0);
        for (block_bytes, count) in [(1 << 10, 32), (64 << 10, 4), (1 << 20, 1), (3, 32)] {
            let sampled = Sampled { source: &Numbered, numbers: &numbers, block_bytes };
            let pieces = Pieces::of(&sampled, 1, &Job::inline()).unwrap();
            assert_eq!(pieces.bytes.len(), count * pieces.piece_bytes, "{block_bytes}");
            assert!(pieces.piece_bytes <= PIECE_BYTES_MAX);
            let runs = seen(&sampled, 1);
            assert!(runs.iter().all(|run| !run.is_empty() && run.len() <= 2 * SEEN_RUN_BYTES));
        }
    }
}
