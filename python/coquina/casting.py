"""Values of people to the dtypes of columns: nothing is cut off, wraps around or is rounded to an integer.

In: arrays, sequences and single values. Out: arrays of one dtype.
Invariant: a value that a column cannot hold raises ValueError or TypeError, and names the column.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


def is_array(value: Any) -> bool:
    """Whether a value is an array of NumPy's."""
    return isinstance(value, np.ndarray)


def items_of(values: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return values as an array, Python's integers as integers of this dtype: they have none of their own.

    Raises OverflowError for integers that do not fit.
    """
    found: npt.NDArray[Any] = np.asarray(values)
    is_pythons = not hasattr(values, "dtype") and found.dtype.kind in "iu" and dtype.kind in "iu"
    return np.asarray(values, dtype) if is_pythons else found


def is_masked(value: Any) -> bool:
    """Whether a value is a masked array."""
    # Importing it takes longer than many a query, and there is none before somebody did.
    # While another thread imports it, it has no name yet for what there is none of.
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    return masked is not None and isinstance(value, masked)


def is_listed(value: Any) -> bool:
    """Whether a value is several, in a list or the like."""
    return isinstance(value, list | tuple | set | frozenset)


def is_of_pandas(value: Any) -> bool:
    """Whether a value is one of pandas' that NumPy has too: a series, a time."""
    return type(value).__module__.startswith("pandas") and hasattr(value, "to_numpy")


def mask_of(values: Any) -> npt.NDArray[np.bool_]:
    """Return where a masked array has no value."""
    return np.ma.getmaskarray(values)


def cast_values(values: Any, dtype: np.dtype[Any], shape: tuple[int, ...], what: str) -> npt.NDArray[Any]:
    """Return `values` as an array of `dtype`, items of `shape` in rows. what: the column, for errors."""
    array = _array_of(values, dtype, what)
    if array.dtype != dtype:
        array = _cast(array, dtype, what)
    if array.ndim == 0 or array.shape[1:] != shape:
        if array.ndim and array.size == 0 and 0 not in shape:
            return np.empty((0, *shape), dtype)
        raise ValueError(f"{what}: values of shape {array.shape} do not fit rows of shape {shape}")
    return np.ascontiguousarray(array)


def is_null(value: Any) -> bool:
    """Whether a Python object is None or pandas' NA, which stand for no value of any type."""
    return value is None or type(value).__name__ == "NAType"


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for no value: None, NaN, NaT, pandas' NA."""
    if value is None or value is np.ma.masked:
        return True
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64 | np.timedelta64) and bool(value != value)


def without_missing(values: Any, fill: Any) -> tuple[Any, npt.NDArray[np.bool_]]:
    """Return values with `fill` where there is none, and where that is."""
    if is_masked(values):
        mask, data = mask_of(values), values.data
        if data.dtype.kind == "O":
            data, more = without_missing(data, fill)
            return data, mask | more
        return data, mask
    if is_array(values) and values.dtype.kind != "O":
        array: npt.NDArray[Any] = values
        if array.dtype.kind == "T":
            mask = np.array([is_missing(one) for one in array.tolist()], bool)
            return array, mask
        if array.dtype.kind in "fmM":
            return array, np.asarray(array != array)
        return array, np.zeros(len(array), bool)
    items = list(values)
    mask = np.fromiter(map(is_missing, items), bool, len(items))
    if mask.any():
        items = [fill if is_null else one for one, is_null in zip(items, mask, strict=True)]
    return items, mask


def _array_of(values: Any, dtype: np.dtype[Any], what: str) -> npt.NDArray[Any]:
    if is_masked(values):
        if mask_of(values).any():
            if dtype.kind not in "fcmM":
                raise ValueError(f"{what}: a value is null, and the column takes no nulls")
            return values.astype(np.result_type(values.dtype, dtype)).filled(
                np.array("NaT", dtype) if dtype.kind in "mM" else np.nan
            )
        return values.data
    if is_array(values) and values.dtype.kind != "O":
        return values
    if dtype.kind in "fcmM":
        values = _with_nans(values, dtype)
    elif is_listed(values) and any(one is None for one in values):
        raise ValueError(f"{what}: a value is null, and the column takes no nulls")
    try:
        found: npt.NDArray[Any] = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{what}: {error}") from None
    if not found.size:
        return found.astype(dtype)
    if found.dtype.kind == "f" and dtype.kind == "u" and all(isinstance(one, int) for one in values):
        # NumPy takes integers on both sides of 2**63 for floats.
        found = np.array(values, object)
        if not 0 <= min(values) <= max(values) <= np.iinfo(dtype).max:
            raise ValueError(f"{what}: {max(values)} or {min(values)} is out of the range of {dtype}")
        return found.astype(dtype)
    return _of_objects(found, dtype, what) if found.dtype.kind == "O" else found


def _with_nans(values: Any, dtype: np.dtype[Any]) -> Any:
    if not ((is_listed(values) or is_array(values)) and np.ndim(values) == 1):
        return values
    items = list(values)
    if not any(map(is_missing, items)):
        return values
    fill = np.array("NaT", dtype) if dtype.kind in "mM" else np.nan
    return [fill if is_missing(one) else one for one in items]


def _of_objects(found: npt.NDArray[Any], dtype: np.dtype[Any], what: str) -> npt.NDArray[Any]:
    """Return objects as an array of some dtype that NumPy finds for them."""
    items: Any = found.tolist()
    plain = np.asarray(items)
    if plain.dtype.kind != "O":
        return plain
    if any(map(is_missing, found.reshape(-1))):
        raise ValueError(f"{what}: a value is null, and the column takes no nulls")
    wanted = "an integer out of range" if dtype.kind in "iu" else "values that are not of one kind"
    raise ValueError(f"{what}: {wanted} for {dtype}")


def _cast(array: npt.NDArray[Any], dtype: np.dtype[Any], what: str) -> npt.NDArray[Any]:
    source, target = array.dtype.kind, dtype.kind
    if target in "SU" and source in "SUT":
        return _cast_text(array, dtype, what)
    if target in "mM" and source == "U":
        return array.astype(dtype)
    if source in "iu" and target in "iu":
        _check_range(array, dtype, what)
    elif not np.can_cast(array.dtype, dtype, "same_kind") and array.size:
        raise TypeError(f"{what}: values of {array.dtype} cannot be cast to {dtype}")
    return array.astype(dtype)


def _check_range(array: npt.NDArray[Any], dtype: np.dtype[Any], what: str) -> None:
    limits = np.iinfo(dtype)
    if not array.size or np.can_cast(array.dtype, dtype, "safe"):
        return
    low, high = int(array.min()), int(array.max())
    if low < limits.min or high > limits.max:
        wrong = low if low < limits.min else high
        raise ValueError(f"{what}: {wrong} is out of the range of {dtype} ({limits.min} to {limits.max})")


def _cast_text(array: npt.NDArray[Any], dtype: np.dtype[Any], what: str) -> npt.NDArray[Any]:
    if dtype.kind == "S" and array.dtype.kind != "S":
        array = np.strings.encode(array.astype(str), "utf-8")
    elif dtype.kind == "U" and array.dtype.kind == "S":
        array = np.strings.decode(array, "utf-8")
    elif array.dtype.kind == "T":
        array = array.astype(str)
    if array.dtype.itemsize > dtype.itemsize:
        lengths = np.strings.str_len(array)
        width = dtype.itemsize // (4 if dtype.kind == "U" else 1)
        if lengths.size and int(lengths.max()) > width:
            unit = "characters" if dtype.kind == "U" else "bytes"
            raise ValueError(f"{what}: text of {int(lengths.max())} {unit}, and it holds {width}")
    return array.astype(dtype)
