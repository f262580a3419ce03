//! What is known of a result when only the bounds of the operands are: whether a condition is decided.
//!
//! In: for each operand the least and the greatest item. Out: the same for the result, if it can be told; and which
//! operands it can still depend on.
//! Invariant: no result lies outside; whatever cannot be told for sure is not told. This runs for every box, so it
//! allocates nothing but the list of what is known.

use std::ops::Range;

use coquina_kernels::Type;

use super::interval::Interval;
use super::program::Program;
use super::rule::Rule;
use super::tree::Node;

impl Program {
    /// The bounds of the result, from those of the operands.
    pub fn interval(&self, operands: &[Option<Interval>]) -> Option<Interval> {
        self.intervals(operands).pop().flatten()
    }

    /// As [`Program::interval`]; where it tells no one value of a condition, it also gives for each operand whether
    /// the result can depend on it. Of one that it cannot depend on any item does that is within its bounds.
    pub fn interval_and_needs(&self, operands: &[Option<Interval>]) -> (Option<Interval>, Vec<bool>) {
        let known = self.intervals(operands);
        // A truth that is known is the same whatever is within the bounds, so what it is made of does not matter.
        let is_open = |node: usize| known[node].as_ref().and_then(Interval::truth).is_none();
        let mut is_needed = vec![false; known.len()];
        let mut needed = vec![false; self.operands.len()];
        if let Some(last) = known.len().checked_sub(1) {
            is_needed[last] = is_open(last);
        }
        for (number, node) in self.tree.nodes.iter().enumerate().rev() {
            match node {
                _ if !is_needed[number] => {}
                Node::Load(operand, _) => needed[*operand] = true,
                Node::Constant(..) => {}
                Node::Cast(arg, _) => is_needed[*arg] |= is_open(*arg),
                Node::Call(_, args) => args.iter().for_each(|&arg| is_needed[arg] |= is_open(arg)),
            }
        }
        (known.last().copied().flatten(), needed)
    }

    /// The bounds of all nodes.
    fn intervals(&self, operands: &[Option<Interval>]) -> Vec<Option<Interval>> {
        let mut known: Vec<Option<Interval>> = Vec::with_capacity(self.rules.len());
        for rule in &self.rules {
            known.push(rule.interval(operands, &known));
        }
        known
    }

    /// The places of a range, from the first to the last one, where a truth value may come out true; `None` where
    /// there are none. `of_operand` tells the same of an operand.
    pub fn possible(
        &self,
        range: &Range<u64>,
        of_operand: impl Fn(usize) -> Option<Range<u64>>,
    ) -> Option<Range<u64>> {
        let mut known: Vec<Option<Range<u64>>> = Vec::with_capacity(self.rules.len());
        for (rule, &ty) in self.rules.iter().zip(&self.tree.types) {
            let both = |a: usize, b: usize| known[a].clone().zip(known[b].clone());
            known.push(match rule {
                Rule::Load(operand) if ty == Type::Bool => of_operand(*operand),
                Rule::Constant(Some(item)) if ty == Type::Bool && item.truth() == Some(false) => None,
                Rule::And(a, b) => both(*a, *b)
                    .map(|(a, b)| a.start.max(b.start)..a.end.min(b.end))
                    .filter(|both| !both.is_empty()),
                Rule::Or(a, b) => match both(*a, *b) {
                    Some((a, b)) => Some(a.start.min(b.start)..a.end.max(b.end)),
                    None => known[*a].clone().or_else(|| known[*b].clone()),
                },
                _ => Some(range.clone()),
            });
        }
        known.pop().flatten()
    }

    /// Whether the bounds of operands can tell anything: the result is a truth value.
    pub fn is_condition(&self) -> bool {
        self.output == Type::Bool && !self.steps.is_empty()
    }
}
