"""A directory of frames that are committed together: what is in it, and how a commit comes to be.

In: nodes by path, and arrays that have been written to. Out: commits, each one write of the manifest.
Source: docs/formats/columns.md, "A directory of frames"; decision 16.
Invariant: the manifest names the committed state of each array. What it does not name has not happened, be it
    files or bytes behind the end of a state.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any, Literal, cast

from coquina import _core
from coquina._core import CoquinaError, CorruptError
from coquina.dtypes import parse_dtype
from coquina.tables.directory_locks import found_writer, key_of, note_writer, taken
from coquina.tables.directory_sweeping import file_name, sweep, sweep_indexes
from coquina.tables.directory_transactions import Transaction
from coquina.tables.frames_arrays import TableArray, left_of
from coquina.tables.manifest import (
    FOLDER,
    NAME,
    Manifest,
    ManifestText,
    absolute,
    is_directory,
    line_of,
    state_of,
    with_state,
)

if TYPE_CHECKING:
    import numpy as np

    from coquina._core import Path
    from coquina.tables.manifest import Node

#: Files are written anew on close if more than this, and more than half of them, is unused.
_DEAD_BYTES_MAX = 4 << 20


class Directory:
    """A directory of frames. nodes: what there is, by path; one is never changed, but replaced."""

    def __init__(
        self, path: str, manifest: Manifest, lock: _core.DirectoryLock | None, *, durable: bool = False
    ) -> None:
        """The directory at an absolute path. lock: of one that is opened for writing."""
        self.path = path
        self.generation = manifest.generation
        self.nodes: dict[str, Node] = dict(manifest.nodes)
        self.is_damaged = False
        self.is_writable = lock is not None
        self.durable = durable
        self._committed: dict[str, Node] = dict(manifest.nodes)
        # By number, with the ids of the states that they were last committed in.
        self._arrays: dict[int, TableArray] = {}
        self._ids: dict[int, tuple[int, int]] = {}
        self._text = ManifestText()
        self._writer = _core.ManifestWriter(os.path.join(path, NAME))
        self._has_lines = self._is_swept = False
        self._lock = lock
        self._broken: str | None = None
        # Whoever is in a transaction, in which others must wait.
        self._turn = threading.RLock()
        self._depth = self._users = 0
        self._transaction = Transaction(self)
        self._thread = 0

    @classmethod
    def make(cls, path: Path, *, durable: bool = False) -> Directory:
        """Make an empty directory. durable: commits wait for the disk. Raises FileExistsError."""
        place = absolute(path)
        os.makedirs(place)
        nodes: dict[str, Node] = {"": {"kind": "group", "attrs": {}}}
        made = cls(place, Manifest({}, 0), taken(place, 0), durable=durable)
        made.nodes = nodes
        note_writer(place, made)
        return made

    @classmethod
    def open(
        cls,
        path: Path,
        mode: Literal["r", "r+", "a"] = "r",
        *,
        durable: bool = False,
        wait: float | None = None,
        damaged: bool = False,
    ) -> Directory:
        """Open a directory; one that is open for writing in this process is opened for writing once more.

        wait: for so many seconds, if another process writes. damaged: for reading, by who takes what is left.
        Raises FileNotFoundError, BlockingIOError, and CorruptError if its manifest is not that of a table.
        """
        place = absolute(path)
        if mode == "r":
            made = cls(place, Manifest.read(place), None)
            made.is_damaged = damaged
            return made
        found = found_writer(place)
        if found is not None:
            made = cast("Directory", found)
            made._users += 1
            if durable:
                made._wait_for_disk()
            return made
        key_of(place)
        lock = taken(place, wait or 0)
        try:
            made = cls(place, Manifest.read(place), lock, durable=durable)
        except BaseException:
            lock.release()
            raise
        note_writer(place, made)
        return made

    def _wait_for_disk(self) -> None:
        """Have all commits from here on wait for the disk."""
        with self._turn:
            self.durable = True
            for array in self._arrays.values():
                array.handle.set_durable(True)

    def file(self, node: Node) -> str:
        """Return the path of the file of an array."""
        return os.path.join(self.path, file_name(node))

    def new_number(self) -> int:
        """Return a number that no array has, and none had at the last commit."""
        nodes = [*self.nodes.values(), *self._committed.values()]
        return 1 + max((one.get("number", 0) for one in nodes), default=0)

    def array(self, path: str) -> TableArray:
        """Return the array. Raises KeyError if there is none, CorruptError if its file holds another one."""
        node = self.nodes[path]
        found = self._arrays.get(node["number"])
        if found is not None:
            return found
        self.check_usable()
        file, state = self.file(node), state_of(node)
        try:
            if state is None:
                handle = _core.open_content(file, writable=self.is_writable)
            else:
                handle = _core.open_commit(file, state, writable=self.is_writable)
        except (CoquinaError, FileNotFoundError) as error:
            if self.is_damaged:
                handle = left_of(file, state, error)
            else:
                # What was committed here can be read here: whatever is wrong, it is another file than that.
                is_ours = state is not None or isinstance(error, CorruptError | FileNotFoundError)
                kind = CorruptError if is_ours else type(error)
                raise kind(f"{self.path}: array {path!r}: {error}") from None
        if not isinstance(handle, _core.ArrayHandle):
            raise CorruptError(f"{file}: no array, and {path!r} is one")
        return self.keep(node, handle, parse_dtype(handle.dtype_text, handle.typesize))

    def keep(self, node: Node, handle: _core.ArrayHandle, dtype: np.dtype[Any]) -> TableArray:
        """Return the array of a handle, which is committed here from now on."""
        array = self._arrays[node["number"]] = TableArray.of(handle, dtype, self)
        if (state := state_of(node)) is not None:
            self._ids[node["number"]] = state
        if self.is_writable:
            handle.set_durable(self.durable)
            handle.begin()
        return array

    def transaction(self) -> Transaction:
        """Return a context that makes all changes in it one commit; an exception undoes them.

        Contexts within it are part of it.
        """
        return self._transaction

    def begin(self) -> None:
        """Begin a transaction, or a part of one."""
        self._turn.acquire()
        try:
            self.check_usable()
        except BaseException:
            self._turn.release()
            raise
        self._depth += 1
        self._thread = get_ident()

    def end(self, is_good: bool) -> None:
        """End a transaction, or a part of one."""
        try:
            if self._depth == 1:
                if is_good:
                    try:
                        self._commit()
                    except BaseException:
                        self._undo()
                        raise
                else:
                    self._undo()
        finally:
            self._depth -= 1
            self._turn.release()

    @property
    def is_changing(self) -> bool:
        """Whether what this thread writes now is part of a commit to come."""
        return self._depth > 0 and self._thread == get_ident()

    def is_outdated(self) -> bool:
        """Whether there is a newer commit than the one that is shown."""
        return not self.is_writable and Manifest.read(self.path).generation != self.generation

    def refresh(self) -> bool:
        """Go to the newest commit of whoever writes the table; return whether there is one."""
        if self.is_writable:
            return False
        newest = Manifest.read(self.path)
        if newest.generation == self.generation:
            return False
        kept = {one["number"]: state_of(one) for one in newest.nodes.values() if one["kind"] == "array"}
        for node in self.nodes.values():
            if node["kind"] == "array" and kept.get(node["number"]) != state_of(node):
                self._arrays.pop(node["number"], None)
        self.generation = newest.generation
        self.nodes, self._committed = dict(newest.nodes), dict(newest.nodes)
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

    def check_usable(self) -> None:
        """Raise ValueError if a commit has failed, or the directory has been closed."""
        if self._broken is not None:
            raise ValueError(f"{self.path}: {self._broken}; open it again")

    def _commit(self) -> None:
        """Write all that has changed behind the committed states, and then the manifest that names it."""
        if self._lock is None:
            raise ValueError(f"{self.path}: the table is open for reading only")
        before = self._committed
        # A line says of arrays that there is more in them, and nothing else.
        is_line = not self.durable and self._writer.takes_line and self._is_as(before)
        ids, handles = self._prepare()
        if not ids and self._is_as(before):
            return
        # A line goes to the manifest that this process has written, wherever that is now.
        if not is_line and not self._lock.is_at(self.path):
            what = "it is not the directory any more that was opened, or not by this process"
            raise OSError(f"{self.path}: {what}")
        self._sweep()
        self.generation += 1
        text = line_of(ids, self.generation) if is_line else self._text.of(self.nodes, self.generation)
        # What is committed is not to be taken back by an interrupt that comes right behind the commit.
        self._committed = dict(self.nodes)
        outcome, error = self._writer.commit(handles, text, line=is_line, durable=self.durable)
        self._has_lines = is_line and error is None
        if error is None:
            self._ids.update(ids)
            if not is_line:
                self._remove_files(before, self._committed)
        elif outcome == "undone":
            self._committed = before
            raise error
        else:
            self.abandon(f"a commit has failed, and it is {outcome} ({error})")
            raise error

    def _prepare(self) -> tuple[dict[int, tuple[int, int]], list[_core.ArrayHandle]]:
        """Write what has changed of arrays, and return their new states by number, and their handles."""
        ids: dict[int, tuple[int, int]] = {}
        handles: list[_core.ArrayHandle] = []
        for path, node in self.nodes.items():
            if node["kind"] != "array":
                continue
            number: int = node["number"]
            array = self._arrays.get(number)
            if array is None and "state" not in node:
                array = self.array(path)
            if array is not None:
                state = array.handle.prepare()
                if state != self._ids.get(number) or "state" not in node:
                    self.nodes[path] = with_state(node, state)
                    ids[number] = state
                    handles.append(array.handle)
        return ids, handles

    def _is_as(self, before: dict[str, Node]) -> bool:
        """Whether all nodes are those of the last commit."""
        same = self.nodes.keys() == before.keys()
        return same and all(node is before[path] for path, node in self.nodes.items())

    def _undo(self) -> None:
        """Go back to the last commit."""
        if self._broken is not None:
            return
        undone, self.nodes = self.nodes, dict(self._committed)
        # What cannot be removed is not named, and removed by the next writer.
        with suppress(OSError):
            self._remove_files(undone, self.nodes)
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
                if node["number"] in self._arrays:
                    self._arrays.pop(node["number"]).handle.close()
                with suppress(FileNotFoundError):
                    os.remove(self.file(node))

    def _sweep(self) -> None:
        """Remove, once, what a killed writer has left."""
        if self._is_swept:
            return
        self._is_swept = True
        sweep(self.path, [*self.nodes.values(), *self._committed.values()])
        indexes = cast("Directory | None", found_writer(os.path.join(self.path, FOLDER)))
        if indexes is None:
            sweep_indexes(self.path)
        else:
            indexes._sweep()

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
                # All is committed, and only room is to be won: on a full disk there is none to win it with.
                with suppress(OSError):
                    self.compact(_DEAD_BYTES_MAX)
                self._write_whole()
        finally:
            while self._arrays:
                self._arrays.popitem()[1].handle.close()
            if lock is not None:
                lock.release()
            if self.is_writable:
                self._broken = self._broken or "it has been closed"

    def compact(self, dead_bytes_max: int = 0) -> None:
        """Write arrays anew of which more is unused; readers of the old files keep them.

        dead_bytes_max: so much is never too much. If it is 0 all else is, if not, more than half of a file.
        """
        wasteful = [path for path, node in self.nodes.items() if self._is_wasteful(node, dead_bytes_max)]
        if not wasteful:
            return
        with self.transaction():
            for path in wasteful:
                node, old = self.nodes[path], self._arrays[self.nodes[path]["number"]]
                number = self.new_number()
                made = {key: value for key, value in node.items() if key != "state"} | {"number": number}
                old.handle.save(self.file(made), overwrite=True)
                self.nodes[path] = made
                self.array(path)

    def _write_whole(self) -> None:
        """Write a manifest without lines behind it, for people and programs that read JSON."""
        if self._has_lines:
            text = self._text.of(self.nodes, self.generation)
            self._writer.commit([], text, durable=self.durable)
            self._has_lines = False

    def _is_wasteful(self, node: Node, dead_bytes_max: int) -> bool:
        array = self._arrays.get(node["number"]) if node["kind"] == "array" else None
        if array is None or "state" not in node:
            return False
        stats = array.handle.stats()
        dead, used = int(stats["dead_bytes"]), int(stats["cbytes"])
        # Other programs do not see that an array has become empty again.
        is_emptied = not array.shape[0] and dead > 0
        return is_emptied or (dead > dead_bytes_max and (dead > used or not dead_bytes_max))


__all__ = ["Directory", "is_directory"]
