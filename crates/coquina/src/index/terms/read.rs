//! Reads what the nodes of a condition ask of indexes.
//!
//! In: nodes, each behind what it is computed of, and what indexes were made of. Out: the tree of each truth value.

use std::sync::Arc;

use coquina_kernels::Type;

use super::super::{KeyKind, KeyRanges, Wanted};
use super::compared::{Compared, Constant};
use super::tree::{Tree, Understood, both, either, negated};
use super::{keys, texts};
use crate::base::error::{Error, Result};
use crate::query::condition::mirrored;

/// What an index was made of.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Of the keys.
    pub kind: KeyKind,
    /// Bytes of a text at most; 0 for any number.
    pub width: usize,
    /// Whether a value can be NaN, or no time.
    pub can_be_nan: bool,
    /// Whether a row can be without a value.
    pub can_be_null: bool,
}

impl Operand {
    /// Whether rows without a key meet a term; nothing where some may.
    pub fn missing(&self, wanted: &Wanted) -> Option<bool> {
        wanted.missing(self.can_be_nan, self.can_be_null)
    }

    /// Whether it is told by keys alone which rows meet a term.
    pub fn is_whole(&self, wanted: &Wanted) -> bool {
        self.missing(wanted).is_some() && wanted.is_sharp()
    }
}

/// A node of a condition. Operands and nodes are named by their numbers.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// The values that an operand knows, as the condition sees them.
    Values(usize, Type),
    /// Where an operand has no value.
    Mask(usize),
    /// One value.
    Constant(Type, Vec<u8>),
    /// A node as another type.
    Cast(usize, Type),
    /// A function, by NumPy's name, of other nodes; and whether it gives truth values.
    Call(String, Vec<usize>, bool),
    /// What a table has for the codes that an operand knows: its items, and the one of codes beyond.
    Lookup {
        /// The operand.
        operand: usize,
        /// What the items are.
        ty: Type,
        /// The items of the codes from 0 on.
        table: Vec<u8>,
        /// The item of all others, and of what is missing.
        other: Vec<u8>,
    },
    /// Whether values of an operand are among these items.
    Among(usize, Type, Vec<u8>),
    /// Whether texts of an operand are among these.
    AmongTexts(usize, Vec<Vec<u8>>),
    /// How texts of an operand compare with one, by NumPy's name, or whether they start with it.
    Matches(usize, String, Vec<u8>),
    /// Anything else; and whether it gives truth values.
    Other(bool),
}

/// The tree of each node of truth values; nothing for those that are not understood, and for others.
///
/// # Errors
/// `Invalid` for a node that stands before one that it is computed of, and for an operand that there is not.
pub(super) fn trees(nodes: &[Node], operands: &[Operand]) -> Result<Vec<Option<Arc<Tree>>>> {
    let mut reader = Reader { nodes, operands, trees: Vec::with_capacity(nodes.len()) };
    for (at, node) in nodes.iter().enumerate() {
        check(node, at, operands.len())?;
        let tree = reader.tree(node);
        reader.trees.push(tree);
    }
    Ok(reader.trees)
}

fn check(node: &Node, at: usize, operands: usize) -> Result<()> {
    let (args, operand): (&[usize], _) = match node {
        Node::Cast(arg, _) => (std::slice::from_ref(arg), None),
        Node::Call(_, args, _) => (args, None),
        Node::Values(operand, _)
        | Node::Mask(operand)
        | Node::Lookup { operand, .. }
        | Node::Among(operand, ..)
        | Node::AmongTexts(operand, _)
        | Node::Matches(operand, ..) => (&[], Some(*operand)),
        Node::Constant(..) | Node::Other(_) => (&[], None),
    };
    if args.iter().any(|&arg| arg >= at) {
        return Err(Error::invalid(format!("node {at} stands before what it is computed of")));
    }
    if operand.is_some_and(|operand| operand >= operands) {
        return Err(Error::invalid(format!("node {at}: operand {operand:?} of {operands}")));
    }
    Ok(())
}

struct Reader<'a> {
    nodes: &'a [Node],
    operands: &'a [Operand],
    /// Those of the nodes before.
    trees: Vec<Understood>,
}

impl Reader<'_> {
    fn tree(&self, node: &Node) -> Understood {
        let term = |operand: usize, wanted: Wanted| Some(Arc::new(Tree::Term(operand, wanted)));
        match node {
            Node::Values(operand, Type::Bool) => {
                term(*operand, Wanted::exactly(KeyRanges::points(&[1]), Some(false), None))
            }
            Node::Mask(operand) => {
                term(*operand, Wanted::exactly(KeyRanges::default(), Some(false), Some(true)))
            }
            Node::Constant(Type::Bool, bytes) => {
                Some(Arc::new(Tree::Known(bytes.iter().any(|&byte| byte != 0))))
            }
            Node::Call(name, args, true) => self.called(name, args),
            Node::Lookup { operand, ty: Type::Bool, table, other } => {
                let decided: Vec<bool> = table.iter().map(|&byte| byte != 0).collect();
                self.codes(*operand, &decided, other.iter().any(|&byte| byte != 0))
            }
            Node::Among(operand, ty, items) => {
                term(*operand, keys::among(self.operands[*operand].kind, *ty, items)?)
            }
            Node::AmongTexts(operand, known) => {
                let Operand { kind, width, .. } = self.operands[*operand];
                term(*operand, texts::among(kind, known, width)?)
            }
            Node::Matches(operand, op, text) => {
                let Operand { kind, width, .. } = self.operands[*operand];
                term(*operand, texts::tested(op, kind, text, width)?)
            }
            Node::Values(..)
            | Node::Constant(..)
            | Node::Cast(..)
            | Node::Call(..)
            | Node::Lookup { .. }
            | Node::Other(_) => None,
        }
    }

    fn called(&self, name: &str, args: &[usize]) -> Understood {
        let trees = || args.iter().map(|&arg| self.trees[arg].clone()).collect::<Vec<_>>();
        match (name, args) {
            ("logical_and" | "bitwise_and", _) => both(&trees()),
            ("logical_or" | "bitwise_or", _) => either(&trees()),
            ("logical_not" | "invert", &[arg]) => negated(self.trees[arg].as_deref()?),
            ("isnan", &[arg]) => self.missing(arg),
            (_, &[left, right]) => self.compared(comparison(name)?, left, right),
            _ => None,
        }
    }

    /// What a comparison asks, of which one side is a constant.
    fn compared(&self, op: &'static str, left: usize, right: usize) -> Understood {
        let (op, mut at, right) = match &self.nodes[left] {
            Node::Constant(..) => (mirrored(op), right, left),
            _ => (op, left, right),
        };
        let Node::Constant(ty, bytes) = &self.nodes[right] else { return None };
        let constant = Constant { ty: *ty, bytes };
        let mut steps = Vec::new();
        loop {
            match &self.nodes[at] {
                Node::Cast(arg, ty) => {
                    steps.push(*ty);
                    at = *arg;
                }
                Node::Values(operand, ty) => {
                    steps.push(*ty);
                    steps.reverse();
                    let wanted = keys::compared(op, self.operands[*operand].kind, &steps, &constant)?;
                    return Some(Arc::new(Tree::Term(*operand, wanted)));
                }
                Node::Lookup { operand, ty, table, other } => {
                    steps.push(*ty);
                    steps.reverse();
                    let mut decided = Compared::new(op, &steps, constant)?.of(&[&table[..], other].concat());
                    let other = decided.pop()?;
                    return self.codes(*operand, &decided, other);
                }
                Node::Among(..) | Node::AmongTexts(..) | Node::Matches(..) => return None,
                node => {
                    if !is_truth(node) {
                        return None;
                    }
                    steps.push(Type::Bool);
                    steps.reverse();
                    return self.truth_compared(at, &Compared::new(op, &steps, constant)?);
                }
            }
        }
    }

    /// What a comparison of a condition itself with a constant asks: `(x > 5) == True`.
    fn truth_compared(&self, at: usize, comparison: &Compared<'_>) -> Understood {
        match (comparison.holds(&[0]), comparison.holds(&[1])) {
            (false, true) => self.trees[at].clone(),
            (true, false) => negated(self.trees[at].as_deref()?),
            (is, _) => Some(Arc::new(Tree::Known(is))),
        }
    }

    /// What `isnan` asks.
    fn missing(&self, mut at: usize) -> Understood {
        let is_float = |ty: &Type| matches!(ty, Type::F32 | Type::F64);
        while let Node::Cast(arg, ty) = &self.nodes[at] {
            if !is_float(ty) {
                return None;
            }
            at = *arg;
        }
        let Node::Values(operand, ty) = &self.nodes[at] else { return None };
        if !is_float(ty) {
            return None;
        }
        let wanted = Wanted::exactly(KeyRanges::default(), Some(true), None);
        Some(Arc::new(Tree::Term(*operand, wanted)))
    }

    fn codes(&self, operand: usize, decided: &[bool], other: bool) -> Understood {
        let wanted = keys::codes(self.operands[operand].kind, decided, other)?;
        Some(Arc::new(Tree::Term(operand, wanted)))
    }
}

fn is_truth(node: &Node) -> bool {
    match node {
        Node::Mask(_) => true,
        Node::Constant(ty, _) => *ty == Type::Bool,
        Node::Call(_, _, is_truth) | Node::Other(is_truth) => *is_truth,
        _ => false,
    }
}

/// A comparison by its name.
fn comparison(name: &str) -> Option<&'static str> {
    ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
        .into_iter()
        .find(|op| *op == name)
}

#[cfg(test)]
mod tests {
    use coquina_kernels::items::bytes_of;

    use super::*;

    const I32: Type = Type::I32;
    const F64: Type = Type::F64;

    fn operands() -> Vec<Operand> {
        [KeyKind::Number(Type::I32), KeyKind::Number(Type::F64)]
            .map(|kind| Operand { kind, width: 0, can_be_nan: false, can_be_null: false })
            .to_vec()
    }

    fn last(nodes: &[Node]) -> Understood {
        trees(nodes, &operands()).unwrap().pop().unwrap()
    }

    fn call(name: &str, args: &[usize]) -> Node {
        Node::Call(name.to_owned(), args.to_vec(), true)
    }

    #[test]
    fn a_comparison_is_read_from_both_sides_and_through_casts() {
        let half = || Node::Constant(F64, bytes_of(&[2.5]).to_vec());
        let below = [Node::Values(0, I32), Node::Cast(0, F64), half(), call("less", &[1, 2])];
        let above = [half(), Node::Values(0, I32), Node::Cast(1, F64), call("greater", &[0, 2])];
        for nodes in [below, above] {
            let tree = last(&nodes).unwrap();
            let Tree::Term(0, wanted) = &*tree else { panic!("{tree:?}") };
            let key = |value: i32| KeyKind::Number(Type::I32).key_of(bytes_of(&[value])).unwrap();
            assert_eq!(*wanted.sure, KeyRanges::union(vec![0..=key(2)]));
        }
        let narrowed = [Node::Values(1, F64), Node::Cast(0, I32)];
        let seven = Node::Constant(I32, bytes_of(&[7]).to_vec());
        assert!(last(&[&narrowed[..], &[seven, call("less", &[1, 2])]].concat()).is_none());
    }

    #[test]
    fn a_condition_that_is_compared_with_a_truth_is_itself_or_its_opposite() {
        let truth = |value: bool| Node::Constant(Type::Bool, vec![value.into()]);
        for (op, value, wanted) in
            [("equal", true, true), ("equal", false, false), ("not_equal", true, false)]
        {
            let nodes = [Node::Values(1, F64), call("isnan", &[0]), truth(value), call(op, &[1, 2])];
            let tree = last(&nodes).unwrap();
            assert!(matches!(&*tree, Tree::Term(1, found) if found.nan == Some(wanted)), "{tree:?}");
        }
        let nodes = [Node::Other(true), truth(false), call("less", &[0, 1])];
        assert!(matches!(last(&nodes).as_deref(), Some(Tree::Known(false))));
    }

    #[test]
    fn numbers_that_stand_for_codes_are_compared_one_by_one() {
        let table = bytes_of(&[1.5_f64, 2.5, 3.5]).to_vec();
        let lookup = Node::Lookup { operand: 0, ty: F64, table, other: bytes_of(&[f64::NAN]).to_vec() };
        let two = Node::Constant(F64, bytes_of(&[2.0]).to_vec());
        let tree = last(&[lookup, two, call("greater", &[0, 1])]).unwrap();
        let Tree::Term(0, wanted) = &*tree else { panic!("{tree:?}") };
        let zero = KeyKind::Number(Type::I32).key_of(&[0; 4]).unwrap();
        assert_eq!((&*wanted.sure, wanted.null), (&KeyRanges::points(&[zero + 1, zero + 2]), Some(false)));
    }

    #[test]
    fn nodes_name_what_stands_before_them() {
        assert!(trees(&[Node::Cast(0, F64)], &[]).is_err());
        assert!(trees(&[call("isnan", &[1])], &[]).is_err());
        assert!(trees(&[Node::Mask(2)], &operands()).is_err());
        assert!(trees(&[Node::Other(true)], &[]).unwrap()[0].is_none());
    }
}
