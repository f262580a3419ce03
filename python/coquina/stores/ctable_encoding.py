"""Values of a column as the items that a table of python-blosc2 stores.

In: values as tables take them. Out: items of the column's array, bytes of text, and which values are missing.
Source: docs/formats/blosc2-stores.md, "Tables".
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import UnsupportedError
from coquina.casting import cast_values, is_array, is_masked, without_missing
from coquina.msgpack_values import pack
from coquina.stores.ctable_categories import Categories
from coquina.tables.value_kinds import checked, objects_of
from coquina.tables.values import Utf8

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.stores.ctable_schema import Described
    from coquina.tables.layout import ColumnSpec

#: What a schema may say of the values of a column.
_LIMITS = {"ge": ge, "gt": gt, "le": le, "lt": lt}
#: What stands for a value that is missing, of kinds of items that have such a value themselves.
_FILLS: dict[str, Any] = {"f": np.nan, "c": np.nan, "M": np.datetime64("NaT")}
#: Kinds of columns that are written, besides those of numbers.
_KINDS = frozenset({"bool", "string", "bytes", "utf8", "timestamp", "ndarray", "dictionary"})
#: Kinds of columns whose values are packed one by one.
_PACKED = frozenset({"list", "struct", "object", "vlbytes", "vlstring"})
#: What is empty, of kinds whose values have any length.
_EMPTY: dict[str, type] = {"list": list, "vlbytes": bytes, "vlstring": str}


@dataclass(frozen=True, slots=True)
class Encoded:
    """Some values of a column.

    items: one for each value; of text where each ends, counted from the first byte of `text`; of values of
    any length the bytes of each, packed. missing: which values there are not; None if none can be missing.
    """

    items: npt.NDArray[Any]
    text: npt.NDArray[np.uint8] | None = None
    missing: npt.NDArray[np.bool_] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of all that is known of the values."""
        parts = (self.items, self.text, self.missing)
        packed = sum(map(len, self.items)) if self.is_packed else 0
        return packed + sum(part.nbytes for part in parts if part is not None)

    @property
    def is_packed(self) -> bool:
        """Whether items are packed values."""
        return self.items.dtype == object

    @property
    def valid(self) -> npt.NDArray[np.bool_]:
        """Which values there are."""
        return np.ones(len(self.items), bool) if self.missing is None else ~self.missing

    @property
    def has_missing(self) -> bool:
        """Whether a value is missing."""
        return self.missing is not None and bool(self.missing.any())


def default_values(column: Described, spec: ColumnSpec) -> Any:
    """Return what a column has in a new row for which there is no value: null, what is empty, or zeros."""
    items: Any = np.full(1, None, object)
    if spec.nullable or spec.categories is not None:
        return items
    if spec.dtype.kind in "TUO":
        items[0] = _EMPTY[column.kind]() if column.kind in _EMPTY else None if spec.values else ""
        return items
    return np.zeros((1, *spec.shape), spec.dtype)


def encoded(column: Described, spec: ColumnSpec, values: Any) -> Encoded:
    """Return the items of values.

    Raises UnsupportedError for kinds that are only read, ValueError for values that the column cannot have.
    """
    kind = column.kind
    if kind in _PACKED:
        return _packed(column, values)
    if kind not in _KINDS and spec.dtype.name != kind:
        raise UnsupportedError(f"column {spec.name!r}: columns of kind {kind!r} are only read")
    if kind == "dictionary":
        return _codes(column, spec, values)
    if kind == "utf8":
        text = Utf8.of(values).packed()
        made = Encoded(np.asarray(text.offsets[1:], np.int64), text.data, _mask(text.mask))
    else:
        made = _items(spec, values)
    _check(column, spec, made)
    return _with_null_value(column, made)


def _codes(column: Described, spec: ColumnSpec, values: Any) -> Encoded:
    """Return the codes of values. Raises ValueError for values that are no categories of the column."""
    known = Categories(spec.name, spec.categories or (), grows=False, ordered=spec.ordered)
    codes = known.codes(values)
    if (codes < 0).any() and column.fields.get("nullable") is False:
        raise ValueError(f"column {spec.name!r}: a value is missing, and the column takes none")
    return Encoded(codes)


def _packed(column: Described, values: Any) -> Encoded:
    """Return values of any length, packed. Raises ValueError, TypeError for what the schema does not say."""
    what = f"column {column.name!r}"
    listed = values.tolist() if hasattr(values, "tolist") else values
    return Encoded(objects_of(pack(checked(column.fields, one, what)) for one in listed))


def _items(spec: ColumnSpec, values: Any) -> Encoded:
    """Return the items of values of a fixed size. Raises ValueError, TypeError for what does not fit."""
    dtype, what = spec.dtype.newbyteorder("="), f"column {spec.name!r}"
    there, missing = _rows_there(spec, values) if spec.shape else (values, None)
    # A NaN, and a NaT, in an array is a value like any other: it says itself that it is none.
    if not spec.shape and (is_masked(values) or not is_array(values) or values.dtype.kind == "O"):
        there, missing = without_missing(values, _FILLS.get(dtype.kind, dtype.type()))
    items = cast_values(there, dtype, spec.shape, what)
    if dtype.kind == "M":
        given = np.asarray(there)
        if given.dtype.kind == "M" and not np.array_equal(items.astype(given.dtype), given, equal_nan=True):
            raise ValueError(f"{what}: a time that {dtype} does not hold exactly")
        items = items.view(np.int64)
    return Encoded(items, None, missing)


def _rows_there(spec: ColumnSpec, values: Any) -> tuple[Any, npt.NDArray[np.bool_] | None]:
    """Return rows with axes of their own, zeros where one is missing, and which are; None if none can be.

    Raises ValueError where a part of a row is missing.
    """
    if is_masked(values):
        mask: Any = np.ma.getmaskarray(values).reshape(len(values), -1)
        missing = mask.all(axis=1)
        if not np.array_equal(mask.any(axis=1), missing):
            raise ValueError(f"column {spec.name!r}: a row of which only a part is missing")
        return values.filled(np.zeros((), values.dtype)[()]), missing
    if is_array(values) and values.dtype.kind == "O" and values.ndim == 1:
        missing = np.array([one is None for one in values], bool)
        zeros = np.zeros(spec.shape, spec.dtype)
        return np.array([zeros if one is None else one for one in values]).reshape(-1, *spec.shape), missing
    return values, None


def _mask(mask: Any) -> npt.NDArray[np.bool_] | None:
    return None if mask is None else np.asarray(mask, bool)


def _check(column: Described, spec: ColumnSpec, made: Encoded) -> None:
    """Raise ValueError for what is missing in a column without nulls, or is beyond its limits."""
    says_itself = spec.dtype.kind in _FILLS
    if made.has_missing and not column.has_mask and column.null_value is None and not says_itself:
        raise ValueError(f"column {spec.name!r}: a value is missing, and the column takes none")
    there = made.items if made.missing is None else made.items[~made.missing]
    for name, holds in _LIMITS.items():
        limit = column.fields.get(name)
        if limit is not None and made.text is None and not bool(np.all(holds(there, limit))):
            raise ValueError(
                f"column {spec.name!r}: a value that is not {name} {limit}, which its schema says"
            )


def _with_null_value(column: Described, made: Encoded) -> Encoded:
    """Return values among which one stands for those that are missing, where the column has such a value."""
    null = column.null_value
    if null is None or not made.has_missing:
        return made
    if made.text is not None:
        raise UnsupportedError(f"column {column.name!r}: text in which a value stands for none is only read")
    is_bytes = made.items.dtype.kind == "S" and isinstance(null, str)
    items = made.items.copy()
    items[made.missing] = null.encode() if is_bytes else null
    return Encoded(items, None, made.missing)
