"""Our parser of chunk indexes against libhdf5: files of all kinds of index, with gaps, grown and shrunk."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from pathlib import Path
from random import Random

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

from coquina._core import count_index, read_index
from tests.interop.hdf5_cells import LIBVERS

FILES, FILES_LONG = 250, 4000
#: How often each kind of index is to be met in so many files.
KINDS = {
    "btree1": 60,
    "btree2": 10,
    "fixed array": 25,
    "extensible array": 20,
    "implicit": 2,
    "single chunk": 3,
}


def random_file(rng: Random, path: Path) -> h5py.File:
    """Make a file with a dataset `d` of any shape, with any of its chunks; return it, opened again."""
    libver = rng.choice(LIBVERS)
    userblock = rng.choice((0, 0, 0, 512, 2048))
    rank = rng.choice((1, 1, 2, 2, 3, 5))
    most = rng.choice((1, 6, 40, 400, 5000)) ** (1 / rank)
    counts = tuple(rng.randint(1, max(1, round(most * 1.5))) for _ in range(rank))
    chunks = tuple(rng.randint(1, 3) for _ in range(rank))
    shape = tuple(n * c - rng.randrange(c) for n, c in zip(counts, chunks, strict=True))
    chunks = tuple(min(c, n) for n, c in zip(shape, chunks, strict=True))
    limits = list(shape)
    for axis in rng.choice(((), (), (0,), (rng.randrange(rank),), range(rank))):
        limits[axis] = h5s.UNLIMITED
    if rng.random() < 0.2:
        # Room to grow, but not without end.
        limits = [n if n == h5s.UNLIMITED else n * 3 for n in limits]
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk(chunks)
    if is_filtered := rng.random() < 0.6:
        plist.set_deflate(1)
    if rng.random() < 0.15:
        plist.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    with h5py.File(path, "w", libver=libver, userblock_size=userblock) as f:
        for n in range(rng.choice((0, 0, 3, 200))):
            # What stands before moves the rest, and may make the header longer.
            f.create_dataset(f"other {n}", data=n)
        space = h5s.create_simple(shape, tuple(limits))
        d = h5py.Dataset(h5d.create(f.id, b"d", h5t.STD_I16LE, space, plist))
        for n in range(rng.choice((0, 0, 2, 30))):
            d.attrs[f"a {n}"] = np.arange(rng.randint(1, 60))
        density = rng.choice((0, 0.01, 0.3, 1, 1, 1))
        starts = list(np.ndindex(counts))
        if rng.random() < 0.3:
            rng.shuffle(starts)
        # libhdf5 reads chunks that a new edge cuts, and right after a chunk was written forgets its mask.
        changes = h5s.UNLIMITED in limits and rng.random() < 0.5
        for at in starts:
            if rng.random() < density:
                plain = rng.randbytes(2 * math.prod(chunks))
                mask = rng.choice((0, 0, 1)) if is_filtered and not changes else 0
                stored = zlib.compress(plain) if is_filtered and not mask else plain
                d.id.write_direct_chunk(tuple(n * c for n, c in zip(at, chunks, strict=True)), stored, mask)
        if changes:
            axis = limits.index(h5s.UNLIMITED)
            for factor in rng.choice(((0.5,), (0.5, 2), (3,), (0, 1))):
                d.resize(int(shape[axis] * factor), axis)
    return h5py.File(path)


def assert_rows(dataset: h5py.Dataset, path: Path) -> str:
    """Check the rows of our parser against libhdf5's, and the chunks that they lead to; return the kind."""
    d = dataset.id
    theirs: list[tuple[tuple[int, ...], int, int, int]] = []
    d.chunk_iter(lambda row: theirs.append((row.chunk_offset, row.byte_offset, row.size, row.filter_mask)))
    header = h5py.h5o.get_info(d).addr
    kind, ours = read_index(path, header)
    assert count_index(path, header) == len(ours)
    # libhdf5 2.0 forgets that it keeps the axis that grows in front, and tells wrong coordinates.
    are_mixed_up = kind == "extensible array" and dataset.maxshape[0] is not None
    assert sorted(row[1:] for row in ours) == sorted(row[1:] for row in theirs)
    assert are_mixed_up or sorted(ours) == sorted(theirs)
    content = path.read_bytes()
    for start, address, size, mask in ours:
        if all(at < length for at, length in zip(start, dataset.shape, strict=True)):
            assert d.read_direct_chunk(start) == (mask, content[address : address + size])
    return kind


def check(rng: Random, path: Path) -> str:
    with random_file(rng, path) as f:
        return assert_rows(f["d"], path)


def run(seeds: range, tmp_path: Path) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for seed in seeds:
        kinds[check(Random(seed), tmp_path / "x.h5")] += 1
    return kinds


def test_rows_are_those_of_libhdf5(tmp_path):
    kinds = run(range(FILES), tmp_path)
    assert kinds.keys() == KINDS.keys()
    assert all(kinds[kind] >= least for kind, least in KINDS.items()), kinds


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_rows_of_many_files_are_those_of_libhdf5(part, tmp_path):
    run(range(part * FILES_LONG // 10 + FILES, (part + 1) * FILES_LONG // 10 + FILES), tmp_path)


@pytest.mark.parametrize("libver", LIBVERS)
@pytest.mark.parametrize("maxshape", [(40_000,), (None,), (None, None), (3, None)], ids=str)
def test_many_chunks(libver, maxshape, tmp_path):
    """Long enough for indexes of several levels, and of pages."""
    path = tmp_path / "x.h5"
    shape = (40_000,) if len(maxshape) == 1 else (3, 7000)
    with h5py.File(path, "w", libver=libver) as f:
        d = f.create_dataset("d", shape, "u2", chunks=(1,) * len(shape), maxshape=maxshape)
        for n, at in enumerate(np.ndindex(shape)):
            # Long runs with and without chunks.
            if n // 1000 % 3 != 1 or n % 97 == 0:
                d.id.write_direct_chunk(at, at[-1].to_bytes(2))
    with h5py.File(path) as f:
        assert f["d"].id.get_num_chunks() > 10_000
        assert_rows(f["d"], path)
