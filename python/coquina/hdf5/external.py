"""Data outside of an HDF5 file that the file names: external raw storage, virtual datasets, external links.

In: objects of h5py. Out: nothing, or UnsupportedError where a stranger's file would have another file of the
user read. What lies beside the file, in its folder or below, is followed; symbolic links are resolved first.
Invariant: no item of a dataset is read from a place that was not looked at; names and attributes always are.
"""

from __future__ import annotations

import glob
import os
import re
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from coquina._core import JournaledFile, UnsupportedError
from coquina.following import check_path
from coquina.hdf5.open_files import OpenFile
from coquina.hdf5.places import Placed
from coquina.hdf5.untyped import h5d, h5i, h5py

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina.hdf5.nodes import Nodes

_DEPTH_MAX = 16


def check_dataset(dataset: Any, plist: Any) -> None:
    """Raise UnsupportedError if items of a dataset of h5py are in files that are not beside its own.

    plist: the properties that it was created with.
    """
    if _may_be_outside(plist):
        _check(dataset, _folder_of(dataset.file), 0)


def _may_be_outside(plist: Any) -> bool:
    """Whether items of a dataset may be in other files; those of most are not."""
    layout = plist.get_layout()
    return layout == h5d.VIRTUAL or (layout == h5d.CONTIGUOUS and plist.get_external_count() > 0)


def check_linked(own: Any, object: Any) -> None:
    """Raise UnsupportedError if another file, to which a link led from h5py's `own`, is not beside it."""
    check_path(_folder_of(own), object.file.filename, f"{object.name}: an external link")


def file_name(oid: Any) -> str:
    """Return the path of the file of a low-level object of h5py."""
    return os.fsdecode(h5i.get_file_id(oid).name)


def has_journal(path: str) -> bool:
    """Whether a journal stands beside a file: somebody writes to it, or was killed."""
    try:
        return os.path.exists(JournaledFile.journal_of(path))
    except OSError:
        return False


def complete(path: str) -> None:
    """Bring what a kill left in the journal of a file into it, for libhdf5, which reads the file alone.

    While somebody has the file open, it stays at an earlier commit. Raises CorruptError if the journal is not
    of this state of the file.
    """
    with suppress(BlockingIOError):
        JournaledFile.read_only(path).close()


def complete_sources(dataset: Any) -> None:
    """Do so for the files that a dataset of h5py is put together of, if it is a virtual one."""
    if dataset.id.get_create_plist().get_layout() != h5d.VIRTUAL:
        return
    names = {source.file_name for source in dataset.virtual_sources()} - {"."}
    for path in {path for name in names for path in _places_of_source(dataset, name)}:
        if has_journal(path):
            complete(path)


def _check(dataset: Any, folder: str | None, depth: int) -> None:
    layout = dataset.id.get_create_plist().get_layout()
    if layout == h5d.CONTIGUOUS:
        for name, _, _ in dataset.external or ():
            for path in _places_of_raw(dataset, name):
                check_path(folder, path, f"{dataset.name}: external storage")
    if layout != h5d.VIRTUAL:
        return
    if depth > _DEPTH_MAX:
        raise UnsupportedError(f"{dataset.name}: virtual datasets of virtual datasets, {depth} deep")
    for source in dataset.virtual_sources():
        paths = [dataset.file.filename]
        if source.file_name != ".":
            paths = _places_of_source(dataset, source.file_name)
        for path in paths:
            check_path(folder, path, f"{dataset.name}: a virtual dataset")
            _check_source(path, dataset, source.dset_name, folder, depth + 1)


def _check_source(path: str, dataset: Any, name: str, folder: str | None, depth: int) -> None:
    """Look at what a virtual dataset reads: its sources may read others."""
    is_own = os.path.realpath(path) == os.path.realpath(dataset.file.filename)
    if not is_own and not (os.path.isfile(path) and h5py.is_hdf5(path)):
        return
    with _borrowed(dataset.file) if is_own else h5py.File(path, "r") as file:
        names = [name] if "%" not in name else list(file)
        for one in names:
            source = file.get(one)
            if isinstance(source, h5py.Dataset) and source != dataset:
                check_path(folder, source.file.filename, f"{dataset.name}: a virtual dataset")
                _check(source, folder, depth)


@contextmanager
def _borrowed(file: Any) -> Generator[Any]:
    yield file


def _places_of_raw(dataset: Any, name: str) -> list[str]:
    """Return where libhdf5 looks for a file of raw items: from the working directory on, or from a prefix."""
    prefix = os.environ.get("HDF5_EXTFILE_PREFIX") or os.fsdecode(
        dataset.id.get_access_plist().get_efile_prefix() or b""
    )
    origin = os.path.dirname(os.path.abspath(dataset.file.filename))
    return [os.path.join(prefix.replace("${ORIGIN}", origin), name) if prefix else name]


def _places_of_source(dataset: Any, name: str) -> list[str]:
    """Return where libhdf5 looks for a source: beside the file, here, and by its base name."""
    origin = os.path.dirname(os.path.abspath(dataset.file.filename))
    prefix = os.environ.get("HDF5_VDS_PREFIX") or os.fsdecode(
        dataset.id.get_access_plist().get_virtual_prefix() or b""
    )
    roots = [origin, os.getcwd(), *filter(None, prefix.replace("${ORIGIN}", origin).split(":"))]
    paths = {os.path.join(root, one) for root in roots for one in (name, os.path.basename(name))}
    # What is not there is not read.
    found = [place for path in paths for place in glob.glob(re.sub(r"%\d*b", "*", glob.escape(path)))]
    return sorted(found) or [os.path.join(origin, name)]


def _folder_of(file: Any) -> str | None:
    """Return the folder of a file of h5py, links resolved; None for one that is in no folder."""
    # A new file does not have its name yet.
    is_there = os.path.exists(file.filename) or OpenFile.of(file) is not None
    return os.path.dirname(os.path.realpath(file.filename)) if is_there else None


class ExternalDataset(Placed):
    """A dataset whose items are in files that are not followed: name, shape, dtype and attributes."""

    def __init__(self, h5: Any, nodes: Nodes, error: UnsupportedError) -> None:
        """Made by a file. error: what is raised where items are asked for."""
        self._h5 = h5
        self._nodes = nodes
        self._error = error

    @property
    def shape(self) -> tuple[int, ...]:
        """Items along each axis."""
        return self._h5.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the items."""
        return self._h5.dtype

    def __len__(self) -> int:
        """Return the length of the first axis."""
        return self._h5.len()

    def __getitem__(self, key: Any) -> Any:
        """Raise UnsupportedError, which says how to read it."""
        raise UnsupportedError(str(self._error))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Raise UnsupportedError, which says how to read it."""
        raise UnsupportedError(str(self._error))

    def __iter__(self) -> Any:
        """Raise UnsupportedError, which says how to read it."""
        raise UnsupportedError(str(self._error))

    def __repr__(self) -> str:
        """Say that it is not read."""
        if not self._h5:
            return "<ExternalDataset, closed>"
        return f"<ExternalDataset {self.name!r} {self.shape} {self.dtype}, not read>"


__all__ = [
    "ExternalDataset",
    "check_dataset",
    "check_linked",
    "complete",
    "complete_sources",
    "file_name",
    "has_journal",
]
