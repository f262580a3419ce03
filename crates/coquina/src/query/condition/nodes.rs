//! The nodes of a condition while it is read: loads of sources, constants, casts and calls with their types.
//!
//! Invariant: a node stands behind what it is computed of, and the arguments of a call have just the types that its
//! loop takes.

use std::sync::Arc;

use coquina_kernels::Type;
use coquina_kernels::items::bytes_of;

use super::super::numbers::single;
use super::Result;
use super::constants::{Constant, as_float};
use super::elsewhere::Elsewhere;
use super::types::ItemType;
use crate::array::BoxSource;
use crate::compute::{Bound, Input};
use crate::expr::text::{TextError, TextErrorKind};
use crate::expr::{Node, Program, Tree};

/// A node, and what its items are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) node: usize,
    pub(super) ty: ItemType,
}

/// What a function is called with.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    Item(Item),
    /// A number of the text, which takes on a type.
    Weak(Constant),
}

impl From<Item> for Argument {
    fn from(item: Item) -> Self {
        Self::Item(item)
    }
}

/// All nodes.
#[derive(Clone)]
pub(super) struct Nodes {
    pub(super) nodes: Vec<Node>,
    pub(super) inputs: Vec<Input>,
    /// How many rows there are.
    pub(super) rows: u64,
    /// Who computes what there are no kernels for.
    pub(super) elsewhere: Option<Arc<dyn Elsewhere>>,
}

pub(super) const BOOL: ItemType = ItemType::Number(Type::Bool);
pub(super) const I64: ItemType = ItemType::Number(Type::I64);
pub(super) const F64: ItemType = ItemType::Number(Type::F64);

impl Nodes {
    pub(super) fn new(rows: u64) -> Self {
        Self { nodes: Vec::new(), inputs: Vec::new(), rows, elsewhere: None }
    }

    fn push(&mut self, node: Node, ty: ItemType) -> Item {
        self.nodes.push(node);
        Item { node: self.nodes.len() - 1, ty }
    }

    /// The items of a source; halves are those of [`super::sources::Halves`].
    pub(super) fn load(&mut self, source: &Arc<dyn BoxSource>, ty: ItemType) -> Item {
        let known = self.inputs.iter().position(|input| Arc::ptr_eq(&input.source, source));
        let operand = known.unwrap_or_else(|| {
            self.inputs.push(Input { source: Arc::clone(source), is_stored: true });
            self.inputs.len() - 1
        });
        self.push(Node::Load(operand, ty.stored()), ty)
    }

    pub(super) fn constant(&mut self, ty: ItemType, bytes: Vec<u8>) -> Item {
        self.push(Node::Constant(ty.stored(), bytes), ty)
    }

    pub(super) fn truth(&mut self, value: bool) -> Item {
        self.constant(BOOL, vec![value.into()])
    }

    pub(super) fn integer(&mut self, value: i64) -> Item {
        self.constant(I64, bytes_of(&[value]).to_vec())
    }

    /// Items as those of another type.
    pub(super) fn cast(&mut self, item: Item, ty: ItemType) -> Item {
        if item.ty.stored() == ty.stored() {
            return Item { ty, ..item };
        }
        self.push(Node::Cast(item.node, ty.stored()), ty)
    }

    /// A constant as an item of a type.
    pub(super) fn weak(&mut self, value: &Constant, ty: ItemType) -> Result<Item> {
        let bytes = item_bytes(value, ty)?;
        Ok(self.constant(ty, bytes))
    }

    /// A function of items of just the types that its loop takes.
    pub(super) fn raw(&mut self, name: &str, args: &[Item], ty: ItemType) -> Item {
        let args = args.iter().map(|item| item.node).collect();
        self.push(Node::Call(name.to_owned(), args), ty)
    }

    pub(super) fn and(&mut self, a: Item, b: Item) -> Item {
        self.raw("logical_and", &[a, b], BOOL)
    }

    pub(super) fn or(&mut self, a: Item, b: Item) -> Item {
        self.raw("logical_or", &[a, b], BOOL)
    }

    pub(super) fn not(&mut self, a: Item) -> Item {
        self.raw("logical_not", &[a], BOOL)
    }

    /// Where it holds and nothing is missing.
    pub(super) fn where_valid(&mut self, item: Item, nulls: Option<Item>) -> Item {
        match nulls {
            None => item,
            Some(nulls) => {
                let valid = self.not(nulls);
                self.and(item, valid)
            }
        }
    }

    /// The source of a node's items.
    ///
    /// # Errors
    /// What goes wrong with binding it.
    pub(super) fn source(&self, item: Item) -> Result<Arc<dyn BoxSource>> {
        if let Node::Load(operand, _) = self.nodes[item.node]
            && self.inputs[operand].source.shape() == [self.rows]
        {
            return Ok(Arc::clone(&self.inputs[operand].source));
        }
        Ok(Arc::new(self.bound(item)?))
    }

    /// The program of a node, bound to the inputs.
    ///
    /// # Errors
    /// As [`Self::source`].
    pub(super) fn bound(&self, item: Item) -> Result<Bound> {
        let program = Program::new(&Tree::new(self.nodes[..=item.node].to_vec())?)?;
        Ok(Bound::of_rows(program, self.inputs.clone(), self.rows)?)
    }

    /// The program of a node whose only operand is the first input; for values that are at hand.
    pub(super) fn program(&self, item: Item) -> Result<Program> {
        Ok(Program::new(&Tree::new(self.nodes[..=item.node].to_vec())?)?)
    }

    /// Stands for items that are at hand, which are told when the program is run.
    pub(super) fn open(&mut self, ty: ItemType) -> Item {
        self.push(Node::Load(0, ty.stored()), ty)
    }
}

/// A constant as the bytes of an item.
///
/// # Errors
/// `Overflow` for an integer that the type does not have, `Type` for what it cannot be.
pub(super) fn item_bytes(value: &Constant, ty: ItemType) -> Result<Vec<u8>> {
    let name = || ty.name();
    let overflow = |value: &i128| {
        TextError::new(
            TextErrorKind::Overflow,
            format!("Python integer {value} out of bounds for {}", name()),
        )
    };
    let mismatch = || TextError::new(TextErrorKind::Type, format!("{value} is no {}", name()));
    let whole = |value: i128| -> Option<Vec<u8>> {
        Some(match ty.stored() {
            Type::I8 => bytes_of(&[i8::try_from(value).ok()?]).to_vec(),
            Type::I16 => bytes_of(&[i16::try_from(value).ok()?]).to_vec(),
            Type::I32 => bytes_of(&[i32::try_from(value).ok()?]).to_vec(),
            Type::I64 => bytes_of(&[i64::try_from(value).ok()?]).to_vec(),
            Type::U8 => bytes_of(&[u8::try_from(value).ok()?]).to_vec(),
            Type::U16 => bytes_of(&[u16::try_from(value).ok()?]).to_vec(),
            Type::U32 => bytes_of(&[u32::try_from(value).ok()?]).to_vec(),
            Type::U64 => bytes_of(&[u64::try_from(value).ok()?]).to_vec(),
            Type::Bool => vec![u8::from(value != 0)],
            _ => return None,
        })
    };
    let (real, imag) = match value {
        Constant::Bool(value) => (f64::from(u8::from(*value)), 0.0),
        Constant::Int(value) => (as_float(*value), 0.0),
        Constant::Float(value) => (*value, 0.0),
        Constant::Complex(real, imag) => (*real, *imag),
        Constant::Text(_) | Constant::Bytes(_) => return Err(mismatch()),
    };
    Ok(match (ty, value) {
        (ItemType::Half, _) if imag == 0.0 => bytes_of(&[half(real)]).to_vec(),
        (ItemType::Number(Type::F32), _) if imag == 0.0 => bytes_of(&[single(real)]).to_vec(),
        (ItemType::Number(Type::F64), _) if imag == 0.0 => bytes_of(&[real]).to_vec(),
        (ItemType::Number(Type::C64), _) => bytes_of(&[single(real), single(imag)]).to_vec(),
        (ItemType::Number(Type::C128), _) => bytes_of(&[real, imag]).to_vec(),
        (_, Constant::Bool(value)) => whole((*value).into()).ok_or_else(mismatch)?,
        (_, Constant::Int(value)) => whole(*value).ok_or_else(|| overflow(value))?,
        _ => return Err(mismatch()),
    })
}

/// The nearest number of half precision.
pub(crate) fn half(value: f64) -> f32 {
    const MIN_EXPONENT: i32 = -14;
    const FRACTION_BITS: i32 = 10;
    if value.abs() >= 65520.0 {
        return f32::INFINITY.copysign(single(value));
    }
    if value == 0.0 || value.is_nan() {
        return single(value);
    }
    let exponent = i32::try_from(value.to_bits() >> 52 & 0x7ff).unwrap_or(0) - 1023;
    let unit = 2_f64.powi(exponent.max(MIN_EXPONENT) - FRACTION_BITS);
    single((value / unit).round_ties_even() * unit)
}
