"""What an HDF5 file is, and whether its bytes may be read past libhdf5.

In: a file of h5py. Out: what is the same for all of its datasets: name, whether it is simply a file, what it
was opened for, and what the name led to when it was asked.
Invariant: what can change while the file is open (what its name leads to) is asked each time.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coquina.hdf5.open_files import OpenFile
from coquina.hdf5.untyped import h5f, h5fd, h5i, h5py
from coquina.remote import RangeReader

if TYPE_CHECKING:
    from typing import Self

#: The first version whose chunk addresses count from the start of the file, user block included.
_ADDRESSES_COUNT_USERBLOCK = (1, 14, 4)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the datasets of an open file share.

    number: libhdf5's, of files that are open. intent: what it was opened for, in libhdf5's flags.
    is_simple: whether libhdf5 reads one file on a disk. path, device, inode: of it. remote: the reader of
    a remote file.
    journaled: whether changed pages of it are kept aside.
    """

    number: int
    name: str
    intent: int
    is_writable: bool
    is_simple: bool
    has_wrong_addresses: bool
    path: str | None
    device: int | None
    inode: int | None
    remote: RangeReader | None
    journaled: bool

    @classmethod
    def of(cls, node: Any, number: int) -> Self:
        """Ask for the file of a low-level object of h5py, which has this number."""
        return cls.of_file(h5i.get_file_id(node), number)

    @classmethod
    def of_file(cls, fid: Any, number: int, below: OpenFile | None = None) -> Self:
        """Ask a low-level file of h5py, which has this number. below: what it was opened by, if known."""
        is_simple = None if below is None else below.is_simple
        if is_simple is None:
            # Takes long: libhdf5 copies all of the properties.
            is_simple = fid.get_access_plist().get_driver() == h5fd.SEC2
        intent, name = fid.get_intent(), fid.name
        held = os.fstat(fid.get_vfd_handle()) if is_simple else None
        return cls(
            number=number,
            name=name.decode(errors="replace"),
            intent=intent,
            is_writable=bool(intent & h5f.ACC_RDWR),
            is_simple=is_simple,
            has_wrong_addresses=h5py.version.hdf5_version_tuple < _ADDRESSES_COUNT_USERBLOCK
            and fid.get_create_plist().get_userblock() > 0,
            path=None if not is_simple else below.path if below else os.path.abspath(os.fsdecode(name)),
            device=None if held is None else held.st_dev,
            inode=None if held is None else held.st_ino,
            remote=None if is_simple else RangeReader.of_file(number),
            journaled=OpenFile.is_below(number),
        )

    def why_not_direct(self) -> str | None:
        """Return why no dataset may be read by a descriptor of ours, or by ranges; None if one may."""
        if not self.is_simple and self.remote is None and not self.journaled:
            return "file driver: its bytes are not simply those of one file"
        if self.intent & (h5f.ACC_SWMR_READ | h5f.ACC_SWMR_WRITE):
            return "opened for SWMR: the file changes while it is read"
        if self.is_writable:
            return "opened for writing: changes may not be in the file yet"
        if self.journaled:
            return "journal: the last commit is not in the file yet"
        if self.has_wrong_addresses:
            return f"user block: HDF5 {h5py.version.hdf5_version} tells wrong addresses"
        return None

    def why_elsewhere(self) -> str | None:
        """Return that the name leads to another file now: that may have been renamed or replaced."""
        if self.path is None:
            return None
        try:
            named = os.stat(self.path)
        except OSError:
            named = None
        if named is not None and (named.st_dev, named.st_ino) == (self.device, self.inode):
            return None
        return f"{self.path}: the name no longer leads to the open file"
