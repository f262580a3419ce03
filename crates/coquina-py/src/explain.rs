//! What the tuner finds of some blocks, for Python, and how long codecs take here.

use coquina::chunk::{Params, Plain};
use coquina::tune::{self, Goal, Report, Sampled, Way};
use coquina::{BlockLayout, Error};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{GoalTerms, goal_of};
use crate::buffers::Input;
use crate::errors::Raised;
use crate::{options, watch};

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(explain_tuning, module)?)?;
    module.add_function(wrap_pyfunction!(coder_work, module)?)?;
    module.add_function(wrap_pyfunction!(codec_times, module)?)
}

/// What is tried on blocks of an array, and what is found.
///
/// blocks: whole blocks, one behind another; some of them are looked at.
/// block_bytes, typesize: bytes of a block and of an item. dtype: text of the dtype. block_shape: items of a block
///     along each axis; empty if they are of no array.
/// tuning: a goal. format: "blosc2", or "blosc1" for what chunks of that library can have.
///
/// Returns "features" (of the items), "tried" (a mapping for each way that was tried, the best first) and "chosen".
/// Raises ValueError for sizes that contradict each other.
#[pyfunction]
#[pyo3(signature = (blocks, /, block_bytes, typesize, dtype, block_shape, tuning, *, format="blosc2", threads=None))]
#[expect(clippy::too_many_arguments, reason = "one call from one place")]
fn explain_tuning<'py>(
    py: Python<'py>,
    blocks: &Bound<'py, PyAny>,
    block_bytes: usize,
    typesize: i64,
    dtype: &str,
    block_shape: Vec<u64>,
    tuning: GoalTerms,
    format: &str,
    threads: Option<i64>,
) -> Result<Bound<'py, PyDict>, Raised> {
    let input = Input::of(blocks)?;
    let bytes = input.bytes();
    let typesize = options::number("typesize", typesize, 1)?;
    check_blocks(bytes, block_bytes)?;
    let goal = goal_of(Some(tuning))?.unwrap_or_default();
    let layout = BlockLayout::new(&block_shape, typesize, dtype);
    let generation = options::generation(format)?;
    let params = Params { typesize, layout, generation, blocksize: Some(block_bytes), ..Params::default() };
    params.check()?;
    let source = Plain { plain: bytes, block_bytes };
    let numbers: Vec<usize> = (0..bytes.len() / block_bytes).collect();
    let sampled = Sampled { source: &source, numbers: &numbers, block_bytes };
    let report =
        watch::run(py, bytes.len(), threads, None, |job| tune::explain(&goal, &sampled, &params, job))?;
    Ok(to_dict(py, &goal, &report)?)
}

/// Says whether bytes are whole blocks.
pub(crate) fn check_blocks(bytes: &[u8], block_bytes: usize) -> coquina::Result<()> {
    if block_bytes == 0 || bytes.is_empty() || !bytes.len().is_multiple_of(block_bytes) {
        let len = bytes.len();
        return Err(Error::invalid(format!("blocks: {len} bytes are no blocks of {block_bytes}")));
    }
    Ok(())
}

fn to_dict<'py>(py: Python<'py>, goal: &Goal, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let features = PyDict::new(py);
    features.set_item("entropies", &report.features.entropies)?;
    features.set_item("delta_entropies", &report.features.delta_entropies)?;
    features.set_item("repeats", report.features.repeats)?;
    features.set_item("zeros", report.features.zeros)?;
    features.set_item("is_uniform", report.features.is_uniform)?;
    let tried = report
        .tried
        .iter()
        .enumerate()
        .map(|(place, way)| way_to_dict(py, way, place == 0))
        .collect::<PyResult<Vec<_>>>()?;
    let found = PyDict::new(py);
    found.set_item("features", features)?;
    found.set_item("chosen", tried.first())?;
    found.set_item("why", why(goal, report))?;
    found.set_item("tried", tried)?;
    Ok(found)
}

fn way_to_dict<'py>(py: Python<'py>, way: &Way, is_chosen: bool) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("codec", way.params.codec.name())?;
    found.set_item("level", way.params.level)?;
    found.set_item("filters", options::filter_names(&way.params.pipeline))?;
    found.set_item("ratio", 1.0 / way.fraction.max(1e-6))?;
    found.set_item("write_mbs", 1e3 / way.write_ns)?;
    found.set_item("read_mbs", 1e3 / way.read_ns)?;
    found.set_item("cost", way.cost)?;
    found.set_item("chosen", is_chosen)?;
    Ok(found)
}

/// Why the first was taken, in a sentence.
fn why(goal: &Goal, report: &Report) -> String {
    let [first, second, ..] = report.tried.as_slice() else { return "nothing else was tried".into() };
    let more = 100.0 * (second.cost / first.cost.max(1e-12) - 1.0);
    let than = format!("{} of {} candidates; the next costs {more:.1} % more", 1, report.tried.len());
    if goal.tradeoff() >= 1.0 {
        return format!("the smallest, or faster and within 0.1 % of it, {than}");
    }
    let what = match goal.wants() {
        tune::Wants::Read => "reading",
        tune::Wants::Write => "writing",
        tune::Wants::Both => "writing, reading",
    };
    format!("lowest time for {what} and storage, {than}")
}

/// What every codec and level takes here for reference data: lines of name, level, and nanoseconds per byte of writing
/// and reading. What `calibrate=True` compares with what the shipped table was measured beside.
#[pyfunction]
fn codec_times(py: Python<'_>) -> Result<String, Raised> {
    Ok(py.detach(tune::measured_text)?)
}

/// What is in the streams of a chunk by LZ4, LZ4HC or Zstd, per byte of what it decodes to: sequences, literals as they are
/// and behind a code, tables of codes, and bytes that are not encoded. None of other codecs.
#[pyfunction]
#[pyo3(signature = (chunk, /))]
fn coder_work(chunk: &Bound<'_, PyAny>) -> Result<Option<[f64; 5]>, Raised> {
    let found = tune::Work::of(Input::of(chunk)?.bytes())?;
    Ok(found.map(|work| [work.sequences, work.literals, work.coded, work.tables, work.raw]))
}
