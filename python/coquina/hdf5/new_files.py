"""New files: written under another name in the same folder, until they are complete.

In: a path, and how libhdf5 is to make the file. Out: h5py's file; its name on `publish` or `finish`.
Invariant: who fails while a file is made leaves what stood there before.
"""

from __future__ import annotations

import os
import secrets
import shutil
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coquina.disk import sync_folder, sync_path
from coquina.hdf5.open_files import OpenFile, Properties
from coquina.hdf5.untyped import h5fd, h5py

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina.hdf5.sessions import Stamp


class NewFile:
    """A file that is being made under another name."""

    def __init__(
        self,
        path: str,
        mode: str,
        options: dict[str, Any],
        *,
        commits: bool = True,
        durable: bool = False,
        wait: float | None = None,
        properties: Properties | None = None,
    ) -> None:
        """Begin. commits: whether it is to have a journal once it has its name.

        properties: what it is made with, in place of h5py's options.
        """
        self.path = path
        self._process = os.getpid()
        self._replaces = mode == "w"
        if not self._replaces and os.path.lexists(path):
            raise FileExistsError(f"{path}: the file exists already")
        # A link goes on to point where it does: what it points to is replaced.
        self._target = os.path.realpath(path) if self._replaces else path
        folder, name = os.path.split(self._target)
        self._made = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(4)}.part")
        self.open_file: OpenFile | None = None
        if commits:
            self.open_file = OpenFile.making(
                path, self._made, options, durable=durable, wait=wait, properties=properties
            )
            self.h5 = self.open_file.h5
        else:
            self.h5 = h5py.File(self._made, "x", **options)
            if os.path.exists(self._target):
                shutil.copymode(self._target, self._made)
        self.is_published = False
        self._fillings = 0
        self._is_wanted = False

    @property
    def _is_ours(self) -> bool:
        """Whether this process makes the file: one that was forked meanwhile leaves it alone."""
        return self._process == os.getpid()

    @property
    def _is_open(self) -> bool:
        return bool(self.h5 if self.open_file is None else self.open_file.h5)

    @property
    def part(self) -> str:
        """The name that it has until it is complete."""
        return self._made

    def complete(self) -> None:
        """Have all that was written in the file, for whoever looks at it before it has its name."""
        assert self.open_file is not None
        self.open_file.complete()

    def publish(self) -> None:
        """Give the file its name, once the disk has it."""
        if self._fillings:
            self._is_wanted = True
            return
        if self.is_published or not self._is_open:
            return
        if not self._is_ours:
            raise ValueError(f"{self.path}: the file was created before this process was forked")
        if self.open_file is None:
            self.h5.flush()
            sync_file(self.h5)
            self._rename()
            return
        self.open_file.publish(self._rename)

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
        if not self._is_open:
            return
        if not self._is_ours:
            raise ValueError(f"{self.path}: the file was created before this process was forked")
        try:
            if self.open_file is not None:
                # Its name may be taken by now: then nothing of it stays.
                self.publish()
                self.open_file.close()
            else:
                self.h5.close()
            if stamp is not None:
                stamp.set()
            if not self.is_published:
                sync_path(self._made)
                self._rename()
        except BaseException:
            if not self.is_published:
                self.discard()
            raise

    def discard(self) -> None:
        """Close the file; without a name it is removed."""
        if not self._is_ours:
            return
        if self._is_open:
            if self.open_file is None:
                self.h5.close()
            elif self.is_published:
                self.open_file.close()
            else:
                self.open_file.discard()
        if not self.is_published:
            self._remove()

    def forgotten(self) -> None:
        """Finish what nobody closed, as h5py does: nothing says that it failed."""
        if self._is_open and self._is_ours:
            warnings.warn(f"{self.path}: a new file was not closed", ResourceWarning, stacklevel=2)
            self.finish()

    def _rename(self) -> None:
        if self._replaces:
            os.replace(self._made, self._target)
        else:
            # Unlike a rename this fails if somebody else made such a file meanwhile.
            try:
                os.link(self._made, self.path)
                os.unlink(self._made)
            except FileExistsError:
                raise
            except OSError:
                # A file system without hard links.
                if os.path.lexists(self.path):
                    raise
                os.rename(self._made, self.path)
        self.is_published = True
        sync_folder(os.path.dirname(self._target))

    def _remove(self) -> None:
        if os.path.lexists(self._made):
            os.unlink(self._made)


def sync_file(h5: Any) -> None:
    """Wait until the disk has what libhdf5 has handed over. Files that are not one on a disk have none."""
    if h5.id.get_access_plist().get_driver() == h5fd.SEC2:
        os.fsync(h5.id.get_vfd_handle())
