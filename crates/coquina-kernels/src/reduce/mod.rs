//! Folds of many items into few cells: sums, extremes and their places, truth, variances.
//!
//! In: a box of items as [`Part`] sees it, `outer` times `reduced` times `inner` of them; cells, one for each outer
//! and inner place. Out: the cells with the items folded in. A cell is one number or some, each kind of them in a
//! column of its own. Plain version: a loop over all items; here rows are folded in lanes, and sums by pairs.
//! Source: what NumPy's functions of these names mean; variances by T. F. Chan et al., "Updating formulae and a
//! pairwise algorithm for computing sample variances", 1979.
//! Invariant: every level gives the same bits, since the order of operations is part of the body.

mod moments;
mod places;
mod steps;
#[cfg(test)]
mod tests;
mod values;

use crate::Type;
use crate::items::{Number, items, items_mut};
use crate::level::{Isa, Level};
use steps::{
    AllTrue, AnyTrue, Count, Each, Largest, LargestNumber, Numbers, Pair, Products, Smallest, SmallestNumber,
};
use values::{Flag, Item};

/// What items are folded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The sum: I64, U64, F64 or C128. Integers wrap.
    Sum,
    /// The product, of the types of a sum.
    Product,
    /// The least item; NaN if there is one.
    Min,
    /// The greatest item; NaN if there is one.
    Max,
    /// The place of the first least item, or of the first NaN: I64, then the item. -1 where there is none.
    ArgMin,
    /// As `ArgMin` for the greatest.
    ArgMax,
    /// Whether an item is not 0: Bool.
    Any,
    /// Whether no item is 0: Bool.
    All,
    /// How many items are not 0: I64.
    Count,
    /// The sum in double precision, F64 or C128, and how many were added up: I64.
    Mean,
    /// The mean (F64 or C128), the number of items, and the sum of the squares of the distances from the mean.
    /// Where an item is not finite, neither are mean and sum.
    Moments,
}

/// What items are folded to, and of which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fold {
    /// What they are folded to.
    pub operation: Operation,
    /// Whether NaN is passed over: for sums it is 0, for products 1, for places infinitely large or small, and it
    /// is not counted. A least or greatest item is then NaN where all are.
    pub skips_nan: bool,
}

const NAMES: [(&str, Operation); 11] = [
    ("sum", Operation::Sum),
    ("prod", Operation::Product),
    ("min", Operation::Min),
    ("max", Operation::Max),
    ("argmin", Operation::ArgMin),
    ("argmax", Operation::ArgMax),
    ("any", Operation::Any),
    ("all", Operation::All),
    ("count_nonzero", Operation::Count),
    ("mean", Operation::Mean),
    ("moments", Operation::Moments),
];

impl Fold {
    /// The fold that NumPy calls so, with "nan" before the name where it passes over NaN.
    pub fn by_name(name: &str) -> Option<Self> {
        let plain = name.strip_prefix("nan");
        let wanted = plain.unwrap_or(name);
        let &(_, operation) = NAMES.iter().find(|(name, _)| *name == wanted)?;
        Some(Self { operation, skips_nan: plain.is_some() })
    }
}

/// A box of items seen as three axes, of which the one in the middle is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Cells that lie `inner` cells apart.
    pub outer: usize,
    /// Items for each cell.
    pub reduced: usize,
    /// Cells beside each other.
    pub inner: usize,
    /// The first of the cells.
    pub cell: usize,
    /// The place that the first item of each cell has: it is given to those that ask for places.
    pub place: i64,
}

impl Part {
    fn items(&self) -> usize {
        self.outer * self.reduced * self.inner
    }
}

/// Cells: column after column, from the widest type to the narrowest.
pub struct Cells<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl<'a> Cells<'a> {
    /// `len` cells in these bytes, which must be aligned.
    pub fn new(bytes: &'a mut [u8], len: usize) -> Self {
        Self { bytes, len }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The places, where they are the first column.
    ///
    /// # Panics
    /// If the bytes are too few.
    pub fn places(&mut self) -> &mut [i64] {
        self.one()
    }

    fn one<A: Number>(&mut self) -> &mut [A] {
        items_mut(&mut self.bytes[..self.len * size_of::<A>()])
    }

    fn two<A: Number, B: Number>(&mut self) -> (&mut [A], &mut [B]) {
        let (first, rest) = self.bytes.split_at_mut(self.len * size_of::<A>());
        (items_mut(first), items_mut(&mut rest[..self.len * size_of::<B>()]))
    }

    fn three<A: Number, B: Number, C: Number>(&mut self) -> (&mut [A], &mut [B], &mut [C]) {
        let (first, rest) = self.bytes.split_at_mut(self.len * size_of::<A>());
        let (second, third) = rest.split_at_mut(self.len * size_of::<B>());
        (items_mut(first), items_mut(second), items_mut(&mut third[..self.len * size_of::<C>()]))
    }
}

/// Cells beside each other in two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first cell that is read.
    pub from: usize,
    /// The first cell that is changed.
    pub to: usize,
    /// How many.
    pub len: usize,
}

/// The loops of a fold for a type.
#[derive(Clone, Copy)]
pub struct Kernel {
    columns: &'static [Type],
    clear: fn(&mut Cells<'_>),
    fold: fn(Level, &[u8], Part, &mut Cells<'_>),
    merge: fn(&mut Cells<'_>, &mut Cells<'_>, Run),
    repeat: fn(&[u8], u64, &mut Cells<'_>),
}

impl Kernel {
    /// The loops of a fold for items of a type.
    pub fn new(fold: Fold, ty: Type) -> Self {
        let operation = match (ty, fold.operation) {
            // Of truth values, which may be any byte but 0.
            (Type::Bool, Operation::Min) => Operation::All,
            (Type::Bool, Operation::Max) => Operation::Any,
            (_, operation) => operation,
        };
        match (ty, fold.skips_nan) {
            (Type::Bool, _) => plain::<Flag>(operation),
            (Type::I8, _) => plain::<i8>(operation),
            (Type::I16, _) => plain::<i16>(operation),
            (Type::I32, _) => plain::<i32>(operation),
            (Type::I64, _) => plain::<i64>(operation),
            (Type::U8, _) => plain::<u8>(operation),
            (Type::U16, _) => plain::<u16>(operation),
            (Type::U32, _) => plain::<u32>(operation),
            (Type::U64, _) => plain::<u64>(operation),
            (Type::F32, false) => plain::<f32>(operation),
            (Type::F64, false) => plain::<f64>(operation),
            (Type::C64, false) => plain::<[f32; 2]>(operation),
            (Type::C128, false) => plain::<[f64; 2]>(operation),
            (Type::F32, true) => skipping::<f32>(operation),
            (Type::F64, true) => skipping::<f64>(operation),
            (Type::C64, true) => skipping::<[f32; 2]>(operation),
            (Type::C128, true) => skipping::<[f64; 2]>(operation),
        }
    }

    /// The columns of its cells.
    pub fn columns(&self) -> &'static [Type] {
        self.columns
    }

    /// Bytes of a cell, all columns together.
    pub fn cell_bytes(&self) -> usize {
        self.columns.iter().map(|ty| ty.bytes()).sum()
    }

    /// Makes the cells those of no items.
    pub fn clear(&self, cells: &mut Cells<'_>) {
        (self.clear)(cells);
    }

    /// Folds items into cells.
    ///
    /// # Panics
    /// If there are not as many items or cells as the part says, or these are not aligned.
    pub fn fold(&self, level: Level, values: &[u8], part: Part, cells: &mut Cells<'_>) {
        assert!(
            part.cell + part.outer * part.inner <= cells.len,
            "{part:?} has more than {} cells",
            cells.len
        );
        if part.items() > 0 {
            (self.fold)(level, values, part, cells);
        }
    }

    /// Folds the cells of a run into others. What places tell lies before what is there already counts first.
    ///
    /// # Panics
    /// If there are fewer cells than the run says.
    pub fn merge(&self, from: &mut Cells<'_>, to: &mut Cells<'_>, run: Run) {
        (self.merge)(from, to, run);
    }

    /// Makes all cells those of `count` times this one item, `count` > 0. Places are 0.
    ///
    /// # Panics
    /// If the bytes are not one aligned item.
    pub fn repeat(&self, item: &[u8], count: u64, cells: &mut Cells<'_>) {
        (self.repeat)(item, count, cells);
    }
}

/// One kind of fold, for one type of items.
trait Folding: 'static {
    type Item: Number;
    const COLUMNS: &'static [Type];
    fn clear(cells: &mut Cells<'_>);
    fn fold(values: &[Self::Item], part: Part, cells: &mut Cells<'_>);
    fn merge(from: &mut Cells<'_>, to: &mut Cells<'_>, run: Run);
    fn repeat(item: Self::Item, count: u64, cells: &mut Cells<'_>);
}

fn kernel<F: Folding>() -> Kernel {
    Kernel {
        columns: F::COLUMNS,
        clear: F::clear,
        fold: compiled::<F>,
        merge: F::merge,
        repeat: |item, count, cells| F::repeat(items(item)[0], count, cells),
    }
}

fn compiled<F: Folding>(level: Level, values: &[u8], part: Part, cells: &mut Cells<'_>) {
    let values = items::<F::Item>(values);
    assert_eq!(values.len(), part.items(), "items of {part:?}");
    match level.0 {
        Isa::Portable => F::fold(values, part, cells),
        // Wider registers bring little: what is folded comes from a decoder, and most of it from the L2 cache.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: levels above the plainest exist only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 | Isa::Avx512 => unsafe { avx2::<F>(values, part, cells) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<F: Folding>(values: &[F::Item], part: Part, cells: &mut Cells<'_>) {
    F::fold(values, part, cells);
}

fn plain<T: Item>(operation: Operation) -> Kernel {
    match operation {
        Operation::Sum => kernel::<Each<steps::Sum<T, false>>>(),
        Operation::Product => kernel::<Each<Products<T, false>>>(),
        Operation::Min => kernel::<Each<Smallest<T>>>(),
        Operation::Max => kernel::<Each<Largest<T>>>(),
        Operation::ArgMin => kernel::<places::Place<T, false, false>>(),
        Operation::ArgMax => kernel::<places::Place<T, true, false>>(),
        Operation::Any => kernel::<Each<AnyTrue<T>>>(),
        Operation::All => kernel::<Each<AllTrue<T>>>(),
        Operation::Count => kernel::<Each<Count<T>>>(),
        Operation::Mean => kernel::<Pair<steps::Floats<T, false>, Numbers<T, false>>>(),
        Operation::Moments => kernel::<moments::Moments<T, false>>(),
    }
}

fn skipping<T: Item>(operation: Operation) -> Kernel {
    match operation {
        Operation::Sum => kernel::<Each<steps::Sum<T, true>>>(),
        Operation::Product => kernel::<Each<Products<T, true>>>(),
        Operation::Min => kernel::<Each<SmallestNumber<T>>>(),
        Operation::Max => kernel::<Each<LargestNumber<T>>>(),
        Operation::ArgMin => kernel::<places::Place<T, false, true>>(),
        Operation::ArgMax => kernel::<places::Place<T, true, true>>(),
        Operation::Mean => kernel::<Pair<steps::Floats<T, true>, Numbers<T, true>>>(),
        Operation::Moments => kernel::<moments::Moments<T, true>>(),
        Operation::Any | Operation::All | Operation::Count => plain::<T>(operation),
    }
}
