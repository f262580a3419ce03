"""Everything that can be observed of a file that is opened anew, as a mapping of names to short texts.

In: a path. Out: for each group, dataset, table, column, attribute and index a line; equal mappings are equal
files. Values are told by a digest of all of them, so that states can be kept and compared by the hundred.
Names of the package's own bookkeeping are left out: indexes are told by whether they answer as a scan does.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

import coquina as cq

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    Tell = Callable[[str, "Telling"], None]

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


class Telling:
    """A state that is put together. patient: errors are kept by name, and the rest is told too."""

    def __init__(self, patient: bool) -> None:
        self.state: State = {}
        self.errors: dict[str, str] = {}
        self._patient = patient

    @contextmanager
    def at(self, name: str) -> Generator[None]:
        """Tell what is at a name, and below it, in the block."""
        try:
            yield
        except Exception as error:
            if not self._patient:
                raise
            ours = "CoquinaError" if isinstance(error, cq.CoquinaError) else "foreign"
            self.errors[name] = f"{ours} {type(error).__name__}: {str(error)[:150]}"

    def put(self, name: str, tell: Callable[[], str]) -> None:
        """Tell one thing."""
        with self.at(name):
            self.state[name] = tell()


def _put_attrs(telling: Telling, name: str, attrs: Any) -> None:
    def tell(key: str) -> str:
        value = attrs[key]
        is_short = isinstance(value, str) and len(value) < 40
        return value if is_short else _digest(np.asarray(value))

    with telling.at(f"{name}@"):
        for key in attrs:
            if not key.startswith(_OWN):
                telling.put(f"{name}@{key}", partial(tell, key))


def _put_table(telling: Telling, name: str, table: Any) -> None:
    """Tell a table: rows, columns, attributes, and whether its indexes answer as a scan does."""
    telling.put(name, lambda: f"table of {len(table)} rows, {table.layout.kind}")
    columns = {}

    def tell(column: str) -> str:
        columns[column] = table[column][...]
        return _digest(columns[column])

    with telling.at(f"{name}."):
        for column in table.columns:
            telling.put(f"{name}.{column}", partial(tell, column))
    _put_attrs(telling, name, table.attrs)
    with telling.at(f"{name} index"):
        for index in table.indexes:
            telling.put(f"{name} index {index}", lambda: _answers(table, index, columns.get(index)))  # noqa: B023


def _answers(table: Any, column: str, values: Any) -> str:
    """Ask conditions that an index answers; tell whether the answers are those of a scan."""
    if values is None or not len(values):
        return "answers as a scan"
    for at in sorted({0, len(values) // 3, len(values) - 1}):
        value = values[at]
        params = {"v": value if isinstance(value, str) else value.item()}
        for sign, wanted in (("==", values == value), (">", values > value), ("<=", values <= value)):
            found = table.where(f"{column} {sign} v", params).row_numbers()
            if not np.array_equal(np.sort(found), np.flatnonzero(wanted)):
                return f"WRONG: {column} {sign} {value!r}: {len(found)} rows, a scan has {wanted.sum()}"
    return "answers as a scan"


def _put_group(telling: Telling, name: str, group: Any) -> None:
    _put_attrs(telling, name or "/", group.attrs)
    with telling.at(f"{name}/"):
        for key in sorted(group):
            if not key.startswith(_OWN):
                with telling.at(f"{name}/{key}"):
                    _put_node(telling, f"{name}/{key}", group[key])


def _put_node(telling: Telling, name: str, node: Any) -> None:
    if isinstance(node, cq.Table):
        _put_table(telling, name, node)
    elif isinstance(node, cq.hdf5.Group | cq.stores.Group):
        telling.state[name] = "group"
        _put_group(telling, name, node)
    else:
        telling.put(name, lambda: _digest(node[()] if isinstance(node, h5py.Dataset) else node[...]))
        _put_attrs(telling, name, node.attrs)


def tell_hdf5(path: str, telling: Telling) -> None:
    """Tell an HDF5 file."""
    with cq.open(path) as file:
        _put_group(telling, "", file)


def tell_directory(path: str, telling: Telling) -> None:
    """Tell a table that is a directory."""
    with cq.open_table(path) as table:
        _put_table(telling, "", table)


def tell_frame(path: str, telling: Telling) -> None:
    """Tell an array in a frame."""
    with cq.open(path) as array:
        telling.put("", lambda: _digest(array[...]))
        _put_attrs(telling, "", array.attrs)
        with telling.at(""):
            for damage in array.verify():
                raise damage.error


def tell_store(path: str, telling: Telling) -> None:
    """Tell a store of groups: a directory or an archive."""
    with cq.open(path) as store:
        _put_group(telling, "", store)


def state_of(tell: Tell, path: str) -> State:
    """Return all that can be observed. Raises what reading raises."""
    telling = Telling(patient=False)
    tell(path, telling)
    return telling.state


def damaged_state_of(tell: Tell, path: str) -> tuple[State, dict[str, str]]:
    """Return what can be observed of a file that may be damaged, and errors by name."""
    telling = Telling(patient=True)
    with telling.at(""):
        tell(path, telling)
    return telling.state, telling.errors


def difference(found: State, wanted: State) -> str:
    """Tell how two states differ, shortly."""
    names = [name for name in sorted(found.keys() | wanted.keys()) if found.get(name) != wanted.get(name)]
    lines = [
        f"{one or 'it'}: {found.get(one, 'nothing')} instead of {wanted.get(one, 'nothing')}" for one in names
    ]
    more = [f"and {len(lines) - 3} more"] if len(lines) > 3 else []
    return "; ".join(lines[:3] + more)
