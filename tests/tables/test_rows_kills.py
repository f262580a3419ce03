"""Tables of rows whose writer is killed: what was flushed is there, is right, and can be built on."""

import os

import numpy as np
import pytest
import tables

import coquina as cq
from coquina.hdf5.recovery import recover
from tests.tables.rows_kill_worker import ROW, STORAGE, rows_of
from tests.test_crash import SEED, Nursery

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="needs processes that can be forked and killed"
)
EACH_STORAGE = pytest.mark.parametrize("storage", range(len(STORAGE)), ids=["blosc2", "gzip", "none", "auto"])
#: Rows of whole chunks are what is left for certain by a kill within a flush.
CHUNK_ROWS = [one["chunk_rows"] for one in STORAGE]


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery("tests.tables.rows_kill_worker")
    yield nursery
    nursery.close()


def kill(nursery, tmp_path, storage, seed, seconds):
    """Kill a program and look at its table; return whether it was within a flush."""
    path, place = tmp_path / "x.h5", f"seed {seed}"
    told = nursery.told(seconds, "append", path, seed, storage, is_begun=True)
    flushed = max(int(rows) for word, rows in told if word == "flushed")
    if told[-1][0] == "flushing":
        check_within(path, tmp_path / "saved.h5", flushed // CHUNK_ROWS[storage] * CHUNK_ROWS[storage], place)
        return True
    check(path, flushed, place)
    with tables.open_file(str(path), "a") as file:
        theirs = file.root.table
        np.testing.assert_array_equal(theirs[:], rows_of(0, theirs.nrows), place)
        assert theirs.nrows >= flushed, place
        theirs.append(rows_of(theirs.nrows, theirs.nrows + 7))
    check(path, flushed + 7, place)
    return False


def check_within(path, saved, whole, place):
    """Check what a flush leaves half done: whole chunks stay, and what else is shown is right, or unwritten.

    libhdf5 writes its own pages one by one: a file may need to be recovered.
    """
    try:
        with cq.open_table(path) as table:
            rows = table[:]
    except (cq.CoquinaError, OSError, KeyError):
        report = recover(path, saved, overwrite=True)
        assert not report.is_whole or report.notes, place
        return
    expected = rows_of(0, len(rows))
    assert len(rows) >= whole, place
    np.testing.assert_array_equal(rows[:whole], expected[:whole], place)
    assert ((rows == expected) | (rows == np.zeros((), ROW))).all(), place


def check(path, flushed, place):
    """Check that rows are there and right, also by conditions, and that more can be put behind them."""
    with cq.open_table(path, mode="r+") as table:
        before = table.nrows
        assert before >= flushed, place
        np.testing.assert_array_equal(table[:], rows_of(0, before), place)
        table.append(rows_of(before, before + 20))
        expected = rows_of(0, before + 20)
        found = table.where("(n > 2**39) & flag").row_numbers()
        np.testing.assert_array_equal(found, np.nonzero((expected["n"] > 2**39) & expected["flag"])[0], place)
        np.testing.assert_array_equal(table[:], expected, place)


@EACH_STORAGE
def test_a_kill_leaves_what_was_flushed(storage, nursery, tmp_path):
    for seed, seconds in enumerate(np.random.default_rng((SEED, storage, 9)).uniform(0, 0.2, 3)):
        kill(nursery, tmp_path, storage, seed, seconds)


@pytest.mark.long
@EACH_STORAGE
def test_dozens_of_kills_leave_what_was_flushed(storage, nursery, tmp_path):
    delays = np.random.default_rng((SEED, storage, 10)).uniform(0, 0.2, 34)
    within = [kill(nursery, tmp_path, storage, seed, seconds) for seed, seconds in enumerate(delays)]
    assert 0 < sum(within) < len(within)
