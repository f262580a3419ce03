"""What `test_kills.py` kills: programs that append to HDF5 datasets for ever, and say what is flushed."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import h5py
import numpy as np

from coquina.hdf5 import fast
from coquina.hdf5.appending import AppendGroup
from tests.crash_worker import nursery

COLUMNS = 5
CHUNKS = (17, 3)


def rows_of(start: int, count: int) -> Any:
    """Return rows that tell which ones they are, and do not compress to the same size."""
    rows = np.arange(start, start + count, dtype="u8")[:, None]
    mixed = (rows * np.uint64(COLUMNS) + np.arange(COLUMNS, dtype="u8") + np.uint64(1)) * np.uint64(
        2654435761
    )
    return mixed % np.uint64(1 << 20)


# Version of the format, axes that can grow without end, filter, SWMR: all kinds of index that can grow.
CASES = [
    ("earliest", 1, None, False),
    ("earliest", 1, "gzip", False),
    ("earliest", 2, "gzip", False),
    ("latest", 1, None, False),
    ("latest", 1, "gzip", False),
    ("latest", 2, "gzip", False),
    ("latest", 1, "gzip", True),
    ("latest", 2, "gzip", True),
    ("latest", 0, "gzip", False),
]


def append(path: str, seed: int, case: int) -> None:
    """Append until somebody ends this; say `flushing` and `flushed` with the number of rows."""
    libver, unlimited, compression, is_swmr = CASES[case]
    rng = np.random.default_rng(seed)
    maxshape = (None if unlimited else 1_000_000, None if unlimited == 2 else COLUMNS)
    with h5py.File(path, "w", libver=libver) as file:
        options = {"chunks": CHUNKS, "maxshape": maxshape, "dtype": "u8", "compression": compression}
        made = file.create_dataset("x", (0, COLUMNS), fillvalue=7, **options)
        if is_swmr:
            file.swmr_mode = True
        with fast(made).appending() as session:
            os.write(1, b"flushed 0\n")
            while True:
                for _ in range(int(rng.integers(1, 30))):
                    session.append(rows_of(session.rows, int(rng.integers(1, 60))))
                os.write(1, b"flushing %d\n" % session.rows)
                session.flush()
                os.write(1, b"flushed %d\n" % session.rows)


#: Chunks and filter of each dataset of a group.
GROUP = [((17, 3), "gzip"), ((4, COLUMNS), "gzip"), ((40, 2), None)]


def append_group(path: str, seed: int, is_new: int) -> None:
    """Append to several datasets until somebody ends this, as `append` does; all have the same rows."""
    rng = np.random.default_rng(seed)
    with h5py.File(path, "w", libver="latest" if is_new else "earliest") as file:
        datasets: list[Any] = []
        for number, (chunks, compression) in enumerate(GROUP):
            options = {"chunks": chunks, "maxshape": (None, COLUMNS), "compression": compression}
            made = file.create_dataset(f"x{number}", (0, COLUMNS), "u8", fillvalue=7, **options)
            datasets.append(fast(made))
        with AppendGroup(datasets, None) as group:
            os.write(1, b"flushed 0\n")
            while True:
                for _ in range(int(rng.integers(1, 30))):
                    rows = rows_of(group.lengths[0], int(rng.integers(1, 60)))
                    group.append([rows] * len(GROUP))
                os.write(1, b"flushing %d\n" % group.lengths[0])
                group.flush()
                os.write(1, b"flushed %d\n" % group.lengths[0])


def _warm_up() -> None:
    """Import what is imported on first use, here and not in each program."""
    with tempfile.TemporaryDirectory() as folder, h5py.File(f"{folder}/x.h5", "w") as file:
        made = file.create_dataset("x", (0, 2), maxshape=(None, 2), dtype="u8", compression="gzip")
        with fast(made).appending() as session:
            session.append(np.ones((1, 2), "u8"))


if __name__ == "__main__":
    _warm_up()
    nursery({"append": append, "append_group": append_group})
    sys.exit()
