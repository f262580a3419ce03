//! Calls of functions, typed as NumPy types them; constants take on the types of what they meet.

use super::Result;
use super::constants::Constant;
use super::functions::{Function, mirrored};
use super::nodes::{Argument, BOOL, F64, Item, Nodes};
use super::time_arithmetic;
use super::types::{ItemType, Operand, limits, resolve};
use crate::expr::text::{TextError, TextErrorKind};

impl Nodes {
    /// A function of items, typed as NumPy types it.
    ///
    /// # Errors
    /// `Type`, `Value`, `Overflow` and `Unsupported` for operands that it does not take.
    pub(super) fn call(&mut self, function: Function, args: &[Argument]) -> Result<Item> {
        let found = self.called(function, args);
        self.or_elsewhere(found, function.name, args)
    }

    fn called(&mut self, function: Function, args: &[Argument]) -> Result<Item> {
        let is_time = |arg: &Argument| matches!(arg, Argument::Item(Item { ty: ItemType::Time(_), .. }));
        if args.iter().any(is_time) {
            return time_arithmetic::call(self, function, args);
        }
        if let Some(item) = self.special(function, args)? {
            return Ok(item);
        }
        let operands: Vec<Operand> = args.iter().map(operand_of).collect::<Result<_>>()?;
        let found = resolve(function, &operands)?;
        if function.is_comparison()
            && let Some(item) = self.beyond(function, args, &found.inputs)
        {
            return Ok(item);
        }
        check_exponent(function, args, &found.inputs)?;
        let mut items = Vec::with_capacity(args.len());
        for (arg, &ty) in args.iter().zip(&found.inputs) {
            items.push(match arg {
                Argument::Item(item) => self.cast(*item, ty),
                Argument::Weak(value) => self.weak(value, ty)?,
            });
        }
        Ok(self.raw(function.kernel(), &items, found.output))
    }

    /// As [`Self::call`], by the name of a function that there is.
    pub(super) fn named(&mut self, name: &'static str, args: &[Argument]) -> Result<Item> {
        self.call(Function::known(name, args.len()), args)
    }

    /// Functions that are some others.
    fn special(&mut self, function: Function, args: &[Argument]) -> Result<Option<Item>> {
        let short = match (function.name, args) {
            ("isnat", _) => {
                return Err(TextError::new(TextErrorKind::Type, "isnat takes times, and no numbers"));
            }
            ("modf_whole", [arg]) => {
                let item = self.named("absolute", std::slice::from_ref(arg))?;
                let wide = if item.ty.is_integer() || item.ty.is_bool() { F64 } else { item.ty };
                return Ok(Some(self.truncated(arg, wide)?.0));
            }
            ("modf_fraction", [arg]) => {
                let item = self.named("absolute", std::slice::from_ref(arg))?;
                let wide = if item.ty.is_integer() || item.ty.is_bool() { F64 } else { item.ty };
                let (whole, item) = self.truncated(arg, wide)?;
                let rest = self.named("subtract", &[item.into(), whole.into()])?;
                let infinite = self.named("isinf", &[item.into()])?;
                let zero = self.weak(&Constant::Int(0), wide)?;
                let rest = self.raw("where", &[infinite, zero, rest], wide);
                return Ok(Some(self.raw("copysign", &[rest, item], wide)));
            }
            ("power", [Argument::Item(base), Argument::Weak(exponent)]) => power_function(base.ty, exponent),
            _ => None,
        };
        let Some(name) = short else { return Ok(None) };
        self.named(name, &args[..1]).map(Some)
    }

    /// The whole part of an operand, and the operand itself, as floats.
    fn truncated(&mut self, arg: &Argument, ty: ItemType) -> Result<(Item, Item)> {
        let item = match arg {
            Argument::Item(item) => self.cast(*item, ty),
            Argument::Weak(value) => self.weak(value, ty)?,
        };
        Ok((self.named("trunc", &[item.into()])?, item))
    }

    /// A comparison with an integer out of the range of the other operand's type: that with the end of the range that
    /// gives the same.
    fn beyond(&mut self, function: Function, args: &[Argument], types: &[ItemType]) -> Option<Item> {
        for (place, (arg, ty)) in args.iter().zip(types).enumerate() {
            let Argument::Weak(Constant::Int(value)) = arg else { continue };
            let Some((min, max)) = limits(ty.stored()).filter(|_| ty.is_integer()) else { continue };
            if (min..=max).contains(value) {
                continue;
            }
            let Argument::Item(other) = args[1 - place] else { continue };
            let other = self.cast(other, *ty);
            let name = if place == 1 { function.name } else { mirrored(function.name) };
            let is_below = *value < 0;
            let name = match (name, is_below) {
                ("less" | "less_equal", false) => "less_equal",
                ("less" | "less_equal", true) => "less",
                ("greater" | "greater_equal", false) | ("equal", false) => "greater",
                ("equal", true) => "less",
                ("not_equal", false) => "less_equal",
                _ => "greater_equal",
            };
            let limit = self.weak(&Constant::Int(if is_below { min } else { max }), *ty).ok()?;
            return Some(self.raw(name, &[other, limit], BOOL));
        }
        None
    }
}

/// What an argument is to the rules of types.
fn operand_of(arg: &Argument) -> Result<Operand> {
    Ok(match arg {
        Argument::Item(item) => Operand::Strong(item.ty),
        Argument::Weak(Constant::Bool(_)) => Operand::Strong(BOOL),
        Argument::Weak(Constant::Int(_)) => Operand::WeakInt,
        Argument::Weak(Constant::Float(_)) => Operand::WeakFloat,
        Argument::Weak(Constant::Complex(..)) => Operand::WeakComplex,
        Argument::Weak(text) => {
            return Err(TextError::new(
                TextErrorKind::Type,
                format!("{text} is text, which is compared and matched, not computed with"),
            ));
        }
    })
}

/// What a power is computed by instead, as NumPy does.
fn power_function(base: ItemType, exponent: &Constant) -> Option<&'static str> {
    let is_float = !base.is_integer() && !base.is_bool();
    match exponent {
        Constant::Int(2) => Some("square"),
        Constant::Float(2.0) if is_float => Some("square"),
        Constant::Float(0.5) if is_float => Some("sqrt"),
        Constant::Int(-1) if is_float => Some("reciprocal"),
        Constant::Float(-1.0) if is_float => Some("reciprocal"),
        _ => None,
    }
}

/// Integers have no negative powers.
fn check_exponent(function: Function, args: &[Argument], types: &[ItemType]) -> Result<()> {
    let (true, [_, exponent], [_, ty]) = (function.name == "power", args, types) else { return Ok(()) };
    if limits(ty.stored()).is_none_or(|(min, _)| min >= 0) {
        return Ok(());
    }
    match exponent {
        Argument::Weak(Constant::Int(value)) if *value < 0 => {
            let sentence = "Integers to negative integer powers are not allowed.";
            Err(TextError::new(TextErrorKind::Value, sentence))
        }
        Argument::Weak(_) => Ok(()),
        Argument::Item(_) => Err(TextError::new(
            TextErrorKind::Unsupported,
            "powers of integers by a column of integers, which can be negative, are not computed",
        )),
    }
}
