//! What is known of a result when only the bounds of the operands are: whether a comparison is decided.
//!
//! In: for each operand the least and the greatest item. Out: the same for the result, if it can be told; and which
//! operands it can still depend on.
//! Invariant: no result lies outside; whatever cannot be told for sure is not told. This runs for every box, so it
//! allocates nothing but the list of what is known.

use std::ops::{Deref, Range};

use coquina_kernels::elementwise::{Run, cast, kernel};
use coquina_kernels::items::items;
use coquina_kernels::{Type, best_level};

use super::program::Program;
use super::tree::{Node, Tree};

/// Bytes of the widest item.
const ITEM_BYTES_MAX: usize = 16;

/// The bytes of one item, where kernels may read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Item {
    bytes: [u8; ITEM_BYTES_MAX],
    len: usize,
}

impl Item {
    fn new(bytes: &[u8], ty: Type) -> Option<Self> {
        let mut item = Self { bytes: [0; ITEM_BYTES_MAX], len: ty.bytes() };
        item.bytes.get_mut(..ty.bytes()).filter(|room| room.len() == bytes.len())?.copy_from_slice(bytes);
        Some(item)
    }

    /// What a kernel makes of single items.
    fn computed(run: Run, args: &[&[u8]], ty: Type) -> Self {
        let mut item = Self { bytes: [0; ITEM_BYTES_MAX], len: ty.bytes() };
        run(best_level(), args, &mut item.bytes[..ty.bytes()]);
        item
    }
}

impl Deref for Item {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The least and the greatest item of some; a NaN is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// An item that no other is less than.
    pub min: Item,
    /// An item that no other is greater than.
    pub max: Item,
    /// Whether there may be NaNs too.
    pub has_nan: bool,
}

impl Interval {
    /// The bounds of items of a type; `None` if these are no items of it.
    pub fn new(min: &[u8], max: &[u8], has_nan: bool, ty: Type) -> Option<Self> {
        Some(Self { min: Item::new(min, ty)?, max: Item::new(max, ty)?, has_nan })
    }

    /// One item over and over.
    pub fn one(item: &[u8], ty: Type) -> Option<Self> {
        let item = Item::new(item, ty)?;
        Some(Self { min: item, max: item, has_nan: is_nan(&item, ty) })
    }

    fn of_bool(value: bool) -> Option<Self> {
        Self::one(&[u8::from(value)], Type::Bool)
    }

    /// The one truth value of all.
    fn truth(&self) -> Option<bool> {
        (self.min == self.max && self.min.len() == 1).then(|| self.min[0] != 0)
    }
}

fn is_nan(item: &[u8], ty: Type) -> bool {
    match ty {
        Type::F32 | Type::C64 => items::<f32>(item).iter().any(|part| part.is_nan()),
        Type::F64 | Type::C128 => items::<f64>(item).iter().any(|part| part.is_nan()),
        _ => false,
    }
}

fn is_finite(item: &[u8], ty: Type) -> bool {
    match ty {
        Type::F32 => items::<f32>(item).iter().all(|part| part.is_finite()),
        _ => items::<f64>(item).iter().all(|part| part.is_finite()),
    }
}

/// How the bounds of a node follow from those of what it is computed of.
pub(super) enum Rule {
    Load(usize),
    Constant(Option<Interval>),
    Cast(usize, Type, Run),
    And(usize, usize),
    Or(usize, usize),
    Not(usize),
    IsNan(usize),
    Compare(Comparison, [usize; 2]),
    Arithmetic(Arithmetic, [usize; 2]),
    Unknown,
}

impl Rule {
    /// The rules of all nodes.
    pub(super) fn of(tree: &Tree) -> Vec<Self> {
        let types = &tree.types;
        let rule = |(node, &ty): (&Node, &Type)| match node {
            Node::Load(operand, _) => Self::Load(*operand),
            Node::Constant(_, bytes) => Self::Constant(Interval::one(bytes, ty)),
            Node::Cast(arg, to) if keeps_order(types[*arg], *to) => {
                Self::Cast(*arg, *to, cast(types[*arg], *to).run)
            }
            Node::Cast(..) => Self::Unknown,
            Node::Call(name, args) => {
                let types: Vec<Type> = args.iter().map(|&arg| types[arg]).collect();
                Self::of_call(name, args, &types).unwrap_or(Self::Unknown)
            }
        };
        tree.nodes.iter().zip(types).map(rule).collect()
    }

    fn of_call(name: &str, args: &[usize], types: &[Type]) -> Option<Self> {
        if types.iter().any(|ty| matches!(ty, Type::C64 | Type::C128)) {
            return None;
        }
        match (name, args) {
            ("logical_and" | "bitwise_and", &[a, b]) if types == [Type::Bool; 2] => Some(Self::And(a, b)),
            ("logical_or" | "bitwise_or", &[a, b]) if types == [Type::Bool; 2] => Some(Self::Or(a, b)),
            ("logical_not" | "invert", &[a]) if types == [Type::Bool] => Some(Self::Not(a)),
            ("isnan", &[a]) => Some(Self::IsNan(a)),
            (_, &[a, b]) => Comparison::of(name, types)
                .map(|comparison| Self::Compare(comparison, [a, b]))
                .or_else(|| Arithmetic::of(name, types).map(|found| Self::Arithmetic(found, [a, b]))),
            _ => None,
        }
    }
}

/// Casts that keep the order, and every number a number.
fn keeps_order(from: Type, to: Type) -> bool {
    let is_integer = |ty| !matches!(ty, Type::Bool | Type::F32 | Type::F64 | Type::C64 | Type::C128);
    match (from, to) {
        (from, to) if from == to => true,
        (Type::F32, Type::F64) => true,
        (from, Type::F64 | Type::F32) => is_integer(from),
        _ => false,
    }
}

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
            let truth = |arg: usize| known[arg].as_ref().and_then(Interval::truth);
            let both = |[a, b]: [usize; 2]| known[a].as_ref().zip(known[b].as_ref());
            let found = match rule {
                Rule::Load(operand) => operands.get(*operand).copied().flatten(),
                Rule::Constant(interval) => *interval,
                Rule::Cast(arg, to, run) => known[*arg].as_ref().map(|arg| Interval {
                    min: Item::computed(*run, &[&arg.min], *to),
                    max: Item::computed(*run, &[&arg.max], *to),
                    has_nan: arg.has_nan,
                }),
                // One false is enough, as one true is for `or`.
                Rule::And(a, b) => either(truth(*a), truth(*b), false).and_then(Interval::of_bool),
                Rule::Or(a, b) => either(truth(*a), truth(*b), true).and_then(Interval::of_bool),
                Rule::Not(arg) => truth(*arg).and_then(|truth| Interval::of_bool(!truth)),
                Rule::IsNan(arg) => {
                    known[*arg].filter(|arg| !arg.has_nan).and_then(|_| Interval::of_bool(false))
                }
                Rule::Compare(comparison, args) => {
                    both(*args).and_then(|(a, b)| comparison.decide(a, b)).and_then(Interval::of_bool)
                }
                Rule::Arithmetic(arithmetic, args) => both(*args).and_then(|(a, b)| arithmetic.bounds(a, b)),
                Rule::Unknown => None,
            };
            known.push(found);
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

/// What comes out of two truth values where `decisive` is enough.
fn either(a: Option<bool>, b: Option<bool>, decisive: bool) -> Option<bool> {
    if a == Some(decisive) || b == Some(decisive) { Some(decisive) } else { a.and(b) }
}

#[derive(Clone, Copy)]
enum Relation {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// A comparison, and what tells the order of the ends of two intervals.
pub(super) struct Comparison {
    relation: Relation,
    less: Run,
    less_equal: Run,
    equal: Run,
    /// Of items of the two types in the other order: signed and unsigned integers have kernels for each.
    turned_less: Run,
    turned_less_equal: Run,
}

impl Comparison {
    fn of(name: &str, types: &[Type]) -> Option<Self> {
        let relation = match name {
            "less" => Relation::Less,
            "less_equal" => Relation::LessEqual,
            "greater" => Relation::Greater,
            "greater_equal" => Relation::GreaterEqual,
            "equal" => Relation::Equal,
            "not_equal" => Relation::NotEqual,
            _ => return None,
        };
        let turned: Vec<Type> = types.iter().rev().copied().collect();
        let run = |name: &str, types: &[Type]| {
            kernel(name, types).filter(|kernel| kernel.output == Type::Bool).map(|kernel| kernel.run)
        };
        Some(Self {
            relation,
            less: run("less", types)?,
            less_equal: run("less_equal", types)?,
            equal: run("equal", types)?,
            turned_less: run("less", &turned)?,
            turned_less_equal: run("less_equal", &turned)?,
        })
    }

    /// Whether it comes out the same for all items.
    fn decide(&self, a: &Interval, b: &Interval) -> Option<bool> {
        let holds = |run: Run, a: &Item, b: &Item| Item::computed(run, &[a, b], Type::Bool)[0] != 0;
        let has_nan = a.has_nan || b.has_nan;
        let is_below = || holds(self.less, &a.max, &b.min);
        let is_above = || holds(self.turned_less, &b.max, &a.min);
        let is_below_or_equal = || holds(self.less_equal, &a.max, &b.min);
        let is_above_or_equal = || holds(self.turned_less_equal, &b.max, &a.min);
        let is_same = || a.min == a.max && b.min == b.max && holds(self.equal, &a.min, &b.min);
        // Where a NaN is compared the answer is false, but for "not equal".
        let decide = |is_true: &dyn Fn() -> bool, is_false: &dyn Fn() -> bool| {
            if !has_nan && is_true() { Some(true) } else { is_false().then_some(false) }
        };
        match self.relation {
            Relation::Less => decide(&is_below, &is_above_or_equal),
            Relation::LessEqual => decide(&is_below_or_equal, &is_above),
            Relation::Greater => decide(&is_above, &is_below_or_equal),
            Relation::GreaterEqual => decide(&is_above_or_equal, &is_below),
            Relation::Equal => decide(&is_same, &|| is_below() || is_above()),
            Relation::NotEqual if is_below() || is_above() => Some(true),
            Relation::NotEqual => (!has_nan && is_same()).then_some(false),
        }
    }
}

#[derive(Clone, Copy)]
enum Corners {
    /// The ends of the result are of the least and of the greatest.
    Alike,
    /// They are of the least of one and the greatest of the other.
    Crossed,
    /// They are any two.
    All,
}

/// A function of floats. Rounding keeps the order, so the ends of the result are those of the ends.
pub(super) struct Arithmetic {
    corners: Corners,
    ty: Type,
    run: Run,
    minimum: Run,
    maximum: Run,
}

impl Arithmetic {
    fn of(name: &str, types: &[Type]) -> Option<Self> {
        let corners = match name {
            "add" | "maximum" | "minimum" => Corners::Alike,
            "subtract" => Corners::Crossed,
            "multiply" => Corners::All,
            _ => return None,
        };
        let found = kernel(name, types)?;
        let ty = found.output;
        let is_float = types.iter().all(|own| matches!(own, Type::F32 | Type::F64) && *own == ty);
        if !is_float {
            return None;
        }
        let minimum = kernel("minimum", &[ty, ty])?.run;
        let maximum = kernel("maximum", &[ty, ty])?.run;
        Some(Self { corners, ty, run: found.run, minimum, maximum })
    }

    fn bounds(&self, a: &Interval, b: &Interval) -> Option<Interval> {
        // Infinities may meet inside though they do not at the ends; finite ends have only finite items between.
        if ![&a.min, &a.max, &b.min, &b.max].iter().all(|end| is_finite(end, self.ty)) {
            return None;
        }
        let of = |run: Run, x: &Item, y: &Item| Item::computed(run, &[x, y], self.ty);
        let at = |x: &Item, y: &Item| of(self.run, x, y);
        let twice = |x: Item, y: Item| [x, y, x, y];
        let corners = match self.corners {
            Corners::Alike => twice(at(&a.min, &b.min), at(&a.max, &b.max)),
            Corners::Crossed => twice(at(&a.min, &b.max), at(&a.max, &b.min)),
            Corners::All => [at(&a.min, &b.min), at(&a.max, &b.max), at(&a.min, &b.max), at(&a.max, &b.min)],
        };
        let [first, others @ ..] = corners;
        let all = |run: Run| others.iter().fold(first, |end, other| of(run, &end, other));
        let (min, max) = (all(self.minimum), all(self.maximum));
        Some(Interval { min, max, has_nan: a.has_nan || b.has_nan })
    }
}
