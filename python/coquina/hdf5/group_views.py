"""What `keys()`, `values()` and `items()` of a group show: None where a link leads to nothing, as h5py's.

In: a group. Out: views of what it holds, which follow its changes.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any, cast


class GroupKeys(KeysView[str]):
    """The names of a group."""

    def __reversed__(self) -> Iterator[str]:
        """Iterate over the names, from the last to the first."""
        return reversed(cast("Any", self)._mapping)


class GroupValues(ValuesView[Any]):
    """The nodes of a group."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the nodes, None for a link that leads to nothing."""
        group = cast("Any", self)._mapping
        return (group.get(name) for name in group)

    def __reversed__(self) -> Iterator[Any]:
        """Iterate over the nodes, from the last to the first."""
        group = cast("Any", self)._mapping
        return (group.get(name) for name in reversed(group))

    def __contains__(self, value: object) -> bool:
        """Return whether a node of the group is this one."""
        return any(node is value for node in self)  # There is one object for each node.


class GroupItems(ItemsView[str, Any]):
    """The names and nodes of a group."""

    def __contains__(self, item: object) -> bool:
        """Whether there is such a pair of a name and a node."""
        group = cast("Any", self)._mapping
        name, node = cast("tuple[str, Any]", item)
        found = group.get(name)
        if found is None:
            return node is None and group.get(name, getlink=True) is not None
        # A dataset that is held is the same object, and `==` would compare its items.
        return found is node or (isinstance(found, Mapping) and found == node)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Iterate over names and nodes, None for a link that leads to nothing."""
        group = cast("Any", self)._mapping
        return ((name, group.get(name)) for name in group)

    def __reversed__(self) -> Iterator[tuple[str, Any]]:
        """Iterate over names and nodes, from the last to the first."""
        group = cast("Any", self)._mapping
        return ((name, group.get(name)) for name in reversed(group))
