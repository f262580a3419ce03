"""What is written to arrays by keys, and how writes are counted: for indexes, which must not miss any.

In: keys and values as NumPy takes them, or lowered keys. Out: changed arrays, and counts of changes. A key is
resolved for the shape that the write finds, whatever other threads do.
Invariant: a write is counted once it is done, or has failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.indexing import broadcast_values, shaped_values, uniform_value

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.changes import Changes
    from coquina.indexing import Selection


def assign(array: Array, resolve: Callable[[Any, tuple[int, ...]], Selection], key: Any, value: Any) -> None:
    """Write `value` to the items of a key, cast and broadcast as NumPy does.

    resolve: what the key means in a shape; asked again if another thread resizes the array meanwhile.
    """
    while True:
        shape = array.shape
        selection = resolve(key, shape)
        if not selection.size:
            shaped_values(value, selection.shape, array.dtype, selection.kind)
            return
        single = uniform_value(value, array.dtype, selection.kind)
        values = broadcast_values(value, selection, array.dtype) if single is None else single
        if array.set_selection(selection, values, shape):
            return


def put(array: Array, selection: Selection, values: npt.NDArray[Any], shape: tuple[int, ...] | None) -> bool:
    """Write `values` to the items of a lowered key: an array of its shape and the array's dtype, or one item.

    Returns False, and writes nothing, if a `shape` is given that the array does not have any more.
    """
    if not selection.size:
        return True
    if values.ndim and values.size != selection.size:
        values = np.broadcast_to(values, selection.shape)
    return array.write_selection(
        list(selection.axes),
        selection.points,
        selection.points_at,
        np.asarray(values, array.dtype, order="C"),
        uniform=values.ndim == 0,
        shape=shape,
    )


def changes_of(array: Any) -> Changes:
    """Return how often what an array shows was written to; counted from the first call on."""
    return array._shared_changes()


def wrote(array: Any) -> None:
    """Count a change of an array that was not made by its own methods."""
    array._wrote()
