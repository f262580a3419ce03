"""What a store holds, for its groups: where each leaf lies, and which keys stand for something else.

In: leaves, and the frame `embed.b2e` with the metadata of the store. Out: opened nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from coquina import _core
from coquina.providers import Provider
from coquina.stores.ctable_schema import is_table
from coquina.stores.embedded import leaves_of_frame
from coquina.stores.keys import ATTRS
from coquina.stores.metadata import fixed_names, map_of, variable
from coquina.stores.tree import Group, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coquina._core import FrameHandle
    from coquina.arrays import opening
    from coquina.attrs import Layers
    from coquina.stores import ctable as store_tables
    from coquina.stores.leaves import Leaf
    from coquina.stores.tree import Store
else:
    opening, store_tables = map(Provider, ("opening", "store_tables"))

Kind = Literal["TreeStore", "DictStore", "EmbedStore"]
#: The metalayers of frames that hold leaves, and what python-blosc2 calls such stores.
KINDS: dict[str, Kind] = {"b2tree": "TreeStore", "b2dict": "DictStore", "b2embed": "EmbedStore"}
_REGISTRY = "_object_registry"
#: What is called so in a table says of which columns it is; the other one has the user's attributes.
META, TABLE_ATTRS = "_meta", "_vlmeta"


class Contents:
    """All that is known of an open store. Groups share it."""

    store: Store

    def __init__(
        self,
        frame: FrameHandle,
        leaves: Mapping[str, Leaf],
        *,
        path: str | None,
        name: str,
        verify: bool,
    ) -> None:
        """Take what lies outside, and what lies in the bytes of a frame. name: for errors."""
        self.path = path
        self.name = name
        self.verify = verify
        self.is_closed = False
        self._frame = frame
        self.kind: Kind = kind_of(frame)
        self.top = Node()
        # What is a file of its own comes first.
        for key, leaf in {**leaves_of_frame(frame, name), **leaves}.items():
            self.top.add(key, leaf)
        self._objects = _objects(frame)

    def close(self) -> None:
        """Let go of the frame that leaves lie in. What was opened stays open."""
        self.is_closed = True
        self._frame.close()

    def check_open(self) -> None:
        """Raise ValueError if the store was closed."""
        if self.is_closed:
            raise ValueError(f"{self.name}: the store was closed; open it again")

    def is_hidden(self, name: str) -> bool:
        """Whether this is no name for users: of what holds the attributes of a group."""
        return name == ATTRS and self.kind == "TreeStore"

    def is_object(self, path: str) -> bool:
        """Whether all below a path is one object."""
        return path in self._objects

    def opened(self, path: str, node: Node) -> Any:
        """Return what is at a path."""
        if node is self.top:
            return self.store
        if node.leaf is None:
            return self.table(path, node) or Group(self, path, node)
        return self._leaf(node)

    def _leaf(self, node: Node | None) -> Any:
        """Return what lies at a name; None if nothing does."""
        if node is None or node.leaf is None:
            return None
        return opening.opened(node.leaf.open(self.verify), verify=self.verify, is_whole=False)

    def table(self, path: str, node: Node) -> Any:
        """Return the table that all below a name is; None if it is none."""
        meta = node.below.get(META)
        if meta is None or meta.leaf is None or (node is not self.top and not self.is_object(path)):
            return None
        frame: Any = meta.leaf.open(self.verify)
        if not isinstance(frame, _core.FrameHandle) or not is_table(frame):
            return None
        attrs = node.below.get(TABLE_ATTRS)
        name = f"{self.name}:{path}" if node is not self.top else self.name
        layers = NoLayers() if attrs is None or attrs.leaf is None else attrs.leaf.open(self.verify)
        return store_tables.open_table(lambda key: self._leaf(node.at(key)), frame, name, layers)

    def layers(self, node: Node | None) -> Layers:
        """Return what holds the attributes of a group."""
        if self.kind != "TreeStore" or node is None or node.leaf is None:
            return NoLayers()
        return node.leaf.open(self.verify)

    def pickled(self, name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return how a node is opened in another process."""
        where = self.path if self.store.remote is None else self.store.remote
        if where is None:
            raise TypeError(f"{self.name}: only what has a path can be pickled")
        return _reopen, (where, name)


class NoLayers:
    """The metadata of what has none."""

    def layer(self, name: str, /) -> None:
        """Return None."""

    def set_layer(self, name: str, content: bytes | None, /) -> None:
        """Raise ValueError: stores are only read."""
        raise ValueError("the store is open for reading only")

    def layer_names(self) -> list[str]:
        """Return no names."""
        return []

    def metalayers(self) -> list[tuple[str, bytes]]:
        """Return none."""
        return []


def kind_of(frame: FrameHandle) -> Kind:
    """Return what python-blosc2 calls the store that a frame belongs to."""
    names = fixed_names(frame)
    for layer, kind in KINDS.items():
        if layer in names:
            return kind
    return "EmbedStore"


def _objects(frame: FrameHandle) -> set[str]:
    """Return the paths of what is one object with all below it."""
    return set(map_of(variable(frame, _REGISTRY)) or ())


def _reopen(where: Any, name: str) -> Any:
    return opening.open(where)[name]
