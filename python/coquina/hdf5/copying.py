"""Copies of datasets and whole files that are stored otherwise: other filters, other chunks, no gaps.

In: a file, which is never changed. Out: a new one with the same groups, links, attributes and items, which
gets its name when it is complete and has been compared with the file.
Invariant: whoever fails, or is killed, leaves what stood there before.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coquina.arrays.info import human
from coquina.hdf5 import checksums as sums
from coquina.hdf5 import chunk_encoding, quantization, tuning_attribute
from coquina.hdf5.comparing import compare
from coquina.hdf5.creation import first_missing, link
from coquina.hdf5.datasets import Dataset
from coquina.hdf5.groups import Group
from coquina.hdf5.new_files import NewFile
from coquina.hdf5.open_files import Properties, last_commit
from coquina.hdf5.places import inside
from coquina.hdf5.planning import CopyRequest, plan
from coquina.hdf5.references import copy_attributes
from coquina.hdf5.sessions import Session
from coquina.hdf5.smallest import is_open
from coquina.hdf5.storing import copy_items, make, nbytes_of
from coquina.hdf5.tree_copies import Copied, TreeCopy
from coquina.hdf5.trees import Walk
from coquina.hdf5.untyped import h5f, h5o, h5py
from coquina.remote import new_path
from coquina.storage_options import DatasetCopyOptions, RepackOptions, Storage
from coquina.tuning_options import DATASETS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from coquina._core import Path


@dataclass(frozen=True, slots=True)
class Repacked:
    """What came of `repack`: bytes of the file before and after, and a row for each dataset.

    >>> import numpy as np
    >>> import coquina as cq
    >>> with cq.hdf5.File("f.h5", "w") as f:
    ...     d = f.create_dataset("x", data=np.arange(1000), filter="gzip")
    >>> cq.hdf5.repack("f.h5", in_place=True).is_compared
    True
    """

    path: str
    out: str
    before: int
    after: int
    is_compared: bool
    datasets: list[Copied]

    def __repr__(self) -> str:
        """Return the sums: of a file with many datasets the rows are pages of text."""
        encoded = sum(one.how == "encoded" for one in self.datasets)
        compared = ", compared with the file" * self.is_compared
        return (
            f"<Repacked {self.out!r}: {human(self.before)} to {human(self.after)}, {encoded} of "
            f"{len(self.datasets)} datasets encoded again{compared}>"
        )


def repack(
    source: Path,
    target: Path | None = None,
    *,
    group: str = "/",
    only: tuple[str, ...] = (),
    in_place: bool = False,
    overwrite: bool = False,
    verify: bool = True,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    **storage: Unpack[RepackOptions],
) -> Repacked:
    """Write a copy of an HDF5 file without unused space, and with other filters or chunks if requested.

    source, target: paths of the file to copy and of the new file. overwrite: replace an existing target.
    threads: the number of threads; all by default.
    group: the group or dataset to copy; its members become those of the new root group.
    filter, codec, level, filters, dictionary, blocks, fletcher32: as in `Group.create_dataset`, for all
        datasets, or for those at or below the paths `only`, relative to `group`. None: unchanged. A codec
        without a filter implies the filter "blosc2". The codec "auto" chooses for each chunk of "blosc2", by
        the keywords of `Tuning`; with goal="size", a dataset that would become larger is copied verbatim, and
        chunks below 64 KiB may get "gzip" or "zstd" where these are smaller and no filter is given. Lossy
        codecs and filters, such as "trunc_prec", need `verify=False`.
    checksums: whether chunks whose only filter is "blosc2" have checksums; others are encoded again. None:
        unchanged.
    chunks: elements along each axis, for datasets with that number of axes, or "auto". None: unchanged, but
        with the codec "auto" chunks below 64 KiB grow to at most 512 KiB, because headers would make them
        larger; with goal="size" such a chunk is one block. Contiguous datasets of at least 64 KiB get chunks
        if they are to be compressed.
    lossy: an error bound for floating-point datasets; see `Group.create_dataset`. Dimension scales and
        integers stay exact, unless `only` names them.
    in_place: replace the file by its copy, after the comparison.
    verify: compare structure, attributes and all values of the copy before it gets its name.
    progress: a function that is called with the number of bytes done, of `work_bytes`.

    Chunks whose filters and shape stay the same are copied verbatim. Groups, attributes, soft, external and
    hard links, named datatypes and references are kept; objects that only a reference leads to are not.
    Datasets that cannot be stored as requested are copied unchanged, with the reason in `Repacked.datasets`.

    Raises FileExistsError, OSError, ValueError for options that do not fit, KeyError if there is no `group`,
    CorruptError for chunks that do not decode or a copy that differs, UnsupportedError for references of HDF5
    1.12. No new file is left then. Memory: some boxes of 64 MiB, or of one chunk if that is larger.

    >>> import numpy as np
    >>> import coquina as cq
    >>> with cq.hdf5.File("f.h5", "w") as f:
    ...     d = f.create_dataset("x", data=np.arange(1000), filter="gzip")
    >>> done = cq.hdf5.repack("f.h5", "g.h5", filter="blosc2", codec="zstd", overwrite=True)
    >>> cq.open("g.h5")["x"].info.codec
    'zstd'
    """
    wanted = Storage.of(repack, storage, RepackOptions, base=DATASETS)
    may_be_plain = is_open(wanted)
    if wanted.filter is None and (wanted.tuning is not None or wanted.codec is not None):
        wanted = replace(wanted, filter="blosc2")
    request = CopyRequest(wanted, tuple(only), may_be_plain)
    path = os.path.realpath(os.fsdecode(source))
    out = target_of(path, target, in_place=in_place, overwrite=overwrite)
    return repack_by(
        request,
        path,
        out,
        group=group,
        overwrite=overwrite or in_place,
        verify=verify,
        threads=threads,
        progress=progress,
    )


def repack_by(
    request: CopyRequest,
    path: str,
    out: str,
    *,
    group: str = "/",
    overwrite: bool = False,
    verify: bool = True,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Repacked:
    """Write a copy of the file at `path` to `out` by a request; see `repack`."""
    request.check()
    if verify and (lost := request.loses) is not None:
        raise ValueError(
            f"{lost}: is lossy without a bound, so the copy cannot be verified; pass verify=False, or lossy="
        )
    before = os.path.getsize(path)
    work = _Work(progress)
    with last_commit(path) as old:
        top = old[group]
        if isinstance(top, h5py.Datatype):
            raise ValueError(f"{path}: {group} is a datatype")
        walk = Walk(top)
        new = NewFile(out, "w" if overwrite else "x", {}, properties=_properties(old, top))
        try:
            copy = TreeCopy(walk, new.h5, request, threads, work.done)
            copy.make()
            new.complete()
            _copy_userblock(path, new.part, old.userblock_size)
            if verify:
                with h5py.File(new.part, "r") as made:
                    there = Walk(made["/"] if isinstance(top, h5py.Group) else _only(made))
                    anew = {*copy.goals, *copy.sums, *copy.encodings}
                    compare(walk, there, threads, work.done, copy.bounds, anew)
            _state_policies(copy, new.h5)
            shutil.copymode(path, new.part)
            new.finish()
        except BaseException:
            new.discard()
            raise
    return Repacked(path, out, before, os.path.getsize(out), verify, copy.datasets)


def _state_policies(copy: TreeCopy, new: Any) -> None:
    """Write down by which policies chunks were encoded; the comparison of all attributes is over by then."""
    for name, known in copy.bounds.items():
        quantization.state_all(new[name], known)
    for name, goal in copy.goals.items():
        tuning_attribute.put(new[name], goal)
    for name, wanted in copy.sums.items():
        sums.put(new[name].id, wanted)
    for name, encoding in copy.encodings.items():
        chunk_encoding.put(new[name].id, encoding)


def work_bytes(path: Path, group: str = "/", *, verify: bool = True) -> int:
    """Return how many bytes of items `repack` has to do."""
    with last_commit(os.fsdecode(path)) as file:
        datasets = (entry.object for entry in Walk(file[group]) if entry.kind == "dataset")
        return sum(map(nbytes_of, datasets)) * (2 if verify else 1)


def copy(
    dataset: Dataset,
    target: Group,
    name: str | None = None,
    *,
    threads: int | None = None,
    **storage: Unpack[DatasetCopyOptions],
) -> Any:
    """Copy a dataset with its attributes to a group, with other filters or chunks if requested.

    dataset: of coquina or h5py. target: the group, in this file or another. name: of the copy; by default
        that of the dataset. threads: the number of threads; all by default. The other options are those of
        `repack`, with the filter "blosc2" by default; here an error bound applies to integers too.

    Returns the new dataset; after an exception there is none. References in attributes lead to the object of
    the same name in the other file, if there is one. Raises ValueError if the name exists, and the errors of
    `repack`.

    >>> import coquina as cq
    >>> with cq.hdf5.File("f.h5", "w") as f, cq.hdf5.File("g.h5", "w") as g:
    ...     d = f.create_dataset("x", data=[1, 2])
    ...     copied = cq.hdf5.copy(f["x"], g, "y")
    ...     print(g["y"][:])
    [1 2]
    """
    name = name if name is not None else (dataset.name or "").rpartition("/")[2]
    if not name or name in target:
        raise ValueError(f"copy: {name!r} exists already, or is not a valid name")
    wanted = Storage.of(copy, {"filter": "blosc2", **storage}, DatasetCopyOptions, base=DATASETS)
    copy_stored(inside(dataset), inside(target), name, wanted, threads)
    return target[name]


def copy_stored(h5: Any, group: Any, name: str, wanted: Storage, threads: int | None = None) -> None:
    """Copy a dataset of h5py into a group of h5py, as `copy` does; fields of `wanted` that are None stay."""
    request = CopyRequest(wanted, ("/",))
    request.check()
    planned = plan(h5, "/", request)
    if wanted.lossy is not None and planned.lossy is None:
        raise ValueError(f"copy: lossy: {planned.reason or 'only numbers can be stored with a bound'}")
    if planned.how == "copied":
        h5o.copy(h5.id, b".", group.id, name.encode())
        copy_attributes(h5, group[name])
        Session.at(group)[0].all_changed()
        return
    made = make((group, None, None), h5, planned, h5.id.get_type().copy())
    # Named before it is filled: HDF5 2.0 loses large ones that get their name later, in the newer format.
    first = first_missing(group, name)
    link(group, name, made)
    try:
        known = copy_items(h5, made, planned, threads, lambda nbytes: None)
        if known is not None:
            quantization.state_all(made, known)
        copy_attributes(h5, made)
        if planned.how == "encoded":
            tuning_attribute.put(made, planned.tuning)
            chunk_encoding.put(made.id, planned.encoding)
    except BaseException:
        del group[first]
        raise
    finally:
        Session.at(group)[0].all_changed()


class _Work:
    """Counts what is done."""

    def __init__(self, progress: Callable[[int], object] | None) -> None:
        self._progress = progress
        self._bytes = 0

    def done(self, nbytes: int) -> None:
        self._bytes += nbytes
        if self._progress is not None:
            self._progress(self._bytes)


def _only(new: Any) -> Any:
    (name,) = new
    return new[name]


def target_of(path: str, target: Path | None, *, in_place: bool = False, overwrite: bool = False) -> str:
    """Return where a copy of a file goes. Raises ValueError and FileExistsError; see `repack`."""
    if in_place:
        if target is not None:
            raise ValueError("repack: give a target or in_place=True, not both")
        return path
    if target is None:
        raise ValueError("repack: give the path of the copy, or in_place=True")
    out = new_path(target)
    if os.path.lexists(out):
        if os.path.realpath(out) == path:
            raise ValueError(f"{out} is the file itself: pass in_place=True (--in-place) to replace it")
        if not overwrite:
            raise FileExistsError(f"{out} exists")
    return out


def _properties(old: Any, top: Any) -> Properties:
    """Return the properties of the old file, for a new one."""
    created = old.id.get_create_plist()
    if isinstance(top, h5py.Group):
        # What the root group is made with; a file that was opened does not tell by itself.
        members = top.id.get_create_plist()
        created.set_link_creation_order(members.get_link_creation_order())
        created.set_attr_creation_order(members.get_attr_creation_order())
    # The superblock tells which structures the file was allowed to have.
    return Properties(created, _OLDEST.get(created.get_version()[0], h5f.LIBVER_V110))


_OLDEST = {0: h5f.LIBVER_EARLIEST, 1: h5f.LIBVER_EARLIEST, 2: h5f.LIBVER_V18}


def _copy_userblock(path: str, part: str, nbytes: int) -> None:
    if nbytes:
        with open(path, "rb") as old, open(part, "r+b") as new:
            new.write(old.read(nbytes))
