//! Tag trees: a grid of small numbers, coded as how much each is above the least of its neighbourhood.
//!
//! In: numbers, or bits. Out: bits, or numbers.
//! Source: ISO/IEC 15444-1, B.10.2.

use super::bits::{HeaderReader, HeaderWriter};

/// A node: the least number of the leaves below it, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// What is coded; not used by readers.
    value: u32,
    /// The number is not less than this.
    low: u32,
    /// Whether it is this.
    is_known: bool,
}

/// A tree over a grid of leaves.
#[derive(Clone, Debug)]
pub(super) struct TagTree {
    /// The leaves first, then each next level; the length of its rows.
    levels: Vec<(Vec<Node>, usize)>,
}

impl TagTree {
    /// A tree over rows of `across` leaves.
    pub(super) fn new(across: usize, down: usize) -> Self {
        let (mut across, mut down) = (across.max(1), down.max(1));
        let mut levels = vec![(vec![Node::default(); across * down], across)];
        while across * down > 1 {
            (across, down) = (across.div_ceil(2), down.div_ceil(2));
            levels.push((vec![Node::default(); across * down], across));
        }
        Self { levels }
    }

    /// A tree of these numbers.
    pub(super) fn of(across: usize, values: impl ExactSizeIterator<Item = u32>) -> Self {
        let down = values.len().div_ceil(across.max(1));
        let mut tree = Self::new(across, down);
        if let Some((leaves, _)) = tree.levels.first_mut() {
            leaves.iter_mut().zip(values).for_each(|(leaf, value)| leaf.value = value);
        }
        for level in 1..tree.levels.len() {
            let (below, above) = tree.levels.split_at_mut(level);
            let (Some((children, wide)), Some((parents, across))) = (below.last(), above.first_mut()) else {
                continue;
            };
            parents.iter_mut().for_each(|parent| parent.value = u32::MAX);
            for (number, child) in children.iter().enumerate() {
                let (row, column) = (number / wide / 2, number % wide / 2);
                if let Some(parent) = parents.get_mut(row * *across + column) {
                    parent.value = parent.value.min(child.value);
                }
            }
        }
        tree
    }

    /// The nodes from the root to a leaf, each told the lower bound of the one above it.
    fn walk(
        &mut self,
        leaf: usize,
        mut visit: impl FnMut(&mut Node) -> Result<(), String>,
    ) -> Result<(), String> {
        let wide = self.levels.first().map_or(1, |&(_, wide)| wide);
        let (row, column) = (leaf / wide, leaf % wide);
        let mut low = 0;
        for (level, (nodes, across)) in self.levels.iter_mut().enumerate().rev() {
            if let Some(node) = nodes.get_mut((row >> level) * *across + (column >> level)) {
                node.low = node.low.max(low);
                visit(node)?;
                low = node.low;
            }
        }
        Ok(())
    }

    /// Codes whether the number of a leaf is below `bound`, and which it is then.
    pub(super) fn write(&mut self, leaf: usize, bound: u32, out: &mut HeaderWriter<'_>) {
        let written = self.walk(leaf, |node| {
            while node.low < bound && !node.is_known {
                node.is_known = node.low >= node.value;
                out.put(u32::from(node.is_known), 1);
                node.low += u32::from(!node.is_known);
            }
            Ok(())
        });
        debug_assert!(written.is_ok(), "writing does not fail");
    }

    /// Reads whether the number of a leaf is below `bound`, and which it is then.
    pub(super) fn read(
        &mut self,
        leaf: usize,
        bound: u32,
        bits: &mut HeaderReader<'_>,
    ) -> Result<Option<u32>, String> {
        let mut found = None;
        self.walk(leaf, |node| {
            while node.low < bound && !node.is_known {
                node.is_known = bits.take(1)? == 1;
                node.low += u32::from(!node.is_known);
            }
            found = (node.is_known && node.low < bound).then_some(node.low);
            Ok(())
        })?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_for_all_grids() {
        for (across, down) in [(1, 1), (2, 1), (3, 3), (5, 2), (8, 8)] {
            let values: Vec<u32> = (0..).map(|i: u32| i * i % 7).take(across * down).collect();
            let mut bytes = Vec::new();
            let mut out = HeaderWriter::new(&mut bytes);
            let mut tree = TagTree::of(across, values.iter().copied());
            for leaf in 0..values.len() {
                tree.write(leaf, 3, &mut out);
                tree.write(leaf, u32::MAX, &mut out);
            }
            out.finish();
            let mut bits = HeaderReader::new(&bytes);
            let mut tree = TagTree::new(across, down);
            for (leaf, &value) in values.iter().enumerate() {
                assert_eq!(tree.read(leaf, 3, &mut bits).unwrap(), (value < 3).then_some(value));
                assert_eq!(tree.read(leaf, u32::MAX, &mut bits).unwrap(), Some(value));
            }
        }
    }
}
