//! Comparisons of items with a constant, item by item, after they were cast.
//!
//! Source: NumPy's casts and comparisons, by the kernels that conditions are computed with. What is no time compares as
//! unequal, as NaN does.

use coquina_kernels::elementwise::{Kernel, cast, kernel};
use coquina_kernels::items::{Aligned, Number, bytes_of, items};
use coquina_kernels::{Type, best_level};

use crate::query::condition::{ItemType, half};

/// One value with its type; of half precision in single precision.
#[derive(Clone, Debug)]
pub(super) struct Constant<'a> {
    pub(super) ty: ItemType,
    pub(super) bytes: &'a [u8],
}

impl Constant<'_> {
    /// Whether it is NaN, or no time.
    pub(super) fn is_nan(&self) -> bool {
        match self.ty {
            ItemType::Half | ItemType::Number(Type::F32) => first::<f32>(self.bytes).is_some_and(f32::is_nan),
            ItemType::Number(Type::F64) => first::<f64>(self.bytes).is_some_and(f64::is_nan),
            ItemType::Time(_) => first(self.bytes) == Some(i64::MIN),
            ItemType::Number(_) => false,
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
    steps: &'a [ItemType],
    op: &'a str,
    constant: Constant<'a>,
    kernel: Kernel,
}

impl<'a> Compared<'a> {
    /// The comparison by the operator of NumPy's name. `steps`: what the items are, and what they are cast to. Nothing
    /// for what the kernels do not have.
    pub(super) fn new(op: &'a str, steps: &'a [ItemType], constant: Constant<'a>) -> Option<Self> {
        let last = *steps.last()?;
        let is_time = |ty: &ItemType| matches!(ty, ItemType::Time(_));
        // Units of time are not changed here.
        if steps.windows(2).any(|pair| pair[0] != pair[1] && pair.iter().any(is_time)) {
            return None;
        }
        if (is_time(&last) || is_time(&constant.ty)) && last != constant.ty {
            return None;
        }
        if constant.bytes.len() != constant.ty.stored().bytes() {
            return None;
        }
        let kernel = kernel(op, &[last.stored(), constant.ty.stored()])?;
        (kernel.output == Type::Bool).then_some(Self { steps, op, constant, kernel })
    }

    /// How the items compare.
    pub(super) fn of(&self, given: &[u8]) -> Vec<bool> {
        let mut memory = Aligned::new();
        memory.room(given.len()).copy_from_slice(given);
        let (mut ty, mut len) = (self.steps[0], given.len());
        let count = len / ty.stored().bytes();
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
        let mut found: Vec<bool> = out.into_iter().map(|byte| byte != 0).collect();
        if matches!(ty, ItemType::Time(_)) {
            let is_none = self.constant.is_nan();
            let times = items::<i64>(memory.room(len)).iter();
            for (holds, _) in found.iter_mut().zip(times).filter(|(_, time)| is_none || **time == i64::MIN) {
                *holds = self.op == "not_equal";
            }
        }
        found
    }

    /// How one item compares.
    pub(super) fn holds(&self, item: &[u8]) -> bool {
        self.of(item).first() == Some(&true)
    }
}

/// Items as those of another type, and how many bytes they are.
fn cast_items(given: &[u8], from: ItemType, to: ItemType) -> (Aligned, usize) {
    let count = given.len() / from.stored().bytes();
    let mut memory = Aligned::new();
    if to == ItemType::Half && from != to {
        let halves: Vec<f32> = if from.stored() == Type::F64 {
            items::<f64>(given).iter().map(|&value| half(value)).collect()
        } else {
            // NumPy rounds integers to single precision first.
            let (mut singles, len) = cast_items(given, from, ItemType::Number(Type::F32));
            items::<f32>(singles.room(len)).iter().map(|&value| half(value.into())).collect()
        };
        memory.room(4 * count).copy_from_slice(bytes_of(&halves));
        return (memory, 4 * count);
    }
    let len = count * to.stored().bytes();
    (cast(from.stored(), to.stored()).run)(best_level(), &[given], memory.room(len));
    (memory, len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{TimeType, TimeUnit};

    const F32: ItemType = ItemType::Number(Type::F32);
    const F64: ItemType = ItemType::Number(Type::F64);
    const I64: ItemType = ItemType::Number(Type::I64);

    fn compared(
        op: &str,
        steps: &[ItemType],
        ty: ItemType,
        constant: &[u8],
        given: &[u8],
    ) -> Option<Vec<bool>> {
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
        // 1/3 in half precision.
        let third = bytes_of(&[half(1.0 / 3.0)]).to_vec();
        let given = bytes_of(&[1.0_f64 / 3.0, 0.333_25, 0.334]).to_vec();
        assert_eq!(
            compared("equal", &[F64, ItemType::Half], ItemType::Half, &third, &given),
            Some(vec![true, true, false])
        );
    }

    #[test]
    fn what_is_no_time_is_unequal() {
        let day = ItemType::Time(TimeType::instant(TimeUnit::Day));
        let hour = ItemType::Time(TimeType::instant(TimeUnit::Hour));
        let given = bytes_of(&[i64::MIN, 3, 5]).to_vec();
        let at = |count: i64| bytes_of(&[count]).to_vec();
        assert_eq!(compared("less", &[day], day, &at(4), &given), Some(vec![false, true, false]));
        assert_eq!(compared("not_equal", &[day], day, &at(3), &given), Some(vec![true, false, true]));
        assert_eq!(compared("greater_equal", &[day], day, &at(i64::MIN), &given), Some(vec![false; 3]));
        assert_eq!(compared("less", &[day, hour], hour, &at(4), &given), None);
        assert_eq!(compared("less", &[day], I64, &at(4), &given), None);
        assert_eq!(compared("add", &[I64], I64, &at(4), &given), None);
    }
}
