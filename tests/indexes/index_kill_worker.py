"""What `test_index_kills.py` kills: programs that change tables with indexes, and say what they do."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack
from typing import Any

import numpy as np

import coquina as cq
from coquina.indexes import store
from tests.crash_worker import nursery

LAYOUTS = ("columns", "rows", "directory")
ROW = np.dtype([("x", "i8"), ("y", "f8"), ("z", "i4")])
BEGIN = 70_000


def rows_of(start: int, stop: int, seed: int) -> Any:
    """Return rows with values that come again and again."""
    rows = np.zeros(stop - start, ROW)
    numbers = np.arange(start, stop, dtype=np.uint64) + np.uint64(seed * 977)
    rows["x"] = numbers * np.uint64(2654435761) % np.uint64(5000)
    rows["y"] = numbers * np.uint64(40503) % np.uint64(10007) / 7
    rows["y"][::50] = np.nan
    rows["z"] = numbers // np.uint64(100)
    return rows


def make(path: str, layout: str) -> None:
    """Make a table with an index."""
    how = "columns" if layout == "directory" else layout
    with cq.create_table(path, rows_of(0, BEGIN, 0), layout=how, chunk_rows=4096) as table:
        table.create_index("x")


def build(path: str, seed: int, number: int) -> None:
    """Make and drop indexes until somebody ends this."""
    table = _begun(path)
    kinds = ("full", "partial", "light", "zones")
    while True:
        for kind in np.random.default_rng(seed).permutation(kinds).tolist():
            _say("build")
            table.create_index("y", kind=kind)
            table.create_index("x * 2", kind=kind, memory_limit=1 << 16 if number else 1 << 30)
            _say("drop")
            table.drop_index("y")
            table.drop_index("x * 2")


def append(path: str, seed: int, number: int) -> None:
    """Append and index what was appended, and merge, until somebody ends this."""
    store.FLUSH_ROWS = store.CLOSE_ROWS = 1 + 3000 * number
    table = _begun(path)
    rng = np.random.default_rng(seed)
    while True:
        for _ in range(int(rng.integers(1, 4))):
            rows = table.nrows
            table.append(rows_of(rows, rows + int(rng.integers(1, 9000)), seed))
        _say("flush")
        table.flush()
        if rng.integers(6) == 0:
            _say("compact")
            table.compact()


def change(path: str, seed: int, number: int) -> None:
    """Change rows, refresh, close and open again, until somebody ends this."""
    rng = np.random.default_rng((seed, number))
    with ExitStack() as stack:
        table = stack.enter_context(_begun(path))
        while True:
            start = int(rng.integers(0, table.nrows - 100))
            kind = rng.integers(6)
            _say(f"change{kind}")
            if kind == 0:
                table[start : start + 50] = rows_of(start, start + 50, seed + 1)
            elif kind == 1:
                table.modify(f"x == {start % 5000}", {"y": float(start)})
            elif kind == 2 and table.nrows > BEGIN // 2:
                table.delete(np.arange(table.nrows - 60, table.nrows - 50))
            elif kind == 3 and table.nrows > BEGIN // 2:
                table.truncate(table.nrows - 20)
            elif kind == 4:
                table.refresh_index()
            else:
                stack.close()
                table = stack.enter_context(_opened(path))
            table.append(rows_of(start, start + 40, seed))
            table.flush()


def _begun(path: str) -> Any:
    table = _opened(path)
    _say("begun")
    return table


def _opened(path: str) -> Any:
    return cq.open_table(path, mode="r+")


def _say(what: str) -> None:
    os.write(1, f"{what} 0\n".encode())


def _warm_up() -> None:
    """Import what is imported on first use, here and not in each program."""
    with tempfile.TemporaryDirectory() as folder:
        for layout in LAYOUTS:
            path = f"{folder}/{layout}" + (".h5" if layout != "directory" else "")
            make(path, layout)
            with cq.open_table(path, mode="r+") as table:
                table.append(rows_of(0, 3, 0))
                table.where("x == 3").row_numbers()


if __name__ == "__main__":
    _warm_up()
    nursery({"build": build, "append": append, "change": change})
    sys.exit()
