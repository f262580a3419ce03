"""What a file is below h5py: whose changes are commits, and which handles of this process share it.

In: paths. Out: h5py files over a file object of ours, which keeps changed pages aside until a commit, or over
libhdf5's own driver where nothing is to be kept aside.
Source: docs/formats/journal.md.
Invariant: a path that is open for writing is open once in a process; all handles of it share one `OpenFile`.
"""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import ReferenceType, WeakSet, WeakValueDictionary

from coquina._core import CorruptError, JournaledFile, SoleWriter, TruncatedError
from coquina.hdf5.untyped import h5f, h5fd, h5g, h5p, h5py
from coquina.locks import NodeLock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from coquina.hdf5.nodes import Nodes

_File: Any = h5py.File
#: What h5py takes only where it makes a file.
_OF_NEW_FILES = ("track_order", "userblock_size", "fs_strategy", "fs_page_size")


class CommittingFile(_File):
    """h5py's file; `flush` is a commit, as it is of our own handles."""

    open_file: OpenFile | None = None

    def flush(self) -> None:
        """Commit all that was written."""
        if self.open_file is None:
            _File.flush(self)
        else:
            self.open_file.commit()


class ClosedFile:
    """What a handle has in place of h5py's file, once it is closed and others go on, or by an error."""

    def __bool__(self) -> bool:
        """Return False."""
        return False

    def __getattr__(self, name: str) -> Any:
        """Raise ValueError."""
        raise ValueError("the file is closed")

    def __getitem__(self, name: str) -> Any:
        """Raise ValueError."""
        return self.__getattr__(name)

    def __contains__(self, name: str) -> bool:
        """Raise ValueError."""
        return self.__getattr__(name)


@dataclass(frozen=True)
class Properties:
    """What a new file is made with: libhdf5's property list, and the oldest version that has to read it."""

    created: Any
    oldest: int


class OpenFile:
    """An HDF5 file that is open in this process.

    h5: h5py's file. journaled: the file object below it; None where libhdf5 has the file itself, or where
    the file alone is at the commit that is read (then `held` keeps it so). writer: tells the engine as long
    as only this package writes to `h5`. holders: how many handles share it. nodes: what they all know of its
    groups and datasets, as long as there is a handle.
    """

    _writable: ClassVar[WeakValueDictionary[tuple[int, int], OpenFile]] = WeakValueDictionary()
    _by_number: ClassVar[WeakValueDictionary[int, OpenFile]] = WeakValueDictionary()
    _reading: ClassVar[WeakSet[OpenFile]] = WeakSet()
    _lock: ClassVar[NodeLock] = NodeLock()

    def __init__(self, path: str, options: Mapping[str, Any], *, durable: bool = False) -> None:
        """Nothing is open yet; see `reading`, `writing` and `making`."""
        self.path = path
        self.options = dict(options)
        self.durable = durable
        self.journaled: JournaledFile | None = None
        self.held: JournaledFile | None = None
        self.h5: Any = None
        self.writer = SoleWriter()
        self.nodes: ReferenceType[Nodes] | None = None
        self.holders = 1
        self._process = os.getpid()
        self._depth = 0
        self._wants_durable = False
        self._identity: tuple[int, int] | None = None
        self._is_for_writing = False
        self.is_closed = False

    @classmethod
    def reading(cls, path: str, options: Mapping[str, Any]) -> OpenFile:
        """Open the last commit of a file, whether or not somebody writes to it."""
        self = cls(path, options)
        self._read()
        cls._reading.add(self)
        return self

    def _read(self) -> None:
        found = JournaledFile.read_only(self.path, locking=self._has_locks)
        try:
            if found.is_plain:
                self.held = found
                self.h5 = h5py.File(self.path, "r", **self.options)
            else:
                self.journaled = found
                self._open_h5("r")
        except BaseException as error:
            found.close()
            _raise_if_damaged(self.path, error)
            raise

    @property
    def _has_locks(self) -> bool:
        return self.options.get("locking") is not False

    @classmethod
    def writing(
        cls, path: str, options: Mapping[str, Any], *, durable: bool, wait: float | None
    ) -> tuple[OpenFile, bool]:
        """Open a file to change it, or return what this process has open already, and whether it is that.

        Raises BlockingIOError if another process writes to it, for longer than `wait` seconds.
        """
        with cls._lock:
            known = cls._writable.get(_identity(path))
            if known is not None and known.h5:
                known.holders += 1
                return known, True
            self = cls(path, options, durable=durable)
            self.journaled = JournaledFile.open(path, locking=self._has_locks, wait=wait or 0.0)
            try:
                self._open_h5("r+")
            except BaseException as error:
                self.journaled.close()
                _raise_if_damaged(path, error)
                raise
            self._register()
            return self, False

    @classmethod
    def making(
        cls,
        path: str,
        part: str,
        options: Mapping[str, Any],
        *,
        durable: bool,
        wait: float | None,
        properties: Properties | None = None,
    ) -> OpenFile:
        """Make a file that is written as `part` until it is published.

        Raises BlockingIOError if another process writes to the file of this name, for longer than `wait`
        seconds.
        """
        self = cls(path, options, durable=durable)
        locking = self._has_locks
        self.journaled = JournaledFile.create(path, part, locking=locking, wait=wait or 0.0)
        try:
            if properties is None:
                self._open_h5("x")
            else:
                self._show(self._made_with(properties))
        except BaseException:
            self.journaled.close()
            os.unlink(part)
            raise
        return self

    def _made_with(self, properties: Properties) -> CommittingFile:
        access = h5p.create(h5p.FILE_ACCESS)
        access.set_libver_bounds(properties.oldest, h5f.LIBVER_LATEST)
        access.set_fclose_degree(h5f.CLOSE_STRONG)
        access.set_fileobj_driver(h5fd.fileobj_driver, self.journaled)
        name = os.fsencode(self.path)
        return CommittingFile(h5f.create(name, h5f.ACC_TRUNC, properties.created, access))

    def _open_h5(self, mode: str) -> None:
        if self.journaled is not None:
            self.journaled.opened(None)
        left_out = ("driver", "locking") if mode == "x" else ("driver", "locking", *_OF_NEW_FILES)
        made = CommittingFile(
            self.path,
            # The file is there, and empty where it is made.
            "w" if mode == "x" else mode,
            driver="fileobj",
            fileobj=self.journaled,
            **{name: value for name, value in self.options.items() if name not in left_out},
        )
        self._show(made, is_for_writing=mode != "r")

    def _show(self, h5: Any, *, is_for_writing: bool = True) -> None:
        """Have h5py's file from now on."""
        self.h5 = h5
        self.writer = SoleWriter()
        self._is_for_writing = is_for_writing
        if is_for_writing:
            h5.open_file = self
        if self.journaled is not None:
            self.journaled.opened(h5.userblock_size)
        self._by_number[_number_of(h5)] = self

    def _register(self) -> None:
        self._identity = _identity(self.path)
        self._writable[self._identity] = self

    @classmethod
    def of(cls, h5: Any) -> OpenFile | None:
        """Return what is below a file of h5py, if it is one of these."""
        return cls.at(_number_of(h5))

    @classmethod
    def at(cls, number: int) -> OpenFile | None:
        """Return what is below a file of libhdf5's, by its number, if it is one of these."""
        found = cls._by_number.get(number)
        return found if found is not None and found.journaled is not None else None

    @classmethod
    def is_below(cls, number: int) -> bool:
        """Whether a file of libhdf5's, by its number, is one of these whose changed pages are kept aside."""
        return cls.journaled_of(number) is not None

    @classmethod
    def journaled_of(cls, number: int) -> JournaledFile | None:
        """Return the file object below a file of libhdf5's, by its number."""
        found = cls._by_number.get(number)
        return None if found is None else found.journaled

    @property
    def is_simple(self) -> bool | None:
        """Whether libhdf5 reads the file by its own driver of files; None if it has to be asked."""
        if self.held is None:
            return None if self.journaled is None else False
        return True if self.options.get("driver") == "sec2" or _reads_files() else None

    @property
    def is_writable(self) -> bool:
        """Whether changes are commits."""
        return self.journaled is not None and self._is_for_writing

    def complete(self) -> None:
        """Have all that was written in a file that has no name yet, for whoever looks at it."""
        assert self.journaled is not None
        _File.flush(self.h5)
        self.journaled.commit()

    def publish(self, rename: Callable[[], None]) -> None:
        """Make what was written the first commit, and give the file its name by `rename`."""
        assert self.journaled is not None
        _File.flush(self.h5)
        self.journaled.publish()
        rename()
        with self._lock:
            self._register()

    def commit(self, *, durable: bool = False) -> None:
        """Make all that was written a commit. Within a transaction its end does.

        Raises OSError if the disk is full or fails: the file is at the last commit then, and what was written
        since is there to be committed again.
        """
        durable = durable or self.durable
        if self._depth:
            self._wants_durable |= durable
            return
        _File.flush(self.h5)
        if self.journaled is None:
            return
        try:
            self.journaled.commit(durable=durable)
        except OSError:
            if self.journaled.is_stopped:
                self._show_closed()
            raise

    def _show_closed(self) -> None:
        """Close what libhdf5 has: what it wrote since the last commit is not kept."""
        self._close_h5()
        nodes = None if self.nodes is None else self.nodes()
        for handle in [] if nodes is None else list(nodes.handles.values()):
            handle.show(ClosedFile())

    def begin(self) -> None:
        """Begin a transaction, in another one if there is one; what was written before it is committed."""
        if not self._depth:
            self.commit()
        self._depth += 1

    def end(self, *, durable: bool) -> None:
        """End the transaction; the outermost commits."""
        self._wants_durable |= durable
        # A rollback within the block has ended all transactions that were open.
        self._depth = max(0, self._depth - 1)
        if not self._depth:
            durable, self._wants_durable = self._wants_durable, False
            self.commit(durable=durable)

    @contextmanager
    def one_commit(self) -> Generator[None]:
        """Put off commits until the end of the block; an exception that ends it commits nothing."""
        self._depth += 1
        try:
            yield
        except BaseException:
            self._depth = max(0, self._depth - 1)
            raise
        self.end(durable=False)

    def give_up(self) -> Any:
        """Go back to the last commit, close h5py's objects, open the file anew and return h5py's file."""
        assert self.journaled is not None
        self._depth, self._wants_durable = 0, False
        self._close_h5()
        try:
            self.journaled.rollback()
            self._open_h5("r+")
        except BaseException:
            self._show_closed()
            raise
        return self.h5

    @property
    def is_stale(self) -> bool:
        """Whether there is a later commit than the one that is read."""
        found = self.journaled or self.held
        return found is not None and not self.is_writable and found.is_stale()

    def read_anew(self) -> Any:
        """Open the last commit in place of the one that is read, and return h5py's file."""
        self._close_h5()
        for one in (self.journaled, self.held):
            if one is not None:
                one.close()
        self.journaled = self.held = None
        self._read()
        return self.h5

    def release(self) -> bool:
        """Let go of one handle; the last one closes the file. As `close`."""
        with self._lock:
            self.holders -= 1
            if self.holders or self.is_closed:
                return False
        return self.close()

    @property
    def is_ours(self) -> bool:
        """Whether this process opened it: one that was forked since has nothing to commit."""
        return self._process == os.getpid()

    def forgotten(self) -> None:
        """Let go of a handle that nobody closed."""
        if self.is_ours:
            self.release()

    def close(self) -> bool:
        """Commit and close the file; whether the file alone is at the last commit, without its journal.

        Raises OSError if that cannot be written: then the file is at the commit before.
        """
        with self._lock:
            if self._identity is not None and self._writable.get(self._identity) is self:
                del self._writable[self._identity]
        self.is_closed = True
        self._reading.discard(self)
        self._close_h5()
        if self.journaled is None:
            return self.held is None or self.held.close()
        try:
            # One that an error has closed has said so.
            if self._is_for_writing and not self._depth and not self.journaled.is_stopped:
                self.journaled.commit(durable=self.durable)
        finally:
            is_settled = self.journaled.close()
        if not is_settled and any(one.path == self.path for one in list(self._reading)):
            # Readers that nobody holds any more, in circles: the last one brings the journal into the file.
            gc.collect()
        return is_settled

    def _close_h5(self) -> None:
        # What was decoded of it is not to be shown any more.
        self.writer.end()
        if self.h5:
            _File.close(self.h5)

    def discard(self) -> None:
        """Close the file, and forget what was not committed."""
        if self.journaled is not None:
            self.journaled.stop("it was given up")
        self._close_h5()
        if self.journaled is not None:
            self.journaled.close()


@contextmanager
def last_commit(path: str) -> Generator[Any]:
    """Open the last commit of a file for h5py, with what its journal has."""
    found = OpenFile.reading(path, {})
    try:
        yield found.h5
    finally:
        found.close()


@cache
def _reads_files() -> bool:
    """Whether libhdf5's default driver is that of files; HDF5_DRIVER in the environment names another one."""
    return h5p.create(h5p.FILE_ACCESS).get_driver() == h5fd.SEC2


def _number_of(h5: Any) -> int:
    """Return libhdf5's number of an open file; another one each time it is opened."""
    return h5g.get_objinfo(h5.id, b".").fileno[0]


def link_access() -> Any:
    """Return by what links are followed: external ones by libhdf5's own driver, not by that of the file."""
    if not _LINK_ACCESS:
        access, found = h5p.create(h5p.FILE_ACCESS), h5p.create(h5p.LINK_ACCESS)
        access.set_fclose_degree(h5f.CLOSE_STRONG)
        found.set_elink_fapl(access)
        _LINK_ACCESS.append(found)
    return _LINK_ACCESS[0]


_LINK_ACCESS: list[Any] = []


def external_access(
    file: Any,
    elink_mode: str | None = None,
    elink_swmr: bool | None = None,
    elink_locking: bool | str | None = None,
) -> Any:
    """Return by what an external link of a file of h5py's is followed, by the options of h5py's `get`.

    Raises ValueError for a mode that the file itself does not allow.
    """
    mode = file.mode if elink_mode is None else elink_mode
    is_swmr = file.swmr_mode if elink_swmr is None else elink_swmr
    if mode not in ("r", "r+") or (mode == "r+" and file.mode == "r"):
        raise ValueError(f"elink_mode {mode!r}: the file is open with mode {file.mode!r}; takes 'r'")
    if file.mode == "r+" and file.swmr_mode and not (mode == "r+" and is_swmr):
        raise ValueError("elink_mode, elink_swmr: a file in SWMR mode opens external links in SWMR mode too")
    access, found = h5p.create(h5p.FILE_ACCESS), h5p.create(h5p.LINK_ACCESS)
    if elink_locking is not None:
        access.set_file_locking(bool(elink_locking), elink_locking == "best-effort")
    found.set_elink_fapl(access)
    if elink_mode is not None or elink_swmr is not None:
        flags = {"r": (h5f.ACC_RDONLY, h5f.ACC_SWMR_READ), "r+": (h5f.ACC_RDWR, h5f.ACC_SWMR_WRITE)}[mode]
        found.set_elink_acc_flags(flags[0] | (flags[1] if is_swmr else 0))
    return found


def _raise_if_damaged(path: str, error: BaseException) -> None:
    """Raise TruncatedError or CorruptError for what libhdf5 says of a file that was cut or changed."""
    if not isinstance(error, OSError):
        return
    for words, kind in (("truncated file", TruncatedError), ("checksum", CorruptError)):
        if words in str(error):
            raise kind(f"{path}: {error}; `coquina recover` saves what is there") from error


def _identity(path: str) -> tuple[int, int]:
    """Return by which numbers the system knows a file."""
    found = os.stat(path)
    return found.st_dev, found.st_ino
