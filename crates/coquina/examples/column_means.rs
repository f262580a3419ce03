//! Writes an array to a file, opens it again, reads a box of it, and computes the mean of each column.
//!
//! `cargo run --release -p coquina --example column_means [FILE]`

use std::path::{Path, PathBuf};

use coquina::array::{Access, Array, ArraySpec, Fill, OpenOptions, Selection, Target, Values, Window};
use coquina::chunk::{Params, Special};
use coquina::compute::reduce::reduce;
use coquina::frame::Kind;
use coquina::{Existing, Job, Result};
use coquina_kernels::Type;
use coquina_kernels::items::items;
use coquina_kernels::reduce::{Fold, Operation};

/// Items of 4 bytes that are written one behind another, so that an item is what lies between two of these.
const ITEM: Window = Window { offset: 0, bytes: 4 };
const SHAPE: [u64; 2] = [2000, 300];

/// What stands in a row and a column.
fn value(row: u64, column: u64) -> f32 {
    f32::from(u16::try_from(row * column % 1000).unwrap_or(0)) / 8.0
}

/// Writes the array, a slab of rows at a time; each write would be a commit, if the file had its name already.
///
/// # Errors
/// Those of the file system.
pub(crate) fn write(path: &Path) -> Result<()> {
    let spec = ArraySpec {
        shape: SHAPE.to_vec(),
        chunks: None,
        blocks: None,
        access: Access::Any,
        dtype: "<f4".into(),
        fill: Fill::Special(Special::Zeros),
        params: Params { typesize: ITEM.bytes, ..Params::default() },
        checksums: true,
        statistics: true,
        tuning: None,
    };
    let target = Target::File { path: path.into(), kind: Kind::Contiguous, existing: Existing::Replace };
    let array = Array::create(&spec, &target)?;
    for start in (0..SHAPE[0]).step_by(500) {
        let rows = start..start + 500;
        let slab: Vec<u8> = rows
            .clone()
            .flat_map(|row| (0..SHAPE[1]).flat_map(move |column| value(row, column).to_le_bytes()))
            .collect();
        let region = Selection::region(&[rows, 0..SHAPE[1]]);
        array.write(&region, ITEM, Values::Bytes(&slab), &Job::default())?;
    }
    array.publish()
}

/// Some items of the file, in C order: the blocks that hold them are read, verified and decoded, and no others.
///
/// # Errors
/// `Corrupt` with the chunk and block, if the file is damaged.
pub(crate) fn read(
    path: &Path,
    rows: std::ops::Range<u64>,
    columns: std::ops::Range<u64>,
) -> Result<Vec<f32>> {
    let array = Array::open(path, &OpenOptions::default())?;
    let region = Selection::region(&[rows, columns]);
    let items: u64 = region.shape().iter().product();
    let mut bytes = vec![0; usize::try_from(items).unwrap_or(usize::MAX) * ITEM.bytes];
    array.read(&region, ITEM, &mut bytes, &Job::default())?;
    Ok(bytes.chunks_exact(4).map(|item| f32::from_le_bytes([item[0], item[1], item[2], item[3]])).collect())
}

/// The mean of each column, folded block by block on all threads: the array is never in memory as a whole.
///
/// # Errors
/// As [`read`].
pub(crate) fn means(path: &Path) -> Result<Vec<f64>> {
    let array = Array::open(path, &OpenOptions::default())?;
    let fold = Fold { operation: Operation::Sum, skips_nan: false };
    let sums = reduce(&array, Type::F32, fold, &[true, false], &Job::default())?;
    let rows = f64::from(u32::try_from(SHAPE[0]).unwrap_or(u32::MAX));
    // Sums of float32 are float64.
    Ok(items::<f64>(sums.bytes()).iter().map(|sum| sum / rows).collect())
}

#[expect(clippy::print_stdout, reason = "a program that tells what it found")]
fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("means.b2nd"), PathBuf::from);
    write(&path)?;
    println!("{:?}", read(&path, 10..12, 5..8)?);
    println!("{:?}", &means(&path)?[..5]);
    Ok(())
}
