"""Fields of arrays of a structured dtype: `a["name"]`, and lazy views of single fields.

In: an array and names. Out: NumPy arrays, of which only the field's bytes were copied out of the decoded
    blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.views import View, view_of
from coquina.indexing import lower, uniform_value
from coquina.memory import check_memory
from coquina.quoting import quoted

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.indexing import Selection


def field_names(key: Any) -> str | list[str] | None:
    """Return the names that a key is made of, None for any other key."""
    if isinstance(key, str):
        return key
    if isinstance(key, list) and key and all(isinstance(name, str) for name in cast("list[Any]", key)):
        return cast("list[str]", key)
    return None


def _field(array: Array, name: str) -> tuple[np.dtype[Any], int]:
    """Return dtype and offset. Raises what NumPy raises for a name that is not there."""
    cast("Any", np.empty(0, array.dtype))[name]
    dtype, offset = cast("dict[str, tuple[np.dtype[Any], int]]", array.dtype.fields)[name][:2]
    return dtype, offset


class FieldSource:
    """Some bytes of each item of an array, a field for one, with what a view needs of its source."""

    def __init__(self, array: Array, dtype: np.dtype[Any], offset: int = 0) -> None:
        """What is `dtype` at a byte of each item of `array`."""
        self._array = array
        self.dtype = dtype
        self._offset = offset

    @property
    def place(self) -> tuple[Array, int]:
        """The array, and the byte of its items at which the field begins."""
        return self._array, self._offset

    @property
    def shape(self) -> tuple[int, ...]:
        """Items along each axis."""
        return self._array.shape

    @property
    def is_closed(self) -> bool:
        """Whether the array was closed, or its file."""
        return self._array.is_closed

    def get_selection(self, selection: Selection, /) -> npt.NDArray[Any]:
        """Return the selected values of the field."""
        return _read(self._array, selection, self.dtype, self._offset)

    def set_selection(self, selection: Selection, values: npt.NDArray[Any], /) -> None:
        """Write values, one or of the selection's shape, to the field."""
        _write(self._array, selection, values, self.dtype, self._offset)


class Fields(Mapping[str, View]):
    """The fields of an array: names to lazy views. `a.fields["x"][5:9]` reads that part of that field."""

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        """Made by an array."""
        self._array = array

    def __getitem__(self, name: str) -> View:
        """Return the view of a field. Raises KeyError if there is none of that name."""
        if name not in (self._array.dtype.names or ()):
            raise KeyError(name)
        dtype, offset = _field(self._array, name)
        if dtype.subdtype is not None:
            raise TypeError(f"field {name!r} has axes of its own ({dtype}); read it with a[{name!r}]")
        return view_of(FieldSource(self._array, dtype, offset))

    def __call__(self, names: str | list[str]) -> Any:
        """Return something to read one field by, or several: `a.fields(["x", "y"])[5:9]`, as in h5py."""
        return self[names] if isinstance(names, str) else _SomeFields(self._array, list(names))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, in the order of the dtype."""
        return iter(self._array.dtype.names or ())

    def __len__(self) -> int:
        """Return how many fields there are."""
        return len(self._array.dtype.names or ())

    def __repr__(self) -> str:
        """Name the fields."""
        return f"<Fields {quoted(', '.join(self))}>"


class _SomeFields:
    """Some fields of an array, read by keys."""

    def __init__(self, array: Array, names: list[str]) -> None:
        """Made by fields."""
        self._array = array
        self._names = names

    def __getitem__(self, key: Any) -> Any:
        """Return these fields of the items of a key."""
        return self._array[key][self._names]

    def __len__(self) -> int:
        """Return the length of the first axis."""
        return len(self._array)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return these fields of all items. Raises ValueError for `copy=False`."""
        if copy is False:
            raise ValueError("copy=False: the items are decoded into new memory")
        return np.asarray(self[...], dtype)


def read_field(array: Array, name: str) -> npt.NDArray[Any]:
    """Return `array[name]`; a field with axes of its own has them behind the array's."""
    dtype, offset = _field(array, name)
    return _read(array, lower(..., array.shape), dtype, offset)


def write_fields(
    array: Array, names: str | list[str], value: Any, scope: AbstractContextManager[object] | None = None
) -> None:
    """Assign to a field, or to several by a structured value; within one commit, or within `scope`."""
    everything = lower(..., array.shape)
    if isinstance(names, str):
        dtype, offset = _field(array, names)
        _write(array, everything, _filled(value, array.shape, dtype), dtype, offset)
        return
    part = np.empty(0, array.dtype)[names].dtype
    values = _filled(value, array.shape, part)
    with array.transaction() if scope is None else scope:
        for name in names:
            dtype, offset = _field(array, name)
            _write(array, everything, values[name], dtype, offset)


def _filled(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return `value` as NumPy assigns it to an array of this shape; a single one stays single."""
    if 0 not in shape and dtype.subdtype is None and (single := uniform_value(value, dtype)) is not None:
        return single
    values: npt.NDArray[Any] = np.empty(shape, dtype)
    values[...] = value
    return values


def _boxed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype of the same bytes that has no axes of its own: the only field of a record."""
    return np.dtype([("", dtype)])


def _read(array: Array, selection: Selection, dtype: np.dtype[Any], offset: int) -> npt.NDArray[Any]:
    check_memory(selection.size * dtype.itemsize, "the field")
    out: npt.NDArray[Any] = np.empty(selection.raw_shape, _boxed(dtype))
    if out.nbytes:
        array.read_selection(list(selection.axes), selection.points, selection.points_at, out, offset)
    return cast("npt.NDArray[Any]", out.reshape(selection.shape)["f0"])


def _write(
    array: Array, selection: Selection, values: npt.NDArray[Any], dtype: np.dtype[Any], offset: int
) -> None:
    if not selection.size or not dtype.itemsize:
        return
    is_uniform = values.ndim == 0
    out: npt.NDArray[Any] = np.empty(() if is_uniform else selection.shape, _boxed(dtype))
    out["f0"] = values
    array.write_selection(
        list(selection.axes), selection.points, selection.points_at, out, offset, uniform=is_uniform
    )
