"""Attributes of groups and tables of a store: the named layers of a frame without chunks.

In: an open store, and the path of a frame there or to come. Out: layers that `Attrs` reads and sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coquina.attrs import Layers
    from coquina.stores.contents import Contents
    from coquina.stores.tree import Node


class FrameLayers:
    """The attributes of a group or a table that can be changed: a frame that is opened for each of them."""

    def __init__(self, contents: Contents, path: str) -> None:
        """Take the path of the frame, which may not be there yet."""
        self._contents = contents
        self._path = path

    def _node(self) -> Node | None:
        self._contents.check_open()
        return self._contents.top.at(self._path)

    def _frame(self) -> Layers:
        node = self._node()
        return NoLayers() if node is None or node.leaf is None else node.leaf.open(self._contents.verify)

    def layer(self, name: str, /) -> bytes | None:
        """Return the content of a layer."""
        return self._frame().layer(name)

    def set_layer(self, name: str, content: bytes | None, /) -> None:
        """Set or remove a layer, in one commit: a new frame, for which the old one gives way."""
        frame = self._frame()
        self._contents.put_frame(
            self._path, {one: frame.layer(one) for one in frame.layer_names()} | {name: content}
        )

    def layer_names(self) -> list[str]:
        """Return the names of the layers."""
        return self._frame().layer_names()

    def metalayers(self) -> list[tuple[str, bytes]]:
        """Return the fixed layers."""
        return self._frame().metalayers()


class NoLayers:
    """The metadata of what has none."""

    def layer(self, name: str, /) -> None:
        """Return None."""

    def set_layer(self, name: str, content: bytes | None, /) -> None:
        """Raise ValueError: stores are only read."""
        raise ValueError("the store is open for reading only; open it with mode 'r+'")

    def layer_names(self) -> list[str]:
        """Return no names."""
        return []

    def metalayers(self) -> list[tuple[str, bytes]]:
        """Return none."""
        return []
