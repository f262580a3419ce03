//! A frame without the room that nothing refers to.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::record::Parts;
use super::whole::{AlikeUntil, Contents, StatisticsOf, write_parts};
use crate::base::error::Result;
use crate::base::io::{Existing, NewFile};
use crate::frame::lock;
use crate::frame::snapshot::Snapshot;

/// A new file that holds all of `snapshot`, and is to take the place of the one at `path`. It is locked, so that
/// the lock does not get lost when it does.
pub(crate) fn rewrite(path: &Path, snapshot: &Snapshot) -> Result<NewFile> {
    let mut new = NewFile::create(path, Existing::Replace)?;
    lock::take(new.file())?;
    let mut out = BufWriter::with_capacity(1 << 20, new.file());
    let chunks = |number| snapshot.chunk(number);
    let header = snapshot.state.header.clone();
    let statistics = |number| snapshot.statistics(number);
    let nchunks = snapshot.nchunks();
    let alike_until = |number| snapshot.alike_until(number, nchunks);
    let (statistics, alike_until) =
        (Some(&statistics as StatisticsOf<'_>), Some(&alike_until as AlikeUntil<'_>));
    let contents = Contents { chunks: &chunks, nchunks, statistics, alike_until };
    write_parts(&mut out, header, Parts::of(&snapshot.state).notes, &snapshot.state.vlmetalayers, &contents)?;
    out.flush()?;
    drop(out);
    Ok(new)
}
