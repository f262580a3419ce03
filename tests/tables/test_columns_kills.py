"""Columns tables whose writer is killed: what was flushed is there, of all columns, and is the same rows."""

import os
import shutil

import h5py
import numpy as np
import pytest
from anndata.io import read_elem

import coquina as cq
from coquina.tables.columns_layout import ColumnsLayout
from coquina.tables.frames_home import FramesHome
from tests.tables.columns_kill_worker import rows_of
from tests.test_crash import SEED, Nursery

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="needs processes that can be forked and killed"
)


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery("tests.tables.columns_kill_worker")
    yield nursery
    nursery.close()


def shown(layout):
    assert all(len(column) == layout.nrows for column in layout.columns.values())
    return {name: column.read(slice(None)).tolist() for name, column in layout.columns.items()}


def kill_frames(nursery, path, seed, seconds):
    """Kill a program at any time; return whether it was within a flush."""
    shutil.rmtree(path, ignore_errors=True)
    told = nursery.told(seconds, "append", path, seed, 1, is_begun=True)
    flushed = max(int(rows) for word, rows in told if word == "flushed")
    layout = ColumnsLayout.open(FramesHome.open(path))
    assert layout.nrows >= flushed, f"seed {seed}"
    assert shown(layout) == rows_of(0, layout.nrows), f"seed {seed}"
    layout.close()
    layout = ColumnsLayout.open(FramesHome.open(path, "r+"))
    layout.append(rows_of(layout.nrows, layout.nrows + 20))
    layout.flush()
    assert shown(layout) == rows_of(0, layout.nrows), f"seed {seed}"
    layout.close()
    return told[-1][0] == "flushing"


def kill_hdf5(nursery, path, seed, seconds):
    """Kill a program; where that was between flushes look at the file; return whether it was within one."""
    told = nursery.told(seconds, "append", path, seed, 0, is_begun=True)
    word, rows = told[-1][0], int(told[-1][1])
    if word == "flushing":
        return True
    with h5py.File(path) as h5:
        # All is there for others too: AnnData wants to be told lengths by attributes.
        assert read_elem(h5["t/text"]).to_list() == rows_of(0, rows)["text"]
        assert read_elem(h5["t/kind"]).isna().tolist() == [n % 7 == 0 for n in range(rows)]
    with cq.open(path, "r+") as file:
        layout = file.table("t").layout
        assert layout.nrows == rows, f"seed {seed}"
        assert shown(layout) == rows_of(0, rows), f"seed {seed}"
        layout.append(rows_of(rows, rows + 20))
        layout.flush()
        assert shown(layout) == rows_of(0, rows + 20), f"seed {seed}"
    return False


KILLS = {"frames": kill_frames, "hdf5": kill_hdf5}


@pytest.mark.parametrize("home", list(KILLS))
def test_a_kill_leaves_what_was_flushed(home, nursery, tmp_path):
    for seed, seconds in enumerate(np.random.default_rng((SEED, 7)).uniform(0, 0.2, 8)):
        KILLS[home](nursery, tmp_path / "x.h5", seed, seconds)


@pytest.mark.long
@pytest.mark.parametrize("home", list(KILLS))
def test_dozens_of_kills_leave_what_was_flushed(home, nursery, tmp_path):
    delays = np.random.default_rng((SEED, 8)).uniform(0, 0.2, 40)
    within = [KILLS[home](nursery, tmp_path / "x.h5", seed, seconds) for seed, seconds in enumerate(delays)]
    assert 0 < sum(within) < len(within)
