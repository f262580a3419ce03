//! Comparisons of items with a constant, item by item, after they were cast.
//!
//! Source: NumPy's casts and comparisons, by the kernels that conditions are computed with.

use coquina_kernels::elementwise::{Kernel, cast, kernel};
use coquina_kernels::items::{Aligned, Number, items};
use coquina_kernels::{Type, best_level};

/// One value with its type.
#[derive(Clone, Debug)]
pub(super) struct Constant<'a> {
    pub(super) ty: Type,
    pub(super) bytes: &'a [u8],
}

impl Constant<'_> {
    /// Whether it is NaN.
    pub(super) fn is_nan(&self) -> bool {
        match self.ty {
            Type::F32 => first::<f32>(self.bytes).is_some_and(f32::is_nan),
            Type::F64 => first::<f64>(self.bytes).is_some_and(f64::is_nan),
            _ => false,
        }
    }
}

/// The first of some items, if there are any.
fn first<T: Number>(bytes: &[u8]) -> Option<T> {
    let mut memory = Aligned::new();
    let room = memory.room(bytes.len() / size_of::<T>() * size_of::<T>());
    room.copy_from_slice(&bytes[..room.len()]);
    items(room).first().copied()
}

/// A comparison that is ready to be made.
pub(super) struct Compared<'a> {
    /// What the items are, and what they are cast to, one after the other.
    steps: &'a [Type],
    constant: Constant<'a>,
    kernel: Kernel,
}

impl<'a> Compared<'a> {
    /// The comparison by the operator of NumPy's name. `steps`: what the items are, and what they are cast to. Nothing
    /// for what the kernels do not have.
    pub(super) fn new(op: &'a str, steps: &'a [Type], constant: Constant<'a>) -> Option<Self> {
        let last = *steps.last()?;
        if constant.bytes.len() != constant.ty.bytes() {
            return None;
        }
        let kernel = kernel(op, &[last, constant.ty])?;
        (kernel.output == Type::Bool).then_some(Self { steps, constant, kernel })
    }

    /// How the items compare.
    pub(super) fn of(&self, given: &[u8]) -> Vec<bool> {
        let mut memory = Aligned::new();
        memory.room(given.len()).copy_from_slice(given);
        let (mut ty, mut len) = (self.steps[0], given.len());
        let count = len / ty.bytes();
        for &next in &self.steps[1..] {
            (memory, len) = self::cast_items(memory.room(len), ty, next);
            ty = next;
        }
        let mut constant = Aligned::new();
        let room = constant.room(count * self.constant.bytes.len());
        room.chunks_exact_mut(self.constant.bytes.len())
            .for_each(|item| item.copy_from_slice(self.constant.bytes));
        let mut out = vec![0; count];
        (self.kernel.run)(best_level(), &[memory.room(len), room], &mut out);
        out.into_iter().map(|byte| byte != 0).collect()
    }

    /// How one item compares.
    pub(super) fn holds(&self, item: &[u8]) -> bool {
        self.of(item).first() == Some(&true)
    }
}

/// Items as those of another type, and how many bytes they are.
fn cast_items(given: &[u8], from: Type, to: Type) -> (Aligned, usize) {
    let len = given.len() / from.bytes() * to.bytes();
    let mut memory = Aligned::new();
    (cast(from, to).run)(best_level(), &[given], memory.room(len));
    (memory, len)
}

#[cfg(test)]
mod tests {
    use coquina_kernels::items::bytes_of;

    use super::*;

    const F32: Type = Type::F32;
    const F64: Type = Type::F64;
    const I64: Type = Type::I64;

    fn compared(op: &str, steps: &[Type], ty: Type, constant: &[u8], given: &[u8]) -> Option<Vec<bool>> {
        Compared::new(op, steps, Constant { ty, bytes: constant }).map(|found| found.of(given))
    }

    #[test]
    fn items_are_cast_before_they_are_compared() {
        let tenths = bytes_of(&[0.1_f32, 0.2]).to_vec();
        let tenth = bytes_of(&[0.1_f64]).to_vec();
        assert_eq!(compared("equal", &[F32, F64], F64, &tenth, &tenths), Some(vec![false, false]));
        assert_eq!(compared("greater", &[F32, F64], F64, &tenth, &tenths), Some(vec![true, true]));
        let single = bytes_of(&[0.1_f32]).to_vec();
        assert_eq!(
            compared("equal", &[F64, F32], F32, &single, bytes_of(&[0.1_f64, 0.2])),
            Some(vec![true, false])
        );
        assert_eq!(compared("add", &[I64], I64, bytes_of(&[4_i64]), bytes_of(&[3_i64])), None);
    }
}
