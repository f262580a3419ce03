//! Strings that end at their first NUL (`H5T_STR_NULLTERM`): what stands behind it is no part of them.
//!
//! In: the bytes of items as they are stored. Out: the same, with zeros behind the first NUL of each string, so that
//! they are NumPy's `S` items, of which trailing zeros are no part.
//! Source: HDF5 User Guide, "Datatypes", H5T_STR_NULLTERM; `docs/formats/hdf5-filters.md`.

use std::sync::Arc;

use crate::base::error::{Error, Result};

/// Strings of one size that follow each other in every item, and end at their first NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminatedField {
    /// Where the first starts in an item.
    pub offset: usize,
    /// Bytes of each.
    pub size: usize,
    /// How many there are.
    pub count: usize,
}

/// All such strings of items.
#[derive(Clone, Debug)]
pub(super) struct Terminated {
    fields: Arc<[TerminatedField]>,
    itemsize: usize,
}

impl Terminated {
    /// Those of items of `itemsize` bytes; `None` if there are none.
    pub(super) fn new(fields: &[TerminatedField], itemsize: usize) -> Result<Option<Self>> {
        for field in fields {
            let end = field.size.checked_mul(field.count).and_then(|bytes| bytes.checked_add(field.offset));
            if field.size == 0 || end.is_none_or(|end| end > itemsize) {
                return Err(Error::invalid(format!("{field:?} in items of {itemsize} bytes")));
            }
        }
        Ok((!fields.is_empty()).then(|| Self { fields: fields.into(), itemsize }))
    }

    /// Clears what stands behind the strings of `items`, the last of which may be cut.
    pub(super) fn clear_tails(&self, items: &mut [u8]) {
        for field in &*self.fields {
            for item in items.chunks_mut(self.itemsize) {
                let end = item.len().min(field.offset + field.size * field.count);
                let strings = item.get_mut(field.offset..end).unwrap_or_default();
                strings.chunks_mut(field.size).for_each(clear_tail);
            }
        }
    }
}

/// A string without a NUL stays as it is.
fn clear_tail(text: &mut [u8]) {
    if let Some(end) = text.iter().position(|&byte| byte == 0) {
        text[end..].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_behind_the_first_nul_become_zeros_and_others_stay() {
        let fields = [
            TerminatedField { offset: 1, size: 3, count: 2 },
            TerminatedField { offset: 8, size: 1, count: 1 },
        ];
        let terminated = Terminated::new(&fields, 10).unwrap().unwrap();
        let mut items = b"\0a\0xbcd\0e\x01\x01\0yzqr\0\0\0\x01".to_vec();
        terminated.clear_tails(&mut items);
        assert_eq!(items, b"\0a\0\0bcd\0e\x01\x01\0\0\0qr\0\0\0\x01");
        // An item that is cut.
        let mut cut = b"\0a\0xb\0d".to_vec();
        terminated.clear_tails(&mut cut[..6]);
        assert_eq!(cut, b"\0a\0\0b\0d");
    }

    #[test]
    fn strings_outside_of_their_item_are_refused() {
        for field in [(1, 3, 1), (0, 0, 1), (0, usize::MAX, 2), (4, 1, 0)] {
            let field = TerminatedField { offset: field.0, size: field.1, count: field.2 };
            assert!(Terminated::new(&[field], 3).is_err(), "{field:?}");
        }
        assert!(Terminated::new(&[], 3).unwrap().is_none());
    }
}
