"""Columns as Arrow arrays, by pyarrow.

In: parts that a scan gathered, or values. Out: Arrow arrays: text from its offsets and bytes, categories as a
    dictionary, everything else over the memory of the NumPy array.
Invariant: the types of a column's arrays are those of `arrow_type`, whatever the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import CorruptError
from coquina.tables.arrow_module import pyarrow
from coquina.tables.values import Utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.tables.column import Part, Source
    from coquina.tables.columns import CategoricalColumn, Column, EnumColumn, StringColumn, ValuesColumn
    from coquina.tables.layout import Batch, ColumnSpec

_UNITS = {"s": "s", "ms": "ms", "us": "us", "ns": "ns"}


class ArrowColumn:
    """A column whose values are Arrow arrays; scans take it for a column."""

    def __init__(self, column: Column) -> None:
        """Raises TypeError for a column that Arrow has no type for."""
        self.column = column
        self.name, self.dtype, self.shape = column.name, column.dtype, column.shape
        self.is_nullable = column.is_nullable
        self.type = arrow_type(column)

    def sources(self) -> list[Source]:
        """Return what is to be gathered."""
        return self.column.sources()

    def encode(self, values: Any) -> list[Part]:
        """Return values as parts."""
        return self.column.encode(values)

    def read(self, rows: Any) -> Any:
        """Return the values of rows by their numbers."""
        return self.typed(self.column.read(rows))

    def values(self, parts: Sequence[Part]) -> Any:
        """Return the values of gathered parts."""
        if self.column.kind == "string":
            return _checked_text(cast("StringColumn", self.column).utf8_of(parts))
        if self.column.kind == "categorical":
            column = cast("CategoricalColumn", self.column)
            return _coded(column, column.codes_of(parts), self.type)
        return self.typed(self.column.values(parts))

    def typed(self, values: Any) -> Any:
        """Return values that NumPy has as Arrow's."""
        pa = pyarrow()
        if pa.types.is_dictionary(self.type):
            if self.column.kind == "enum":
                return _enumerated(cast("EnumColumn", self.column), values, self.type)
            column = cast("CategoricalColumn", self.column)
            return _coded(column, cast("Any", column.encode(values)[0]), self.type)
        if self.column.kind == "values":
            return pa.array(values.tolist(), self.type)
        if self.shape:
            return _lists(values, self.type)
        return _plain(values, self.type)


def arrow_type(column: Column) -> Any:
    """Return the Arrow type of a column. Raises TypeError if there is none."""
    pa = pyarrow()
    if column.kind == "enum":
        return pa.dictionary(pa.int32(), pa.string())
    if column.kind == "values":
        try:
            return cast("ValuesColumn", column).arrow_type()
        except TypeError as error:
            raise TypeError(
                f"{column.described()}: Arrow has no type for it ({error}); choose the other columns"
            ) from None
    dtype = column.dtype
    ty = _type_of(dtype, column)
    if column.kind == "categorical":
        is_ordered = cast("CategoricalColumn", column).ordered
        return pa.dictionary(pa.int64(), ty, ordered=is_ordered)
    if column.shape:
        return pa.list_(ty, int(np.prod(column.shape)))
    return ty


def _type_of(dtype: np.dtype[Any], column: Column) -> Any:
    pa = pyarrow()
    if dtype.kind in "SU":
        return pa.large_string()
    if dtype.kind in "TO":
        return pa.large_string()
    if dtype.kind in "mM":
        unit = np.datetime_data(dtype)[0]
        zone = getattr(column, "zone", None)
        if dtype.kind == "M" and unit == "D" and zone is None:
            return pa.date32()
        known = _UNITS.get(unit, "s")
        return pa.timestamp(known, zone) if dtype.kind == "M" else pa.duration(known)
    try:
        return pa.from_numpy_dtype(dtype.newbyteorder("="))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise TypeError(
            f"{column.described()}: Arrow has no type for it; choose the other columns"
        ) from error


def _lists(values: Any, ty: Any) -> Any:
    """Return values with axes as lists of a fixed size; a row that is missing is null."""
    pa = pyarrow()
    mask = None
    if isinstance(values, np.ma.MaskedArray):
        masked = cast("Any", values)
        mask = np.ma.getmaskarray(masked).reshape(len(masked), -1).all(axis=1)
        mask, values = pa.array(mask), masked.data
    inner = _plain(np.ascontiguousarray(values).reshape(-1), ty.value_type)
    return pa.FixedSizeListArray.from_arrays(inner, ty.list_size, mask=mask)


def _plain(values: Any, ty: Any) -> Any:
    """Return values of any dtype as an array of an Arrow type."""
    pa = pyarrow()
    mask = None
    if isinstance(values, np.ma.MaskedArray):
        masked = cast("Any", values)
        mask, values = np.ma.getmaskarray(masked), masked.data
    kind = values.dtype.kind
    if kind == "T":
        return pa.array(values.tolist(), ty, mask=mask)
    if kind == "O":
        return _text(Utf8.of(values))
    if kind in "SU":
        return _text(_fixed_text(values))
    if kind in "mM":
        if pa.types.is_timestamp(ty) or pa.types.is_duration(ty):
            values = values.astype(f"{kind}8[{ty.unit}]")
        return pa.array(values, ty, mask=mask)
    return pa.array(np.ascontiguousarray(values, values.dtype.newbyteorder("=")), ty, mask=mask)


def _fixed_text(values: npt.NDArray[Any]) -> Utf8:
    """Return strings of fixed width as text. Raises ValueError for bytes that are no UTF-8."""
    if values.dtype.kind == "U":
        values = np.strings.encode(values, "utf-8")
    width = values.dtype.itemsize
    lengths = np.strings.str_len(values).astype(np.int64)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    raw = np.ascontiguousarray(values).view(np.uint8).reshape(-1, width)
    data = raw[np.arange(width) < lengths[:, None]]
    try:
        data.tobytes().decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"bytes that are not text: {error}; choose the other columns") from None
    return Utf8(offsets, data)


def _text(values: Utf8) -> Any:
    pa = pyarrow()
    valid = None
    if values.mask is not None:
        valid = pa.py_buffer(np.packbits(~values.mask, bitorder="little"))
    buffers = [valid, pa.py_buffer(values.offsets), pa.py_buffer(np.ascontiguousarray(values.data))]
    return pa.Array.from_buffers(pa.large_string(), len(values), buffers)


def _checked_text(values: Utf8) -> Any:
    """Return stored text. Raises CorruptError for bytes that are no UTF-8."""
    found = _text(values)
    try:
        found.validate(full=True)
    except pyarrow().ArrowInvalid as error:
        raise CorruptError(f"text that is not UTF-8: {error}") from None
    return found


def _coded(column: CategoricalColumn, codes: npt.NDArray[Any], ty: Any) -> Any:
    pa = pyarrow()
    known = pa.array(column.categories.tolist(), ty.value_type)
    indices = pa.array(codes.astype(np.int64), mask=(codes < 0) | (codes >= len(known)))
    return pa.DictionaryArray.from_arrays(indices, known, ordered=column.ordered)


def _enumerated(column: EnumColumn, values: Any, ty: Any) -> Any:
    """Return numbers as the names that they have; null for those without."""
    pa = pyarrow()
    names = list(column.members)
    numbers = np.array([column.members[name] for name in names], np.int64)
    order = np.argsort(numbers, kind="stable")
    wide = np.asarray(values).astype(np.int64)
    at = np.minimum(np.searchsorted(numbers[order], wide), max(len(names) - 1, 0))
    places = order[at] if len(names) else at
    unknown = numbers[places] != wide if len(names) else np.ones(len(wide), bool)
    return pa.DictionaryArray.from_arrays(
        pa.array(places.astype(np.int32), mask=unknown), pa.array(names, ty.value_type)
    )


def struct_of(path: str, spec: ColumnSpec, values: Batch) -> Any:
    """Return a column, or a nest of columns as a struct, from Arrow arrays by path."""
    if not spec.children:
        return values[path]
    parts = [struct_of(f"{path}/{child.name}", child, values) for child in spec.children]
    return pyarrow().StructArray.from_arrays(parts, [child.name for child in spec.children])


def struct_type(path: str, spec: ColumnSpec, columns: dict[str, ArrowColumn]) -> Any:
    """Return the Arrow type of a column, or of a nest of columns."""
    if not spec.children:
        return columns[path].type
    pa = pyarrow()
    parts = [(child.name, struct_type(f"{path}/{child.name}", child, columns)) for child in spec.children]
    return pa.struct(parts)
