//! The least and the greatest number of a slice, and whether there is a NaN.
//!
//! In: little-endian items at any place. Out: the two, or nothing for no items. The loop keeps a row of lanes, each
//! with a least and a greatest number of its own, so that it runs in whole registers.
//! Source: comparisons are those of IEEE 754: NaNs are no numbers, and the two zeros are equal.
//! Invariant: the result does not depend on level, order or alignment; so a zero is never negative, and a NaN always
//! the same one.

use crate::level::{Isa, Level};
use crate::types::Type;

/// Bytes of the largest item.
const ITEM_BYTES_MAX: usize = 8;

/// What is known of some items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The least number, little-endian, with zeros behind it; NaN where there is no other number.
    pub min: [u8; ITEM_BYTES_MAX],
    /// The greatest number.
    pub max: [u8; ITEM_BYTES_MAX],
    /// Whether there is a NaN.
    pub has_nan: bool,
}

/// The bounds of little-endian items. `None` if there are none, or if their type has no order.
///
/// # Panics
/// If the bytes are not whole items.
pub fn bounds(level: Level, ty: Type, items: &[u8]) -> Option<Bounds> {
    assert!(items.len().is_multiple_of(ty.bytes()), "{} bytes are no whole items", items.len());
    if items.is_empty() || matches!(ty, Type::C64 | Type::C128) {
        return None;
    }
    Some(match level.0 {
        Isa::Portable => typed(ty, items),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { avx2(ty, items) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { avx512(ty, items) },
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(ty: Type, items: &[u8]) -> Bounds {
    typed(ty, items)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn avx512(ty: Type, items: &[u8]) -> Bounds {
    typed(ty, items)
}

#[inline(always)]
fn typed(ty: Type, items: &[u8]) -> Bounds {
    // The lanes of each type are 128 bytes: as many registers as the latency of a comparison keeps busy.
    match ty {
        Type::Bool => body::<Truth, 1, 128>(items),
        Type::I8 => body::<i8, 1, 128>(items),
        Type::U8 => body::<u8, 1, 128>(items),
        Type::I16 => body::<i16, 2, 64>(items),
        Type::U16 => body::<u16, 2, 64>(items),
        Type::I32 => body::<i32, 4, 32>(items),
        Type::U32 => body::<u32, 4, 32>(items),
        Type::I64 => body::<i64, 8, 16>(items),
        Type::U64 => body::<u64, 8, 16>(items),
        Type::F32 => body::<f32, 4, 32>(items),
        // Types without order have been told apart.
        Type::F64 | Type::C64 | Type::C128 => body::<f64, 8, 16>(items),
    }
}

/// An item of `N` bytes.
trait Item<const N: usize>: Copy + PartialOrd {
    /// No number is greater than the first and less than the second.
    const START: (Self, Self);
    fn read(bytes: [u8; N]) -> Self;
    /// The one way to write what is equal.
    fn write(self) -> [u8; N];
    /// What stands for no number at all.
    fn nan() -> Self {
        Self::START.0
    }
}

macro_rules! integers {
    ($($ty:ty: $bytes:literal),*) => { $(
        impl Item<$bytes> for $ty {
            const START: (Self, Self) = (Self::MAX, Self::MIN);
            #[inline(always)]
            fn read(bytes: [u8; $bytes]) -> Self {
                Self::from_le_bytes(bytes)
            }
            fn write(self) -> [u8; $bytes] {
                self.to_le_bytes()
            }
        }
    )* };
}
integers!(i8: 1, u8: 1, i16: 2, u16: 2, i32: 4, u32: 4, i64: 8, u64: 8);

macro_rules! floats {
    ($($ty:ty: $bytes:literal),*) => { $(
        impl Item<$bytes> for $ty {
            const START: (Self, Self) = (Self::INFINITY, Self::NEG_INFINITY);
            #[inline(always)]
            fn read(bytes: [u8; $bytes]) -> Self {
                Self::from_le_bytes(bytes)
            }
            fn write(self) -> [u8; $bytes] {
                // A negative zero and zero make zero.
                (self + 0.0).to_le_bytes()
            }
            fn nan() -> Self {
                Self::NAN
            }
        }
    )* };
}
floats!(f32: 4, f64: 8);

/// A byte that is true if it is not 0.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Truth(u8);

impl Item<1> for Truth {
    const START: (Self, Self) = (Self(u8::MAX), Self(0));
    #[inline(always)]
    fn read([byte]: [u8; 1]) -> Self {
        Self(byte)
    }
    fn write(self) -> [u8; 1] {
        [self.0.min(1)]
    }
}

/// Naively: one pass with one least and one greatest number. Here `LANES` of each, and they are compared at the end.
#[inline(always)]
fn body<T: Item<N>, const N: usize, const LANES: usize>(bytes: &[u8]) -> Bounds {
    let (items, _) = bytes.as_chunks::<N>();
    let (rows, rest) = items.as_chunks::<LANES>();
    let (mut least, mut greatest) = ([T::START.0; LANES], [T::START.1; LANES]);
    // The lane keeps the NaN itself: a flag of another width would cost the loop its registers.
    let mut nans = [T::START.0; LANES];
    for row in rows {
        for lane in 0..LANES {
            let item = T::read(row[lane]);
            least[lane] = if item < least[lane] { item } else { least[lane] };
            greatest[lane] = if item > greatest[lane] { item } else { greatest[lane] };
            nans[lane] = if is_nan(item) { item } else { nans[lane] };
        }
    }
    let (mut min, mut max) = T::START;
    let mut has_nan = nans.into_iter().any(is_nan);
    let rest = rest.iter().map(|&item| T::read(item)).map(|item| (item, item, is_nan(item)));
    let lanes = least.into_iter().zip(greatest).map(|(low, high)| (low, high, false));
    for (low, high, is_nan) in lanes.chain(rest) {
        min = if low < min { low } else { min };
        max = if high > max { high } else { max };
        has_nan |= is_nan;
    }
    if min > max {
        (min, max) = (T::nan(), T::nan());
    }
    Bounds { min: padded(min.write()), max: padded(max.write()), has_nan }
}

#[inline(always)]
#[expect(clippy::eq_op, reason = "only a NaN is not itself")]
fn is_nan<T: PartialEq + Copy>(item: T) -> bool {
    item != item
}

fn padded<const N: usize>(item: [u8; N]) -> [u8; ITEM_BYTES_MAX] {
    let mut bytes = [0; ITEM_BYTES_MAX];
    bytes[..N].copy_from_slice(&item);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{Bounds, bounds};
    use crate::testing::Random;
    use crate::{Type, levels};

    /// Integers and floats of all types, as one that has them all; NaN is none.
    fn number(ty: Type, item: &[u8]) -> Option<(i128, f64)> {
        let bytes = |n: usize| <[u8; 8]>::try_from([item, &[0; 8]].concat()[..8].to_vec()).map(|b| (n, b));
        let (_, bytes) = bytes(item.len()).ok()?;
        let unsigned = u64::from_le_bytes(bytes);
        let float = |x: f64| (!x.is_nan()).then_some((0, x + 0.0));
        match ty {
            Type::F32 => float(f32::from_le_bytes(item.try_into().ok()?).into()),
            Type::F64 => float(f64::from_le_bytes(bytes)),
            Type::Bool => Some((i128::from(unsigned.min(1)), 0.0)),
            Type::I8 | Type::I16 | Type::I32 | Type::I64 => {
                let shift = 64 - 8 * item.len();
                Some(((unsigned << shift).cast_signed() as i128 >> shift, 0.0))
            }
            _ => Some((i128::from(unsigned), 0.0)),
        }
    }

    fn check(ty: Type, items: &[u8], found: Option<Bounds>) {
        let size = ty.bytes();
        let all: Vec<_> = items.chunks_exact(size).map(|item| number(ty, item)).collect();
        let Some(found) = found else {
            assert!(all.is_empty(), "{ty:?}: no bounds of {} items", all.len());
            return;
        };
        let least = all.iter().flatten().copied().min_by(|a, b| a.partial_cmp(b).expect("numbers"));
        let greatest = all.iter().flatten().copied().max_by(|a, b| a.partial_cmp(b).expect("numbers"));
        assert_eq!(number(ty, &found.min[..size]), least, "{ty:?}");
        assert_eq!(number(ty, &found.max[..size]), greatest, "{ty:?}");
        assert_eq!(found.has_nan, all.contains(&None), "{ty:?}");
        assert!(found.min[size..].iter().chain(&found.max[size..]).all(|&byte| byte == 0));
    }

    fn types() -> impl Iterator<Item = Type> {
        Type::ALL.into_iter().filter(|ty| !matches!(ty, Type::C64 | Type::C128))
    }

    #[test]
    fn all_levels_equal_the_naive_loop_and_each_other() {
        let mut random = Random::new(17);
        for ty in types() {
            for len in (0..300).chain([511, 512, 513, 4099]) {
                let mut bytes = random.bytes(len * ty.bytes() + 1);
                for (at, item) in bytes[1..].chunks_exact_mut(ty.bytes()).enumerate() {
                    // Random bits are mostly of one size; small numbers and zeros are to be met too.
                    match (at + len) % 5 {
                        0 => item.fill(0),
                        1 => item[1.min(ty.bytes() - 1)..].fill(0),
                        2 if len % 3 == 0 => item.fill(0xff),
                        _ => {}
                    }
                }
                let items = &bytes[1..];
                let first = bounds(levels()[0], ty, items);
                check(ty, items, first);
                for &level in levels() {
                    assert_eq!(bounds(level, ty, items), first, "{ty:?} {level:?} {len}");
                }
            }
        }
    }

    #[test]
    fn every_place_counts() {
        for ty in types() {
            let zeros = vec![0; 300 * ty.bytes()];
            for place in 0..300 {
                let mut items = zeros.clone();
                items[place * ty.bytes()] = 1;
                for &level in levels() {
                    check(ty, &items, bounds(level, ty, &items));
                }
            }
        }
    }

    #[test]
    fn zeros_have_no_sign_and_nans_are_all_the_same() {
        for &level in levels() {
            for len in [1, 2, 40] {
                let zeros = (-0.0_f64).to_le_bytes().repeat(len);
                let found = bounds(level, Type::F64, &zeros).expect("items");
                assert_eq!(found, Bounds { min: [0; 8], max: [0; 8], has_nan: false });
                let nans = 0xffff_0000_0000_0001_u64.to_le_bytes().repeat(len);
                let nan = f64::NAN.to_le_bytes();
                let found = bounds(level, Type::F64, &nans).expect("items");
                assert_eq!(found, Bounds { min: nan, max: nan, has_nan: true });
                let items = [nans, f64::INFINITY.to_le_bytes().to_vec()].concat();
                let found = bounds(level, Type::F64, &items).expect("items");
                let infinity = f64::INFINITY.to_le_bytes();
                assert_eq!(found, Bounds { min: infinity, max: infinity, has_nan: true });
            }
            assert_eq!(bounds(level, Type::C64, &[0; 8]), None);
        }
    }
}
