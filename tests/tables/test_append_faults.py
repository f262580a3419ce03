"""An append that fails adds no row, and the number of rows is that which a flush writes."""

from contextlib import suppress

import numpy as np
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
