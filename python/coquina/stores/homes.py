"""Where a store that is changed keeps its leaves: in its directory, or beside an archive until a commit.

In: files that were made in a folder of the home, and the keys that they get. Out: leaves at these keys.
Invariant: a directory changes by one rename or one removal at a time, after each of which it can be read; an
    archive is replaced by one rename. One writer at a time: it has the lock of the frame `embed.b2e` of a
    directory, or of the folder beside an archive.
"""

from __future__ import annotations

import os
import shutil
import zlib
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import reduce
from itertools import count
from typing import TYPE_CHECKING, TypeGuard, cast

from coquina import _core
from coquina.disk import sync_below, sync_folder
from coquina.folder_members import STORE
from coquina.msgpack_values import pack
from coquina.stores.archive import Archive, Member
from coquina.stores.archive_writing import write_archive
from coquina.stores.directory import leaves_of_directory
from coquina.stores.embedded import MAP_LAYER
from coquina.stores.leaves import FileLeaf

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina.stores.leaves import Leaf

#: Bytes of a chunk of `embed.b2e`, as python-blosc2 has them.
_EMBED_CHUNK = 8192


def scratch_of(path: str) -> str:
    """Return the folder beside a store in which its writer makes what is new. What a kill left is in it."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.part")


class Home(ABC):
    """What is written of a store at a path. durable: commits wait for the disk."""

    #: The frame that makes it a store, open for writing.
    embed: _core.FrameHandle
    #: Whether all changes since the last commit are there at once, or none.
    is_archive = False

    def __init__(self, path: str, *, durable: bool) -> None:
        """Take the path of the store."""
        self.path = path
        self.durable = durable
        self.scratch = scratch_of(path)
        self._numbers = count()

    def new(self, suffix: str = "") -> str:
        """Return the path of a file or folder to be made, which is then `placed`."""
        os.makedirs(self.scratch, exist_ok=True)
        return os.path.join(self.scratch, f"{next(self._numbers)}{suffix}")

    def clear(self) -> None:
        """Remove what was made and not placed, now or by a writer that was killed."""
        for name in os.listdir(self.scratch) if os.path.isdir(self.scratch) else ():
            path = os.path.join(self.scratch, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    @abstractmethod
    def leaves(self) -> dict[str, Leaf]:
        """Return what lies outside of `embed.b2e`."""

    @abstractmethod
    def placed(self, source: str, key: str, suffix: str) -> dict[str, Leaf]:
        """Give a file, or a folder of leaves, its key; return the leaves that there are then."""

    @abstractmethod
    def removed(self, key: str, leaves: dict[str, Leaf]) -> None:
        """Remove the leaves at and below a key."""

    @abstractmethod
    def moved(self, old: str, new: str, leaves: dict[str, Leaf]) -> dict[str, Leaf]:
        """Give the leaves at and below a key another one."""

    @abstractmethod
    def to_change(self, leaf: Leaf) -> Leaf:
        """Return a leaf that can be opened for writing where this one can be."""

    def commit(self, leaves: dict[str, Leaf]) -> dict[str, Leaf]:
        """Have all changes be in the store; return its leaves."""
        return leaves

    def settle(self) -> None:
        """Have the disk have what was committed by its name, where commits wait for it."""
        self._sync_names(self.path)

    def _sync(self, path: str) -> None:
        """Have the disk have a file, a folder, and all below it."""
        if self.durable:
            sync_below(path)

    def _sync_names(self, *paths: str) -> None:
        """Have the disk have the names that were given or taken. A rename is there when both folders are."""
        if self.durable:
            for folder in {os.path.dirname(path): None for path in paths}:
                sync_folder(folder)

    def close(self) -> None:
        """Let the next writer begin."""
        self.embed.close()


class DirectoryHome(Home):
    """A directory: each change is in it at once."""

    def __init__(self, path: str, *, durable: bool) -> None:
        """Take the lock. Raises BlockingIOError if another writer has it."""
        super().__init__(path, durable=durable)
        self.embed = _frame(os.path.join(path, STORE))
        self.clear()

    @classmethod
    def make(
        cls, path: str, *, durable: bool, make_folder: Callable[[str], None] = os.mkdir
    ) -> DirectoryHome:
        """Make a directory, which is there when it is complete. make_folder: makes one, with its leaves."""
        scratch = scratch_of(path)
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            make_folder(scratch)
            _make_embed(os.path.join(scratch, STORE))
            if durable:
                sync_below(scratch)
            os.rename(scratch, path)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        if durable:
            sync_folder(os.path.dirname(path))
        return cls(path, durable=durable)

    def leaves(self) -> dict[str, Leaf]:
        """Return the files."""
        return leaves_of_directory(self.path)

    def placed(self, source: str, key: str, suffix: str) -> dict[str, Leaf]:
        """Rename it."""
        path = f"{key}{suffix}"
        target = self._inside(path)
        self._sync(source)
        os.rename(source, target)
        self._sync_names(target, source)
        if not os.path.isdir(target):
            return {key: FileLeaf(self.path, path)}
        below = self._files(leaves_of_directory(target))
        return {f"{key}/{one}": FileLeaf(self.path, f"{key}/{path}") for one, path in below.items()}

    def removed(self, key: str, leaves: dict[str, Leaf]) -> None:
        """Remove the file, or rename the folder away before it is removed."""
        files = self._files(leaves)
        target = self._inside(files.get(key, key))
        if key in files:
            os.unlink(target)
            self._sync_names(target)
        else:
            gone = self.new()
            os.rename(target, gone)
            self._sync_names(target, gone)
            shutil.rmtree(gone)

    def moved(self, old: str, new: str, leaves: dict[str, Leaf]) -> dict[str, Leaf]:
        """Rename the file or the folder."""
        files = {one: (path, f"{new}{path[len(old) :]}") for one, path in self._files(leaves).items()}
        source, target = map(self._inside, files.get(old, (old, new)))
        os.rename(source, target)
        self._sync_names(source, target)
        return {f"{new}{one[len(old) :]}": FileLeaf(self.path, path) for one, (_, path) in files.items()}

    def to_change(self, leaf: Leaf) -> Leaf:
        """Return the leaf: its file is where it is."""
        return leaf

    def close(self) -> None:
        """Remove the folder that new files were made in."""
        with suppress(OSError):
            self.clear()
            os.rmdir(self.scratch)
        super().close()

    def _inside(self, path: str) -> str:
        """Return where a path is, with the folders above it. Raises OSError where a link leads out."""
        target = os.path.join(self.path, *path.split("/"))
        folder = os.path.dirname(target)
        if os.path.realpath(folder) != folder:
            raise OSError(f"{folder}: a link, which is not followed")
        self._make_folders(folder)
        return target

    def _make_folders(self, folder: str) -> None:
        if not os.path.isdir(folder):
            self._make_folders(os.path.dirname(folder))
            os.mkdir(folder)
            self._sync_names(folder)

    def _files(self, leaves: dict[str, Leaf]) -> dict[str, str]:
        """Return the paths of files by key. Raises UnsupportedError for what lies in `embed.b2e`."""
        paths: dict[str, str] = {}
        for key, leaf in leaves.items():
            if not isinstance(leaf, FileLeaf):
                raise _core.UnsupportedError(f"{self.path}: {key!r} lies in {STORE}, which is only read")
            paths[key] = leaf.path
        return paths


class ArchiveHome(Home):
    """An archive: what is new or changed is beside it, in files, and in it by the next commit."""

    is_archive = True

    def __init__(self, path: str, *, is_new: bool, durable: bool) -> None:
        """Take the lock. is_new: without what is there. Raises BlockingIOError if another writer has it."""
        super().__init__(path, durable=durable)
        self._lock = _locked(self.scratch)
        self.clear()
        self._is_changed = is_new
        #: The CRC-32 of what the archive has of a file beside it.
        self._known: dict[str, int] = {}
        embed = os.path.join(self.scratch, STORE)
        self._archive = None if is_new else _archive(path)
        if self._archive is None:
            _make_embed(embed)
        else:
            _copy(self._archive.leaf(STORE), embed)
        self.embed = _frame(embed)

    def leaves(self) -> dict[str, Leaf]:
        """Return the members."""
        return {} if self._archive is None else self._archive.leaves(STORE)

    def placed(self, source: str, key: str, suffix: str) -> dict[str, Leaf]:
        """Leave it where it is."""
        self._is_changed = True
        if not os.path.isdir(source):
            return {key: FileLeaf(*os.path.split(source))}
        return {f"{key}/{one}": leaf for one, leaf in leaves_of_directory(source).items()}

    def removed(self, key: str, leaves: dict[str, Leaf]) -> None:
        """Have the next commit be without it."""
        self._is_changed = True

    def moved(self, old: str, new: str, leaves: dict[str, Leaf]) -> dict[str, Leaf]:
        """Have the next commit call it so."""
        self._is_changed = True
        return {f"{new}{one[len(old) :]}": leaf for one, leaf in leaves.items()}

    def to_change(self, leaf: Leaf) -> Leaf:
        """Return a copy of a member as a file."""
        if not isinstance(leaf, Member):
            return leaf
        path = self.new(leaf.suffix)
        _copy(leaf, path)
        self._known[path] = leaf.info.CRC
        return FileLeaf(*os.path.split(path))

    def commit(self, leaves: dict[str, Leaf]) -> dict[str, Leaf]:
        """Replace the archive, if something has changed; members that have not are copied as they are."""
        files = {key: leaf for key, leaf in leaves.items() if isinstance(leaf, FileLeaf)}
        changed = (file for file in files.values() if _crc(file.place) != self._known.get(file.place))
        if not self._is_changed and next(changed, None) is None:
            return leaves
        members = {f"{key}{leaf.suffix}": leaf for key, leaf in leaves.items() if _is_stored(leaf)}
        members[STORE] = FileLeaf(self.scratch, STORE)
        beside = self.new()
        write_archive(beside, members)
        if os.path.exists(self.path):
            shutil.copymode(self.path, beside)
        self._sync(beside)
        os.rename(beside, self.path)
        self._sync_names(beside)
        self._is_changed, found = False, _archive(self.path).members
        now = {key: found[f"{key}{leaf.suffix}"] for key, leaf in leaves.items() if _is_stored(leaf)}
        self._known = {file.place: now[key].info.CRC for key, file in files.items()}
        return {key: now[key] if isinstance(leaf, Member) else leaf for key, leaf in leaves.items()}

    def close(self) -> None:
        """Remove the folder beside the archive."""
        self.embed.close()
        with suppress(OSError):
            self.clear()
            os.rmdir(self.scratch)
        self._lock.release()


def _make_embed(path: str) -> None:
    """Make the frame of a store without leaves."""
    meta = [("b2tree", pack({"version": 1}))]
    frame = _core.create_frame(path, chunk_size=_EMBED_CHUNK, metalayers=meta)
    frame.set_layer(MAP_LAYER, pack({"embed_map": {}, "current_offset": 0}))
    frame.publish()
    frame.close()


def _locked(folder: str) -> _core.FolderLock:
    """Return the lock of a folder, which is made. Raises BlockingIOError if another writer has it."""
    while True:
        with suppress(FileExistsError):
            os.mkdir(folder)
        try:
            lock = _core.FolderLock(folder)
        except FileNotFoundError:
            # Whoever had it has ended just now, and has removed it.
            continue
        # Whoever had the lock before may have removed the folder that was opened here.
        if lock.is_at(folder):
            return lock
        lock.release()


def _frame(path: str) -> _core.FrameHandle:
    found = _core.open_content(path, writable=True)
    if not isinstance(found, _core.FrameHandle):
        raise _core.CorruptError(f"{path}: no frame that leaves lie in")
    return found


def _archive(path: str) -> Archive:
    with open(path, "rb") as file:
        return Archive(file, path, path)


def _is_stored(leaf: Leaf) -> TypeGuard[FileLeaf | Member]:
    """Whether a leaf is a file of its own, and not in `embed.b2e`."""
    return isinstance(leaf, FileLeaf | Member)


def _copy(leaf: Leaf, path: str) -> None:
    with open(path, "xb") as file:
        file.writelines(cast("Member", leaf).pieces())


def _crc(path: str) -> int:
    return reduce(lambda found, piece: zlib.crc32(piece, found), FileLeaf(*os.path.split(path)).pieces(), 0)
