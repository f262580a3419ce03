//! Completing what a kill left: the pages of a journal's commits are written to the file.
//!
//! In: a file and the pages of its journal, with both locks held. Out: the file at the last commit.
//! Invariant: a journal is applied only to the file that it was written for.

use super::format::{PAGE_BYTES, SECTOR_BYTES, page_sum};
use super::pages::{StoredPages, start_of};
use super::scan::{KnownPage, Scanned};
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

/// Checks that the journal was written for this state of the file: each page is as it was before the commits. Where
/// pages were being applied, each of their sectors may be of any commit, or torn between two.
pub(super) fn check_belongs(file: &impl ReadAt, journal: &impl ReadAt, scanned: &Scanned) -> Result<()> {
    let len = file.len()?;
    if len < scanned.end {
        return Err(stranger(&format!("it has {len} bytes, the commit {}", scanned.end)));
    }
    let mut page = [0; PAGE_BYTES];
    for (&number, known) in &scanned.known {
        let page = &mut page[..known.bytes];
        let is_there = start_of(number) + page.len() as u64 <= len;
        if !is_there && scanned.is_applying {
            // A later commit ends the file before it.
            continue;
        }
        let is_read = is_there && file.read_exact_at(page, start_of(number)).is_ok();
        let is_as_it_was = is_read && page_sum(page) == known.base;
        let belongs = is_as_it_was || is_read && scanned.is_applying && is_applied(page, journal, known)?;
        if !belongs {
            return Err(stranger(&format!("page {number} differs")));
        }
    }
    Ok(())
}

/// Whether a kill while pages were applied can have left a page so.
fn is_applied(page: &[u8], journal: &impl ReadAt, known: &KnownPage) -> Result<bool> {
    let Some(old) = known.old else { return Ok(true) };
    let mut versions = Vec::with_capacity(known.versions.len() + 1);
    for stored in &known.versions {
        // What a version does not have, it leaves as it is.
        let mut version = page.to_vec();
        let there = stored.bytes.min(page.len());
        journal.read_exact_at(&mut version[..there], stored.at)?;
        versions.push(version);
    }
    let mut before = versions.first().cloned().unwrap_or_default();
    let mut at = old.stored.at;
    for (number, sector) in before.chunks_mut(SECTOR_BYTES).enumerate() {
        if old.changed >> number & 1 == 1 {
            journal.read_exact_at(sector, at)?;
            at += sector.len() as u64;
        }
    }
    versions.push(before);
    let mut starts = (0..page.len()).step_by(SECTOR_BYTES);
    Ok(starts.all(|start| {
        let sector = start..page.len().min(start + SECTOR_BYTES);
        is_torn(&page[sector.clone()], versions.iter().map(|version| &version[sector.clone()]))
    }))
}

/// Whether a sector begins as one of the versions and ends as one of them.
fn is_torn<'a>(sector: &[u8], versions: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut front, mut back) = (0, 0);
    for version in versions {
        let same = |(a, b): &(&u8, &u8)| a == b;
        front = front.max(sector.iter().zip(version).take_while(same).count());
        back = back.max(sector.iter().rev().zip(version.iter().rev()).take_while(same).count());
    }
    front + back >= sector.len()
}

/// The error of a journal whose file is not the one that it was written for.
fn stranger(why: &str) -> Error {
    Error::corrupt(format!(
        "the journal beside it was written for another state of the file ({why}); another program may have changed \
         the file before the journal was applied. Move the journal away to open the file as it is"
    ))
}
