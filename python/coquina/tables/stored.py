"""Some bytes of every row: a field of records, or the whole items of a column's own array.

In: a 1-d array, a dtype, and the byte of its items at which that begins. Out: what the engine reads the
    values from, and values that are written.
Invariant: what the engine gives is in the machine's byte order, whatever is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.arrays.fields import FieldSource
from coquina.arrays.views import view_of
from coquina.expressions.nodes import Leaf
from coquina.indexing import Selection, lower

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.arrays.array import Array

#: Kinds of dtypes whose items are numbers that have a byte order; U has one for each character.
_ORDERED_KINDS = "iufcmMU"


class Stored(FieldSource):
    """Values of a dtype, which may have axes and any byte order, in each item of a 1-d array."""

    def __init__(self, array: Array, dtype: npt.DTypeLike, offset: int = 0) -> None:
        """What is `dtype` at byte `offset` of each item. Raises ValueError if that is not inside."""
        dtype = np.dtype(dtype)
        if len(array.shape) != 1 or offset < 0 or offset + dtype.itemsize > array.typesize:
            raise ValueError(
                f"{dtype} at byte {offset} of items of {array.typesize} bytes, shape {array.shape}"
            )
        super().__init__(array, dtype, offset)
        #: The dtype of what `lazy` gives: that of the values in the machine's byte order.
        self.dtype_out = dtype.newbyteorder("=") if dtype.base.kind in _ORDERED_KINDS else dtype
        self._lazy: _core.Lazy | None = None

    def __len__(self) -> int:
        """Return how many rows there are now."""
        return self._array.shape[0]

    @property
    def array(self) -> Array:
        """What the bytes are in."""
        return self._array

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the items, in the array's own dtype."""
        return self.dtype == self._array.dtype

    def lazy(self) -> _core.Lazy:
        """Return the engine's source of the values: `dtype_out`, without axes of the values.

        It is the same one each time: the array that it reads grows and changes in its place.
        """
        if self._lazy is None:
            self._lazy = _core.lazy_array(self._array, self._offset, self.dtype.itemsize, self._swapped)
        return self._lazy

    def query_source(self) -> _core.Lazy:
        """Return the engine's source for conditions: as `lazy`, with the axes of the values."""
        base, shape = self.dtype.base, self.dtype.shape
        if not shape:
            return self.lazy()
        return _core.lazy_elements(self._array, self._offset, base.itemsize, self._swapped, shape)

    @property
    def _swapped(self) -> int:
        base = self.dtype.base
        if base.kind not in _ORDERED_KINDS or base.isnative:
            return 1
        return {"c": base.itemsize // 2, "U": 4}.get(base.kind, base.itemsize)

    def source(self) -> Any:
        """Return the array itself, or a view of this part of its items. Raises TypeError for subarrays."""
        if self.dtype.subdtype is not None:
            raise TypeError(f"values of shape {self.dtype.shape} are read by rows")
        return self._array if self.is_whole else view_of(self)

    def leaf(self) -> Leaf:
        """Return the values as an operand of expressions."""
        return Leaf(self.source(), grows=True)

    def viewed(self, dtype: npt.DTypeLike) -> Stored:
        """Return the same bytes as another dtype of that size, in the byte order that they have."""
        order = "=" if self.dtype.base.isnative else "S"
        return Stored(self._array, np.dtype(dtype).newbyteorder(order), self._offset)

    def element(self, index: tuple[int, ...]) -> Stored:
        """Return one of the values of each row. Raises IndexError as NumPy does."""
        base, shape = self.dtype.base, self.dtype.shape
        numbers = np.arange(int(np.prod(shape))).reshape(shape)
        if len(index) != len(shape):
            raise IndexError(f"{len(index)} indices for values of shape {shape}: as many as axes are taken")
        return Stored(self._array, base, self._offset + int(numbers[index]) * base.itemsize)

    def __getitem__(self, key: Any) -> npt.NDArray[Any]:
        """Return the values of rows, by any key that NumPy takes for the one axis, lowered or not."""
        if type(key) is slice and self.is_whole:
            values: npt.NDArray[Any] = self._array[key]
        else:
            values = self.get_selection(key if isinstance(key, Selection) else lower(key, self.shape))
        return values.astype(self.dtype_out.base, copy=False)

    def write(self, start: int, values: Any) -> None:
        """Write values to rows from `start` on. Raises IndexError for rows that there are not."""
        values = np.asarray(values)
        count = len(values)
        if not 0 <= start <= start + count <= len(self):
            raise IndexError(f"rows {start}:{start + count} of {len(self)}")
        self._put(Selection([(start, 1, count)], None, 0, (count,), (count,)), values)

    def write_at(self, rows: npt.NDArray[Any], values: Any) -> None:
        """Write values to these rows; of several for one row the last stays."""
        self._put(lower(np.asarray(rows, np.int64), self.shape), np.asarray(values))

    def _put(self, selection: Selection, values: npt.NDArray[Any]) -> None:
        if not selection.size:
            return
        if self.is_whole:
            self._array.set_selection(selection, np.ascontiguousarray(values, self.dtype))
        else:
            self.set_selection(selection, values)
