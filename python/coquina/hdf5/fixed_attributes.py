"""Attributes of one number or string with an exact datatype, and the mark of PyTables' indexes among them.

In: nodes of h5py, names, values. Out: attributes as PyTables and anndata write them, and what they say.
Invariant: nothing that is pickled is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coquina.hdf5.attributes import attributes
from coquina.hdf5.item_types import stored_dtype
from coquina.hdf5.untyped import h5a, h5f, h5py, h5s, h5t


def put_text(node: Any, name: str, text: str | bytes) -> None:
    """Set an attribute to a string of fixed size: UTF-8, or ASCII for bytes. Empty ones have no item."""
    raw = text.encode() if isinstance(text, str) else text
    tid = h5t.C_S1.copy()
    tid.set_size(max(len(raw), 1))
    tid.set_cset(h5t.CSET_UTF8 if isinstance(text, str) else h5t.CSET_ASCII)
    is_null = not raw and isinstance(text, str)
    put_raw(node, name, tid, None if is_null else raw or b"\0")


def put_raw(node: Any, name: str, tid: Any, value: bytes | None) -> None:
    """Set an attribute to one item of a datatype, given by its bytes; None for no item."""
    at = name.encode()
    if h5a.exists(node.id, at):
        h5a.delete(node.id, at)
    made = h5a.create(node.id, at, tid, h5s.create(h5s.NULL if value is None else h5s.SCALAR))
    if value is not None:
        made.write(np.frombuffer(value, f"V{len(value)}").reshape(()), tid)


def put_number(node: Any, name: str, value: int, tid: Any) -> None:
    """Set an attribute to an integer, in place if it is one of that datatype already."""
    at = name.encode()
    if h5a.exists(node.id, at):
        found = h5a.open(node.id, at)
        if found.get_type().equal(tid) and found.get_space().get_simple_extent_type() == h5s.SCALAR:
            found.write(np.array(value, tid.dtype))
            return
    put_raw(node, name, tid, np.array(value, tid.dtype).tobytes())


def text_of(node: Any, name: str) -> str | None:
    """Return an attribute that is a string; None for any other, and for none."""
    value = raw_of(node, name)
    if isinstance(value, bytes):
        return value.decode("utf8", "replace")
    return None


def raw_of(node: Any, name: str) -> Any:
    """Return an attribute of one number or string (of any length) as NumPy has it; None for any other."""
    at = name.encode()
    if not h5a.exists(node.id, at):
        return None
    found = h5a.open(node.id, at)
    tid = found.get_type()
    if found.get_space().get_simple_extent_type() == h5s.NULL:
        return b"" if isinstance(tid, h5t.TypeStringID) else None
    if found.shape != ():
        return None
    if isinstance(tid, h5t.TypeStringID) and tid.is_variable_str():
        value = attributes(node)[name]
        return value.encode() if isinstance(value, str) else value
    dtype = stored_dtype(tid)
    if dtype is None or dtype.base.names is not None or dtype.subdtype is not None:
        return None
    value = np.empty((), f"V{dtype.itemsize}")
    found.read(value, tid)
    return np.frombuffer(value.tobytes(), dtype.newbyteorder("=") if dtype.isnative else dtype)[0]


def mark_indexes_stale(dataset: Any) -> None:
    """Tell PyTables that its indexes of a table are out of date, before rows change; in the file too."""
    above, _, name = (dataset.name or "").rpartition("/")
    place = f"{above}/_i_{name}"
    if not name or not isinstance(dataset.file.get(place), h5py.Group):
        return

    def mark(_: str, node: Any) -> None:
        if isinstance(node, h5py.Group) and text_of(node, "CLASS") == "INDEX":
            put_number(node, "DIRTY", 1, h5t.STD_I32LE)

    dataset.file[place].visititems(mark)
    # Chunks may be written past libhdf5: a killed program must not leave these without the mark.
    h5f.flush(dataset.id)
