//! How a function becomes a row: a body for one item, the families of types it is compiled for, and the loops.
//!
//! In: bytes of `n` items for each input. Out: bytes of `n` items. Naively: `out[i] = f(a[i], b[i])`, and so it is
//! written; the compiler makes vectors of it, once for each level.
//! Invariant: a body has no fused multiplication and addition and no sum in another order, so all levels give the
//! same bits.

use super::item::Item;
use super::{Kernel, Run};
use crate::items::{items, items_mut};
use crate::level::{Isa, Level};
use crate::types::Type;

/// A function and its loops; a list for each family of types.
pub(super) struct Function {
    /// NumPy's name.
    pub(super) name: &'static str,
    pub(super) loops: &'static [&'static [Entry]],
}

impl Function {
    pub(super) fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        self.loops.iter().copied().flatten()
    }
}

/// A loop for inputs of these types.
pub(super) struct Entry {
    pub(super) inputs: &'static [Type],
    pub(super) kernel: Kernel,
}

impl Entry {
    pub(super) const fn new<L: Loop>(run: Run) -> Self {
        Self { inputs: L::INPUTS, kernel: Kernel { output: L::OUTPUT, run } }
    }
}

/// A loop, before it is compiled for a level.
pub(super) trait Loop {
    const INPUTS: &'static [Type];
    const OUTPUT: Type;

    /// Does it, with the instructions of whoever calls.
    fn fill(inputs: &[&[u8]], out: &mut [u8]);
}

/// The loop compiled for each level.
pub(super) fn wide<L: Loop>(level: Level, inputs: &[&[u8]], out: &mut [u8]) {
    match level.0 {
        Isa::Portable => L::fill(inputs, out),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { avx2::<L>(inputs, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { avx512::<L>(inputs, out) },
    }
}

/// The loop compiled once: for functions that wider registers do nothing for.
pub(super) fn plain<L: Loop>(_level: Level, inputs: &[&[u8]], out: &mut [u8]) {
    L::fill(inputs, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<L: Loop>(inputs: &[&[u8]], out: &mut [u8]) {
    L::fill(inputs, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn avx512<L: Loop>(inputs: &[&[u8]], out: &mut [u8]) {
    L::fill(inputs, out);
}

/// A function of one input, item by item.
#[inline(always)]
pub(super) fn map1<A: Item, R: Item>(inputs: &[&[u8]], out: &mut [u8], f: impl Fn(A) -> R) {
    let &[a] = inputs else { panic!("{} inputs, not 1", inputs.len()) };
    let (a, out) = (items::<A>(a), items_mut::<R>(out));
    assert!(a.len() == out.len(), "lengths differ");
    for (out, &a) in out.iter_mut().zip(a) {
        *out = f(a);
    }
}

/// As [`map1`], of two.
#[inline(always)]
pub(super) fn map2<A: Item, B: Item, R: Item>(inputs: &[&[u8]], out: &mut [u8], f: impl Fn(A, B) -> R) {
    let &[a, b] = inputs else { panic!("{} inputs, not 2", inputs.len()) };
    let (a, b, out) = (items::<A>(a), items::<B>(b), items_mut::<R>(out));
    assert!(a.len() == out.len() && b.len() == out.len(), "lengths differ");
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

/// As [`map1`], of three.
#[inline(always)]
pub(super) fn map3<A: Item, B: Item, C: Item, R: Item>(
    inputs: &[&[u8]],
    out: &mut [u8],
    f: impl Fn(A, B, C) -> R,
) {
    let &[a, b, c] = inputs else { panic!("{} inputs, not 3", inputs.len()) };
    let (a, b, c, out) = (items::<A>(a), items::<B>(b), items::<C>(c), items_mut::<R>(out));
    assert!(a.len() == out.len() && b.len() == out.len() && c.len() == out.len(), "lengths differ");
    for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
        *out = f(a, b, c);
    }
}

/// Makes `FUNCTIONS` of rows: a name, and for each family of types whether the loop is compiled `wide` or `plain`,
/// the inputs, the output and the body. `T` is the type of the family's turn, `P` that of a complex one's parts.
/// Loops that are no such rows may follow a name's `and`.
macro_rules! functions {
    ($( $name:literal { $( $width:ident $family:ident $args:tt -> $out:ty $body:block )* } $(and $more:ident)? )*) => {
        use $crate::elementwise::table::Function;

        /// The functions of this file.
        pub(super) static FUNCTIONS: &[Function] = &[
            $( Function {
                name: $name,
                loops: &[ $( family!($family, $width $args $out, $body), )* $( $more )? ],
            } ),*
        ];
    };
}

/// The types of a family; `once` is for rows that name their types.
macro_rules! family {
    (once, $($row:tt)*) => { turns!([Truth Truth], $($row)*) };
    (truth, $($row:tt)*) => { turns!([Truth Truth], $($row)*) };
    (signed, $($row:tt)*) => { turns!([i8 i8, i16 i16, i32 i32, i64 i64], $($row)*) };
    (unsigned, $($row:tt)*) => { turns!([u8 u8, u16 u16, u32 u32, u64 u64], $($row)*) };
    (ints, $($row:tt)*) => {
        turns!([i8 i8, i16 i16, i32 i32, i64 i64, u8 u8, u16 u16, u32 u32, u64 u64], $($row)*)
    };
    (narrow, $($row:tt)*) => { turns!([i8 i8, i16 i16, i32 i32, u8 u8, u16 u16, u32 u32], $($row)*) };
    (long, $($row:tt)*) => { turns!([i64 i64, u64 u64], $($row)*) };
    (floats, $($row:tt)*) => { turns!([f32 f32, f64 f64], $($row)*) };
    (reals, $($row:tt)*) => {
        turns!([i8 i8, i16 i16, i32 i32, i64 i64, u8 u8, u16 u16, u32 u32, u64 u64, f32 f32, f64 f64], $($row)*)
    };
    (complexes, $($row:tt)*) => { turns!([C64 f32, C128 f64], $($row)*) };
}

macro_rules! turns {
    ([$($item:ident $part:ident),*], $width:ident $args:tt $out:ty, $body:block) => {
        &[ $( entry!($item $part, $width $args $out, $body) ),* ]
    };
}

macro_rules! entry {
    ($item:ident $part:ident, $width:ident ($($arg:ident: $A:ty),*) $out:ty, $body:block) => {{
        #[allow(unused_imports, reason = "not every row needs all")]
        use $crate::elementwise::{
            convert::To,
            item::{C64, C128, Item, Truth},
            real::Real,
            table,
        };

        #[allow(dead_code, reason = "not every row needs it")]
        type T = $item;
        #[allow(dead_code, reason = "not every row needs it")]
        type P = $part;

        #[inline(always)]
        fn body($($arg: $A),*) -> $out $body

        enum Row {}
        impl table::Loop for Row {
            const INPUTS: &'static [$crate::types::Type] = &[$(<$A as Item>::TYPE),*];
            const OUTPUT: $crate::types::Type = <$out as Item>::TYPE;

            #[inline(always)]
            fn fill(inputs: &[&[u8]], out: &mut [u8]) {
                map!($($arg)*)(inputs, out, body);
            }
        }
        table::Entry::new::<Row>(table::$width::<Row>)
    }};
}

macro_rules! map {
    ($a:ident) => {
        table::map1
    };
    ($a:ident $b:ident) => {
        table::map2
    };
    ($a:ident $b:ident $c:ident) => {
        table::map3
    };
}
