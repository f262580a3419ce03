"""What `test_rows_kills.py` kills: programs that append to a table of rows, and say what is flushed."""

from __future__ import annotations

import os
import sys
import tempfile

import numpy as np

import coquina as cq
from tests.crash_worker import nursery

ROW = np.dtype(
    [("n", "<i8"), ("half", "<f8"), ("text", "S9"), ("flag", "?"), ("deep", [("code", "<u2", (3,))])]
)
#: How rows are stored: compressed, with bounds of blocks, and without.
STORAGE = [
    {"chunk_rows": 64},
    {"chunk_rows": 50, "filter": "gzip", "fletcher32": True},
    {"chunk_rows": 32, "filter": "none"},
    {"chunk_rows": 48, "codec": "auto", "goal": "size"},
]


def rows_of(start: int, stop: int) -> np.ndarray:
    """Return rows that tell which ones they are."""
    numbers = np.arange(start, stop)
    rows = np.zeros(stop - start, ROW)
    rows["n"] = numbers * 2654435761 % (1 << 40)
    rows["half"] = numbers / 2
    rows["text"] = [b"%d" % n for n in numbers]
    rows["flag"] = numbers % 3 == 0
    rows["deep"]["code"] = numbers[:, None] * np.arange(1, 4) % 65536
    return rows


def append(path: str, seed: int, storage: int) -> None:
    """Append until somebody ends this; say `flushing` and `flushed` with the number of rows."""
    rng = np.random.default_rng(seed)
    with cq.create_table(path, ROW, layout="rows", mode="w", **STORAGE[storage]) as table:
        table.flush()
        os.write(1, b"flushed 0\n")
        rows = 0
        while True:
            for _ in range(int(rng.integers(1, 5))):
                stop = rows + int(rng.integers(1, 90))
                if rng.random() < 0.3:
                    for one in rows_of(rows, stop):
                        table.append(one)
                else:
                    table.append(rows_of(rows, stop))
                rows = stop
            os.write(1, b"flushing %d\n" % rows)
            table.flush()
            os.write(1, b"flushed %d\n" % rows)


def _warm_up() -> None:
    """Import what is imported on first use, here and not in each program."""
    with tempfile.TemporaryDirectory() as folder:
        for storage in STORAGE:
            cq.create_table(f"{folder}/x.h5", rows_of(0, 3), layout="rows", mode="w", **storage).close()


if __name__ == "__main__":
    _warm_up()
    nursery({"append": append})
    sys.exit()
