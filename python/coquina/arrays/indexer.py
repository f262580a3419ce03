"""Other meanings of brackets: `a.oindex[...]` and `a.vindex[...]`.

In: an array and how its keys are lowered. Out: what the selection holds; values assigned go to the array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina.arrays.array import Array
    from coquina.indexing import Selection


class Indexer:
    """`a.oindex` or `a.vindex`: another meaning of the same brackets."""

    __slots__ = ("_array", "_lower")

    def __init__(self, array: Array, lower: Callable[[Any, tuple[int, ...]], Selection]) -> None:
        """Made by an array."""
        self._array = array
        self._lower = lower

    def __getitem__(self, key: Any) -> Any:
        """Return the selected items."""
        selection = self._lower(key, self._array.shape)
        items = self._array.get_selection(selection)
        return items[()] if selection.is_scalar else items

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to the selected items; `value` broadcasts to their shape."""
        self._array.assign(self._lower, key, value)
