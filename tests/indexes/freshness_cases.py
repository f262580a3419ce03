"""What tests of fresh and stale indexes share: tables, and that queries by an index are right."""

import numpy as np

import coquina as cq
from coquina.indexes.access import disabled, forced

ROWS = 150_000
CONDITIONS = ("x == 777", "(x > 500) & (x < 520)", "x < 3", "x >= 149990", "(y > 0.99999) | (x == 5)")
LAYOUTS = ("columns", "rows", "directory")


def data(rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    return {"x": rng.permutation(rows).astype("i8"), "y": rng.random(rows)}


def make(path, layout, *, rows=ROWS, codec=None, index=("x", "y"), **options):
    """Make a table with indexes, and close it."""
    how = "columns" if layout == "directory" else layout
    with cq.create_table(path, data(rows), layout=how, codec=codec, mode="w", **options) as table:
        for column in index:
            table.create_index(column)


def place(tmp_path, layout):
    return tmp_path / ("t" if layout == "directory" else "t.h5")


def check(table, *, used=None):
    """Check that conditions give what NumPy finds. used: whether the indexes are to know rows."""
    with disabled():
        rows = table[:]
    assert len(rows) == table.nrows
    names = {"x": rows["x"], "y": rows["y"]}
    for condition in CONDITIONS:
        expected = np.flatnonzero(eval(condition, names))
        with forced():
            found = table.where(condition).row_numbers()
        np.testing.assert_array_equal(found, expected, condition)
    if used is not None:
        assert table.indexes["x"].is_usable == used
        assert (table.indexes["x"].rows > 0) == used


def known(path, name="/table"):
    """Return how many rows an index knows of in a file that is opened anew, and whether it had to look."""
    with cq.open_table(path, **({} if path.is_dir() else {"name": name})) as table:
        index = table.indexes["x"]
        was_fresh = is_fresh(index)
        return index.rows, was_fresh


def is_fresh(index):
    """Whether an index need not look at values, as it is opened."""
    index._loaded()
    return index._freshness.check() is True
