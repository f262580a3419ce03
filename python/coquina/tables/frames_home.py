"""A directory as the home of a columns table: a frame for each array, and a manifest that says what they are.

In: paths of arrays below the table. Out: arrays in files of their own, under names that never change.
Source: docs/formats/columns.md, "A directory of frames".
Invariant: a commit is one replacement of the manifest, which names the committed state of each array. What it
    does not name has not happened: files, and bytes behind the end of a state.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from coquina import _core
from coquina._core import CorruptError
from coquina.creation import asarray, new_array, options_of
from coquina.dtypes import parse_dtype
from coquina.hdf5.untyped import h5py
from coquina.tables.cuts import Cut
from coquina.tables.directory_locks import found_writer, key_of, note_writer, taken
from coquina.tables.frames_arrays import TableArray
from coquina.tables.homes import Appender, Home
from coquina.tables.manifest import NAME as JSON
from coquina.tables.manifest import Manifest, ManifestText, line_of, state_of, with_state
from coquina.tuning_options import DEFAULT_CODEC

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.array import Array
    from coquina.tables.manifest import Node

#: Rows that wait are written when they are more than this, flushed or not.
_WAITING_BYTES_MAX = 16 << 20
#: Files are written anew on close if more than this, and more than half of them, is unused.
_DEAD_BYTES_MAX = 4 << 20
#: What a killed writer may leave: arrays that no manifest names, and what was to become one.
_LEFT_OVER = re.compile(r"[0-9]{4,}\.b2nd|\.[0-9]{4,}\.b2nd\..*\.tmp")


def is_directory(path: Path) -> bool:
    """Whether there is a table in a directory of this name."""
    return os.path.isfile(os.path.join(_absolute(path), JSON))


class FramesHome(Home):
    """A directory of frames. Made by `make` and `open`."""

    is_transactional = True

    def __init__(
        self, path: str, manifest: Manifest, lock: _core.DirectoryLock | None, *, durable: bool = False
    ) -> None:
        """The directory at an absolute path. lock: of one that is opened for writing."""
        self.path = path
        self.generation = manifest.generation
        #: What there is, by path; the table is the empty one. Nodes are never changed in place.
        self._nodes = dict(manifest.nodes)
        self._committed = dict(manifest.nodes)
        self._text = ManifestText()
        self._writer = _core.ManifestWriter(os.path.join(path, JSON))
        self._has_lines = False
        self._lock = lock
        self._is_writable = lock is not None
        self._durable = durable
        self._damaged = False
        self._depth = self._users = 0
        self._is_swept = False
        self._broken: str | None = None
        self._arrays: dict[str, TableArray] = {}

    @classmethod
    def make(cls, path: Path, *, overwrite: bool = False, durable: bool = False) -> FramesHome:
        """Make an empty directory. overwrite: in place of a table that is there, and of nothing else.

        durable: commits wait for the disk. Raises FileExistsError, BlockingIOError.
        """
        place = _absolute(path)
        if overwrite and is_directory(place):
            if (writer := found_writer(place)) is not None:
                cast("FramesHome", writer).abandon("the table has been replaced by a new one")
            lock = taken(place, 0)
            shutil.rmtree(place)
            lock.release()
        os.makedirs(place)
        nodes: dict[str, Node] = {"": {"kind": "group", "attrs": {}}}
        home = cls(place, Manifest({}, 0), taken(place, 0), durable=durable)
        home._nodes = nodes
        note_writer(place, home)
        return home

    @classmethod
    def open(
        cls,
        path: Path,
        mode: Literal["r", "r+", "a"] = "r",
        *,
        durable: bool = False,
        wait: float | None = None,
        damaged: bool = False,
    ) -> FramesHome:
        """Open a directory; one that is open for writing in this process is opened for writing once more.

        wait: for so many seconds, if another process writes. damaged: for reading, by who takes what is left.
        Raises FileNotFoundError, BlockingIOError, and CorruptError if its manifest is not that of a table.
        """
        place = _absolute(path)
        if mode == "r":
            home = cls(place, Manifest.read(place), None)
            home._damaged = damaged
            return home
        found = found_writer(place)
        if found is not None:
            home = cast("FramesHome", found)
            home._users += 1
            return home
        key_of(place)
        lock = taken(place, wait or 0)
        try:
            home = cls(place, Manifest.read(place), lock, durable=durable)
        except BaseException:
            lock.release()
            raise
        note_writer(place, home)
        return home

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
        self._check_usable()
        nodes = [*self._nodes.values(), *self._committed.values()]
        number = 1 + max((one.get("number", 0) for one in nodes), default=0)
        node: Node = {"kind": "array", "attrs": {}, "number": number}
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
        made = new_array((0,), np.dtype(wanted.str), options)
        with self.transaction():
            made.handle.set_durable(self._durable)
            made.handle.publish()
            array = self._kept(node, made.handle, made.dtype)
            self._nodes[path] = node
        return array

    def array(self, path: str, *, zoned: bool = True) -> Array:
        """Return the array. Raises KeyError if there is none, CorruptError if its file holds another one."""
        node = self._nodes[path]
        found = self._arrays.get(self._file(node))
        if found is not None:
            return found
        self._check_usable()
        file, state = self._file(node), state_of(node)
        try:
            handle = _core.open_content(file, writable=self._is_writable, commit=state)
        except (CorruptError, FileNotFoundError) as error:
            if not self._damaged:
                raise CorruptError(f"{self.path}: array {path!r}: {error}") from None
            handle = _core.open_content(file, damaged=True)
        if not isinstance(handle, _core.ArrayHandle):
            raise CorruptError(f"{file}: no array, and {path!r} is one")
        return self._kept(node, handle, parse_dtype(handle.dtype_text, handle.typesize))

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
        """Remove what is at a path and below; files go once that is committed."""
        with self.transaction():
            for one in self._below(path):
                del self._nodes[one]

    def move(self, old: str, new: str) -> None:
        """Give it another path, in the manifest alone."""
        with self.transaction():
            for one in self._below(old):
                self._nodes[new + one[len(old) :]] = self._nodes.pop(one)

    def replace(self, old: str, new: str) -> None:
        """Give it the path of something else, in one commit: there is always one of both."""
        with self.transaction():
            self.remove(new)
            self.move(old, new)

    def appender(self, arrays: Sequence[Array]) -> Appender:
        """Return what appends to one array after the other."""
        return _Appender(self, arrays)

    def can_grow(self, array: Array) -> bool:
        """Return True: all frames can grow."""
        return True

    def set_number(self, path: str, name: str, number: int) -> None:
        """Do nothing: who reads frames asks them how long they are."""

    def put_attrs(self, path: str, attrs: dict[str, Any]) -> None:
        """Keep the attributes of what is at a path."""
        self._put(path, {**self._nodes[path], "attrs": attrs})

    def attrs_at(self, path: str) -> dict[str, Any]:
        """Return the attributes of what is at a path."""
        return self._nodes[path]["attrs"]

    # Commits

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Make all changes in the block one commit; an exception undoes them. Blocks in it are part of it."""
        self._check_usable()
        self._depth += 1
        try:
            yield
            if self._depth == 1:
                self._commit()
        except BaseException:
            if self._depth == 1:
                self._undo()
            raise
        finally:
            self._depth -= 1

    def is_outdated(self) -> bool:
        """Whether there is a newer commit than the one that is shown."""
        return not self._is_writable and Manifest.read(self.path).generation != self.generation

    def refresh(self) -> bool:
        """Go to the newest commit of whoever writes the table; return whether there is one."""
        if self._is_writable:
            return False
        newest = Manifest.read(self.path)
        if newest.generation == self.generation:
            return False
        kept = {self._file(one): state_of(one) for one in newest.nodes.values() if one["kind"] == "array"}
        for node in self._nodes.values():
            if node["kind"] == "array" and kept.get(self._file(node)) != state_of(node):
                self._arrays.pop(self._file(node), None)
        self.generation = newest.generation
        self._nodes, self._committed = dict(newest.nodes), dict(newest.nodes)
        return True

    @property
    def is_broken(self) -> bool:
        """Whether nothing more can be written, because of a commit that has failed."""
        return self._broken is not None

    def abandon(self, why: str) -> None:
        """Let go of the directory, and refuse to write anything from here on."""
        self._broken = why
        for array in self._arrays.values():
            with suppress(_core.CoquinaError, OSError, ValueError):
                array.handle.close()
        if self._lock is not None:
            self._lock.release()

    def _check_usable(self) -> None:
        if self._broken is not None:
            raise ValueError(f"{self.path}: {self._broken}; open it again")

    def _commit(self) -> None:
        """Write all that has changed behind the committed states, and then the manifest that names it."""
        if self._lock is None:
            raise ValueError(f"{self.path}: the table is open for reading only")
        if not self._lock.is_at(self.path):
            raise OSError(
                f"{self.path}: it is not the directory any more that was opened, or not by this process"
            )
        changed: dict[str, _core.ArrayHandle] = {}
        before = self._committed
        is_line = not self._durable and self._writer.takes_line and self._nodes.keys() == before.keys()
        for path, node in self._nodes.items():
            is_line = is_line and node is before[path]
            if node["kind"] != "array":
                continue
            array = self._arrays.get(self._file(node))
            if array is None and "state" not in node:
                array = cast("TableArray", self.array(path))
            if array is not None:
                state = array.handle.prepare()
                if state != state_of(node):
                    self._nodes[path] = with_state(node, state)
                    changed[path] = array.handle
        if not changed and self._is_as(before):
            return
        self._sweep()
        self.generation += 1
        if is_line:
            text = line_of(self._nodes, changed, self.generation)
        else:
            text = self._text.of(self._nodes, self.generation)
        # What is committed is not to be taken back by an interrupt that comes right behind the commit.
        self._committed = dict(self._nodes)
        handles = list(changed.values())
        outcome, error = self._writer.commit(handles, text, line=is_line, durable=self._durable)
        self._has_lines = is_line and error is None
        if error is None:
            if not is_line:
                self._remove_files(before, self._committed)
        elif outcome == "undone":
            self._committed = before
            raise error
        else:
            self.abandon(f"a commit has failed, and it is {outcome} ({error})")
            raise error

    def _is_as(self, before: dict[str, Node]) -> bool:
        """Whether all nodes are those of the last commit."""
        same = self._nodes.keys() == before.keys()
        return same and all(node is before[path] for path, node in self._nodes.items())

    def _undo(self) -> None:
        """Go back to the last commit."""
        if self._broken is not None:
            return
        undone, self._nodes = self._nodes, dict(self._committed)
        # What cannot be removed is not named, and removed by the next writer.
        with suppress(OSError):
            self._remove_files(undone, self._nodes)
        try:
            for array in self._arrays.values():
                array.undo()
        except (_core.CoquinaError, OSError, ValueError) as error:
            self.abandon(f"a commit has failed, and could not be undone ({error})")

    def _remove_files(self, before: dict[str, Node], now: dict[str, Node]) -> None:
        """Remove the files of arrays that are not there any more."""
        kept = {node["number"] for node in now.values() if node["kind"] == "array"}
        for node in before.values():
            if node["kind"] == "array" and node["number"] not in kept:
                file = self._file(node)
                if file in self._arrays:
                    self._arrays.pop(file).handle.close()
                with suppress(FileNotFoundError):
                    os.remove(file)

    def _sweep(self) -> None:
        """Remove, once, what a killed writer has left."""
        if self._is_swept:
            return
        self._is_swept = True
        known = [*self._nodes.values(), *self._committed.values()]
        named = {os.path.basename(self._file(one)) for one in known if one["kind"] == "array"}
        for name in os.listdir(self.path):
            if _LEFT_OVER.fullmatch(name) and name not in named:
                with suppress(OSError):
                    os.remove(os.path.join(self.path, name))

    def close(self) -> None:
        """Commit, give back unused room if there is much, and close all arrays."""
        if self._users > 0:
            self._users -= 1
            return
        lock = self._lock
        try:
            if lock is not None and not self.is_broken and lock.is_at(self.path):
                with self.transaction():
                    pass
                self._compact()
                self._write_whole()
        finally:
            while self._arrays:
                self._arrays.popitem()[1].handle.close()
            if lock is not None:
                lock.release()
            if self._is_writable:
                self._broken = self._broken or "it has been closed"

    def _compact(self) -> None:
        """Write arrays anew of which much is unused; readers of the old files keep them."""
        wasteful = [path for path, node in self._nodes.items() if self._is_wasteful(node)]
        if not wasteful:
            return
        try:
            with self.transaction():
                for path in wasteful:
                    node, old = self._nodes[path], self._arrays[self._file(self._nodes[path])]
                    nodes = [*self._nodes.values(), *self._committed.values()]
                    number = 1 + max(one.get("number", 0) for one in nodes)
                    made = {key: value for key, value in node.items() if key != "state"} | {"number": number}
                    old.handle.save(self._file(made), overwrite=True)
                    self._nodes[path] = made
                    self.array(path)
        except OSError:
            # All is committed, and only room was to be won: on a full disk there is none to win it with.
            return

    def _write_whole(self) -> None:
        """Write a manifest without lines behind it, for people and programs that read JSON."""
        if self._has_lines:
            text = self._text.of(self._nodes, self.generation)
            self._writer.commit([], text, durable=self._durable)
            self._has_lines = False

    def _is_wasteful(self, node: Node) -> bool:
        array = self._arrays.get(self._file(node)) if node["kind"] == "array" else None
        if array is None or "state" not in node:
            return False
        stats = array.handle.stats()
        dead, used = int(stats["dead_bytes"]), int(stats["cbytes"])
        # Other programs do not see that an array has become empty again.
        is_emptied = not array.shape[0] and dead > 0
        return is_emptied or (dead > _DEAD_BYTES_MAX and dead > used)

    def _kept(self, node: Node, handle: _core.ArrayHandle, dtype: np.dtype[Any]) -> TableArray:
        array = self._arrays[self._file(node)] = TableArray.of(handle, dtype, self)
        if self._is_writable:
            handle.set_durable(self._durable)
            handle.begin()
        return array

    def _file(self, node: Node) -> str:
        return os.path.join(self.path, f"{node['number']:04d}.b2nd")

    def _below(self, path: str) -> list[str]:
        return [one for one in self._nodes if one == path or one.startswith(f"{path}/")]

    def _put(self, path: str, node: Node) -> None:
        with self.transaction():
            self._nodes[path] = node


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
    """Rows that wait for the next flush, and then are committed to all arrays together."""

    def __init__(self, home: FramesHome, arrays: Sequence[Array]) -> None:
        self._home = home
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
        """Write what waits; of all or of none."""
        taken, self._waiting = self._waiting, [[] for _ in self._arrays]
        self._bytes = 0
        if not any(taken):
            return
        with self._home.transaction():
            for array, waiting in zip(self._arrays, taken, strict=True):
                if waiting:
                    array.append(waiting[0] if len(waiting) == 1 else np.concatenate(waiting))

    def close(self) -> None:
        """Write what waits."""
        self.flush()


def _absolute(path: Any) -> str:
    return os.path.abspath(os.fsdecode(path))


def _plain(value: Any) -> Any:
    """Return a value as JSON has it. Raises TypeError for one that it has not."""
    plain: Any = cast("Any", value).tolist() if isinstance(value, np.generic | np.ndarray) else value
    json.dumps(plain)
    return plain
