"""An append that fails adds no row, and the number of rows is that which a flush writes."""

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

import coquina as cq
from tests.test_crash import disk_of

MANY = 300_000
EACH_LAYOUT = pytest.mark.parametrize("layout", ["columns", "rows", "directory"])


def rows(start, count):
    noise = np.random.default_rng(start).integers(0, 1 << 62, count)
    return {"k": np.arange(start, start + count), "v": noise}


def make(tmp_path, layout):
    path = tmp_path / ("t" if layout == "directory" else "t.h5")
    options = {} if layout == "directory" else {"layout": layout}
    cq.create_table(path, rows(0, 1000), **options).close()
    return path


def check(table, count):
    assert len(table) == count
    assert table[:]["k"].tolist() == list(range(count))


@EACH_LAYOUT
@pytest.mark.parametrize("waiting", [0, 10, 5000])
def test_rows_of_an_append_that_failed_are_not_there(tmp_path, layout, waiting):
    path = make(tmp_path, layout)
    table = cq.open_table(path, mode="a")
    if waiting:
        table.append(rows(1000, waiting))
    with disk_of(200_000), pytest.raises(OSError, match="File too large") as raised:
        table.append(rows(len(table), MANY))
    # What waited stays, or the error says that it does not.
    left = len(table)
    assert left in (1000, 1000 + waiting)
    assert (left == 1000 + waiting) == (not getattr(raised.value, "__notes__", []))
    # As one does who tries again.
    table.append(rows(left, 7))
    assert len(table) == left + 7
    table.flush()
    check(table, left + 7)
    table.close()
    with cq.open_table(path) as again:
        check(again, left + 7)


@EACH_LAYOUT
def test_the_number_of_rows_after_a_flush_that_failed_is_that_of_the_next(tmp_path, layout):
    path = make(tmp_path, layout)
    with cq.open_table(path, mode="a") as table:
        # Structured rows, few at a time, are gathered before any layout sees them.
        table.append(table[:10])
        with disk_of(1000), pytest.raises(OSError, match="File too large"):
            table.flush()
        left = len(table)
        table.append({"k": [5], "v": [6]})
        assert len(table) == left + 1
        table.flush()
        assert len(table) == len(table[:]) == left + 1
    with cq.open_table(path) as again:
        assert len(again) == left + 1


@EACH_LAYOUT
def test_a_table_that_is_closed_on_a_full_disk_is_at_its_last_commit(tmp_path, layout):
    path = make(tmp_path, layout)
    table = cq.open_table(path, mode="a")
    with disk_of(200_000):
        with pytest.raises(OSError, match="File too large"):
            table.append(rows(1000, MANY))
        # Where rows wait no more there is nothing left to fail.
        with suppress(OSError):
            table.close()
    with cq.open_table(path) as again:
        check(again, 1000)


def check_waiting_stay(table, waiting):
    """Check that rows which wait are there, and can be written."""
    assert len(table) == 1000 + waiting
    table.append(rows(len(table), 3) | ({"c": ["a"] * 3} if "c" in table else {}))
    table.flush()
    check(table, 1003 + waiting)


@pytest.mark.parametrize("layout", ["columns", "directory"])
@pytest.mark.parametrize("waiting", [1, 300, 5000])
@pytest.mark.parametrize("where", ["append", "add_column", "modify"])
def test_rows_that_wait_outlive_a_change_that_fails(tmp_path, layout, waiting, where):
    # In a directory a failed change had the table seen anew, without the rows that waited for a flush.
    path = tmp_path / ("t" if layout == "directory" else "t.h5")
    options = {} if layout == "directory" else {"layout": layout}
    kinds = pd.Categorical(["a", "b"] * 500)
    cq.create_table(path, rows(0, 1000) | {"c": kinds}, **options).close()
    table = cq.open_table(path, mode="a")
    table.append(rows(1000, waiting) | {"c": ["a"] * waiting})
    # Text that UTF-8 has not cannot be a category.
    change = {
        "append": lambda: table.append(rows(5000, 1) | {"c": ["\ud800"]}),
        "modify": lambda: table.modify(slice(3, 4), {"c": ["\ud800"]}),
        "add_column": lambda: table.add_column("new", ["\ud800"] * len(table)),
    }[where]
    with pytest.raises((ValueError, TypeError)):
        change()
    check_waiting_stay(table, waiting)
    table.close()
    with cq.open_table(path) as again:
        check(again, 1003 + waiting)


@EACH_LAYOUT
@pytest.mark.parametrize("kind", ["records", "columns"])
@pytest.mark.parametrize("flushed", [False, True], ids=["waits", "flushed"])
def test_rows_that_wait_outlive_a_transaction_that_fails(tmp_path, layout, kind, flushed):
    # The arrays of a directory went back, and the table did not: it had rows that no column had.
    path = make(tmp_path, layout)
    table = cq.open_table(path, mode="a")

    def append(start, count):
        made = rows(start, count)
        if kind == "records":
            made = np.rec.fromarrays(list(made.values()), dtype=table.dtype).view(np.ndarray)
        table.append(made)

    whole = table["k"] if layout == "directory" else table.file

    def fail():
        with whole.transaction():
            append(1005, 5)
            if flushed:
                table.flush()
            raise KeyError("a fault of the caller")

    append(1000, 5)
    with pytest.raises(KeyError, match="of the caller"):
        fail()
    assert table.where("k >= 1003").row_numbers().tolist() == [1003, 1004]
    check_waiting_stay(table, 5)
    table.close()
    with cq.open_table(path) as again:
        check(again, 1008)
