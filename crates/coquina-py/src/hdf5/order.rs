//! Where chunks are, of which libhdf5 tells wrong coordinates.
//!
//! Where one axis grows without end, files of HDF5 1.10 and later number their chunks with that axis in front. libhdf5
//! minds it where it looks for one chunk, but not where it lists them (`H5Dchunk_iter` and `H5Dget_chunk_info`, seen
//! in 2.0.0): then it takes the numbers for those of axes in their order, and all axes before the endless one are 0.
//!
//! In: coordinates that it told. Out: those that the chunk has.

/// The order of the chunks of a dataset whose one endless axis is not its first.
pub(super) struct Order {
    /// The endless axis.
    axis: usize,
    /// How many chunks there can be along each axis; the endless one has 0.
    counts: Vec<u64>,
    chunks: Vec<u64>,
}

impl Order {
    /// The order of a dataset that may grow so far, endless where there is no number; `None` if it is that of the axes.
    pub(super) fn of(maxshape: &[Option<u64>], chunks: &[u64]) -> Option<Self> {
        let axis = maxshape.iter().position(Option::is_none)?;
        let others = maxshape.iter().flatten().count();
        if axis == 0 || others + 1 != maxshape.len() || chunks.len() != maxshape.len() || chunks.contains(&0)
        {
            return None;
        }
        let counts = maxshape.iter().zip(chunks).map(|(most, chunk)| most.unwrap_or(0).div_ceil(*chunk));
        Some(Self { axis, counts: counts.collect(), chunks: chunks.to_vec() })
    }

    /// Of coordinates that were told, those that lie behind all others if axes stand in their order; `None` if that is
    /// certain. Nothing is stored there if they do not: the chunk would have a higher number than any that was told.
    pub(super) fn farthest<'a>(&self, told: impl Iterator<Item = &'a [u64]>) -> Option<&'a [u64]> {
        let mut farthest: Option<&[u64]> = None;
        for start in told {
            if start.iter().take(self.axis).any(|&at| at > 0) {
                return None;
            }
            if farthest.is_none_or(|farthest| start.get(self.axis) > farthest.get(self.axis)) {
                farthest = Some(start);
            }
        }
        farthest.filter(|start| start.get(self.axis) > Some(&0))
    }

    /// Where the chunk is, of which `told` was told.
    pub(super) fn place(&self, told: &[u64]) -> Vec<u64> {
        let mut number = 0_u64;
        // The count of the endless axis is 0, and before it there is nothing.
        for ((&at, &count), &chunk) in told.iter().zip(&self.counts).zip(&self.chunks).skip(self.axis) {
            number = number.saturating_mul(count).saturating_add(at / chunk);
        }
        let mut start = vec![0; told.len()];
        for axis in (0..told.len()).rev().filter(|&axis| axis != self.axis) {
            let count = self.counts[axis].max(1);
            start[axis] = number % count * self.chunks[axis];
            number /= count;
        }
        start[self.axis] = number.saturating_mul(self.chunks[self.axis]);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_endless_axis_behind_others_changes_the_order() {
        for maxshape in [&[None, Some(3)][..], &[None], &[Some(2), Some(3)], &[None, None], &[]] {
            assert!(Order::of(maxshape, &vec![1; maxshape.len()]).is_none(), "{maxshape:?}");
        }
        assert!(Order::of(&[Some(3), None], &[1, 1]).is_some());
    }

    #[test]
    fn places_are_those_of_the_numbers_with_the_endless_axis_in_front() {
        // 2 chunks, endless, 3 chunks: the number is (y * 2 + x) * 3 + z, and is told as (0, number / 3, number % 3).
        let order = Order::of(&[Some(5), None, Some(3)], &[3, 2, 1]).unwrap();
        for number in 0..60 {
            let told = [0, number / 3 * 2, number % 3];
            let place = [number / 3 % 2 * 3, number / 6 * 2, number % 3];
            assert_eq!(order.place(&told), place, "{number}");
        }
    }

    #[test]
    fn the_farthest_is_asked_for_unless_the_order_is_certain() {
        let order = Order::of(&[Some(3), None], &[1, 2]).unwrap();
        let farthest =
            |told: &[[u64; 2]]| order.farthest(told.iter().map(<[u64; 2]>::as_slice)).map(<[u64]>::to_vec);
        assert_eq!(farthest(&[]), None);
        assert_eq!(farthest(&[[0, 0]]), None);
        assert_eq!(farthest(&[[0, 8], [1, 2]]), None);
        assert_eq!(farthest(&[[0, 2], [0, 8], [0, 4]]), Some(vec![0, 8]));
    }
}
