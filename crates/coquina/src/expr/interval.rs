//! What is known of a result when only the bounds of the operands are: whether a comparison is decided.
//!
//! In: for each operand the least and the greatest item. Out: the same for the result, if it can be told.
//! Invariant: no result lies outside; whatever cannot be told for sure is not told.

use coquina_kernels::Type;

use super::compile::computed;
use super::program::Program;
use super::tree::{Node, kernel_of};

/// The least and the greatest item of some; a NaN is neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The bytes of an item that no other is less than.
    pub min: Vec<u8>,
    /// The bytes of an item that no other is greater than.
    pub max: Vec<u8>,
    /// Whether there may be NaNs too.
    pub has_nan: bool,
}

impl Interval {
    /// One item over and over.
    pub fn one(item: &[u8], ty: Type) -> Self {
        Self { min: item.to_vec(), max: item.to_vec(), has_nan: is_nan(item, ty) }
    }

    fn of_bool(value: bool) -> Self {
        Self::one(&[u8::from(value)], Type::Bool)
    }

    fn truth(&self) -> Option<bool> {
        (self.min == self.max && self.min.len() == 1).then(|| self.min[0] != 0)
    }
}

fn is_nan(item: &[u8], ty: Type) -> bool {
    holds("isnan", &[item], &[ty])
}

/// Whether a function of single items is true.
fn holds(name: &str, items: &[&[u8]], types: &[Type]) -> bool {
    let Ok(kernel) = kernel_of(name, types) else { return false };
    let items: Vec<Vec<u8>> = items.iter().map(|item| item.to_vec()).collect();
    kernel.output == Type::Bool && computed(&items, Type::Bool, kernel.run) == [1]
}

impl Program {
    /// The bounds of the result, from those of the operands.
    pub fn interval(&self, operands: &[Option<Interval>]) -> Option<Interval> {
        let mut known: Vec<Option<Interval>> = Vec::with_capacity(self.tree.nodes.len());
        for (node, &ty) in self.tree.nodes.iter().zip(&self.tree.types) {
            let found = match node {
                Node::Load(operand, _) => operands.get(*operand).cloned().flatten(),
                Node::Constant(_, bytes) => Some(Interval::one(bytes, ty)),
                Node::Cast(arg, to) => known[*arg].as_ref().and_then(|a| cast(a, self.tree.types[*arg], *to)),
                Node::Call(name, args) => {
                    let types: Vec<Type> = args.iter().map(|&arg| self.tree.types[arg]).collect();
                    let args: Vec<Option<&Interval>> = args.iter().map(|&arg| known[arg].as_ref()).collect();
                    call(name, &args, &types)
                }
            };
            known.push(found);
        }
        known.pop().flatten()
    }

    /// Whether the bounds of operands can tell anything: the result is a truth value.
    pub fn is_condition(&self) -> bool {
        self.output == Type::Bool && !self.steps.is_empty()
    }
}

/// Casts that keep the order, and every number a number.
fn cast(arg: &Interval, from: Type, to: Type) -> Option<Interval> {
    let is_integer = |ty| !matches!(ty, Type::Bool | Type::F32 | Type::F64 | Type::C64 | Type::C128);
    let keeps = match (from, to) {
        (from, to) if from == to => true,
        (Type::F32, Type::F64) => true,
        (from, Type::F64) => is_integer(from),
        (from, Type::F32) => is_integer(from),
        _ => false,
    };
    let kernel = coquina_kernels::elementwise::cast(from, to);
    let one = |item: &Vec<u8>| computed(std::slice::from_ref(item), to, kernel.run);
    keeps.then(|| Interval { min: one(&arg.min), max: one(&arg.max), has_nan: arg.has_nan })
}

fn call(name: &str, args: &[Option<&Interval>], types: &[Type]) -> Option<Interval> {
    if types.iter().any(|ty| matches!(ty, Type::C64 | Type::C128)) {
        return None;
    }
    match (name, args) {
        // One false is enough, as one true is for `or`.
        ("logical_and" | "bitwise_and", [a, b]) if types == [Type::Bool; 2] => {
            let (a, b) = (a.and_then(Interval::truth), b.and_then(Interval::truth));
            (a == Some(false) || b == Some(false))
                .then_some(false)
                .or_else(|| (a == Some(true) && b == Some(true)).then_some(true))
                .map(Interval::of_bool)
        }
        ("logical_or" | "bitwise_or", [a, b]) if types == [Type::Bool; 2] => {
            let (a, b) = (a.and_then(Interval::truth), b.and_then(Interval::truth));
            (a == Some(true) || b == Some(true))
                .then_some(true)
                .or_else(|| (a == Some(false) && b == Some(false)).then_some(false))
                .map(Interval::of_bool)
        }
        ("logical_not" | "invert", [Some(a)]) if types == [Type::Bool] => {
            a.truth().map(|truth| Interval::of_bool(!truth))
        }
        ("isnan", [Some(a)]) => (!a.has_nan).then(|| Interval::of_bool(false)),
        (_, [Some(a), Some(b)]) => compare(name, a, b, types)
            .map(Interval::of_bool)
            .or_else(|| if is_float(types) { arithmetic(name, a, b, types) } else { None }),
        _ => None,
    }
}

fn is_float(types: &[Type]) -> bool {
    types.iter().all(|ty| matches!(ty, Type::F32 | Type::F64))
}

/// Whether a comparison comes out the same for all items.
fn compare(name: &str, a: &Interval, b: &Interval, types: &[Type]) -> Option<bool> {
    let has_nan = a.has_nan || b.has_nan;
    // Signed and unsigned integers are compared as they are: each order of them has kernels of its own.
    let turned: Vec<Type> = types.iter().rev().copied().collect();
    let is_below = holds("less", &[&a.max, &b.min], types);
    let is_above = holds("less", &[&b.max, &a.min], &turned);
    let is_below_or_equal = holds("less_equal", &[&a.max, &b.min], types);
    let is_above_or_equal = holds("less_equal", &[&b.max, &a.min], &turned);
    // Where a NaN is compared the answer is false, but for "not equal".
    let decide = |is_true: bool, is_false: bool| {
        if is_true && !has_nan { Some(true) } else { is_false.then_some(false) }
    };
    let apart = is_below || is_above;
    let same = a.min == a.max && b.min == b.max && holds("equal", &[&a.min, &b.min], types);
    match name {
        "less" => decide(is_below, is_above_or_equal),
        "less_equal" => decide(is_below_or_equal, is_above),
        "greater" => decide(is_above, is_below_or_equal),
        "greater_equal" => decide(is_above_or_equal, is_below),
        "equal" => decide(same, apart),
        "not_equal" if apart => Some(true),
        "not_equal" if same && !has_nan => Some(false),
        _ => None,
    }
}

/// Rounding keeps the order, so the ends of the result are those of the ends.
fn arithmetic(name: &str, a: &Interval, b: &Interval, types: &[Type]) -> Option<Interval> {
    let kernel = kernel_of(name, types).ok()?;
    let at = |x: &[u8], y: &[u8]| computed(&[x.to_vec(), y.to_vec()], kernel.output, kernel.run);
    let corners = match name {
        "add" | "maximum" | "minimum" => vec![at(&a.min, &b.min), at(&a.max, &b.max)],
        "subtract" => vec![at(&a.min, &b.max), at(&a.max, &b.min)],
        "multiply" => {
            vec![at(&a.min, &b.min), at(&a.min, &b.max), at(&a.max, &b.min), at(&a.max, &b.max)]
        }
        _ => return None,
    };
    let ty = kernel.output;
    // Infinities may meet inside though they do not at the ends; finite ends have only finite items between.
    let is_finite = |item: &[u8]| holds("isfinite", &[item], &[ty]);
    if ![&a.min, &a.max, &b.min, &b.max].iter().all(|end| is_finite(end)) {
        return None;
    }
    let pick = |name: &str| {
        let kernel = kernel_of(name, &[ty, ty]).ok()?;
        corners.iter().cloned().reduce(|x, y| computed(&[x, y], ty, kernel.run))
    };
    Some(Interval { min: pick("minimum")?, max: pick("maximum")?, has_nan: a.has_nan || b.has_nan })
}
