//! The default rule: how large chunks and blocks are, and how they are cut.
//!
//! In: shape, bytes of an item, how the array will be read, and what the user has decided. Out: chunk shape and
//! block shape that the format can hold.
//! Source: `docs/partition.md`.
//! Invariants: the result depends on the arguments alone, never on this machine. Where nothing was decided by the
//! user, padding adds less than 29 % to an array, and a chunk is whole blocks or the whole axis.

use crate::base::error::{Error, Result};
use crate::frame::b2nd::{NDIM_MAX, Sizes};

/// Bytes of a block: a few of them fit a core's cache, and a header and streams of one cost little.
const BLOCK_BYTES: u64 = 64 << 10;
/// Bytes of a chunk of all but large arrays: enough blocks for all threads.
const CHUNK_BYTES: u64 = 4 << 20;
/// Chunks grow up to here while there are more than `MANY_CHUNKS`.
const CHUNK_BYTES_LARGE: u64 = 32 << 20;
const MANY_CHUNKS: u64 = 1 << 10;
/// Beyond, they grow only so that a frame can list them.
const CHUNK_BYTES_HUGE: u64 = 1 << 30;
const TOO_MANY_CHUNKS: u64 = 1 << 26;
/// The most blocks of a chunk, where a user asks for tiny ones.
const BLOCKS_OF_CHUNK: u64 = 1 << 16;
/// Runs along the last axis shorter than this many bytes are made twice as long as the other extents.
const SHORT_RUN_BYTES: u64 = 128;
/// Up to so many boxes along an axis are made equally long.
const FEW_BOXES: u64 = 16;
/// An axis without items yet is one that will grow: as long as can be, and divided by every power of two.
const ENDLESS: u64 = 1 << 62;

/// How an array will be read, as far as its cut should care.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Along any axis: no slice costs much more than another.
    #[default]
    Any,
    /// `a[i]`, `a[i:j]`: the last axes are kept whole first.
    Rows,
    /// `a[..., j]`: the first axes are kept whole first.
    Columns,
    /// Boxes of this shape.
    Region(Vec<u64>),
}

/// Returns chunk shape and block shape for an array. What `chunks` or `blocks` say is kept as it is, also where it is
/// larger than the array, which may grow.
///
/// # Errors
///
/// `Invalid` if an extent is 0 along an axis with items, a block is larger than its chunk, or the format cannot hold
/// the array.
pub fn partition(
    shape: &[u64],
    typesize: usize,
    access: &Access,
    chunks: Option<&[u64]>,
    blocks: Option<&[u64]>,
) -> Result<(Vec<u64>, Vec<u64>)> {
    check(shape, typesize, access, chunks, blocks)?;
    let rule = Rule::new(shape, typesize as u64, access);
    let (chunks, blocks) = match (chunks, blocks) {
        (Some(chunks), Some(blocks)) => (chunks.to_vec(), blocks.to_vec()),
        (Some(chunks), None) => (chunks.to_vec(), rule.blocks(chunks)),
        (None, Some(blocks)) => (rule.chunks(blocks), blocks.to_vec()),
        (None, None) => {
            let blocks = rule.blocks(&rule.lengths);
            (rule.chunks(&blocks), blocks)
        }
    };
    Sizes::of(shape, &chunks, &blocks, typesize).map_err(|e| {
        Error::invalid(format!("shape {shape:?} in chunks {chunks:?}, blocks {blocks:?}: {e}"))
    })?;
    Ok((chunks, blocks))
}

/// Checks what the caller gave, before anything is computed from it.
fn check(
    shape: &[u64],
    typesize: usize,
    access: &Access,
    chunks: Option<&[u64]>,
    blocks: Option<&[u64]>,
) -> Result<()> {
    let ndim = shape.len();
    if ndim > NDIM_MAX {
        return Err(Error::invalid(format!("shape {shape:?}: {ndim} axes, the most are {NDIM_MAX}")));
    }
    // NumPy, too, wants the axes that have items to be countable.
    let items = product(shape.iter().map(|&n| n.max(1)));
    if typesize == 0 || items.saturating_mul(typesize as u64) > i64::MAX.unsigned_abs() {
        return Err(Error::invalid(format!("shape {shape:?}: items of {typesize} bytes")));
    }
    let region = if let Access::Region(region) = access { Some(region.as_slice()) } else { None };
    for (what, given) in [("region", region), ("chunks", chunks), ("blocks", blocks)] {
        let Some(given) = given else { continue };
        if given.len() != ndim {
            let lengths = if ndim == 1 { "one length".to_owned() } else { format!("{ndim} lengths") };
            return Err(Error::invalid(format!("{what} {given:?}: shape {shape:?} needs {lengths}")));
        }
        let wrong =
            |(&n, &length): (&u64, &u64)| (n == 0 && length > 0) || n > i32::MAX.unsigned_abs().into();
        if what != "region" && given.iter().zip(shape).any(wrong) {
            let sentence = format!("{what} {given:?}: each must be 1 to {} for shape {shape:?}", i32::MAX);
            return Err(Error::invalid(sentence));
        }
    }
    if let Some(region) = region
        && region.contains(&0)
    {
        return Err(Error::invalid(format!("region {region:?}: each must be at least 1")));
    }
    if let (Some(chunks), Some(blocks)) = (chunks, blocks)
        && chunks.iter().zip(blocks).any(|(chunk, block)| block > chunk)
    {
        return Err(Error::invalid(format!("blocks {blocks:?}: larger than chunks {chunks:?}")));
    }
    Ok(())
}

/// An array, and in which proportion its axes are to be cut.
struct Rule<'a> {
    typesize: u64,
    access: &'a Access,
    /// Items along each axis; `ENDLESS` for none.
    lengths: Vec<u64>,
    /// Bytes of the array.
    bytes: u64,
}

impl<'a> Rule<'a> {
    fn new(shape: &[u64], typesize: u64, access: &'a Access) -> Self {
        let lengths: Vec<u64> = shape.iter().map(|&n| if n == 0 { ENDLESS } else { n }).collect();
        // Of an array that is yet to grow, nobody knows: its chunks are not those of a large one.
        let known = !shape.contains(&0);
        let bytes = if known { product(shape.iter().copied()).saturating_mul(typesize) } else { u64::MAX };
        Self { typesize, access, lengths, bytes }
    }

    /// Blocks that cut boxes of `whole` items.
    fn blocks(&self, whole: &[u64]) -> Vec<u64> {
        let units = vec![1; whole.len()];
        let counts = self.cut(whole, &units, BLOCK_BYTES / self.typesize);
        // A zero that the user gave for an axis without items stays.
        counts.iter().zip(whole).map(|(&count, &whole)| count.min(whole)).collect()
    }

    /// Chunks of whole `blocks`, or of the whole axis.
    fn chunks(&self, blocks: &[u64]) -> Vec<u64> {
        let target = self.chunk_bytes();
        let lengths: Vec<u64> = self.lengths.iter().zip(blocks).map(|(&n, &block)| n.max(block)).collect();
        if self.bytes <= target && lengths == self.lengths {
            return lengths;
        }
        let block_bytes = product(blocks.iter().copied()).saturating_mul(self.typesize);
        let room = target.checked_div(block_bytes).unwrap_or(1);
        let counts = self.cut(&lengths, blocks, room.min(BLOCKS_OF_CHUNK));
        let extents = counts.iter().zip(blocks).zip(&lengths);
        extents.map(|((&count, &block), &length)| count.saturating_mul(block).min(length)).collect()
    }

    fn chunk_bytes(&self) -> u64 {
        let mut target = CHUNK_BYTES;
        if self.bytes == u64::MAX {
            return target;
        }
        let region = if let Access::Region(region) = self.access { region.as_slice() } else { &[] };
        let wanted = region.iter().zip(&self.lengths).map(|(&n, &length)| n.min(length));
        let wanted = product(wanted).saturating_mul(self.typesize);
        while target < CHUNK_BYTES_LARGE && (self.bytes / target > MANY_CHUNKS || wanted > target) {
            target *= 2;
        }
        while target < CHUNK_BYTES_HUGE && self.bytes / target > TOO_MANY_CHUNKS {
            target *= 2;
        }
        target
    }

    /// Cuts `lengths` into boxes of about `room` units, and returns the units of a box along each axis.
    ///
    /// The less padding is allowed the better, but a box must not become a needle or a grain for it: of the cuts that
    /// are made with ever more padding allowed, the first good one is taken, else the best.
    fn cut(&self, lengths: &[u64], units: &[u64], room: u64) -> Vec<u64> {
        let cut = Cut { rule: self, axes: self.axes(lengths, units), room: room.max(1) };
        let all: Vec<u64> = cut.axes.iter().map(|axis| axis.units).collect();
        if product(all.iter().copied()) <= cut.room {
            return all;
        }
        let cut_axes = all.iter().filter(|&&n| n > 1).count() as u64;
        // Padding of 1/(4n) along each of n axes is less than e^(1/4) - 1 of the array.
        let shares = [u64::MAX, 16 * cut_axes, 8 * cut_axes, 4 * cut_axes];
        let mut trials: Vec<Trial> = shares.map(|share| Trial { share, kind: TrialKind::Plain }).into();
        trials.push(Trial { share: shares[3], kind: TrialKind::Lenient });
        if matches!(self.access, Access::Region(_)) {
            trials.insert(0, Trial { share: shares[3], kind: TrialKind::Aligned });
        }
        let mut best = (f64::INFINITY, all);
        for trial in trials {
            if best.0 <= if trial.kind == TrialKind::Lenient { PASSABLE } else { GOOD } {
                break;
            }
            let counts = cut.trial(trial);
            let fault = cut.fault(&counts);
            if fault < best.0 {
                best = (fault, counts);
            }
        }
        best.1
    }

    fn axes(&self, lengths: &[u64], units: &[u64]) -> Vec<Axis> {
        let ndim = lengths.len();
        let cut_axes = u32::try_from(self.lengths.iter().filter(|&&n| n > 1).count()).unwrap_or(0);
        let run = SHORT_RUN_BYTES.div_ceil(self.typesize);
        // Whether the side of a cube of BLOCK_BYTES is a short run.
        let is_short =
            run.saturating_pow(cut_axes) > BLOCK_BYTES / self.typesize && units.iter().all(|&n| n == 1);
        let axis = |k: usize| {
            let (length, unit) = (lengths[k], units[k].max(1));
            let (weight, fair) = match self.access {
                Access::Region(region) => (region[k].min(length.max(1)), region[k].min(length.max(1))),
                _ if is_short && k + 1 == ndim => (2, 1),
                _ => (1, 1),
            };
            Axis { length, unit, units: length.div_ceil(unit).max(1), weight, fair }
        };
        (0..ndim).map(axis).collect()
    }
}

/// The worst fault of a cut that is taken without looking further, and without further freedoms.
const GOOD: f64 = 2.0;
const PASSABLE: f64 = 3.0;

/// One way to cut an array.
#[derive(Clone, Copy)]
struct Trial {
    /// Padding along an axis is at most one part in so many.
    share: u64,
    kind: TrialKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TrialKind {
    Plain,
    /// Only extents that divide those of the wanted region, or are divided by them.
    Aligned,
    /// Also along axes that stand behind one that had to be cut, or far beyond one that cannot be lengthened.
    Lenient,
}

/// One axis to be cut.
struct Axis {
    /// Items.
    length: u64,
    /// Items of a unit: 1, or the block's extent where blocks are gathered in chunks.
    unit: u64,
    /// Units that cover the axis.
    units: u64,
    /// Extents are to grow in proportion to this ...
    weight: u64,
    /// ... and are judged by how they stand to this.
    fair: u64,
}

impl Axis {
    /// How long a box of `count` units is along this axis, against the others.
    fn judged(&self, count: u64) -> f64 {
        count as f64 * self.unit as f64 / self.fair as f64
    }

    /// Whether boxes of `count` units leave as little padding as wanted, beyond that of the units.
    fn is_good(&self, count: u64, trial: Trial) -> bool {
        let covered = self.units.div_ceil(count).saturating_mul(count).saturating_mul(self.unit);
        let allowed =
            self.units.saturating_mul(self.unit).max(self.length.saturating_add(self.length / trial.share));
        let extent = count.saturating_mul(self.unit);
        let is_aligned = extent.is_multiple_of(self.weight) || self.weight.is_multiple_of(extent);
        covered <= allowed
            && (trial.kind != TrialKind::Aligned || is_aligned || count == self.units || count == 1)
    }
}

/// The axes of an array, and the boxes wanted.
struct Cut<'a> {
    rule: &'a Rule<'a>,
    axes: Vec<Axis>,
    /// The most units of a box.
    room: u64,
}

impl Cut<'_> {
    fn trial(&self, trial: Trial) -> Vec<u64> {
        let counts = match self.rule.access {
            Access::Rows => self.in_order((0..self.axes.len()).rev(), trial),
            Access::Columns => self.in_order(0..self.axes.len(), trial),
            Access::Any | Access::Region(_) => self.balanced(trial),
        };
        if trial.kind == TrialKind::Aligned { counts } else { self.even(&counts) }
    }

    /// Whole along one axis after the other, up to the first that must be cut.
    fn in_order(&self, order: impl Iterator<Item = usize>, trial: Trial) -> Vec<u64> {
        let mut counts = vec![1; self.axes.len()];
        let mut left = self.room;
        for k in order {
            let axis = &self.axes[k];
            counts[k] =
                (1..=axis.units.min(left)).rev().find(|&count| axis.is_good(count, trial)).unwrap_or(1);
            let may_go_on = counts[k] == axis.units || trial.kind == TrialKind::Lenient;
            left = if may_go_on { left / counts[k] } else { 1 };
        }
        counts
    }

    /// Lengthens what is shortest, in proportion to the weights, until nothing can be lengthened.
    fn balanced(&self, trial: Trial) -> Vec<u64> {
        let mut counts = vec![1_u64; self.axes.len()];
        let mut open: Vec<usize> = (0..self.axes.len()).rev().collect();
        if let [only] = open[..] {
            return self.in_order([only].into_iter(), trial);
        }
        let reach = |counts: &[u64], k: usize| {
            let axis = &self.axes[k];
            counts[k] as f64 * axis.unit as f64 / axis.weight as f64
        };
        while !open.is_empty() {
            // The first of the shortest, so the last axis of them.
            let shortest = (1..open.len())
                .fold(0, |a, b| if reach(&counts, open[b]) < reach(&counts, open[a]) { b } else { a });
            let k = open[shortest];
            let axis = &self.axes[k];
            let others = product(counts.iter().copied()) / counts[k];
            // What is closed shall not be left far behind.
            let is_lenient = trial.kind == TrialKind::Lenient;
            let closed = (0..counts.len()).filter(|j| !open.contains(j) && counts[*j] < self.axes[*j].units);
            let behind = closed.map(|j| self.axes[j].judged(counts[j])).fold(f64::INFINITY, f64::min);
            let most = axis.units.min(self.room / others);
            let longer = (counts[k] + 1..=most).find(|&count| axis.is_good(count, trial));
            match longer {
                Some(count) if is_lenient || axis.judged(count) <= GOOD * behind => counts[k] = count,
                _ => drop(open.remove(shortest)),
            }
        }
        counts
    }

    /// The least counts that make as many boxes along each axis, where that is few.
    fn even(&self, counts: &[u64]) -> Vec<u64> {
        let even = |(axis, &count): (&Axis, &u64)| match axis.units.div_ceil(count) {
            boxes if boxes <= FEW_BOXES => axis.units.div_ceil(boxes),
            _ => count,
        };
        self.axes.iter().zip(counts).map(even).collect()
    }

    /// How far boxes are from well-proportioned and full: 1 is perfect.
    fn fault(&self, counts: &[u64]) -> f64 {
        let items = product(counts.iter().copied()).min(self.room);
        let emptiness = self.room as f64 / items as f64;
        if matches!(self.rule.access, Access::Rows | Access::Columns) {
            // A row or column that is cut costs more than a block that is not full.
            return emptiness * 1.5;
        }
        let mut longest = 0.0_f64;
        let mut shortest = f64::INFINITY;
        for (axis, &count) in self.axes.iter().zip(counts) {
            // An axis of one unit cannot be shorter, and one that is whole cannot be longer.
            if count > 1 {
                longest = longest.max(axis.judged(count));
            }
            if count < axis.units {
                shortest = shortest.min(axis.judged(count));
            }
        }
        let imbalance = (longest / shortest).max(1.0);
        if imbalance <= GOOD && emptiness <= GOOD { imbalance.max(emptiness) } else { imbalance * emptiness }
    }
}

fn product(factors: impl Iterator<Item = u64>) -> u64 {
    factors.fold(1, u64::saturating_mul)
}
