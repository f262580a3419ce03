"""What a dataset of HDF5 reads as where nothing was written.

In: a dataset of h5py. Out: the bytes of one element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coquina.hdf5.untyped import h5d, h5py, h5s, h5z


def fill_bytes(dataset: Any, plist: Any, whole: np.dtype[Any], is_exact: bool) -> bytes:
    """Return the bytes of an element that was never written."""
    zeros = bytes(whole.itemsize)
    if plist.fill_value_defined() != h5d.FILL_VALUE_USER_DEFINED:
        return zeros
    if plist.get_fill_time() == h5d.FILL_TIME_NEVER:
        return zeros  # Then nothing says what they are; h5py gives zeros.
    if not is_exact:
        return np.asarray(dataset.fillvalue, whole).tobytes()
    if plist.get_layout() == h5d.VIRTUAL:
        return zeros  # libhdf5 fills in what is missing there.
    return _stored_fill(dataset.id)


def _stored_fill(did: Any) -> bytes:
    """Return the fill value as it is stored, for every datatype.

    h5py converts it, and for array datatypes and times there is no conversion. A chunk of one element in a
    file in memory, allocated early, has its very bytes.
    """
    plist = did.get_create_plist()
    # No two threads may have files of one name in memory.
    with h5py.File(f"fill {id(plist)}", "w", driver="core", backing_store=False) as scratch:
        plist.set_layout(h5d.CHUNKED)
        plist.set_chunk((1,))
        plist.remove_filter(h5z.FILTER_ALL)
        plist.set_alloc_time(h5d.ALLOC_TIME_EARLY)
        plist.set_fill_time(h5d.FILL_TIME_ALLOC)
        made = h5d.create(scratch.id, b"x", did.get_type().copy(), h5s.create_simple((1,)), plist)
        return bytes(made.read_direct_chunk((0,))[1])
