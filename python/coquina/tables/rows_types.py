"""Records: what the HDF5 datatype of a table says of its columns.

In: the compound datatype of a dataset, and the dtype that its items have here. Out: columns, and where in a
record each stands. Names and offsets come from the datatype alone: the attributes that PyTables writes beside
it are hints.
Source: docs/formats/tables-rows.md.
Invariant: a table is opened with all of its columns, or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import UnsupportedError
from coquina.hdf5.item_types import stored_dtype
from coquina.hdf5.untyped import h5t
from coquina.tables.columns import BitsColumn, DatetimeColumn, EnumColumn, NumberColumn, TimeColumn
from coquina.tables.layout import ColumnSpec
from coquina.tables.stored import Stored

if TYPE_CHECKING:
    from coquina.arrays.array import Array
    from coquina.tables.columns import Column
    from coquina.tables.layout import Schema

    Dtype = np.dtype[Any]
    #: The dtype and the zone of dates and spans of time, by path.
    Times = dict[str, tuple[Dtype, str | None]]


@dataclass(frozen=True)
class Field:
    """A column without columns below it, in a record.

    parts: the names from the table down to the column. dtype: of the stored bytes, with the axes of a value.
    spec: what users see. is_bits: whether truth values are stored as a bit field.
    """

    parts: tuple[str, ...]
    dtype: Dtype
    offset: int
    spec: ColumnSpec
    is_bits: bool = False

    @property
    def path(self) -> str:
        """What the column is called in its table."""
        return "/".join(self.parts)

    def of(self, records: Any) -> Any:
        """Return the column's items of records, as a view."""
        for part in self.parts:
            records = records[part]
        return records

    def column(self, array: Array) -> Column:
        """Return the column of a table whose records are `array`."""
        stored = Stored(array, self.dtype, self.offset)
        spec = self.spec
        if self.is_bits:
            return BitsColumn(self.path, stored)
        if spec.enum is not None:
            return EnumColumn(self.path, stored, spec.enum)
        if spec.time == "time64":
            return TimeColumn(self.path, stored)
        if spec.dtype.kind in "mM":
            return DatetimeColumn(self.path, stored, spec.dtype, spec.zone)
        return NumberColumn(self.path, stored)


def read_schema(tid: Any, dtype: Dtype, times: Times, place: str) -> tuple[Schema, list[Field]]:
    """Return the columns of a compound datatype, and where each stands.

    dtype: of the same records here. times: of columns of integers that are dates or spans of time, by path:
    their dtype and zone.
    Raises UnsupportedError for a table with a column that is neither numbers nor strings of fixed size.
    """
    fields: list[Field] = []
    schema = _members(tid, dtype, ((), 0), times, fields)
    paths = [field.path for field in fields]
    if len(set(paths)) < len(paths):
        raise UnsupportedError(f"{place}: several columns are called {_twice(paths)!r}; read it as an array")
    return schema, fields


def unreadable(tid: Any) -> list[str]:
    """Return the columns of a compound datatype that no table has: name and datatype."""
    found: list[str] = []
    for at in range(tid.get_nmembers()):
        member = tid.get_member_type(at)
        if stored_dtype(member) is None:
            name = tid.get_member_name(at).decode("utf8", "replace")
            found.append(f"{name!r} ({type(member).__name__.removeprefix('Type').removesuffix('ID')})")
    return found


def breadth_first(schema: Schema) -> list[str]:
    """Return the paths of the columns as their defaults are numbered: level by level."""
    paths: list[str] = []
    level = [("", schema)]
    while level:
        below: list[tuple[str, Schema]] = []
        for above, specs in level:
            paths += [above + spec.name for spec in specs if not spec.children]
            below += [(f"{above}{spec.name}/", spec.children) for spec in specs if spec.children]
        level = below
    return paths


def native(dtype: Dtype) -> Dtype:
    """Return a dtype in the machine's byte order."""
    return dtype.newbyteorder("=")


def with_defaults(schema: Schema, defaults: dict[str, Any], above: str = "") -> Schema:
    """Return the columns with their defaults, which are given by path."""
    made: list[ColumnSpec] = []
    for spec in schema:
        path = above + spec.name
        if spec.children:
            made.append(replace(spec, children=with_defaults(spec.children, defaults, f"{path}/")))
        else:
            made.append(replace(spec, default=defaults.get(path)))
    return tuple(made)


def _members(
    tid: Any, dtype: Dtype, place: tuple[tuple[str, ...], int], times: Times, fields: list[Field]
) -> Schema:
    """Return the columns of a compound datatype. place: the names above, and where in a record it begins."""
    above, start = place
    known = cast("Any", dtype.fields)
    specs: list[ColumnSpec] = []
    for at in range(tid.get_nmembers()):
        name: str = tid.get_member_name(at).decode("utf8", "surrogateescape")
        if name not in known:
            raise UnsupportedError(f"column {name!r}: its name cannot be read; read the table as an array")
        member, (part, offset) = tid.get_member_type(at), known[name][:2]
        base, shape = part.subdtype or (part, ())
        while isinstance(member, h5t.TypeArrayID):
            member = member.get_super()
        if base.names is None:
            field = _leaf((*above, name), member, (part, start + offset), times)
            fields.append(field)
            specs.append(field.spec)
            continue
        if shape:
            raise UnsupportedError(
                f"column {'/'.join((*above, name))!r}: records with axes {shape} are not a column; "
                "read the table as an array"
            )
        children = _members(member, base, ((*above, name), start + offset), times, fields)
        specs.append(ColumnSpec(name, seen_dtype(children), children=children))
    return tuple(specs)


def seen_dtype(schema: Schema) -> Dtype:
    """Return the dtype of records of these columns as users see them."""
    return np.dtype([(spec.name, spec.dtype, spec.shape) for spec in schema])


def _leaf(parts: tuple[str, ...], tid: Any, place: tuple[Dtype, int], times: Times) -> Field:
    dtype, offset = place
    base, shape = dtype.subdtype or (dtype, ())
    spec = ColumnSpec(parts[-1], native(base), shape)
    is_bits = isinstance(tid, h5t.TypeBitfieldID) and base == np.uint8
    if is_bits:
        spec = replace(spec, dtype=np.dtype(np.bool_))
    elif isinstance(tid, h5t.TypeTimeID):
        is_long = base.itemsize == 8
        spec = replace(
            spec,
            dtype=np.dtype(np.float64) if is_long else spec.dtype,
            time="time64" if is_long else "time32",
        )
    elif isinstance(tid, h5t.TypeEnumID) and base.kind in "iu":
        names = [tid.get_member_name(at).decode("utf8", "replace") for at in range(tid.get_nmembers())]
        spec = replace(spec, enum={one: int(tid.get_member_value(at)) for at, one in enumerate(names)})
    elif (path := "/".join(parts)) in times and base.kind == "i" and base.itemsize == 8:
        dated, zone = times[path]
        spec = replace(spec, dtype=dated, zone=zone)
    return Field(parts, dtype, offset, spec, is_bits)


def _twice(paths: list[str]) -> str:
    return next(path for path in paths if paths.count(path) > 1)
