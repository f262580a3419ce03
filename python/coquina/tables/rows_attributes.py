"""The attributes that PyTables keeps beside a table and on groups, with their exact datatypes.

In: values. Out: attributes as PyTables writes them; and what some of them say.
Source: docs/formats/tables-rows.md.
Invariant: nothing that is pickled is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.hdf5.attributes import Attributes
from coquina.hdf5.fixed_attributes import put_number, put_text, raw_of, text_of
from coquina.hdf5.untyped import h5a, h5py, h5t
from coquina.tables.layout import leaves_of
from coquina.tables.rows_types import breadth_first
from coquina.tables.time_columns import known_zone

if TYPE_CHECKING:
    from coquina.tables.layout import Schema
    from coquina.tables.rows_types import Times

_GROUP = {"CLASS": "GROUP", "TITLE": "", "VERSION": "1.0"}
FORMAT_VERSION = "2.1"
TABLE_VERSION = "2.7"


class RowsAttributes(Attributes):
    """The attributes of a table, with what h5py does not have: PyTables' text is str, its truth values bool.

    Text of bytes stays bytes. Truth values that are set are bit fields of 8 bits, for PyTables reads h5py's
    enumeration as None.
    """

    def __getitem__(self, name: Any) -> Any:
        """Return a value. Raises KeyError if there is none."""
        value = super().__getitem__(name)
        if isinstance(value, np.bytes_ | h5py.Empty):
            kind = _type_of(self._parent, name)
            is_text = isinstance(kind, h5t.TypeStringID) and kind.get_cset() == h5t.CSET_UTF8
            text = value.tobytes() if isinstance(value, np.bytes_) else b""
            return text.rstrip(b"\0").decode("utf-8", "surrogateescape") if is_text else value
        if getattr(value, "dtype", None) == np.uint8:
            is_truth = isinstance(_type_of(self._parent, name), h5t.TypeBitfieldID)
            return value.astype(bool) if is_truth else value
        return value

    def create(self, name: Any, data: Any, shape: Any = None, dtype: Any = None) -> None:
        """Set an attribute, as h5py does: `attrs[name] = data`."""
        if shape is dtype is None and isinstance(data, bool | np.bool_ | np.ndarray):
            values = np.asarray(data)
            if values.dtype == bool:
                data, dtype = values.view(np.uint8), h5py.Datatype(h5t.STD_B8LE.copy())
        super().create(name, data, shape, dtype)


def _type_of(h5: Any, name: Any) -> Any:
    return h5a.open(h5.id, name if isinstance(name, bytes) else name.encode()).get_type()


def mark_file(group: Any) -> None:
    """Give the root of a file what PyTables knows its files by, where it lacks it."""
    root = group.file["/"]
    if "PYTABLES_FORMAT_VERSION" not in root.attrs:
        mark_group(root)
        put_text(root, "PYTABLES_FORMAT_VERSION", FORMAT_VERSION)


def mark_group(group: Any) -> None:
    """Give a group the attributes that PyTables gives its groups, where it lacks them."""
    for name, text in _GROUP.items():
        if name not in group.attrs:
            put_text(group, name, text)


def put_rows(dataset: Any, nrows: int) -> None:
    """Tell the number of rows; a hint for readers, who go by the dataset's shape."""
    put_number(dataset, "NROWS", nrows, h5t.STD_I64LE)


def times_of(dataset: Any) -> Times:
    """Return which columns of integers are dates or spans of time, by path, with their dtype and zone.

    The attributes `dtype` and `zone` of a column say so; in those of a nested column, a line for each below.
    """
    found: Times = {}
    for at in range(dataset.id.get_type().get_nmembers()):
        spelled = _lines_of(dataset, at, "dtype")
        zones = _lines_of(dataset, at, "zone") if spelled else {}
        for path, text in spelled.items():
            dtype = _time(text)
            if dtype is not None:
                found[path] = dtype, known_zone(zones.get(path), dtype)
    return found


def _lines_of(dataset: Any, at: int, what: str) -> dict[str, str]:
    """Return what an attribute of column number `at` says of it, or of each column below, by path."""
    text = text_of(dataset, f"FIELD_{at}_ATTR_{what}")
    name = text_of(dataset, f"FIELD_{at}_NAME") if text else None
    if not text or not name:
        return {}
    lines = [line.rpartition("=") for line in text.splitlines()]
    return {f"{name}/{below}" if below else name: said for below, _, said in lines}


def put_times(dataset: Any, schema: Schema) -> None:
    """Remember which columns of integers are dates or spans of time, and the zones of dates."""
    for at, spec in enumerate(schema):
        leaves = {path[len(spec.name) + 1 :]: leaf for path, leaf in spec.leaves().items()}
        times = {path: leaf for path, leaf in leaves.items() if leaf.dtype.kind in "mM"}
        _put_lines(dataset, f"FIELD_{at}_ATTR_dtype", {path: leaf.dtype.name for path, leaf in times.items()})
        zones = {path: leaf.zone for path, leaf in times.items() if leaf.zone is not None}
        _put_lines(dataset, f"FIELD_{at}_ATTR_zone", zones)


def _put_lines(dataset: Any, name: str, said: dict[str, str]) -> None:
    lines = [f"{path}={text}" if path else text for path, text in said.items()]
    if lines:
        put_text(dataset, name, "\n".join(lines))


def defaults_of(dataset: Any, schema: Schema) -> dict[str, Any]:
    """Return the defaults by path, of numbers and strings those that are not zero or empty."""
    found: dict[str, Any] = {}
    leaves = leaves_of(schema)
    for at, path in enumerate(breadth_first(schema)):
        value, spec = raw_of(dataset, f"FIELD_{at}_FILL"), leaves[path]
        if value is None or not _is_default(np.asarray(value).dtype, spec.dtype):
            continue
        if spec.enum is not None:
            value = next((name for name, number in spec.enum.items() if number == value), None)
        elif value == np.zeros_like(value):
            continue
        elif spec.dtype.kind in "bmM":
            value = value.astype(spec.dtype)
        if value is not None:
            found[path] = value
    return found


def _is_default(found: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Whether an attribute of this dtype can tell the default of a column."""
    if wanted.kind in "bmM":
        return found.kind in "biu"
    return (found.kind == "S") == (wanted.kind == "S") and np.can_cast(found, wanted, "same_kind")


def _time(spelled: str) -> np.dtype[Any] | None:
    """Return the dtype of dates or spans that a text names; None for any other text."""
    if not spelled.startswith(("datetime64[", "timedelta64[")):
        return None
    try:
        return np.dtype(spelled)
    except TypeError:
        return None
