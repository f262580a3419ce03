//! Laws of how the chunks of an HDF5 dataset are encoded: as its attributes say.
//!
//! In place of libhdf5 stand lists of stored chunks and of layers, which attributes say.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use coquina::array::{Array, Selection, Values, Window};
use coquina::hdf5::{ChunkRow, Slot};
use coquina::lossy::{self, Bound, Contract, Reached, Record};
use coquina::store::hdf5::{Attributes, ChunkAccess, Hdf5Spec, Library, StoredChunk};
use coquina::tune::{self, Goal};
use coquina::{Error, ErrorKind, Job, Limits, Result};

const ROWS: u64 = 4000;
const CHUNK: u64 = 1000;
const ITEMS: Window = Window { offset: 0, bytes: 4 };

#[derive(Default)]
struct State {
    chunks: BTreeMap<Vec<u64>, Vec<u8>>,
    layers: BTreeMap<String, Vec<u8>>,
    /// Names of the layers that were asked for and written, in this order.
    asked: Vec<String>,
    written: Vec<String>,
    fails: bool,
}

#[derive(Default)]
struct Dataset(Mutex<State>);

impl Dataset {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn reached(&self) -> Reached {
        Record::read(&self.state().layers[lossy::LAYER], "<f4").unwrap().reached
    }
}

impl Attributes for Dataset {
    fn layer(&self, name: &str, dtype: &str) -> Result<Option<Vec<u8>>> {
        assert_eq!(dtype, "<f4");
        let mut state = self.state();
        if state.fails {
            return Err(Error::corrupt("the attribute is damaged"));
        }
        state.asked.push(name.to_owned());
        Ok(state.layers.get(name).cloned())
    }

    fn set_layer(&self, name: &str, content: Option<&[u8]>, _dtype: &str) -> Result<()> {
        let mut state = self.state();
        state.written.push(name.to_owned());
        match content {
            Some(content) => drop(state.layers.insert(name.to_owned(), content.to_vec())),
            None => drop(state.layers.remove(name)),
        }
        Ok(())
    }
}

impl Library for Dataset {
    fn read_chunks(&self, starts: &[Vec<u64>]) -> Result<Vec<Option<StoredChunk>>> {
        let state = self.state();
        Ok(starts.iter().map(|start| Some((state.chunks.get(start)?.clone(), 0))).collect())
    }

    fn write_chunks(&self, chunks: &[(Vec<u64>, Vec<u8>)]) -> Result<()> {
        self.state().chunks.extend(chunks.iter().cloned());
        Ok(())
    }

    fn read_box(&self, _start: &[u64], _shape: &[u64], _out: &mut [u8]) -> Result<()> {
        Err(Error::unsupported("boxes"))
    }

    fn write_box(&self, _start: &[u64], _shape: &[u64], _items: &[u8]) -> Result<()> {
        Err(Error::unsupported("boxes"))
    }

    fn set_shape(&self, _shape: &[u64]) -> Result<()> {
        Ok(())
    }

    fn chunk_table(&self, _each: &mut dyn FnMut(&[u64], ChunkRow) -> Result<()>) -> Result<()> {
        Err(Error::unsupported("a table"))
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn attributes(&self) -> Option<&dyn Attributes> {
        Some(self)
    }
}

fn open(library: &Arc<Dataset>, filter: u16) -> Array {
    let bytes = u32::try_from(CHUNK * 4).unwrap();
    let values = if filter == 1 { vec![4] } else { vec![1, 0, 4, bytes, 5, 1, 5] };
    let spec = Hdf5Spec {
        shape: vec![ROWS],
        chunks: vec![CHUNK],
        blocks: None,
        place: None,
        rank: 1,
        dtype: "<f4".into(),
        typesize: 4,
        fill: vec![0; 4],
        slots: vec![Slot { id: filter, is_optional: true, values }],
        checksums: true,
        terminated: Vec::new(),
        seconds: None,
        encoding: None,
        zones: Vec::new(),
        chunk_access: ChunkAccess::Fetched,
        writable: true,
        library: Arc::clone(library) as Arc<dyn Library>,
        source: None,
        header: None,
        contiguous: None,
    };
    Array::open_hdf5(spec, Limits::default()).unwrap()
}

fn numbers() -> Vec<f32> {
    (0..4000_u16).map(|i| (f32::from(i) / 37.0).sin()).collect()
}

fn write(array: &Array, numbers: &[f32]) -> Result<()> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    array.write(&Selection::all(&[ROWS]), ITEMS, Values::Bytes(&bytes), &Job::default())
}

fn read(array: &Array) -> Vec<f32> {
    let mut bytes = vec![[0; 4]; 4000];
    array.read(&Selection::all(&[ROWS]), ITEMS, bytes.as_flattened_mut(), &Job::default()).unwrap();
    bytes.into_iter().map(f32::from_le_bytes).collect()
}

fn with_bound() -> (Arc<Dataset>, Record) {
    let contract = Contract::new(Bound::of("max_error", 0.01).unwrap(), None, "<f4").unwrap();
    let record = Record { contract, reached: Reached::NOTHING };
    let library = Arc::new(Dataset::default());
    library.state().layers.insert(lossy::LAYER.into(), record.write());
    (library, record)
}

#[test]
fn attributes_are_read_before_the_first_write_and_once() {
    let (library, _) = with_bound();
    library.state().layers.insert(tune::LAYER.into(), Goal::default().write());
    let array = open(&library, 32026);
    assert_eq!(read(&array), vec![0.0; 4000]);
    assert!(library.state().asked.is_empty());
    for _ in 0..3 {
        write(&array, &numbers()).unwrap();
        array.refresh().unwrap();
    }
    assert_eq!(library.state().asked, [lossy::LAYER, tune::LAYER]);
    assert_eq!(array.tuning().unwrap(), Some(Goal::default()));
}

#[test]
fn a_goal_beside_a_filter_that_cannot_follow_it_means_nothing() {
    let library = Arc::new(Dataset::default());
    library.state().layers.insert(tune::LAYER.into(), Goal::default().write());
    let array = open(&library, 1);
    write(&array, &numbers()).unwrap();
    assert_eq!(read(&array), numbers());
    assert_eq!(array.tuning().unwrap(), None);
}

#[test]
fn what_a_write_loses_is_written_with_its_chunks() {
    for filter in [1, 32026] {
        let (library, record) = with_bound();
        let array = open(&library, filter);
        write(&array, &numbers()).unwrap();
        let errors = read(&array).into_iter().zip(numbers()).map(|(a, b)| f64::from(a - b).abs());
        let error = errors.fold(0.0, f64::max);
        let reached = library.reached();
        assert!(error > 0.0 && error <= 0.01);
        assert!((reached.max_error - error).abs() < 1e-6, "{reached:?} {error}");
        assert_eq!(reached.chunks.iter().sum::<u64>(), 4);
        assert_eq!(array.lossy().unwrap(), Some(Record { reached, ..record }));
    }
}

#[test]
fn what_is_within_the_bound_already_stays_and_its_loss_is_written_when_asked() {
    let (library, _) = with_bound();
    let array = open(&library, 32026);
    array.set_exact(true).unwrap();
    write(&array, &numbers()).unwrap();
    assert_eq!(read(&array), numbers());
    let lost = Reached { max_error: 0.005, chunks: [4, 0, 0, 0, 0], ..Reached::NOTHING };
    array.add_loss(&lost).unwrap();
    assert!(library.state().written.is_empty());
    array.write_loss().unwrap();
    assert_eq!(library.reached(), lost);
    array.set_exact(false).unwrap();
    write(&array, &numbers()).unwrap();
    assert_ne!(read(&array), numbers());
}

#[test]
fn attributes_that_cannot_be_read_refuse_writes_until_they_can() {
    let (library, _) = with_bound();
    let array = open(&library, 32026);
    library.state().fails = true;
    assert_eq!(write(&array, &numbers()).unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(library.state().chunks.is_empty());
    assert_eq!(read(&array), vec![0.0; 4000]);
    library.state().fails = false;
    write(&array, &numbers()).unwrap();
    assert!(library.reached().max_error > 0.0);
}

#[test]
fn a_goal_that_is_set_stands_in_the_attributes_and_is_followed() {
    let library = Arc::new(Dataset::default());
    let array = open(&library, 32026);
    array.set_tuning(Some(Goal::default())).unwrap();
    assert_eq!(library.state().layers[tune::LAYER], Goal::default().write());
    write(&array, &numbers()).unwrap();
    assert_eq!(array.tuner_counters().chosen, 4);
    array.set_tuning(None).unwrap();
    assert!(library.state().layers.is_empty());
    assert_eq!(array.tuning().unwrap(), None);
}
