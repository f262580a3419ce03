"""Saves what can be read of a damaged HDF5 file, such as one whose writer was killed.

In: a file, which is never changed. Out: a new file with what is good, and a report of what is not.

How: where the superblock says that somebody writes the file, or that it ends elsewhere than it does, libhdf5
refuses it; so a copy gets a superblock that says what is so. Then all objects are visited, all chunks
decoded, and those that are good are copied as they are stored.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from coquina._core import CoquinaError, CorruptError, JournaledFile
from coquina.hdf5.exact_attributes import refers
from coquina.hdf5.new_files import NewFile
from coquina.hdf5.open_files import Properties
from coquina.hdf5.recovered import DAMAGE, Claims, Recovered, check, copy_good, good_regions, list_chunks
from coquina.hdf5.references import copy_attributes, pointed
from coquina.hdf5.sessions import ROWS
from coquina.hdf5.superblock import Superblock
from coquina.hdf5.tree_copies import has_far_fill
from coquina.hdf5.trees import group_plist
from coquina.hdf5.untyped import h5f, h5o, h5p, h5py
from coquina.keyword_hints import names_keywords
from coquina.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

try:
    import fcntl
except ImportError:  # Windows does not let anybody write what we have open.
    fcntl = None


@dataclass
class Recovery:
    """The result of `recover`.

    path, out: the damaged file, and the new one. notes: damage of the file as a whole.
    datasets: the recovered part of each dataset. lost: names of lost objects and attributes, with the
        reasons.

    >>> import coquina as cq
    >>> cq.hdf5.File("f.h5", "w").close()
    >>> type(cq.hdf5.recover("f.h5", "saved.h5", overwrite=True)).__name__
    'Recovery'
    """

    path: str
    out: str
    notes: list[str] = field(default_factory=list[str])
    datasets: list[Recovered] = field(default_factory=list[Recovered])
    lost: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def is_whole(self) -> bool:
        """Whether nothing that the file refers to is lost."""
        return not self.lost and all(one.is_whole for one in self.datasets)

    def __str__(self) -> str:
        """Tell it to a person."""
        chunks = sum(one.nchunks for one in self.datasets)
        bad = sum(len(one.lost) for one in self.datasets)
        lines = [f"{self.out}: {len(self.datasets)} datasets, {chunks - bad} of {chunks} chunks saved"]
        lines += [f"  {note}" for note in self.notes]
        lines += [f"  lost: {name}: {reason}" for name, reason in self.lost]
        for one in self.datasets:
            lines += [f"  lost: {one.name} {lost}" for lost in one.lost]
            if one.empty_rows and one.shape:
                rows = f"rows {one.shape[0] - one.empty_rows} to {one.shape[0]}"
                lines.append(f"  {one.name}: {rows} have no chunks: they read as the fill value")
            if one.beyond:
                lines.append(
                    f"  {one.name}: {one.beyond} chunks stand outside of the shape and were left out"
                )
            if one.unchecked:
                lines.append(
                    f"  {one.name}: {one.unchecked} chunks copied unchecked: nobody here knows their filters"
                )
        return "\n".join(map(quoted, lines))


@names_keywords
def recover(
    path: str | os.PathLike[str], out: str | os.PathLike[str], *, overwrite: bool = False
) -> Recovery:
    """Copy the readable part of a damaged HDF5 file to a new file, and report the losses.

    path: the damaged file, which is not changed. out: the new file, which appears when it is complete.
        overwrite: replace an existing file.

    Lost parts of a dataset get its fill value. Chunks are copied verbatim. Returns a `Recovery`. Raises
    FileExistsError, BlockingIOError if a program has the file open for writing, CorruptError if nothing can
    be read. Disk space: up to twice the file, in the folder of `out`.

    >>> import coquina as cq
    >>> with cq.hdf5.File("f.h5", "w") as f:
    ...     f["x"] = [1, 2]
    >>> report = cq.hdf5.recover("f.h5", "saved.h5", overwrite=True)
    >>> list(cq.open("saved.h5"))
    ['x']
    """
    source, target = Path(path), Path(out)
    if target.exists():
        if not overwrite:
            raise FileExistsError(f"{target} exists")
        if target.samefile(source):
            raise ValueError(f"{target} is the damaged file itself")
    report = Recovery(str(source), str(target))
    with TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as room:
        whole = _completed(source, Path(room) / "completed")
        readable = _readable(whole, Path(room) / "copy", report)
        with _opened(readable, source) as old:
            new = NewFile(os.path.abspath(target), "w" if overwrite else "x", {}, properties=_properties(old))
            try:
                _save(old, new.h5, report)
                new.complete()
                _copy_userblock(source, new.part)
                new.finish()
            except BaseException:
                new.discard()
                raise
    return report


def _completed(source: Path, copy: Path) -> Path:
    """Return a copy of a file with the commits that a kill left in its journal; the file if there is none."""
    journal = JournaledFile.journal_of(source)
    if not journal.exists():
        return source
    with source.open("rb") as file:
        # While this lock is held, no commit in the file changes. The journal is copied first: then the file
        # has what it refers to.
        _lock_shared(file, source)
        shutil.copyfile(journal, f"{copy}.journal")
        shutil.copyfile(source, copy)
    try:
        JournaledFile.read_only(copy).close()
    except CoquinaError:
        # The journal is damaged, or of another file.
        return source
    return copy


def _lock_shared(file: Any, source: Path) -> None:
    """Keep writers away until the file is closed. Raises BlockingIOError if one is there."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(f"{source} is open for writing in another program") from None


def _readable(source: Path, copy: Path, report: Recovery) -> Path:
    """Return a file that libhdf5 opens with the same content: the file itself, or a mended copy."""
    with source.open("rb") as file:
        _lock_shared(file, source)
        superblock = Superblock.read(file)
        file_bytes = file.seek(0, 2)
        if superblock.flags:
            report.notes.append("was open for writing when its program ended")
        if superblock.end > file_bytes:
            report.notes.append(f"ends at byte {file_bytes} instead of {superblock.end}: it was cut")
        if not superblock.is_sound:
            report.notes.append("superblock: wrong checksum")
        mended = superblock.mended(file_bytes)
        if mended.packed() == superblock.raw:
            return source
        # `h5clear --status` alone would do this to the file itself, and cut it where the superblock ends it.
        shutil.copyfile(source, copy)
    with copy.open("rb+") as file:
        file.seek(mended.at)
        file.write(mended.packed())
    return copy


@contextmanager
def _opened(path: Path, source: Path) -> Generator[Any]:
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise CorruptError(f"{source}: {error}") from error
    with file:
        yield file


def _properties(old: Any) -> Properties:
    # Not the file's own: those are what a file would be made with by default.
    created = h5p.create(h5p.FILE_CREATE)
    created.set_userblock(old.userblock_size)
    root = old["/"].id.get_create_plist()
    created.set_link_creation_order(root.get_link_creation_order())
    created.set_attr_creation_order(root.get_attr_creation_order())
    return Properties(created, h5f.LIBVER_EARLIEST)


def _copy_userblock(source: Path, made: str) -> None:
    with source.open("rb") as old, open(made, "rb+") as new:
        at = Superblock.read(old).at
        old.seek(0)
        new.write(old.read(at))


@dataclass(frozen=True)
class _Found:
    """An object or link of the old file: its name, and what is there."""

    name: str
    object: Any = None
    link: Any = None
    same_as: str | None = None


def _walk(file: Any, report: Recovery) -> Iterator[_Found]:
    """Yield all objects that can be reached, each once, groups before what is in them; and all links."""
    seen = {h5o.get_info(file.id).addr: "/"}
    left = [("/", file)]
    while left:
        name, group = left.pop()
        for child in _names(group, name, report):
            path = f"{name.rstrip('/')}/{child}"
            try:
                link = group.get(child, getlink=True)
                if not isinstance(link, h5py.HardLink):
                    yield _Found(path, link=link)
                    continue
                # What h5py tells of an object itself includes the size of its index, which may be damaged.
                address = group.id.links.get_info(child.encode("utf-8", "surrogateescape")).u
                found = group[child]
            except DAMAGE as error:
                report.lost.append((path, str(error)))
                continue
            if address in seen:
                yield _Found(path, same_as=seen[address])
                continue
            seen[address] = path
            yield _Found(path, object=found)
            if isinstance(found, h5py.Group):
                left.append((path, found))


def _names(group: Any, name: str, report: Recovery) -> list[str]:
    """Return the names in a group, as far as they can be listed."""
    names: list[str] = []

    def note(child: bytes) -> None:
        names.append(child.decode("utf-8", "surrogateescape"))

    with suppress(*DAMAGE):
        return list(group)
    # Some names can be had one by one.
    try:
        group.id.links.iterate(note)
    except DAMAGE as error:
        report.lost.append((f"{name} (what else is in it)", str(error)))
    return names


def _save(old: Any, new: Any, report: Recovery) -> None:
    try:
        found = list(_walk(old, report))
    except DAMAGE as error:
        raise CorruptError(f"{report.path}: its root group cannot be read: {error}") from error
    datasets = {one.name: one.object for one in found if isinstance(one.object, h5py.Dataset)}
    claims = Claims()
    for name, dataset in datasets.items():
        if dataset.chunks is not None:
            claims.add(name, list_chunks(dataset)[0])
    claims.settle()
    for one in found:
        try:
            _save_one(old, new, one, report, claims)
        except DAMAGE as error:
            report.lost.append((one.name, str(error)))
    # References can only be set to what is there.
    by_name = {one.name: one for one in report.datasets}
    for one in (_Found("/", object=old), *found):
        if one.object is not None and one.name in new:
            lost = copy_attributes(one.object, new[one.name])
            # What is recovered has the rows that all columns have, whatever the last commit had.
            new[one.name].attrs.pop(ROWS, None)
            report.lost.extend((f"{one.name}@{name}", reason) for name, reason in lost)
            _point(old, new, one, by_name.get(one.name))


def _save_one(old: Any, new: Any, one: _Found, report: Recovery, claims: Claims) -> None:
    if one.link is not None:
        new[one.name] = one.link
    elif one.same_as is not None:
        new[one.name] = new[one.same_as]
    elif isinstance(one.object, h5py.Group):
        h5py.h5g.create(new.id, one.name.encode(), gcpl=group_plist(one.object))
    elif isinstance(one.object, h5py.Dataset):
        recovered = check(one.object, one.name, claims)
        report.datasets.append(recovered)
        _save_dataset(new, one, recovered)
    else:
        old.copy(one.object, new, name=one.name)


def _save_dataset(new: Any, one: _Found, recovered: Recovered) -> None:
    if recovered.is_whole and not recovered.beyond and not has_far_fill(one.object):
        try:
            one.object.file.copy(one.object, new, name=one.name)
        except DAMAGE:
            # Perhaps an attribute is damaged: then the rest can be had without it.
            with suppress(KeyError):
                del new[one.name]
        else:
            return
    copy_good(one.object, new, one.name, recovered)


def _point(old: Any, new: Any, one: _Found, recovered: Recovered | None) -> None:
    """Point the references that are the items of a dataset to the objects of the new file."""
    if recovered is not None and refers(one.object.id.get_type()):
        for region in good_regions(one.object, recovered):
            new[one.name][region] = pointed(one.object[region], old, new)
