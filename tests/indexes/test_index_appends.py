"""What appends leave of indexes: nothing is compared that was not written, and little stays open."""

from unittest import mock

import numpy as np
import pytest

import coquina as cq
from coquina.indexes import store
from coquina.indexes.index import Index
from coquina.indexes.units import SPAN_ROWS
from tests.indexes.freshness_cases import LAYOUTS, check, data, is_fresh, make, place

FEW = 1000
layouts = pytest.mark.parametrize("layout", LAYOUTS)


@layouts
@pytest.mark.parametrize("rows", [FEW, SPAN_ROWS])
def test_who_appends_does_not_read_what_was_there(layout, rows, tmp_path):
    path = place(tmp_path, layout)
    make(path, layout)
    with (
        mock.patch.object(Index, "_compare", side_effect=AssertionError("fingerprints were compared")),
        cq.open_table(path, mode="r+") as table,
    ):
        table.append(data(rows, seed=1))
        table.flush()
        check(table, used=True)
        table.append(data(rows, seed=2))
        table.modify(7, {"x": 777})
    with cq.open_table(path) as table:
        assert is_fresh(table.indexes["x"])
        assert is_fresh(table.indexes["y"])
        check(table, used=True)


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_what_others_write_is_noticed_behind_an_append(layout, tmp_path):
    path = place(tmp_path, layout)
    make(path, layout)
    with cq.open_table(path, mode="r+") as table, cq.open_table(path, mode="r+") as other:
        table.append(data(FEW, seed=1))
        table.flush()
        with mock.patch.object(store.IndexStore, "changed"):
            # As if it knew nothing of indexes.
            other["x"][:5] = 777
        assert not is_fresh(table.indexes["x"])
        check(table, used=True)
    with cq.open_table(path) as table:
        check(table, used=True)


def test_a_column_is_renamed_before_anybody_asks_its_index(tmp_path):
    make(tmp_path / "t.h5", "columns")
    with cq.open_table(tmp_path / "t.h5", mode="r+") as table:
        table.rename_column("x", "z")
    with cq.open_table(tmp_path / "t.h5") as table:
        assert set(table.indexes) == {"z", "y"}
        assert table.indexes["z"].rows == table.nrows
        assert table.will_use_index("z == 777") == {"z"}


@pytest.mark.parametrize(
    ("known", "more", "open_rows"),
    [
        (0, SPAN_ROWS - 1, SPAN_ROWS - 1),
        (0, SPAN_ROWS, 0),
        (8 * 80_000, 80_000 - 1, 80_000 - 1),
        (8 * 80_000, 80_000, 0),
    ],
)
def test_a_table_is_closed_with_an_eighth_of_its_rows_open(known, more, open_rows, tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"x": np.arange(known)[::-1]}, index=["x"]) as table:
        table.append({"x": np.arange(more)})
    with cq.open_table(tmp_path / "t.h5") as table:
        assert table.indexes["x"].unindexed_rows == open_rows
        found = table.where("x < 5").row_numbers()
        np.testing.assert_array_equal(found, np.flatnonzero(table["x"][:] < 5))


def test_rows_of_many_bytes_do_not_stay_open(tmp_path):
    dtype = np.dtype([("x", "i8"), ("much", "S1000")])
    rows = np.zeros(10 * SPAN_ROWS, dtype)
    with cq.create_table(tmp_path / "t.h5", rows, layout="rows", index=["x"]) as table:
        table.append(rows[:SPAN_ROWS])
    with cq.open_table(tmp_path / "t.h5") as table:
        assert table.indexes["x"].unindexed_rows == 0


@pytest.mark.parametrize("new", [[-9.5, 1e9], [np.nan, -9.5], [5.0, 6.0]])
@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_extremes_are_those_of_open_rows_too(new, dtype, tmp_path):
    values = np.random.default_rng(1).permutation(9999).astype(dtype)
    with np.errstate(invalid="ignore"):
        more = np.array(new).astype(dtype)
    expected = np.concatenate([values, more])
    with cq.create_table(tmp_path / "t.h5", {"x": values}, index=["x"]) as table:
        table.append({"x": more})
        table.flush()
        assert table.indexes["x"].unindexed_rows == 2
        for found, wanted in ((table.min("x"), expected.min()), (table.max("x"), expected.max())):
            np.testing.assert_array_equal(found, wanted)
            assert found.dtype == wanted.dtype


@layouts
def test_an_index_is_extended_while_rows_wait(layout, tmp_path):
    path = place(tmp_path, layout)
    make(path, layout)
    with mock.patch.object(store, "FLUSH_ROWS", 1), cq.open_table(path, mode="r+") as table:
        table.modify(7, {"x": 777})
        table.append(data(FEW, seed=1))
        for index in table.index_store.indexes.values():
            index.compact()
        check(table, used=True)
    with cq.open_table(path) as table:
        check(table, used=True)
