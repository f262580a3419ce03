//! Where the values of a condition come from: parts of a program that compute the same have one number.
//!
//! Invariant: sources are the same if they read the same bytes of the items of one array, whichever objects they are
//! made of. A number means something only as long as the sources live that it was given for.

use std::collections::HashMap;
use std::sync::Arc;

use coquina_kernels::Type;

use crate::array::{Array, BoxSource, Elements, Part};
use crate::query::FirstRows;
use crate::query::condition::{Element, Halves};

/// What a part of a program computes; other parts by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// Bytes of the items of an array, as numbers of a type; texts have none.
    Stored {
        array: usize,
        offset: usize,
        bytes: usize,
        swapped_bytes: usize,
        ty: Option<Type>,
    },
    /// A source that is like no other.
    Source(usize, Option<Type>),
    /// Numbers of half precision as those of single precision.
    Single(Box<Self>),
    /// Offsets and bytes of texts.
    Texts(Box<[Self; 2]>),
    Constant(Type, Vec<u8>),
    Cast(usize, Type),
    Call(String, Vec<usize>),
}

impl Place {
    /// What a source gives, taken as items of a type.
    pub(super) fn of(source: &Arc<dyn BoxSource>, ty: Option<Type>) -> Self {
        let of_part = |part: &Part| Self::Stored {
            array: Arc::as_ptr(&part.array).addr(),
            offset: part.window.offset,
            bytes: part.window.bytes,
            swapped_bytes: part.swapped_bytes.max(1),
            ty,
        };
        let alone = || Self::Source(Arc::as_ptr(source).addr(), ty);
        let Some(any) = source.as_any() else { return alone() };
        if let Some(array) = any.downcast_ref::<Array>() {
            let (array, bytes) = (std::ptr::from_ref(array).addr(), array.typesize());
            return Self::Stored { array, offset: 0, bytes, swapped_bytes: 1, ty };
        }
        if let Some(part) = any.downcast_ref::<Part>() {
            return of_part(part);
        }
        if let Some(element) = any.downcast_ref::<Element>() {
            let values = element.source.as_any().and_then(|any| any.downcast_ref::<Elements>());
            return values
                .and_then(|values| values.at(&element.index))
                .map_or_else(alone, |part| of_part(&part));
        }
        if let Some(rows) = any.downcast_ref::<FirstRows>() {
            return Self::of(&rows.source, ty);
        }
        match any.downcast_ref::<Halves>() {
            Some(Halves(halves)) => Self::Single(Box::new(Self::of(halves, None))),
            None => alone(),
        }
    }

    /// Texts of any length.
    pub(super) fn of_texts([offsets, bytes]: [&Arc<dyn BoxSource>; 2]) -> Self {
        Self::Texts(Box::new([Self::of(offsets, None), Self::of(bytes, None)]))
    }
}

/// The numbers of places.
#[derive(Debug, Default)]
pub(super) struct Places {
    numbers: HashMap<Place, usize>,
}

impl Places {
    /// The number of a place, a new one if it has none.
    pub(super) fn insert(&mut self, place: Place) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(place).or_insert(next)
    }

    /// The number of a place, if it has one.
    pub(super) fn get(&self, place: &Place) -> Option<usize> {
        self.numbers.get(place).copied()
    }
}
