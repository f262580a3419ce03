"""The writes of arrays, counted: for indexes, which must not miss any.

In: selections and values, as the engine takes them. Out: changed arrays, and counts of changes.
Invariant: a write is counted once it is done, or has failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina import _core
from coquina.changes import Changes, changes_of_file, is_watched

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt


class CountedWrites(_core.ArrayBase):
    """An array of the engine that counts what is written to it."""

    __slots__ = ("_changes",)
    _changes: Changes

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
    ) -> None:
        """Write values to the items of a selection, or to bytes of them; what assignments come to."""
        try:
            super().write_selection(axes, points, points_at, values, offset, threads, uniform=uniform)
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
