//! The results of one aggregate: for all groups.

use std::any::Any;

use coquina_kernels::Type;
use coquina_kernels::items::{bytes_of, items};

use super::super::hashing::Hashing;
use super::super::numbers::with_real;
use super::Aggregate;
use super::cells::{Cell, Greatest, Least, Mean, Sum, Truth, Variance};
use super::column::{Column, at, same};
use super::complex::complex_column;
use super::keys::KeyKind;
use super::table::{Table, padded};
use crate::base::error::{Error, Result};

/// The column of an aggregate of items of a type, of bytes if there is none.
pub(super) fn column_of(
    aggregate: Aggregate,
    ty: Option<Type>,
    item_bytes: usize,
    hashing: Hashing,
) -> Result<Box<dyn Column>> {
    let width = ty.map_or(item_bytes, Type::bytes);
    match aggregate {
        Aggregate::Count => return Ok(Box::new(Count(Vec::new()))),
        Aggregate::First | Aggregate::Last => {
            let none = match ty {
                Some(Type::F32 | Type::C64) => bytes_of(&[f32::NAN; 2])[..width].to_vec(),
                Some(Type::F64 | Type::C128) => bytes_of(&[f64::NAN; 2])[..width].to_vec(),
                _ => vec![0; width],
            };
            let is_last = aggregate == Aggregate::Last;
            return Ok(Box::new(End { items: Vec::new(), found: Vec::new(), none, is_last }));
        }
        Aggregate::Distinct => return Ok(Box::new(Distinct::new(ty, width, hashing))),
        _ => {}
    }
    let column = ty.and_then(|ty| match ty {
        Type::C64 | Type::C128 => Some(complex_column(aggregate, ty, number_column::<f64>)),
        ty => with_real!(ty, T => number_column::<T>(aggregate)),
    });
    column.ok_or_else(|| {
        let name = ty.map_or("bytes", Type::name);
        Error::unsupported(format!("{aggregate:?} of {name} in groups: takes numbers"))
    })
}

fn number_column<T: super::cells::Value>(aggregate: Aggregate) -> Box<dyn Column> {
    match aggregate {
        Aggregate::Sum => cells::<Sum<T>>(0),
        Aggregate::Mean => cells::<Mean<T>>(0),
        Aggregate::Min => cells::<Least<T>>(0),
        Aggregate::Max => cells::<Greatest<T>>(0),
        Aggregate::Var(ddof) => cells::<Variance<T, false>>(ddof),
        Aggregate::Std(ddof) => cells::<Variance<T, true>>(ddof),
        Aggregate::Any => cells::<Truth<T, false>>(0),
        Aggregate::All => cells::<Truth<T, true>>(0),
        // These have been told apart.
        Aggregate::Count | Aggregate::First | Aggregate::Last | Aggregate::Distinct => {
            Box::new(Count(Vec::new()))
        }
    }
}

fn cells<C: Cell>(ddof: u32) -> Box<dyn Column> {
    Box::new(Cells::<C> { cells: Vec::new(), ddof: ddof.into() })
}

/// Whether rows of the same group mostly follow each other.
fn has_runs(numbers: &[u32]) -> bool {
    let changes = numbers.iter().zip(numbers.iter().skip(1)).filter(|(one, next)| one != next).count();
    changes.saturating_mul(RUN) < numbers.len()
}

/// Cells of numbers.
struct Cells<C> {
    cells: Vec<C>,
    ddof: f64,
}

impl<C: Cell> Column for Cells<C> {
    fn grow(&mut self, groups: usize) {
        self.cells.resize(groups, C::NONE);
    }

    fn fold(&mut self, numbers: &[u32], values: &mut [u8]) -> Result<()> {
        let values = items::<C::Item>(values);
        if !has_runs(numbers) {
            for (&number, &value) in numbers.iter().zip(values) {
                self.cells[at(number)].step(value);
            }
            return Ok(());
        }
        let mut first = 0;
        for run in numbers.chunk_by(|one, next| one == next) {
            let items = &values[first..first + run.len()];
            self.cells[at(run[0])].run(items);
            first += run.len();
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn Column>, numbers: &[u32]) -> Result<()> {
        let other = same::<Self>(other)?;
        for (&number, cell) in numbers.iter().zip(&other.cells) {
            self.cells[at(number)].merge(cell);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.cells[..])
    }

    fn finish(&self) -> Vec<u8> {
        let results: Vec<C::Out> = self.cells.iter().map(|cell| cell.finish(self.ddof)).collect();
        bytes_of(&results).to_vec()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// How many values there are, whatever they are.
struct Count(Vec<i64>);

impl Column for Count {
    fn grow(&mut self, groups: usize) {
        self.0.resize(groups, 0);
    }

    fn fold(&mut self, numbers: &[u32], _values: &mut [u8]) -> Result<()> {
        for &number in numbers {
            self.0[at(number)] += 1;
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn Column>, numbers: &[u32]) -> Result<()> {
        for (&number, more) in numbers.iter().zip(&same::<Self>(other)?.0) {
            self.0[at(number)] += more;
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.0[..])
    }

    fn finish(&self) -> Vec<u8> {
        bytes_of(&self.0).to_vec()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The first or the last value, of any bytes.
struct End {
    items: Vec<u8>,
    found: Vec<bool>,
    none: Vec<u8>,
    is_last: bool,
}

impl End {
    fn put(&mut self, number: u32, item: &[u8]) {
        let (number, width) = (at(number), self.none.len());
        if self.is_last || !self.found[number] {
            self.found[number] = true;
            self.items[number * width..(number + 1) * width].copy_from_slice(item);
        }
    }
}

impl Column for End {
    fn grow(&mut self, groups: usize) {
        for _ in self.found.len()..groups {
            self.items.extend_from_slice(&self.none);
        }
        self.found.resize(groups, false);
    }

    fn fold(&mut self, numbers: &[u32], values: &mut [u8]) -> Result<()> {
        for (&number, item) in numbers.iter().zip(values.chunks_exact(self.none.len().max(1))) {
            self.put(number, item);
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn Column>, numbers: &[u32]) -> Result<()> {
        let other = same::<Self>(other)?;
        let items = other.items.chunks_exact(self.none.len().max(1)).zip(&other.found);
        for (&number, (item, _)) in numbers.iter().zip(items).filter(|(_, (_, found))| **found) {
            self.put(number, item);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.items.len() + self.found.len()
    }

    fn finish(&self) -> Vec<u8> {
        self.items.clone()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Values of a group that follow each other are folded together if they are so many, on average.
const RUN: usize = 16;
/// Bytes of the number of a group before a value.
const NUMBER_BYTES: usize = size_of::<u32>();

/// How many different values there are: keys of a group's number and a value.
struct Distinct {
    table: Table,
    kind: KeyKind,
    value_bytes: usize,
    width: usize,
    groups: usize,
    /// Memory for keys and their numbers.
    keys: Vec<u8>,
    numbers: Vec<u32>,
}

impl Distinct {
    fn new(ty: Option<Type>, value_bytes: usize, hashing: Hashing) -> Self {
        let kind = match ty {
            Some(Type::Bool) => KeyKind::Bool,
            Some(Type::F32 | Type::C64) => KeyKind::F32,
            Some(Type::F64 | Type::C128) => KeyKind::F64,
            _ => KeyKind::Bytes,
        };
        let width = padded(NUMBER_BYTES + value_bytes);
        let table = Table::new(width, hashing, 0);
        Self { table, kind, value_bytes, width, groups: 0, keys: Vec::new(), numbers: Vec::new() }
    }

    /// Sees values in groups.
    fn see<'v>(&mut self, numbers: &[u32], values: impl Iterator<Item = &'v [u8]>) -> Result<()> {
        self.keys.clear();
        self.keys.resize(numbers.len() * self.width, 0);
        for ((key, number), value) in self.keys.chunks_exact_mut(self.width).zip(numbers).zip(values) {
            key[..NUMBER_BYTES].copy_from_slice(&number.to_le_bytes());
            key[NUMBER_BYTES..NUMBER_BYTES + self.value_bytes].copy_from_slice(value);
        }
        self.numbers.clear();
        self.table.number(&self.keys, &mut self.numbers)
    }

    /// The groups of the keys.
    fn numbers(&self) -> impl Iterator<Item = u32> {
        let number = |key: &[u8]| key.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        self.table.keys().chunks_exact(self.width).map(number)
    }
}

impl Column for Distinct {
    fn grow(&mut self, groups: usize) {
        self.groups = groups;
    }

    fn fold(&mut self, numbers: &[u32], values: &mut [u8]) -> Result<()> {
        self.kind.make_same(values);
        let bytes = self.value_bytes;
        self.see(numbers, values.chunks_exact(bytes.max(1)))
    }

    fn merge(&mut self, other: Box<dyn Column>, numbers: &[u32]) -> Result<()> {
        let other = same::<Self>(other)?;
        let here: Vec<u32> = other.numbers().map(|number| numbers[at(number)]).collect();
        let end = NUMBER_BYTES + self.value_bytes;
        self.see(&here, other.table.keys().chunks_exact(other.width).map(|key| &key[NUMBER_BYTES..end]))
    }

    fn bytes(&self) -> usize {
        self.table.bytes()
    }

    fn finish(&self) -> Vec<u8> {
        let mut counts = vec![0_i64; self.groups];
        self.numbers().for_each(|number| counts[at(number)] += 1);
        bytes_of(&counts).to_vec()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
