//! The shipped table of times, as it is stored.
//!
//! Out: a row for each codec, level and kind of streams: parts of the probe's size, and the numbers of two polynomials, which
//! `times` computes. `bench/tuner/tuner_table.py` makes the table.

use std::sync::OnceLock;

use crate::base::error::{Error, Result};

pub(super) const TABLE: &str = include_str!("times.tsv");
/// What each polynomial is a sum of.
pub(super) const TERMS: usize = 13;

/// A line of the table.
pub(super) struct Row {
    pub(super) codec: &'static str,
    pub(super) level: u8,
    pub(super) streams: &'static str,
    pub(super) least: f64,
    pub(super) usual: f64,
    pub(super) write: [f64; TERMS],
    pub(super) read: [f64; TERMS],
}

/// All rows.
///
/// # Errors
/// None that a sound build has.
pub(super) fn rows() -> Result<&'static [Row]> {
    static ROWS: OnceLock<Option<Vec<Row>>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| TABLE.lines().map(parsed).collect());
    rows.as_deref().ok_or_else(|| Error::unsupported("the table of times is damaged"))
}

fn parsed(line: &'static str) -> Option<Row> {
    let mut fields = line.split('\t');
    let (codec, level, streams) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?);
    let mut numbers = fields.map(str::parse::<f64>);
    let mut next = || numbers.next()?.ok();
    let (least, usual) = (next()?, next()?);
    let (mut write, mut read) = ([0.0; TERMS], [0.0; TERMS]);
    for number in write.iter_mut().chain(&mut read) {
        *number = next()?;
    }
    Some(Row { codec, level, streams, least, usual, write, read })
}
