"""Columns of a table of python-blosc2 as those of ours.

In: a column as the table describes it, and what lies at its keys. Out: a `Column`: over the arrays as
    they are stored, where items mean the same, else over a copy in memory, compressed, made when first used.
Source: docs/formats/blosc2-stores.md, "Tables".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from coquina._core import CorruptError
from coquina.arrays.array import Array
from coquina.arrays.creation import asarray
from coquina.stores.later_columns import later
from coquina.stores.objects import Values
from coquina.tables.columns import (
    CategoricalColumn,
    Column,
    DatetimeColumn,
    NullableColumn,
    NumberColumn,
    Stored,
    StringColumn,
    ValuesColumn,
)
from coquina.tables.time_columns import known_zone
from coquina.tables.values import TEXT, TEXT_OR_NONE, Utf8

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina.stores.ctable_schema import Described

#: Kinds of numbers, as NumPy names them.
NUMBERS = frozenset(
    f"{kind}{bits}"
    for kind, all_bits in (
        ("int", (8, 16, 32, 64)),
        ("uint", (8, 16, 32, 64)),
        ("float", (16, 32, 64)),
        ("complex", (64, 128)),
    )
    for bits in all_bits
)
#: Kinds whose items are those of an array, and the kinds of NumPy that they have.
_ITEMS = {"bool": "bu", "string": "U", "bytes": "S"} | {
    name: {"i": "i", "u": "u", "f": "f", "c": "c"}[name[0]] for name in NUMBERS
}
_UNITS = ("s", "ms", "us", "ns")
_NOT_STORED = "a column of a table of python-blosc2 is changed by the table: t.modify(rows, {name: values})"


class CopyOfItems(Array):
    """Items in memory that stand for what is stored: to write to them would be lost, and is an error."""

    @classmethod
    def of(cls, items: npt.NDArray[Any]) -> CopyOfItems:
        """Return a copy of items."""
        made = asarray(items)
        return cls(made.handle, made.dtype)

    def write_selection(self, *arguments: Any, **options: Any) -> NoReturn:
        """Raise ValueError."""
        raise ValueError(_NOT_STORED)

    def append_items(self, axis: int, len: int, values: Any, threads: int | None = None) -> NoReturn:
        """Raise ValueError."""
        raise ValueError(_NOT_STORED)

    def resize_axes(self, shape: Any, threads: int | None = None) -> NoReturn:
        """Raise ValueError."""
        raise ValueError(_NOT_STORED)


class Parts:
    """What lies at the keys of a table. at: what opens it; None for nothing."""

    def __init__(self, at: Callable[[str], Any], rows: int, where: str) -> None:
        """rows: of all columns, with those that were deleted. where: for errors."""
        self._at = at
        self.rows = rows
        self.where = where

    def array(self, key: str, kinds: str, length: int) -> Array:
        """Return a 1-d array of a kind of NumPy's, of so many items at least. Raises CorruptError."""
        found = self.rows_of_items(key, kinds, length)
        if len(found.shape) != 1:
            raise CorruptError(f"{self.where}: {key}: shape {found.shape}, where each row has one value")
        return found

    def rows_of_items(self, key: str, kinds: str, length: int) -> Array:
        """Return such an array, whose rows may have axes."""
        found = self._at(key)
        if not isinstance(found, Array) or found.dtype.kind not in kinds or not found.shape:
            raise CorruptError(f"{self.where}: {key}: no array of the column's kind")
        # Rows at the end that were deleted are cut off from some arrays only.
        if found.shape[0] < length:
            raise CorruptError(f"{self.where}: {key}: {found.shape[0]} items for {length} rows")
        return found

    def values(self, key: str, length: int | None) -> Values:
        """Return values of any length, one for each row."""
        found = self._at(key)
        if not isinstance(found, Values) or (length is not None and len(found) < length):
            raise CorruptError(f"{self.where}: {key}: no values for {length} rows")
        return found

    def valid(self, column: Described) -> npt.NDArray[np.bool_] | None:
        """Return where a column has values; None if that is everywhere."""
        key = f"{column.key}.notnull"
        if not column.has_mask or self._at(key) is None:
            return None
        return np.asarray(self.array(key, "b", self.rows)[: self.rows])


def column_of(column: Described, parts: Parts) -> Column | None:
    """Return a column; None for kinds that tables do not have."""
    if column.kind in _ITEMS:
        return _items(column, parts)
    make = _MAKERS.get(column.kind)
    return None if make is None else make(column, parts)


def _items(column: Described, parts: Parts) -> Column:
    """Return a column of numbers, truth values, or text of a fixed width."""
    array = parts.array(column.key, _ITEMS[column.kind], parts.rows)
    is_wide = column.kind == "bool" and array.dtype.kind == "u"
    dtype = np.dtype(bool) if is_wide else array.dtype
    null = column.null_value
    # A NaN says itself that it is none.
    if not is_wide and not column.has_mask and (null is None or null != null):
        return NumberColumn(column.name, Stored(array, array.dtype))

    def make() -> Column:
        items = np.asarray(array[: parts.rows])
        valid = parts.valid(column)
        missing = ~valid if valid is not None else _equal(items, null)
        return nullable(column.name, items == 1 if is_wide else items, missing)

    return later(NullableColumn, column.name, parts.rows, dtype.newbyteorder("="), (), make)


def _equal(items: npt.NDArray[Any], null: Any) -> npt.NDArray[np.bool_]:
    if null is None:
        return np.zeros(len(items), bool)
    wanted = null.encode() if items.dtype.kind == "S" and isinstance(null, str) else null
    return np.asarray(items == wanted) if np.ndim(items == wanted) else np.zeros(len(items), bool)


def nullable(name: str, items: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> Column:
    """Return a column in memory, of values some of which are missing. missing: for each row."""
    there = items.copy()
    there[missing] = np.zeros((), items.dtype)
    values = _boxed(there) if items.ndim > 1 else _in_memory(there)
    mask = CopyOfItems.of(missing.view(np.uint8))
    return NullableColumn(name, values, Stored(mask, mask.dtype))


def _times(column: Described, parts: Parts) -> Column:
    unit, zone = column.fields.get("unit"), column.fields.get("timezone")
    if unit not in _UNITS:
        raise CorruptError(f"{parts.where}: {column.name!r}: unit {unit!r}")
    dtype = np.dtype(f"M8[{unit}]")
    array = parts.array(column.key, "i", parts.rows)
    zone = known_zone(zone if isinstance(zone, str) else None, dtype)
    if array.dtype.itemsize != dtype.itemsize:
        raise CorruptError(f"{parts.where}: {column.key}: times of {array.dtype}")
    nat, null = np.iinfo(np.int64).min, column.null_value
    if not column.has_mask and null in (None, nat):
        return DatetimeColumn(column.name, Stored(array, array.dtype), dtype, zone)

    def make() -> Column:
        items = np.asarray(array[: parts.rows])
        valid = parts.valid(column)
        missing = ~valid if valid is not None else _equal(items, null)
        return times(column.name, np.where(missing, nat, items), dtype, zone)

    return later(DatetimeColumn, column.name, parts.rows, dtype, (), make, zone=zone)


def times(name: str, counts: npt.NDArray[Any], dtype: np.dtype[Any], zone: str | None) -> Column:
    """Return a column in memory, of times."""
    stored = CopyOfItems.of(np.ascontiguousarray(counts, np.int64))
    return DatetimeColumn(name, Stored(stored, stored.dtype), dtype, zone)


def _utf8(column: Described, parts: Parts) -> Column:
    offsets = parts.array(column.key, "i", parts.rows + 1)
    data = parts.array(f"{column.key}.utf8", "u", 0)
    ends = offsets[0], offsets[-1]
    if offsets.dtype.itemsize != 8 or data.dtype.itemsize != 1 or not 0 == ends[0] <= ends[1] <= len(data):
        raise CorruptError(f"{parts.where}: {column.key}: texts from byte {ends[0]} to {ends[1]}")
    stored = StringColumn(column.name, offsets, data)
    null = column.null_value
    if not column.has_mask and null is None:
        return stored

    def make() -> Column:
        texts: Any = stored.read(slice(parts.rows)).astype(TEXT_OR_NONE)
        valid = parts.valid(column)
        texts[~valid if valid is not None else texts == null] = None
        return strings(column.name, Utf8.of(texts), is_nullable=True)

    return later(StringColumn, column.name, parts.rows, TEXT_OR_NONE, (), make)


def strings(name: str, text: Utf8, *, is_nullable: bool) -> Column:
    """Return a column in memory, of text of any length."""
    text = text.packed()
    arrays = (
        CopyOfItems.of(np.ascontiguousarray(text.offsets, np.int64)),
        CopyOfItems.of(np.ascontiguousarray(text.data)),
    )
    if not is_nullable:
        return StringColumn(name, *arrays)
    missing = np.zeros(len(text), bool) if text.mask is None else np.asarray(text.mask)
    mask = CopyOfItems.of(np.ascontiguousarray(missing).view(np.uint8))
    return StringColumn(name, *arrays, Stored(mask, mask.dtype))


def _texts(column: Described, parts: Parts) -> Column:
    values = parts.values(column.key, parts.rows)
    is_nullable = bool(column.fields.get("nullable"))

    def make() -> Column:
        found: list[Any] = values[: parts.rows]
        if not all(isinstance(one, str) or (one is None and is_nullable) for one in found):
            raise CorruptError(f"{parts.where}: {column.key}: a value that is not text")
        return strings(column.name, Utf8.of(found), is_nullable=is_nullable)

    dtype = TEXT_OR_NONE if is_nullable else TEXT
    return later(StringColumn, column.name, parts.rows, dtype, (), make)


def _categories(column: Described, parts: Parts) -> Column:
    codes = parts.array(column.key, "iu", parts.rows)
    categories: list[Any] = list(parts.values(f"{column.key}_dict", None))
    if not all(isinstance(one, str) for one in categories):
        raise CorruptError(f"{parts.where}: {column.key}_dict: a category that is not text")
    names: Any = np.array(categories, TEXT)
    return CategoricalColumn(
        column.name, Stored(codes, codes.dtype), names, column.fields.get("ordered") is True
    )


def _boxes(column: Described, parts: Parts) -> Column | None:
    """Return a column whose rows have axes of their own."""
    array = parts.rows_of_items(column.key, "biufcSU", parts.rows)
    shape, null = array.shape[1:], column.null_value
    if not shape or 0 in shape:
        return None
    is_wide = column.fields.get("bool_widened_to_uint8") is True and array.dtype == np.uint8
    dtype = np.dtype(bool) if is_wide else array.dtype.newbyteorder("=")
    # A NaN says itself that it is none.
    can_miss = column.has_mask or (null is not None and null == null)

    def make() -> Column:
        items = np.asarray(array[: parts.rows])
        if not can_miss:
            return boxes(column.name, items == 1 if is_wide else items)
        valid = parts.valid(column)
        flat = items.reshape(len(items), -1)
        missing = ~valid if valid is not None else np.zeros(len(items), bool)
        if null is not None:
            missing = (flat == (null.encode() if items.dtype.kind == "S" else null)).all(axis=1)
        return nullable(column.name, items == 1 if is_wide else items, missing)

    kind = NullableColumn if can_miss else NumberColumn
    return later(kind, column.name, parts.rows, dtype, shape, make)


def _values(column: Described, parts: Parts) -> Column:
    """Return a column of lists, mappings or other values of any length."""
    found = parts.values(column.key, parts.rows)
    said = {key: value for key, value in column.fields.items() if key != "name"}
    return ValuesColumn(
        column.name,
        np.arange(parts.rows),
        lambda numbers: [found[number] for number in numbers],
        said,
        is_nullable=column.kind == "object" or column.fields.get("nullable") is True,
    )


def boxes(name: str, items: npt.NDArray[Any]) -> Column:
    """Return a column in memory, of rows that have axes of their own."""
    return NumberColumn(name, _boxed(items))


def _boxed(items: npt.NDArray[Any]) -> Stored:
    dtype = np.dtype((items.dtype, items.shape[1:]))
    raw = np.ascontiguousarray(items).reshape(-1).view(f"V{dtype.itemsize}")
    return Stored(CopyOfItems.of(raw), dtype)


_MAKERS: dict[str, Callable[[Described, Parts], Column | None]] = {
    "timestamp": _times,
    "utf8": _utf8,
    "vlstring": _texts,
    "dictionary": _categories,
    "ndarray": _boxes,
    **dict.fromkeys(("list", "struct", "object", "vlbytes"), _values),
}


def without_deleted(column: Column, rows: npt.NDArray[np.intp]) -> Column:
    """Return the column of some rows of another one, copied when it is first used."""
    name, count = column.name, len(rows)
    if isinstance(column, ValuesColumn):
        return column.of_rows(rows)
    if isinstance(column, CategoricalColumn):
        codes = column.stored[0]
        make: Callable[[], Column] = lambda: CategoricalColumn(  # noqa: E731
            name, _in_memory(codes[rows]), column.categories, column.ordered
        )
        made = later(CategoricalColumn, name, count, column.dtype, (), make)
        made.categories, made.ordered = column.categories, column.ordered
        return made

    def copied() -> Column:
        values: Any = column.read(rows)
        if isinstance(column, NullableColumn):
            return nullable(name, values.data, rows_masked(values))
        if isinstance(column, DatetimeColumn):
            return times(name, values.view(np.int64), column.dtype, column.zone)
        if isinstance(column, StringColumn):
            return strings(name, Utf8.of(values), is_nullable=column.is_nullable)
        if column.shape:
            return boxes(name, values)
        return number_column(name, values)

    more = {"zone": column.zone} if isinstance(column, DatetimeColumn) else {}
    kind = next(one for one in _KINDS if isinstance(column, one))
    return later(kind, name, count, column.dtype, column.shape, copied, **more)


_KINDS: tuple[type[Column], ...] = (NullableColumn, DatetimeColumn, StringColumn, NumberColumn)


def rows_masked(values: Any) -> npt.NDArray[np.bool_]:
    """Return which rows of a masked array are missing."""
    mask: Any = np.ma.getmaskarray(values)
    return mask.reshape(len(mask), -1).all(axis=1) if mask.ndim > 1 else mask


def number_column(name: str, items: npt.NDArray[Any]) -> Column:
    """Return a column in memory, of numbers."""
    return NumberColumn(name, _in_memory(items))


def _in_memory(items: npt.NDArray[Any]) -> Stored:
    stored = CopyOfItems.of(np.ascontiguousarray(items))
    return Stored(stored, stored.dtype)
