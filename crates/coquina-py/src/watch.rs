//! Looks after a running job: Ctrl-C stops it, a Python callback sees its progress, and a long one has a bar.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use coquina::{ErrorKind, Job, Result};
use pyo3::prelude::*;

use crate::errors::Raised;
use crate::{h5py, options};

/// Between two looks a job runs undisturbed.
const EVERY: Duration = Duration::from_millis(50);
/// Jobs of fewer bytes are over before anybody could react.
const WATCH_BYTES: usize = 1 << 20;
/// Jobs that are over sooner get no bar.
const BAR_AFTER: Duration = Duration::from_secs(1);

/// Makes bars, if anybody wants them.
static BARS: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(set_progress_bars, module)?)
}

/// Says who makes the bars of jobs that take over a second: called with the bytes of all a job's work, it returns
/// None, or what is called with the bytes done and closed by its `close` in the end.
#[pyfunction]
#[pyo3(signature = (make, /))]
fn set_progress_bars(make: Option<Py<PyAny>>) {
    *BARS.lock().unwrap_or_else(PoisonError::into_inner) = make;
}

fn makes_bars(py: Python<'_>) -> Option<Py<PyAny>> {
    BARS.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|make| make.clone_ref(py))
}

/// Runs `work` without the GIL, watched. `total` is the number of bytes it will report as done.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    total: usize,
    threads: Option<i64>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Job<'_>) -> Result<T> + Send,
) -> Result<T, Raised> {
    let asked = options::threads(threads)?;
    // Other threads would wait for a lock that this one has, while it waits for them.
    let is_locked = h5py::is_locked_here(py);
    let job = || Job::default().threads(if is_locked { Some(1) } else { asked }).waits(!is_locked);
    if total < WATCH_BYTES && progress.is_none() {
        return Ok(py.detach(|| work(&job()))?);
    }
    let (result, watcher) = py.detach(|| {
        let watcher = RefCell::new(Watcher::new(progress));
        let look = |done: u64, total: u64| watcher.borrow_mut().look(done, total);
        let result = work(&job().observed_by(&look));
        (result, watcher.into_inner())
    });
    watcher.end(py, result.is_ok().then_some(total as u64)).map_err(Raised)?;
    match (result, watcher.raised) {
        (Err(error), Some(raised)) if error.kind() == ErrorKind::Cancelled => Err(Raised(raised)),
        (result, _) => Ok(result?),
    }
}

/// What is looked at now and then while a job runs.
struct Watcher {
    progress: Option<Py<PyAny>>,
    /// The bar of a step of the job, and the bytes of that step.
    bar: Option<(u64, Option<Py<PyAny>>)>,
    began: Instant,
    last: Instant,
    raised: Option<PyErr>,
}

impl Watcher {
    fn new(progress: Option<Py<PyAny>>) -> Self {
        let now = Instant::now();
        Self { progress, bar: None, began: now, last: now, raised: None }
    }

    fn look(&mut self, done: u64, total: u64) -> ControlFlow<()> {
        if self.last.elapsed() < EVERY {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        self.raised = Python::attach(|py| self.tell(py, done, total)).err();
        if self.raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn tell(&mut self, py: Python<'_>, done: u64, total: u64) -> PyResult<()> {
        py.check_signals()?;
        if let Some(progress) = &self.progress {
            return progress.call1(py, (done,)).map(drop);
        }
        if self.began.elapsed() < BAR_AFTER {
            return Ok(());
        }
        if self.bar.as_ref().is_none_or(|(of, _)| *of != total) {
            self.close(py)?;
            let bar = makes_bars(py).map(|make| make.call1(py, (total,))).transpose()?;
            self.bar = Some((total, bar.filter(|bar| !bar.is_none(py))));
        }
        match &self.bar {
            Some((_, Some(bar))) => bar.call1(py, (done,)).map(drop),
            _ => Ok(()),
        }
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match &self.bar {
            Some((_, Some(bar))) => bar.call_method0(py, "close").map(drop),
            _ => Ok(()),
        }
    }

    /// The job is over; however short it was, the end of one that went well is told.
    fn end(&self, py: Python<'_>, total: Option<u64>) -> PyResult<()> {
        self.close(py)?;
        let Some(total) = total else { return Ok(()) };
        py.check_signals()?;
        match &self.progress {
            Some(progress) => progress.call1(py, (total,)).map(drop),
            None => Ok(()),
        }
    }
}
