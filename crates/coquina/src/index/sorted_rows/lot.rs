//! Rows that were gathered together: the values of columns, one behind another, and the numbers of the rows.

use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::query::Part;

/// Rows with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortedRowsPart {
    /// How many.
    pub count: usize,
    /// The values of each column.
    pub parts: Vec<Part>,
    /// The numbers of the rows, if they were wanted.
    pub numbers: Option<Vec<i64>>,
}

/// Rows that are sorted at once.
pub(super) type Lot = SortedRowsPart;

impl Lot {
    /// Rows at some places. `widths`: the bytes of the items of each column, which texts do not have.
    pub(super) fn taken(&self, places: &[i64], widths: &[usize], job: &Job<'_>) -> Result<Self> {
        let bytes = self.nbytes() / self.count.max(1) * places.len();
        let mut parts = vec![Part::Items(Vec::new()); self.parts.len()];
        let tasks = self.parts.iter().zip(widths).zip(&mut parts);
        job.run(bytes, tasks, |((part, &width), out)| {
            *out = match part {
                Part::Items(items) => Part::Items(taken_items(items, width, places)),
                Part::Strings { offsets, bytes } => taken_texts(offsets, bytes, places),
            };
            Ok(0)
        })?;
        let numbers =
            self.numbers.as_ref().map(|numbers| places.iter().map(|&at| numbers[place(at)]).collect());
        Ok(Self { count: places.len(), parts, numbers })
    }

    /// Puts other rows behind these.
    pub(super) fn extend(&mut self, more: Self) -> Result<()> {
        if self.count == 0 {
            *self = more;
            return Ok(());
        }
        for (part, more) in self.parts.iter_mut().zip(more.parts) {
            match (part, more) {
                (Part::Items(items), Part::Items(more)) => push_all(items, &more)?,
                (Part::Strings { offsets, bytes }, Part::Strings { offsets: more_offsets, bytes: more }) => {
                    let end = offsets.last().copied().unwrap_or(0);
                    let more_offsets: Vec<i64> = more_offsets.iter().skip(1).map(|at| end + at).collect();
                    push_all(offsets, &more_offsets)?;
                    push_all(bytes, &more)?;
                }
                _ => {}
            }
        }
        if let (Some(numbers), Some(more)) = (&mut self.numbers, more.numbers) {
            push_all(numbers, &more)?;
        }
        self.count += more.count;
        Ok(())
    }

    /// The bytes that the values take.
    pub(super) fn nbytes(&self) -> usize {
        let part = |part: &Part| match part {
            Part::Items(items) => items.len(),
            Part::Strings { offsets, bytes } => size_of_val(&offsets[..]) + bytes.len(),
        };
        self.parts.iter().map(part).sum::<usize>()
            + self.numbers.as_ref().map_or(0, |all| size_of_val(&all[..]))
    }
}

fn push_all<T: Copy>(all: &mut Vec<T>, more: &[T]) -> Result<()> {
    let count = all.len();
    all.try_reserve(more.len()).map_err(|_| Error::limit(format!("{count} values and more at once")))?;
    all.extend_from_slice(more);
    Ok(())
}

/// Items of so many bytes at some places.
fn taken_items(items: &[u8], width: usize, places: &[i64]) -> Vec<u8> {
    fn of<const N: usize>(items: &[u8], places: &[i64]) -> Vec<u8> {
        let (items, _) = items.as_chunks::<N>();
        places.iter().map(|&at| items[place(at)]).collect::<Vec<_>>().into_flattened()
    }
    match width {
        1 => of::<1>(items, places),
        2 => of::<2>(items, places),
        4 => of::<4>(items, places),
        8 => of::<8>(items, places),
        16 => of::<16>(items, places),
        _ => {
            let mut taken = Vec::with_capacity(places.len() * width);
            places.iter().for_each(|&at| taken.extend_from_slice(&items[place(at) * width..][..width]));
            taken
        }
    }
}

fn taken_texts(offsets: &[i64], bytes: &[u8], places: &[i64]) -> Part {
    let at = |row: usize| usize::try_from(offsets[row]).unwrap_or(0);
    let (mut ends, mut taken) = (Vec::with_capacity(places.len() + 1), Vec::new());
    ends.push(0);
    for &row in places {
        let row = place(row);
        taken.extend_from_slice(&bytes[at(row)..at(row + 1)]);
        ends.push(taken.len().cast_signed() as i64);
    }
    Part::Strings { offsets: ends, bytes: taken }
}

/// A row as a place in memory.
pub(super) fn place(row: i64) -> usize {
    usize::try_from(row).unwrap_or(usize::MAX)
}
