//! What the chunks of an array have beyond bytes: the shape of their blocks, and what the items are.
//!
//! Codecs and filters that work along axes need it. A chunk alone does not say it: it stands in the metalayer of the
//! array that the chunk is of.

/// The most axes of a block.
const AXES_MAX: usize = 16;

/// The shape of every block of an array's chunks, and the size and kind of its items. [`BlockLayout::default`] is for
/// chunks that are of no array: it has no axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockLayout {
    axes: u8,
    sizes: [u32; AXES_MAX],
    item_bytes: u32,
    kind: u8,
    is_big_endian: bool,
}

impl BlockLayout {
    /// Of no array.
    pub const UNKNOWN: Self =
        Self { axes: 0, sizes: [0; AXES_MAX], item_bytes: 0, kind: 0, is_big_endian: false };

    /// Blocks of `shape` items of `item_bytes` bytes. What the formats cannot count is as if it were not known.
    /// `dtype` is NumPy's text of it, empty if it is not known.
    pub fn new(shape: &[u64], item_bytes: usize, dtype: &str) -> Self {
        let mut layout = Self::default();
        let (Some(sizes), Ok(item_bytes)) = (layout.sizes.get_mut(..shape.len()), u32::try_from(item_bytes))
        else {
            return Self::default();
        };
        for (size, &len) in sizes.iter_mut().zip(shape) {
            let Ok(len) = u32::try_from(len) else { return Self::default() };
            *size = len;
        }
        let axes = u8::try_from(shape.len()).unwrap_or(0);
        let is_big_endian = dtype.starts_with('>');
        Self { axes, item_bytes, kind: kind_of(dtype), is_big_endian, ..layout }
    }

    /// Items along each axis; none if it is not known.
    pub fn shape(&self) -> &[u32] {
        self.sizes.get(..usize::from(self.axes)).unwrap_or_default()
    }

    /// Bytes of an item, also above what a chunk's header can say; `None` if it is not known.
    pub fn item_bytes(&self) -> Option<usize> {
        (self.item_bytes > 0).then_some(self.item_bytes as usize)
    }

    /// The letter that NumPy has for the kind of the items, such as `f`, `i`, `u`; `None` if it is not known.
    pub fn kind(&self) -> Option<char> {
        (self.kind > 0).then_some(char::from(self.kind))
    }

    /// Whether the items are known to have their highest byte first.
    pub fn is_big_endian(&self) -> bool {
        self.is_big_endian
    }

    /// The shape, if its items are exactly `bytes` bytes and no axis is empty.
    pub fn shape_of(&self, bytes: usize) -> Option<&[u32]> {
        let mut total = self.item_bytes()?;
        for &size in self.shape() {
            total = total.checked_mul(size as usize).filter(|&total| (1..=bytes).contains(&total))?;
        }
        (total == bytes && self.axes > 0).then(|| self.shape())
    }
}

/// The letter of a dtype's kind; 0 for none.
fn kind_of(dtype: &str) -> u8 {
    match dtype.trim_start_matches(['<', '>', '|', '=']).as_bytes() {
        [kind, ..] if kind.is_ascii_alphabetic() => *kind,
        [b'[', ..] => b'V',
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_told_only_for_as_many_bytes_as_it_has() {
        let layout = BlockLayout::new(&[3, 5], 4, "<f4");
        assert_eq!(layout.shape_of(60), Some(&[3, 5][..]));
        assert_eq!((layout.shape_of(59), layout.shape_of(0)), (None, None));
        assert_eq!((layout.kind(), layout.item_bytes()), (Some('f'), Some(4)));
        assert_eq!(BlockLayout::new(&[3, 0], 4, "").shape_of(0), None);
        assert!(BlockLayout::new(&[3], 4, ">f4").is_big_endian() && !layout.is_big_endian());
        assert_eq!(BlockLayout::default().shape_of(4), None);
    }

    #[test]
    fn what_cannot_be_counted_is_not_known() {
        for shape in [&[1; 17][..], &[u64::MAX]] {
            assert_eq!(BlockLayout::new(shape, 4, "<f4"), BlockLayout::default());
        }
        let long = BlockLayout::new(&[u64::from(u32::MAX); 16], 8, "");
        assert_eq!((long.shape_of(usize::MAX), long.kind()), (None, None));
        assert_eq!(BlockLayout::new(&[1], 9, "[('a', '<i4')]").kind(), Some('V'));
    }
}
