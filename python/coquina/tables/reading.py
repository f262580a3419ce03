"""Rows as users get them: values of columns, put together to structured arrays.

In: names of columns, and the values of columns by path. Out: a dtype, and arrays of it.
Text of any length is a field of objects. Where values can be missing, the array is a masked one; text that is
missing is None.
Invariant: fields stand in the order in which they were asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina._core import ColumnReader
from coquina.casting import is_masked
from coquina.lazy_property import lazy_property
from coquina.providers import Provider
from coquina.tables.layout import leaves_of, no_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.tables.columns import Column
    from coquina.tables.layout import Batch, ColumnSpec, Layout, Schema

    Names = str | Sequence[str] | None
    #: A field of structured arrays, and the values that go there.
    Filling = tuple[npt.NDArray[Any], npt.NDArray[Any]]

# Importing NumPy's masked arrays takes longer than many a query.
masked_rows = Provider("masked_rows")

_OBJECT = np.dtype(object)
_IS_NULLABLE, _CHILDREN = attrgetter("is_nullable"), attrgetter("spec.children")
#: What of a structured array is filled at a time: it stays in a core's second cache.
_FILLED_BYTES, _FILLED_ROWS_MIN = 1 << 17, 1 << 9
#: What a value of text is taken to be, where memory is shared out.
TEXT_BYTES = 48


class Picked(NamedTuple):
    """A field of the rows that are asked for: what it is called, and which column or nest it is."""

    name: str
    path: str
    spec: ColumnSpec

    def leaves(self) -> dict[str, ColumnSpec]:
        """Return the columns without children, by path."""
        above = self.path.rpartition("/")[0]
        return self.spec.leaves(above)


def pick(schema: Schema, names: Names) -> list[Picked]:
    """Return what names of columns stand for, all of them if None. Raises KeyError, with those that exist."""
    if names is None:
        return [Picked(spec.name, spec.name, spec) for spec in schema]
    refuse_mapping(names)
    wanted = [names] if isinstance(names, str) else list(names)
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"columns {wanted}: one is named twice")
    return [Picked(name, name, spec_of(schema, name)) for name in wanted]


def refuse_mapping(names: Any) -> None:
    """Raise TypeError for a mapping where names of columns are wanted: its values would be left out."""
    if isinstance(names, Mapping):
        raise TypeError(
            f"columns are named, as in ['x', 'y'], not {names!r}: nothing is computed here; compute with the "
            "columns (t['x'] * 100), or store the result by add_column('y', t['x'] * 100) first"
        )


def spec_of(schema: Schema, path: str) -> ColumnSpec:
    """Return the column, or nest of columns, at a path. Raises KeyError."""
    # A name may have "/" in itself.
    for spec in schema:
        if spec.name == path:
            return spec
        if spec.children and path.startswith(spec.name + "/"):
            return spec_of(spec.children, path[len(spec.name) + 1 :])
    raise no_column(path, leaves_of(schema))


def columns_of(layout: Layout, picked: Sequence[Picked]) -> dict[str, Column]:
    """Return the columns that have to be read."""
    found: dict[str, Column] = {}
    for one in picked:
        for path in one.leaves() if one.spec.children else (one.path,):
            found[path] = layout.columns[path]
    return found


def narrowed(schema: Schema, picked: Sequence[Picked]) -> Schema:
    """Return the schema of some columns; one within a nest gets its path as its name."""
    return tuple([replace(one.spec, name=one.name) for one in picked])


def row_dtype(columns: dict[str, Column], picked: Sequence[Picked]) -> np.dtype[Any]:
    """Return the dtype of a row."""
    return np.dtype([(one.name, *_field(columns, one.path, one.spec)) for one in picked])


def _field(columns: dict[str, Column], path: str, spec: ColumnSpec) -> tuple[Any, ...]:
    if spec.children:
        fields = [(child.name, *_field(columns, f"{path}/{child.name}", child)) for child in spec.children]
        return (np.dtype(cast("Any", fields)), spec.shape) if spec.shape else (np.dtype(cast("Any", fields)),)
    column = columns[path]
    dtype = _OBJECT if column.dtype.kind == "T" else column.dtype
    return (dtype, tuple(column.shape)) if column.shape else (dtype,)


class ColumnSet(dict[str, Any]):
    """Columns by path, and what reads them together."""

    @lazy_property
    def reader(self) -> ColumnReader:
        """What reads them: the same each time."""
        return ColumnReader(self)


class RowShape(NamedTuple):
    """What rows are made of: their fields, the columns that are read for them, and their dtype.

    can_miss: whether they come masked, since a value could be missing. is_nullable: whether one of any column
    could be, also of text. is_plain: whether each field is a column that always has a value. records: whole
    records as one column "", if all columns are wanted and are stored as they are shown.
    """

    columns: ColumnSet
    picked: list[Picked]
    dtype: np.dtype[Any]
    can_miss: bool
    is_nullable: bool
    is_plain: bool
    records: ColumnSet | None = None

    @classmethod
    def of(cls, layout: Layout, names: Names = None) -> RowShape:
        """Return it, of some columns of a table as it is now, or of all."""
        picked = pick(layout.schema, names)
        return cls.picking(columns_of(layout, picked), picked)

    @classmethod
    def picking(cls, columns: dict[str, Column], picked: list[Picked]) -> RowShape:
        """Return it, of the fields of rows; columns: all that are read."""
        nullable = [*filter(_IS_NULLABLE, columns.values())]
        is_plain = not (nullable or any(map(_CHILDREN, picked)))
        can_be_masked = bool(nullable) and any(map(can_miss, nullable))
        shown = ColumnSet(columns)
        return cls(shown, picked, row_dtype(columns, picked), can_be_masked, bool(nullable), is_plain)


def row_bytes(columns: Sequence[Column]) -> int:
    """Return how many bytes a row of some columns takes, about."""
    total = 0
    for column in columns:
        is_text = column.dtype.kind in "TO"
        total += (TEXT_BYTES if is_text else column.dtype.itemsize) * int(np.prod(column.shape, dtype=int))
    return max(1, total)


def can_miss(column: Column) -> bool:
    """Whether values of a column come masked."""
    return column.is_nullable and column.dtype.kind not in "TO"


class Rows:
    """A structured array that is filled: by the values of columns, some rows at a time or all at once."""

    def __init__(self, shape: RowShape, count: int) -> None:
        """`count` rows of a shape."""
        self._shape = shape
        self._out: npt.NDArray[Any] = np.empty(count, shape.dtype)
        self._mask: Any = None

    def put(self, start: int, count: int, values: Batch) -> None:
        """Fill `count` rows from `start` on, with the values of their columns by path."""
        # Of columns that always have a value none comes masked, which need not be asked for each of them.
        if self._mask is None and self._shape.is_nullable and any(map(is_masked, values.values())):
            self._mask = np.zeros(len(self._out), np.ma.make_mask_descr(self._out.dtype))
        out = self._out[start : start + count]
        mask = None if self._mask is None else self._mask[start : start + count]
        pairs: list[Filling] = []
        _pair(pairs, out, mask, self._shape.picked, values)
        _fill(pairs, count, out.dtype.itemsize)

    def result(self) -> npt.NDArray[Any]:
        """Return the array: a masked one if something of it could be missing."""
        if self._mask is None:
            if not self._shape.can_miss:
                return self._out
            self._mask = np.zeros(len(self._out), np.ma.make_mask_descr(self._out.dtype))
        return masked_rows.MaskedRows(self._out, self._mask)


def records(shape: RowShape, values: Batch, count: int) -> npt.NDArray[Any]:
    """Return `count` rows as a structured array, of the values of their columns by path."""
    if shape.is_plain and count * shape.dtype.itemsize <= _FILLED_BYTES:
        out: npt.NDArray[Any] = np.empty(count, shape.dtype)
        for one in shape.picked:
            # Text is cast to objects.
            out[one.name] = values[one.path]
        return out
    rows = Rows(shape, count)
    rows.put(0, count, values)
    return rows.result()


def _pair(pairs: list[Filling], out: Any, mask: Any, picked: Sequence[Picked], values: Batch) -> None:
    """List the fields of rows with the values that go there."""
    for name, path, spec in picked:
        if spec.children:
            inner = None if mask is None else mask[name]
            below = [Picked(child.name, f"{path}/{child.name}", child) for child in spec.children]
            _pair(pairs, out[name], inner, below, values)
            continue
        found = values[path]
        # Without a mask of the rows no column has one.
        if mask is not None and is_masked(found):
            if found.mask is not np.ma.nomask:
                pairs.append((mask[name], np.ma.getmaskarray(found)))
            found = found.data
        pairs.append((out[name], plain(found) if found.dtype.kind == "T" else found))


def _fill(pairs: list[Filling], count: int, item_bytes: int) -> None:
    """Copy values to fields: so few rows at a time that they are in the cache for all of the fields."""
    rows = max(_FILLED_ROWS_MIN, _FILLED_BYTES // max(1, item_bytes))
    if count <= rows or len(pairs) == 1:
        for field, values in pairs:
            field[...] = values
        return
    for start in range(0, count, rows):
        part = slice(start, start + rows)
        for field, values in pairs:
            field[part] = values[part]


def plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values with text as objects."""
    return values.astype(object) if values.dtype.kind == "T" else values


def joined(parts: Sequence[Any], column: Column) -> Any:
    """Return the values of a column from parts that follow each other."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return column.read(slice(0, 0))
    if any(map(is_masked, parts)):
        return cast("Any", np.ma).concatenate(parts)
    return np.concatenate(parts)


def check_names(schema: Schema, names: Sequence[str]) -> None:
    """Raise KeyError if one is not the path of a column without children."""
    leaves = leaves_of(schema)
    for name in names:
        if name not in leaves:
            raise no_column(name, leaves)
