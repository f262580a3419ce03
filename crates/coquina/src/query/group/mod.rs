//! Groups of rows with equal keys, and what the values of each come to.
//!
//! In: a condition or none, columns of keys, values with an aggregate each, which rows. Out: the keys of the groups
//! in the order of their first rows, and the results beside them. Each task numbers the keys of its own rows and
//! folds its values into a cell for each; the pieces are merged in order. Memory: what is known of all groups, which
//! has a limit, and as much for a piece of each thread.
//! Invariant: neither the groups nor a bit of the results depend on the number of threads.

mod aggregates;
mod cells;
mod columns;
mod keys;
mod table;
#[cfg(test)]
mod tests;

use coquina_kernels::Type;
use coquina_kernels::items::items;

use super::gather::gather;
use super::hashing::Hashing;
use super::rows::Rows;
use super::walk::{Picked, Report, Visit, Walked};
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::ordered::Take;
use crate::base::pool::Job;
use crate::base::room::with_aligned;
pub use aggregates::{Aggregate, Aggregation};
use columns::{Column, column_of};
use keys::Keys;
pub use keys::{Key, KeyKind};
use table::Table;

/// Values of which each group gets a result.
#[derive(Clone, Copy)]
pub struct Values<'q> {
    /// An item for each row.
    pub source: &'q dyn BoxSource,
    /// What the items are; none for bytes, which have counts and ends alone.
    pub ty: Option<Type>,
    /// What they come to.
    pub aggregation: Aggregation,
}

/// What is asked for.
#[derive(Clone, Copy)]
pub struct Grouping<'q> {
    /// Which rows match: items of one byte, true but for 0. All, if there is none.
    pub condition: Option<&'q dyn BoxSource>,
    /// Rows with the same items of all of these are a group; without any, all rows are.
    pub keys: &'q [Key<'q>],
    /// What is aggregated.
    pub values: &'q [Values<'q>],
    /// Which rows are looked at.
    pub rows: Rows,
    /// No more bytes than this may be known of all groups.
    pub bytes_max: u64,
}

/// What a grouping found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grouped {
    /// How many groups there are.
    pub groups: usize,
    /// For each column of the keys its items, one for each group.
    pub keys: Vec<Vec<u8>>,
    /// For each of the values the results, one for each group.
    pub results: Vec<Vec<u8>>,
    /// How many rows match.
    pub matched: u64,
    /// What was done for it.
    pub report: Report,
}

/// Groups the rows that match.
///
/// # Errors
/// `OutOfBounds` for rows that a source does not have, `Invalid` for sources of other than one axis and items of
/// another size, `Unsupported` for aggregates that items of a type have not, `Limit` for more groups than may be
/// known, and what goes wrong with reading.
pub fn group_by(grouping: &Grouping<'_>, job: &Job<'_>) -> Result<Grouped> {
    let gathering = Gathering { grouping, keys: Keys::new(grouping.keys)?, hashing: Hashing::new() };
    for (number, values) in grouping.values.iter().enumerate() {
        gathering.column(values).map_err(|e| e.at(format!("values {number}")))?;
    }
    let columns = grouping.keys.iter().map(|key| key.source).chain(grouping.values.iter().map(|v| v.source));
    let walked = Walked {
        condition: grouping.condition,
        columns: columns.collect(),
        rows: grouping.rows,
        limit: None,
    };
    let whole = Whole { gathering: &gathering, piece: gathering.piece() };
    let (whole, matched, report) = walked.run(&gathering, whole, job)?;
    let Piece { table, columns, .. } = whole.piece;
    Ok(Grouped {
        groups: table.len(),
        keys: gathering.keys.split(table.keys()),
        results: columns.iter().map(|column| column.finish()).collect(),
        matched,
        report,
    })
}

/// What is known of the groups of a task, and of all of them.
struct Piece {
    table: Table,
    columns: Vec<Box<dyn Column>>,
    /// Memory for the numbers of the groups of the rows of a box.
    numbers: Vec<u32>,
    /// Memory for the same of the rows without NaN.
    kept: Vec<u32>,
}

impl Piece {
    fn grow(&mut self) {
        let groups = self.table.len();
        self.columns.iter_mut().for_each(|column| column.grow(groups));
    }

    fn check(&self, bytes_max: u64) -> Result<()> {
        let bytes = self.table.bytes() + self.columns.iter().map(|column| column.bytes()).sum::<usize>();
        // Slots without keys are no groups.
        if bytes as u64 > bytes_max && self.table.len() > 1 {
            return Err(Error::limit(format!("groups: more than {bytes_max} bytes of keys and results")));
        }
        Ok(())
    }
}

/// A grouping that is going on.
struct Gathering<'g> {
    grouping: &'g Grouping<'g>,
    keys: Keys<'g>,
    hashing: Hashing,
}

impl Gathering<'_> {
    fn column(&self, values: &Values<'_>) -> Result<Box<dyn Column>> {
        let (found, ty) = (values.source.item_bytes(), values.ty);
        if let Some(ty) = ty
            && ty.bytes() != found
        {
            let name = ty.name();
            return Err(Error::invalid(format!("items of {found} bytes are no {name}")));
        }
        if found == 0 {
            return Err(Error::invalid("items of no bytes"));
        }
        column_of(values.aggregation.aggregate, ty, found, self.hashing)
    }
}

impl Visit for Gathering<'_> {
    type Piece = Piece;

    fn piece(&self) -> Piece {
        // That there is a column for each has been seen.
        let columns = self.grouping.values.iter().filter_map(|values| self.column(values).ok()).collect();
        let table = Table::new(self.keys.width, self.hashing);
        Piece { table, columns, numbers: Vec::new(), kept: Vec::new() }
    }

    fn visit(&self, picked: &Picked<'_>, piece: &mut Piece) -> Result<bool> {
        piece.numbers.clear();
        let too_large = || Error::limit(format!("{} keys of {} bytes", picked.count, self.keys.width));
        let bytes = picked.count.checked_mul(self.keys.width).ok_or_else(too_large)?;
        let mut is_decoded = with_aligned(|room| {
            let keys = room.room(bytes);
            let is_decoded = self.keys.read(picked, keys)?;
            piece.table.number(keys, &mut piece.numbers)?;
            Result::<bool>::Ok(is_decoded)
        })?;
        piece.grow();
        with_aligned(|room| {
            let mut there: Option<&Values<'_>> = None;
            for (values, column) in self.grouping.values.iter().zip(&mut piece.columns) {
                if !values.aggregation.needs_values() {
                    column.fold(&piece.numbers, &mut [])?;
                    continue;
                }
                let bytes = picked.count * values.source.item_bytes();
                let room = room.room(bytes);
                if there.is_none_or(|there| !there.has_items_of(values)) {
                    is_decoded |= gather(values.source, picked, room)?;
                    make_truths(values.ty, room);
                }
                there = Some(values).filter(|values| !values.aggregation.changes_values());
                let numbers = if values.aggregation.skips_nan {
                    keep_numbers(values.ty, room, &piece.numbers, &mut piece.kept)
                } else {
                    &piece.numbers
                };
                column.fold(numbers, room)?;
            }
            Result::<()>::Ok(())
        })?;
        piece.check(self.grouping.bytes_max)?;
        Ok(is_decoded)
    }
}

impl Values<'_> {
    fn has_items_of(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self.source, other.source) && self.ty == other.ty
    }
}

/// Makes bytes that are true but for 0 either 0 or 1.
fn make_truths(ty: Option<Type>, values: &mut [u8]) {
    if ty == Some(Type::Bool) {
        KeyKind::Bool.make_same(values);
    }
}

/// Moves the values that are no NaN to the front; the numbers of their groups.
fn keep_numbers<'n>(
    ty: Option<Type>,
    values: &mut [u8],
    all: &'n [u32],
    kept: &'n mut Vec<u32>,
) -> &'n [u32] {
    let is_number: fn(&[u8]) -> bool = match ty {
        Some(Type::F32 | Type::C64) => |item| items::<f32>(item).iter().all(|x| !x.is_nan()),
        Some(Type::F64 | Type::C128) => |item| items::<f64>(item).iter().all(|x| !x.is_nan()),
        _ => return all,
    };
    let width = ty.map_or(1, Type::bytes);
    kept.clear();
    for (row, &number) in all.iter().enumerate() {
        let item = row * width..(row + 1) * width;
        if is_number(&values[item.clone()]) {
            values.copy_within(item, kept.len() * width);
            kept.push(number);
        }
    }
    kept
}

/// What is known of all groups.
struct Whole<'w> {
    gathering: &'w Gathering<'w>,
    piece: Piece,
}

impl Take<Piece> for Whole<'_> {
    type Rest = ();

    fn take(&mut self, piece: Piece) -> Result<()> {
        let numbers = self.piece.table.merge(&piece.table)?;
        self.piece.grow();
        for (column, more) in self.piece.columns.iter_mut().zip(piece.columns) {
            column.merge(more, &numbers)?;
        }
        self.piece.check(self.gathering.grouping.bytes_max)
    }
}
