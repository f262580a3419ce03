"""The writes of arrays, counted: for indexes, which must not miss any.

In: keys and values as NumPy takes them, or selections as the engine does. Out: changed arrays, and counts of
changes. A key is resolved for the shape that the write finds, whatever other threads do.
Invariant: a write is counted once it is done, or has failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.changes import Changes, changes_of_file, is_watched
from coquina.indexing import broadcast_values, shaped_values, uniform_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    from coquina.indexing import Selection


class CountedWrites(_core.ArrayBase):
    """An array of the engine that counts what is written to it."""

    __slots__ = ("_changes",)
    _changes: Changes

    def assign(self, resolve: Callable[[Any, tuple[int, ...]], Selection], key: Any, value: Any) -> None:
        """Write `value` to the items of a key, cast and broadcast as NumPy does.

        resolve: what the key means in a shape; asked again if another thread resizes the array meanwhile.
        """
        while True:
            shape = self.shape
            selection = resolve(key, shape)
            if not selection.size:
                shaped_values(value, selection.shape, self.dtype, selection.kind)
                return
            single = uniform_value(value, self.dtype, selection.kind)
            values = broadcast_values(value, selection, self.dtype) if single is None else single
            if self.set_selection(selection, values, shape):
                return

    def set_selection(
        self, selection: Selection, values: npt.NDArray[Any], shape: tuple[int, ...] | None = None
    ) -> bool:
        """Write `values` to the items of a lowered key: an array of its shape and our dtype, or one item.

        Returns False, and writes nothing, if a `shape` is given that the array does not have any more.
        """
        if not selection.size:
            return True
        if values.ndim and values.size != selection.size:
            values = np.broadcast_to(values, selection.shape)
        return self.write_selection(
            list(selection.axes),
            selection.points,
            selection.points_at,
            np.asarray(values, self.dtype, order="C"),
            uniform=values.ndim == 0,
            shape=shape,
        )

    def write_selection(
        self,
        axes: list[Any],
        points: list[Any] | None,
        points_at: int,
        values: npt.NDArray[Any],
        offset: int = 0,
        threads: int | None = None,
        *,
        uniform: bool = False,
        shape: Iterable[int] | None = None,
    ) -> bool:
        """Write values to the items of a selection, or to bytes of them; what assignments come to.

        shape: for which the selection was made. If the array has another one by now, nothing is written, and
        False is returned.
        """
        try:
            return super().write_selection(
                axes, points, points_at, values, offset, threads, uniform=uniform, shape=shape
            )
        finally:
            self._wrote()

    def append_items(self, axis: int, len: int, values: npt.NDArray[Any], threads: int | None = None) -> None:
        """Make an axis longer by `len` with `values`; what `append` comes to."""
        try:
            super().append_items(axis, len, values, threads)
        finally:
            self._wrote()

    def resize_axes(self, shape: Iterable[int], threads: int | None = None) -> None:
        """Give the array another shape; what `resize` comes to."""
        try:
            super().resize_axes(shape, threads)
        finally:
            self._wrote()

    def _wrote(self) -> None:
        """Count a change, if anybody asks for those of this array."""
        changes = getattr(self, "_changes", None)
        if changes is not None or is_watched(self.handle.path):
            (changes or self._shared_changes()).happened()

    def _shared_changes(self) -> Changes:
        """Return the changes of what is stored: of all arrays that show it."""
        changes = getattr(self, "_changes", None)
        if changes is None:
            path = self.handle.path
            changes = self._changes = Changes() if path is None else changes_of_file(path)
        return changes


def changes_of(array: Any) -> Changes:
    """Return how often what an array shows was written to; counted from the first call on."""
    return array._shared_changes()


def wrote(array: Any) -> None:
    """Count a change of an array that was not made by its own methods."""
    array._wrote()
