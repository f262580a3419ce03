//! What codes stand for: the items of a table at the places that whole numbers name.
//!
//! In: a source of whole numbers, a table. Out: `table[code]`, and one item for all codes that have no place in it.
//! A box whose codes are known to lie within entries that are all alike is known itself.

use std::any::Any;
use std::sync::Arc;

use coquina_kernels::Type;
use coquina_kernels::items::{Number, items};

use super::super::numbers::{Real, numbers, with_real};
use super::len_of;
use crate::array::{BoxSource, Walk, check_box};
use crate::base::error::{Error, Result};
use crate::base::scratch::with_scratch;

/// A table that is looked up.
pub struct Lookup {
    codes: Arc<dyn BoxSource>,
    ty: Type,
    /// The items, and behind them the one of codes without a place.
    table: Vec<u8>,
    item_bytes: usize,
    len: usize,
    /// For each item the last one up to which all are like it.
    alike: Vec<usize>,
}

impl Lookup {
    /// Looks up codes of type `ty` in a table of items as long as `missing`, which negative and too large ones get.
    ///
    /// # Errors
    /// `Invalid` for codes that are no integers, of more than one axis or of another size, and for a table that is
    /// no whole number of items.
    pub fn new(codes: Arc<dyn BoxSource>, ty: Type, table: &[u8], missing: &[u8]) -> Result<Self> {
        len_of(&*codes)?;
        if matches!(ty, Type::Bool | Type::F32 | Type::F64 | Type::C64 | Type::C128)
            || ty.bytes() != codes.item_bytes()
        {
            let (name, bytes) = (ty.name(), codes.item_bytes());
            return Err(Error::invalid(format!("codes of {bytes} bytes as {name}: takes integers")));
        }
        let item_bytes = missing.len();
        if item_bytes == 0 || !table.len().is_multiple_of(item_bytes) {
            let bytes = table.len();
            return Err(Error::invalid(format!("a table of {bytes} bytes, of items of {item_bytes}")));
        }
        let len = table.len() / item_bytes;
        let table = [table, missing].concat();
        let mut alike: Vec<usize> = (0..=len).collect();
        for at in (0..len).rev() {
            let pair = &table[at * item_bytes..][..2 * item_bytes];
            if pair[..item_bytes] == pair[item_bytes..] {
                alike[at] = alike[at + 1];
            }
        }
        Ok(Self { codes, ty, table, item_bytes, len, alike })
    }

    /// What is looked up, and its type.
    pub(crate) fn codes(&self) -> (&Arc<dyn BoxSource>, Type) {
        (&self.codes, self.ty)
    }

    /// The items, and the one of codes without a place.
    pub(crate) fn table(&self) -> (&[u8], &[u8]) {
        self.table.split_at(self.len * self.item_bytes)
    }

    fn item(&self, place: usize) -> &[u8] {
        &self.table[place * self.item_bytes..][..self.item_bytes]
    }

    /// The place of a code: that behind the last one for those that have none.
    #[inline(always)]
    fn place<T: Real>(&self, code: T) -> usize {
        // A negative code has a large key.
        usize::try_from(code.key()).map_or(self.len, |place| place.min(self.len))
    }

    fn look_up<T: Real>(&self, codes: &[u8], out: &mut [u8]) {
        let codes = items::<T>(codes);
        match self.item_bytes {
            1 => self.copied::<T, 1>(codes, out),
            2 => self.copied::<T, 2>(codes, out),
            4 => self.copied::<T, 4>(codes, out),
            8 => self.copied::<T, 8>(codes, out),
            16 => self.copied::<T, 16>(codes, out),
            bytes => {
                for (out, &code) in out.chunks_exact_mut(bytes).zip(codes) {
                    out.copy_from_slice(self.item(self.place(code)));
                }
            }
        }
    }

    #[inline(always)]
    fn copied<T: Real, const N: usize>(&self, codes: &[T], out: &mut [u8]) {
        let (table, _) = self.table.as_chunks::<N>();
        let (out, _) = out.as_chunks_mut::<N>();
        for (out, &code) in out.iter_mut().zip(codes) {
            *out = table[self.place(code)];
        }
    }

    /// The one item that all codes from `min` to `max` stand for, if it is one.
    fn only<T: Real + Number>(&self, min: &[u8], max: &[u8]) -> Option<usize> {
        let (min, max) = (*numbers::<T>(min).first()?, *numbers::<T>(max).first()?);
        // Codes below 0 come before all others, but their place is behind them.
        let is_negative = |code: T| code.to_f64() < 0.0;
        let first = if is_negative(min) && !is_negative(max) { 0 } else { self.place(min) };
        let last = self.place(max);
        let (first, last) = (first.min(last), first.max(last));
        let has_negative = is_negative(min) && !is_negative(max);
        let is_one = self.alike[first] >= last && (!has_negative || self.item(last) == self.item(self.len));
        is_one.then_some(first)
    }
}

impl BoxSource for Lookup {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn shape(&self) -> Vec<u64> {
        self.codes.shape()
    }

    fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    fn walk(&self) -> Walk {
        self.codes.walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, self.item_bytes, out.len())?;
        with_scratch(out.len() / self.item_bytes * self.ty.bytes(), |codes| {
            self.codes.fill(start, shape, codes)?;
            with_real!(self.ty, T => self.look_up::<T>(codes, out));
            Ok(())
        })
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        let (min, max) = match self.codes.uniform(start, shape) {
            Some(code) => (code.clone(), code),
            None => self.codes.bounds(start, shape).map(|bounds| (bounds.min, bounds.max))?,
        };
        if min.len() != self.ty.bytes() || max.len() != self.ty.bytes() {
            return None;
        }
        let place = with_real!(self.ty, T => self.only::<T>(&min, &max))??;
        Some(self.item(place).to_vec())
    }
}
