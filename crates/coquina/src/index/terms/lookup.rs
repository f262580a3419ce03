//! The rows of what is asked of indexes: the sets of its terms, joined as these are.

use std::sync::Arc;

use super::super::{RowSet, Wanted};
use super::read::Operand;
use super::tree::Tree;

/// The rows of a tree, of a table of so many: an exact set has rows that meet all parts of the tree; `Both` says whether
/// there are others. `ask` gives the rows of a term, of an operand, by its index.
///
/// # Errors
/// Those of `ask`.
pub fn looked_up<E>(
    tree: &Arc<Tree>,
    operands: &[Operand],
    rows: u64,
    ask: &mut impl FnMut(&Arc<Tree>, usize, &Wanted) -> Result<RowSet, E>,
) -> Result<RowSet, E> {
    let is_partial = |part: &Arc<Tree>| matches!(&**part, Tree::Both { is_whole: false, .. });
    match &**tree {
        Tree::Known(true) => Ok(RowSet::all(rows)),
        Tree::Known(false) => Ok(RowSet::none()),
        Tree::Term(operand, wanted) => {
            let found = ask(tree, *operand, wanted)?;
            Ok(if operands[*operand].is_whole(wanted) { found } else { found.inexact() })
        }
        Tree::Both { parts, .. } | Tree::Either(parts) => {
            let is_both = matches!(**tree, Tree::Both { .. });
            let mut found: Option<RowSet> = None;
            for part in parts {
                let more = looked_up(part, operands, rows, ask)?;
                found = Some(match found {
                    None => more,
                    Some(found) if is_both => found.and(&more),
                    Some(found) => found.or(&more),
                });
            }
            let found = found.unwrap_or_else(RowSet::none);
            Ok(if !is_both && parts.iter().any(is_partial) { found.inexact() } else { found })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::index::{KeyKind, KeyRanges};

    fn term(operand: usize) -> Arc<Tree> {
        Arc::new(Tree::Term(operand, Wanted::exactly(KeyRanges::points(&[1]), Some(false), None)))
    }

    #[test]
    fn rows_that_are_looked_up_are_joined_as_sets() {
        let kind = KeyKind::by_name("int64").unwrap();
        let operands = vec![Operand { kind, width: 0, can_be_nan: false, can_be_null: false }; 3];
        let sets = [vec![1, 2, 3], vec![2, 3, 4], vec![3, 9]];
        let mut ask = |_: &Arc<Tree>, operand: usize, _: &Wanted| {
            Ok::<_, Infallible>(RowSet::of(sets[operand].clone(), Vec::new(), true))
        };
        let both = |is_whole| Arc::new(Tree::Both { parts: vec![term(0), term(1)], is_whole });
        for (is_whole, is_exact) in [(true, true), (false, false)] {
            let tree = Arc::new(Tree::Either(vec![both(is_whole), term(2)]));
            let found = looked_up(&tree, &operands, 10, &mut ask).unwrap();
            assert_eq!((found.rows(), found.is_exact()), (&[2, 3, 9][..], is_exact));
        }
        assert_eq!(looked_up(&both(true), &operands, 10, &mut ask).unwrap().rows(), [2, 3]);
    }
}
