//! Targets for frames, and for the arrays in them.

use std::sync::Arc;

use coquina::Result;
use coquina::array::{Array, Meta, OpenOptions, Selection, Window};
use coquina::chunk::{Chunk, LazyChunk};
use coquina::frame::{Frame, Snapshot, Stored};

use crate::frame_seeds::known_contents;
use crate::targets::{LIMIT_BYTES, LIMITS, job};

/// So many chunks are looked at one by one.
const CHUNKS_MAX: u64 = 200;

fn options() -> OpenOptions {
    OpenOptions { limits: LIMITS, ..OpenOptions::default() }
}

/// All that a frame says and holds is read or is an error; block by block it is what it is as a whole.
pub(crate) fn frame_open(bytes: &[u8]) -> bool {
    let Ok(mut frame) = Frame::from_source(Arc::new(bytes.to_vec()), 0, LIMITS) else { return false };
    let snapshot = frame.snapshot();
    for (name, content) in snapshot.metalayers() {
        assert_eq!(snapshot.metalayer(name), Some(content), "two metalayers of one name");
    }
    let mut is_sound = snapshot.vlmetalayer_names().all(|name| snapshot.vlmetalayer(name).is_ok());
    let nchunks = snapshot.nchunks();
    let last = nchunks.checked_sub(1).filter(|&last| last >= CHUNKS_MAX);
    for number in (0..nchunks.min(CHUNKS_MAX)).chain(last) {
        is_sound &= chunk_of_frame(&snapshot, number);
    }
    assert!(snapshot.chunk(nchunks).is_err(), "a chunk behind the last");
    assert!(!matches!(frame.refresh(), Ok(true)), "another commit where nothing has changed");
    is_sound && offset_is_taken_off(bytes, nchunks)
}

/// Whether a chunk decodes. The whole and its blocks must agree, if both can be read.
fn chunk_of_frame(snapshot: &Snapshot, number: u64) -> bool {
    let layout = snapshot.layout();
    let whole = snapshot.chunk_data(number).and_then(|chunk| {
        let chunk = Chunk::parse_in(&layout, &chunk, &LIMITS)?;
        let mut out = vec![0x11; chunk.header().nbytes];
        chunk.decode_into(&mut out, &job()).map(|()| out)
    });
    let nbytes = snapshot.nbytes_of(number);
    if let (Ok(whole), Ok(nbytes)) = (&whole, nbytes) {
        assert_eq!(whole.len(), nbytes, "chunk {number}");
    }
    let Ok(Stored::At { source, place, .. }) = snapshot.chunk(number) else { return whole.is_ok() };
    let Ok(lazy) = LazyChunk::open_in(&layout, source, place, &LIMITS) else { return false };
    let blocks: Result<Vec<Vec<u8>>> = (0..lazy.nblocks())
        .map(|block| {
            let mut out = vec![0x22; lazy.block_range(block).len()];
            lazy.decode_blocks(block, &mut out).map(|_| out)
        })
        .collect();
    // What the table of sums says of blocks is not looked at when the whole is read, and the other way round.
    if let (Ok(whole), Ok(blocks)) = (&whole, &blocks) {
        assert!(*whole == blocks.concat(), "chunk {number}: blocks are not the whole");
    }
    whole.is_ok() && blocks.is_ok()
}

/// A frame that is good by itself is good behind other bytes.
fn offset_is_taken_off(bytes: &[u8], nchunks: u64) -> bool {
    if bytes.len().is_multiple_of(8) {
        let moved = Frame::from_source(Arc::new([b"front", bytes].concat()), 5, LIMITS);
        assert_eq!(moved.map(|frame| frame.snapshot().nchunks()).ok(), Some(nchunks), "at an offset");
    }
    true
}

/// An array is read or is an error; parts of it are slices of the whole, and who finds no damage reads all.
pub(crate) fn array_open(bytes: &[u8]) -> bool {
    let Ok(array) = Array::from_source(Arc::new(bytes.to_vec()), &options()) else { return false };
    let grid = array.grid();
    let all = Selection::all(grid.shape());
    let window = Window { offset: 0, bytes: grid.typesize() };
    let is_small = grid.size().saturating_mul(grid.typesize() as u64) <= LIMIT_BYTES as u64;
    if !is_small || grid.nchunks() > CHUNKS_MAX {
        return read_corner(&array, grid.shape(), window);
    }
    let nbytes = usize::try_from(grid.size()).unwrap_or(0) * grid.typesize();
    let (mut low, mut high) = (vec![0; nbytes], vec![0xff; nbytes]);
    array.set_cache_bytes(0);
    let is_sound = array.read(&all, window, &mut low, &job()).is_ok();
    assert_eq!(is_sound, array.read(&all, window, &mut high, &job()).is_ok(), "an error that comes and goes");
    assert!(!is_sound || low == high, "bytes of the output were not written");
    if let Ok(damage) = array.verify(&job()) {
        assert!(is_sound || !damage.is_empty(), "what cannot be read is not found to be damaged");
    }
    read_corner(&array, grid.shape(), window);
    for number in 0..=grid.nchunks() {
        if let Some(bounds) = array.chunk_bounds(number) {
            let ends = [&bounds.min, &bounds.max].map(|item| item_of(array.dtype(), item));
            let is_ordered = if ends.contains(&None) { bounds.has_nan } else { ends[0] <= ends[1] };
            assert!(number < grid.nchunks() && is_ordered, "bounds that are none: {bounds:?}");
        }
    }
    if is_sound && let Ok(copy) = array.to_bytes() {
        let read = Content::of(copy, &options());
        assert!(read.is_ok_and(|content| content.items == low), "a copy is not the array");
    }
    is_sound
}

/// Reads the last two indices of each axis, and counts the blocks for it.
fn read_corner(array: &Array, shape: &[u64], window: Window) -> bool {
    let ranges: Vec<_> = shape.iter().map(|&len| len.saturating_sub(2)..len).collect();
    let corner = Selection::region(&ranges);
    let items: usize =
        ranges.iter().map(|range| usize::try_from(range.end - range.start).unwrap_or(0)).product();
    if items.saturating_mul(window.bytes) > LIMIT_BYTES {
        return false;
    }
    let mut out = vec![0; items * window.bytes];
    let blocks = array.blocks_touched(&corner);
    assert!(blocks.is_ok_and(|blocks| blocks <= items as u64), "more blocks than items");
    array.read(&corner, window, &mut out, &job()).is_ok()
}

/// An item of one of the dtypes of the seeds as a number; `None` for a NaN.
fn item_of(dtype: Option<&str>, item: &[u8]) -> Option<f64> {
    let number = match (dtype?, item) {
        ("<f4", &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).into(),
        ("<f8", &[a, b, c, d, e, f, g, h]) => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        ("<i2", &[low, high]) => i16::from_le_bytes([low, high]).into(),
        // Of others the order is not looked at.
        (_, &[byte]) if dtype == Some("|u1") => byte.into(),
        _ => 0.0,
    };
    (!f64::is_nan(number)).then_some(number)
}

/// What is known of a chunk that can be read is true.
fn bounds_are_true(array: &Array, number: u64, facts: &str) {
    let (Some(bounds), grid) = (array.chunk_bounds(number), array.grid()) else { return };
    let region = grid.region(number);
    let items: u64 = region.iter().map(|range| range.end - range.start).product();
    let mut out = vec![0; usize::try_from(items).unwrap_or(0) * grid.typesize()];
    let window = Window { offset: 0, bytes: grid.typesize() };
    if array.read(&Selection::region(&region), window, &mut out, &job()).is_err() {
        return;
    }
    let number_of = |item: &[u8]| item_of(array.dtype(), item);
    let (min, max) = (number_of(&bounds.min), number_of(&bounds.max));
    let all: Vec<_> = out.chunks_exact(grid.typesize()).map(number_of).collect();
    let numbers = || all.iter().flatten().copied();
    let is_true = numbers().all(|x| min.is_some_and(|min| min <= x) && max.is_some_and(|max| x <= max))
        && (bounds.has_nan || !all.contains(&None));
    let is_exact = min == numbers().reduce(f64::min) && max == numbers().reduce(f64::max);
    assert!(is_true && (is_exact || !bounds.is_exact), "{facts}: chunk {number} has not {bounds:?}");
}

/// What says that a frame is an array is an error, or written as it was read.
pub(crate) fn array_metalayer(bytes: &[u8]) -> bool {
    let Ok(meta) = Meta::read(bytes) else { return false };
    assert_eq!(Meta::read(&meta.write()).ok().as_ref(), Some(&meta), "written is not what was read");
    for typesize in [1, 8, 1 << 20] {
        if let Ok(sizes) = meta.sizes(typesize) {
            assert!(sizes.block_bytes <= sizes.chunk_bytes || sizes.chunk_bytes == 0, "{sizes:?}");
        }
    }
    true
}

/// What an array says and holds.
#[derive(PartialEq, Eq)]
pub(crate) struct Content {
    facts: String,
    layers: Vec<(String, Option<Vec<u8>>)>,
    items: Vec<u8>,
}

impl Content {
    pub(crate) fn of(bytes: Vec<u8>, options: &OpenOptions) -> Result<Self> {
        let array = Array::from_source(Arc::new(bytes), options)?;
        let (facts, layers) = described(&array)?;
        let grid = array.grid();
        let mut items = vec![0; usize::try_from(grid.size()).unwrap_or(0) * grid.typesize()];
        let window = Window { offset: 0, bytes: grid.typesize() };
        array.read(&Selection::all(grid.shape()), window, &mut items, &job())?;
        Ok(Self { facts, layers, items })
    }
}

type Layers = Vec<(String, Option<Vec<u8>>)>;

fn described(array: &Array) -> Result<(String, Layers)> {
    let facts = format!("{:?} {:?} {:?}", array.grid(), array.dtype(), array.metalayers());
    let layer = |name: String| array.layer(&name).map(|content| (name, content));
    Ok((facts, array.layer_names().into_iter().map(layer).collect::<Result<_>>()?))
}

/// An array with sums that was damaged: every part is right, or is an error.
pub(crate) fn damaged_array(bytes: &[u8]) -> bool {
    let Ok(array) = Array::from_source(Arc::new(bytes.to_vec()), &OpenOptions::default()) else {
        return false;
    };
    let Ok((facts, layers)) = described(&array) else { return false };
    let mut known: Vec<_> = known_contents().iter().collect();
    known.retain(|content| content.facts == facts && content.layers == layers);
    assert!(!known.is_empty(), "{facts}: no array that there was");
    let grid = array.grid();
    let (typesize, window) = (grid.typesize(), Window { offset: 0, bytes: grid.typesize() });
    let row = |number: u64| {
        let mut ranges: Vec<_> = grid.shape().iter().map(|&len| 0..len).collect();
        if let Some(first) = ranges.first_mut() {
            *first = number..number + 1;
        }
        Selection::region(&ranges)
    };
    // Row by row: so that what is good of it is looked at too.
    let nrows = grid.shape().first().copied().unwrap_or(1);
    let row_bytes = usize::try_from(grid.size() / nrows.max(1)).unwrap_or(0) * typesize;
    let mut is_sound = true;
    for number in 0..nrows {
        let mut out = vec![0x5a; row_bytes];
        if array.read(&row(number), window, &mut out, &job()).is_err() {
            is_sound = false;
            continue;
        }
        let at = usize::try_from(number).unwrap_or(0) * row_bytes;
        known.retain(|content| content.items[at..at + row_bytes] == out);
        assert!(!known.is_empty(), "{facts}: row {number} is wrong and no error");
    }
    (0..grid.nchunks()).for_each(|number| bounds_are_true(&array, number, &facts));
    let is_clean = array.verify(&job()).is_ok_and(|damage| damage.is_empty());
    assert!(is_sound || !is_clean, "damage that is not found");
    is_sound
}
