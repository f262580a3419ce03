"""The HDF5 datatypes of new tables: those that PyTables gives the same columns.

In: columns as they are described. Out: the compound datatype of their records, without gaps, and the row of
    defaults.
Source: docs/formats/tables-rows.md.
Invariant: `rows_types.read_schema` reads what `compound` makes as the columns that it was made of; text of a
    fixed width comes back as bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import UnsupportedError
from coquina.casting import cast_values
from coquina.hdf5.untyped import h5py, h5t
from coquina.tables.layout import leaves_of, refuse_values

if TYPE_CHECKING:
    from coquina.tables.layout import ColumnSpec, Schema
    from coquina.tables.rows_types import Field

_MICROS = 1_000_000
#: Names that PyTables does not take.
_RESERVED = ("_v_", "_f_", "_g_", "_i_", "_c_", "__")


def check_names(schema: Schema, above: str = "") -> None:
    """Raise ValueError for names that PyTables or HDF5 cannot have."""
    if not schema:
        raise ValueError(f"{above or 'a table'}: needs a column at least")
    names = [spec.name for spec in schema]
    for name in names:
        path = above + name
        if not name or "/" in name or "\0" in name or name.startswith(_RESERVED):
            raise ValueError(
                f"column {path!r}: a name in the rows layout is not empty, has no slash, and does not begin "
                f"with {', '.join(_RESERVED)}"
            )
        if names.count(name) > 1:
            raise ValueError(f"column {path!r}: the name is there twice")
    for spec in schema:
        if spec.children:
            check_names(spec.children, f"{above}{spec.name}/")


def compound(schema: Schema, above: str = "") -> Any:
    """Return the datatype of records. Raises UnsupportedError for columns that PyTables has nothing for."""
    members = [(spec.name, _datatype(spec, above)) for spec in schema]
    made = h5t.create(h5t.COMPOUND, sum(tid.get_size() for _, tid in members))
    offset = 0
    for name, tid in members:
        made.insert(name.encode(), offset, tid)
        offset += tid.get_size()
    return made


def _datatype(spec: ColumnSpec, above: str) -> Any:
    path = above + spec.name
    if spec.children:
        if spec.shape:
            raise UnsupportedError(f"column {path!r}: columns with columns below have no axes of their own")
        return compound(spec.children, f"{path}/")
    base = _base(spec, path)
    if 0 in spec.shape:
        raise UnsupportedError(f"column {path!r}: rows of shape {spec.shape} have no values")
    return h5t.array_create(base, spec.shape) if spec.shape else base


def _base(spec: ColumnSpec, path: str) -> Any:
    """Return the datatype of single values."""
    _check_kind(spec, path)
    dtype = spec.dtype
    if spec.enum is not None:
        return _enumeration(spec, path)
    if spec.time is not None:
        return {"time32": h5t.UNIX_D32LE, "time64": h5t.UNIX_D64LE}[spec.time].copy()
    if dtype.kind == "b":
        return h5t.STD_B8LE.copy()
    if dtype.kind in "SU":
        width = dtype.itemsize // (4 if dtype.kind == "U" else 1)
        tid = h5t.C_S1.copy()
        tid.set_size(max(width, 1))
        return tid
    if dtype.kind in "mM":
        return h5t.STD_I64LE.copy()
    return h5t.py_create(dtype)


def _check_kind(spec: ColumnSpec, path: str) -> None:
    """Raise UnsupportedError for what records do not have, and say what to do instead."""
    refuse_values(spec)
    what = None
    if spec.dtype.kind == "T":
        what = "text of any length; give it a width (as 'S20'), or choose"
    elif spec.nullable:
        what = "values that can be missing; fill them with a value of your own, or choose"
    elif spec.categories is not None:
        what = "categories; describe them as an enumeration (`enum=`), or choose"
    elif spec.enum is not None and spec.time is not None:
        what = "an enumeration of times; choose one of the two, or"
    elif spec.dtype.kind not in ("biufcSUmM" if spec.enum is None else "iu"):
        what = f"values of {spec.dtype}; choose"
    elif spec.dtype.kind in "mM" and np.datetime_data(spec.dtype)[0] == "generic":
        what = f"values of {spec.dtype}, which has no unit; choose"
    if spec.time not in (None, "time32", "time64"):
        raise ValueError(f"column {path!r}: time {spec.time!r}: takes 'time32' or 'time64'")
    if what is not None:
        raise UnsupportedError(f"column {path!r}: the rows layout has no {what} the columns layout")


def _enumeration(spec: ColumnSpec, path: str) -> Any:
    members: dict[str, int] = dict(spec.enum or {})
    limits = np.iinfo(spec.dtype)
    if not members:
        raise ValueError(f"column {path!r}: an enumeration needs a name at least")
    for name, number in members.items():
        if not limits.min <= number <= limits.max:
            raise ValueError(f"column {path!r}: {name!r} is {number}, which is no {spec.dtype}")
    if len(set(members.values())) < len(members):
        raise ValueError(f"column {path!r}: two names of the enumeration have one number")
    # PyTables takes the first for the default.
    first = _default_member(spec, path)
    tid = h5t.enum_create(h5t.py_create(spec.dtype))
    for name in [first, *(name for name in members if name != first)]:
        tid.enum_insert(name.encode(), members[name])
    return tid


def _default_member(spec: ColumnSpec, path: str) -> str:
    members: dict[str, int] = dict(spec.enum or {})
    if spec.default is None:
        return next(iter(members))
    for name, number in members.items():
        if spec.default in (name, number):
            return name
    raise ValueError(f"column {path!r}: the default {spec.default!r} is not one of {', '.join(members)}")


def default_row(schema: Schema, fields: list[Field], dtype: np.dtype[Any]) -> Any:
    """Return a record of the defaults, as it is stored."""
    leaves = leaves_of(schema)
    row = np.zeros((), dtype)
    for field in fields:
        value = _default(leaves[field.path], field)
        if value is not None:
            field.of(row)[...] = value
    return row


def _default(spec: ColumnSpec, field: Field) -> Any:
    """Return a default as it is stored; None for zeros."""
    if spec.enum is not None:
        return spec.enum[_default_member(spec, field.path)]
    if spec.default is None:
        return None
    what = f"column {field.path!r}: its default"
    dtype = np.dtype(np.float64) if spec.time == "time64" else field.spec.dtype
    if spec.dtype.kind in "mM":
        dtype = spec.dtype
    value = np.asarray(spec.default)
    found = cast_values(value.reshape(-1), dtype, (), what).reshape(value.shape)
    if spec.time == "time64":
        seconds = np.trunc(found)
        if not ((seconds >= -(2.0**31)) & (seconds < 2.0**31)).all():
            raise ValueError(f"{what}: {spec.default!r} seconds do not fit 32 bits")
        micros = np.rint((found - seconds) * _MICROS).astype(np.int64)
        return seconds.astype(np.int64) << 32 | micros & 0xFFFF_FFFF
    return found.view(np.int64) if spec.dtype.kind in "mM" else found


def fill_dtype(schema: Schema, fields: list[Field], defaults: Any) -> np.dtype[Any] | None:
    """Return a dtype by which h5py hands the defaults to libhdf5; None if it would not get them right.

    What is zero is left out, since libhdf5 has no way from any dtype to bit fields and times.
    """
    known = {field.path: field for field in fields}
    return _fill_part(schema, "", known, defaults) or None


def _fill_part(schema: Schema, above: str, known: dict[str, Field], row: Any) -> np.dtype[Any] | None:
    parts: list[tuple[Any, ...]] = []
    for spec in schema:
        value = row[spec.name]
        if not any(np.asarray(value).tobytes()):
            continue
        if spec.children:
            part = _fill_part(spec.children, f"{above}{spec.name}/", known, value)
        else:
            part = _fill_leaf(known[above + spec.name], value)
        if part is None:
            return None
        parts.append((spec.name, part))
    return np.dtype(parts)


def _fill_leaf(field: Field, value: Any) -> np.dtype[Any] | None:
    base = field.dtype.base
    if field.is_bits or field.spec.time is not None:
        return None
    if base.kind == "S" and int(np.strings.str_len(np.asarray(value)).max()) == base.itemsize:
        return None  # libhdf5 would make room for a NUL at its end.
    if field.spec.enum is not None:
        base = h5py.enum_dtype(field.spec.enum, base)
    return np.dtype((base, field.dtype.shape)) if field.dtype.shape else base
