//! Texts for the rows of a column: an array of offsets, one more than rows, and an array of the bytes of all texts.
//!
//! Offsets come from outside: what they say is checked against the bytes that there are before it is used.
//! Invariant: text that has as many bytes as before is changed in place; other text moves all that is behind it.

use std::ops::Range;
use std::sync::Arc;

use coquina_kernels::items::bytes_of;

use super::item::filled;
use super::item_part::ItemPart;
use super::part::{Part, PartRows, RowChoice, damage_of, other_kind, pieces, staying};
use super::texts::Texts;
use crate::array::{Array, Values, Window};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::query::{Column, Part as Gathered, scan_rows};

/// Text that is taken into memory at once.
const TEXT_BYTES: i64 = 32 << 20;

/// The arrays of texts.
pub(crate) struct TextPart {
    offsets: Arc<Array>,
    data: Arc<Array>,
    /// Text that is taken into memory at once.
    bytes_at_once: i64,
}

/// What becomes of the texts of a range, which are there: others in their place.
type Replace<'r> = dyn FnMut(&Range<u64>, Texts) -> Texts + 'r;

impl TextPart {
    /// The part of two arrays of one axis, of int64 and of bytes.
    pub(crate) fn new(offsets: Arc<Array>, data: Arc<Array>) -> Self {
        Self::by_runs(offsets, data, TEXT_BYTES)
    }

    /// The same, of which so much text is taken into memory at once.
    pub(super) fn by_runs(offsets: Arc<Array>, data: Arc<Array>, bytes_at_once: i64) -> Self {
        Self { offsets, data, bytes_at_once: bytes_at_once.max(1) }
    }

    fn offset(&self, row: u64, job: &Job<'_>) -> Result<i64> {
        Ok(self.read_offsets(row..row + 1, job)?.first().copied().unwrap_or(0))
    }

    fn read_offsets(&self, rows: Range<u64>, job: &Job<'_>) -> Result<Vec<i64>> {
        let choice = RowChoice::range(rows);
        filled(choice.count()?, &mut |out| items_of(&self.offsets).fill_by(choice, out, job))
    }

    /// The offset behind the last text of the first `rows` rows, which all are there.
    fn end(&self, rows: u64, job: &Job<'_>) -> Result<i64> {
        if len_of(&self.offsets) == 0 { Ok(0) } else { self.offset(rows, job) }
    }

    /// The texts of a range that begins at byte `first`.
    fn read(&self, rows: &Range<u64>, first: Option<i64>, job: &Job<'_>) -> Result<Texts> {
        if rows.is_empty() {
            return Ok(Texts::default());
        }
        let mut offsets = self.read_offsets(rows.start..rows.end + 1, job)?;
        let first = first.unwrap_or(offsets[0]);
        offsets[0] = first;
        let last = offsets[offsets.len() - 1];
        let wrong = || {
            let Range { start, end } = rows;
            Error::corrupt(format!("the offsets of rows {start} to {end} are no places of texts"))
        };
        let (Ok(from), Ok(to)) = (u64::try_from(first), u64::try_from(last)) else { return Err(wrong()) };
        if from > to || to > len_of(&self.data) {
            return Err(wrong());
        }
        let choice = RowChoice::Range { start: from, end: to };
        let bytes = filled(choice.count()?, &mut |out| items_of(&self.data).fill_by(choice, out, job))?;
        offsets.iter_mut().for_each(|at| *at = at.wrapping_sub(first));
        Texts::placed(offsets, bytes).map_err(|_| wrong())
    }

    /// The texts of rows that ascend.
    fn scan(&self, rows: &[u64]) -> Result<Texts> {
        let count = self.rows(&Job::default())?;
        let numbers: Vec<i64> = rows.iter().map(|row| row.cast_signed()).collect();
        let column = Column::Strings { offsets: &*self.offsets, bytes: &*self.data };
        match scan_rows(&numbers, count, &[column], &Job::default())?.pop() {
            Some(Gathered::Strings { offsets, bytes }) => Texts::placed(offsets, bytes),
            _ => Err(other_kind()),
        }
    }

    /// Puts texts where others stood, which begin at byte `first`; the arrays are long enough.
    fn put(&self, row: u64, first: i64, texts: &Texts, job: &Job<'_>) -> Result<()> {
        let start = first.unsigned_abs();
        put_items(&self.data, start, texts.bytes(), job)?;
        put_items(&self.offsets, row + 1, &ends_of(texts, first), job)
    }

    /// Cuts rows into runs of which neither the number nor, where a row alone is not, the text is large.
    fn runs(&self, rows: Range<u64>, job: &Job<'_>) -> Result<Vec<Range<u64>>> {
        let mut runs = Vec::new();
        for piece in pieces(rows.start, rows.end) {
            let offsets = self.read_offsets(piece.start..piece.end + 1, job)?;
            let mut low = 0;
            while low + 1 < offsets.len() {
                let limit = offsets[low].saturating_add(self.bytes_at_once);
                let fits = offsets[low..].iter().take_while(|&&end| end <= limit).count();
                let high = (low + fits.saturating_sub(1).max(1)).min(offsets.len() - 1);
                runs.push(piece.start + low as u64..piece.start + high as u64);
                low = high;
            }
        }
        Ok(runs)
    }

    /// Writes the texts of the rows from `first` on again, as `replace` changes them.
    ///
    /// They are put behind all others first, and then moved to their place: what is not yet read is never overwritten.
    fn rewrite(&self, first: u64, rows: u64, replace: &mut Replace<'_>, job: &Job<'_>) -> Result<()> {
        let begin = self.offset(first, job)?;
        let runs = self.runs(first..rows, job)?;
        if let [run] = &runs[..] {
            let texts = replace(run, self.read(run, None, job)?);
            let end = begin + texts.bytes().len().cast_signed() as i64;
            let grown = end.unsigned_abs().max(len_of(&self.data));
            resize(&self.data, grown, job)?;
            self.put(first, begin, &texts, job)?;
            return resize(&self.data, end.unsigned_abs(), job);
        }
        let waiting = self.end(rows, job)?.unsigned_abs();
        resize(&self.data, waiting, job)?;
        let (mut old_end, mut new_end) = (begin, begin);
        for run in &runs {
            let old = self.read(run, Some(old_end), job)?;
            old_end += old.bytes().len().cast_signed() as i64;
            let new = replace(run, old);
            append_items(&self.data, new.bytes(), job)?;
            put_items(&self.offsets, run.start + 1, &ends_of(&new, new_end), job)?;
            new_end += new.bytes().len().cast_signed() as i64;
        }
        let (mut from, mut to) = (waiting, begin.unsigned_abs());
        let end = len_of(&self.data);
        while from < end {
            let next = end.min(from.saturating_add(self.bytes_at_once.unsigned_abs()));
            let choice = RowChoice::Range { start: from, end: next };
            let bytes: Vec<u8> =
                filled(choice.count()?, &mut |out| items_of(&self.data).fill_by(choice, out, job))?;
            put_items(&self.data, to, &bytes, job)?;
            (from, to) = (next, to + (next - from));
        }
        resize(&self.data, new_end.unsigned_abs(), job)
    }
}

impl Part for TextPart {
    fn arrays(&self) -> Vec<&Arc<Array>> {
        vec![&self.offsets, &self.data]
    }

    fn rows(&self, job: &Job<'_>) -> Result<u64> {
        let rows = len_of(&self.offsets).saturating_sub(1);
        let bytes = len_of(&self.data).cast_signed();
        if rows == 0 || self.offset(rows, job)? <= bytes {
            return Ok(rows);
        }
        // The bytes of `low` rows are there, those of `high` are not.
        let (mut low, mut high) = (0, rows);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.offset(middle, job)? <= bytes { low = middle } else { high = middle }
        }
        Ok(low)
    }

    fn append(&self, rows: &PartRows, job: &Job<'_>) -> Result<()> {
        let PartRows::Texts(texts) = rows else { return Err(other_kind()) };
        if len_of(&self.offsets) == 0 {
            append_items(&self.offsets, bytes_of(&[0_i64]), job)?;
        }
        let end = self.offset(len_of(&self.offsets) - 1, job)?;
        append_items(&self.data, texts.bytes(), job)?;
        append_items(&self.offsets, &ends_of(texts, end), job)
    }

    fn write(&self, start: u64, rows: &PartRows, job: &Job<'_>) -> Result<()> {
        let PartRows::Texts(texts) = rows else { return Err(other_kind()) };
        let stop = start + texts.len() as u64;
        if texts.is_empty() {
            return Ok(());
        }
        let before = self.read_offsets(start..stop + 1, job)?;
        let is_same =
            before.iter().zip(texts.offsets()).all(|(old, new)| old.wrapping_sub(before[0]) == *new);
        if is_same && before[0] >= 0 {
            return put_items(&self.data, before[0].unsigned_abs(), texts.bytes(), job);
        }
        let count = len_of(&self.offsets).saturating_sub(1);
        self.rewrite(
            start,
            count,
            &mut |range, old| {
                let (low, high) = (range.start.max(start), range.end.min(stop));
                if low >= high {
                    return old;
                }
                let place = |row: u64, first: u64| usize::try_from(row - first).unwrap_or(usize::MAX);
                let mut new = old.cut(0..place(low, range.start));
                new.extend(&texts.cut(place(low, start)..place(high, start)));
                new.extend(&old.cut(place(high, range.start)..usize::MAX));
                new
            },
            job,
        )
    }

    fn write_at(&self, places: &[u64], rows: &PartRows, job: &Job<'_>) -> Result<()> {
        let PartRows::Texts(texts) = rows else { return Err(other_kind()) };
        // The last value of each row, in the order of the rows.
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&at| places[at]);
        let last = |at: &usize| order.get(at + 1).is_none_or(|&next| places[next] != places[order[*at]]);
        let order: Vec<usize> = (0..order.len()).filter(last).map(|at| order[at]).collect();
        let Some(&first) = order.first() else { return Ok(()) };
        let mut waiting = order.iter().peekable();
        let count = len_of(&self.offsets).saturating_sub(1);
        self.rewrite(
            places[first],
            count,
            &mut |range, old| {
                let mut new = Texts::default();
                for (at, row) in range.clone().enumerate() {
                    let given = waiting.next_if(|&&given| places[given] == row);
                    let text = given.map_or_else(|| old.bytes_at(at), |&given| texts.bytes_at(given));
                    new.push_bytes(text.unwrap_or_default());
                }
                new
            },
            job,
        )
    }

    fn remove(&self, gone: &[u64], rows: u64, job: &Job<'_>) -> Result<()> {
        let Some(&first) = gone.first() else { return self.truncate(rows, job) };
        let begin = self.offset(first, job)?;
        let (mut to, mut old_end, mut new_end) = (first, begin, begin);
        for run in self.runs(first..rows, job)? {
            let old = self.read(&run, Some(old_end), job)?;
            old_end += old.bytes().len().cast_signed() as i64;
            let mut kept = Texts::default();
            staying(&run, gone).for_each(|rows| kept.extend(&old.cut(rows)));
            self.put(to, new_end, &kept, job)?;
            // The offset of the next run is kept in `old_end`: it may just have been overwritten.
            to += kept.len() as u64;
            new_end += kept.bytes().len().cast_signed() as i64;
        }
        self.truncate(to, job)
    }

    fn truncate(&self, rows: u64, job: &Job<'_>) -> Result<()> {
        if len_of(&self.offsets) == 0 {
            append_items(&self.offsets, bytes_of(&[0_i64]), job)?;
        }
        let end = u64::try_from(self.end(rows, job)?);
        let end = end.map_err(|_| Error::corrupt(format!("the offset behind row {rows} is no place")))?;
        if len_of(&self.offsets) > rows + 1 {
            resize(&self.offsets, rows + 1, job)?;
        }
        if len_of(&self.data) > end { resize(&self.data, end, job) } else { Ok(()) }
    }

    fn grow(&self, rows: u64, job: &Job<'_>) -> Result<()> {
        let before = len_of(&self.offsets).saturating_sub(1);
        let end = self.end(before, job)?;
        resize(&self.offsets, rows + 1, job)?;
        if end == 0 || rows <= before {
            return Ok(());
        }
        let choice = RowChoice::Range { start: before + 1, end: rows + 1 };
        let values = Values::Uniform(bytes_of(std::slice::from_ref(&end)));
        self.offsets.write(&choice.selection(), window(&self.offsets), values, job)
    }

    fn fill(&self, _rows: RowChoice<'_>, _out: &mut [u8]) -> Result<()> {
        Err(Error::invalid("texts are no items"))
    }

    fn texts(&self, rows: RowChoice<'_>) -> Result<Texts> {
        let list = match rows {
            RowChoice::Range { start, end } => {
                return self.read(&(start..end.max(start)), None, &Job::default());
            }
            RowChoice::List(list) => list,
        };
        let mut ascending = list.to_vec();
        ascending.sort_unstable();
        ascending.dedup();
        let found = self.scan(&ascending)?;
        if ascending == list {
            return Ok(found);
        }
        let place = |row: &u64| ascending.binary_search(row).unwrap_or(usize::MAX);
        Ok(list.iter().map(|row| found.bytes_at(place(row)).unwrap_or_default()).collect())
    }

    fn verify(&self, rows: u64) -> Result<Vec<String>> {
        let mut found = damage_of(&self.offsets)?;
        found.extend(damage_of(&self.data)?);
        if !found.is_empty() {
            return Ok(found);
        }
        let runs = match self.runs(0..rows, &Job::default()) {
            Ok(runs) => runs,
            Err(error) => return Ok(vec![error.to_string()]),
        };
        for run in runs {
            let checked = self.read(&run, None, &Job::default()).and_then(|texts| texts.check_utf8());
            if let Err(error) = checked {
                found.push(format!("rows {} to {}: {error}", run.start, run.end));
            }
        }
        Ok(found)
    }
}

/// Where texts end, behind bytes that end at `first`: items of the array of offsets.
fn ends_of(texts: &Texts, first: i64) -> Vec<u8> {
    let ends: Vec<i64> = texts.offsets()[1..].iter().map(|at| at + first).collect();
    bytes_of(&ends).to_vec()
}

fn items_of(array: &Arc<Array>) -> ItemPart {
    ItemPart::new(Arc::clone(array), None)
}

fn len_of(array: &Array) -> u64 {
    array.grid().shape().first().copied().unwrap_or(0)
}

fn window(array: &Array) -> Window {
    Window { offset: 0, bytes: array.typesize() }
}

fn resize(array: &Array, len: u64, job: &Job<'_>) -> Result<()> {
    if len_of(array) == len { Ok(()) } else { array.resize(&[len], job) }
}

fn append_items(array: &Array, bytes: &[u8], job: &Job<'_>) -> Result<()> {
    let count = bytes.len() / array.typesize();
    if count == 0 { Ok(()) } else { array.append(0, count as u64, Values::Bytes(bytes), job) }
}

fn put_items(array: &Array, start: u64, bytes: &[u8], job: &Job<'_>) -> Result<()> {
    let count = (bytes.len() / array.typesize()) as u64;
    if count == 0 {
        return Ok(());
    }
    let choice = RowChoice::Range { start, end: start.saturating_add(count) };
    array.write(&choice.selection(), window(array), Values::Bytes(bytes), job)
}
