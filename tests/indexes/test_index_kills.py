"""Tables with indexes whose writer is killed, and indexes that are damaged: answers stay right."""

import os
import shutil

import numpy as np
import pytest

import coquina as cq
from coquina.indexes.access import disabled, forced
from tests.indexes.index_kill_worker import LAYOUTS, make, rows_of
from tests.test_crash import SEED, Nursery

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="needs processes that can be forked and killed"
)
CONDITIONS = ("x == 777", "(x > 4990) | (x < 3)", "y > 1429", "isnan(y) & (x < 50)", "x * 2 == 1554")


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery("tests.indexes.index_kill_worker")
    yield nursery
    nursery.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Tables to begin with."""
    folder = tmp_path_factory.mktemp("made")
    for layout in LAYOUTS:
        make(str(place(folder, layout)), layout)
    return folder


def place(folder, layout):
    return folder / (layout if layout == "directory" else f"{layout}.h5")


def begin(made, tmp_path, layout):
    path = place(tmp_path, layout)
    if layout == "directory":
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(place(made, layout), path)
    else:
        shutil.copy2(place(made, layout), path)
    return path


def check(table, what):
    with disabled():
        rows = table[:]
    names = {"x": rows["x"], "y": rows["y"], "isnan": np.isnan}
    for condition in CONDITIONS:
        with forced():
            found = table.where(condition).row_numbers()
        np.testing.assert_array_equal(found, np.flatnonzero(eval(condition, names)), f"{what}: {condition}")


def check_all(path, what):
    """Check a table, change it, and check it again."""
    with cq.open_table(path) as table:
        check(table, what)
    with cq.open_table(path, mode="r+") as table:
        check(table, what)
        rows = table.nrows
        table.append(rows_of(rows, rows + 30, 5))
        check(table, what)
        table[10:20] = rows_of(20, 30, 3)
        check(table, what)
        table.refresh_index()
        check(table, what)
        assert all(index.unindexed_rows == 0 for index in table.indexes.values()), what
    with cq.open_table(path) as table:
        check(table, what)
        for name, index in table.indexes.items():
            assert index.is_usable, f"{what}: {name}"


def kill(nursery, made, tmp_path, layout, program, seed, seconds):
    """Kill a program and check its table; return whether it can be read."""
    path = begin(made, tmp_path, layout)
    told = nursery.told(seconds, program, path, seed, seed % 2, is_begun=True)
    what = f"{layout}, {program}, seed {seed}, {seconds} s, {told[-1]}"
    if layout != "directory":
        try:
            with cq.open_table(path) as table, disabled():
                assert table[:] is not None
        except (cq.CoquinaError, OSError, RuntimeError, KeyError):
            # HDF5 has no commits: rows that were being changed in place may be lost, with indexes or without.
            assert told[-1][0] != "begun", what
            return False
    check_all(path, what)
    return True


@pytest.mark.parametrize("program", ["build", "append", "change"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_kill_leaves_right_answers(layout, program, nursery, made, tmp_path):
    delays = np.random.default_rng((SEED, LAYOUTS.index(layout), 1)).uniform(0, 0.5, 12)
    whole = []
    for one in enumerate(delays):
        whole.append(kill(nursery, made, tmp_path, layout, program, *one))
        # A kill may leave HDF5's own data unreadable: then there is nothing to ask.
        if len(whole) >= 3 and any(whole):
            break
    assert any(whole)


@pytest.mark.long
@pytest.mark.parametrize("program", ["build", "append", "change"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_dozens_of_kills_leave_right_answers(layout, program, nursery, made, tmp_path):
    delays = np.random.default_rng((SEED, LAYOUTS.index(layout), 2)).uniform(0, 1, 40)
    whole = [kill(nursery, made, tmp_path, layout, program, *one) for one in enumerate(delays)]
    assert sum(whole) > len(whole) // 2
