//! What is known of the values of each group: a cell for each, stepped value by value, merged group by group.
//!
//! Sums of floats keep what rounding loses, and variances are merged by Chan's formula, so that neither the order
//! of the values nor how they are cut into pieces matters much; pieces are merged in order, so that it does not
//! matter at all for how many threads there are.
//! Source: D. E. Knuth, TAOCP 2, 4.2.2, theorem B, for what a sum loses; B. P. Welford, "Note on a method for
//! calculating corrected sums of squares and products", 1962; T. F. Chan et al., 1979, as in the kernels' moments.

use super::super::numbers::Real;
use coquina_kernels::items::Number;

/// A cell.
pub(super) trait Cell: Clone + Send + 'static {
    type Item: Number;
    type Out: Number;
    /// That of no values.
    const NONE: Self;
    fn step(&mut self, item: Self::Item);
    /// Takes items that follow each other.
    fn run(&mut self, items: &[Self::Item]) {
        // Not in memory, item by item.
        let mut cell = self.clone();
        items.iter().for_each(|&item| cell.step(item));
        *self = cell;
    }
    fn merge(&mut self, other: &Self);
    /// What it gives; variances with so many values less.
    fn finish(&self, ddof: f64) -> Self::Out;
}

/// A number and how it is added up: integers in 64 bits that wrap, floats in double precision.
pub(super) trait Value: Real {
    type Total: Total;
    /// What stands for none.
    const NONE: Self;
    fn to_total(self) -> <Self::Total as Total>::Out;
    fn is_true(self) -> bool;
}

/// A sum.
pub(super) trait Total: Clone + Send + 'static {
    type Out: Number;
    const ZERO: Self;
    fn add(&mut self, more: Self::Out);
    /// Adds what follows each other.
    fn add_all<T: Value<Total = Self>>(&mut self, items: &[T]) {
        items.iter().for_each(|item| self.add(item.to_total()));
    }
    fn merge(&mut self, other: &Self);
    fn finish(&self) -> Self::Out;
}

macro_rules! wrapping {
    ($($sum:ty: $($number:ty),*;)*) => { $(
        impl Total for $sum {
            type Out = $sum;
            const ZERO: $sum = 0;
            #[inline(always)]
            fn add(&mut self, more: $sum) {
                *self = self.wrapping_add(more);
            }
            fn merge(&mut self, other: &$sum) {
                self.add(*other);
            }
            fn finish(&self) -> $sum {
                *self
            }
        }
        $(
            impl Value for $number {
                type Total = $sum;
                const NONE: Self = 0;
                #[inline(always)]
                fn to_total(self) -> $sum {
                    <$sum>::from(self)
                }
                #[inline(always)]
                fn is_true(self) -> bool {
                    self != 0
                }
            }
        )*
    )* };
}
wrapping! { i64: i8, i16, i32, i64; u64: u8, u16, u32, u64; }

macro_rules! floats {
    ($($number:ty),*) => { $(
        impl Value for $number {
            type Total = Compensated;
            const NONE: Self = Self::NAN;
            #[inline(always)]
            fn to_total(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn is_true(self) -> bool {
                self != 0.0
            }
        }
    )* };
}
floats!(f32, f64);

/// A sum, and what has been lost of it by rounding.
#[derive(Clone)]
pub(super) struct Compensated {
    sum: f64,
    lost: f64,
}

/// So many sums are made side by side of what follows each other.
const LANES: usize = 8;

impl Compensated {
    #[inline(always)]
    fn of<T: Copy>(items: &[T], number: impl Fn(T) -> f64) -> Self {
        let (mut sums, mut losses) = ([0.0; LANES], [0.0; LANES]);
        let (rows, rest) = items.as_chunks::<LANES>();
        for row in rows {
            for ((sum, lost), &item) in sums.iter_mut().zip(&mut losses).zip(row) {
                let (more, old): (f64, f64) = (number(item), *sum);
                let all = old + more;
                let taken = all - old;
                *lost += (old - (all - taken)) + (more - taken);
                *sum = all;
            }
        }
        let mut all = Self::ZERO;
        sums.into_iter().zip(losses).for_each(|(sum, lost)| all.merge(&Self { sum, lost }));
        rest.iter().for_each(|&item| all.add(number(item)));
        all
    }
}

impl Total for Compensated {
    type Out = f64;
    const ZERO: Self = Self { sum: 0.0, lost: 0.0 };

    #[inline(always)]
    fn add(&mut self, more: f64) {
        let sum = self.sum + more;
        let taken = sum - self.sum;
        self.lost += (self.sum - (sum - taken)) + (more - taken);
        self.sum = sum;
    }

    fn add_all<T: Value<Total = Self>>(&mut self, items: &[T]) {
        self.merge(&Self::of(items, T::to_total));
    }

    fn merge(&mut self, other: &Self) {
        self.add(other.sum);
        self.lost += other.lost;
    }

    fn finish(&self) -> f64 {
        // Of an infinite sum nothing can be told to be lost.
        let all = self.sum + self.lost;
        if self.sum.is_finite() && all.is_finite() { all } else { self.sum }
    }
}

/// The sum.
#[derive(Clone)]
pub(super) struct Sum<T: Value>(T::Total);

impl<T: Value> Cell for Sum<T> {
    type Item = T;
    type Out = <T::Total as Total>::Out;
    const NONE: Self = Self(T::Total::ZERO);

    #[inline(always)]
    fn step(&mut self, item: T) {
        self.0.add(item.to_total());
    }

    fn run(&mut self, items: &[T]) {
        self.0.add_all(items);
    }

    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    fn finish(&self, _ddof: f64) -> Self::Out {
        self.0.finish()
    }
}

/// The mean, in double precision.
#[derive(Clone)]
pub(super) struct Mean<T> {
    sum: Compensated,
    count: f64,
    of: std::marker::PhantomData<T>,
}

impl<T: Value> Cell for Mean<T> {
    type Item = T;
    type Out = f64;
    const NONE: Self = Self { sum: Compensated::ZERO, count: 0.0, of: std::marker::PhantomData };

    #[inline(always)]
    fn step(&mut self, item: T) {
        self.sum.add(item.to_f64());
        self.count += 1.0;
    }

    fn run(&mut self, items: &[T]) {
        self.sum.merge(&Compensated::of(items, T::to_f64));
        self.count += items.len() as f64;
    }

    fn merge(&mut self, other: &Self) {
        self.sum.merge(&other.sum);
        self.count += other.count;
    }

    fn finish(&self, _ddof: f64) -> f64 {
        self.sum.finish() / self.count
    }
}

/// The variance, or its root if `ROOT`.
#[derive(Clone)]
pub(super) struct Variance<T, const ROOT: bool> {
    mean: f64,
    count: f64,
    squares: f64,
    of: std::marker::PhantomData<T>,
}

impl<T: Value, const ROOT: bool> Cell for Variance<T, ROOT> {
    type Item = T;
    type Out = f64;
    const NONE: Self = Self { mean: 0.0, count: 0.0, squares: 0.0, of: std::marker::PhantomData };

    #[inline(always)]
    fn step(&mut self, item: T) {
        let item = item.to_f64();
        self.count += 1.0;
        let apart = item - self.mean;
        self.mean += apart / self.count;
        self.squares += apart * (item - self.mean);
    }

    fn run(&mut self, items: &[T]) {
        let count = items.len() as f64;
        let mean = Compensated::of(items, T::to_f64).finish() / count;
        let squares = Compensated::of(items, |item: T| (item.to_f64() - mean).powi(2)).finish();
        self.merge(&Self { mean, count, squares, ..Self::NONE });
    }

    fn merge(&mut self, other: &Self) {
        if self.count == 0.0 || other.count == 0.0 {
            if self.count == 0.0 {
                self.clone_from(other);
            }
            return;
        }
        let count = self.count + other.count;
        let apart = other.mean - self.mean;
        self.squares += other.squares + apart * apart * (self.count * other.count / count);
        self.mean += apart * (other.count / count);
        self.count = count;
    }

    fn finish(&self, ddof: f64) -> f64 {
        let variance = self.squares / (self.count - ddof).max(0.0);
        if ROOT { variance.sqrt() } else { variance }
    }
}

macro_rules! extremes {
    ($($(#[$doc:meta])* $name:ident, $before:tt;)*) => { $(
        $(#[$doc])*
        #[derive(Clone)]
        pub(super) struct $name<T>(Option<T>);

        impl<T: Value> Cell for $name<T> {
            type Item = T;
            type Out = T;
            const NONE: Self = Self(None);

            #[inline(always)]
            fn step(&mut self, item: T) {
                match self.0 {
                    Some(found) if found.is_nan() || !(item $before found || item.is_nan()) => {}
                    _ => self.0 = Some(item),
                }
            }

            fn merge(&mut self, other: &Self) {
                if let Some(item) = other.0 {
                    self.step(item);
                }
            }

            fn finish(&self, _ddof: f64) -> T {
                self.0.unwrap_or(T::NONE)
            }
        }
    )* };
}
extremes! {
    /// The least item, or NaN.
    Least, <;
    /// The greatest item, or NaN.
    Greatest, >;
}

/// Whether an item is true (`ALL`: whether all are).
#[derive(Clone)]
pub(super) struct Truth<T, const ALL: bool>(bool, std::marker::PhantomData<T>);

impl<T: Value, const ALL: bool> Cell for Truth<T, ALL> {
    type Item = T;
    type Out = u8;
    const NONE: Self = Self(ALL, std::marker::PhantomData);

    #[inline(always)]
    fn step(&mut self, item: T) {
        self.0 = if ALL { self.0 & item.is_true() } else { self.0 | item.is_true() };
    }

    fn merge(&mut self, other: &Self) {
        self.0 = if ALL { self.0 & other.0 } else { self.0 | other.0 };
    }

    fn finish(&self, _ddof: f64) -> u8 {
        self.0.into()
    }
}
