"""Records of which values can be missing: NumPy's masked arrays, with the printing that NumPy lacks.

NumPy prints times in nanoseconds as numbers, fails for text with axes and for lists of records whose fields
have axes, and warns of its own fill value for float16.
Invariant: all else is what NumPy's masked arrays do.
"""

# The classes of NumPy that are extended have no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUntypedBaseClass=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_MISSING = np.ma.masked_print_option
_INDENT = len("masked_array(data=")
_masked_array: Any = np.ma.MaskedArray
_masked_void: Any = cast("Any", np.ma).core.mvoid


def _finalize(made: Any, kind: Any, obj: Any) -> None:
    """Finish an array as a masked class of NumPy does, whose own fill value overflows float16."""
    with np.errstate(over="ignore"):
        kind.__array_finalize__(made, obj)


class MaskedRows(_masked_array):
    """A masked array of records."""

    def __array_finalize__(self, obj: Any) -> None:
        """Take over the mask and the fill value, or make them."""
        _finalize(self, _masked_array, obj)

    def __getitem__(self, key: Any) -> Any:
        """Return what NumPy returns; a single record prints as records do."""
        with np.errstate(over="ignore"):
            found: Any = super().__getitem__(key)
        if type(found) is _masked_void:
            return MaskedRow(found.data, mask=found.mask, dtype=found.dtype)
        return found

    def __str__(self) -> str:
        """Return the values, `--` for one that is missing."""
        return np.array2string(_shown(self))

    def __repr__(self) -> str:
        """Return values, mask, fill value and dtype, as NumPy's masked arrays do."""
        facts = {
            "data": np.array2string(_shown(self), separator=", ", prefix=" " * _INDENT),
            "mask": np.array2string(np.ma.getmaskarray(self), separator=", ", prefix=" " * _INDENT),
            "fill_value": str(self.fill_value),
            "dtype": str(self.dtype),
        }
        lines = [f"{name}=".rjust(_INDENT) + text for name, text in facts.items()]
        text = ",\n".join(lines)
        return f"masked_array({text.lstrip()})"

    def tolist(self, fill_value: Any = None) -> Any:
        """Return lists of tuples, None or `fill_value` for a value that is missing."""
        if self.ndim > 1 and self.dtype.names is not None:
            return [part.tolist(fill_value) for part in self]
        if self.dtype.names is None:
            # NumPy's fails where there is nothing.
            return super().tolist(fill_value) if self.size else np.asarray(self.data).tolist()
        fields = [self[name].tolist(fill_value) for name in self.dtype.names]
        return list(zip(*fields, strict=True)) if self.ndim else tuple(fields)


class MaskedRow(_masked_void):
    """One record of `MaskedRows`."""

    def __array_finalize__(self, obj: Any) -> None:
        """Take over the mask and the fill value, or make them."""
        _finalize(self, _masked_void, obj)

    def __str__(self) -> str:
        """Return the values, `--` for one that is missing."""
        return str(_shown(_as_rows(self))[0])

    __repr__ = __str__

    def tolist(self) -> Any:
        """Return a tuple, None for a value that is missing."""
        return _as_rows(self).tolist()[0]


def _as_rows(row: Any) -> Any:
    data, mask = np.asarray(row.data), np.asarray(np.ma.getmaskarray(row))
    return MaskedRows(data.reshape(1), mask=mask.reshape(1))


def _shown(values: Any) -> npt.NDArray[Any]:
    """Return values as objects that print as those of records without a mask.

    Of many only both ends: still more than NumPy prints, which puts dots between them.
    """
    half = np.get_printoptions()["threshold"] // 2 + 1
    data, mask = np.asarray(values.data), np.asarray(np.ma.getmaskarray(values))
    if data.ndim and len(data) > 2 * half:
        data, mask = (np.concatenate([part[:half], part[-half:]]) for part in (data, mask))
    return _objects(data, mask)


def _objects(data: npt.NDArray[Any], mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if data.dtype.names is not None:
        parts = {name: _objects(data[name], mask[name]) for name in data.dtype.names}
        dtype: Any = [(name, part.dtype, part.shape[data.ndim :]) for name, part in parts.items()]
        made: npt.NDArray[Any] = np.empty(data.shape, dtype)
        for name, part in parts.items():
            made[name] = part
        return made
    if data.dtype.kind in "Mm" and not mask.any():
        return data
    if data.dtype.kind == "M":
        shown: npt.NDArray[Any] = np.datetime_as_string(data).astype(object)
    else:
        shown = data.astype(object)
    shown[mask] = _MISSING
    return shown


__all__ = ["MaskedRow", "MaskedRows"]
