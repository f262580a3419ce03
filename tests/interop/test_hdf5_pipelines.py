"""HDF5 datasets of every pipeline, made by h5py with hdf5plugin: what coquina reads is what h5py reads."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import h5py
import numpy as np
import pytest

import coquina as cq
from tests.array_cases import assert_same_array, same_items
from tests.interop.hdf5_cells import LIBVERS, Cell, Pipeline, cells, make, pipelines
from tests.test_indexing_keys import outcome, random_key

#: Datasets of each pipeline, and of each in `make test-long`.
CELLS, CELLS_LONG = 6, 60
PIPELINES = pipelines()
#: Fewer would mean that something is no longer tried.
COUNTS = {
    "alone": 79,
    "shuffled": 74,
    "checked": 79,
    "of h5py": 8,
    "of netCDF": 73,
    "twice": 9,
    "one after another": 115,
    "typed, then others": 36,
    "many": 4,
}
GEARS = {"r": "direct", "r+": "fetched"}


def parts(group: str) -> list[pytest.param]:
    """Cut the pipelines of a group into tests of about a second."""
    step = 20
    starts = range(0, len(PIPELINES[group]), step)
    return [pytest.param(PIPELINES[group][at : at + step], id=f"{group} {at}") for at in starts]


def written(
    pipeline: Pipeline, path: Path, count: int
) -> tuple[dict[Cell, np.ndarray], dict[Cell, np.ndarray]]:
    """Make datasets of a pipeline; return what h5py reads, and what is in those that it cannot read."""
    libver = Random(f"{pipeline}").choice(LIBVERS)
    made, read, unread = {}, {}, {}
    with h5py.File(path, "w", libver=libver) as f:
        for cell in cells(pipeline, count):
            try:
                made[cell] = make(cell, f)
            except OSError:
                # It cannot read the chunk, perhaps of zeros only, that it is to change.
                assert may_be_unreadable(cell), cell
                del f[cell.name]
    with h5py.File(path) as f:
        for cell, items in made.items():
            try:
                read[cell] = f[cell.name][...]
            except OSError:
                assert may_be_unreadable(cell), cell
                unread[cell] = items
                continue
            assert cell.is_lossy or same_items(read[cell].view(items.dtype), items), cell
    return read, unread


def may_be_unreadable(cell: Cell) -> bool:
    """Whether plugins may store what they cannot read.

    Blosc2's, where it makes no n-d array or an item is no power of two; Szip behind what changes the size.
    """
    size = cell.dtype.base.itemsize
    is_odd = size & (size - 1) > 0
    names = [name.split()[0] for name in cell.pipeline]
    return ("blosc2" in names and (is_odd or names[0] != "blosc2")) or "szip" in names[1:]


def check_unread(path: Path, mode: str, unread: dict[Cell, np.ndarray]) -> None:
    """Check that what h5py cannot read is either read right, or said to be damaged."""
    with cq.open(path, mode) as f:
        for cell, items in unread.items():
            try:
                found = f[cell.name][...]
            except (cq.CorruptError, OSError):
                continue  # OSError: libhdf5 was asked for a chunk at the edge.
            assert same_items(found, items), cell


def stored_chunks(dataset: cq.hdf5.Dataset) -> tuple[int, int]:
    """Return how many chunks are stored, and of how many at the edge nobody can tell if they are filtered."""
    infos = list(dataset.chunk_iter())
    plain = math.prod(dataset.chunks) * dataset.dtype.itemsize
    rank = len(dataset.h5.shape)
    edges = list(zip(dataset.chunks, dataset.shape, strict=True))[:rank]
    unclear = [
        info
        for info in infos
        if (info.filter_mask, info.size) == (0, plain)
        and any(at + chunk > length for at, (chunk, length) in zip(info.start, edges, strict=True))
    ]
    return len(infos), len(unclear) if dataset.filters else 0


def check(path: Path, mode: str, read: dict[Cell, np.ndarray]) -> None:
    """Check every item, some keys, the access, and that nothing was got at in another way."""
    with cq.open(path, mode) as f:
        for cell, theirs in read.items():
            ours = f[cell.name]
            theirs = theirs.view(ours.dtype)  # Enumerations are their integers.
            assert (ours.shape, ours.chunks[: len(cell.shape)]) == (theirs.shape, cell.chunks)
            assert ours.access == GEARS[mode], (cell, ours.access_reason)
            assert_same_array(ours[...], theirs)
            stored, unclear = stored_chunks(ours)
            info = ours.info
            expected = {"direct": (stored, 0, 0), "fetched": (0, stored, unclear)}[ours.access]
            assert (info.chunks_direct, info.chunks_fetched, info.boxes_whole) == expected, cell
            rng = cell.rng(mode)
            for _ in range(3):
                key = random_key(rng, theirs.shape)
                found, right = outcome(lambda: ours[key]), outcome(lambda: theirs[key])  # noqa: B023
                if isinstance(right, tuple):
                    assert isinstance(found, tuple), (cell, key)
                    assert issubclass(found[0], right[0]), (cell, key)
                else:
                    assert_same_array(found, right)
            info = ours.info
            assert info.fallbacks == 0, cell
            assert unclear or info.boxes_whole == 0, cell
            ours.close()


def run(some: list[Pipeline], tmp_path: Path, count: int) -> None:
    right = 0
    for number, pipeline in enumerate(some):
        path = tmp_path / f"{number}.h5"
        read, unread = written(pipeline, path, count)
        right += len(read)
        for mode in GEARS:
            check(path, mode, read)
            check_unread(path, mode, unread)
        path.unlink()
    assert right > 0.6 * count * len(some)


@pytest.mark.parametrize("some", [part for group in PIPELINES for part in parts(group)])
def test_items_are_those_that_h5py_reads(some, tmp_path):
    run(some, tmp_path, CELLS)


@pytest.mark.long
@pytest.mark.parametrize("some", [part for group in PIPELINES for part in parts(group)])
def test_items_of_many_datasets_are_those_that_h5py_reads(some, tmp_path):
    run(some, tmp_path, CELLS_LONG)


def test_all_pipelines_are_tried():
    assert {group: len(some) for group, some in PIPELINES.items()} == COUNTS
    assert sum(COUNTS.values()) == 477
