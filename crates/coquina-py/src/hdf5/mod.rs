//! Datasets of HDF5 files that h5py has open, as arrays of the engine.
//!
//! h5py owns the files and their structure. A [`Hdf5Library`] is one of its datasets, lent to the engine: what that
//! asks of libhdf5 goes through it. Beside that the engine's own readers of HDF5's bytes are offered, for who has a
//! chunk or a file without h5py.

mod access;
mod attributes;
mod boxes;
mod dataset;
mod filters;
mod index;
mod journaled;
mod library;
mod opening;
mod order;
mod rows;
mod storage;
mod tuner;
mod versions;

use pyo3::prelude::*;

pub(crate) use dataset::Dataset;
pub(crate) use library::Hdf5Library;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Hdf5Library>()?;
    module.add_class::<journaled::JournaledFile>()?;
    module.add_class::<rows::ChunkRows>()?;
    module.add_class::<tuner::ChunkTuner>()?;
    module.add_class::<versions::SoleWriter>()?;
    module.add_class::<versions::DatasetVersion>()?;
    opening::add_to(module)?;
    filters::add_to(module)?;
    index::add_to(module)
}
