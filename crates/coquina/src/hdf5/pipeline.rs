//! The filters of a dataset, in order, over the bytes of one chunk.
//!
//! In: a stored chunk and its mask, or plain bytes. Out: plain bytes, or a chunk to store.
//! Source: `docs/formats/hdf5-filters.md`, "The pipeline".
//! Invariants: what was encoded decodes to the same bytes; no stored size asks for more memory than a bound that
//! follows from the chunk's own size.

use super::blosc2::{Blosc2Spec, ChunkEncoding, ZoneField, encode_frame, encode_zoned};
use super::filters::{BLOSC, BLOSC2, Filter, by_id};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::base::scratch::{ScratchStack, with_scratch_of};
use crate::chunk::Params;
use crate::filter::{Buffer, Buffers};

/// The most filters of a dataset: the mask has a bit for each.
const FILTERS_MAX: usize = 32;
/// Bytes that a chunk may have between two filters beyond twice its size.
const SLACK_BYTES: usize = 64 << 10;

/// A filter of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The registered id.
    pub id: u16,
    /// Whether a chunk may be stored without it.
    pub is_optional: bool,
    /// The parameters: `cd_values`.
    pub values: Vec<u32>,
}

/// The filters of a dataset.
#[derive(Clone)]
pub struct Pipeline {
    slots: Vec<Slot>,
    /// The row of each slot's filter, where it is known.
    filters: Vec<Option<&'static dyn Filter>>,
    chunk_bytes: usize,
    blosc2: Option<Blosc2Spec>,
    zones: Vec<ZoneField>,
    /// Whether chunks are encoded by other parameters than those of the filter.
    has_own_encoding: bool,
}

/// What of a stored chunk can be decoded in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// Nothing: the whole chunk or none of it.
    Whole,
    /// Any bytes: no filter ran, or none that has to be undone.
    Stored,
    /// Blocks: Blosc is the only filter to undo.
    Blosc,
    /// Blocks: Blosc2 is the only filter to undo.
    Blosc2,
}

thread_local! {
    /// What chunks are in between two filters.
    static SCRATCH: ScratchStack<Buffers> = const { ScratchStack::new(32 << 20) };
}

impl Pipeline {
    /// The pipeline of a dataset with chunks of `dims` items of `itemsize` bytes.
    ///
    /// # Errors
    /// `Invalid` for more than 32 filters, `Limit` for chunks too large for this machine.
    pub fn new(slots: Vec<Slot>, dims: &[u64], itemsize: usize) -> Result<Self> {
        if slots.len() > FILTERS_MAX {
            return Err(Error::invalid(format!(
                "{} filters: a dataset has at most {FILTERS_MAX}",
                slots.len()
            )));
        }
        let bytes = dims.iter().try_fold(itemsize as u64, |all, &dim| all.checked_mul(dim));
        // Twice as much must be countable, see `bound`.
        let bytes =
            bytes.and_then(|bytes| usize::try_from(bytes).ok()).filter(|&bytes| bytes < usize::MAX / 4);
        let chunk_bytes =
            bytes.ok_or_else(|| Error::limit(format!("chunks of {dims:?} items of {itemsize} bytes")))?;
        let blosc2 = match &slots[..] {
            [only] if only.id == BLOSC2 => Blosc2Spec::new(&only.values, dims, itemsize).ok(),
            _ => None,
        };
        let filters = slots.iter().map(|slot| by_id(slot.id)).collect();
        Ok(Self { slots, filters, chunk_bytes, blosc2, zones: Vec::new(), has_own_encoding: false })
    }

    /// The same, but chunks that it encodes have a zone map of these fields where they can have one: those of one
    /// axis whose only filter is Blosc2.
    ///
    /// # Errors
    /// `Invalid` for a field that is not within the items, or whose type has no order.
    pub fn with_zones(mut self, fields: &[ZoneField]) -> Result<Self> {
        let Some(spec) = self.blosc2.as_ref().filter(|spec| spec.dims.len() == 1) else { return Ok(self) };
        fields.iter().try_for_each(|field| field.check(spec.itemsize))?;
        if cfg!(target_endian = "little") {
            self.zones = fields.to_vec();
        }
        Ok(self)
    }

    /// The same, but chunks that it encodes have no checksums, where Blosc2 is the only filter.
    #[must_use]
    pub fn without_sums(mut self) -> Self {
        if let Some(spec) = &mut self.blosc2 {
            spec.with_sums = false;
        }
        self
    }

    /// The same, but chunks are encoded in this way, of which the parameters of the filter say no more than the nearest
    /// that they can.
    ///
    /// # Errors
    /// `Unsupported` where Blosc2 is not the only filter, `Invalid` for what such chunks cannot be encoded by.
    pub fn encoded_as(mut self, wanted: &ChunkEncoding) -> Result<Self> {
        let Some(spec) = &self.blosc2 else {
            return Err(Error::unsupported("filters of Blosc2: takes a dataset whose only filter is Blosc2"));
        };
        self.blosc2 = Some(spec.encoded_as(wanted)?);
        self.has_own_encoding = true;
        Ok(self)
    }

    /// The filters, in the order of writing.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The first filter that cannot be undone here.
    pub fn unknown(&self) -> Option<u16> {
        self.steps(0).find(|(filter, _)| filter.is_none()).map(|(_, slot)| slot.id)
    }

    /// The first filter that cannot be run here, with its parameters.
    pub fn unwritable(&self) -> Option<u16> {
        let mut bytes = Some(self.chunk_bytes);
        for (filter, slot) in self.steps(0) {
            let Some(filter) = filter else { return Some(slot.id) };
            // Behind a compressor nobody knows what comes in: any size must do.
            if !filter.can_encode() || bytes.is_some_and(|bytes| !filter.takes(bytes, &slot.values)) {
                return Some(slot.id);
            }
            bytes = bytes.and_then(|bytes| filter.encoded_bytes(bytes, &slot.values));
        }
        None
    }

    /// Bytes of a chunk without filters.
    pub fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// What of a chunk that was stored with this mask can be decoded in part.
    pub fn inner(&self, mask: u32) -> Inner {
        let is_step = |filter: &Option<&dyn Filter>| filter.is_none_or(|filter| !filter.is_identity());
        let mut steps = self.steps(mask).filter(|(filter, _)| is_step(filter));
        match (steps.next(), steps.next()) {
            (None, _) => Inner::Stored,
            (Some((_, slot)), None) if slot.id == BLOSC => Inner::Blosc,
            (Some((_, slot)), None) if slot.id == BLOSC2 => Inner::Blosc2,
            _ => Inner::Whole,
        }
    }

    /// How chunks are written, if the only filter is Blosc2.
    pub fn blosc2(&self) -> Option<&Blosc2Spec> {
        self.blosc2.as_ref()
    }

    /// Undoes the filters that ran: bit i of `mask` is set where filter i did not. `out` has
    /// [`Pipeline::chunk_bytes`].
    ///
    /// # Errors
    /// `Corrupt` or `Truncated` for damaged bytes, `Unsupported` for a filter that is not known here, `Limit` for a
    /// chunk that grows beyond reason between two filters, `Invalid` for another length of `out`.
    pub fn decode(&self, stored: &[u8], mask: u32, out: &mut [u8]) -> Result<()> {
        if out.len() != self.chunk_bytes {
            let wanted = self.chunk_bytes;
            return Err(Error::invalid(format!("output: {} bytes for a chunk of {wanted}", out.len())));
        }
        let steps = self.undoing(mask)?;
        if let [only] = &steps[..] {
            return only.decode(stored, out);
        }
        with_scratch_of(&SCRATCH, |scratch| self.undo(&steps, stored, scratch, out))
    }

    /// Runs all filters.
    ///
    /// # Errors
    /// `Unsupported` for a filter that cannot be written here, `Invalid` for parameters that it cannot have or
    /// another length of `plain`, `Limit` for too much for a filter, `Cancelled`.
    pub fn encode(&self, plain: &[u8], job: &Job<'_>) -> Result<Vec<u8>> {
        self.encode_rows(plain, u64::MAX, job)
    }

    /// As [`Pipeline::encode`]; of the items only those that have an index below `rows` along the first axis count.
    ///
    /// # Errors
    /// As [`Pipeline::encode`].
    pub fn encode_rows(&self, plain: &[u8], rows: u64, job: &Job<'_>) -> Result<Vec<u8>> {
        self.encode_by(plain, rows, None, job)
    }

    /// As [`Pipeline::encode_rows`]; with `params` a chunk whose only filter is Blosc2 is encoded by these.
    ///
    /// # Errors
    /// As [`Pipeline::encode`].
    pub fn encode_by(
        &self,
        plain: &[u8],
        rows: u64,
        params: Option<&Params>,
        job: &Job<'_>,
    ) -> Result<Vec<u8>> {
        if plain.len() != self.chunk_bytes {
            let wanted = self.chunk_bytes;
            return Err(Error::invalid(format!("input: {} bytes for a chunk of {wanted}", plain.len())));
        }
        if let Some(spec) = &self.blosc2
            && (params.is_some() || self.has_own_encoding || !self.zones.is_empty() || !spec.with_sums)
        {
            let spec = spec.encoded_by(params);
            let encoded = match &self.zones[..] {
                [] => encode_frame(&spec, plain, job),
                zones => encode_zoned(&spec, plain, zones, rows, job),
            };
            return encoded.map_err(|e| e.at("filter blosc2"));
        }
        let mut now: Option<Vec<u8>> = None;
        for (filter, slot) in self.steps(0) {
            let filter = filter.ok_or_else(|| unknown(slot.id))?;
            let mut next = Vec::new();
            let encoded = filter.encode_by(now.as_deref().unwrap_or(plain), &slot.values, &mut next, job);
            encoded.map_err(|e| e.at(place(filter)))?;
            now = Some(next);
        }
        let mut stored = now.unwrap_or_else(|| plain.to_vec());
        stored.shrink_to_fit();
        Ok(stored)
    }

    /// The filters that ran, in the order of writing.
    fn steps(&self, mask: u32) -> impl DoubleEndedIterator<Item = (Option<&'static dyn Filter>, &Slot)> {
        let filters = self.filters.iter().copied().zip(&self.slots).enumerate();
        filters.filter(move |(number, _)| mask >> number & 1 == 0).map(|(_, step)| step)
    }

    /// What is to be undone, the last filter first.
    fn undoing(&self, mask: u32) -> Result<Vec<Step<'_>>> {
        let mut steps = Vec::with_capacity(self.slots.len());
        let mut bytes = Some(self.chunk_bytes);
        for (filter, slot) in self.steps(mask) {
            let filter = filter.ok_or_else(|| unknown(slot.id))?;
            if !filter.is_identity() {
                steps.push(Step { filter, values: &slot.values, bytes });
            }
            bytes = bytes.and_then(|bytes| filter.encoded_bytes(bytes, &slot.values));
        }
        steps.reverse();
        Ok(steps)
    }

    fn undo(&self, steps: &[Step<'_>], stored: &[u8], scratch: &mut Buffers, out: &mut [u8]) -> Result<()> {
        let bound = 2 * self.chunk_bytes + SLACK_BYTES;
        let Buffers { first: now, second: next } = scratch;
        let (mut now, mut next) = (now, next);
        let mut left = Left::Stored(stored);
        for (number, step) in steps.iter().enumerate() {
            let bytes = left.bytes(now);
            if let Some(fewer) = step.cut(bytes)? {
                left = left.front(fewer);
            } else if number + 1 == steps.len() {
                return step.decode(bytes, out);
            } else {
                left = Left::Scratch(step.decode_to(bytes, bound, next)?);
                std::mem::swap(&mut now, &mut next);
            }
        }
        let bytes = left.bytes(now);
        if bytes.len() != out.len() {
            return Err(Error::corrupt(format!("{} bytes in place of {}", bytes.len(), out.len())));
        }
        out.copy_from_slice(bytes);
        Ok(())
    }
}

/// What is still to be decoded.
#[derive(Clone, Copy)]
enum Left<'a> {
    /// These bytes of the stored chunk.
    Stored(&'a [u8]),
    /// So many bytes at the front of the scratch.
    Scratch(usize),
}

impl<'a> Left<'a> {
    fn bytes<'b>(self, scratch: &'b [u8]) -> &'b [u8]
    where
        'a: 'b,
    {
        match self {
            Self::Stored(bytes) => bytes,
            Self::Scratch(bytes) => scratch.get(..bytes).unwrap_or_default(),
        }
    }

    fn front(self, bytes: usize) -> Self {
        match self {
            Self::Stored(stored) => Self::Stored(stored.get(..bytes).unwrap_or_default()),
            Self::Scratch(_) => Self::Scratch(bytes),
        }
    }
}

/// A filter that is to be undone.
struct Step<'p> {
    filter: &'static dyn Filter,
    values: &'p [u32],
    /// How many bytes come out, where all filters before it tell.
    bytes: Option<usize>,
}

impl Step<'_> {
    /// How many bytes are left, where undoing only takes away the end.
    fn cut(&self, stored: &[u8]) -> Result<Option<usize>> {
        let cut = self.filter.cut(stored).map_err(|e| e.at(place(self.filter)))?;
        match (cut, self.bytes) {
            (Some(left), Some(wanted)) if left.len() != wanted => {
                let sentence = format!("{} bytes in place of {wanted}", left.len());
                Err(Error::corrupt(sentence).at(place(self.filter)))
            }
            _ => Ok(cut.map(<[u8]>::len)),
        }
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        self.filter.decode(stored, self.values, out).map_err(|e| e.at(place(self.filter)))
    }

    /// Decodes to the front of `scratch`, at most `bound` bytes; returns how many came out.
    fn decode_to(&self, stored: &[u8], bound: usize, scratch: &mut Buffer) -> Result<usize> {
        let told = match self.bytes {
            Some(bytes) => Some(bytes),
            None => self.filter.decoded_bytes(stored, self.values).map_err(|e| e.at(place(self.filter)))?,
        };
        let bytes = told.unwrap_or(bound);
        if bytes > bound {
            let sentence = format!("{bytes} bytes come out of it, at most {bound} can");
            return Err(Error::corrupt(sentence).at(place(self.filter)));
        }
        scratch.fit(bytes);
        let room = scratch.get_mut(..bytes).unwrap_or_default();
        if told.is_some() {
            return self.decode(stored, room).map(|()| bytes);
        }
        let written = self.filter.decode_within(stored, self.values, room);
        written.map_err(|e| e.at(place(self.filter)))
    }
}

fn place(filter: &dyn Filter) -> String {
    format!("filter {}", filter.name())
}

fn unknown(id: u16) -> Error {
    Error::unsupported(format!("filter {id} is unknown"))
}

#[cfg(test)]
mod tests;
