//! An array as cells of four items along each axis, in C order; those at the far edges have fewer.
//!
//! Source: `docs/formats/codecs.md`, "ZFP", "Cells". Axis 0 is here the one along which items are neighbours: the last
//! one of the array.
//! Invariant: every item of the array is in one cell.

use super::number::Number;

/// Items of a cell along an axis.
const SIDE: usize = 4;
/// Lines of a cell of four axes.
const LINES_MAX: usize = 64;

/// Which item stands in for each of the four, where a cell has so many (1 to 4) along the axis.
const STAND_INS: [[usize; SIDE]; SIDE] = [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 2, 0], [0, 1, 2, 3]];

/// The cells of an array of `D` axes.
pub(super) struct Cells<const D: usize> {
    shape: [usize; D],
    strides: [usize; D],
    /// Where the lines of a whole cell begin, from its first item on.
    lines: [usize; LINES_MAX],
}

/// One cell.
pub(super) struct Place<const D: usize> {
    /// The number of its first item.
    first: usize,
    /// Its items along each axis.
    sizes: [usize; D],
}

impl<const D: usize> Cells<D> {
    /// Of an array of that shape, whose items can be counted; `None` for another number of axes.
    pub(super) fn new(shape: &[u32]) -> Option<Self> {
        let mut shape: [usize; D] = <[u32; D]>::try_from(shape).ok()?.map(|size| size as usize);
        shape.reverse();
        let mut stride = 1;
        let strides = shape.map(|size| {
            let own = stride;
            stride *= size;
            own
        });
        let mut cells = Self { shape, strides, lines: [0; LINES_MAX] };
        cells.lines = cells.lines_of(&[SIDE; D]);
        Some(cells)
    }

    /// All cells, in their order.
    #[inline(always)]
    pub(super) fn places(&self) -> impl Iterator<Item = Place<D>> {
        let mut next = Some([0; D]);
        std::iter::from_fn(move || {
            let starts = next.take()?;
            let mut after = starts;
            for (start, &size) in after.iter_mut().zip(&self.shape) {
                *start += SIDE;
                if *start < size {
                    next = Some(after);
                    break;
                }
                *start = 0;
            }
            let first = starts.iter().zip(&self.strides).map(|(start, stride)| start * stride).sum();
            let sizes = std::array::from_fn(|axis| (self.shape[axis] - starts[axis]).min(SIDE));
            Some(Place { first, sizes })
        })
    }

    /// Where the lines of a cell of these sizes begin; lines that it does not have are those that stand in for them.
    fn lines_of(&self, sizes: &[usize; D]) -> [usize; LINES_MAX] {
        std::array::from_fn(|line| {
            let beyond = (1..D).map(|axis| {
                let at = line >> (2 * (axis - 1)) & 3;
                STAND_INS[sizes[axis] - 1][at] * self.strides[axis]
            });
            beyond.sum()
        })
    }

    /// The items of a cell, with others in place of those that it does not have.
    #[inline(always)]
    pub(super) fn gather<T: Number, const N: usize>(&self, items: &[T::Bytes], place: &Place<D>) -> [T; N] {
        let mut cell = [T::ZERO; N];
        let (lines, _) = cell.as_chunks_mut::<SIDE>();
        if place.sizes == [SIDE; D] {
            for (line, start) in lines.iter_mut().zip(&self.lines) {
                let start = place.first + start;
                for (out, item) in line.iter_mut().zip(&items[start..start + SIDE]) {
                    *out = T::read(*item);
                }
            }
            return cell;
        }
        let columns = STAND_INS[place.sizes[0] - 1];
        for (line, start) in lines.iter_mut().zip(self.lines_of(&place.sizes)) {
            *line = columns.map(|column| T::read(items[place.first + start + column]));
        }
        cell
    }

    /// Puts the items of a cell to their places.
    #[inline(always)]
    pub(super) fn scatter<T: Number, const N: usize>(
        &self,
        cell: &[T; N],
        place: &Place<D>,
        items: &mut [T::Bytes],
    ) {
        let (lines, _) = cell.as_chunks::<SIDE>();
        if place.sizes == [SIDE; D] {
            for (line, start) in lines.iter().zip(&self.lines) {
                let start = place.first + start;
                for (out, value) in items[start..start + SIDE].iter_mut().zip(line) {
                    *out = value.write();
                }
            }
            return;
        }
        for (number, (line, start)) in lines.iter().zip(&self.lines).enumerate() {
            let is_inside = (1..D).all(|axis| number >> (2 * (axis - 1)) & 3 < place.sizes[axis]);
            if is_inside {
                let start = place.first + start;
                for (out, value) in items[start..].iter_mut().zip(&line[..place.sizes[0]]) {
                    *out = value.write();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_in_one_cell() {
        let items: Vec<_> = (0_u16..5 * 6 * 11).map(|number| f32::from(number).to_le_bytes()).collect();
        let cells = Cells::<3>::new(&[5, 6, 11]).unwrap();
        let mut out = vec![[0xff; 4]; items.len()];
        let mut count = 0;
        for place in cells.places() {
            let cell: [f32; 64] = cells.gather(&items, &place);
            cells.scatter(&cell, &place, &mut out);
            count += 1;
        }
        assert_eq!((out, count), (items, 2 * 2 * 3));
        assert!(Cells::<2>::new(&[1, 2, 3]).is_none());
    }

    #[test]
    fn missing_items_have_others_in_their_place() {
        let items = [1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0].map(f64::to_le_bytes);
        let cells = Cells::<2>::new(&[2, 3]).unwrap();
        let place = cells.places().next().unwrap();
        let cell: [f64; 16] = cells.gather(&items, &place);
        let [first, second] = [[1.0, 2.0, 3.0, 1.0], [4.0, 5.0, 6.0, 4.0]];
        assert_eq!(cell.as_chunks().0, [first, second, second, first]);
    }
}
