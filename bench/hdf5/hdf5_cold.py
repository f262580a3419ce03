"""The part `cold` of `hdf5.py`: first reads of a file that is on a disk and not in the page cache.

In: a plan. Out: a `Cell` for each comparison; none where the system does not drop pages (see cold.py).
Each call opens the file, reads and closes it; ahead of each the file's pages are dropped.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np
import tables

import coquina as cq
from bench.common import cold, synthetic
from bench.common.harness import Call, in_turn
from bench.hdf5.hdf5_contest import OURS, TABLES, Case, Cell, Key, Plan, measured, same

PIPELINES = {
    "gzip 4 + shuffle": {"compression": "gzip", "compression_opts": 4, "shuffle": True},
    "Blosc2-Zstd 5": dict(hdf5plugin.Blosc2(cname="zstd", clevel=5)),
}
CHUNKS = (4, 180, 360)


def first_reads(plan: Plan) -> Iterator[Cell]:
    """All of a field, a plane of it, an element: from the closed, cold file on."""
    if plan.disk is None or not cold.works_in(plan.disk):
        print("no cold files: the system keeps them in its page cache", file=sys.stderr)
        return
    items = synthetic.era5("wind", (4 if plan.quick else 16, 720, 1440))
    rng = np.random.default_rng(9)
    works: dict[str, list[Key]] = {
        "all": [...],
        "a plane of one hour": [int(hour) for hour in rng.integers(0, len(items), 9)],
        "an element": [tuple(int(rng.integers(0, n)) for n in items.shape) for _ in range(9)],
    }
    for pipeline, options in PIPELINES.items():
        path = plan.disk / "cold.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("x", data=items, chunks=CHUNKS, **options)
        os.sync()
        for work, keys in works.items():
            label = f"ERA5-like wind, {pipeline}"
            case = Case("cold", f"opened, {work}", label, np.asarray(items[keys[0]]).nbytes)
            yield measured(plan, case, calls_of(path, keys, items), lambda path=path: cold.evict([path]))
        path.unlink()


def calls_of(path: Path, keys: list[Key], items: np.ndarray) -> dict[str, Call]:
    """Each library's way from the closed file to the values, each at the next place every time."""

    def by_us(key: Key) -> object:
        with cq.open(path) as file:
            return file["x"][key]

    def by_h5py(key: Key) -> object:
        with h5py.File(path) as file:
            return file["x"][key]

    def by_pytables(key: Key) -> object:
        with tables.open_file(str(path)) as file:
            return file.root.x[key]

    readers: dict[str, Callable[[Key], object]] = {OURS: by_us, "h5py": by_h5py, TABLES: by_pytables}
    for name, read in readers.items():
        same(f"{name}, cold", read(keys[0]), np.asarray(items[keys[0]]))
    return {name: in_turn(read, keys) for name, read in readers.items()}
