//! Indexes: rows sorted by keys, the search of what was stored of them, and the sets that are asked for and found.

mod choice;
mod current;
mod key_ranges;
mod metadata;
mod order;
mod place;
mod progress;
mod pytables_search;
mod pytables_sort;
mod row_keys;
mod row_set;
mod run;
mod sort;
mod state;
mod terms;

use pyo3::prelude::*;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<sort::IndexSort>()?;
    module.add_class::<key_ranges::PyKeyRanges>()?;
    module.add_class::<row_set::PyRowSet>()?;
    module.add_class::<terms::Term>()?;
    module.add_class::<terms::Both>()?;
    module.add_class::<terms::Either>()?;
    module.add_class::<choice::IndexChooser>()?;
    module.add_class::<choice::IndexChoice>()?;
    module.add_class::<metadata::IndexMetadata>()?;
    module.add_class::<state::IndexState>()?;
    module.add_class::<current::CurrentIndex>()?;
    module.add_class::<pytables_search::PyTablesSearch>()?;
    module.add_class::<pytables_sort::PyTablesSort>()?;
    module.add_function(wrap_pyfunction!(order::order_of, module)?)?;
    module.add_function(wrap_pyfunction!(row_keys::row_keys, module)?)?;
    module.add_function(wrap_pyfunction!(pytables_search::pytables_sizes, module)?)?;
    module.add_class::<run::IndexRun>()
}
