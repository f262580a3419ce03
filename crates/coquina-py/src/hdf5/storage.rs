//! How the chunks of a dataset are cut and stored, as h5py tells it.

use pyo3::prelude::*;

use super::order::Order;

/// How chunks are cut and stored.
pub(super) struct Storage {
    pub(super) rank: usize,
    pub(super) chunks: Vec<u64>,
    /// Set if libhdf5 may list chunks with wrong coordinates.
    pub(super) order: Option<Order>,
    pub(super) has_filters: bool,
}

impl Storage {
    pub(super) fn of(dataset: &Bound<'_, PyAny>) -> PyResult<Self> {
        let filters: u64 = dataset
            .getattr("id")?
            .call_method0("get_create_plist")?
            .call_method0("get_nfilters")?
            .extract()?;
        let chunks = dataset.getattr("chunks")?.extract::<Option<Vec<u64>>>()?.unwrap_or_default();
        // A dataset without a shape has no axes.
        let maxshape =
            dataset.getattr("maxshape")?.extract::<Option<Vec<Option<u64>>>>()?.unwrap_or_default();
        let order = Order::of(&maxshape, &chunks);
        Ok(Self { rank: maxshape.len(), chunks, order, has_filters: filters > 0 })
    }
}
