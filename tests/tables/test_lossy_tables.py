"""Tables with bounds for some columns: appends and changes keep them, and queries see what is stored."""

import h5py
import hdf5plugin  # noqa: F401  (h5py reads Blosc2 by it)
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from tests.lossy_cases import BOUNDS, check, hard, raw

PLACES = ["t.h5", "t"]
ROWS = 5000


def columns(rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "time": np.arange(rows),
        "x": rng.normal(20, 5, rows).astype("f4"),
        "y": rng.normal(size=rows).cumsum(),
        "n": rng.integers(0, 1000, rows).astype("i4"),
        "s": [f"s{at % 7}" for at in range(rows)],
    }


LOSSY = {"x": {"max_error": 0.01}, "y": cq.Lossy(relative_error=1e-3), "n": {"max_error": 5}}


def make(folder, place, data=None, **options):
    options = {"lossy": LOSSY, "chunk_rows": 512, **options}
    return cq.create_table(folder / place, columns() if data is None else data, **options)


def check_all(data, table):
    for name, bound in LOSSY.items():
        known = {"relative_error": 1e-3} if name == "y" else bound
        check(known, np.asarray(data[name]), np.asarray(table[name][...]))
    np.testing.assert_array_equal(table["time"][...], data["time"])
    assert table["s"][...].tolist() == list(data["s"])


@pytest.mark.parametrize("place", PLACES)
def test_columns_with_a_bound_are_within_it_and_others_exact(place, tmp_path):
    data = columns()
    with make(tmp_path, place) as table:
        check_all(data, table)
        for name in LOSSY:
            assert (np.asarray(table[name][...]) != data[name]).any(), name
    with cq.open_table(tmp_path / place) as table:
        check_all(data, table)


@settings(max_examples=25, deadline=None)
@given(
    place=st.sampled_from(PLACES),
    dtype=st.sampled_from(["<f4", "<f8", "<f2", "<i2", "<u8", "<c16"]),
    bound=st.sampled_from(BOUNDS),
    pieces=st.lists(st.integers(1, 700), min_size=1, max_size=5),
    seed=st.integers(0, 99),
)
def test_rows_in_any_pieces_are_within_the_bound(place, dtype, bound, pieces, seed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("t")
    rows = hard(dtype, (sum(pieces),), seed)
    table = make(folder, place, {"v": np.dtype(dtype)}, lossy={"v": bound}, chunk_rows=256)
    with table:
        at = 0
        seen = np.empty(0, dtype)
        for count in pieces:
            table.append({"v": rows[at : at + count]})
            found = np.asarray(table["v"][...]).astype(dtype)
            # What is there does not move when more comes.
            np.testing.assert_array_equal(raw(found[:at]), raw(seen))
            check(bound, rows[at : at + count], found[at:])
            at, seen = at + count, found
    with cq.open_table(folder / place, mode="r+") as table:
        table.append({"v": rows[:100]})
        check(bound, rows[:100], np.asarray(table["v"][at:]).astype(dtype))
        table.modify(slice(3, 9), {"v": rows[:6][: len(table) - 3]}) if len(table) >= 9 else None


@pytest.mark.parametrize("place", PLACES)
def test_changes_keep_the_bound(place, tmp_path):
    data = columns()
    with make(tmp_path, place) as table:
        new = np.full(50, 12.3456789, "f4")
        table.modify(slice(100, 150), {"x": new})
        data["x"][100:150] = new
        table["n"][7] = 777
        data["n"][7] = 777
        table.append(columns(1000, 1))
        table.flush()
        more = columns(1000, 1)
        whole = {
            name: [*values, *more[name]] if name == "s" else np.concatenate([values, more[name]])
            for name, values in data.items()
        }
        check_all(whole, table)
    with cq.open_table(tmp_path / place, mode="r+") as table:
        table.append(columns(10, 2))
        check(LOSSY["x"], columns(10, 2)["x"], table["x"][-10:])
        assert (table["x"][-10:] != columns(10, 2)["x"]).any()


@pytest.mark.parametrize("place", PLACES)
def test_conditions_bounds_and_indexes_are_of_what_is_stored(place, tmp_path):
    with make(tmp_path, place, index=("x",)) as table:
        table.append(columns(3000, 3))
        stored = table["x"][...]
        for value in [*stored[:3], *stored[-3:], np.float32(20.0)]:
            wanted = np.flatnonzero(stored == value)
            found = table.where("x == v", {"v": value})
            np.testing.assert_array_equal(np.sort(found.row_numbers()), wanted)
            assert found.explain().indexes == ("x",)
        table.modify(slice(100, 200), {"x": np.full(100, 20.123456, "f4")})
        stored = table["x"][...]
        assert stored[150] != np.float32(20.123456)
        found = table.where("x == v", {"v": stored[150]})
        np.testing.assert_array_equal(np.sort(found.row_numbers()), np.flatnonzero(stored == stored[150]))
        low, high = np.float32(19.99), np.float32(20.03)
        wanted = np.flatnonzero((stored > low) & (stored < high))
        found = table.where("x > a and x < b", {"a": low, "b": high}).row_numbers()
        np.testing.assert_array_equal(np.sort(found), wanted)
        y = np.asarray(table["y"][...])
        assert table.where("y == v", {"v": y.max()}).count() == np.count_nonzero(y == y.max())
        assert table["y"].max() == y.max()


def test_h5py_reads_the_same_numbers(tmp_path):
    with make(tmp_path, "t.h5") as table:
        ours = {name: np.asarray(table[name][...]) for name in LOSSY}
    with h5py.File(tmp_path / "t.h5") as file:
        for name, values in ours.items():
            np.testing.assert_array_equal(raw(file["table"][name][...]), raw(values))
        # The group of a table holds its columns, and nothing that readers of dataframes do not know.
        assert set(file["table"]) == set(columns())


@pytest.mark.parametrize("place", PLACES)
def test_numbers_that_can_be_missing_keep_their_marks(place, tmp_path):
    values = np.ma.masked_array(np.linspace(0, 9, 900).astype("f4"), np.arange(900) % 5 == 0)
    with make(tmp_path, place, {"v": values}, lossy={"v": {"max_error": 0.05}}) as table:
        found = table["v"][...]
        np.testing.assert_array_equal(np.ma.getmaskarray(found), values.mask)
        check({"max_error": 0.05}, values.compressed(), np.ma.asarray(found).compressed())


@pytest.mark.parametrize("place", PLACES)
def test_loss_makes_tables_smaller_and_info_tells_of_it(place, tmp_path):
    with make(tmp_path, place, lossy=None) as table:
        exact = table.info["columns"]
    with make(tmp_path, place, mode="w") as table:
        loose = table.info["columns"]
    assert exact["x"]["cbytes"] > 1.5 * loose["x"]["cbytes"]
    assert exact["x"]["lossy"] is None
    assert "max_error" in str(loose["x"]["lossy"])
    assert loose["time"]["lossy"] is None


@pytest.mark.parametrize("place", PLACES)
def test_copies_take_bounds_and_are_exact_without(place, tmp_path):
    data = columns()
    with make(tmp_path, place, lossy=None) as table, table.copy(tmp_path / f"b{place}", lossy=LOSSY) as loose:
        check_all(data, loose)
        assert loose.info["columns"]["x"]["lossy"].error_bound == cq.Lossy(max_error=0.01)
        with loose.copy(tmp_path / f"c{place}") as exact:
            np.testing.assert_array_equal(exact["x"][...], loose["x"][...])
            assert exact.info["columns"]["x"]["lossy"] is None
            exact.append(columns(9, 5))
            np.testing.assert_array_equal(exact["x"][-9:], columns(9, 5)["x"])


def test_what_has_no_bound_is_refused_and_nothing_is_made(tmp_path):
    data = columns(50)
    for lossy, options, text in (
        ({"s": {"max_error": 1}}, {}, "'s'"),
        ({"nothing": {"max_error": 1}}, {}, "nothing"),
        ({"x": {"max_error": 1}}, {"layout": "rows"}, "columns"),
        ({"x": {"max_error": -1}}, {}, "max_error"),
        ({"x": 3}, {}, "lossy"),
    ):
        with pytest.raises((ValueError, TypeError), match=text):
            cq.create_table(tmp_path / "t.h5", data, lossy=lossy, **options)
        assert not (tmp_path / "t.h5").exists()
    times = {"t": np.arange(3).astype("M8[s]"), "b": np.zeros(3, bool)}
    for name in times:
        with pytest.raises((ValueError, TypeError), match=f"'{name}'"):
            cq.create_table(tmp_path / "t.h5", times, lossy={name: {"max_error": 1}})


def test_a_table_in_a_group_takes_bounds_too(tmp_path):
    with cq.open(tmp_path / "f.h5", "w") as file:
        table = file.create_table("a/t", {"x": np.linspace(0, 1, 999)}, lossy={"x": {"max_error": 1e-3}})
        check({"max_error": 1e-3}, np.linspace(0, 1, 999), np.asarray(table["x"][...]))
