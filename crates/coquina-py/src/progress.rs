//! A progress bar on the terminal, for the command.

use indicatif::{ProgressBar as Bar, ProgressDrawTarget, ProgressStyle};
use pyo3::prelude::*;

/// A bar on standard error that fills as bytes are done; nothing where that is not a terminal.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct ProgressBar {
    bar: Bar,
}

const TEMPLATE: &str = "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}";

#[pymethods]
impl ProgressBar {
    #[new]
    #[pyo3(signature = (total, label, /))]
    fn new(total: u64, label: String) -> Self {
        let bar = Bar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_message(label);
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        Self { bar }
    }

    #[pyo3(signature = (done, /))]
    fn __call__(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Takes the bar off the terminal.
    fn close(&self) {
        self.bar.finish_and_clear();
    }
}
