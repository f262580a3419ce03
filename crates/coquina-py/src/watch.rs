//! Looks after a running job: Ctrl-C stops it, and a Python callback sees its progress.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use coquina::{ErrorKind, Job, Result};
use pyo3::prelude::*;

use crate::errors::Raised;
use crate::options;

/// Between two looks a job runs undisturbed.
const EVERY: Duration = Duration::from_millis(50);
/// Jobs of fewer bytes are over before anybody could react.
const WATCH_BYTES: usize = 1 << 20;

/// Runs `work` without the GIL, watched. `total` is the number of bytes it will report as done.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    total: usize,
    threads: Option<i64>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Job<'_>) -> Result<T> + Send,
) -> Result<T, Raised> {
    let threads = options::threads(threads)?;
    if total < WATCH_BYTES && progress.is_none() {
        return Ok(py.detach(|| work(&Job::default().threads(threads)))?);
    }
    let watched = py.detach(|| {
        let state = RefCell::new((Instant::now(), None));
        let look = |done: u64| {
            let (last, raised) = &mut *state.borrow_mut();
            if last.elapsed() < EVERY {
                return ControlFlow::Continue(());
            }
            *last = Instant::now();
            *raised = Python::attach(|py| report(py, progress.as_ref(), done)).err();
            if raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let result = work(&Job::default().threads(threads).observed_by(&look));
        (result, state.into_inner().1)
    });
    if watched.0.is_ok() {
        // However short the job was, its end is told.
        report(py, progress.as_ref(), total as u64)?;
    }
    match watched {
        (Err(error), Some(raised)) if error.kind() == ErrorKind::Cancelled => Err(Raised(raised)),
        (result, _) => Ok(result?),
    }
}

fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, done: u64) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        progress.call1(py, (done,))?;
    }
    Ok(())
}
