//! Where the bands of a wavelet transform lie in a plane, and how they are cut in code-blocks.
//!
//! In: sides and levels. Out: resolutions of [`Band`]s, bands of [`Cell`]s. The lowest band lies in the corner; those
//! of each level beside, below and across of what is lower.
//! Source: ISO/IEC 15444-1, B.5 to B.7, for an image and a tile that begin at the origin.

use crate::image::Geometry;
use crate::stream::Exponents;

/// A band within a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Band {
    pub(super) top: usize,
    pub(super) left: usize,
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// How many of the two directions are high-pass: the bits that samples of it have beyond those of the image.
    pub(super) gain: u32,
    /// How often the image was halved.
    pub(super) level: u32,
}

/// The levels that make sense for an image: no side is halved below one sample.
pub(super) fn levels(geometry: &Geometry, wanted: u32) -> u32 {
    wanted.min(geometry.columns.max(geometry.rows).ilog2())
}

/// A side after some halvings.
fn halved(len: usize, level: u32) -> usize {
    (len + (1 << level) - 1) >> level
}

/// The bands of each resolution, the lowest first.
pub(super) fn resolutions(columns: usize, rows: usize, levels: u32) -> Vec<Vec<Band>> {
    let levels = levels.min(usize::BITS - 2);
    let sides = |level| (halved(columns, level), halved(rows, level));
    let (low, short) = sides(levels);
    let lowest = Band { top: 0, left: 0, columns: low, rows: short, gain: 0, level: levels };
    let mut all = vec![vec![lowest]];
    for level in (1..=levels).rev() {
        let ((left, top), (wide, high)) = (sides(level), sides(level - 1));
        let (columns, rows) = (wide - left, high - top);
        all.push(vec![
            Band { top: 0, left, columns, rows: top, gain: 1, level },
            Band { top, left: 0, columns: left, rows, gain: 1, level },
            Band { top, left, columns, rows, gain: 2, level },
        ]);
    }
    all
}

/// How a band is cut in code-blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    band: Band,
    sides: Exponents,
    pub(super) across: usize,
    pub(super) down: usize,
}

/// A code-block within a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) top: usize,
    pub(super) left: usize,
    pub(super) columns: usize,
    pub(super) height: usize,
}

impl Band {
    /// The code-blocks, whose sides are powers of two.
    pub(super) fn blocks(&self, sides: Exponents) -> Blocks {
        let (across, down) = (halved(self.columns, sides.width), halved(self.rows, sides.height));
        // A band without samples has no code-blocks, whichever side is empty.
        let (across, down) = if across * down == 0 { (0, 0) } else { (across, down) };
        Blocks { band: *self, sides, across, down }
    }
}

impl Blocks {
    /// The code-blocks, row by row.
    pub(super) fn cells(self) -> impl Iterator<Item = Cell> {
        (0..self.across * self.down).map(move |number| {
            let (row, column) =
                ((number / self.across) << self.sides.height, (number % self.across) << self.sides.width);
            Cell {
                top: self.band.top + row,
                left: self.band.left + column,
                columns: (self.band.columns - column).min(1 << self.sides.width),
                height: (self.band.rows - row).min(1 << self.sides.height),
            }
        })
    }
}

impl Cell {
    /// The rows of the code-block within a plane with rows of `stride` items.
    pub(super) fn rows<'p, T>(
        &self,
        plane: &'p [T],
        stride: usize,
    ) -> impl ExactSizeIterator<Item = &'p [T]> {
        let Self { top, left, columns, height } = *self;
        (top..top + height).map(move |row| {
            let from = row * stride + left;
            plane.get(from..from + columns).unwrap_or_default()
        })
    }

    /// Puts rows of values, one behind the other, in the place of the code-block.
    pub(super) fn put(&self, plane: &mut [i32], stride: usize, values: &[i32]) {
        let rows = plane.chunks_mut(stride).skip(self.top).take(self.height);
        for (row, values) in rows.zip(values.chunks(self.columns)) {
            if let Some(out) = row.get_mut(self.left..self.left + self.columns) {
                out.copy_from_slice(values);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_one_code_block_of_one_band() {
        for (columns, rows, levels) in [(1, 1, 0), (1, 1, 3), (5, 3, 2), (130, 67, 5), (1, 9, 3), (64, 64, 6)]
        {
            let mut seen = vec![0; columns * rows];
            for band in resolutions(columns, rows, levels).concat() {
                for cell in band.blocks(Exponents { width: 4, height: 5 }).cells() {
                    assert!(cell.columns > 0 && cell.height > 0);
                    for row in cell.top..cell.top + cell.height {
                        seen[row * columns + cell.left..][..cell.columns].iter_mut().for_each(|n| *n += 1);
                    }
                }
            }
            assert!(seen.iter().all(|&times| times == 1), "{columns} {rows} {levels}");
        }
    }
}
