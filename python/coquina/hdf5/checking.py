"""Reads every chunk of every dataset below a group, and tells which are damaged.

In: a group or dataset of h5py. Out: `Checked`: what is right, damaged, or cannot be checked here.
Chunks are decoded here in parallel where that is possible, by
libhdf5 else; what is stored in other files is not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coquina._core import CorruptError, UnsupportedError
from coquina.arrays.regions import boxes
from coquina.hdf5.describing import missing_filters
from coquina.hdf5.item_types import is_fixed
from coquina.hdf5.protection import is_protected
from coquina.hdf5.recovered import DAMAGE
from coquina.hdf5.storing import bytes_array, read, stored_rows
from coquina.hdf5.trees import Walk
from coquina.hdf5.untyped import h5d
from coquina.hdf5.variable_items import read_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    Region = tuple[slice, ...]

_PIECE_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Bad:
    """A chunk that cannot be read: of which dataset, the coordinates of its first item, and why."""

    dataset: str
    start: tuple[int, ...]
    error: str


@dataclass(slots=True)
class Checked:
    """What was read: chunks, or pieces of datasets that have none; and what of that is bad.

    unchecked: what nobody here can decode, for want of a filter: it may be right.
    unprotected: datasets that were read, but of which nothing would tell if values were others.
    """

    ndatasets: int = 0
    nchunks: int = 0
    unprotected: list[str] = field(default_factory=list[str])
    bad: list[Bad] = field(default_factory=list[Bad])
    unchecked: list[Bad] = field(default_factory=list[Bad])

    def note(self, dataset: str, start: tuple[int, ...], error: BaseException) -> None:
        """Add what could not be read."""
        found = self.unchecked if isinstance(error, UnsupportedError) else self.bad
        found.append(Bad(dataset, start, str(error)))


def check(top: Any, threads: int | None = None) -> Checked:
    """Read all datasets below a group, or the one that is given."""
    checked = Checked()
    for entry in Walk(top):
        if entry.kind == "dataset":
            name = entry.object.name or entry.name
            checked.ndatasets += 1
            nbad = len(checked.bad)
            try:
                _check(name, entry.object, threads, checked)
                if len(checked.bad) == nbad and not is_protected(entry.object):
                    checked.unprotected.append(name)
            except DAMAGE as error:
                checked.note(name, (), error)
    return checked


def _check(name: str, dataset: Any, threads: int | None, checked: Checked) -> None:
    layout = dataset.id.get_create_plist().get_layout()
    if dataset.shape is None or 0 in dataset.shape or layout == h5d.VIRTUAL or dataset.external:
        return
    if dataset.chunks is None and dataset.id.get_storage_size() == 0:
        return
    array = bytes_array(dataset) if is_fixed(dataset.id.get_type()) else None
    stats = {} if array is None else array.handle.stats()
    stored = 0 if dataset.chunks is None else len(stored_rows(dataset))
    # The engine looks at every place of the grid.
    if array is not None and stats.get("access") != "whole" and 16 * stored > stats["nchunks"]:
        checked.nchunks += stored
        for damage in array.verify(threads=threads):
            start = tuple(part.start for part in damage.region)
            checked.note(name, start, damage.error)
        return
    # libhdf5 tells a filter that it does not have from damage only by words.
    missing = missing_filters(dataset)
    for region in _regions(dataset):
        checked.nchunks += 1
        try:
            if array is None:
                read_items(dataset, region)
            else:
                read(array, region, threads)
        except DAMAGE as error:
            start = tuple(part.start for part in region)
            if missing and not isinstance(error, CorruptError):
                checked.note(name, start, UnsupportedError(f"filter {missing[0]}: nobody has it here"))
            else:
                checked.note(name, start, error)


def _regions(dataset: Any) -> Iterator[Region]:
    """Yield the stored chunks, or pieces of a dataset that has none."""
    if dataset.chunks is None:
        yield from boxes(
            dataset.shape, (1,) * len(dataset.shape), dataset.id.get_type().get_size(), _PIECE_BYTES
        )
        return
    for start, _, _, _ in stored_rows(dataset):
        ends = zip(start, dataset.chunks, dataset.shape, strict=True)
        yield tuple(slice(at, min(at + cut, end)) for at, cut, end in ends)
