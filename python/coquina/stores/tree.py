"""`Group` and `Store`: what is in a store of python-blosc2, with the vocabulary of h5py's groups.

In: leaves by key. Out: groups, and leaves as what they are (`Array`, `Frame`), opened as they are asked for.
Invariant: a store that is read shows what was there when it was opened, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.creation import asarray, filled
from coquina.attrs import Attrs
from coquina.html import caption_html, rows_html
from coquina.providers import Provider
from coquina.storage_options import ChunkOptions, Storage
from coquina.stores.keys import ATTRS, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.expressions import saved as saved_expressions
    from coquina.expressions.expression import Expr
    from coquina.remote import RangeReader
    from coquina.storage_options import TableOptions
    from coquina.stores import ctable_writing as store_writing
    from coquina.stores.contents import Contents, Kind
    from coquina.stores.leaves import Leaf
    from coquina.tables import making as table_making
    from coquina.tables.table import Table
else:
    store_writing, table_making = map(Provider, ("store_writing", "table_making"))
    saved_expressions = Provider("saved_expressions")

_SHOWN_MAX = 50
_ARRAY_SUFFIX = ".b2nd"


class Node:
    """A name in a store: what lies there, and what lies below it. A DictStore may have both."""

    __slots__ = ("below", "leaf")

    def __init__(self) -> None:
        """Make a name at which nothing lies."""
        self.leaf: Leaf | None = None
        self.below: dict[str, Node] = {}

    def add(self, key: str, leaf: Leaf) -> None:
        """Put a leaf at a key."""
        node = self
        for part in parts_of(key):
            node = node.below.setdefault(part, Node())
        node.leaf = leaf

    def drop(self, key: str) -> None:
        """Forget what has a key, and what lies below it."""
        above, _, name = "/".join(parts_of(key)).rpartition("/")
        if (node := self.at(above)) is not None:
            node.below.pop(name, None)

    def leaves(self, key: str = "") -> dict[str, Leaf]:
        """Return what lies here and below, by key. key: of this one."""
        found = {} if self.leaf is None else {key: self.leaf}
        for name, node in self.below.items():
            found |= node.leaves(f"{key}/{name}" if key else name)
        return found

    def at(self, key: str) -> Node | None:
        """Return what has a key; None if nothing has."""
        node: Node | None = self
        for part in parts_of(key):
            node = node.below.get(part) if node is not None else None
        return node


class Group(MutableMapping[str, Any]):
    """A group of a store: a mapping of names to groups, arrays and tables.

    `group["a/b"]` is a path from this group, `group["/a/b"]` a path from the root. Leaves are `Array`,
    `Table`, or `Frame` for plain chunks. Changes raise ValueError in a store open for reading.

    >>> import coquina as cq
    >>> with cq.open("s.b2d", "w") as store:
    ...     store["g/x"] = cq.arange(3)
    ...     print(store["g"]["x"][:])
    [0 1 2]
    """

    __slots__ = ("__weakref__", "_contents", "_name", "_node")

    def __init__(self, contents: Contents, name: str, node: Node) -> None:
        """Made by a store."""
        self._contents = contents
        self._name = name
        self._node = node

    @property
    def name(self) -> str:
        """The path from the top of the store."""
        return self._name

    @property
    def file(self) -> Store:
        """The store."""
        return self._contents.store

    @property
    def parent(self) -> Group:
        """The group that this one is in; the top is in itself."""
        return self._group(self._name.rpartition("/")[0])

    @property
    def attrs(self) -> Attrs:
        """What python-blosc2 calls `vlmeta` of a group: metadata by name."""
        self._contents.check_open()
        return Attrs(self._contents.layers(self._name, self._node.below.get(ATTRS)))

    def __getitem__(self, name: str) -> Any:
        """Return what has this name, or path of names. Raises KeyError; CorruptError for damage."""
        path, node = self._found(name)
        if node is None:
            raise KeyError(f"{self._contents.name}: there is no {path!r}")
        return self._contents.opened(path, node)

    def __setitem__(self, name: str, value: Any) -> None:
        """Make an array of `value`, or a table if it is one. Raises ValueError for a name that is taken."""
        if hasattr(value, "layout") and hasattr(value, "batches"):
            self.create_table(name, value)
        else:
            self.create_dataset(name, data=value)

    def __delitem__(self, name: str) -> None:
        """Remove what has this name, and all below it. Raises KeyError."""
        path, node = self._found(name)
        if node is None or node is self._contents.top:
            raise KeyError(f"{self._contents.name}: there is no {path!r}")
        self._contents.remove(path, node)

    def create_group(self, name: str) -> Group:
        """Make a group, and the groups on the way. Raises ValueError if the name exists already.

        >>> import coquina as cq
        >>> with cq.open("s.b2d", "w") as store:
        ...     print(store.create_group("a").name)
        /a
        """
        path = self._path(name)
        self._contents.new_file(path, is_group=True)
        self._contents.make_group(path)
        return self[name]

    def require_group(self, name: str) -> Group:
        """Return the group of this name, created if missing. Raises TypeError if it is not a group.

        >>> import coquina as cq
        >>> with cq.open("s.b2d", "w") as store:
        ...     print(store.require_group("a").name)
        /a
        """
        found = self[name] if name in self else self.create_group(name)
        if not isinstance(found, Group):
            raise TypeError(f"{self._path(name)!r} is a {type(found).__name__}, and no group")
        return found

    def create_dataset(
        self,
        name: str,
        shape: int | tuple[int, ...] | None = None,
        dtype: npt.DTypeLike | None = None,
        data: Any = None,
        *,
        threads: int | None = None,
        **storage: Unpack[ChunkOptions],
    ) -> Array:
        """Return a new array, of zeros without `data`; if it cannot be filled, there is none.

        shape, dtype, data: as in h5py. The options are those of `coquina.asarray`. Raises ValueError if there
        is something of this name.

        >>> import coquina as cq
        >>> with cq.open("s.b2d", "w") as store:
        ...     print(store.create_dataset("x", data=[1, 2], codec="lz4")[:])
        [1 2]
        """
        path = self._path(name)
        place = self._contents.new_file(path, _ARRAY_SUFFIX)
        options = Storage.of(Group.create_dataset, storage, ChunkOptions)
        if data is None:
            engine = replace(options, path=place).for_engine()
            wanted = np.dtype("f4" if dtype is None else dtype)
            filled(() if shape is None else shape, wanted, engine, "zeros").close()
        else:
            given = data if shape is None else np.asarray(data, dtype).reshape(shape)
            asarray(given, dtype, path=place, threads=threads, **storage).close()
        self._contents.put(path, place, _ARRAY_SUFFIX)
        return self[name]

    def create_table(self, name: str, data: Any, **storage: Unpack[TableOptions]) -> Table:
        """Return a new table with the columns, and the rows, of `data`, as python-blosc2 has them.

        It can be read from then on. The options are those of `coquina.create_table` but layout, index and
        lossy. Raises UnsupportedError for a column that such a table does not have.

        >>> import coquina as cq
        >>> with cq.open("s.b2d", "w") as store:
        ...     print(store.create_table("t", {"x": [3, 1, 2]}).nrows)
        3
        """
        new = table_making.NewTable.of(Group.create_table, storage)
        path = self._path(name)
        place = self._contents.new_file(path, is_group=True)
        store_writing.write_table(place, data, new)
        self._contents.put(path, place, is_table=True)
        return self[name]

    def create_expression(self, name: str, expression: Expr) -> Expr:
        """Store an expression, which is computed when it is read; its operands are arrays of this store.

        They may also be arrays in files of their own, named by their paths from here. What python-blosc2
        opens of it, it reads with `deserialize="full"`. Raises what `Expr.save` raises.

        >>> import coquina as cq
        >>> with cq.open("s.b2d", "w") as store:
        ...     store["x"] = cq.arange(3)
        ...     twice = store.create_expression("twice", cq.expr("2 * x", x=store["x"]))
        ...     store["x"][0] = 5
        ...     print(store["twice"][:])
        [10  2  4]
        """
        path = self._path(name)
        place = self._contents.new_file(path, _ARRAY_SUFFIX)
        refer: Callable[[Any], dict[str, Any]] = lambda source: self._contents.reference(path, source)  # noqa: E731
        saved_expressions.save(expression, place, overwrite=False, refer=refer)
        self._contents.put(path, place, _ARRAY_SUFFIX)
        try:
            return self[name]
        except BaseException:
            del self[name]
            raise

    def move(self, source: str, dest: str) -> None:
        """Give a node another name, and no longer the old one. What was taken out of it is closed.

        source, dest: the old name and the new one. Raises KeyError without the first, ValueError for a taken
            one.

        >>> import coquina as cq
        >>> with cq.open("s.b2d", "w") as store:
        ...     store["x"] = cq.arange(3)
        ...     store.move("x", "y")
        ...     print(list(store))
        ['y']
        """
        old, node = self._found(source)
        if node is None or node is self._contents.top:
            raise KeyError(f"{self._contents.name}: there is no {old!r}")
        new = self._path(dest)
        self._contents.new_file(new, is_group=node.leaf is None)
        if f"{new}/".startswith(f"{old}/"):
            raise ValueError(f"{old!r} cannot be moved below itself")
        self._contents.move(old, new, node)

    def __contains__(self, name: object) -> bool:
        """Return whether there is something of this name, or path of names."""
        return isinstance(name, str) and self._found(name)[1] is not None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, in order."""
        self._contents.check_open()
        return iter(sorted(name for name in self._node.below if not self._contents.is_hidden(name)))

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names, for interpreters that complete `group["`."""
        return sorted(self)

    def __len__(self) -> int:
        """Return how many names there are."""
        self._contents.check_open()
        return sum(not self._contents.is_hidden(name) for name in self._node.below)

    def __bool__(self) -> bool:
        """Return whether the store is open."""
        return not self._contents.is_closed

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same group of the same open store."""
        return isinstance(other, Group) and self._node is other._node

    def __hash__(self) -> int:
        """By the place in the store."""
        return hash(id(self._node))

    def get(self, name: str, default: Any = None, *, getclass: bool = False) -> Any:
        """Return what has this name, or `default`. getclass: its type instead.

        >>> import coquina as cq
        >>> with cq.open("s.b2d", "w") as store:
        ...     print(store.get("nothing", "none"))
        none
        """
        if name not in self:
            return default
        found = self[name]
        return cast("Any", type(found)) if getclass else found

    def visit(self, func: Callable[[str], Any]) -> Any:
        """Call `func(name)` for everything below; a result that is not None ends it.

        >>> import coquina as cq
        >>> with cq.open("s.b2d", "w") as store:
        ...     store["g/x"] = cq.arange(3)
        ...     store.visit(print)
        g
        g/x
        """
        return next((found for name in self._below() if (found := func(name)) is not None), None)

    def visititems(self, func: Callable[[str, Any], Any]) -> Any:
        """Call `func(name, node)` for everything below; a result that is not None ends it.

        >>> import coquina as cq
        >>> with cq.open("s.b2d", "w") as store:
        ...     store["g/x"] = cq.arange(3)
        ...     store.visititems(lambda name, node: print(name))
        g
        g/x
        """
        return next((found for name in self._below() if (found := func(name, self[name])) is not None), None)

    def _below(self) -> Iterator[str]:
        """Yield the path from here of everything below, groups before what is in them."""
        self._contents.check_open()
        waiting = [(name, self._node.below[name]) for name in reversed(list(self))]
        while waiting:
            path, node = waiting.pop()
            yield path
            if self._contents.is_object(f"{self._name.rstrip('/')}/{path}"):
                continue
            names = sorted(name for name in node.below if not self._contents.is_hidden(name))
            waiting += [(f"{path}/{name}", node.below[name]) for name in reversed(names)]

    def _found(self, name: str) -> tuple[str, Node | None]:
        """Return the path of a name from the top, and what is there."""
        path = self._path(name)
        if self._contents.is_hidden(path.rpartition("/")[2]):
            return path, None
        return path, self._contents.top.at(path)

    def _path(self, name: str) -> str:
        """Return the path of a name from the top."""
        self._contents.check_open()
        start = "" if name.startswith("/") else self._name
        return "/" + "/".join([*parts_of(start), *parts_of(name)])

    def _group(self, path: str) -> Group:
        node = self._contents.top.at(path)
        return self.file if node is self._contents.top or node is None else Group(self._contents, path, node)

    def __repr__(self) -> str:
        """Say name and how many members."""
        if not self:
            return f"<{type(self).__name__}, closed>"
        return f"<{type(self).__name__} {self._name!r} ({len(self)} members)>"

    def _repr_html_(self) -> str:
        """Return what is in it, for notebooks."""
        if not self:
            return caption_html(self)
        rows = [(name, *_described(self, name)) for name in list(self)[:_SHOWN_MAX]]
        more = ", the first ones of more" if len(self) > _SHOWN_MAX else ""
        return rows_html(("name", "is"), rows) + caption_html(f"{self!r}{more}")

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle by path and name: it reopens for reading. Raises TypeError for what is in memory."""
        return self._contents.pickled(self._name)


class Store(Group):
    """An open store of python-blosc2; it is its own root group. A `with` block closes it.

    kind: "TreeStore", "DictStore" or "EmbedStore", the classes of python-blosc2.
    remote: the reader of a store behind a URL, with the counts `requests` and `bytes_read`; otherwise None.

    >>> import coquina as cq
    >>> with cq.open("s.b2d", "w") as store:
    ...     store["x"] = cq.arange(3)
    >>> with cq.open("s.b2d") as store:
    ...     print(store["x"][:])
    [0 1 2]
    """

    __slots__ = ("remote",)

    def __init__(self, contents: Contents) -> None:
        """Made by `coquina.open`."""
        super().__init__(contents, "/", contents.top)
        contents.store = self
        self.remote: RangeReader | None = None

    @property
    def kind(self) -> Kind:
        """What python-blosc2 calls such a store."""
        return self._contents.kind

    @property
    def path(self) -> str | None:
        """The absolute path of the file or directory; None for bytes and for remote stores."""
        return self._contents.path

    @property
    def mode(self) -> str:
        """How it was opened: "r" or "r+"."""
        return "r+" if self._contents.is_writable else "r"

    @property
    def is_closed(self) -> bool:
        """Whether it was closed. What was taken out of a store that is read stays open."""
        return self._contents.is_closed

    def flush(self) -> None:
        """Commit: replace an archive by one with all changes. In a directory each change is one.

        >>> import coquina as cq
        >>> with cq.open("s.b2d", "w") as store:
        ...     store["x"] = cq.arange(3)
        ...     store.flush()
        ...     print(list(store))
        ['x']
        """
        self._contents.check_open()
        self._contents.commit()

    def close(self) -> None:
        """Commit what was changed, and let go of the file.

        >>> import coquina as cq
        >>> store = cq.open("s.b2d", "w")
        >>> store.close()
        >>> store.is_closed
        True
        """
        self._contents.close()

    def __enter__(self) -> Store:
        """Return the store; it is closed at the end of the `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        """Close it; an exception leaves an archive as it was at the last commit."""
        self._contents.close(commits=kind is None)

    def __repr__(self) -> str:
        """Say of which kind it is, where it is, and how many members it has."""
        if not self:
            return "<Store, closed>"
        return f"<Store {self._contents.name!r}, {self.kind} ({len(self)} members)>"


def _described(group: Group, name: str) -> tuple[str]:
    return (repr(group[name]),)
