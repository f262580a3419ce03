//! Search parameters of libzstd for each level and shape of stream.
//!
//! Chosen by measurement: the size that C-Blosc2 reaches at the level, in less time. They are fixed for a level,
//! where libzstd would choose by the length of the input: what is left behind leading noise is shorter than a
//! block, and must not be searched by the slower rules for short inputs. libzstd lowers windows and tables to
//! the input by itself.

use super::Shape;

/// windowLog, chainLog, hashLog, searchLog, minMatch, targetLength and strategy.
pub(super) type Row = [u32; 7];

/// How to search one stream: a level of libzstd, explicit parameters, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Level(i32),
    Row(Row),
    Literals,
}

use Choice::{Level, Row as Explicit};

/// The least search: for streams that repeat nothing it finds as much as the greatest.
pub(super) const MATCHLESS: Choice = Level(1);

/// Level 3 for 128 KiB, with smaller tables.
const TWO: Choice = Explicit([17, 14, 15, 2, 5, 0, 2]);
const LEVEL_4_AT_128K: Choice = Explicit([17, 17, 17, 2, 4, 0, 2]);
const LEVEL_5_AT_256K: Choice = Explicit([18, 17, 18, 5, 5, 2, 3]);
const LEVEL_6_AT_256K: Choice = Explicit([18, 18, 19, 3, 5, 4, 4]);
const LEVEL_8_AT_256K: Choice = Explicit([18, 18, 19, 4, 4, 8, 5]);
/// Level 9 for 256 KiB, with searchLog 3 in place of 5.
const LEVEL_9_AT_256K: Choice = Explicit([18, 18, 19, 3, 4, 8, 5]);
/// Without matches of four bytes, numbers of four and eight bytes are as short, and there are fewer matches to decode.
const WIDE_PLANES: Choice = Explicit([18, 17, 18, 5, 5, 16, 4]);
const LEVEL_10: Choice = Explicit([20, 20, 21, 5, 5, 16, 5]);
const LEVEL_11: Choice = Explicit([20, 20, 21, 6, 5, 16, 5]);
/// Level 18 with targetLength 128 in place of 64: level 22's size within 0.3 % in two thirds of its time.
const LEVEL_18: Choice = Explicit([20, 21, 21, 6, 3, 128, 8]);

/// The search for one stream at our `level` of 1..=9, of items of `typesize` bytes.
pub(super) fn choice(level: u8, shape: Shape, typesize: usize) -> Choice {
    match (level, shape) {
        (0 | 1, _) => Level(1),
        (2, _) => TWO,
        (3, Shape::BitPlanes) => LEVEL_4_AT_128K,
        (3, _) => Level(5),
        (4, Shape::Plain) => LEVEL_6_AT_256K,
        (4, Shape::BitPlanes) => LEVEL_5_AT_256K,
        (4, _) => Level(6),
        (5, Shape::Plain) => LEVEL_8_AT_256K,
        (5, Shape::Planes) if matches!(typesize, 4 | 8) => WIDE_PLANES,
        (5, Shape::Planes) => Level(7),
        (5, Shape::BitPlanes) => LEVEL_9_AT_256K,
        (5, Shape::DeltaPlanes) => Level(8),
        (6, _) => LEVEL_10,
        (7 | 8, _) => LEVEL_11,
        _ => LEVEL_18,
    }
}

/// Whether leading noise is cut off: where the search is so fast that looking for noise would not pay, it is not.
pub(super) fn cuts_noise(level: u8, shape: Shape) -> bool {
    match level {
        0..=2 => false,
        3..=5 => shape != Shape::Plain,
        _ => true,
    }
}
