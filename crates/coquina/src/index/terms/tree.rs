//! Trees of what is asked of indexes: terms, joined by and and or.
//!
//! In: what is asked of single operands. Out: trees, combined and negated.
//! Invariant: rows that meet a condition meet its tree. What is not understood is `None`: of an `and` the other sides
//! stay, an `or` with it is not understood.

use std::sync::Arc;

use super::super::Wanted;

/// Deeper trees are not understood: whoever walks over one needs not to count on more.
const DEPTH_MAX: usize = 256;

/// What a condition asks of indexes.
#[derive(Debug)]
pub enum Tree {
    /// The same for all rows.
    Known(bool),
    /// What is asked of the operand of this number.
    Term(usize, Wanted),
    /// What meets all of the parts; `is_whole`: there are no others, that were not understood.
    Both {
        /// At least one, and no `Known`.
        parts: Vec<Arc<Self>>,
        /// Whether these are all.
        is_whole: bool,
    },
    /// What meets any of the parts, of which none is `Known`.
    Either(Vec<Arc<Self>>),
}

/// A tree that may not be understood.
pub(super) type Understood = Option<Arc<Tree>>;

impl Tree {
    fn parts(&self) -> &[Arc<Self>] {
        match self {
            Self::Both { parts, .. } | Self::Either(parts) => parts,
            Self::Known(_) | Self::Term(..) => &[],
        }
    }

    /// How many trees stand within each other; it is that of trees that are not too deep.
    fn depth(&self) -> usize {
        1 + self.parts().iter().map(|part| part.depth()).max().unwrap_or(0)
    }
}

/// What meets all of these.
pub(super) fn both(trees: &[Understood]) -> Understood {
    let (mut parts, mut all) = (Vec::new(), true);
    for tree in trees {
        match tree.as_deref() {
            Some(Tree::Known(false)) => return Some(Arc::new(Tree::Known(false))),
            Some(Tree::Known(true)) => {}
            Some(Tree::Both { parts: inner, is_whole }) => {
                parts.extend(inner.iter().cloned());
                all &= is_whole;
            }
            Some(_) => parts.extend(tree.clone()),
            None => all = false,
        }
    }
    let merged = merged(parts, Wanted::and);
    match (&merged[..], all) {
        ([], _) => all.then(|| Arc::new(Tree::Known(true))),
        ([one], true) => Some(Arc::clone(one)),
        _ => limited(Tree::Both { parts: merged, is_whole: all }),
    }
}

/// What meets any of these.
pub(super) fn either(trees: &[Understood]) -> Understood {
    let mut parts = Vec::new();
    for tree in trees {
        match tree.as_deref()? {
            Tree::Known(true) => return tree.clone(),
            Tree::Known(false) => {}
            Tree::Either(inner) => parts.extend(inner.iter().cloned()),
            _ => parts.extend(tree.clone()),
        }
    }
    let merged = merged(parts, Wanted::or);
    match &merged[..] {
        [] => Some(Arc::new(Tree::Known(false))),
        [one] => Some(Arc::clone(one)),
        _ => limited(Tree::Either(merged)),
    }
}

fn limited(tree: Tree) -> Understood {
    (tree.depth() <= DEPTH_MAX).then(|| Arc::new(tree))
}

/// Parts of which those of one operand are one term.
fn merged(parts: Vec<Arc<Tree>>, combine: impl Fn(&Wanted, &Wanted) -> Wanted) -> Vec<Arc<Tree>> {
    let mut terms: Vec<(usize, Wanted)> = Vec::new();
    let mut others = Vec::new();
    for part in parts {
        let Tree::Term(operand, wanted) = &*part else {
            others.push(part);
            continue;
        };
        match terms.iter_mut().find(|(known, _)| known == operand) {
            Some((_, known)) => *known = combine(known, wanted),
            None => terms.push((*operand, wanted.clone())),
        }
    }
    let terms = terms.into_iter().map(|(operand, wanted)| Arc::new(Tree::Term(operand, wanted)));
    terms.chain(others).collect()
}

/// What does not meet this.
pub(super) fn negated(tree: &Tree) -> Understood {
    let parts = || tree.parts().iter().map(|part| negated(part)).collect::<Vec<_>>();
    match tree {
        Tree::Known(value) => Some(Arc::new(Tree::Known(!value))),
        Tree::Term(operand, wanted) => Some(Arc::new(Tree::Term(*operand, wanted.not()))),
        Tree::Both { is_whole, .. } => is_whole.then(|| either(&parts())).flatten(),
        Tree::Either(_) => both(&parts()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::KeyRanges;

    /// Operands have two keys; a row has one of each.
    const OPERANDS: usize = 3;

    /// What a tree says of a row: nothing where it does not know.
    fn meets(tree: &Tree, row: [u64; OPERANDS]) -> bool {
        match tree {
            Tree::Known(value) => *value,
            Tree::Term(operand, wanted) => wanted.maybe.contains(row[*operand]),
            Tree::Both { parts, .. } => parts.iter().all(|part| meets(part, row)),
            Tree::Either(parts) => parts.iter().any(|part| meets(part, row)),
        }
    }

    /// A condition with its tree: how rows meet it.
    type Condition = (Vec<bool>, Understood);

    fn rows() -> Vec<[u64; OPERANDS]> {
        (0..8).map(|row| [row & 1, row >> 1 & 1, row >> 2]).collect()
    }

    fn term(operand: usize, key: u64) -> Condition {
        let wanted = Wanted::exactly(KeyRanges::points(&[key]), Some(false), None);
        (
            rows().iter().map(|row| row.get(operand) == Some(&key)).collect(),
            Some(Arc::new(Tree::Term(operand, wanted))),
        )
    }

    fn conditions() -> impl Strategy<Value = Condition> {
        let leaf = prop_oneof![
            (0..OPERANDS, 0..2_u64).prop_map(|(operand, key)| term(operand, key)),
            any::<bool>().prop_map(|value| (vec![value; 8], Some(Arc::new(Tree::Known(value))))),
            prop::collection::vec(any::<bool>(), 8).prop_map(|truths| (truths, None)),
        ];
        leaf.prop_recursive(5, 40, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(|all| {
                    let truths = (0..8).map(|row| all.iter().all(|one| one.0[row])).collect();
                    (truths, both(&all.into_iter().map(|one| one.1).collect::<Vec<_>>()))
                }),
                prop::collection::vec(inner.clone(), 1..4).prop_map(|all| {
                    let truths = (0..8).map(|row| all.iter().any(|one| one.0[row])).collect();
                    (truths, either(&all.into_iter().map(|one| one.1).collect::<Vec<_>>()))
                }),
                inner.prop_map(|(truths, tree)| {
                    (truths.into_iter().map(|is| !is).collect(), tree.and_then(|tree| negated(&tree)))
                }),
            ]
        })
    }

    fn is_whole(tree: &Tree) -> bool {
        !matches!(tree, Tree::Both { is_whole: false, .. }) && tree.parts().iter().all(|part| is_whole(part))
    }

    proptest! {
        #[test]
        fn rows_that_meet_a_condition_meet_its_tree((truths, tree) in conditions()) {
            let Some(tree) = tree else { return Ok(()) };
            for (row, truth) in rows().into_iter().zip(truths) {
                prop_assert!(meets(&tree, row) || !truth, "{tree:?} {row:?}");
                prop_assert!(meets(&tree, row) == truth || !is_whole(&tree), "{tree:?} {row:?}");
            }
        }
    }

    #[test]
    fn a_tree_that_is_too_deep_is_not_understood() {
        let part = |operand| term(operand, 1).1;
        let mut tree = part(0);
        for at in 0..10_000 {
            // Operands of different numbers do not become one term.
            let more = [tree, part(at)];
            tree = if at % 2 == 0 { both(&more) } else { either(&more) };
        }
        assert!(tree.is_none_or(|tree| tree.depth() <= DEPTH_MAX));
    }
}
