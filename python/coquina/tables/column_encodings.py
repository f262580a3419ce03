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

from coquina._core import UnsupportedError, awkward_form, awkward_parts
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
from coquina.tables.time_columns import known_zone
from coquina.tables.values import TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.storage_options import Storage
    from coquina.tables.homes import Home

_ARRAY = {"encoding-type": "array", "encoding-version": "0.2.0"}
_TEXTS = {"encoding-type": "string-array", "encoding-version": "0.2.0"}
_AWKWARD = {"encoding-type": "awkward-array", "encoding-version": "0.1.0"}
_CATEGORICAL = {"encoding-type": "categorical", "encoding-version": "0.2.0"}
_NULLABLE = {"b": "nullable-boolean", "i": "nullable-integer", "u": "nullable-integer"}
_CODES: tuple[type[np.signedinteger[Any]], ...] = (np.int8, np.int16, np.int32, np.int64)
#: Numbers of the Climate and Forecast conventions' units of time.
_UNITS = {
    "D": "days",
    "h": "hours",
    "m": "minutes",
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
}


def make_column(home: Home, path: str, spec: ColumnSpec, storage: Storage) -> StoredColumn:
    """Return a new column without rows. Raises UnsupportedError for one that this layout has no place for."""
    refuse_values(spec)
    if spec.children or spec.shape:
        raise UnsupportedError(
            f'column {spec.name!r} is not one value for each row: layout="rows" stores nested columns and '
            "values with axes"
        )
    make = _maker(spec)
    try:
        make(home, path, spec, storage)
    except BaseException:
        home.discard(path)
        raise
    return open_column(home, path)


def _maker(spec: ColumnSpec) -> Callable[[Home, str, ColumnSpec, Storage], None]:
    kind = spec.dtype.kind
    if spec.categories is not None:
        return _make_categorical
    if kind in "TUO":
        return _make_text
    if kind in "mM":
        return _make_times
    if spec.nullable and kind in "biufc" and spec.enum is None:
        return _make_nullable
    if kind in "biufcS" and not spec.nullable:
        return _make_numbers
    hint = "; take text of any length" if kind == "S" else ""
    nulls = " with missing values" if spec.nullable else ""
    raise UnsupportedError(f"column {spec.name!r}: {spec.dtype}{nulls} is not stored in columns{hint}")


def _make_numbers(home: Home, path: str, spec: ColumnSpec, storage: Storage) -> None:
    dtype = _little(spec.dtype)
    shown: Any = dtype if spec.enum is None else h5py.enum_dtype(spec.enum, dtype)
    home.create(path, shown, storage, fillvalue=spec.default if spec.enum is None else _fill_of(spec))
    home.put_marks(path, _ARRAY)


def _fill_of(spec: ColumnSpec) -> Any:
    """Return what a new array of an enumeration is filled with; None for zeros."""
    return None if spec.default is None else spec.enum_default


def _make_times(home: Home, path: str, spec: ColumnSpec, storage: Storage) -> None:
    home.create(path, "<i8", storage)
    _mark_times(home, path, spec.dtype)
    if spec.zone is not None:
        home.put_marks(path, {"zone": spec.zone})


def _mark_times(home: Home, path: str, dtype: np.dtype[Any]) -> None:
    home.put_marks(path, {**_ARRAY, "dtype": dtype.name})
    # For readers of the conventions, who want text of variable length.
    attrs = home.attrs_of(path)
    unit, count = np.datetime_data(dtype)
    if count == 1 and unit in _UNITS:
        attrs["units"] = _UNITS[unit] + (" since 1970-01-01 00:00:00" if dtype.kind == "M" else "")
        if dtype.kind == "M":
            attrs["calendar"] = "proleptic_gregorian"


def _make_nullable(home: Home, path: str, spec: ColumnSpec, storage: Storage) -> None:
    home.create_group(path)
    encoding = _NULLABLE.get(spec.dtype.kind)
    if encoding is None:
        form, (values, _, mask) = awkward_form(spec.dtype.name)
        home.put_marks(path, {**_AWKWARD, "form": form, "length": np.int64(0)})
    else:
        home.put_marks(path, {"encoding-type": encoding, "encoding-version": "0.1.0"})
        values, mask = "values", "mask"
    _make_arrays(home, path, {values: spec.dtype}, storage)
    _make_arrays(home, path, {str(mask): np.bool_}, replace(storage, lossy=None))


def _make_text(home: Home, path: str, spec: ColumnSpec, storage: Storage) -> None:
    home.create_group(path)
    form, (data, offsets, mask) = awkward_form(None, nullable=spec.nullable)
    home.put_marks(path, {**_AWKWARD, "form": form, "length": np.int64(0)})
    if mask is not None:
        _make_arrays(home, path, {mask: np.bool_}, storage)
    _make_arrays(home, path, {str(offsets): np.int64}, storage, zoned=False)
    _make_arrays(home, path, {data: np.uint8}, for_bytes(storage), zoned=False)
    home.array(f"{path}/{offsets}", zoned=False).append(np.zeros(1, np.int64))


def _make_categorical(home: Home, path: str, spec: ColumnSpec, storage: Storage) -> None:
    home.create_group(path)
    home.put_marks(path, {**_CATEGORICAL, "ordered": np.bool_(spec.ordered)})
    categories = list(spec.categories or ())
    _make_arrays(home, path, {"codes": codes_dtype(len(categories))}, storage)
    if spec.dtype.kind not in "TUOS":
        home.create(f"{path}/categories", _little(_stored_dtype(spec.dtype)), for_few(storage))
        if spec.dtype.kind in "mM":
            _mark_times(home, f"{path}/categories", spec.dtype)
        else:
            home.put_marks(f"{path}/categories", _ARRAY)
    put_categories(home, path, categories, spec.dtype, storage)


def put_categories(
    home: Home, path: str, categories: Sequence[Any], dtype: np.dtype[Any], storage: Storage
) -> None:
    """Store the categories of a column: those that are there, and more behind them."""
    path = f"{path}/categories"
    if dtype.kind in "TUOS":
        known = [one.decode() if isinstance(one, bytes) else str(one) for one in categories]
        home.put_texts(path, known, storage)
        if _text(home.attrs_of(path).get("encoding-type")) != _TEXTS["encoding-type"]:
            home.put_marks(path, _TEXTS)
        return
    array = home.array(path)
    values = np.asarray(categories, dtype).view(_stored_dtype(dtype))
    array.append(values[array.shape[0] :])


def codes_dtype(count: int) -> np.dtype[Any]:
    """Return the smallest integers that so many codes fit in, and -1."""
    return next(np.dtype(one) for one in _CODES if count <= np.iinfo(one).max)


def make_codes(home: Home, path: str, dtype: np.dtype[Any], storage: Storage) -> Array:
    """Return a new array of codes."""
    made = home.create(path, _little(dtype), storage)
    home.put_marks(path, _ARRAY)
    return made


def _make_arrays(
    home: Home, path: str, dtypes: dict[str, Any], storage: Storage, *, zoned: bool = True
) -> None:
    for name, dtype in dtypes.items():
        home.create(f"{path}/{name}", _little(np.dtype(dtype)), storage, zoned=zoned)
        home.put_marks(f"{path}/{name}", _ARRAY)


def _little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("<")


def _stored_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.int64) if dtype.kind in "mM" else dtype


def open_column(home: Home, path: str) -> StoredColumn:
    """Return the column at a path. Raises UnsupportedError for anything but a column that is known here."""
    kind = home.kind(path)
    if kind == "array":
        return _open_array(home, path)
    if kind == "texts":
        return _open_loaded(home, path, path, None)
    encoding = _text(home.attrs_of(path).get("encoding-type")) if kind == "group" else None
    opener = _OPENERS.get(encoding or "")
    if opener is None:
        raise UnsupportedError(f"column {path!r}: encoding {encoding!r} is not read as a column")
    return opener(home, path)


def _open_array(home: Home, path: str) -> StoredColumn:
    array = _array(home, path)
    times = times_dtype(home, path, array.dtype)
    members = home.members(path)
    if times is not None:
        zone = known_zone(_text(home.attrs_of(path).get("zone")), times)
        column: Any = DatetimeColumn(path, Stored(array, array.dtype), times, zone)
    elif members is not None:
        column = EnumColumn(path, Stored(array, array.dtype), members)
    else:
        column = NumberColumn(path, Stored(array, array.dtype))
    if array.dtype.kind not in "biufcSU":
        raise UnsupportedError(f"column {path!r}: items of {array.dtype} are not a column")
    default = None if times is not None else _default(array)
    zone = column.zone if isinstance(column, DatetimeColumn) else None
    spec = ColumnSpec(path, column.dtype, enum=members, zone=zone, default=default)
    return StoredColumn(path, spec, column, [array])


def times_dtype(home: Home, path: str, stored: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the dtype of times that an array is marked to hold; None if it is not."""
    if stored != np.int64:
        return None
    marked = _text(home.attrs_of(path).get("dtype"))
    if marked is None or not marked.startswith(("datetime64[", "timedelta64[")):
        return None
    try:
        return np.dtype(marked)
    except TypeError:
        return None


def _open_categorical(home: Home, path: str) -> StoredColumn:
    codes = _array(home, f"{path}/codes", "i")
    categories = _categories(home, f"{path}/categories")
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
    times = times_dtype(home, path, array.dtype)
    values = values.astype(values.dtype.newbyteorder("="))
    return values if times is None else values.view(times)


def _open_nullable(home: Home, path: str) -> StoredColumn:
    return _nullable(path, _array(home, f"{path}/values", "biuf"), _array(home, f"{path}/mask", "b"))


def _nullable(path: str, values: Array, mask: Array) -> StoredColumn:
    column = NullableColumn(path, Stored(values, values.dtype), Stored(mask, mask.dtype))
    spec = ColumnSpec(path, column.dtype, nullable=True)
    return StoredColumn(path, spec, column, [values, mask])


def _open_awkward(home: Home, path: str) -> StoredColumn:
    items, places, masked = awkward_parts(_text(home.attrs_of(path).get("form")))
    mask = None if masked is None else _array(home, f"{path}/{masked}", "b")
    if places is not None:
        offsets = _array(home, f"{path}/{places}", "i", 1)
        data = _array(home, f"{path}/{items}", "u", None)
        marks = None if mask is None else Stored(mask, mask.dtype)
        column = StringColumn(path, offsets, data, marks)
        arrays = [offsets, data] if mask is None else [offsets, data, mask]
        return TextColumn(path, ColumnSpec(path, TEXT, nullable=mask is not None), column, arrays)
    values = _array(home, f"{path}/{items}", "biufc")
    if mask is None:
        column = NumberColumn(path, Stored(values, values.dtype))
        return StoredColumn(path, ColumnSpec(path, column.dtype), column, [values])
    return _nullable(path, values, mask)


def _open_nullable_texts(home: Home, path: str) -> StoredColumn:
    if home.kind(f"{path}/values") != "texts":
        raise UnsupportedError(f"column {path!r}: values of nullable text that are not text")
    return _open_loaded(home, path, f"{path}/values", _array(home, f"{path}/mask", "b"))


def _open_loaded(home: Home, path: str, texts: str, mask: Array | None) -> StoredColumn:
    rows = home.texts_count(texts)
    rows = rows if home.rows_max is None else min(rows, home.rows_max)
    column = LoadedStringColumn(path, rows, partial(home.texts, texts), mask)
    return LoadedColumn(path, ColumnSpec(path, TEXT, nullable=mask is not None), column, [])


_OPENERS: dict[str, Callable[[Home, str], StoredColumn]] = {
    "categorical": _open_categorical,
    "nullable-integer": _open_nullable,
    "nullable-boolean": _open_nullable,
    "nullable-string-array": _open_nullable_texts,
    "awkward-array": _open_awkward,
}


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
