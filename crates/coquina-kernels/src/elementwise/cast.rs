//! Changes of type, as `astype` makes them.
//!
//! In: items of one type. Out: items of another, each as [`To`] changes it; a copy where the bytes stay the same.

use std::marker::PhantomData;

use super::convert::{To, ToAll};
use super::item::{C64, C128, Item, Truth};
use super::table::{self, Loop, map1};
use super::{Kernel, Run};
use crate::level::Level;
use crate::types::Type;

/// The loop that changes items of one type into items of another; of the same type, a copy.
pub fn cast(from: Type, to: Type) -> Kernel {
    let place = |ty: Type| Type::ALL.iter().position(|other| *other == ty).unwrap_or(0);
    CASTS[place(from)][place(to)]
}

/// From each type to each, both in the order of [`Type::ALL`].
static CASTS: [[Kernel; 13]; 13] = [
    from::<Truth>(),
    from::<i8>(),
    from::<i16>(),
    from::<i32>(),
    from::<i64>(),
    from::<u8>(),
    from::<u16>(),
    from::<u32>(),
    from::<u64>(),
    from::<f32>(),
    from::<f64>(),
    from::<C64>(),
    from::<C128>(),
];

const fn from<A: ToAll>() -> [Kernel; 13] {
    [
        entry::<A, Truth>(),
        entry::<A, i8>(),
        entry::<A, i16>(),
        entry::<A, i32>(),
        entry::<A, i64>(),
        entry::<A, u8>(),
        entry::<A, u16>(),
        entry::<A, u32>(),
        entry::<A, u64>(),
        entry::<A, f32>(),
        entry::<A, f64>(),
        entry::<A, C64>(),
        entry::<A, C128>(),
    ]
}

const fn entry<A: To<B>, B: Item>() -> Kernel {
    let run: Run = if are_same_bytes(A::TYPE, B::TYPE) { copy } else { table::wide::<Cast<A, B>> };
    Kernel { output: B::TYPE, run }
}

/// Whether the items of the one type are those of the other, byte by byte.
const fn are_same_bytes(from: Type, to: Type) -> bool {
    use Type::{Bool, C64, C128, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    matches!(
        (from, to),
        (Bool, Bool)
            | (I8 | U8, I8 | U8)
            | (I16 | U16, I16 | U16)
            | (I32 | U32, I32 | U32)
            | (I64 | U64, I64 | U64)
            | (F32, F32)
            | (F64, F64)
            | (C64, C64)
            | (C128, C128)
    )
}

fn copy(_level: Level, inputs: &[&[u8]], out: &mut [u8]) {
    let &[items] = inputs else { panic!("{} inputs, not 1", inputs.len()) };
    out.copy_from_slice(items);
}

struct Cast<A, B>(PhantomData<(A, B)>);

impl<A: To<B>, B: Item> Loop for Cast<A, B> {
    const INPUTS: &'static [Type] = &[A::TYPE];
    const OUTPUT: Type = B::TYPE;

    #[inline(always)]
    fn fill(inputs: &[&[u8]], out: &mut [u8]) {
        map1(inputs, out, A::to);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{are_same, samples};
    use super::cast;
    use crate::items::{Aligned, bytes_of, items};
    use crate::level::levels;
    use crate::testing::Random;
    use crate::types::Type;

    /// An item, with room for every integer and all digits.
    enum Wide {
        Int(i128),
        Float(f64),
        Complex(f64, f64),
    }

    fn widened(ty: Type, item: &[u8]) -> Wide {
        match ty {
            Type::Bool => Wide::Int(i128::from(item[0] != 0)),
            Type::I8 => Wide::Int(items::<i8>(item)[0].into()),
            Type::I16 => Wide::Int(items::<i16>(item)[0].into()),
            Type::I32 => Wide::Int(items::<i32>(item)[0].into()),
            Type::I64 => Wide::Int(items::<i64>(item)[0].into()),
            Type::U8 => Wide::Int(item[0].into()),
            Type::U16 => Wide::Int(items::<u16>(item)[0].into()),
            Type::U32 => Wide::Int(items::<u32>(item)[0].into()),
            Type::U64 => Wide::Int(items::<u64>(item)[0].into()),
            Type::F32 => Wide::Float(items::<f32>(item)[0].into()),
            Type::F64 => Wide::Float(items::<f64>(item)[0]),
            Type::C64 => Wide::Complex(items::<f32>(item)[0].into(), items::<f32>(item)[1].into()),
            Type::C128 => Wide::Complex(items::<f64>(item)[0], items::<f64>(item)[1]),
        }
    }

    /// The casts of the language.
    macro_rules! narrowed {
        ($item:expr, $to:ident) => {
            match $item {
                Wide::Int(number) => bytes_of(&[number as $to]).to_vec(),
                Wide::Float(number) | Wide::Complex(number, _) => bytes_of(&[number as $to]).to_vec(),
            }
        };
    }

    #[expect(clippy::cast_possible_truncation, reason = "that is what is tested")]
    fn naive(from: Type, to: Type, item: &[u8]) -> Vec<u8> {
        let wide = widened(from, item);
        match to {
            Type::Bool => vec![u8::from(match wide {
                Wide::Int(number) => number != 0,
                Wide::Float(number) => number != 0.0,
                Wide::Complex(real, imag) => real != 0.0 || imag != 0.0,
            })],
            Type::I8 => narrowed!(wide, i8),
            Type::I16 => narrowed!(wide, i16),
            Type::I32 => narrowed!(wide, i32),
            Type::I64 => narrowed!(wide, i64),
            Type::U8 => narrowed!(wide, u8),
            Type::U16 => narrowed!(wide, u16),
            Type::U32 => narrowed!(wide, u32),
            Type::U64 => narrowed!(wide, u64),
            Type::F32 => narrowed!(wide, f32),
            Type::F64 => narrowed!(wide, f64),
            Type::C64 => {
                let imag = if let Wide::Complex(_, imag) = wide { imag as f32 } else { 0.0 };
                [narrowed!(wide, f32), bytes_of(&[imag]).to_vec()].concat()
            }
            Type::C128 => {
                let imag = if let Wide::Complex(_, imag) = wide { imag } else { 0.0 };
                [narrowed!(wide, f64), bytes_of(&[imag]).to_vec()].concat()
            }
        }
    }

    #[test]
    fn all_casts_are_those_of_the_language() {
        const COUNT: usize = 300;
        let mut random = Random::new(7);
        for from in Type::ALL {
            let memory = samples(from, COUNT, &mut random);
            let all = &memory.all()[..COUNT * from.bytes()];
            for to in Type::ALL {
                let kernel = cast(from, to);
                assert_eq!(kernel.output, to);
                let expected: Vec<u8> = if from == to {
                    all.to_vec()
                } else {
                    all.chunks(from.bytes()).flat_map(|item| naive(from, to, item)).collect()
                };
                for &level in levels() {
                    for count in (0..=70).chain([COUNT]) {
                        let mut memory = Aligned::default();
                        let out = memory.room(count * to.bytes());
                        out.fill(0xA5);
                        (kernel.run)(level, &[&all[..count * from.bytes()]], out);
                        let same = are_same(to, out, &expected[..count * to.bytes()]);
                        assert!(same, "{from:?} to {to:?}, {level:?}, {count} items");
                    }
                }
            }
        }
    }
}
