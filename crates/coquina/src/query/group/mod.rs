//! Groups of rows with equal keys, and what the values of each come to.
//!
//! In: a condition or none, columns of keys, values with an aggregate each, which rows. Out: the keys of the groups
//! in the order of their first rows, and the results beside them. Each task numbers the keys of its own rows and
//! folds its values into a cell for each; texts have codes in a piece. The pieces are merged in order. Memory: what is known of all groups, which
//! has a limit, and as much for a piece of each thread.
//! Invariant: neither the groups nor a bit of the results depend on the number of threads.

mod aggregates;
mod cells;
mod column;
mod columns;
mod complex;
mod heads;
mod keys;
mod places;
mod slots;
mod table;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_texts;
mod texts;
mod values;

use std::sync::atomic::{AtomicUsize, Ordering};

use super::hashing::Hashing;
use super::rows::Rows;
use super::scan::Part;
use super::walk::{Picked, Report, Visit, Walked};
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::ordered::Take;
use crate::base::pool::Job;
use crate::base::scratch::with_aligned_scratch;
pub use aggregates::{Aggregate, Aggregation};
use column::Column;
use columns::column_of;
pub use keys::{Key, KeyKind};
use keys::{Keys, check_mask};
use table::Table;
use texts::Texts;
pub use values::Values;
use values::{Numbers, fold_all};

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
    /// For each column of the keys its items or texts, one for each group.
    pub keys: Vec<Part>,
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
/// known, `Corrupt` for texts whose offsets do not rise or leave the bytes, and what goes wrong with reading.
pub fn group_by(grouping: &Grouping<'_>, job: &Job<'_>) -> Result<Grouped> {
    let Grouping { rows, keys, values, .. } = *grouping;
    let gathering = Gathering {
        grouping,
        keys: Keys::new(keys, &rows)?,
        hashing: Hashing::new(),
        groups_of_a_piece: AtomicUsize::new(0),
    };
    for (number, values) in values.iter().enumerate() {
        gathering.column(values).map_err(|e| e.at(format!("values {number}")))?;
    }
    let of_values = values.iter().flat_map(|values| std::iter::once(values.source).chain(values.mask));
    let columns = keys.iter().flat_map(Key::sources).chain(of_values).collect();
    let walked = Walked { condition: grouping.condition, columns, rows, limit: None };
    let whole = Whole { gathering: &gathering, piece: gathering.piece() };
    let (whole, matched, report) = walked.run(&gathering, whole, job)?;
    let Piece { table, texts, columns, .. } = whole.piece;
    Ok(Grouped {
        groups: table.len(),
        keys: gathering.keys.split(table.keys(), &texts),
        results: columns.iter().map(|column| column.finish()).collect(),
        matched,
        report,
    })
}

/// What is known of the groups of a task, and of all of them.
struct Piece {
    table: Table,
    /// The texts of each column of the keys that has any.
    texts: Vec<Option<Texts>>,
    columns: Vec<Box<dyn Column>>,
    numbers: Numbers,
}

impl Piece {
    fn grow(&mut self) {
        let groups = self.table.len();
        self.columns.iter_mut().for_each(|column| column.grow(groups));
    }

    fn check(&self, bytes_max: u64) -> Result<()> {
        let texts = self.texts.iter().flatten().map(Texts::bytes).sum::<usize>();
        let columns = self.columns.iter().map(|column| column.bytes()).sum::<usize>();
        let bytes = self.table.bytes() + texts + columns;
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
    /// How many groups the last piece had.
    groups_of_a_piece: AtomicUsize,
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
        check_mask(values.mask)?;
        column_of(values.aggregation.aggregate, ty, found, self.hashing)
    }
}

impl Visit for Gathering<'_> {
    type Piece = Piece;

    fn piece(&self) -> Piece {
        // That there is a column for each has been seen.
        let columns = self.grouping.values.iter().filter_map(|values| self.column(values).ok()).collect();
        // Mostly a piece has as many groups as another one; no result depends on it.
        let expected = self.groups_of_a_piece.load(Ordering::Relaxed);
        let table = self.keys.table(self.hashing, expected);
        let texts = self.keys.texts(self.hashing, expected);
        Piece { table, texts, columns, numbers: Numbers::default() }
    }

    fn visit(&self, picked: &Picked<'_>, piece: &mut Piece) -> Result<bool> {
        piece.numbers.all.clear();
        let too_large = || Error::limit(format!("{} keys of {} bytes", picked.count, self.keys.width));
        let bytes = picked.count.checked_mul(self.keys.width).ok_or_else(too_large)?;
        let mut is_decoded = with_aligned_scratch(|room| {
            let keys = room.room(bytes);
            let is_decoded = self.keys.read(picked, &mut piece.texts, keys)?;
            piece.table.number(keys, &mut piece.numbers.all)?;
            Result::<bool>::Ok(is_decoded)
        })?;
        piece.grow();
        is_decoded |= fold_all(self.grouping.values, picked, &mut piece.numbers, &mut piece.columns)?;
        piece.check(self.grouping.bytes_max)?;
        Ok(is_decoded)
    }
}

/// What is known of all groups.
struct Whole<'w> {
    gathering: &'w Gathering<'w>,
    piece: Piece,
}

impl Take<Piece> for Whole<'_> {
    type Rest = ();

    fn take(&mut self, piece: Piece) -> Result<()> {
        self.gathering.groups_of_a_piece.store(piece.table.len(), Ordering::Relaxed);
        let numbers = if piece.texts.iter().any(Option::is_some) {
            // The same text has another code there.
            let (mut keys, mut numbers) = (piece.table.keys().to_vec(), Vec::new());
            self.gathering.keys.merge(&mut self.piece.texts, &piece.texts, &mut keys)?;
            self.piece.table.number(&keys, &mut numbers)?;
            numbers
        } else {
            self.piece.table.merge(&piece.table)?
        };
        self.piece.grow();
        for (column, more) in self.piece.columns.iter_mut().zip(piece.columns) {
            column.merge(more, &numbers)?;
        }
        self.piece.check(self.gathering.grouping.bytes_max)
    }
}
