//! Looking for damage, and saving what is good of an array, or all of it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::geometry::batches;
use super::handle::Array;
use super::open::frame_spec;
use super::read::{BlockCache, Content, Source, State};
use crate::base::error::{Error, Result};
use crate::base::io::{Existing, NewFile};
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;
use crate::chunk::Special;
use crate::frame::{self, Kind, Spec, Whole, write_frame};
use crate::store::{Access, Metadata, Stored};

/// While chunks are copied, the job is looked at after so many.
const LOOK_CHUNKS: u64 = 256;

/// A chunk that cannot be read.
#[derive(Debug)]
pub struct Damage {
    /// Its number.
    pub chunk: u64,
    /// The items that it holds, along each axis.
    pub region: Vec<Range<u64>>,
    /// What is wrong with it.
    pub error: Error,
}

impl Array {
    /// Reads and decodes every chunk, and returns those that are damaged, in order. Sums are looked at, also where
    /// the array was opened without.
    ///
    /// # Errors
    /// `Unsupported` if the array needs a codec or filter that is not here, since nobody could then say which chunks
    /// are damaged; `Cancelled`. What is wrong with chunks is part of the result.
    pub fn verify(&self, job: &Job<'_>) -> Result<Vec<Damage>> {
        let state = self.state();
        state.chunks.metadata().and_then(Metadata::spec).map_or(Ok(()), |spec| spec.check_known())?;
        let chunk_bytes = state.grid.chunk_bytes();
        let found = Mutex::new(BTreeMap::new());
        let total = usize::try_from(state.chunks.sizes().cbytes).unwrap_or(usize::MAX);
        let nchunks = state.grid.nchunks();
        let note = |source: &Source<'_>, number: u64| {
            if let Err(error) = verify_chunk(source, number) {
                found.lock().unwrap_or_else(PoisonError::into_inner).insert(number, error);
            }
        };
        // Who opened the array without a look at sums asks for it here; what was read without has a cache of its own.
        let (sums, cache) = (state.chunks.with_sums(), BlockCache::new());
        let source = self.source(&state);
        let source = match &sums {
            Some(chunks) => Source { chunks: &**chunks, cache: &cache, ..source },
            None => source,
        };
        if let Access::Fetched(count) = state.chunks.access(nchunks)? {
            for numbers in batches(0..nchunks, count) {
                let fetched = state.chunks.fetch(&numbers)?;
                let source = Source { chunks: &*fetched, ..source };
                let bytes = numbers.len().saturating_mul(chunk_bytes);
                job.run(bytes, numbers.into_iter(), |number| {
                    note(&source, number);
                    Ok(chunk_bytes)
                })?;
            }
        } else {
            // Chunks that are one and the same are looked at once: a small file may name one very often.
            let mut next = 0;
            let runs = std::iter::from_fn(|| {
                let first = next;
                next = state.chunks.alike_until(first, nchunks);
                (first < nchunks).then_some(first..next)
            });
            job.run(total.saturating_mul(2), runs, |run| {
                if verify_chunk(&source, run.start).is_err() {
                    run.for_each(|number| note(&source, number));
                }
                Ok(chunk_bytes)
            })?;
        }
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let damage = |(chunk, error)| Damage { chunk, region: state.grid.region(chunk), error };
        Ok(found.into_iter().map(damage).collect())
    }

    /// Writes a new file with all chunks that are good; in place of damaged ones it has `lost`. Returns the damage.
    ///
    /// # Errors
    /// `Invalid` if items cannot be `lost`, `Io` for the new file, `Cancelled`. The array itself is not touched.
    pub fn repair(
        &self,
        target: &Path,
        existing: Existing,
        lost: Special,
        job: &Job<'_>,
    ) -> Result<Vec<Damage>> {
        lost.item(self.typesize()).map_err(|e| Error::invalid(e.to_string()))?;
        let damage = self.verify(job)?;
        let state = self.state();
        let nbytes = state.grid.chunk_bytes();
        let nchunks = state.grid.nchunks();
        let chunk = |number: u64| {
            if number.is_multiple_of(LOOK_CHUNKS) {
                job.look(number, nchunks)?;
            }
            match damage.binary_search_by_key(&number, |d| d.chunk) {
                Ok(_) => Ok(frame::Stored::Special(lost, nbytes)),
                Err(_) => in_frame(&state, number),
            }
        };
        let statistics = |number: u64| match damage.binary_search_by_key(&number, |d| d.chunk) {
            Ok(_) => None,
            Err(_) => state.chunks.statistics(number),
        };
        let chunks = Chunks { chunk: &chunk, statistics: &statistics, alike_until: None };
        self.write_file(target, existing, &state, &chunks)?;
        Ok(damage)
    }

    /// What the file says of how its chunks are coded, also where that is not here; `None` for arrays in memory and in
    /// HDF5 files.
    pub fn stored_spec(&self) -> Option<Spec> {
        self.state().chunks.metadata().and_then(Metadata::spec)
    }

    /// Writes the array to a new file, its chunks as they are stored.
    ///
    /// # Errors
    /// `Io`; there is then no new file, or the one that there was.
    pub fn save(&self, target: &Path, kind: Kind, existing: Existing) -> Result<()> {
        if kind == Kind::Sparse {
            return Err(Error::unsupported("save: writes one file; copy makes a directory"));
        }
        let state = self.state();
        let statistics = |number| state.chunks.statistics(number);
        let chunk = |number| in_frame(&state, number);
        let alike_until = |number| state.chunks.alike_until(number, state.grid.nchunks());
        let chunks = Chunks { chunk: &chunk, statistics: &statistics, alike_until: Some(&alike_until) };
        self.write_file(target, existing, &state, &chunks)
    }

    /// The array as the bytes of a file.
    ///
    /// # Errors
    /// `Corrupt` or `Io` if chunks cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let state = self.state();
        let mut out = Vec::new();
        let statistics = |number| state.chunks.statistics(number);
        let chunk = |number| in_frame(&state, number);
        let alike_until = |number| state.chunks.alike_until(number, state.grid.nchunks());
        let chunks = Chunks { chunk: &chunk, statistics: &statistics, alike_until: Some(&alike_until) };
        self.write_to(&mut out, &state, &chunks)?;
        Ok(out)
    }

    fn write_file(
        &self,
        target: &Path,
        existing: Existing,
        state: &State,
        chunks: &Chunks<'_>,
    ) -> Result<()> {
        let mut file = NewFile::create(target, existing)?;
        self.write_to(file.file(), state, chunks).map_err(|e| e.at(target.display().to_string()))?;
        file.commit()
    }

    fn write_to(&self, out: &mut dyn std::io::Write, state: &State, chunks: &Chunks<'_>) -> Result<()> {
        let metadata = state.chunks.metadata();
        let layer = |name: String| {
            let content = metadata?.layer(&name).transpose()?;
            Some(content.map(|content| (name, content)))
        };
        let names = metadata.map(Metadata::layer_names).unwrap_or_default();
        let layers: Result<Vec<_>> = names.into_iter().filter_map(layer).collect();
        let mut spec = frame_spec(&state.grid, self.params(), &self.meta(&state.grid));
        if let Some(stored) = metadata.and_then(Metadata::spec) {
            // Those of the chunks, and not what new ones would be coded with where that is not here.
            let Spec { codec_id, codec_meta, level, pipeline, .. } = stored;
            spec = Spec { codec_id, codec_meta, level, pipeline, ..spec };
        }
        spec.metalayers = metadata.map(Metadata::metalayers).unwrap_or_default();
        spec.with_statistics = state.chunks.statistics_bytes().is_some();
        let nchunks = state.grid.nchunks();
        let nbytes = nchunks * state.grid.chunk_bytes() as u64;
        let whole = Whole {
            spec: &spec,
            nbytes,
            nchunks,
            chunk: chunks.chunk,
            statistics: Some(chunks.statistics),
            alike_until: chunks.alike_until,
            vlmetalayers: &layers?,
        };
        write_frame(out, &whole)?;
        Ok(())
    }
}

/// What a new file is to hold.
struct Chunks<'a> {
    chunk: frame::Chunks<'a>,
    statistics: frame::StatisticsOf<'a>,
    alike_until: Option<frame::AlikeUntil<'a>>,
}

/// A chunk as a frame takes it.
fn in_frame(state: &State, number: u64) -> Result<frame::Stored> {
    match state.chunks.chunk(number)? {
        Stored::Special(special) => Ok(frame::Stored::Special(special, state.grid.chunk_bytes())),
        Stored::At { id, source, place } => Ok(frame::Stored::At { id, source, place }),
        Stored::Item(_) | Stored::Other { .. } => Err(Error::unsupported(
            "a dataset of an HDF5 file cannot be saved as it is; copy() encodes a new array",
        )),
    }
}

fn verify_chunk(source: &Source<'_>, number: u64) -> Result<()> {
    let _held = source.hold_chunk(number)?;
    let Content::Blocks(_, chunk) = source.content(number)? else { return Ok(()) };
    with_scratch(source.grid.block_bytes(), |scratch| {
        (0..source.grid.blocks_per_chunk()).try_for_each(|block| source.decode(&*chunk, block, scratch))
    })
}
