//! Aggregates of complex numbers, as NumPy has them.
//!
//! In: items of two floats. Out: sums and means are those of both parts; a variance is the sum of those of the parts. The
//! least and the greatest are told by the real parts, then by the others; NaN in one part makes the item NaN.

use std::any::Any;

use coquina_kernels::Type;
use coquina_kernels::items::{bytes_of, bytes_of_mut, items};

use super::super::numbers::{numbers, single};
use super::Aggregate;
use super::column::{Column, at, same};
use crate::base::error::Result;

/// A complex number.
type Item = [f64; 2];

/// Items of complex numbers of single or double precision.
fn items_of(values: &[u8], is_single: bool) -> Vec<Item> {
    if is_single {
        items::<[f32; 2]>(values).iter().map(|&[real, imag]| [real.into(), imag.into()]).collect()
    } else {
        items::<Item>(values).to_vec()
    }
}

/// The column of an aggregate; `part` makes the one of a part of the numbers.
pub(super) fn complex_column(
    aggregate: Aggregate,
    ty: Type,
    part: impl Fn(Aggregate) -> Box<dyn Column>,
) -> Box<dyn Column> {
    let is_single = ty == Type::C64;
    let joined = match aggregate {
        Aggregate::Min | Aggregate::Max => {
            let is_greatest = aggregate == Aggregate::Max;
            return Box::new(Extreme { found: Vec::new(), is_greatest, is_single });
        }
        Aggregate::Sum | Aggregate::Mean => Joined::Pairs,
        Aggregate::Var(_) => Joined::Sums,
        Aggregate::Std(_) => Joined::Roots,
        _ => Joined::Truths,
    };
    let of_part = match aggregate {
        Aggregate::Std(ddof) => Aggregate::Var(ddof),
        other => other,
    };
    Box::new(Parts { parts: [part(of_part), part(of_part)], joined, is_single })
}

/// How the results of the parts are put together.
#[derive(Clone, Copy)]
enum Joined {
    Pairs,
    Sums,
    Roots,
    /// A number is true if one of its parts is: both parts get that.
    Truths,
}

/// The same aggregate of both parts of the numbers.
struct Parts {
    parts: [Box<dyn Column>; 2],
    joined: Joined,
    is_single: bool,
}

impl Column for Parts {
    fn grow(&mut self, groups: usize) {
        self.parts.iter_mut().for_each(|part| part.grow(groups));
    }

    fn fold(&mut self, numbers: &[u32], values: &mut [u8]) -> Result<()> {
        let values = items_of(values, self.is_single);
        for (place, part) in self.parts.iter_mut().enumerate() {
            let number = |value: &Item| match self.joined {
                Joined::Truths => f64::from(u8::from(value[0] != 0.0 || value[1] != 0.0)),
                _ => value[place],
            };
            let mut of_part: Vec<f64> = values.iter().map(number).collect();
            part.fold(numbers, bytes_of_mut(&mut of_part))?;
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn Column>, numbers: &[u32]) -> Result<()> {
        let others = same::<Self>(other)?.parts;
        self.parts.iter_mut().zip(others).try_for_each(|(part, other)| part.merge(other, numbers))
    }

    fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes()).sum()
    }

    fn finish(&self) -> Vec<u8> {
        let [real, imag] = self.parts.each_ref().map(|part| part.finish());
        if let Joined::Truths = self.joined {
            return real;
        }
        let pairs = numbers::<f64>(&real).into_iter().zip(numbers::<f64>(&imag));
        match self.joined {
            Joined::Pairs => bytes_of(&pairs.map(|(a, b)| [a, b]).collect::<Vec<Item>>()).to_vec(),
            Joined::Roots => bytes_of(&pairs.map(|(a, b)| (a + b).sqrt()).collect::<Vec<f64>>()).to_vec(),
            _ => bytes_of(&pairs.map(|(a, b)| a + b).collect::<Vec<f64>>()).to_vec(),
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The least or the greatest number.
struct Extreme {
    found: Vec<Option<Item>>,
    is_greatest: bool,
    is_single: bool,
}

impl Extreme {
    fn see(&mut self, number: u32, item: Item) {
        let place = &mut self.found[at(number)];
        let is_nan = |item: &Item| item.iter().any(|part| part.is_nan());
        let is_better = place.is_none_or(|known| {
            !is_nan(&known) && (is_nan(&item) || if self.is_greatest { item > known } else { item < known })
        });
        if is_better {
            *place = Some(item);
        }
    }
}

impl Column for Extreme {
    fn grow(&mut self, groups: usize) {
        self.found.resize(groups, None);
    }

    fn fold(&mut self, numbers: &[u32], values: &mut [u8]) -> Result<()> {
        let values = items_of(values, self.is_single);
        numbers.iter().zip(values).for_each(|(&number, item)| self.see(number, item));
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn Column>, numbers: &[u32]) -> Result<()> {
        let others = same::<Self>(other)?.found;
        for (&number, item) in numbers.iter().zip(others) {
            item.into_iter().for_each(|item| self.see(number, item));
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.found[..])
    }

    fn finish(&self) -> Vec<u8> {
        let items: Vec<Item> = self.found.iter().map(|item| item.unwrap_or([f64::NAN; 2])).collect();
        if !self.is_single {
            return bytes_of(&items).to_vec();
        }
        let singles: Vec<[f32; 2]> = items.into_iter().map(|item| item.map(single)).collect();
        bytes_of(&singles).to_vec()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
