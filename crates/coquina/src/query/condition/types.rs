//! What types the items of a result have: NumPy's promotion, where numbers of the text are weak.
//!
//! Source: NEP 50, and the loops of NumPy's ufuncs: of those that a function has, in NumPy's order, the first one
//! that takes all operands without loss. tests/cases/numpy_types.txt holds NumPy's own answers, and tests/queries/laws.rs compares.

use coquina_kernels::Type;
use coquina_kernels::elementwise::kernel;

use super::super::columns::TimeType;
use super::Result;
use super::functions::Function;
use crate::expr::text::{TextError, TextErrorKind};

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemType {
    /// A number, or a truth value.
    Number(Type),
    /// A number of half precision, computed in single precision.
    Half,
    /// A date, a time or a span of time, as a 64-bit integer.
    Time(TimeType),
}

impl ItemType {
    /// NumPy's name.
    pub fn name(self) -> String {
        match self {
            Self::Number(ty) => ty.name().to_owned(),
            Self::Half => "float16".to_owned(),
            Self::Time(ty) => ty.to_string(),
        }
    }

    /// The type that its items are computed in.
    pub fn stored(self) -> Type {
        match self {
            Self::Number(ty) => ty,
            Self::Half => Type::F32,
            Self::Time(_) => Type::I64,
        }
    }

    pub(super) fn is_bool(self) -> bool {
        self == Self::Number(Type::Bool)
    }

    pub(super) fn is_integer(self) -> bool {
        matches!(self, Self::Number(ty) if integer_bits(ty).is_some())
    }
}

/// What an operand is to the rules of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Strong(ItemType),
    WeakInt,
    WeakFloat,
    WeakComplex,
}

/// The types of a loop: what it takes, and what it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) inputs: Vec<ItemType>,
    pub(super) output: ItemType,
}

/// Types in the order in which NumPy looks through them.
const ORDER: [ItemType; 14] = [
    ItemType::Number(Type::Bool),
    ItemType::Number(Type::I8),
    ItemType::Number(Type::U8),
    ItemType::Number(Type::I16),
    ItemType::Number(Type::U16),
    ItemType::Number(Type::I32),
    ItemType::Number(Type::U32),
    ItemType::Number(Type::I64),
    ItemType::Number(Type::U64),
    ItemType::Half,
    ItemType::Number(Type::F32),
    ItemType::Number(Type::F64),
    ItemType::Number(Type::C64),
    ItemType::Number(Type::C128),
];

/// The bits of an integer, and whether it has a sign.
pub(super) fn integer_bits(ty: Type) -> Option<(u32, bool)> {
    Some(match ty {
        Type::I8 => (8, true),
        Type::I16 => (16, true),
        Type::I32 => (32, true),
        Type::I64 => (64, true),
        Type::U8 => (8, false),
        Type::U16 => (16, false),
        Type::U32 => (32, false),
        Type::U64 => (64, false),
        _ => return None,
    })
}

/// The least and the greatest integer of a type.
pub(super) fn limits(ty: Type) -> Option<(i128, i128)> {
    let (bits, is_signed) = integer_bits(ty)?;
    let all = 1_i128 << bits;
    Some(if is_signed { (-all / 2, all / 2 - 1) } else { (0, all - 1) })
}

/// How much a floating-point type holds: its rank, from half precision on; 0 for integers and truth values.
fn rank(ty: ItemType) -> u32 {
    match ty {
        ItemType::Half => 1,
        ItemType::Number(Type::F32 | Type::C64) => 2,
        ItemType::Number(Type::F64 | Type::C128) => 3,
        _ => 0,
    }
}

fn is_complex(ty: ItemType) -> bool {
    matches!(ty, ItemType::Number(Type::C64 | Type::C128))
}

/// The rank that holds an integer or a truth value.
fn rank_of_integer(ty: ItemType) -> u32 {
    let ItemType::Number(ty) = ty else { return 0 };
    match integer_bits(ty) {
        None | Some((8, _)) => 1,
        Some((16, _)) => 2,
        Some(_) => 3,
    }
}

fn float(rank: u32, is_complex: bool) -> ItemType {
    match (rank, is_complex) {
        (0 | 1, false) => ItemType::Half,
        (2, false) => ItemType::Number(Type::F32),
        (_, false) => ItemType::Number(Type::F64),
        (0..=2, true) => ItemType::Number(Type::C64),
        (_, true) => ItemType::Number(Type::C128),
    }
}

fn integer(bits: u32, is_signed: bool) -> ItemType {
    ItemType::Number(match (bits, is_signed) {
        (8, true) => Type::I8,
        (16, true) => Type::I16,
        (32, true) => Type::I32,
        (64, true) => Type::I64,
        (8, false) => Type::U8,
        (16, false) => Type::U16,
        (32, false) => Type::U32,
        (64, false) => Type::U64,
        _ => Type::F64,
    })
}

/// The type that holds the items of both; nothing for times.
pub(super) fn promoted(a: ItemType, b: ItemType) -> Option<ItemType> {
    if a == b {
        return Some(a);
    }
    let (ItemType::Number(_) | ItemType::Half, ItemType::Number(_) | ItemType::Half) = (a, b) else {
        return None;
    };
    if rank(a).max(rank(b)) > 0 {
        let own = |ty: ItemType| if rank(ty) > 0 { rank(ty) } else { rank_of_integer(ty) };
        return Some(float(own(a).max(own(b)), is_complex(a) || is_complex(b)));
    }
    if a.is_bool() || b.is_bool() {
        return Some(if a.is_bool() { b } else { a });
    }
    let (bits_a, is_signed_a) = integer_bits(a.stored())?;
    let (bits_b, is_signed_b) = integer_bits(b.stored())?;
    if is_signed_a == is_signed_b {
        return Some(integer(bits_a.max(bits_b), is_signed_a));
    }
    let (signed, unsigned) = if is_signed_a { (bits_a, bits_b) } else { (bits_b, bits_a) };
    Some(integer(signed.max(2 * unsigned), true))
}

/// Whether items become others of a type without loss.
pub(crate) fn is_safe(from: ItemType, to: ItemType) -> bool {
    promoted(from, to) == Some(to)
}

/// The type that holds all operands.
pub(super) fn common(operands: &[Operand]) -> Option<ItemType> {
    let mut found: Option<ItemType> = None;
    for operand in operands {
        if let Operand::Strong(ty) = operand {
            found = Some(match found {
                Some(before) => promoted(before, *ty)?,
                None => *ty,
            });
        }
    }
    let has = |kind: Operand| operands.contains(&kind);
    let integer = ItemType::Number(Type::I64);
    if has(Operand::WeakComplex) {
        return Some(match found {
            Some(ty) if is_complex(ty) => ty,
            Some(ty) if matches!(rank(ty), 1 | 2) => float(2, true),
            Some(ItemType::Time(_)) => return None,
            _ => float(3, true),
        });
    }
    if has(Operand::WeakFloat) {
        return Some(match found {
            Some(ty) if rank(ty) > 0 => ty,
            Some(ItemType::Time(_)) => return None,
            _ => float(3, false),
        });
    }
    if has(Operand::WeakInt) {
        return Some(match found {
            Some(ty) if ty.is_bool() => integer,
            Some(ty) => ty,
            None => integer,
        });
    }
    found
}

/// The loop of a function for operands of these types.
///
/// # Errors
/// `Type` where NumPy has none, `Unsupported` where the engine has none.
pub(super) fn resolve(function: Function, operands: &[Operand]) -> Result<Loop> {
    let name = function.name;
    let shown = || {
        let names = operands.iter().map(|one| match one {
            Operand::Strong(ty) => ty.name(),
            Operand::WeakInt => "int".to_owned(),
            Operand::WeakFloat => "float".to_owned(),
            Operand::WeakComplex => "complex".to_owned(),
        });
        names.collect::<Vec<_>>().join(" and ")
    };
    let none = || TextError::new(TextErrorKind::Type, format!("{name} takes no {}", shown()));
    if name == "where" {
        let ty = common(&operands[1..]).ok_or_else(none)?;
        check_kernel(name, &[Type::Bool, ty.stored(), ty.stored()], none)?;
        return Ok(Loop { inputs: vec![ItemType::Number(Type::Bool), ty, ty], output: ty });
    }
    if name == "ldexp" {
        return of_ldexp(operands, none);
    }
    let wanted = common(operands).ok_or_else(none)?;
    let is_truth = wanted.is_bool();
    if is_truth && matches!(name, "negative" | "positive" | "subtract" | "sign" | "gcd" | "lcm") {
        return Err(none());
    }
    let wanted = match name {
        "divide" if rank(wanted) == 0 => float(3, false),
        "float_power" => float(3, is_complex(wanted)),
        _ => wanted,
    };
    if function.is_comparison()
        && let Some(mixed) = mixed_integers(operands)
    {
        return Ok(Loop { inputs: mixed, output: ItemType::Number(Type::Bool) });
    }
    let kernel_name = function.kernel();
    for ty in ORDER.into_iter().filter(|&ty| takes(operands, wanted, ty)) {
        let inputs = vec![ty; function.arity];
        if let Some(found) = kernel(kernel_name, &vec![ty.stored(); function.arity]) {
            if ty == ItemType::Half && found.output != Type::Bool && !function.is_exact_in_halves() {
                return Err(halves(name));
            }
            let is_half = ty == ItemType::Half && found.output == Type::F32;
            let output = if is_half { ItemType::Half } else { ItemType::Number(found.output) };
            return Ok(Loop { inputs, output });
        }
    }
    if is_complex(wanted) && function.takes_complex() {
        let sentence = format!("{name} of complex numbers is not computed here");
        return Err(TextError::new(TextErrorKind::Unsupported, sentence));
    }
    Err(none())
}

/// Whether a loop of one type takes the operands, of which `wanted` is the type that holds all. Each is asked on its
/// own: half precision holds 8 bits with a sign and without, though the type that holds both does not fit it.
fn takes(operands: &[Operand], wanted: ItemType, ty: ItemType) -> bool {
    let is_strong = |one: &Operand| matches!(one, Operand::Strong(_));
    if rank(wanted) > 0 || !operands.iter().all(is_strong) {
        return is_safe(wanted, ty);
    }
    operands.iter().all(|one| matches!(one, Operand::Strong(own) if is_safe(*own, ty)))
}

fn halves(name: &str) -> TextError {
    TextError::new(
        TextErrorKind::Unsupported,
        format!("{name}: float16 is compared, and not computed with, here"),
    )
}

fn check_kernel(name: &str, types: &[Type], none: impl Fn() -> TextError) -> Result<()> {
    if kernel(name, types).is_some() { Ok(()) } else { Err(none()) }
}

/// A signed and an unsigned integer, one of them of 64 bits without a sign, are compared as they are.
fn mixed_integers(operands: &[Operand]) -> Option<Vec<ItemType>> {
    let [Operand::Strong(a), Operand::Strong(b)] = operands else { return None };
    let is_signed = |ty: ItemType| integer_bits(ty.stored()).filter(|_| ty.is_integer()).map(|found| found.1);
    if common(operands)? != float(3, false) {
        return None;
    }
    let (a, b) = (is_signed(*a)?, is_signed(*b)?);
    (a != b).then(|| vec![integer(64, a), integer(64, b)])
}

/// A float, and the integer power of two that it is multiplied by.
fn of_ldexp(operands: &[Operand], none: impl Fn() -> TextError) -> Result<Loop> {
    let [first, second] = operands else { return Err(none()) };
    let first = common(&[*first]).ok_or_else(&none)?;
    let second = common(&[*second]).ok_or_else(&none)?;
    let is_whole = second.is_bool() || second.is_integer() && second != ItemType::Number(Type::U64);
    if !is_whole || is_complex(first) {
        return Err(none());
    }
    let first = if rank(first) > 0 { first } else { float(rank_of_integer(first), false) };
    // Beside integers of a type, NumPy takes an integer of the text for the narrowest float.
    let is_beside = matches!(operands[1], Operand::Strong(ty) if ty.is_integer());
    if first == ItemType::Half || (operands[0] == Operand::WeakInt && is_beside) {
        return Err(halves("ldexp"));
    }
    let is_long = !is_safe(second, ItemType::Number(Type::I32));
    let second = ItemType::Number(if is_long { Type::I64 } else { Type::I32 });
    Ok(Loop { inputs: vec![first, second], output: first })
}

impl ItemType {
    /// The number type of NumPy's name, long or short: `float32`, `f4`, `<f4`, `?`.
    pub fn by_name(name: &str) -> Option<Type> {
        let short = match name.trim_start_matches(['<', '=', '|']) {
            "?" | "b1" => "bool",
            "i1" => "int8",
            "i2" => "int16",
            "i4" => "int32",
            "i8" | "int" => "int64",
            "u1" => "uint8",
            "u2" => "uint16",
            "u4" => "uint32",
            "u8" | "uint" => "uint64",
            "f4" => "float32",
            "f8" | "float" => "float64",
            "c8" => "complex64",
            "c16" | "complex" => "complex128",
            other => other,
        };
        Type::by_name(short)
    }
}
