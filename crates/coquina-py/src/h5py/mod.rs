//! The libhdf5 that h5py has loaded: its functions for stored chunks, called under h5py's lock.
//!
//! In: an h5py module and the identifier of an open dataset. Out: a [`Session`], which holds h5py's lock and reads,
//! writes and lists stored chunks. Nothing else calls libhdf5, which has no other door than C functions.
//!
//! There are two ways to the functions. *Raw*: they are looked up in the library that `h5py.defs` is linked to, and
//! called without the GIL, so that other Python threads run on. *Capsules*: `h5py.defs` lists wrappers of the same
//! functions for other Cython modules; they want the GIL and raise Python exceptions. To take the GIL for every chunk
//! costs milliseconds where other threads want it too, so capsules are for installations without raw symbols.
//!
//! What must hold: h5py's libhdf5 is mostly not built for threads, and h5py guards it with a lock of its own, `phil`.
//! So no function is called but with that lock held, and with an identifier that was found valid under it.

mod session;
mod symbols;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

pub(crate) use session::{Failure, Libhdf5, Session, is_locked_here, wait};

/// What a place keeps. Who comes first does not make others wait: they may have the lock that it needs.
pub(crate) fn kept<'a, T: Send + Sync>(
    place: &'a PyOnceLock<T>,
    py: Python<'_>,
    find: impl FnOnce() -> PyResult<T>,
) -> PyResult<&'a T> {
    if let Some(found) = place.get(py) {
        return Ok(found);
    }
    let found = find()?;
    Ok(place.get_or_init(py, || found))
}
