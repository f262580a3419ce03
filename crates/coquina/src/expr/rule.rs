//! How the bounds of a node of an expression follow from those of what it is computed of.
//!
//! Invariant: no item of the node lies outside; what cannot be told for sure is not told.

use coquina_kernels::Type;
use coquina_kernels::elementwise::{Run, cast, kernel};

use super::interval::{Interval, Item, is_finite};
use super::tree::{Node, Tree};

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

    /// The bounds of its node, from those of the operands and of the nodes before.
    pub(super) fn interval(
        &self,
        operands: &[Option<Interval>],
        known: &[Option<Interval>],
    ) -> Option<Interval> {
        let truth = |arg: usize| known[arg].as_ref().and_then(Interval::truth);
        let both = |[a, b]: [usize; 2]| known[a].as_ref().zip(known[b].as_ref());
        match self {
            Self::Load(operand) => operands.get(*operand).copied().flatten(),
            Self::Constant(interval) => *interval,
            Self::Cast(arg, to, run) => known[*arg].as_ref().map(|arg| Interval {
                min: Item::computed(*run, &[&arg.min], *to),
                max: Item::computed(*run, &[&arg.max], *to),
                has_nan: arg.has_nan,
            }),
            // One false is enough, as one true is for `or`.
            Self::And(a, b) => either(truth(*a), truth(*b), false).and_then(Interval::of_bool),
            Self::Or(a, b) => either(truth(*a), truth(*b), true).and_then(Interval::of_bool),
            Self::Not(arg) => truth(*arg).and_then(|truth| Interval::of_bool(!truth)),
            Self::IsNan(arg) => known[*arg].filter(|arg| !arg.has_nan).and_then(|_| Interval::of_bool(false)),
            Self::Compare(comparison, args) => {
                both(*args).and_then(|(a, b)| comparison.decide(a, b)).and_then(Interval::of_bool)
            }
            Self::Arithmetic(arithmetic, args) => both(*args).and_then(|(a, b)| arithmetic.bounds(a, b)),
            Self::Unknown => None,
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
