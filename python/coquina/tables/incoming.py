"""Data of any shape that people have, as a schema and batches: what tables are made of and grow by.

In: NumPy dtypes and arrays, mappings of columns, rows as tuples or mappings, DataFrames, Arrow data, tables.
Out: how the columns are to be stored, and the values in batches by the path of their column.
Invariant: columns go by their names, never by their places, but for rows that are tuples. With a schema
    given, what it does not name is an error, and so is what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.casting import cast_values, is_array, is_masked, is_null, mask_of
from coquina.tables.arrow_in import array_column, arrow_batches, one_column
from coquina.tables.layout import ColumnSpec, RecordBatch, leaves_of
from coquina.tables.pandas_frames import frame_batches, series_column
from coquina.tables.specs import column_spec, schema_of, spec_of
from coquina.tables.time_values import as_times
from coquina.tables.value_kinds import objects_of
from coquina.tables.values import TEXT

if TYPE_CHECKING:
    from coquina.tables.layout import Batch, Schema

#: Of a batch of what has rows of fixed size: many chunks, for threads to share.
_BATCH_BYTES = 64 << 20
_BATCH_ROWS = 1 << 18
#: Of the rows that come one by one.
_STREAM_ROWS = 1 << 14
_Batches = Iterator["Batch"]


def batches(data: Any, schema: Schema | None = None, rows: int | None = None) -> tuple[Schema, _Batches]:
    """Return the schema of `data`, or the one given, and its rows in batches of at most about `rows`.

    rows: by default as many as take some megabytes.
    data: a dtype with fields, a mapping of names to dtypes (no rows then) or to columns, an array of records,
    a list of them, rows as tuples, records or mappings one by one, a pandas DataFrame, a table or selection,
    or what speaks Arrow's C interface (pyarrow, Polars, DuckDB). Raises TypeError for anything else,
    ValueError for columns that are missing, too many, of unequal lengths, or not what the schema says.
    """
    found, made = _dispatch(data, schema, rows)
    if schema is None:
        return found, made
    return schema, (_matched(batch, schema) for batch in made)


def _dispatch(data: Any, schema: Schema | None, rows: int | None) -> tuple[Schema, _Batches]:
    described = _described(data)
    if described is not None:
        return described, iter(())
    if is_array(data) or isinstance(data, np.void):
        return _records(np.asanyarray(data), rows)
    some = _BATCH_ROWS if rows is None else rows
    if hasattr(data, "layout") and hasattr(data, "batches"):
        parts = data.batches(some)
        return data.schema, (_of_records(part) for part in parts)
    if _is_frame(data):
        return frame_batches(data, some)
    if hasattr(data, "to_frame") and not hasattr(data, "columns"):
        raise TypeError(one_column(data))
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return arrow_batches(data, some)
    if isinstance(data, Mapping):
        return _columns(cast("Mapping[str, Any]", data), rows, schema or ())
    if isinstance(data, Iterable) and not isinstance(data, str | bytes):
        return _rows(cast("Iterable[Any]", data), schema)
    raise TypeError(_not_rows(data))


def _not_values(name: str, value: Any) -> str:
    """Return what to say about something in place of the values of a column."""
    if type(value).__module__.startswith("tables."):
        hint = "pass names and dtypes, as {'x': 'f8'}, or tables.description.dtype_from_descr(...)"
        return f"column {name!r}: a {type(value).__name__} of PyTables is no dtype; {hint}"
    return (
        f"column {name!r}: {value!r} is a single value, and columns are lists: {{{name!r}: [...]}}; "
        "rows are a list of mappings, [{...}, {...}]"
    )


def _not_rows(data: Any) -> str:
    """Return what to say about data that no table is made of."""
    kind = type(data).__name__
    if hasattr(data, "collect"):
        return f"a table cannot be made of a {kind}; pass its collect()"
    if isinstance(data, type) and hasattr(data, "columns"):
        return "a description of PyTables is no data; pass tables.description.dtype_from_descr(...)"
    return f"a table cannot be made of {kind}; pass columns by name, records, rows, a DataFrame or Arrow data"


def _described(data: Any) -> Schema | None:
    """Return the schema that `data` is a description of, None if it is none."""
    if isinstance(data, tuple) and data and all(isinstance(one, ColumnSpec) for one in cast("Any", data)):
        return cast("Schema", data)
    if isinstance(data, np.dtype):
        return schema_of(cast("np.dtype[Any]", data))
    if isinstance(data, Mapping):
        parts = cast("Mapping[str, Any]", data)
        if parts and all(map(_is_dtype, parts.values())):
            return tuple(spec_of(name, _as_dtype(one)) for name, one in parts.items())
    return None


def _is_dtype(one: Any) -> bool:
    if isinstance(one, str):
        try:
            np.dtype(one)
        except TypeError:
            return False
        return True
    return isinstance(one, type | np.dtype)


def _as_dtype(one: Any) -> np.dtype[Any]:
    """Return a dtype as tables take it: text of any length for `str`."""
    return TEXT if one is str else np.dtype(one)


def _is_frame(data: Any) -> bool:
    module = type(data).__module__.partition(".")[0]
    return module == "pandas" and hasattr(data, "columns") and hasattr(data, "dtypes")


def _numbers_of_names(values: Any, spec: ColumnSpec) -> Any:
    """Return objects with the numbers of an enumeration in place of its names. Raises ValueError."""
    members: Any = spec.enum
    found = np.empty(values.shape, object)
    for at, one in np.ndenumerate(values):
        name = one.decode("utf-8", "replace") if isinstance(one, bytes) else one
        if isinstance(name, str) and name not in members:
            raise ValueError(f"column {spec.name!r}: {name!r} is not one of {', '.join(members)}")
        found[at] = members[name] if isinstance(name, str) else name
    return found


def without_objects(values: Any, spec: ColumnSpec) -> Any:
    """Return values as an array of the column's dtype where they came as objects.

    Where None stood they are masked; numbers with a fraction and times have NaN and NaT for that.
    """
    if is_array(values) and values.dtype.kind == "O" and spec.dtype.kind != "T" and spec.values is None:
        if spec.enum is not None:
            values = _numbers_of_names(values, spec)
        if spec.dtype.kind in "mM" and not spec.shape:
            return as_times(values, spec.dtype.kind, f"column {spec.name!r}")
        mask = np.array([is_null(one) for one in values], bool)
        there = values[~mask] if not spec.shape or values.ndim > 1 else np.asarray(values[~mask].tolist())
        there = there.reshape(-1, *spec.shape) if spec.shape and not len(there) else there
        if spec.dtype.kind in "iufcSU":
            # NumPy would cut text off, and drop fractions.
            there = cast_values(there, spec.dtype, there.shape[1:], f"column {spec.name!r}")
        if not mask.any():
            return there.astype(spec.dtype)
        plain: Any = np.zeros((len(values), *there.shape[1:]), spec.dtype)
        plain[~mask] = there
        if spec.dtype.kind in "fcM" and not (spec.shape and spec.nullable):
            plain[mask] = "NaT" if spec.dtype.kind == "M" else np.nan
            return plain
        axes = (1,) * (plain.ndim - 1)
        return np.ma.MaskedArray(plain, np.broadcast_to(mask.reshape(-1, *axes), plain.shape))
    return values


def _rows_of(row_bytes: int) -> int:
    """Return how many rows a batch has: a power of two, as chunks have by default."""
    rows = max(1, _BATCH_BYTES // max(1, row_bytes))
    return min(max(1 << (rows.bit_length() - 1), _STREAM_ROWS), 1 << 24)


def _records(records: Any, rows: int | None) -> tuple[Schema, _Batches]:
    if is_masked(records) and not records.ndim:
        # NumPy cannot take parts of one masked record that has been given an axis.
        one, mask = np.asarray(records.data), np.asarray(mask_of(records))
        records = np.ma.MaskedArray(one.reshape(1), mask.reshape(1))
    records = np.atleast_1d(records)
    if records.dtype.names is None or records.ndim != 1:
        raise TypeError(
            f"rows of a table: an array of shape {records.shape}, {records.dtype}; records are needed"
        )
    specs = tuple(_field_spec(name, records[name]) for name in records.dtype.names)
    rows = _rows_of(records.dtype.itemsize) if rows is None else rows
    parts = (records[start : start + rows] for start in range(0, len(records), rows))
    return specs, (record_batch(part) for part in parts)


def _field_spec(name: str, values: Any) -> ColumnSpec:
    if values.dtype.names is not None:
        return spec_of(name, np.dtype((values.dtype, values.shape[1:])))
    if not is_masked(values) or values.mask.any():
        return column_spec(name, values)
    return column_spec(name, values.data)


def record_batch(records: Any) -> Batch:
    """Return the leaf columns of an array of records, with the records where these are plain ones."""
    batch = _of_records(records)
    return RecordBatch(batch, records) if type(records) is np.ndarray else batch


def _of_records(records: Any, above: str = "") -> Batch:
    """Return the leaf columns of an array of records."""
    batch: Batch = {}
    for name in records.dtype.names or ():
        path = f"{above}/{name}" if above else name
        values = records[name]
        if values.dtype.names is None:
            batch[path] = values
        else:
            batch.update(_of_records(values, path))
    return batch


def _columns(columns: Mapping[str, Any], rows: int | None, schema: Schema) -> tuple[Schema, _Batches]:
    values: dict[str, Any] = {}
    known: dict[str, ColumnSpec] = {spec.name: spec for spec in schema if spec.values is not None}
    for name, one in columns.items():
        if name in known and isinstance(one, list | tuple):
            values[name] = objects_of(cast("Any", one))
            continue
        foreign = _foreign(name, one)
        if foreign is not None:
            known[name], values[name] = foreign
            continue
        is_array = hasattr(one, "dtype") and hasattr(one, "shape")
        values[name] = one if is_array else _listed(one)
        if isinstance(one, str | bytes) or getattr(values[name], "shape", None) == ():
            raise ValueError(_not_values(name, one))
    lengths = {name: len(one) for name, one in values.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns of unequal lengths: {lengths}")
    specs = tuple(known.get(name) or _sliced_spec(name, one) for name, one in values.items())
    total = next(iter(lengths.values()), 0) or 0
    if rows is None:
        has_text = bool(known) or any(one.dtype.kind in "OT" for one in values.values())
        sizes = (spec.dtype.itemsize * prod(spec.shape) for spec in specs)
        rows = _BATCH_ROWS if has_text else _rows_of(sum(sizes))

    def part(start: int) -> Batch:
        made = {name: one[start : start + rows] for name, one in values.items()}
        return _flat(made, specs)

    return specs, (part(start) for start in range(0, total, rows))


def _foreign(name: str, values: Any) -> tuple[ColumnSpec, Any] | None:
    """Return column and values of what pandas or Arrow have of one column, with nulls; else None."""
    if is_array(values) or isinstance(values, list | tuple):
        return None
    if type(values).__module__.partition(".")[0] == "pandas" and hasattr(values, "dtype"):
        return series_column(name, values)
    if hasattr(values, "__arrow_c_array__") or (
        hasattr(values, "__arrow_c_stream__") and not hasattr(values, "columns")
    ):
        return array_column(name, values)
    return None


def _listed(values: Any) -> Any:
    """Return a list as an array; text and what has None among it stay objects."""
    if isinstance(values, Iterable):
        listed = list(cast("Iterable[Any]", values))
        if any(one is None or isinstance(one, str) for one in listed):
            return np.array([*listed, None], object)[:-1]
        made: Any = _as_array(listed)
        # Integers on both sides of 2**63 are floats to NumPy.
        if (
            listed
            and made.dtype.kind == "f"
            and all(isinstance(one, int) for one in listed)
            and min(listed) >= 0
        ):
            return np.array(listed, np.uint64)
        return made
    return cast("Any", np.asarray(values))


def _as_array(listed: list[Any]) -> Any:
    """Return a list as an array; lists of unequal lengths, and mappings, stay objects."""
    try:
        return np.asarray(listed)
    except ValueError:
        return objects_of(listed)


def _sliced_spec(name: str, values: Any) -> ColumnSpec:
    """Return the column of values, which may be an array of ours, that need not be read for it."""
    if is_array(values):
        return spec_of(name, values.dtype) if values.dtype.names is not None else column_spec(name, values)
    dtype: np.dtype[Any] = values.dtype
    axes = tuple(values.shape[1:])
    if dtype.kind == "T":
        return ColumnSpec(name, TEXT, nullable=True)
    return spec_of(name, np.dtype((dtype, axes)) if axes else dtype)


def _flat(columns: dict[str, Any], specs: Schema) -> Batch:
    batch: Batch = {}
    for spec in specs:
        values = columns[spec.name]
        if spec.children:
            batch.update(_of_records(np.asarray(values), spec.name))
        else:
            batch[spec.name] = without_objects(values, spec)
    return batch


def _rows(rows: Iterable[Any], schema: Schema | None) -> tuple[Schema, _Batches]:
    """Take rows one by one: tuples in the order of the schema, mappings, records."""
    stream = iter(rows)
    first = list(islice(stream, _STREAM_ROWS))
    if schema is None:
        if not first:
            raise TypeError("rows of a table: none, and no schema to say what they are")
        schema = _schema_of_rows(first)
    known = schema

    def made() -> _Batches:
        part = first
        while part:
            yield _batch_of_rows(part, known)
            part = list(islice(stream, _STREAM_ROWS))

    return schema, made()


def _schema_of_rows(rows: list[Any]) -> Schema:
    if isinstance(rows[0], np.void):
        return schema_of(rows[0].dtype)
    if is_masked(rows[0]) and rows[0].dtype.names is not None:
        names = list(rows[0].dtype.names)
        return tuple(
            column_spec(name, _listed([_cell(row, 0, name, len(names)) for row in rows])) for name in names
        )
    if isinstance(rows[0], Mapping):
        names = list(cast("Mapping[str, Any]", rows[0]))
        return tuple(column_spec(name, _listed([row[name] for row in rows])) for name in names)
    if isinstance(rows[0], tuple | list):
        columns = list(zip(*rows, strict=True))
        return tuple(column_spec(f"f{at}", _listed(list(one))) for at, one in enumerate(columns))
    raise TypeError(f"a row of a table: not {type(rows[0]).__name__}; takes tuples, mappings and records")


def _batch_of_rows(rows: list[Any], schema: Schema) -> Batch:
    batch: Batch = {}
    for at, spec in enumerate(schema):
        cells = [_cell(row, at, spec.name, len(schema)) for row in rows]
        if spec.children:
            # Each a row of its own, of the columns below.
            inner = _batch_of_rows(cells, spec.children)
            batch.update({f"{spec.name}/{path}": values for path, values in inner.items()})
        else:
            listed = _listed(cells) if spec.values is None else objects_of(cells)
            batch[spec.name] = without_objects(listed, spec)
    return batch


def _cell(row: Any, at: int, name: str, count: int) -> Any:
    if isinstance(row, Mapping):
        known = cast("Mapping[str, Any]", row)
        if name not in known or len(known) != count:
            raise ValueError(
                f"a row has {', '.join(map(str, known))}; {count} columns are needed, {name!r} too"
            )
        return known[name]
    if isinstance(row, np.void):
        return cast("Any", row)[name]
    if is_masked(row) and row.dtype.names is not None:
        value = row[name]
        return None if value is np.ma.masked else value
    if not isinstance(row, tuple | list):
        raise TypeError(f"a row of a table: not {type(row).__name__}; takes tuples, mappings and records")
    cells = cast("tuple[Any, ...]", row)
    if len(cells) != count:
        raise ValueError(f"a row of {len(cells)} values for {count} columns")
    return cells[at]


def _matched(batch: Batch, schema: Schema) -> Batch:
    """Return a batch in the order of the schema. Raises ValueError for other columns than it has."""
    leaves = leaves_of(schema)
    missing = [path for path in leaves if path not in batch]
    unknown = [path for path in batch if path not in leaves]
    if missing or unknown:
        parts = [f"{', '.join(missing)} missing"] * bool(missing) + [f"{', '.join(unknown)} unknown"] * bool(
            unknown
        )
        raise ValueError(f"columns: {'; '.join(parts)}; the table has {', '.join(leaves)}")
    made: Batch = {path: without_objects(batch[path], spec) for path, spec in leaves.items()}
    lengths = {path: len(values) for path, values in made.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns of unequal lengths: {lengths}")
    return made if not isinstance(batch, RecordBatch) else RecordBatch(made, batch.records)
