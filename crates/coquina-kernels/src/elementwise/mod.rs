//! Functions of one item of each input, item by item: NumPy's ufuncs, `where`, and changes of type.
//!
//! In: bytes of `n` items for each input, aligned. Out: bytes of `n` items. A function is a row of a table: its
//! name, and a body for each family of types. Source: the loops of NumPy 2; names and types are its own.
//! Invariant: every level gives the same bits (of a NaN, that it is one). A Bool that is written is 0 or 1.

#[macro_use]
mod table;

mod arithmetic;
mod bits;
mod cast;
mod choose;
mod compare;
mod convert;
mod division;
mod item;
mod logic;
mod parts;
mod real;
mod remainder;
mod rounding;
#[cfg(test)]
mod tests;
mod transcendental;

pub use cast::cast;

use crate::level::Level;
use crate::types::Type;
use table::Function;

/// Fills the last argument from the inputs: bytes of as many aligned items each. Panics if the number of inputs or
/// of items is another.
pub type Run = fn(Level, &[&[u8]], &mut [u8]);

/// A loop of one function for items of certain types.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// The type of the result's items.
    pub output: Type,
    /// The loop.
    pub run: Run,
}

/// All functions but those of [`transcendental`].
const TABLES: [&[Function]; 9] = [
    arithmetic::FUNCTIONS,
    division::FUNCTIONS,
    remainder::FUNCTIONS,
    rounding::FUNCTIONS,
    compare::FUNCTIONS,
    logic::FUNCTIONS,
    bits::FUNCTIONS,
    choose::FUNCTIONS,
    parts::FUNCTIONS,
];

fn functions() -> impl Iterator<Item = &'static Function> {
    TABLES.into_iter().flatten()
}

/// The loop of NumPy's ufunc `name` (and of `where`) for inputs of exactly these types, if there is one.
pub fn kernel(name: &str, inputs: &[Type]) -> Option<Kernel> {
    let mut entries = functions().filter(|function| function.name == name).flat_map(Function::entries);
    let entry = entries.find(|entry| entry.inputs == inputs);
    entry.map(|entry| entry.kernel).or_else(|| transcendental::kernel(name, inputs))
}

/// The names that [`kernel`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    let others = transcendental::NAMES.iter().copied();
    let others = others.filter(|name| functions().all(|function| function.name != *name));
    functions().map(|function| function.name).chain(others)
}
