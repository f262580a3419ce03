//! Functions with options: `clip(x, 0, max=1)`, `round(x, 2)`, `isclose(x, y, atol=1e-3)`.
//!
//! Source: NumPy's functions of these names, made of functions of items.

use coquina_kernels::Type;

use super::Result;
use super::columns::type_error;
use super::constants::Constant;
use super::nodes::{Argument, F64, Item, Nodes};
use super::types::ItemType;

/// A function, and the options that it has, in the order of its arguments behind the first one.
pub(super) const OPTIONS: &[(&str, &[&str])] = &[
    ("clip", &["min", "max"]),
    ("round", &["decimals"]),
    ("isclose", &["rtol", "atol", "equal_nan"]),
    ("nan_to_num", &["nan", "posinf", "neginf"]),
    ("angle", &["deg"]),
    ("astype", &[]),
];

/// What a function with options is called with.
pub(super) struct Options {
    /// The operands behind the first one; nothing for `None`.
    pub(super) operands: Vec<Option<Argument>>,
    pub(super) named: Vec<(String, Option<Constant>)>,
}

impl Options {
    fn option(&self, name: &str) -> Option<&Constant> {
        self.named.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.as_ref())
    }

    /// An operand, or the option of its name.
    fn either(&self, place: usize, name: &str) -> Option<Argument> {
        match self.operands.get(place) {
            Some(operand) => operand.clone(),
            None => self.option(name).cloned().map(Argument::Weak),
        }
    }

    fn number(&self, place: usize, name: &str, default: f64) -> Argument {
        self.either(place, name).unwrap_or(Argument::Weak(Constant::Float(default)))
    }

    fn truth(&self, name: &str) -> bool {
        self.option(name).is_some_and(Constant::truth)
    }
}

/// Calls a function.
///
/// # Errors
/// `Type` for what it does not take.
pub(super) fn call(nodes: &mut Nodes, name: &str, item: Item, options: &Options) -> Result<Item> {
    match name {
        "clip" => clip(nodes, item, options),
        "round" => round(nodes, item, options),
        "isclose" => isclose(nodes, item, options),
        "nan_to_num" => nan_to_num(nodes, item, options),
        "angle" => angle(nodes, item, options),
        _ => astype(nodes, item, options),
    }
}

fn clip(nodes: &mut Nodes, item: Item, options: &Options) -> Result<Item> {
    let mut found = item;
    if let Some(min) = options.either(0, "min") {
        found = nodes.named("maximum", &[found.into(), min])?;
    }
    if let Some(max) = options.either(1, "max") {
        found = nodes.named("minimum", &[found.into(), max])?;
    }
    Ok(found)
}

fn round(nodes: &mut Nodes, item: Item, options: &Options) -> Result<Item> {
    let decimals = match options.either(0, "decimals") {
        None => 0,
        Some(Argument::Weak(Constant::Int(decimals))) if decimals.abs() <= 300 => decimals,
        Some(_) => return Err(type_error("round: decimals is an integer")),
    };
    if item.ty.is_integer() || item.ty.is_bool() {
        if decimals >= 0 {
            return Ok(item);
        }
        return Err(type_error("round: integers are not rounded before the point"));
    }
    if decimals == 0 {
        return nodes.named("rint", &[item.into()]);
    }
    let power = i32::try_from(decimals.abs()).unwrap_or(0);
    let factor = Argument::Weak(Constant::Float(10_f64.powi(power)));
    let (before, after) = if decimals > 0 { ("multiply", "divide") } else { ("divide", "multiply") };
    let found = nodes.named(before, &[item.into(), factor.clone()])?;
    let found = nodes.named("rint", &[found.into()])?;
    nodes.named(after, &[found.into(), factor])
}

fn isclose(nodes: &mut Nodes, item: Item, options: &Options) -> Result<Item> {
    let Some(Some(other)) = options.operands.first().cloned() else {
        return Err(type_error("isclose takes two operands"));
    };
    let difference = nodes.named("subtract", &[item.into(), other.clone()])?;
    let distance = nodes.named("absolute", &[difference.into()])?;
    let second = wide(nodes, other.clone())?;
    let size = nodes.named("absolute", &[second.into()])?;
    let relative = nodes.named("multiply", &[options.number(1, "rtol", 1e-5), size.into()])?;
    let tolerance = nodes.named("add", &[options.number(2, "atol", 1e-8), relative.into()])?;
    let is_near = nodes.named("less_equal", &[distance.into(), tolerance.into()])?;
    let is_finite = nodes.named("isfinite", &[second.into()])?;
    let is_near = nodes.and(is_near, is_finite);
    let is_same = nodes.named("equal", &[item.into(), other])?;
    let found = nodes.or(is_near, is_same);
    if !options.truth("equal_nan") {
        return Ok(found);
    }
    let a = nodes.named("isnan", &[item.into()])?;
    let b = nodes.named("isnan", &[second.into()])?;
    let both = nodes.and(a, b);
    Ok(nodes.or(found, both))
}

/// A number of the text in double precision; an item as it is.
fn wide(nodes: &mut Nodes, argument: Argument) -> Result<Item> {
    match argument {
        Argument::Item(item) => Ok(item),
        Argument::Weak(value) => nodes.weak(&value, F64),
    }
}

fn nan_to_num(nodes: &mut Nodes, item: Item, options: &Options) -> Result<Item> {
    let greatest = match item.ty {
        ItemType::Number(Type::F32) => f64::from(f32::MAX),
        ItemType::Number(Type::F64) => f64::MAX,
        _ if item.ty.is_integer() || item.ty.is_bool() => return Ok(item),
        _ => return Err(type_error(format!("nan_to_num takes no {}", item.ty.name()))),
    };
    let mut found = item;
    let is_nan = nodes.named("isnan", &[item.into()])?;
    found = nodes.named("where", &[is_nan.into(), options.number(0, "nan", 0.0), found.into()])?;
    for (place, name, end, value) in
        [(1, "posinf", f64::INFINITY, greatest), (2, "neginf", f64::NEG_INFINITY, -greatest)]
    {
        let end = Argument::Weak(Constant::Float(end));
        let is_end = nodes.named("equal", &[item.into(), end])?;
        found = nodes.named("where", &[is_end.into(), options.number(place, name, value), found.into()])?;
    }
    Ok(found)
}

fn angle(nodes: &mut Nodes, item: Item, options: &Options) -> Result<Item> {
    let imag = nodes.named("imag", &[item.into()])?;
    let real = nodes.named("real", &[item.into()])?;
    let found = nodes.named("arctan2", &[imag.into(), real.into()])?;
    if !options.truth("deg") {
        return Ok(found);
    }
    let factor = Argument::Weak(Constant::Float(180.0 / std::f64::consts::PI));
    nodes.named("multiply", &[found.into(), factor])
}

fn astype(nodes: &mut Nodes, item: Item, options: &Options) -> Result<Item> {
    let Some(Some(Argument::Weak(Constant::Text(name)))) = options.operands.first() else {
        return Err(type_error("astype takes the name of a dtype: astype(x, \"f4\")"));
    };
    let ty = ItemType::by_name(name)
        .ok_or_else(|| type_error(format!("astype: '{name}' is no dtype of numbers")))?;
    if matches!(item.ty, ItemType::Time(_)) {
        return Err(type_error("astype: times are not taken for numbers"));
    }
    Ok(nodes.cast(item, ItemType::Number(ty)))
}
