//! A condition with the rows in it that indexes have found.
//!
//! In: rows that surely meet a part of a condition, the rest of it, ranges of which nothing is known, and all of the
//! condition. Out: one source of truth bytes, which is known to be false in most boxes.

use std::sync::Arc;

use coquina_kernels::Type;

use super::RowCondition;
use crate::array::BoxSource;
use crate::base::error::Result;
use crate::compute::{Bound, Input};
use crate::expr::{Node, Program, Tree};

/// What indexes have found.
pub struct FoundRows {
    /// Rows that meet the part of a condition that was looked up, if these are told for sure; else rows that may.
    pub known: RowCondition,
    /// Of the rows that are known, what has still to be computed.
    pub rest: Vec<Arc<dyn BoxSource>>,
    /// Rows of which nothing is known, if there are some, and all of the condition.
    pub open: Option<(RowCondition, Arc<dyn BoxSource>)>,
}

impl FoundRows {
    /// Where the condition holds.
    ///
    /// # Errors
    /// `Invalid` for sources of other lengths.
    pub fn condition(self) -> Result<Bound> {
        let rows = self.known.shape()[0];
        // Rows are not stored: what they are put together with says how both are walked over.
        let mut parts = Parts { nodes: Vec::new(), inputs: Vec::new() };
        let mut found = parts.load(Arc::new(self.known), false);
        for rest in self.rest {
            let rest = parts.load(rest, true);
            found = parts.call("logical_and", found, rest);
        }
        if let Some((open, condition)) = self.open {
            let (open, condition) = (parts.load(Arc::new(open), false), parts.load(condition, true));
            let more = parts.call("logical_and", open, condition);
            parts.call("logical_or", found, more);
        }
        Bound::of_rows(Program::new(&Tree::new(parts.nodes)?)?, parts.inputs, rows)
    }
}

struct Parts {
    nodes: Vec<Node>,
    inputs: Vec<Input>,
}

impl Parts {
    fn load(&mut self, source: Arc<dyn BoxSource>, is_stored: bool) -> usize {
        self.inputs.push(Input { source, is_stored });
        self.push(Node::Load(self.inputs.len() - 1, Type::Bool))
    }

    fn call(&mut self, name: &str, left: usize, right: usize) -> usize {
        self.push(Node::Call(name.to_owned(), vec![left, right]))
    }

    fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::in_memory::InMemory;
    use super::*;

    #[test]
    fn rows_that_are_known_meet_the_rest_and_open_ones_all_of_a_condition() {
        const ROWS: u64 = 40;
        let truths = |is: fn(u64) -> bool| -> Arc<dyn BoxSource> {
            Arc::new(InMemory { items: (0..ROWS).map(|row| u8::from(is(row))).collect(), item_bytes: 1 })
        };
        let rows = |rows: &[i64], open: &[[i64; 2]]| RowCondition::new(rows, open, ROWS, 16, 8).unwrap();
        let found = FoundRows {
            known: rows(&[1, 2, 9, 30], &[]),
            rest: vec![truths(|row| row % 2 == 1), truths(|row| row != 9)],
            open: Some((rows(&[], &[[20, 24], [38, 40]]), truths(|row| row % 3 == 0))),
        };
        let mut out = vec![0; 40];
        found.condition().unwrap().fill(&[0], &[ROWS], &mut out).unwrap();
        let held: Vec<usize> = (0..40).filter(|&row| out[row] != 0).collect();
        assert_eq!(held, [1, 21, 39]);
    }
}
