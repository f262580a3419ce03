"""Arrow data as schemas and batches, by pyarrow.

In: anything with `__arrow_c_stream__` or `__arrow_c_array__`. Out: what `incoming` gives: columns as NumPy
    arrays over Arrow's memory where that is possible, masked where Arrow has nulls.
Invariant: a column has nulls in the table if it has some in the data at hand: all of it where it is in
    memory, the first batch of a stream. NaN and NaT stand for the nulls of floats and times.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.tables.arrow_module import pyarrow
from coquina.tables.layout import ColumnSpec
from coquina.tables.value_kinds import kind_of_arrow, objects_of
from coquina.tables.values import TEXT, Coded, Utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.tables.layout import Batch, Schema

#: Of a field of a stream: there are nulls, perhaps only later.
_HAS_NULLS = b"coquina.nulls"


def arrow_batches(data: Any, rows: int) -> tuple[Schema, Iterator[Batch]]:
    """Return schema and batches of Arrow data. Raises TypeError for types that tables do not store."""
    pa = pyarrow()
    if isinstance(data, pa.Array | pa.ChunkedArray) and not pa.types.is_struct(data.type):
        raise TypeError(one_column(data))
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    is_stream = isinstance(data, pa.RecordBatchReader) or not hasattr(data, "__len__")
    if not is_stream:
        whole = data if isinstance(data, pa.Table) else pa.table(data)
        specs = tuple(_spec(name, whole.column(name)) for name in _names(whole.schema))
        parts = whole.to_batches(max_chunksize=rows)
        return specs, (_batch(part, specs) for part in parts)
    reader = pa.RecordBatchReader.from_stream(data)
    names = _names(reader.schema)
    first = next(iter(reader), None)
    if first is None:
        first = pa.RecordBatch.from_pylist([], reader.schema)
    marked = [_HAS_NULLS in (field.metadata or ()) for field in reader.schema]
    specs = tuple(_spec(name, first.column(at), marked[at]) for at, name in enumerate(names))
    cut = (part.slice(at, rows) for part in chain([first], reader) for at in range(0, len(part), rows))
    return specs, (_batch(part, specs) for part in cut)


def one_column(data: Any) -> str:
    """Return what to say about a Series or an array where rows of a table are wanted."""
    return f"a table of one {type(data).__name__}: pass it with the name of its column, as {{'price': ...}}"


def array_column(name: str, values: Any) -> tuple[ColumnSpec, Any]:
    """Return column and values of an Arrow array, or what has its interface. Raises TypeError for structs."""
    pa = pyarrow()
    if hasattr(values, "__arrow_c_array__"):
        column = pa.array(values)
    else:
        whole = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array(values)
        column = pa.concat_arrays(whole.unify_dictionaries().chunks) if whole.num_chunks else None
        column = pa.array([], whole.type) if column is None else column
    spec = _spec(name, column)
    if spec.children:
        raise TypeError(f"column {name!r}: a struct; give all columns as one Arrow table")
    batch: Batch = {}
    _add(batch, name, column, spec)
    return spec, batch[name]


def with_nulls(schema: Any, parts: Any, names: set[str]) -> Any:
    """Return batches as a stream that says which of its columns have nulls, before they come."""
    fields = [field.with_metadata({_HAS_NULLS: b"1"}) if field.name in names else field for field in schema]
    made = pyarrow().schema(fields, metadata=schema.metadata)
    return pyarrow().RecordBatchReader.from_batches(made, parts)


def _names(schema: Any) -> list[str]:
    names = list(schema.names)
    if len(set(names)) < len(names):
        raise ValueError(f"columns {names}: some have the same name")
    return names


def _spec(name: str, column: Any, has_null: bool = False) -> ColumnSpec:
    pa = pyarrow()
    ty, has_null = column.type, has_null or column.null_count > 0
    if pa.types.is_dictionary(ty):
        if not (_is_text(ty.value_type) or pa.types.is_integer(ty.value_type)):
            raise TypeError(
                f"column {name!r}: a dictionary of {ty.value_type}; tables have text and integers"
            )
        return ColumnSpec(name, _category_dtype(ty.value_type), categories=(), ordered=ty.ordered)
    if _is_text(ty):
        return ColumnSpec(name, TEXT, nullable=has_null)
    if pa.types.is_fixed_size_list(ty):
        inner = ty.value_type
        return ColumnSpec(name, _dtype(name, inner), (ty.list_size,), zone=getattr(inner, "tz", None))
    if pa.types.is_struct(ty):
        fields = [ty.field(at) for at in range(ty.num_fields)]
        values = kind_of_arrow(ty) if has_null or any(map(_is_of_any_length, fields)) else None
        if values is not None:
            return ColumnSpec(name, np.dtype(object), nullable=has_null, values=values)
        children = tuple(_spec(field.name, pa.array([], field.type)) for field in fields)
        return ColumnSpec(name, np.dtype("V"), children=children)
    if _is_of_any_length(column):
        values = kind_of_arrow(ty)
        if values is not None:
            return ColumnSpec(name, np.dtype(object), nullable=has_null, values=values)
    dtype = _dtype(name, ty)
    zone = getattr(ty, "tz", None)
    return ColumnSpec(name, dtype, nullable=has_null and dtype.kind in "iub", zone=zone)


def _is_of_any_length(column: Any) -> bool:
    """Whether values of an array, or of a field, are lists, bytes of any length, or hold such ones."""
    types, ty = pyarrow().types, column.type
    if types.is_struct(ty):
        return any(_is_of_any_length(ty.field(at)) for at in range(ty.num_fields))
    is_list = types.is_list(ty) or types.is_large_list(ty)
    return bool(is_list or types.is_binary(ty) or types.is_large_binary(ty) or types.is_binary_view(ty))


def _category_dtype(ty: Any) -> Any:
    return TEXT if _is_text(ty) else np.dtype(ty.to_pandas_dtype())


def _is_text(ty: Any) -> bool:
    types = pyarrow().types
    return bool(types.is_string(ty) or types.is_large_string(ty) or types.is_string_view(ty))


def _dtype(name: str, ty: Any) -> np.dtype[Any]:
    types = pyarrow().types
    if types.is_boolean(ty) or types.is_integer(ty) or types.is_floating(ty):
        return np.dtype(ty.to_pandas_dtype())
    if types.is_timestamp(ty):
        return np.dtype(f"M8[{ty.unit}]")
    if types.is_date(ty):
        return np.dtype("M8[D]" if types.is_date32(ty) else "M8[ms]")
    if types.is_duration(ty):
        return np.dtype(f"m8[{ty.unit}]")
    if types.is_fixed_size_binary(ty):
        return np.dtype(f"S{ty.byte_width}")
    raise TypeError(
        f"column {name!r}: Arrow's {ty} is not stored in tables; cast it to numbers, times or text"
    )


def _batch(part: Any, specs: Schema) -> Batch:
    batch: Batch = {}
    for at, spec in enumerate(specs):
        _add(batch, spec.name, part.column(at), spec)
    return batch


def _add(batch: Batch, path: str, column: Any, spec: ColumnSpec) -> None:
    if spec.children:
        for at, child in enumerate(spec.children):
            # With what is missing of the struct itself, which a child does not say.
            _add(batch, f"{path}/{child.name}", column.flatten()[at], child)
        return
    if column.null_count and not (spec.nullable or spec.categories is not None or spec.dtype.kind in "fMm"):
        raise ValueError(
            f"column {path!r}: has nulls, but the rows before had none; make the column nullable"
        )
    batch[path] = _values(column, spec)


def _values(column: Any, spec: ColumnSpec) -> Any:
    pa = pyarrow()
    if pa.types.is_dictionary(column.type):
        codes = column.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        categories = np.asarray(column.dictionary.to_pylist(), spec.dtype)
        return Coded(codes, categories)
    if _is_text(column.type):
        return _text(column)
    if spec.values is not None:
        return objects_of(column.to_pylist())
    if pa.types.is_fixed_size_list(column.type):
        return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
    if pa.types.is_fixed_size_binary(column.type):
        return np.array(column.to_pylist(), spec.dtype)
    if spec.dtype.kind in "Mm":
        # As integers, since pyarrow's dates have units of their own; with a zone they are UTC.
        wide = pa.int32() if pa.types.is_date32(column.type) else pa.int64()
        plain = column.view(wide)
        values = plain.fill_null(0).to_numpy().astype(np.int64)
        values[_nulls(column)] = np.iinfo(np.int64).min
        return values.view(spec.dtype)
    if column.null_count and spec.dtype.kind in "iub":
        filled = column.fill_null(False if spec.dtype.kind == "b" else 0)
        return np.ma.MaskedArray(filled.to_numpy(zero_copy_only=False), _nulls(column))
    return column.to_numpy(zero_copy_only=False)


def _nulls(column: Any) -> Any:
    return column.is_null().to_numpy(zero_copy_only=False)


def _text(column: Any) -> Utf8:
    pa = pyarrow()
    if not pa.types.is_large_string(column.type):
        column = column.cast(pa.large_string())
    _, offsets, data = column.buffers()
    ends: Any = np.frombuffer(offsets, np.int64) if offsets is not None else np.zeros(1, np.int64)
    ends = ends[column.offset : column.offset + len(column) + 1]
    if not len(ends):
        ends = np.zeros(1, np.int64)
    raw: Any = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    mask = _nulls(column) if column.null_count else None
    return Utf8(ends, raw, mask).packed()
