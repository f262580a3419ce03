//! Indices along an axis in the order of the blocks that they are in: each block is then decoded once.
//!
//! In: indices in any order, also repeated. Out: their positions, block by block, as a stable sort gives them. How: blocks
//! are counted, unless there are many more of them than indices.

use super::grid::Grid;

/// Of blocks along an axis as many are counted as there are indices, and so many times more.
const COUNTED_BLOCKS: usize = 4;

/// The positions of indices in the order of the blocks that these are in, as a stable sort gives them: of two values
/// for one element, the later one is written later.
pub(super) fn by_block(grid: &Grid, axis: usize, indices: &[u64]) -> Vec<usize> {
    let blocks: Vec<usize> = indices.iter().map(|&index| grid.block_along(axis, index)).collect();
    let last = blocks.iter().copied().max().unwrap_or(0);
    if last / COUNTED_BLOCKS >= indices.len() {
        let mut order: Vec<usize> = (0..indices.len()).collect();
        order.sort_by_key(|&at| blocks[at]);
        return order;
    }
    // A counting sort: comparing indices all over memory takes many times as long.
    let mut next = vec![0; last + 2];
    blocks.iter().for_each(|&block| next[block + 1] += 1);
    for block in 0..last {
        next[block + 1] += next[block];
    }
    let mut order = vec![0; indices.len()];
    for (at, &block) in blocks.iter().enumerate() {
        order[next[block]] = at;
        next[block] += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn indices_go_to_their_blocks_as_a_stable_sort_puts_them(
            indices in proptest::collection::vec(0_u64..997, 1..300), chunk in 1_u64..400, block in 1_u64..80,
        ) {
            let block = block.min(chunk);
            let grid = Grid::new(&[997], &[chunk], &[block], 3).unwrap();
            let mut order: Vec<usize> = (0..indices.len()).collect();
            order.sort_by_key(|&at| (indices[at] / chunk, indices[at] % chunk / block));
            prop_assert_eq!(by_block(&grid, 0, &indices), order);
        }
    }
}
