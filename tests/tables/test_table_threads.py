"""Threads that read a table while others change it: answers of some moment, and no errors."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import coquina as cq
from coquina.tables import writing

ROWS, WRITERS, APPENDS = 4000, 3, 60
#: What appended rows have in column `k`.
NEW = 99


def records(count, k=None):
    rng = np.random.default_rng(count)
    made = np.zeros(count, [("id", "i8"), ("x", "f8"), ("name", "S16"), ("k", "i4")])
    made["id"], made["x"] = np.arange(count), 1
    made["name"] = rng.choice([b"ann", b"bob", b"mary"], count)
    made["k"] = rng.integers(0, 50, count) if k is None else k
    return made


@pytest.fixture(params=["rows", "columns", "directory"])
def table(request, tmp_path):
    if request.param == "directory":
        made = cq.create_table(tmp_path / "t", records(ROWS))
    else:
        made = cq.create_table(tmp_path / "t.h5", records(ROWS), layout=request.param)
    with made:
        made.create_index("k")
        yield made


def arrow(selection):
    pytest.importorskip("pyarrow")
    return selection.to_arrow().num_rows


#: What counts the rows that were appended, each by another way through the package.
COUNTS = {
    "count": lambda t: t.where("k == 99").count(),
    "values": lambda t: len(t.where("(k == 99) & (x > 0)").to_numpy()),
    "sum": lambda t: t.where("x > 0").sum("x") - ROWS,
    "sum of an expression": lambda t: t.where("x > 0").sum("x * 2") / 2 - ROWS,
    "group": lambda t: sum(found[1] for found in t.where("k > 90").group_by("k").sum("x").tolist()),
    "group of an expression": lambda t: sum(
        found[1] / 2 for found in t.where("k > 90").group_by("k").sum("x * 2").tolist()
    ),
    "group in order": lambda t: sum(
        found[1] / 2 for found in t.where("k > 90").order_by("id").group_by("k").sum("x * 2").tolist()
    ),
    "order": lambda t: int((t.order_by("k", descending=True).to_numpy()["k"] == NEW).sum()),
    "batches": lambda t: sum(map(len, t.where("k == 99").batches())),
    "numbers": lambda t: len(t.where("k == 99").row_numbers()),
    "column": lambda t: len(t["x"][:]) - ROWS,
    "rows": lambda t: len(t[:]) - ROWS,
    "arrow": lambda t: arrow(t.where("k == 99")),
    "mean": lambda t: t.where("k == 99").count() if t.where("x > 0").mean("x") == 1 else -1,
    "most": lambda t: t.where("k == 99").count() if t.where("k >= 0").max("k") in (49, NEW) else -1,
    "explain": lambda t: str(t.where("k == 99").explain()) and t.nrows - ROWS,
}


def test_readers_count_all_rows_that_were_there_when_they_began(table):
    appended, lock, is_done = [0], threading.Lock(), threading.Event()

    def write(seed):
        draw = random.Random(seed)
        for _ in range(APPENDS):
            count = draw.choice([1, 10, 300])
            table.append(records(count, NEW))
            with lock:
                appended[0] += count
            table.where("id == 5").modify({"x": 1.0})
            if draw.random() < 0.2:
                table.flush()

    def read(seed):
        draw = random.Random(seed)
        while not is_done.is_set():
            name = draw.choice(list(COUNTS))
            with lock:
                before = appended[0]
            assert COUNTS[name](table) >= before, name

    with ThreadPoolExecutor(WRITERS + 3) as pool:
        reading = [pool.submit(read, seed) for seed in range(3)]
        try:
            for one in [pool.submit(write, seed) for seed in range(WRITERS)]:
                one.result()
        finally:
            is_done.set()
        for one in reading:
            one.result()
    assert {name: count(table) for name, count in COUNTS.items()} == dict.fromkeys(COUNTS, appended[0])


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.modify("k >= 0", {"x": 2.0}),
        lambda t: t.where("k >= 0").modify({"x": 2.0}),
        lambda t: t.__setitem__("x", 2.0),
    ],
    ids=["table", "selection", "key"],
)
def test_a_change_of_many_rows_is_one_commit(tmp_path, monkeypatch, change):
    seen, put_rows = [], writing.put_rows

    def put_and_look(table, rows, batch):
        put_rows(table, rows, batch)
        with cq.open_table(tmp_path / "t") as other:
            seen.append(set(other["x"][:].tolist()))

    monkeypatch.setattr(writing, "WINDOW_BYTES", 8000)
    monkeypatch.setattr(writing, "put_rows", put_and_look)
    with cq.create_table(tmp_path / "t", records(ROWS)) as table:
        change(table)
        assert len(seen) > 1
        assert seen == [{1.0}] * len(seen)
    with cq.open_table(tmp_path / "t") as other:
        assert set(other["x"][:].tolist()) == {2.0}
