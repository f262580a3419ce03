"""Rows as users get them: values of columns, put together to structured arrays.

In: names of columns, and the values of columns by path. Out: a dtype, and arrays of it.
Text of any length is a field of objects. Where values can be missing, the array is a masked one; text that is
missing is None.
Invariant: fields stand in the order in which they were asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina.tables.layout import leaves_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.tables.columns import Column
    from coquina.tables.layout import Batch, ColumnSpec, Layout, Schema

    Names = str | Sequence[str] | None

_OBJECT = np.dtype(object)
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
    wanted = [names] if isinstance(names, str) else list(names)
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"columns {wanted}: one is named twice")
    return [Picked(name, name, spec_of(schema, name)) for name in wanted]


def spec_of(schema: Schema, path: str) -> ColumnSpec:
    """Return the column, or nest of columns, at a path. Raises KeyError."""
    # A name may have "/" in itself.
    for spec in schema:
        if spec.name == path:
            return spec
        if spec.children and path.startswith(spec.name + "/"):
            return spec_of(spec.children, path[len(spec.name) + 1 :])
    known = ", ".join([spec.name for spec in schema])
    raise KeyError(f"there is no column {path!r} (there are {known})")


def columns_of(layout: Layout, picked: Sequence[Picked]) -> dict[str, Column]:
    """Return the columns that have to be read."""
    return {path: layout.columns[path] for one in picked for path in one.leaves()}


def narrowed(schema: Schema, picked: Sequence[Picked]) -> Schema:
    """Return the schema of some columns; one within a nest gets its path as its name."""
    from dataclasses import replace

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


def records(
    columns: dict[str, Column], picked: Sequence[Picked], values: Batch, count: int
) -> npt.NDArray[Any]:
    """Return `count` rows as a structured array, of the values of their columns by path."""
    out: npt.NDArray[Any] = np.empty(count, row_dtype(columns, picked))
    is_masked = any(
        can_miss(columns[path]) or isinstance(values[path], np.ma.MaskedArray)
        for one in picked
        for path in one.leaves()
    )
    mask: Any = np.zeros(count, np.ma.make_mask_descr(out.dtype)) if is_masked else None
    for one in picked:
        _fill(out, mask, one.name, one.path, one.spec, values)
    return np.ma.MaskedArray(out, mask) if is_masked else out


def _fill(out: Any, mask: Any, name: str, path: str, spec: ColumnSpec, values: Batch) -> None:
    if spec.children:
        for child in spec.children:
            inner = None if mask is None else mask[name]
            _fill(out[name], inner, child.name, f"{path}/{child.name}", child, values)
        return
    found = values[path]
    if isinstance(found, np.ma.MaskedArray):
        masked = cast("Any", found)
        mask[name] = np.ma.getmaskarray(masked)
        found = masked.data
    out[name] = plain(found)


def plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values with text as objects."""
    return values.astype(object) if values.dtype.kind == "T" else values


def joined(parts: Sequence[Any], column: Column) -> Any:
    """Return the values of a column from parts that follow each other."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return column.read(slice(0, 0))
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        return cast("Any", np.ma).concatenate(parts)
    return np.concatenate(parts)


def check_names(schema: Schema, names: Sequence[str]) -> None:
    """Raise KeyError if one is not the path of a column without children."""
    leaves = leaves_of(schema)
    for name in names:
        if name not in leaves:
            raise KeyError(f"there is no column {name!r} (there are {', '.join(leaves)})")
