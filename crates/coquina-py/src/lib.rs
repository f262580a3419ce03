//! The Python module `coquina._core`: converts arguments, releases the GIL, calls the engine, maps errors.

#![deny(unsafe_code)]

mod arrays;
mod bloscpack;
mod buffers;
mod column_arrays;
mod column_nodes;
mod column_reader;
mod compression;
mod conditions;
mod directories;
mod elements;
mod errors;
mod explain;
mod files;
mod frames;
mod group;
mod h5py;
mod hdf5;
mod index;
mod lazy;

mod opening;
mod options;
mod plugins;
mod progress;
mod query;
mod reduce;
mod remote;
mod rows;
mod sorted_rows;
mod trainer;
mod tuples;
mod watch;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::add_to(module)?;
    compression::add_to(module)?;
    directories::add_to(module)?;
    explain::add_to(module)?;
    module.add_class::<trainer::TrainerHandle>()?;
    conditions::add_to(module)?;
    elements::add_to(module)?;
    bloscpack::add_to(module)?;
    arrays::add_to(module)?;
    column_nodes::add_to(module)?;
    frames::add_to(module)?;
    opening::add_to(module)?;
    hdf5::add_to(module)?;
    index::add_to(module)?;
    lazy::add_to(module)?;

    plugins::add_to(module)?;
    group::add_to(module)?;
    column_reader::add_to(module)?;
    query::add_to(module)?;
    reduce::add_to(module)?;
    rows::add_to(module)?;
    sorted_rows::add_to(module)?;
    watch::add_to(module)?;
    module.add_class::<column_arrays::PyColumnArrays>()?;
    module.add_class::<progress::ProgressBar>()
}
