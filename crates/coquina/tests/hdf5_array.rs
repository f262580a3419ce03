//! Laws of arrays in HDF5: whatever the filters and the way to the chunks, they are as a plain buffer.
//!
//! In place of libhdf5 stands a list of stored chunks, and an image of a file for reading it directly.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod plain;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use coquina::array::{Array, AxisSelection, Selection, Values};
use coquina::hdf5::{ChunkRow, Pipeline, Slot};
use coquina::store::hdf5::{ChunkAccess, Hdf5Spec, Library, TerminatedField};
use coquina::tune::{Goal, Wants};
use coquina::{ErrorKind, Job, Limits, Result};
use plain::{ITEMS, Plain, Step, TYPESIZE, content, count, region, values};
use proptest::prelude::*;

/// Stored chunks by their first item, as they come and go, and the items where there are no chunks.
struct Dataset {
    state: Mutex<State>,
    /// Of the chunks, which have this shape.
    pipeline: Pipeline,
    dims: Vec<u64>,
}

#[derive(Default)]
struct State {
    chunks: BTreeMap<Vec<u64>, Vec<u8>>,
    plain: Option<Plain>,
    reads: usize,
    /// How many changes there were, if they are counted.
    version: Option<u64>,
}

impl Dataset {
    fn new(plain: Option<Plain>, slots: &[Slot], dims: &[u64]) -> Arc<Self> {
        let pipeline = Pipeline::new(slots.to_vec(), dims, TYPESIZE).unwrap();
        let state = Mutex::new(State { plain, ..State::default() });
        Arc::new(Self { state, pipeline, dims: dims.to_vec() })
    }

    /// A chunk as a plain buffer of its own.
    fn decoded(&self, chunk: &[u8]) -> Plain {
        let mut items = vec![[0; TYPESIZE]; count(&self.dims)];
        self.pipeline.decode(chunk, 0, items.as_flattened_mut()).unwrap();
        Plain { shape: self.dims.clone(), items, layer: None }
    }

    /// A file with all chunks, and where they are.
    fn image(&self) -> (Vec<u8>, Vec<(Vec<u64>, ChunkRow)>) {
        let mut image = vec![0xaa; 100];
        let mut rows = Vec::new();
        for (start, chunk) in &self.state.lock().unwrap().chunks {
            let row = ChunkRow { address: image.len() as u64, size: chunk.len() as u64, mask: 0 };
            image.extend_from_slice(chunk);
            image.extend_from_slice(b"gap");
            rows.push((start.clone(), row));
        }
        (image, rows)
    }
}

fn ranges(start: &[u64], shape: &[u64]) -> Vec<std::ops::Range<u64>> {
    start.iter().zip(shape).map(|(&start, &len)| start..start + len).collect()
}

impl Library for Dataset {
    fn read_chunks(&self, starts: &[Vec<u64>]) -> Result<Vec<Option<(Vec<u8>, u32)>>> {
        let mut state = self.state.lock().unwrap();
        state.reads += 1;
        Ok(starts.iter().map(|start| state.chunks.get(start).map(|chunk| (chunk.clone(), 0))).collect())
    }

    fn write_chunks(&self, chunks: &[(Vec<u64>, Vec<u8>)]) -> Result<()> {
        let mut state = self.state.lock().unwrap();
        state.chunks.extend(chunks.iter().cloned());
        state.version = state.version.map(|version| version + 1);
        Ok(())
    }

    fn version(&self) -> Option<u64> {
        self.state.lock().unwrap().version
    }

    fn read_box(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        let state = self.state.lock().unwrap();
        // Of datasets with chunks a box is asked for where it is all of a chunk that the edge cuts.
        let chunk = state.chunks.get(start).map(|chunk| self.decoded(chunk));
        let (all, start) = match &chunk {
            Some(chunk) => (chunk, &vec![0; start.len()][..]),
            None => (state.plain.as_ref().unwrap(), start),
        };
        for (number, item) in (0..).zip(out.as_chunks_mut::<TYPESIZE>().0) {
            let at = plain::coordinates(shape, number);
            let at: Vec<u64> = at.iter().zip(start).map(|(at, start)| at + start).collect();
            *item = all.items[all.place(&at)];
        }
        Ok(())
    }

    fn write_box(&self, start: &[u64], shape: &[u64], items: &[u8]) -> Result<()> {
        let items: Vec<[u8; TYPESIZE]> = items.as_chunks().0.to_vec();
        self.state.lock().unwrap().plain.as_mut().unwrap().write(&ranges(start, shape), &items);
        Ok(())
    }

    fn set_shape(&self, shape: &[u64]) -> Result<()> {
        let mut state = self.state.lock().unwrap();
        state.chunks.retain(|start, _| start.iter().zip(shape).all(|(at, len)| at < len));
        if let Some(plain) = &mut state.plain {
            plain.resize(shape);
        }
        Ok(())
    }

    fn chunk_table(&self, each: &mut dyn FnMut(&[u64], ChunkRow) -> Result<()>) -> Result<()> {
        self.image().1.iter().try_for_each(|(start, row)| each(start, *row))
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }
}

fn slot(id: u16, values: &[u32]) -> Slot {
    Slot { id, is_optional: true, values: values.to_vec() }
}

/// Filters for chunks of this shape.
fn pipelines(chunks: &[u64]) -> Vec<Vec<Slot>> {
    let bytes = u32::try_from(count(chunks) * TYPESIZE).unwrap();
    let item = u32::try_from(TYPESIZE).unwrap();
    let mut blosc2 = vec![1, 0, item, bytes, 5, 1, 5];
    if (2..=8).contains(&chunks.len()) {
        blosc2.push(u32::try_from(chunks.len()).unwrap());
        blosc2.extend(chunks.iter().map(|&len| u32::try_from(len).unwrap()));
    }
    // One with blocks that are smaller than the chunk.
    let mut small = blosc2.clone();
    small[1] = (bytes / 4).max(item) / item * item;
    vec![
        vec![],
        vec![slot(2, &[item]), slot(1, &[4])],
        vec![slot(3, &[]), slot(1, &[1])],
        vec![slot(32001, &[2, 2, item, bytes, 5, 1, 1])],
        vec![slot(32026, &blosc2)],
        vec![slot(32026, &small)],
        vec![slot(32026, &small), slot(3, &[])],
        vec![slot(32004, &[16])],
        vec![slot(32008, &[0, 4, item, 8, 2])],
        vec![slot(32015, &[3])],
    ]
}

fn spec(
    library: &Arc<Dataset>,
    shape: &[u64],
    chunks: &[u64],
    slots: Vec<Slot>,
    chunk_access: ChunkAccess,
) -> Hdf5Spec {
    Hdf5Spec {
        shape: shape.into(),
        chunks: chunks.into(),
        blocks: None,
        place: None,
        rank: shape.len(),
        dtype: "<i4".into(),
        typesize: TYPESIZE,
        fill: vec![0; TYPESIZE],
        slots,
        checksums: true,
        terminated: Vec::new(),
        seconds: None,
        encoding: None,
        zones: Vec::new(),
        chunk_access,
        writable: true,
        library: Arc::clone(library) as Arc<dyn Library>,
        source: None,
        header: None,
        contiguous: None,
    }
}

fn sizes(ndim: usize, most: u64) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(1..=most, ndim)
}

fn steps(ndim: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (sizes(ndim, 20), sizes(ndim, 9), any::<u32>())
            .prop_map(|(from, len, seed)| Step::Write { from, len, seed }),
        1 => (sizes(ndim, 20), any::<u32>()).prop_map(|(from, seed)| Step::Fill { from, seed }),
        2 => (0..ndim, 1..5_u64, any::<u32>())
            .prop_map(|(axis, len, seed)| Step::Append { axis, len, seed }),
        1 => sizes(ndim, 12).prop_map(|shape| Step::Resize { shape }),
    ];
    prop::collection::vec(step, 1..6)
}

type Case = (Vec<u64>, Vec<u64>, usize, Vec<Step>, Vec<u64>);

fn case() -> impl Strategy<Value = Case> {
    (1..4_usize)
        .prop_flat_map(|ndim| (sizes(ndim, 12), sizes(ndim, 7), 0..10_usize, steps(ndim), sizes(ndim, 12)))
}

/// Every box that begins at `from`, and every second item of it, is what the plain version has.
fn check_boxes(array: &Array, plain: &Plain, from: &[u64]) {
    let ranges = region(&plain.shape, from, &vec![5; from.len()]);
    for step in [1, 2] {
        let axis = |range: &std::ops::Range<u64>| {
            let len = (range.end - range.start).div_ceil(step);
            Some(AxisSelection::Range { start: range.start, step: step.cast_signed(), len })
        };
        let selection = Selection { axes: ranges.iter().map(axis).collect(), points: None };
        let shape = selection.shape();
        let mut out = vec![[0xee; TYPESIZE]; count(&shape)];
        array.read(&selection, ITEMS, out.as_flattened_mut(), &Job::default()).unwrap();
        for (number, item) in (0..).zip(&out) {
            let at = plain::coordinates(&shape, number);
            let at: Vec<u64> = at.iter().zip(&ranges).map(|(at, range)| range.start + at * step).collect();
            assert_eq!(*item, plain.items[plain.place(&at)], "{at:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_dataset_is_as_a_plain_buffer((shape, chunks, filters, steps, from) in case()) {
        let slots = pipelines(&chunks)[filters].clone();
        let library = Dataset::new(None, &slots, &chunks);
        let array =
            Array::open_hdf5(spec(&library, &shape, &chunks, slots.clone(), ChunkAccess::Fetched), Limits::default());
        let array = array.unwrap();
        let mut plain = Plain { shape: shape.clone(), items: vec![[0; TYPESIZE]; count(&shape)], layer: None };
        for step in &steps {
            step.run(&array, &mut plain).unwrap();
            prop_assert_eq!(content(&array).unwrap(), plain.clone());
        }
        check_boxes(&array, &plain, &from);

        // The file that this would be, read directly, gives the same.
        let source: Arc<dyn coquina::ReadAt> = Arc::new(library.image().0);
        let direct = spec(&library, &plain.shape, &chunks, slots, ChunkAccess::Direct);
        let direct =
            Array::open_hdf5(Hdf5Spec { source: Some(source), ..direct }, Limits::default()).unwrap();
        let reads = library.state.lock().unwrap().reads;
        prop_assert_eq!(content(&direct).unwrap(), plain.clone());
        check_boxes(&direct, &plain, &from);
        // A chunk of its raw size at the edge may be one that no filter changed: only libhdf5 knows.
        let raw = count(&chunks) * TYPESIZE;
        if library.state.lock().unwrap().chunks.values().all(|chunk| chunk.len() != raw) {
            prop_assert_eq!(library.state.lock().unwrap().reads, reads);
            prop_assert_eq!(direct.stats().sizes.chunk_access.unwrap().chunk_access, ChunkAccess::Direct);
        }
    }

    #[test]
    fn small_reads_of_a_dataset_ask_the_library_once_after_a_change((shape, chunks, filters, steps, from) in case()) {
        let slots = pipelines(&chunks)[filters].clone();
        let library = Dataset::new(None, &slots, &chunks);
        library.state.lock().unwrap().version = Some(0);
        let open = || {
            let spec = spec(&library, &shape, &chunks, slots.clone(), ChunkAccess::Fetched);
            Array::open_hdf5(spec, Limits::default()).unwrap()
        };
        let handles = [open(), open()];
        let mut plain = Plain { shape: shape.clone(), items: vec![[0; TYPESIZE]; count(&shape)], layer: None };
        let writes = steps.iter().filter(|step| matches!(step, Step::Write { .. } | Step::Fill { .. }));
        for (number, step) in writes.enumerate() {
            step.run(&handles[number % 2], &mut plain).unwrap();
            handles.iter().for_each(|array| check_boxes(array, &plain, &from));
            let reads = library.state.lock().unwrap().reads;
            let unchanged = |array: &Array| array.stats().sizes.chunk_access.unwrap().chunks_unchanged;
            let before = handles.each_ref().map(unchanged);
            handles.iter().for_each(|array| check_boxes(array, &plain, &from));
            prop_assert_eq!(library.state.lock().unwrap().reads, reads);
            prop_assert!(handles.each_ref().map(unchanged).iter().zip(before).all(|(now, before)| *now > before));
        }
        // From now on somebody else may write.
        library.state.lock().unwrap().version = None;
        let reads = library.state.lock().unwrap().reads;
        handles.iter().for_each(|array| check_boxes(array, &plain, &from));
        prop_assert!(library.state.lock().unwrap().reads >= reads + 2);
    }

    #[test]
    fn a_dataset_without_chunks_is_too((shape, _chunks, _filters, steps, from) in case()) {
        let items = values(count(&shape), 3);
        let mut plain = Plain { shape: shape.clone(), items, layer: None };
        let library = Dataset::new(Some(plain.clone()), &[], &shape);
        let whole = spec(&library, &shape, &[], vec![], ChunkAccess::Whole);
        let array = Array::open_hdf5(whole, Limits::default()).unwrap();
        prop_assert_eq!(content(&array).unwrap(), plain.clone());

        let mut image = vec![0x55; 37];
        image.extend_from_slice(plain.items.as_flattened());
        let direct = Hdf5Spec {
            source: Some(Arc::new(image)),
            contiguous: Some(37),
            ..spec(&library, &shape, &[], vec![], ChunkAccess::Direct)
        };
        let direct = Array::open_hdf5(direct, Limits::default()).unwrap();
        prop_assert_eq!(content(&direct).unwrap(), plain.clone());
        check_boxes(&direct, &plain, &from);

        for step in steps {
            if matches!(step, Step::Write { .. } | Step::Fill { .. }) {
                step.run(&array, &mut plain).unwrap();
                prop_assert_eq!(content(&array).unwrap(), plain.clone());
            }
        }
        check_boxes(&array, &plain, &from);
        prop_assert!(array.stats().sizes.chunk_access.unwrap().boxes_whole > 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_tuned_dataset_is_as_a_plain_buffer((shape, chunks, filters, steps, from) in case()) {
        let slots = pipelines(&chunks)[4 + filters % 2].clone();
        let library = Dataset::new(None, &slots, &chunks);
        let opened = spec(&library, &shape, &chunks, slots.clone(), ChunkAccess::Fetched);
        let array = Array::open_hdf5(opened, Limits::default()).unwrap();
        array.set_tuning(Some(Goal::default())).unwrap();
        let mut plain = Plain { shape: shape.clone(), items: vec![[0; TYPESIZE]; count(&shape)], layer: None };
        for step in &steps {
            step.run(&array, &mut plain).unwrap();
            prop_assert_eq!(content(&array).unwrap(), plain.clone());
        }
        check_boxes(&array, &plain, &from);
        prop_assert_eq!(array.encodings().unwrap().values().sum::<u64>(), array.grid().nchunks());
        prop_assert_eq!(array.tuning().unwrap(), Some(Goal::default()));
    }
}

#[test]
fn each_chunk_of_a_tuned_dataset_has_its_own_codec_by_any_number_of_threads() {
    let shape = [64, 8192];
    let items: Vec<[u8; TYPESIZE]> = (0..16)
        .flat_map(|chunk| {
            let noise = |i: u32| i.wrapping_mul(0x9e37_79b9) ^ i.wrapping_mul(0x85eb_ca6b).rotate_left(9);
            let value = move |i: u32| if chunk % 2 == 0 { noise(i) } else { i / 8 };
            (0..4 * 8192).map(move |i| value(i).to_le_bytes())
        })
        .collect();
    for rank in [0, 2] {
        let mut values = vec![1, 0, 4, 4 * 8192 * 4, 5, 1, 5];
        if rank == 2 {
            values.extend([2, 4, 8192]);
        }
        let slots = vec![slot(32026, &values)];
        let stored = |threads: usize| {
            let library = Dataset::new(None, &slots, &[4, 8192]);
            let opened = spec(&library, &shape, &[4, 8192], slots.clone(), ChunkAccess::Fetched);
            let array = Array::open_hdf5(opened, Limits::default()).unwrap();
            array.set_tuning(Some(Goal::new(0.0, Wants::Both, None, false).unwrap())).unwrap();
            let (all, job) = (Selection::all(&shape), Job::default().threads(Some(threads)));
            array.write(&all, ITEMS, Values::Bytes(items.as_flattened()), &job).unwrap();
            assert_eq!(array.tuner_counters().chosen, 16);
            assert!(content(&array).unwrap().items == items);
            let encodings = array.encodings().unwrap();
            assert!(encodings.len() > 1, "{encodings:?}");
            library.image().0
        };
        assert!(stored(1) == stored(8), "rank {rank}");
    }
}

#[test]
fn chunks_that_cannot_say_how_they_are_encoded_are_not_tuned() {
    for (number, slots) in pipelines(&[4, 3]).into_iter().enumerate() {
        let library = Dataset::new(None, &slots, &[4, 3]);
        for chunk_access in [ChunkAccess::Fetched, ChunkAccess::Whole] {
            let opened = spec(&library, &[6, 5], &[4, 3], slots.clone(), chunk_access);
            let array = Array::open_hdf5(opened, Limits::default()).unwrap();
            let set = array.set_tuning(Some(Goal::default()));
            if [4, 5].contains(&number) && chunk_access == ChunkAccess::Fetched {
                set.unwrap();
                array.set_tuning(None).unwrap();
            } else {
                assert_eq!(set.unwrap_err().kind(), ErrorKind::Unsupported, "{number} {chunk_access:?}");
            }
            assert_eq!(array.tuning().unwrap(), None);
        }
    }
}

#[test]
fn missing_chunks_and_growth_show_the_fill_value() {
    for slots in pipelines(&[4, 3]) {
        let library = Dataset::new(None, &slots, &[4, 3]);
        let fill = vec![1, 2, 3, 4];
        let filled = Hdf5Spec { fill, ..spec(&library, &[6, 5], &[4, 3], slots, ChunkAccess::Fetched) };
        let array = Array::open_hdf5(filled, Limits::default()).unwrap();
        let mut plain = Plain { shape: vec![6, 5], items: vec![[1, 2, 3, 4]; 30], layer: None };
        assert_eq!(content(&array).unwrap(), plain);
        Step::Write { from: vec![5, 4], len: vec![1, 1], seed: 7 }.run(&array, &mut plain).unwrap();
        assert_eq!(content(&array).unwrap(), plain);
        array.resize(&[7, 6], &Job::default()).unwrap();
        let grown = content(&array).unwrap();
        assert_eq!(grown.items[grown.place(&[5, 4])], plain.items[plain.place(&[5, 4])]);
        let rest = grown.items.iter().filter(|&item| *item == [1, 2, 3, 4]).count();
        assert_eq!(rest, grown.items.len() - 1);
    }
}

#[test]
fn a_fill_value_of_strings_ends_at_its_first_nul() {
    let library = Dataset::new(None, &[], &[4]);
    let field = TerminatedField { offset: 0, size: 4, count: 1 };
    let filled = Hdf5Spec {
        fill: b"a\0bc".to_vec(),
        terminated: vec![field],
        ..spec(&library, &[6], &[4], Vec::new(), ChunkAccess::Fetched)
    };
    let array = Array::open_hdf5(filled, Limits::default()).unwrap();
    assert_eq!(content(&array).unwrap().items, vec![*b"a\0\0\0"; 6]);
}

#[test]
fn rows_that_are_longer_than_a_slab_are_read_directly() {
    let shape = [3, 100_000];
    let plain = Plain { shape: shape.to_vec(), items: values(count(&shape), 3), layer: None };
    let image = Arc::new(plain.items.as_flattened().to_vec());
    let library = Dataset::new(None, &[], &shape);
    let direct = spec(&library, &shape, &[], vec![], ChunkAccess::Direct);
    let direct = Hdf5Spec { source: Some(image), contiguous: Some(0), ..direct };
    let direct = Array::open_hdf5(direct, Limits::default()).unwrap();
    assert!(direct.grid().nchunks() > 3 && 100_000 % direct.grid().chunks()[1] != 0);
    assert_eq!(content(&direct).unwrap(), plain);
}

#[test]
fn damage_that_is_not_in_the_file_is_read_past() {
    let slots = vec![slot(2, &[4]), slot(1, &[4])];
    let library = Dataset::new(None, &slots, &[4]);
    let array =
        Array::open_hdf5(spec(&library, &[10], &[4], slots.clone(), ChunkAccess::Fetched), Limits::default());
    let mut plain = Plain { shape: vec![10], items: vec![[0; TYPESIZE]; 10], layer: None };
    Step::Fill { from: vec![0], seed: 2 }.run(&array.unwrap(), &mut plain).unwrap();
    let (mut image, _) = library.image();
    image[100..].fill(0);
    let direct = spec(&library, &[10], &[4], slots, ChunkAccess::Direct);
    let direct = Hdf5Spec { source: Some(Arc::new(image)), ..direct };
    let direct = Array::open_hdf5(direct, Limits::default()).unwrap();
    assert_eq!(content(&direct).unwrap(), plain);
    let chunk_access = direct.stats().sizes.chunk_access.unwrap();
    assert_eq!(chunk_access.chunk_access, ChunkAccess::Fetched, "{chunk_access:?}");
    assert!(chunk_access.fallbacks > 0);
}

#[test]
fn chunks_are_written_as_the_pipeline_has_them() {
    let slots = vec![slot(2, &[4]), slot(1, &[4])];
    let library = Dataset::new(None, &slots, &[4]);
    let array =
        Array::open_hdf5(spec(&library, &[8], &[4], slots, ChunkAccess::Fetched), Limits::default()).unwrap();
    let mut plain = Plain { shape: vec![8], items: vec![[0; TYPESIZE]; 8], layer: None };
    Step::Fill { from: vec![0], seed: 3 }.run(&array, &mut plain).unwrap();
    for (start, chunk) in &library.state.lock().unwrap().chunks {
        let from = usize::try_from(start[0]).unwrap();
        assert_eq!(library.decoded(chunk).items, plain.items[from..from + 4]);
    }
}
