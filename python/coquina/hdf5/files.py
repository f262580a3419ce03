"""`File`: an HDF5 file, which is its root group.

In: a path, or what h5py can open. Out: a group, whose changes are commits.
Invariant: handles of one file in a process share one state; what one wrote, the others see.
"""

from __future__ import annotations

import atexit
import io
import os
from contextlib import contextmanager, nullcontext, suppress
from errno import ENOENT
from inspect import signature
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast
from weakref import finalize, ref

from coquina._core import UnsupportedError
from coquina.arrays.methods import given
from coquina.following import is_allowed
from coquina.hdf5.damage import told
from coquina.hdf5.describing import place_of
from coquina.hdf5.groups import Group
from coquina.hdf5.h5py_members import Member
from coquina.hdf5.new_files import NewFile, sync_file
from coquina.hdf5.nodes import Nodes, path_of_file
from coquina.hdf5.open_files import ClosedFile, OpenFile
from coquina.hdf5.sessions import Session
from coquina.hdf5.untyped import h5f, h5py
from coquina.keyword_hints import check_names, names_keywords
from coquina.remote import HDF5_AHEAD, RangeReader, local_path, new_path, reader_for

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina._core import Buffer, Path

#: All structures of HDF5 1.10 (2016) have checksums; those before have none, or none in lists of chunks.
LIBVER = ("v110", "latest")
#: The names of versions that h5py takes: "earliest", "latest", "v108" (which libhdf5 calls V18) and on.
_LIBVERS = sorted(
    name.removeprefix("LIBVER_").lower().replace("v18", "v108")
    for name in dir(h5f)
    if name.startswith("LIBVER_")
)
Mode = Literal["r", "r+", "a", "w", "x", "w-"]
#: Options of h5py's files that are none of a driver, and are passed on.
_H5PY_OPTIONS = {
    name: one for name, one in signature(h5py.File).parameters.items() if one.default is not one.empty
}


class File(Group):
    """An HDF5 file. Leaving its `with` block closes it, and its datasets with it.

    path: a path, a file object for reading in binary mode, or a URL that fsspec knows, which is read only.
    mode: "r": read only. "r+": read and write. "w": create a file, and replace an existing one. "x", "w-":
        create a file that must not exist. "a": "r+" if the file exists, otherwise "x". A new file is written
        under a temporary name and gets its own on `close` or `publish`; an exception in the `with` block
        removes it.
    wait: the number of seconds to wait if another process is writing to the file; without it, BlockingIOError
        is raised at once.
    durable: commits wait for the disk, so that they survive a power cut.
    journal: make changes as commits (`flush`, `close`, `transaction`), of which a killed process leaves the
        last one whole. False: libhdf5 writes in place, as SWMR needs.
    libver: the oldest and the newest version of HDF5 whose structures may be written, as in h5py; by default
        ("v110", "latest"), because these have checksums.
    allow_external: see `coquina.open`.
    swmr: read a file that another program is writing in SWMR mode. driver, locking, track_order,
        userblock_size, page_buf_size, fs_strategy, fs_page_size, and the options of a driver: as in h5py.

    Raises FileNotFoundError, FileExistsError, OSError, and ValueError for an unknown mode.

    >>> import numpy as np
    >>> import coquina as cq
    >>> with cq.hdf5.File("f.h5", "w") as f:
    ...     d = f.create_dataset("raw/x", data=np.arange(6).reshape(2, 3), filter="gzip")
    ...     d.attrs["unit"] = "counts"
    >>> with cq.hdf5.File("f.h5") as f:
    ...     print(f["raw/x"][1], f["raw/x"].attrs["unit"])
    [3 4 5] counts
    """

    __slots__ = ("_follows", "_forgotten", "_new", "_open")
    _follows: bool
    _new: NewFile | None
    _open: OpenFile | None

    @names_keywords
    def __init__(
        self,
        path: Path | BinaryIO | RangeReader,
        mode: Mode = "r",
        *,
        wait: float | None = None,
        durable: bool = False,
        journal: bool = True,
        libver: str | tuple[str, str] | None = None,
        swmr: bool = False,
        driver: str | None = None,
        locking: bool | Literal["best-effort"] | None = None,
        track_order: bool | None = None,
        userblock_size: int | None = None,
        page_buf_size: int | None = None,
        fs_strategy: str | None = None,
        fs_page_size: int | None = None,
        allow_external: bool | None = None,
        **driver_options: Any,
    ) -> None:
        """Open or make it."""
        if mode == "w-":
            mode = "x"
        if mode not in ("r", "r+", "a", "w", "x"):
            raise ValueError(f"mode {mode!r}: takes 'r', 'r+', 'a', 'w' or 'x'")
        if driver_options and driver is None:
            check_names(File.__init__, driver_options, _H5PY_OPTIONS)
        if userblock_size is not None and mode in ("r", "r+"):
            raise ValueError(f"userblock_size: takes a new file, not mode {mode!r}")
        if libver is not None:
            _check_libver(libver)
        options = given(
            libver=LIBVER if libver is None and mode != "r" else libver,
            driver=driver,
            locking=locking,
            track_order=track_order,
            userblock_size=userblock_size,
            page_buf_size=page_buf_size,
            fs_strategy=fs_strategy,
            fs_page_size=fs_page_size,
            **driver_options,
        )
        if swmr:
            options["swmr"] = True
        self._new = self._open = None
        if mode != "r" and isinstance(path, str):
            path = new_path(path)
        reader = None if mode != "r" and _is_writable(path) else reader_for(path)
        if reader is not None:
            super().__init__(*self._remote(reader, mode, options))
            return
        path = path if (local := local_path(path)) is None else local
        is_object = mode == "r" and driver is None and not isinstance(path, str)
        if is_object and (found := _path_of_open(path)) is not None:
            # Its journal may have commits that its bytes do not have yet.
            path = found
        name = path_name(path)
        if mode == "a" and name is not None:
            mode = "r+" if os.path.exists(name) else "x"
        self._follows = is_allowed(allow_external)
        commits = journal and not swmr and driver in (None, "sec2") and os.name == "posix"
        if durable and not commits:
            raise UnsupportedError("durable: takes a file on a disk, opened with its journal")
        if name is not None and mode in ("w", "x") and driver in (None, "sec2"):
            self._make(NewFile(name, mode, options, commits=commits, durable=durable, wait=wait))
        elif name is not None and commits and os.path.isfile(name):
            if mode == "r":
                self._read(name, options)
            else:
                self._write(name, options, durable, wait)
        elif name is not None and driver in (None, "sec2") and not os.path.lexists(name):
            raise FileNotFoundError(ENOENT, "there is no such file", name)
        else:
            self._share_with_h5py(path if name is None else name, mode, options)

    def _read(self, name: str, options: dict[str, Any]) -> None:
        """Open a file below h5py for reading."""
        opened_ns = _modified_ns(name)
        try:
            found = OpenFile.reading(name, options)
        except BlockingIOError as error:
            self._share_what_h5py_has(name, "r", options, error)
        else:
            self._begin(found, "r", opened_ns)

    def _write(self, name: str, options: dict[str, Any], durable: bool, wait: float | None) -> None:
        """Open a file below h5py for writing, or be another handle of one that is open so."""
        opened_ns = _modified_ns(name)
        block = options.pop("userblock_size", None)
        try:
            found, is_known = OpenFile.writing(name, options, durable=durable, wait=wait)
        except BlockingIOError as error:
            self._share_what_h5py_has(name, "r+", options, error)
            return
        nodes = found.nodes() if is_known and found.nodes is not None else None
        if nodes is None:
            self._begin(found, "r+", opened_ns)
        else:
            self._adopt(found, nodes)
        if block is not None and block != (known := self.userblock_size):
            self.close()
            raise ValueError(f"userblock_size {block}: {name} has one of {known} bytes")

    def _make(self, new: NewFile) -> None:
        self._new = new
        if new.open_file is None:
            session = _session(new.h5, "x", None)
            super().__init__(new.h5, Nodes(self, session, follows=self._follows))
        else:
            self._begin(new.open_file, "x", None)
        self._forgotten = finalize(self, new.forgotten)

    def _share_with_h5py(self, path: Any, mode: str, options: dict[str, Any]) -> None:
        is_there = isinstance(path, str) and mode not in ("w", "x")
        opened_ns = _modified_ns(path) if is_there else None
        h5 = h5py.File(path, mode, **options)
        with told(h5):
            session = _session(h5, mode, opened_ns)
            super().__init__(h5, Nodes(self, session, follows=self._follows))

    def _share_what_h5py_has(self, path: str, mode: str, options: dict[str, Any], error: OSError) -> None:
        """Open a file that h5py has open for writing in this process, which libhdf5 allows; else raise."""
        try:
            self._share_with_h5py(path, mode, options)
        except OSError:
            raise error from None

    def _begin(self, found: OpenFile, mode: str, opened_ns: int | None) -> None:
        """Be the first handle of an open file."""
        with told(found.h5):
            nodes = Nodes(self, _session(found.h5, mode, opened_ns), follows=self._follows)
        found.nodes = ref(nodes)
        nodes.open_file = found
        self._adopt(found, nodes)

    def _adopt(self, found: OpenFile, nodes: Nodes) -> None:
        """Be a handle of an open file."""
        self._open = found
        super().__init__(found.h5, nodes)
        nodes.handles[id(self)] = self
        if self._new is None:
            self._forgotten = finalize(self, found.forgotten)

    def _remote(self, reader: RangeReader, mode: str, options: dict[str, Any]) -> tuple[Any, Nodes]:
        if mode != "r":
            raise ValueError(f"{reader.url}: mode {mode!r}: remote files can only be read")
        reader.ahead = HDF5_AHEAD
        h5 = h5py.File(reader.file(), "r", **options)
        reader.serves(place_of(h5.id)[0])
        return h5, Nodes(self, _session(h5, "r", None))

    @classmethod
    def of(cls, h5: Any) -> File:
        """Return the file that h5py has open.

        >>> import coquina as cq
        >>> import h5py
        >>> with h5py.File("f.h5", "w") as theirs:
        ...     theirs["x"] = [1, 2]
        ...     print(cq.hdf5.File.of(theirs)["x"][:])
        [1 2]
        """
        self = cls.__new__(cls)
        self._new = self._open = None
        Group.__init__(self, h5, Nodes(self, Session.of(h5, raw="the file was opened by h5py")))
        return self

    @property
    def path(self) -> str | None:
        """The absolute path; None for a file in memory or of several parts."""
        if self._new is not None:
            return self._new.path
        return path_of_file(self._h5) if self._open is None else self._open.path

    @property
    def remote(self) -> RangeReader | None:
        """The reader of a file behind a URL, with counts of `requests` and `bytes_read`; else None."""
        return RangeReader.of_file(place_of(self._h5.id)[0]) if self else None

    @property
    def filename(self) -> str:
        """The name that it was opened by, or will have."""
        return self._h5.filename if self._new is None else self._new.path

    @property
    def driver(self) -> str:
        """The driver of libhdf5 that the file was opened with: "sec2" for a path; see h5py."""
        found = self._h5.driver
        # A file with a journal is a file object to libhdf5.
        return "sec2" if found == "fileobj" and self._open is not None else found

    libver = Member("The oldest and the newest version of HDF5 whose structures are written.")
    userblock_size = Member("Bytes before the HDF5 file in its file.")
    meta_block_size = Member("Bytes of a block of metadata.")

    @classmethod
    def in_memory(cls, file_image: Buffer | None = None, **options: Any) -> File:
        """Return a file that is only in memory: a new one, or one with these bytes; see h5py.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f["x"] = [1, 2]
        >>> f["x"][:]
        array([1, 2])
        """
        return cls.of(h5py.File.in_memory(file_image, **options))

    @property
    def swmr_mode(self) -> bool:
        """Whether others may read it while libhdf5 writes it in place; can be set if it has no journal."""
        return self._h5.swmr_mode

    @swmr_mode.setter
    def swmr_mode(self, is_on: bool) -> None:
        if is_on and self.commits:
            raise UnsupportedError(
                "swmr_mode: open the file with journal=False to write it in SWMR mode; "
                "with a journal, readers see every commit without it"
            )
        if is_on:
            # Nobody finds a new file by its name before.
            self.publish()
        self._h5.swmr_mode = is_on

    @property
    def mode(self) -> Literal["r", "r+"]:
        """Whether it can be read ("r") or also changed ("r+")."""
        return self._h5.mode

    @property
    def file(self) -> File:
        """The file itself."""
        return self

    def flush(self, *, durable: bool = False) -> None:
        """Commit all changes, including rows of tables that were waiting in memory.

        durable: wait for the disk, so that the commit survives a power cut. Within a transaction nothing is
            committed before its end. Raises OSError if the disk is full or fails: the file then holds the
            previous commit, and the changes stay in memory, so that `flush` can be called again.

        >>> import coquina as cq
        >>> with cq.hdf5.File("f.h5", "w") as f:
        ...     f["x"] = [1, 2]
        ...     f.flush()
        """
        self._nodes.flush()
        self.commit(durable=durable)

    def commit(self, *, durable: bool = False) -> None:
        """Commit what was handed over to the file: without rows that still wait in memory.

        >>> import coquina as cq
        >>> with cq.hdf5.File("f.h5", "w") as f:
        ...     f["x"] = [1, 2]
        ...     f.commit()
        """
        if self._open is not None:
            self._open.commit(durable=durable)
            return
        self._h5.flush()
        if durable:
            sync_file(self._h5)

    @property
    def commits(self) -> bool:
        """Whether changes are commits, with a journal, as in files on a disk."""
        return self._open is not None and self._open.is_writable

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Generator[File]:
        """Return a context manager that makes all changes within it one commit.

        durable: the commit waits for the disk.

        The commit covers data, tables, indexes and attributes. Earlier changes are committed first. An
        exception rolls the changes back: tables and groups show the previous state, and datasets taken from
        the file are closed. A transaction within another one is part of it.

        Raises UnsupportedError for a file without a journal, ValueError for a file opened for reading.

        >>> import coquina as cq
        >>> with cq.hdf5.File("f.h5", "w") as f:
        ...     with f.transaction():
        ...         f["x"], f["y"] = [1, 2], [3]
        ...     print(list(f))
        ['x', 'y']
        """
        found = self._committing("transaction")
        self._nodes.flush()
        found.begin()
        try:
            yield self
            self._nodes.flush()
        except BaseException:
            self._undo(found)
            raise
        try:
            found.end(durable=durable)
        except BaseException:
            self._undo(found)
            raise

    def _undo(self, found: OpenFile) -> None:
        """Go back to the last commit; a sync that failed has closed the file, and nothing is left to undo."""
        if found.h5:
            self.rollback()

    def rollback(self) -> None:
        """Go back to the last commit. Tables and groups show that; datasets are closed: open them again.

        Raises UnsupportedError for a file without commits, ValueError for one that is only read.

        >>> import coquina as cq
        >>> with cq.hdf5.File("f.h5", "w") as f:
        ...     f["x"] = [1, 2]
        ...     f.publish()
        >>> with cq.hdf5.File("f.h5", "r+") as f:
        ...     f["y"] = [3]
        ...     f.rollback()
        ...     print(list(f))
        ['x']
        """
        found = self._committing("rollback")
        if self._new is not None and not self._new.is_published:
            raise ValueError(f"{self.filename}: a new file has no commit before `flush` or `close`")
        self._nodes.reopen(found.give_up, lambda: _session(found.h5, "r+", None))

    def refresh(self) -> bool:
        """Show the last commit of a file opened for reading; return whether there was a newer one.

        Tables and groups show the new state; datasets that were taken from the file are closed and must be
        taken again. All reads between two calls see one commit, even while another process writes.

        >>> import coquina as cq
        >>> cq.hdf5.File("f.h5", "w").close()
        >>> with cq.hdf5.File("f.h5") as f:
        ...     changed = f.refresh()
        """
        found = self._open
        if found is None or found.is_writable or not found.is_stale:
            return False
        self._nodes.reopen(found.read_anew, lambda: _session(found.h5, "r", _modified_ns(found.path)))
        return True

    def _committing(self, verb: str) -> OpenFile:
        if self._open is None:
            raise UnsupportedError(f"{verb}: takes a file on a disk, opened with its journal")
        if not self._open.is_writable:
            raise ValueError(f"{self.filename}: the file is open for reading only; open it with mode 'r+'")
        return self._open

    def hold(self, node: Any, is_held: bool) -> None:
        """Keep a node until the file is closed, or no longer: one that has something left to write."""
        self._nodes.hold(node, is_held)

    def publish(self) -> None:
        """Give a new file its name now. The file stays open.

        >>> import coquina as cq
        >>> with cq.hdf5.File("f.h5", "w") as f:
        ...     f["x"] = [1, 2]
        ...     f.publish()
        """
        if self._new is not None:
            self._new.publish()

    @property
    def is_shared(self) -> bool:
        """Whether other handles of this process share the file, which go on when this one is closed."""
        return len(self._nodes.handles) > 1

    @contextmanager
    def filling(self) -> Generator[None]:
        """Put off `publish`, and commits, until the end of the block: what begins there is all or nothing."""
        with nullcontext() if self._new is None else self._new.filling():
            if self.commits and self._open is not None:
                with self._open.one_commit():
                    yield
            else:
                yield

    def close(self) -> None:
        """Commit, and close the file and all of its nodes; a new file gets its name.

        Where other handles of this process share the file, they go on, and the last one closes it. Raises
        OSError if the last changes cannot be written: the file is at the commit before.

        >>> import coquina as cq
        >>> f = cq.hdf5.File("f.h5", "w")
        >>> f.close()
        >>> bool(f)
        False
        """
        if self._is_closed:
            return
        if self.is_shared:
            self._nodes.flush()
            self.commit()
            self._leave()
            return
        self._nodes.close()
        stamp = self._nodes.session.closing()
        try:
            if self._new is not None:
                self._new.finish(stamp)
            elif self._open is not None:
                if self._open.close() and stamp is not None:
                    stamp.set()
            else:
                self._h5.close()
                if stamp is not None:
                    stamp.set()
        finally:
            if stamp is not None:
                stamp.close()

    def _leave(self) -> None:
        """Be closed, while others share the file."""
        self._nodes.handles.pop(id(self), None)
        if self._open is not None:
            self._forgotten.detach()
            self._open.release()
        if self._nodes.file is self:
            self._nodes.file = next(iter(self._nodes.handles.values()))
            self._nodes.file.take_over(self)
        self._new = None
        self._h5 = ClosedFile()

    @property
    def _is_closed(self) -> bool:
        """Whether this handle is; who closes h5py's file alone leaves what was written to be committed."""
        is_left = id(self) not in self._nodes.handles
        return not self if self._open is None else is_left or self._open.is_closed

    @property
    def below(self) -> Any:
        """h5py's file as it is open now, also after a rollback; like `h5`, it may write past us."""
        self._nodes.session.hand_out()
        return self._h5 if self._open is None else self._open.h5

    def take_over(self, other: File) -> None:
        """Finish the new file that another handle made."""
        self._new = other._new

    def __enter__(self) -> File:
        """Return the file; it is closed at the end of the `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        """Close it; a new file that an exception interrupts is removed."""
        if kind is not None and self._open is not None and not self._open.is_ours:
            # A process that was forked within the block, and ends.
            return
        if kind is not None and self._new is not None:
            self._nodes.close()
            self._new.discard()
        else:
            self.close()

    def __repr__(self) -> str:
        """Say path and mode."""
        return f"<File {self.filename!r} ({self.mode})>" if self else "<File, closed>"


def _is_writable(path: Any) -> bool:
    """Whether it is a file object that h5py can write to by its methods."""
    writable = getattr(path, "writable", None)
    return callable(writable) and hasattr(path, "truncate") and bool(writable())


@atexit.register
def _close_remote_files() -> None:
    """Close remote files that a thread still holds: after Python has ended, libhdf5 would crash in h5py."""
    for fid in h5f.get_obj_ids(h5f.OBJ_ALL, h5f.OBJ_FILE):
        if RangeReader.of_file(place_of(fid)[0]) is not None:
            with suppress(Exception):
                h5py.File(fid).close()


def nodes_for(h5: Any) -> Nodes:
    """Return the nodes of the file of an object that h5py has open, for this and what is asked by it."""
    return Nodes(File.of(h5.file), Session.at(h5)[0])


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


def _path_of_open(file: object) -> str | None:
    """Return the path of an open file of the file system; None if it does not lead there any more."""
    name: Any = getattr(file, "name", None)
    if not isinstance(file, io.BufferedIOBase | io.FileIO) or not isinstance(name, str | bytes):
        return None
    try:
        is_there = os.path.samestat(os.fstat(file.fileno()), os.stat(name))
    except (OSError, ValueError):
        return None
    return os.fsdecode(name) if is_there else None


def _check_libver(libver: Any) -> None:
    """Raise ValueError for what is no version, and no pair of two."""
    versions = cast("tuple[Any, ...]", libver if isinstance(libver, tuple) else (libver,))
    if len(versions) > 2 or not all(map(_LIBVERS.__contains__, versions)):
        names = ", ".join(map(repr, _LIBVERS))
        raise ValueError(f"libver {libver!r}: takes {names}, or a tuple of two")


def path_name(path: object) -> str | None:
    """Return the absolute path; None for a file object."""
    if isinstance(path, str):
        return os.path.abspath(path)
    return os.path.abspath(os.fspath(cast("Path", path))) if isinstance(path, os.PathLike) else None
