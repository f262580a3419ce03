"""`File`: an HDF5 file, which is its root group.

In: a path, or what h5py can open. Out: a group; files that are made appear under their name when they are
complete.
Invariant: who fails while a file is made leaves what stood there before.
"""

from __future__ import annotations

import os
import secrets
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast
from weakref import finalize

from coquina.hdf5.describing import place_of
from coquina.hdf5.groups import Group
from coquina.hdf5.nodes import Nodes, path_of_file
from coquina.hdf5.sessions import Session, Stamp
from coquina.hdf5.untyped import h5fd, h5py
from coquina.remote import HDF5_AHEAD, RangeReader, local_path, new_path, reader_for

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina._core import Path

Mode = Literal["r", "r+", "a", "w", "x"]


class File(Group):
    """An HDF5 file. It is closed at the end of a `with` block; its datasets cannot be read from then on.

    path: a path, a file object for reading in binary mode, or a URL that fsspec knows, which is only read.
    mode: "r" to read; "r+" to change; "w" to make a new one in place of what is there; "x" the same, if there
        is none; "a" as "r+" or "x". A new file is written under another name in the same folder, and gets its
        own on `close` or `publish`; an exception in the `with` block removes it.
    libver: the oldest and the newest version of HDF5 whose structures may be written, as in h5py. Long
        datasets that grow along one axis are better off with ("v110", "v114").
    swmr: to read what another program writes. driver, locking, track_order, userblock_size, page_buf_size,
        fs_strategy, fs_page_size: as in h5py.

    Raises FileNotFoundError, FileExistsError, OSError, ValueError for a mode that does not exist.
    """

    __slots__ = ("_new",)

    def __init__(
        self,
        path: Path | BinaryIO | RangeReader,
        mode: Mode = "r",
        *,
        libver: str | tuple[str, str] | None = None,
        swmr: bool = False,
        driver: str | None = None,
        locking: bool | Literal["best-effort"] | None = None,
        track_order: bool | None = None,
        userblock_size: int | None = None,
        page_buf_size: int | None = None,
        fs_strategy: str | None = None,
        fs_page_size: int | None = None,
    ) -> None:
        """Open or make it."""
        if mode not in ("r", "r+", "a", "w", "x"):
            raise ValueError(f"mode {mode!r}: takes 'r', 'r+', 'a', 'w' or 'x'")
        options: dict[str, Any] = {
            "libver": libver,
            "swmr": swmr,
            "driver": driver,
            "locking": locking,
            "track_order": track_order,
            "userblock_size": userblock_size,
            "page_buf_size": page_buf_size,
            "fs_strategy": fs_strategy,
            "fs_page_size": fs_page_size,
        }
        options = {name: value for name, value in options.items() if value is not None}
        self._new: _NewFile | None = None
        if mode != "r" and isinstance(path, str):
            path = new_path(path)
        reader = reader_for(path)
        if reader is not None:
            super().__init__(*self._remote(reader, mode, options))
            return
        path = path if (local := local_path(path)) is None else local
        name = path_name(path)
        opened_ns = None
        if name is None:
            h5 = h5py.File(path, mode, **options)
        else:
            if mode == "a":
                mode = "r+" if os.path.exists(name) else "x"
            if mode in ("w", "x") and driver in (None, "sec2"):
                self._new = _NewFile(name, mode, options)
                h5 = self._new.h5
                finalize(self, self._new.forgotten)
            else:
                opened_ns = None if mode in ("w", "x") else _modified_ns(name)
                h5 = h5py.File(name, mode, **options)
        super().__init__(h5, Nodes(self, _session(h5, mode, opened_ns)))

    def _remote(self, reader: RangeReader, mode: str, options: dict[str, Any]) -> tuple[Any, Nodes]:
        if mode != "r":
            raise ValueError(f"{reader.url}: mode {mode!r}: what is far away can only be read")
        reader.ahead = HDF5_AHEAD
        h5 = h5py.File(reader.file(), "r", **options)
        reader.serves(place_of(h5.id)[0])
        return h5, Nodes(self, _session(h5, "r", None))

    @classmethod
    def of(cls, h5: Any) -> File:
        """Return the file that h5py has open."""
        self = cls.__new__(cls)
        self._new = None
        Group.__init__(self, h5, Nodes(self, Session.of(h5, raw="the file was opened by h5py")))
        return self

    @property
    def path(self) -> str | None:
        """The absolute path; None for a file in memory or of several parts."""
        if self._new is not None:
            return self._new.path
        return path_of_file(self._h5)

    @property
    def remote(self) -> RangeReader | None:
        """What reads a file that is far away, with counts of `requests` and `bytes_read`; else None."""
        return RangeReader.of_file(place_of(self._h5.id)[0]) if self else None

    @property
    def filename(self) -> str:
        """The name that it was opened by, or will have."""
        return self._h5.filename if self._new is None else self._new.path

    @property
    def mode(self) -> Literal["r", "r+"]:
        """Whether it can be read ("r") or also changed ("r+")."""
        return self._h5.mode

    @property
    def file(self) -> File:
        """The file itself."""
        return self

    def flush(self, *, durable: bool = False) -> None:
        """Hand all that was written to the system. durable: wait until the disk has it."""
        self._h5.flush()
        if durable:
            _sync_of(self._h5)

    def hold(self, node: Any, is_held: bool) -> None:
        """Keep a node until the file is closed, or no longer: one that has something left to write."""
        self._nodes.hold(node, is_held)

    def publish(self) -> None:
        """Give a new file its name now; it stays open. From then on it is as any other file."""
        if self._new is not None:
            self._new.publish()

    @contextmanager
    def filling(self) -> Generator[None]:
        """Put off `publish` until the end of the block: what begins there is one thing, all or nothing."""
        if self._new is None:
            yield
        else:
            with self._new.filling():
                yield

    def close(self) -> None:
        """Close the file and all of its nodes; a new file gets its name."""
        self._nodes.close()
        stamp = self._nodes.session.closing()
        try:
            if self._new is not None:
                self._new.finish(stamp)
            else:
                self._h5.close()
                if stamp is not None:
                    stamp.set()
        finally:
            if stamp is not None:
                stamp.close()

    def __enter__(self) -> File:
        """Return the file; it is closed at the end of the `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        """Close it; a new file that an exception interrupts is removed."""
        if kind is not None and self._new is not None:
            self._nodes.close()
            self._new.discard()
        else:
            self.close()

    def __repr__(self) -> str:
        """Say path and mode."""
        return f"<File {self.filename!r} ({self.mode})>" if self else "<File, closed>"


class _NewFile:
    """A file that is being made under another name."""

    def __init__(self, path: str, mode: str, options: dict[str, Any]) -> None:
        self.path = path
        self._replaces = mode == "w"
        if not self._replaces and os.path.lexists(path):
            raise FileExistsError(f"{path}: there is such a file")
        folder, name = os.path.split(path)
        self._made = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(4)}.part")
        self.h5 = h5py.File(self._made, "x", **options)
        self._is_published = False
        self._fillings = 0
        self._is_wanted = False

    def publish(self) -> None:
        """Give the file its name, once the disk has it."""
        if self._fillings:
            self._is_wanted = True
            return
        if self._is_published or not self.h5:
            return
        self.h5.flush()
        _sync_of(self.h5)
        self._rename()

    @contextmanager
    def filling(self) -> Generator[None]:
        """Give no name before the end of the block, and none if an exception ends it."""
        self._fillings += 1
        try:
            yield
        finally:
            self._fillings -= 1
        if self._is_wanted and not self._fillings:
            self.publish()

    def finish(self, stamp: Stamp | None = None) -> None:
        """Close the file and give it its name."""
        if not self.h5:
            return
        if self._is_published:
            self.h5.close()
            if stamp is not None:
                stamp.set()
            return
        try:
            self.h5.close()
            if stamp is not None:
                stamp.set()
            descriptor = os.open(self._made, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            self._rename()
        except BaseException:
            self._remove()
            raise

    def discard(self) -> None:
        """Close the file; without a name it is removed."""
        if not self.h5:
            return
        self.h5.close()
        if not self._is_published:
            self._remove()

    def forgotten(self) -> None:
        """Finish what nobody closed, as h5py does: nothing says that it failed."""
        if self.h5:
            warnings.warn(f"{self.path}: a new file was not closed", ResourceWarning, stacklevel=2)
            self.finish()

    def _rename(self) -> None:
        if self._replaces:
            os.replace(self._made, self.path)
        else:
            # Unlike a rename this fails if somebody else made such a file meanwhile.
            os.link(self._made, self.path)
            os.unlink(self._made)
        self._is_published = True
        sync_folder(os.path.dirname(self.path))

    def _remove(self) -> None:
        if os.path.lexists(self._made):
            os.unlink(self._made)


def _session(h5: Any, mode: str, opened_ns: int | None) -> Session:
    """Return the session of a file that was opened here."""
    # libhdf5 lets others read what h5py has open for writing here.
    raw = "h5py has the file open for writing" if mode == "r" and h5.mode != "r" else ""
    session = Session.of(h5, opened_ns)
    if raw and not session.is_ours:
        session = Session.of(h5, opened_ns, raw)
    session.enter(h5)
    return session


def _modified_ns(path: str) -> int | None:
    """Return the time of modification; None of what is not there."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def path_name(path: object) -> str | None:
    """Return the absolute path; None for a file object."""
    if isinstance(path, str):
        return os.path.abspath(path)
    return os.path.abspath(os.fspath(cast("Path", path))) if isinstance(path, os.PathLike) else None


def reopen(path: str | RangeReader, name: str) -> Any:
    """Open what a pickle refers to, for reading."""
    return File(path)[name]


def _sync_of(h5: Any) -> None:
    """Wait until the disk has what libhdf5 has handed over. Files that are not one on a disk have none."""
    if h5.id.get_access_plist().get_driver() == h5fd.SEC2:
        os.fsync(h5.id.get_vfd_handle())


def sync_folder(folder: str) -> None:
    """Wait until the disk has the names in a folder, where that can be asked for."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
