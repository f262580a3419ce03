"""What the items of a dataset mean where their datatype alone does not say it.

In: a low-level dataset of h5py. Out: whether it is PyTables', whether its items are truth values or
times, and which strings in them end at their first NUL.
Source: HDF5 User Guide, "Datatypes"; PyTables, "PyTables File Format"; docs/formats/hdf5-filters.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coquina.hdf5.item_types import terminated_strings
from coquina.hdf5.untyped import h5a, h5t

#: What PyTables calls its nodes in the attribute CLASS.
_CLASSES = {b"TABLE", b"ARRAY", b"CARRAY", b"EARRAY", b"VLARRAY", b"INDEXARRAY", b"LASTROWARRAY"}
#: Tables of libhdf5's own H5TB are called so too, with this VERSION.
_H5TB = [b"TABLE", b"3.0"]


def terminated_in(did: Any) -> list[tuple[int, int, int]]:
    """Return the strings of an item that end at their first NUL: offset, size and number of each.

    PyTables gives its strings this datatype and fills them with NumPy's bytes, which may have NULs in them.
    """
    tid = did.get_type()
    # The axes of an array datatype are those of our array.
    found = terminated_strings(tid.get_super() if isinstance(tid, h5t.TypeArrayID) else tid)
    return [] if not found or is_of_pytables(did) else found


def is_truth(did: Any) -> bool:
    """Whether the items are PyTables' truth values: bit fields of 8 bits, which in other files are bits."""
    tid = did.get_type()
    while isinstance(tid, h5t.TypeArrayID):
        tid = tid.get_super()
    return isinstance(tid, h5t.TypeBitfieldID) and tid.get_size() == 1 and is_of_pytables(did)


def is_time64(did: Any) -> bool:
    """Whether the items are PyTables' times of 8 bytes: seconds, whose fraction stands in the lower half."""
    tid = did.get_type()
    while isinstance(tid, h5t.TypeArrayID):
        tid = tid.get_super()
    return isinstance(tid, h5t.TypeTimeID) and tid.get_size() == 8 and is_of_pytables(did)


def is_of_pytables(did: Any) -> bool:
    """Whether PyTables wrote a dataset, or who writes as it does."""
    texts = [_text(did, name) for name in (b"CLASS", b"VERSION")]
    return texts[0] in _CLASSES and texts[1] is not None and texts != _H5TB


def _text(did: Any, name: bytes) -> bytes | None:
    """Return the attribute of this name if it is one string of fixed length."""
    if not h5a.exists(did, name):
        return None
    attribute = h5a.open(did, name)
    if not isinstance(attribute.get_type(), h5t.TypeStringID) or attribute.get_type().is_variable_str():
        return None
    if attribute.shape not in ((), (1,)):
        return None
    value: Any = np.zeros(attribute.shape, attribute.dtype)
    attribute.read(value)
    return bytes(value.reshape(-1)[0])
