//! Completing what a kill left: the pages of a journal's commits are written to the file.
//!
//! In: a file and the pages of its journal, with both locks held. Out: the file at the last commit.
//! Invariant: a journal is applied only to the file that it was written for.

use super::format::{PAGE_BYTES, page_sum};
use super::pages::{StoredPages, page_of, start_of};
use super::scan::Scanned;
use crate::base::error::{Error, Result};
use crate::base::io::{ReadAt, WriteAt};

/// Pages that follow each other are written at once, so many bytes at most.
const RUN_BYTES_MAX: usize = 1 << 20;

/// Writes pages to the file, and ends it where the commit says.
pub(super) fn apply<D: WriteAt>(file: &D, journal: &D, pages: &StoredPages, end: u64) -> Result<()> {
    let mut run: Vec<u8> = Vec::new();
    let mut run_start = 0;
    for (&page, stored) in pages {
        let start = start_of(page);
        let follows = run_start + run.len() as u64 == start;
        if !run.is_empty() && (!follows || run.len() >= RUN_BYTES_MAX) {
            file.write_all_at(&run, run_start)?;
            run.clear();
        }
        if run.is_empty() {
            run_start = start;
        }
        let filled = run.len();
        run.resize(filled + stored.bytes, 0);
        journal.read_exact_at(&mut run[filled..], stored.at)?;
    }
    if !run.is_empty() {
        file.write_all_at(&run, run_start)?;
    }
    if file.len()? > end {
        file.set_len(end)?;
    }
    Ok(())
}

/// Whether the journal was written for this state of the file. One whose pages were being applied may have left pages
/// in any state; before that all are as they were.
pub(super) fn check_belongs(file: &impl ReadAt, scanned: &Scanned) -> Result<()> {
    let len = file.len()?;
    if len < scanned.end {
        return Err(stranger(&format!("it has {len} bytes, the commit {}", scanned.end)));
    }
    if scanned.is_applying {
        return Ok(());
    }
    let mut page = [0; PAGE_BYTES];
    for &(number, bytes, base) in &scanned.bases {
        let page = &mut page[..bytes];
        let is_there = start_of(number) + bytes as u64 <= len;
        if !is_there || file.read_exact_at(page, start_of(number)).is_err() || page_sum(page) != base {
            return Err(stranger(&format!("page {} differs", page_of(start_of(number)))));
        }
    }
    Ok(())
}

/// The error of a journal whose file is not the one that it was written for.
fn stranger(why: &str) -> Error {
    Error::corrupt(format!(
        "the journal beside it was written for another state of the file ({why}); another program may have changed \
         the file before the journal was applied. Move the journal away to open the file as it is"
    ))
}
