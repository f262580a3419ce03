"""What a store holds, for its groups: where each leaf lies, and which keys stand for something else.

In: leaves, and the frame `embed.b2e` with the metadata of the store; changes of them. Out: opened nodes.
Invariant: a leaf that is open for writing is opened once, and given out as often as it is asked for.
"""

from __future__ import annotations

import atexit
import os
from collections import deque
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakValueDictionary

from coquina import _core
from coquina._core import UnsupportedError
from coquina.arrays.array import Array
from coquina.arrays.frames import Frame
from coquina.msgpack_values import pack
from coquina.providers import Provider
from coquina.stores.archive import Member
from coquina.stores.ctable_schema import is_table
from coquina.stores.embedded import leaves_of_frame
from coquina.stores.keys import ATTRS, check_new
from coquina.stores.layers import FrameLayers, NoLayers
from coquina.stores.leaves import FileLeaf
from coquina.stores.metadata import fixed_names, map_of, variable
from coquina.stores.tree import Group, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coquina._core import FrameHandle
    from coquina.arrays import opening
    from coquina.attrs import Layers
    from coquina.expressions import saved as saved_expressions
    from coquina.stores import ctable as store_tables
    from coquina.stores.homes import Home
    from coquina.stores.leaves import Leaf
    from coquina.stores.tree import Store
    from coquina.tables.table import Table
else:
    opening, store_tables = map(Provider, ("opening", "store_tables"))
    saved_expressions = Provider("saved_expressions")

Kind = Literal["TreeStore", "DictStore", "EmbedStore"]
#: The metalayers of frames that hold leaves, and what python-blosc2 calls such stores.
KINDS: dict[str, Kind] = {"b2tree": "TreeStore", "b2dict": "DictStore", "b2embed": "EmbedStore"}
_REGISTRY = "_object_registry"
#: What is called so in a table says of which columns it is; the other one has the user's attributes.
META, TABLE_ATTRS = "_meta", "_vlmeta"
_TABLE = {"kind": "ctable", "version": 1, "layout": "inline-tree-subtree"}
_ATTRS_SUFFIX = ".b2f"
#: So many leaves that were opened for writing stay open for whoever asks for them again.
_OPEN_MAX = 128


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
        home: Home | None = None,
    ) -> None:
        """Take what lies outside, and what lies in the bytes of a frame. home: to change it."""
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
        self._home = home
        self._process = os.getpid()
        self._open: WeakValueDictionary[Node, Array | Frame] = WeakValueDictionary()
        self._recent: deque[Array | Frame] = deque(maxlen=_OPEN_MAX)
        #: Tables that were opened for writing: rows may wait in them.
        self._tables: dict[str, Table] = {}
        #: Held by whoever changes files; a table's own lock is taken before it.
        self.lock = RLock()
        if home is not None:
            # What a kill left of a change of a table's place.
            self._register({path for path in self._objects if self.top.at(path) is not None})
            atexit.register(self.close)

    @property
    def is_writable(self) -> bool:
        """Whether it was opened to be changed."""
        return self._home is not None

    def close(self, *, commits: bool = True) -> None:
        """Let go of the frame that leaves lie in. What was opened to be read stays open."""
        if self.is_closed:
            return
        self.is_closed = True
        if self._home is None:
            self._frame.close()
            return
        atexit.unregister(self.close)
        if os.getpid() != self._process:
            # A process that was forked, and ends.
            return
        try:
            self._close_tables("/", commits=commits or not self._home.is_archive)
            self._close_open(self.top.leaves())
            if commits:
                self.commit_files()
        finally:
            self._home.close()

    def commit(self) -> None:
        """Have all changes be in the file, with the rows that wait in tables."""
        for table in list(self._tables.values()):
            if not table.is_closed:
                table.flush()
        self.commit_files()

    def commit_files(self) -> None:
        """Have all changes of files be in the store."""
        with self.lock:
            for key, leaf in self.home.commit(self.top.leaves()).items():
                self.top.add(key, leaf)
            self.home.settle()

    @property
    def home(self) -> Home:
        """Where it is written. Raises ValueError if it was opened for reading."""
        if self._home is None:
            raise ValueError(f"{self.name}: the store is open for reading only; open it with mode 'r+'")
        return self._home

    def new_file(self, path: str, suffix: str = "", *, is_group: bool = False) -> str:
        """Return where to make what is to be `put` at a path. Raises ValueError if something is there."""
        self.check_open()
        place = self.home.new(suffix)
        check_new(path, is_group=is_group)
        if self.top.at(path) is not None:
            raise ValueError(f"{self.name}: {path!r} exists already")
        above = path.rpartition("/")[0]
        while above:
            node = self.top.at(above)
            if self.is_object(above) or (node is not None and node.leaf is not None):
                raise ValueError(f"{self.name}: {above!r} is not a group, and has nothing below")
            above = above.rpartition("/")[0]
        return place

    def put(self, path: str, source: str, suffix: str = "", *, is_table: bool = False) -> None:
        """Give a new file, or a folder of leaves, a path."""
        if is_table:
            self._register(self._objects | {path})
        for key, leaf in self.home.placed(source, path.strip("/"), suffix).items():
            self.top.add(key, leaf)

    def make_group(self, path: str) -> None:
        """Put the frame of a group's attributes, of which there are none yet, where it is to be."""
        self.put_frame(f"{path.rstrip('/')}/{ATTRS}", {})

    def put_frame(self, path: str, layers: Mapping[str, bytes | None]) -> None:
        """Put a frame with some layers, and without chunks, at a path, or in place of one."""
        place = self.home.new(_ATTRS_SUFFIX)
        frame = _core.create_frame(place)
        for name, content in layers.items():
            if content is not None:
                frame.set_layer(name, content)
        frame.publish()
        frame.close()
        self.put(path, place, _ATTRS_SUFFIX)

    def changed_leaf(self, node: Node) -> FileLeaf:
        """Return the file of a leaf that is changed. Raises UnsupportedError for anything but a file."""
        assert node.leaf is not None
        node.leaf = leaf = self.home.to_change(node.leaf)
        if not isinstance(leaf, FileLeaf):
            raise UnsupportedError(f"{self.name}: objects within a frame can only be read")
        return leaf

    def replace(self, path: str, source: str, suffix: str) -> None:
        """Put a new file in the place of another."""
        self._close_open({path.strip("/"): None})
        self.put(path, source, suffix)

    def remove(self, path: str, node: Node) -> None:
        """Remove what is at and below a path."""
        key = path.strip("/")
        leaves = node.leaves(key)
        self._close_tables(path)
        self._close_open(leaves)
        self._keep_group(key)
        self.home.removed(key, leaves)
        self.top.drop(key)
        self._register({one for one in self._objects if not _is_below(one, path)})

    def move(self, old: str, new: str, node: Node) -> None:
        """Give what is at and below a path another one, at which nothing is."""
        source, target = old.strip("/"), new.strip("/")
        leaves = node.leaves(source)
        self._close_tables(old)
        self._close_open(leaves)
        self._keep_group(source)
        objects, gone = self._objects, {one for one in self._objects if _is_below(one, old)}
        # A path with nothing at it is not a table: so there is one at every moment.
        self._register(objects | {f"{new}{one[len(old) :]}" for one in gone})
        found = self.home.moved(source, target, leaves)
        self.top.drop(source)
        for key, leaf in found.items():
            self.top.add(key, leaf)
        self._register(self._objects - gone)

    def _keep_group(self, key: str) -> None:
        """Have the group above a key stay when its last member goes."""
        above = key.rpartition("/")[0]
        node = self.top.at(above)
        if above and node is not None and len(node.below) == 1:
            self.make_group(above)

    def _register(self, paths: set[str]) -> None:
        """Say which paths are tables."""
        if paths == self._objects:
            return
        known = map_of(variable(self._frame, _REGISTRY)) or {}
        said = {path: known.get(path, _TABLE) for path in sorted(paths)}
        self._frame.set_layer(_REGISTRY, pack(said) if said else None)
        self._objects = paths

    def _close_tables(self, path: str, *, commits: bool = True) -> None:
        """Close the tables at and below a path. commits: with the rows that wait in them."""
        for one in [one for one in self._tables if path == "/" or _is_below(one, path)]:
            store_tables.close_table(self._tables.pop(one), commits=commits)

    def _close_open(self, leaves: Mapping[str, object]) -> None:
        """Close what was opened for writing of these leaves."""
        for key in leaves:
            node = self.top.at(key)
            if node is not None and (found := self._open.pop(node, None)) is not None:
                found.close()

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
        return self._leaf(node) if self._home is None else self._to_change(node, self._home)

    def _to_change(self, node: Node, home: Home) -> Any:
        """Return an array or a frame that can be written; what is neither is read."""
        known = self._open.get(node)
        if known is not None and not known.is_closed:
            return known
        if node.leaf is not None:
            node.leaf = home.to_change(node.leaf)
        if not isinstance(node.leaf, FileLeaf):
            return self._leaf(node)
        try:
            handle = node.leaf.open(self.verify, writable=True)
        except UnsupportedError:
            # Expressions and caches, which stand for other arrays, are only read.
            return self._leaf(node)
        found = opening.opened(handle, verify=self.verify, is_whole=False)
        if not isinstance(found, Array | Frame):
            handle.close()
            return self._leaf(node)
        if isinstance(found, Array):
            found.durable = home.durable
        self._open[node] = found
        self._recent.append(found)
        return found

    def _leaf(self, node: Node | None) -> Any:
        """Return what lies at a name; None if nothing does."""
        if node is None or node.leaf is None:
            return None
        is_file = isinstance(node.leaf, FileLeaf)
        place = None if self.path is None else saved_expressions.StorePlace(self.path, self.store.__getitem__)
        return opening.opened(node.leaf.open(self.verify), verify=self.verify, is_whole=is_file, store=place)

    def reference(self, path: str, source: Any) -> dict[str, Any]:
        """Return where an operand is, for an expression at a path of the store."""
        home = self.home
        folder = os.path.dirname(home.path if home.is_archive else f"{home.path}{path}")
        found = self._found(source)
        if found is None or (not home.is_archive and isinstance(found[1], FileLeaf)):
            return saved_expressions.reference_to(source, folder)
        place = os.path.relpath(home.path, folder).replace(os.sep, "/")
        return saved_expressions.reference_in(place, f"/{found[0]}")

    def _found(self, source: Any) -> tuple[str, Leaf] | None:
        """Return the key and the leaf of an array that was taken out of this store; None for others."""
        opened = next((node for node, one in self._open.items() if one is source), None)
        is_of_archive = isinstance(source, Array) and source.path == self.home.path
        if opened is None and not is_of_archive:
            return None
        for key, leaf in self.top.leaves().items():
            is_it = isinstance(leaf, Member) and source.handle.offset == leaf.place()
            if is_it if opened is None else self.top.at(key) is opened:
                return key, leaf
        return None

    def table(self, path: str, node: Node) -> Any:
        """Return the table that all below a name is; None if it is none."""
        known = self._tables.get(path)
        if known is not None and not known.is_closed:
            return known
        meta = node.below.get(META)
        if meta is None or meta.leaf is None or (node is not self.top and not self.is_object(path)):
            return None
        frame: Any = meta.leaf.open(self.verify)
        if not isinstance(frame, _core.FrameHandle) or not is_table(frame):
            return None
        name = f"{self.name}:{path}" if node is not self.top else self.name
        at: Callable[[str], Any] = lambda key: self._leaf(node.at(key))  # noqa: E731
        place = f"{path.rstrip('/')}/{TABLE_ATTRS}"
        if self._home is not None:
            made = store_tables.open_table(at, frame, name, FrameLayers(self, place), self, path)
            self._tables[path] = made
            return made
        attrs = node.below.get(TABLE_ATTRS)
        layers = NoLayers() if attrs is None or attrs.leaf is None else attrs.leaf.open(self.verify)
        return store_tables.open_table(at, frame, name, layers)

    def layers(self, path: str, node: Node | None) -> Layers:
        """Return what holds the attributes of a group."""
        if self._home is not None:
            return FrameLayers(self, f"{path.rstrip('/')}/{ATTRS}")
        if self.kind != "TreeStore" or node is None or node.leaf is None:
            return NoLayers()
        return node.leaf.open(self.verify)

    def pickled(self, name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return how a node is opened in another process."""
        where = self.path if self.store.remote is None else self.store.remote
        if where is None:
            raise TypeError(f"{self.name}: a store without a path cannot be pickled")
        return _reopen, (where, name)


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


def _is_below(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above}/")


def _reopen(where: Any, name: str) -> Any:
    return opening.open(where)[name]
