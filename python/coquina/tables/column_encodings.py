"""How columns are stored, one by one: the encodings of AnnData's dataframes, and a few attributes besides.

In: a description, or what stands in a file. Out: the arrays of a column, with what they mean.
Source: anndata, on-disk format, "dataframes"; docs/formats/columns.md.
Invariant: what is not understood raises UnsupportedError; no attribute is trusted to fit its arrays.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import UnsupportedError, column_nodes, stored_nodes, stored_times
from coquina.hdf5.untyped import h5py
from coquina.tables.column_storage import for_bytes, for_few
from coquina.tables.columns import (
    CategoricalColumn,
    DatetimeColumn,
    EnumColumn,
    NullableColumn,
    NumberColumn,
    Stored,
    StringColumn,
)
from coquina.tables.layout import ColumnSpec, refuse_values
from coquina.tables.loaded_text import LoadedStringColumn
from coquina.tables.stored_columns import LoadedColumn, StoredColumn, TextColumn
from coquina.tables.values import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina._core import NodeRole
    from coquina.arrays.array import Array
    from coquina.storage_options import Storage
    from coquina.tables.homes import Home

    #: A node of a new column: its name in the group, its role, the dtype of its items, its attributes.
    Node = tuple[str, NodeRole, str | None, dict[str, Any]]

#: Arrays that conditions read no bounds of.
_TEXT_ROLES = ("offsets", "bytes")


def make_column(home: Home, path: str, spec: ColumnSpec, storage: Storage) -> StoredColumn:
    """Return a new column without rows. Raises UnsupportedError for one that this layout has no place for."""
    refuse_values(spec)
    if spec.children or spec.shape:
        raise UnsupportedError(
            f'column {spec.name!r} is not one value for each row: layout="rows" stores nested columns and '
            "values with axes"
        )
    _check_is_stored(spec)
    categories = spec.categories
    nodes = column_nodes(spec, None if categories is None else len(categories))
    try:
        for node in nodes:
            _make_node(home, path, spec, node, storage)
        for name, role, _, _ in nodes:
            if role == "offsets":
                home.array(f"{path}/{name}", zoned=False).append(np.zeros(1, np.int64))
        if categories is not None:
            put_categories(home, path, spec, categories, storage)
    except BaseException:
        home.discard(path)
        raise
    return open_column(home, path)


def _check_is_stored(spec: ColumnSpec) -> None:
    """Raise UnsupportedError for values that have no place in columns."""
    kind = spec.dtype.kind
    is_plain = kind in "biufc" and (spec.enum is None or not spec.nullable)
    if spec.categories is not None or is_plain or kind in "TUOmM" or (kind == "S" and not spec.nullable):
        return
    hint = "; take text of any length" if kind == "S" else ""
    nulls = " with missing values" if spec.nullable else ""
    raise UnsupportedError(f"column {spec.name!r}: {spec.dtype}{nulls} is not stored in columns{hint}")


def _make_node(home: Home, column: str, spec: ColumnSpec, node: Node, storage: Storage) -> None:
    name, role, items, attributes = node
    if role == "texts":
        # It is made with the texts.
        return
    path = f"{column}/{name}" if name else column
    if role == "group":
        home.create_group(path)
    else:
        dtype, fillvalue = np.dtype(items or spec.dtype).newbyteorder("<"), None
        if not name and items is None:
            fillvalue = spec.default if spec.enum is None else _fill_of(spec)
            dtype = dtype if spec.enum is None else h5py.enum_dtype(spec.enum, dtype)
        is_zoned = role not in _TEXT_ROLES
        home.create(path, dtype, _storage_of(role, storage), fillvalue=fillvalue, zoned=is_zoned)
    home.put_marks(path, attributes)


def _storage_of(role: NodeRole, storage: Storage) -> Storage:
    """Return how an array is stored; only of values something may be lost."""
    if role == "bytes":
        return for_bytes(storage)
    if role == "list":
        return for_few(storage)
    return storage if role == "values" else replace(storage, lossy=None)


def _fill_of(spec: ColumnSpec) -> Any:
    """Return what a new array of an enumeration is filled with; None for zeros."""
    return None if spec.default is None else spec.enum_default


def put_categories(
    home: Home, column: str, spec: ColumnSpec, categories: Sequence[Any], storage: Storage
) -> None:
    """Store the categories of a column: those that are there, and more behind them."""
    name, role, _, marks = column_nodes(spec, len(categories))[-1]
    path = f"{column}/{name}"
    if role == "texts":
        known = [one.decode() if isinstance(one, bytes) else str(one) for one in categories]
        home.put_texts(path, known, storage)
        if _text(home.attrs_of(path).get("encoding-type")) != marks["encoding-type"]:
            home.put_marks(path, marks)
        return
    array = home.array(path)
    values = np.asarray(categories, spec.dtype)
    array.append((values.view(np.int64) if spec.dtype.kind in "mM" else values)[array.shape[0] :])


def make_codes(home: Home, path: str, spec: ColumnSpec, count: int, storage: Storage) -> Array:
    """Return a new array of codes that so many categories fit in."""
    _, role, items, marks = next(node for node in column_nodes(spec, count) if node[1] == "codes")
    made = home.create(path, np.dtype(items).newbyteorder("<"), _storage_of(role, storage))
    home.put_marks(path, marks)
    return made


def open_column(home: Home, path: str) -> StoredColumn:
    """Return the column at a path. Raises UnsupportedError for anything but a column that is known here."""
    kind = home.kind(path)
    if kind == "array":
        return _open_array(home, path)
    if kind == "texts":
        return _open_loaded(home, path, path, None)
    nodes = stored_nodes(home.attrs_of(path)) if kind == "group" else None
    if nodes is None:
        encoding = _text(home.attrs_of(path).get("encoding-type")) if kind == "group" else None
        raise UnsupportedError(f"column {path!r}: encoding {encoding!r} is not read as a column")
    at = {role: f"{path}/{name}" for role, name in nodes.items()}
    if "codes" in at:
        return _open_categorical(home, path, at["codes"], at["list"])
    if "texts" in at and home.kind(at["texts"]) != "texts":
        raise UnsupportedError(f"column {path!r}: values of nullable text that are not text")
    mask = _array(home, at["mask"], "b") if "mask" in at else None
    if "texts" in at:
        return _open_loaded(home, path, at["texts"], mask)
    if "offsets" in at:
        offsets = _array(home, at["offsets"], "i", 1)
        return _open_text(path, offsets, _array(home, at["bytes"], "u", None), mask)
    return _open_values(path, _array(home, at["values"], "biufc"), mask)


def _open_array(home: Home, path: str) -> StoredColumn:
    array = _array(home, path)
    times = _times_of(home, path, array.dtype)
    members, zone = (home.members(path), None) if times is None else (None, times[1])
    if times is not None:
        column: Any = DatetimeColumn(path, Stored(array, array.dtype), *times)
    elif members is not None:
        column = EnumColumn(path, Stored(array, array.dtype), members)
    else:
        column = NumberColumn(path, Stored(array, array.dtype))
    if array.dtype.kind not in "biufcSU":
        raise UnsupportedError(f"column {path!r}: items of {array.dtype} are not a column")
    default = None if times is not None else _default(array)
    spec = ColumnSpec(path, column.dtype, enum=members, zone=zone, default=default)
    return StoredColumn(path, spec, column, [array])


def _times_of(home: Home, path: str, stored: np.dtype[Any]) -> tuple[np.dtype[Any], str | None] | None:
    """Return the dtype of times that an array is marked to hold, and their zone; None if it is not."""
    found = stored_times(home.attrs_of(path)) if stored == np.int64 else None
    return None if found is None else (np.dtype(found[0]), found[1])


def _open_categorical(home: Home, path: str, codes_path: str, list_path: str) -> StoredColumn:
    codes = _array(home, codes_path, "i")
    categories = _categories(home, list_path)
    ordered = bool(home.attrs_of(path).get("ordered", False))
    column = CategoricalColumn(path, Stored(codes, codes.dtype), categories, ordered)
    known = column.categories
    values = tuple(known) if known.dtype.kind in "mM" else tuple(known.tolist())
    dtype = TEXT if known.dtype.kind == "T" else known.dtype
    spec = ColumnSpec(path, dtype, nullable=True, categories=values, ordered=ordered)
    return StoredColumn(path, spec, column, [codes])


def _categories(home: Home, path: str) -> npt.NDArray[Any]:
    if home.kind(path) == "texts":
        return home.texts(path).astype(TEXT)
    array = _array(home, path, more=None)
    values = array[...]
    if array.dtype.kind == "S":
        return np.strings.decode(values, "utf-8").astype(TEXT)
    times = _times_of(home, path, array.dtype)
    values = values.astype(values.dtype.newbyteorder("="))
    return values if times is None else values.view(times[0])


def _open_text(path: str, offsets: Array, data: Array, mask: Array | None) -> StoredColumn:
    masks = [] if mask is None else [mask]
    column = StringColumn(path, offsets, data, *(Stored(one, one.dtype) for one in masks))
    return TextColumn(
        path, ColumnSpec(path, TEXT, nullable=mask is not None), column, [offsets, data, *masks]
    )


def _open_values(path: str, values: Array, mask: Array | None) -> StoredColumn:
    if mask is None:
        column: Any = NumberColumn(path, Stored(values, values.dtype))
        return StoredColumn(path, ColumnSpec(path, column.dtype), column, [values])
    column = NullableColumn(path, Stored(values, values.dtype), Stored(mask, mask.dtype))
    return StoredColumn(path, ColumnSpec(path, column.dtype, nullable=True), column, [values, mask])


def _open_loaded(home: Home, path: str, texts: str, mask: Array | None) -> StoredColumn:
    rows = home.texts_count(texts)
    rows = rows if home.rows_max is None else min(rows, home.rows_max)
    column = LoadedStringColumn(path, rows, partial(home.texts, texts), mask)
    return LoadedColumn(path, ColumnSpec(path, TEXT, nullable=mask is not None), column, [])


def _array(home: Home, path: str, kinds: str = "", more: int | None = 0) -> Array:
    """Return an array of one axis. Raises UnsupportedError for none, and for other kinds of items.

    more: items that it has beyond the rows; None for any number.
    """
    if home.kind(path) != "array":
        raise UnsupportedError(f"{path!r}: there is no array of a column")
    array = home.array(path, zoned=more == 0)
    if len(array.shape) != 1 or (kinds and array.dtype.kind not in kinds):
        raise UnsupportedError(f"{path!r}: shape {array.shape} of {array.dtype} is not a part of a column")
    if home.rows_max is not None and more is not None and array.shape[0] > home.rows_max + more:
        return home.limited(array, home.rows_max + more)
    return array


def _default(array: Array) -> Any:
    """Return the fill value of a dataset, where it says more than that there is none."""
    found: Any = getattr(array, "fillvalue", None)
    if found is None or array.dtype.kind == "V" or found == np.zeros((), array.dtype)[()]:
        return None
    return found


def _text(value: Any) -> str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else None
