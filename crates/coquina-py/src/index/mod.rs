//! Indexes: rows sorted by keys, and the search of what was stored of them.

mod progress;
mod run;
mod sort;

use pyo3::prelude::*;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<sort::IndexSort>()?;
    module.add_class::<run::IndexRun>()
}
