"""What `test_columns_kills.py` kills: programs that append to columns tables, and say what is flushed."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import numpy as np

import coquina as cq
from coquina.storage_options import Storage
from coquina.tables.column_storage import column_storage
from coquina.tables.columns_layout import ColumnsLayout, create_columns
from coquina.tables.frames_home import FramesHome
from coquina.tables.layout import ColumnSpec
from coquina.tables.values import TEXT
from tests.crash_worker import nursery

SCHEMA = (
    ColumnSpec("n", np.dtype("i8")),
    ColumnSpec("text", TEXT),
    ColumnSpec("maybe", TEXT, nullable=True),
    ColumnSpec("kind", TEXT, categories=()),
    ColumnSpec("code", np.dtype("i8"), categories=()),
    ColumnSpec("int", np.dtype("i4"), nullable=True),
)


def rows_of(start: int, stop: int) -> dict[str, list[Any]]:
    """Return rows that tell which ones they are; categories get more all the time."""
    numbers = range(start, stop)
    return {
        "n": [n * 2654435761 % (1 << 40) for n in numbers],
        "text": [f"é{n}" * (n % 5) for n in numbers],
        "maybe": [None if n % 3 == 0 else f"m{n}" for n in numbers],
        "kind": [None if n % 7 == 0 else f"kind {n // 40}" for n in numbers],
        "code": [n // 30 * 7 for n in numbers],
        "int": [None if n % 2 == 0 else n for n in numbers],
    }


def append(path: str, seed: int, is_frames: int) -> None:
    """Append until somebody ends this; say `flushing` and `flushed` with the number of rows."""
    rng = np.random.default_rng(seed)
    storage = column_storage(Storage(chunks=(16,), blocks=(8,)))
    if is_frames:
        _append(ColumnsLayout.create(FramesHome.make(path), SCHEMA, storage), rng)
    else:
        with cq.open(path, "w") as file:
            _append(create_columns(file, "t", SCHEMA, storage), rng)


def _append(layout: ColumnsLayout, rng: np.random.Generator) -> None:
    layout.append(rows_of(0, 1))
    layout.flush()
    os.write(1, b"flushed 1\n")
    rows = 1
    while True:
        for _ in range(int(rng.integers(1, 5))):
            stop = rows + int(rng.integers(1, 60))
            if rows > 3000:
                # Wider codes will be needed for so many categories: the column is then written anew at once.
                os.write(1, b"flushing %d\n" % rows)
            layout.append(rows_of(rows, stop))
            rows = stop
        os.write(1, b"flushing %d\n" % rows)
        layout.flush()
        os.write(1, b"flushed %d\n" % rows)


def _warm_up() -> None:
    """Import what is imported on first use, here and not in each program."""
    with tempfile.TemporaryDirectory() as folder, cq.open(f"{folder}/x.h5", "w") as file:
        layout = create_columns(file, "t", SCHEMA)
        layout.append(rows_of(0, 3))
        layout.close()


if __name__ == "__main__":
    _warm_up()
    nursery({"append": append})
    sys.exit()
