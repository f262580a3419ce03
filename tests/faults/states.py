"""Everything that can be observed of a file that is opened anew, as a mapping of names to short texts.

In: a path. Out: for each group, dataset, table, column, attribute and index a line; equal mappings are equal
files. Values are told by a digest of all of them, so that states can be kept and compared by the hundred.
Names of the package's own bookkeeping are left out: indexes are told by whether they answer as a scan does.
"""

from __future__ import annotations

import hashlib
from typing import Any

import h5py
import numpy as np

import coquina as cq

State = dict[str, str]
_OWN = ("_p_", "_i_", "coquina_", "FIELD_", "NROWS", "TITLE", "VERSION", "CLASS", "encoding-", "_index")


def _digest(values: Any) -> str:
    """Tell values: dtype, shape, and a digest of all of them."""
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    plain = np.ma.getdata(values) if mask is not None else np.asarray(values)
    if plain.dtype.kind in "OT":
        content = repr([None if mask is not None and mask.flat[i] else x for i, x in enumerate(plain.flat)])
        content = content.encode(errors="surrogateescape")
    else:
        if mask is not None:
            plain = np.where(mask, np.zeros((), plain.dtype), plain)
        content = np.ascontiguousarray(plain).tobytes()
    content += b"" if mask is None else mask.tobytes()
    kind = "text" if plain.dtype.kind in "OT" else str(plain.dtype)
    return f"{kind} {plain.shape} {hashlib.sha1(content).hexdigest()[:12]}"


def _put_attrs(state: State, name: str, attrs: Any) -> None:
    for key in attrs:
        if not key.startswith(_OWN):
            value = attrs[key]
            is_short = isinstance(value, str) and len(value) < 40
            state[f"{name}@{key}"] = value if is_short else _digest(np.asarray(value))


def put_table(state: State, name: str, table: Any) -> None:
    """Tell a table: rows, columns, attributes, and whether its indexes answer as a scan does."""
    state[name] = f"table of {len(table)} rows, {table.layout.kind}"
    columns = {}
    for column in table.columns:
        columns[column] = table[column][...]
        state[f"{name}.{column}"] = _digest(columns[column])
    _put_attrs(state, name, table.attrs)
    for index, one in table.indexes.items():
        values = columns.get(index)
        state[f"{name} index {index}"] = _answers(table, index, values)
        del one


def _answers(table: Any, column: str, values: Any) -> str:
    """Ask conditions that an index answers; tell whether the answers are those of a scan."""
    if values is None or not len(values):
        return "nothing to ask"
    for at in sorted({0, len(values) // 3, len(values) - 1}):
        value = values[at]
        params = {"v": value if isinstance(value, str) else value.item()}
        for sign, wanted in (("==", values == value), (">", values > value), ("<=", values <= value)):
            found = table.where(f"{column} {sign} v", params).row_numbers()
            if not np.array_equal(np.sort(found), np.flatnonzero(wanted)):
                return f"WRONG: {column} {sign} {value!r}: {len(found)} rows, a scan has {wanted.sum()}"
    return "answers as a scan"


def _put_group(state: State, name: str, group: Any) -> None:
    _put_attrs(state, name or "/", group.attrs)
    for key in sorted(group):
        if key.startswith(_OWN):
            continue
        node, below = group[key], f"{name}/{key}"
        if isinstance(node, cq.Table):
            put_table(state, below, node)
        elif isinstance(node, cq.hdf5.Group):
            state[below] = "group"
            _put_group(state, below, node)
        else:
            state[below] = _digest(node[()] if isinstance(node, h5py.Dataset) else node[...])
            _put_attrs(state, below, node.attrs)


def hdf5_state(path: str) -> State:
    """Tell an HDF5 file."""
    state: State = {}
    with cq.open(path) as file:
        _put_group(state, "", file)
    return state


def directory_state(path: str) -> State:
    """Tell a table that is a directory."""
    state: State = {}
    with cq.open_table(path) as table:
        put_table(state, "", table)
    return state


def frame_state(path: str) -> State:
    """Tell an array in a frame."""
    with cq.open(path) as array:
        state = {"": _digest(array[...])}
        _put_attrs(state, "", array.attrs)
        damaged = array.verify()
        if damaged:
            state["damage"] = repr(damaged)
    return state


def difference(found: State, wanted: State) -> str:
    """Tell how two states differ, shortly."""
    names = [name for name in sorted(found.keys() | wanted.keys()) if found.get(name) != wanted.get(name)]
    lines = [
        f"{one or 'it'}: {found.get(one, 'nothing')} instead of {wanted.get(one, 'nothing')}" for one in names
    ]
    more = [f"and {len(lines) - 3} more"] if len(lines) > 3 else []
    return "; ".join(lines[:3] + more)
