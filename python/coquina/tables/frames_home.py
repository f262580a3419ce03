"""A directory as the home of a columns table: a frame for each array, and JSON that says what they are.

In: paths of arrays below the table. Out: arrays in files of their own, under names that never change.
Source: docs/formats/columns.md, "A directory of frames".
Invariant: the file of JSON is replaced in one step; what it does not name is not there. Rows are committed
    array by array, so a kill leaves some longer than others.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from coquina._core import CorruptError
from coquina.creation import asarray, new_array, options_of
from coquina.hdf5.untyped import h5py
from coquina.opening import open as open_array
from coquina.remote import new_path
from coquina.tables.cuts import Cut
from coquina.tables.homes import Appender, Home
from coquina.tuning_options import DEFAULT_CODEC

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.array import Array

JSON = "table.json"
_VERSION = 1
#: What the directory of a table has: its JSON, frames and indexes, and what a kill left of these.
_OWN = re.compile(r"table\.json(\.[0-9a-f]{8})?|\.?[0-9]{4,}\.b2nd.*|index")
#: Rows that wait are written when they are more than this, flushed or not.
_WAITING_BYTES_MAX = 16 << 20
_Node = dict[str, Any]


def is_directory(path: Path) -> bool:
    """Whether there is a table in a directory of this name."""
    return os.path.isfile(os.path.join(_absolute(path), JSON))


def check_is_replaceable(path: Path) -> None:
    """Raise FileExistsError unless there is a table, and nothing else, in a directory of this name."""
    place = _absolute(path)
    if not is_directory(place):
        raise FileExistsError(f"{place} exists and is no table; only tables are replaced")
    others = sorted(one for one in os.listdir(place) if not _OWN.fullmatch(one))
    if others:
        names = ", ".join(others[:5])
        raise FileExistsError(f"{place} has files that are not of the table ({names}); move them first")


class FramesHome(Home):
    """A directory of frames. Made by `make` and `open`."""

    def __init__(
        self, path: str, nodes: dict[str, _Node], *, is_writable: bool, durable: bool = False
    ) -> None:
        """The directory at an absolute path. nodes: what there is, by path; the table is the empty one."""
        self.path = path
        self._nodes = nodes
        self._is_writable = is_writable
        self._durable = durable
        self._arrays: dict[str, Array] = {}

    @classmethod
    def make(cls, path: Path, *, durable: bool = False) -> FramesHome:
        """Make an empty directory. durable: commits wait for the disk. Raises FileExistsError."""
        place = _absolute(path)
        os.makedirs(place)
        return cls(place, {"": {"kind": "group", "attrs": {}}}, is_writable=True, durable=durable)

    @classmethod
    def open(cls, path: Path, mode: Literal["r", "r+", "a"] = "r", *, durable: bool = False) -> FramesHome:
        """Open a directory. Raises FileNotFoundError, and CorruptError if its JSON is not that of a table."""
        place = _absolute(path)
        with open(os.path.join(place, JSON), "rb") as file:
            nodes = _read(file.read(), place)
        return cls(place, nodes, is_writable=mode != "r", durable=durable)

    @property
    def is_writable(self) -> bool:
        """Whether it was opened for writing."""
        return self._is_writable

    @property
    def name(self) -> str | None:
        """The path of the directory."""
        return self.path

    @property
    def file(self) -> Any:
        """None: there is no file of HDF5."""
        return None

    @property
    def attrs(self) -> MutableMapping[str, Any]:
        """The attributes of the table."""
        return _Attributes(self, "")

    def kind(self, path: str) -> Literal["array", "texts", "group"] | None:
        """Return what there is."""
        found = self._nodes.get(path)
        return None if found is None else found["kind"]

    def names(self, path: str) -> list[str]:
        """Return the names right below a path."""
        start = f"{path}/" if path else ""
        below = [one[len(start) :] for one in self._nodes if one and one.startswith(start)]
        return list(dict.fromkeys([one.partition("/")[0] for one in below]))

    def attrs_of(self, path: str) -> MutableMapping[str, Any]:
        """Return the attributes of what is at a path."""
        return _Attributes(self, path)

    def create_group(self, path: str) -> None:
        """Make a place for arrays."""
        self._put(path, {"kind": "group", "attrs": {}})

    def create(
        self, path: str, dtype: npt.DTypeLike, cut: Cut, *, fillvalue: Any = None, zoned: bool = True
    ) -> Array:
        """Return a new array without items. Raises ValueError for another compressor than Blosc2."""
        if cut.filter not in ("blosc2", "none"):
            raise ValueError(f"filter {cut.filter!r}: frames are compressed by 'blosc2'")
        wanted, cut = np.dtype(dtype), cut.at(path)
        number = 1 + max((one.get("number", 0) for one in self._nodes.values()), default=0)
        node: _Node = {"kind": "array", "attrs": {}, "number": number}
        if (members := h5py.check_enum_dtype(wanted)) is not None:
            node["members"] = {str(name): int(value) for name, value in members.items()}
        options = options_of(
            (cut.chunk_rows,),
            (min(cut.block_rows, cut.chunk_rows),),
            "any",
            cut.codec or DEFAULT_CODEC,
            0 if cut.filter == "none" else cut.level,
            cut.filters,
            self._file(node),
            True,
            True,
            True,
            lossy=cut.lossy,
        )
        if cut.tuning is not None and cut.filter != "none":
            options["tuning"] = cut.tuning
        array = new_array((0,), np.dtype(wanted.str), options)
        array.handle.publish()
        self._put(path, node)
        return self._kept(node, array)

    def array(self, path: str, *, zoned: bool = True) -> Array:
        """Return the array. Raises KeyError if there is none, CorruptError if its file holds none."""
        node = self._nodes[path]
        found = self._arrays.get(self._file(node))
        if found is None:
            opened = open_array(self._file(node), "a" if self._is_writable else "r")
            if not hasattr(opened, "append_items"):
                raise CorruptError(f"{self._file(node)}: no array, and {path!r} is one")
            found = self._kept(node, opened)
        return found

    def limited(self, array: Array, length: int) -> Array:
        """Return a copy in memory, compressed."""
        return asarray(array.view(slice(0, length)))

    def members(self, path: str) -> dict[str, int] | None:
        """Return the names of the numbers."""
        return self._nodes[path].get("members")

    def texts(self, path: str) -> npt.NDArray[Any]:
        """Return all text."""
        return np.array([*self._nodes[path]["texts"], None], object)[:-1]

    def texts_count(self, path: str) -> int:
        """Return how many texts there are."""
        return len(self._nodes[path]["texts"])

    def put_texts(self, path: str, texts: Sequence[str], cut: Cut) -> None:
        """Keep a list of text."""
        attrs = self._nodes.get(path, {}).get("attrs", {})
        self._put(path, {"kind": "texts", "attrs": attrs, "texts": list(texts)})

    def takes_texts(self, path: str, texts: Sequence[str]) -> bool:
        """Return True: all is in the JSON."""
        return True

    def remove(self, path: str) -> None:
        """Remove what is at a path and below: first from the JSON, then the files."""
        gone = [self._nodes.pop(one) for one in self._below(path)]
        self._write()
        self._remove_files(gone)

    def _remove_files(self, nodes: Sequence[_Node]) -> None:
        for node in nodes:
            if node["kind"] == "array":
                file = self._file(node)
                if file in self._arrays:
                    self._arrays.pop(file).close()
                os.remove(file)

    def move(self, old: str, new: str) -> None:
        """Give it another path, in the JSON alone."""
        self._move(old, new)
        self._write()

    def _move(self, old: str, new: str) -> None:
        for one in self._below(old):
            self._nodes[new + one[len(old) :]] = self._nodes.pop(one)

    def replace(self, old: str, new: str) -> None:
        """Give it the path of something else, in one write of the JSON: there is always one of both."""
        gone = [self._nodes.pop(one) for one in self._below(new)]
        self._move(old, new)
        self._write()
        self._remove_files(gone)

    def appender(self, arrays: Sequence[Array]) -> Appender:
        """Return what appends to one array after the other."""
        return _Appender(arrays)

    def can_grow(self, array: Array) -> bool:
        """Return True: all frames can grow."""
        return True

    def set_number(self, path: str, name: str, number: int) -> None:
        """Do nothing: who reads frames asks them how long they are."""

    def close(self) -> None:
        """Close all arrays."""
        while self._arrays:
            self._arrays.popitem()[1].close()

    def put_attrs(self, path: str, attrs: dict[str, Any]) -> None:
        """Keep the attributes of what is at a path."""
        self._nodes[path]["attrs"] = attrs
        self._write()

    def attrs_at(self, path: str) -> dict[str, Any]:
        """Return the attributes of what is at a path."""
        return self._nodes[path]["attrs"]

    def _kept(self, node: _Node, array: Array) -> Array:
        array.durable = self._durable
        self._arrays[self._file(node)] = array
        return array

    def _file(self, node: _Node) -> str:
        return os.path.join(self.path, f"{node['number']:04d}.b2nd")

    def _below(self, path: str) -> list[str]:
        return [one for one in self._nodes if one == path or one.startswith(f"{path}/")]

    def _put(self, path: str, node: _Node) -> None:
        self._nodes[path] = node
        self._write()

    def _write(self) -> None:
        """Replace the file of JSON."""
        target = os.path.join(self.path, JSON)
        temporary = f"{target}.{secrets.token_hex(4)}"
        content = {"coquina table": _VERSION, "nodes": self._nodes}
        try:
            with open(temporary, "w", encoding="utf-8") as file:
                json.dump(content, file, ensure_ascii=False, indent=1)
                file.flush()
                if self._durable:
                    os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise


class _Attributes(MutableMapping[str, Any]):
    """Attributes, as JSON can have them."""

    def __init__(self, home: FramesHome, path: str) -> None:
        """Those of what is at a path."""
        self._home = home
        self._path = path

    def __getitem__(self, name: str) -> Any:
        """Return an attribute."""
        return self._home.attrs_at(self._path)[name]

    def __setitem__(self, name: str, value: Any) -> None:
        """Set an attribute to text, a number, or a list of these."""
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        """Remove an attribute."""
        known = dict(self._home.attrs_at(self._path))
        del known[name]
        self._home.put_attrs(self._path, known)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._home.attrs_at(self._path))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._home.attrs_at(self._path))

    def update(self, *args: Any, **more: Any) -> None:
        """Set attributes, in one step."""
        new = {name: _plain(value) for name, value in dict(*args, **more).items()}
        self._home.put_attrs(self._path, {**self._home.attrs_at(self._path), **new})


class _Appender:
    """Rows that wait for the next flush, and then are committed to one array after the other."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._arrays = arrays
        self._waiting: list[list[npt.NDArray[Any]]] = [[] for _ in arrays]
        self._bytes = 0

    def append(self, parts: Sequence[npt.NDArray[Any]], /) -> None:
        """Add items to each array."""
        for waiting, part in zip(self._waiting, parts, strict=True):
            # A copy: until it is written, the caller may change his own.
            waiting.append(np.array(part))
            self._bytes += part.nbytes
        if self._bytes > _WAITING_BYTES_MAX:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        for array, waiting in zip(self._arrays, self._waiting, strict=True):
            if waiting:
                array.append(np.concatenate(waiting))
                waiting.clear()
        self._bytes = 0

    def close(self) -> None:
        """Write what waits."""
        self.flush()


def _absolute(path: Any) -> str:
    return new_path(path)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it. Raises TypeError for one that it has not."""
    plain: Any = cast("Any", value).tolist() if isinstance(value, np.generic | np.ndarray) else value
    json.dumps(plain)
    return plain


def _read(content: bytes, place: str) -> dict[str, _Node]:
    """Return the nodes that a file of JSON tells. Raises CorruptError for what is none of ours."""
    try:
        found = json.loads(content)
        nodes = found["nodes"]
        is_known = found["coquina table"] == _VERSION and _is_node(nodes[""])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CorruptError(f"{place}: {JSON} is not that of a table") from None
    if not is_known or not all(map(_is_node, nodes.values())):
        raise CorruptError(f"{place}: {JSON} is not that of a table of version {_VERSION}")
    return nodes


def _is_node(node: Any) -> bool:
    if not isinstance(node, dict):
        return False
    known = cast("_Node", node)
    if not isinstance(known.get("attrs"), dict):
        return False
    if known.get("kind") == "array":
        members = known.get("members")
        is_named = members is None or _is_members(members)
        return type(known.get("number")) is int and known["number"] > 0 and is_named
    if known.get("kind") == "texts":
        texts = known.get("texts")
        return isinstance(texts, list) and all(isinstance(one, str) for one in cast("list[Any]", texts))
    return known.get("kind") == "group"


def _is_members(members: Any) -> bool:
    return isinstance(members, dict) and all(
        type(number) is int for number in cast("dict[str, Any]", members).values()
    )
