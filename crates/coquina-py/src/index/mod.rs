//! Indexes: rows sorted by keys, and the search of what was stored of them.

mod progress;
mod pytables_search;
mod pytables_sort;
mod run;
mod sort;

use pyo3::prelude::*;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<sort::IndexSort>()?;
    module.add_class::<pytables_search::PyTablesSearch>()?;
    module.add_class::<pytables_sort::PyTablesSort>()?;
    module.add_function(wrap_pyfunction!(pytables_search::pytables_sizes, module)?)?;
    module.add_class::<run::IndexRun>()
}
