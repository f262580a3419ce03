"""Tables: rows are read, appended, changed and deleted as NumPy would do it with records."""

from __future__ import annotations

import pickle
import threading

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.tables.table import Table
from tests.tables.table_cases import FLAT, LAYOUTS, NESTED, both_layouts, make, records, same

COUNT = 3000
quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
edges = st.none() | st.integers(-COUNT - 5, COUNT + 5)
keys = (
    st.integers(-COUNT, COUNT - 1)
    | st.builds(slice, edges, edges, st.none() | st.integers(-7, 7).filter(bool))
    | st.lists(st.integers(-COUNT, COUNT - 1), max_size=20)
    | st.builds(lambda seed: np.random.default_rng(seed).random(COUNT) < 0.1, st.integers(0, 9))
    | st.just(...)
)


@pytest.fixture(scope="module", params=LAYOUTS)
def table(request, tmp_path_factory):
    data = records(COUNT)
    with make(tmp_path_factory.mktemp("t"), request.param, data) as made:
        yield made, data


@pytest.fixture(scope="module")
def nested(tmp_path_factory):
    data = records(COUNT, NESTED)
    with make(tmp_path_factory.mktemp("n"), "rows", data) as made:
        yield made, data


@quick
@given(key=keys)
def test_keys_give_the_records_that_numpy_gives(table, key):
    made, data = table
    same(made[key], data[key])


@quick
@given(key=keys)
def test_keys_of_nested_records_and_of_values_with_axes(nested, key):
    made, data = nested
    same(made[key], data[key])
    same(made["info"][key], data["info"][key])
    same(made["pos"][key], data["pos"][key])


@quick
@given(key=keys, name=st.sampled_from(FLAT.names))
def test_keys_of_a_column(table, key, name):
    made, data = table
    same(made[name][key], data[name][key])


@pytest.mark.parametrize("key", [COUNT, -COUNT - 1, [COUNT], np.zeros(5, bool), 1.5, (0, 0)])
def test_keys_that_are_none(table, key):
    made, data = table
    with pytest.raises(IndexError):
        data[key]
    with pytest.raises(IndexError):
        made[key]


def test_columns_by_name(table, nested):
    made, data = table
    same(made[["s", "a"]], data[["s", "a"]])
    same(made.to_numpy("b"), data["b"])
    same(made.read(["u"], 5, 900, 3), data[["u"]][5:900:3])
    same(made.a[3:9], data["a"][3:9])
    assert {name: values.tolist() for name, values in made.to_dict(["a", "f"]).items()} == {
        "a": data["a"].tolist(),
        "f": data["f"].tolist(),
    }
    with pytest.raises(KeyError, match="no column 'zzz' \\(there are a, b"):
        made["zzz"]
    with pytest.raises(AttributeError):
        made.zzz  # noqa: B018
    inner, records_ = nested
    same(inner["info/deep/y"][...], records_["info"]["deep"]["y"])
    same(inner["info"]["x"][5:7], records_["info"]["x"][5:7])
    same(inner.to_numpy(["info/x", "k"])["info/x"], records_["info"]["x"])
    same(inner.to_numpy("info"), records_["info"])


def test_what_a_table_says_of_itself(table, nested):
    made, data = table
    assert len(made) == made.nrows == COUNT
    assert made.shape == (COUNT,)
    assert made.columns == FLAT.names
    assert made.dtype == FLAT
    assert made.name == "/table"
    assert made.path.endswith(".h5")
    assert "a" in made
    assert "zz" not in made
    assert "3000 rows" in repr(made)
    assert "float64" in repr(made)
    html = made._repr_html_()
    assert html.count("<tr>") == 2 + 5 + 1 + 5
    assert str(data["a"][-1]) in html
    assert made.verify() == {}
    assert nested[0].dtype == NESTED.newbyteorder("=")
    assert np.asarray(nested[0]).dtype == nested[0].dtype
    assert made.info["nrows"] == COUNT


def test_iteration_and_batches(table):
    made, data = table
    assert [row["a"] for row in made] == data["a"].tolist()
    parts = list(made.batches(700))
    assert [len(part) for part in parts] == [700] * 4 + [200]
    same(np.concatenate(parts), data)
    assert [part.dtype.names for part in made.batches(2000, ["u", "s"])] == [("u", "s")] * 2


@both_layouts
def test_appends_of_all_kinds_of_rows(tmp_path, layout):
    data = records(10)[["a", "b", "s"]].copy()
    data["b"] = 0.5
    with make(tmp_path, layout, data[:0]) as table:
        assert table.append(data[:2]) == 2
        table.append({"s": data["s"][2:4], "a": data["a"][2:4], "b": data["b"][2:4]})
        table.append([tuple(row) for row in data[4:6].tolist()])
        table.append(iter([dict(zip(data.dtype.names, row, strict=True)) for row in data[6:8].tolist()]))
        # By name, not by place.
        table.append(data[8:][["s", "b", "a"]])
        assert len(table) == 10
        same(table[:], np.array(data.tolist(), data.dtype))
        table.append(table)
        same(table[:], np.concatenate([data, data]))
        with pytest.raises(ValueError, match="b"):
            table.append({"a": [1], "s": [b"x"]})
        assert len(table) == 20


@both_layouts
def test_single_rows_wait_and_are_seen(tmp_path, layout):
    data = records(1300)
    with make(tmp_path, layout, data[:0]) as table:
        for at in range(1300):
            table.append(data[at : at + 1])
            if at % 400 == 0:
                same(table[-1], data[at])
                assert table.count() == at + 1 == len(table)
    with cq.open_table(tmp_path / f"{layout}.h5") as table:
        same(table[:], data)


@both_layouts
def test_rows_that_nobody_closed_are_written_with_the_file(tmp_path, layout):
    data = records(5)
    with cq.open(tmp_path / "x.h5", "w") as file:
        file.create_table("/deep/t", data, layout=layout).append(data)
    with cq.open(tmp_path / "x.h5") as file:
        same(file["deep/t"][:], np.concatenate([data, data]))


@both_layouts
@quick
@given(key=keys, seed=st.integers(0, 99))
def test_rows_are_overwritten_as_in_numpy(tmp_path_factory, layout, key, seed):
    data = records(COUNT)
    with make(tmp_path_factory.mktemp("w"), layout, data) as table:
        rows = np.atleast_1d(np.arange(COUNT)[key])
        # Of several values for one row NumPy keeps the last.
        news = records(len(rows), seed=seed)
        wanted = data.copy()
        wanted[rows] = news
        table[key] = news
        same(table[:], wanted)
        wanted[rows] = news[:1] if len(news) else 0
        if len(news):
            table[key] = news[0]
        same(table[:], wanted)


@both_layouts
def test_columns_are_overwritten(tmp_path, layout):
    data = records(COUNT)
    with make(tmp_path, layout, data) as table:
        table["a"] = np.arange(COUNT)
        table["s"] = "xy"
        table[["f", "h"]] = np.array([(True, 2.5)], [("f", "?"), ("h", "f2")])
        table["u"] = table["a"] * 2
        data["a"], data["s"], data["f"], data["h"] = np.arange(COUNT), b"xy", True, 2.5
        data["u"] = data["a"] * 2
        same(table[:], data)
        assert table.modify("a >= 2990", {"b": np.arange(10.0), "s": b"q"}) == 10
        data["b"][2990:], data["s"][2990:] = np.arange(10), b"q"
        assert table.modify(slice(0, 6, 2), {"b": table["a"] + 0.5}) == 3
        data["b"][:6:2] = data["a"][:6:2] + 0.5
        assert table.where("a < 5").order_by("a", descending=True).modify({"h": [9, 8, 7, 6, 5]}) == 5
        data["h"][:5] = [5, 6, 7, 8, 9]
        same(table[:], data)
        with pytest.raises(ValueError, match="2 values of 'b' for 1 rows"):
            table.modify(3, {"b": [1, 2]})
        with pytest.raises(ValueError, match="7 rows for 3 rows"):
            table[:3] = data[:7]
        same(table[:], data)


@both_layouts
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(key=keys)
def test_deleting_is_that_of_numpy(tmp_path_factory, layout, key):
    data = records(COUNT)
    with make(tmp_path_factory.mktemp("d"), layout, data) as table:
        gone = np.zeros(COUNT, bool)
        gone[key] = True
        assert table.delete(key) == np.count_nonzero(gone)
        same(table[:], data[~gone])
        table.append(data[:3])
        same(table[:], np.concatenate([data[~gone], data[:3]]))


@both_layouts
def test_deleting_by_condition_and_truncating(tmp_path, layout, monkeypatch):
    monkeypatch.setattr("coquina.tables.scanning.WINDOW_BYTES", 1)
    monkeypatch.setattr("coquina.tables.scanning._ROWS_MIN", 300)
    data = records(COUNT)
    with make(tmp_path, layout, data) as table:
        gone = data["a"] > 20
        assert table.delete("a > 20") == np.count_nonzero(gone)
        data = data[~gone]
        same(table[:], data)
        gone = (data["a"] < 0) & (np.arange(len(data)) % 3 == 1)
        assert table.where(table["a"] < 0, start=1, step=3).delete() == np.count_nonzero(gone)
        data = data[~gone]
        same(table[:], data)
        assert table.where("f").head(7).delete() == 7
        data = np.delete(data, np.flatnonzero(data["f"])[:7])
        same(table[:], data)
        table.truncate(100)
        same(table[:], data[:100])
        with pytest.raises(ValueError, match="101 of 100"):
            table.truncate(101)
        assert table.delete(slice(None)) == 100
        assert len(table) == 0
        assert table[:].shape == (0,)
        assert table.sum("a") == 0


def test_columns_come_and_go(tmp_path):
    data = records(500)
    with make(tmp_path, "columns", data) as table:
        table["new"] = np.arange(500) * 0.5
        table["t"] = ["é" * (at % 3) for at in range(500)]
        assert table.columns == (*FLAT.names, "new", "t")
        table.rename_column("new", "newer")
        table.drop_column("a")
        assert "a" not in table
        assert table["newer"][7] == 3.5
        assert table["t"][5] == "éé"
        assert table.where("t == 'éé'").count() == 166
        with pytest.raises(ValueError, match="3 values for 500 rows"):
            table["bad"] = [1, 2, 3]
        assert table.columns == (*FLAT.names[1:], "newer", "t")
    with make(tmp_path, "rows", data) as table:
        for change in (
            lambda: table.add_column("n", 1),
            lambda: table.drop_column("a"),
            lambda: table.rename_column("a", "q"),
        ):
            with pytest.raises(cq.UnsupportedError, match="layout='columns'"):
                change()


@both_layouts
@pytest.mark.parametrize("to", LAYOUTS)
def test_copies_sorted_and_chosen(tmp_path, layout, to):
    data = records(COUNT)
    with make(tmp_path, layout, data) as table:
        with table.copy(tmp_path / "c.h5", "/x/y", layout=to, sort_by=["s", "a"]) as copied:
            same(copied[:], data[np.lexsort([data["a"], data["s"]])])
        with table.copy(tmp_path / "d.h5", layout=to, condition="a > 0", columns=["b", "a"]) as copied:
            assert copied.name == "/table"
            same(copied[:], data[data["a"] > 0][["b", "a"]])
        same(table.copy(table.file, "/other", layout=to)[:], data)
        # Into a file that is there, beside what it has.
        table.copy(tmp_path / "c.h5").close()
        with pytest.raises(ValueError, match="overwrite=True"):
            table.copy(tmp_path / "c.h5")
        with cq.open_table(tmp_path / "c.h5", "/x/y") as first:
            assert len(first) == COUNT


def test_text_and_missing_values(tmp_path):
    columns = {
        "n": np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0]),
        "s": ["a", None, "", "ü" * 50],
        "x": [0.5, 1.5, 2.5, 3.5],
    }
    with make(tmp_path, "columns", columns) as table:
        rows = table[:]
        assert isinstance(rows, np.ma.MaskedArray)
        assert rows["n"].tolist() == [1, None, 3, 4]
        assert rows["s"].tolist() == columns["s"]
        assert table[1]["n"] is np.ma.masked
        assert table[3]["s"] == "ü" * 50
        assert table.sum("n") == 8
        assert table.mean("n") == 8 / 3
        assert table.min("s") == ""
        table.append([(None, "z", 9.0)])
        assert table.where("n is null").row_numbers().tolist() == [1, 4]
        assert table.order_by("s", descending=True).to_numpy("s").tolist() == ["ü" * 50, "z", "a", "", None]
        assert table.order_by("n", descending=True).row_numbers().tolist() == [3, 2, 0, 1, 4]
        assert table.delete([0, 2]) == 2
        assert table.to_numpy("s").tolist() == [None, "ü" * 50, "z"]


def test_opening(tmp_path):
    data = records(20)
    path = tmp_path / "t.h5"
    with cq.create_table(path, data, name="/a/one", layout="rows") as one:
        one.file.create_table("two", data[:3])
        one.file["group/plain"] = data[:4]
        one.file.create_group("empty")
    with pytest.raises(KeyError, match="/a/one, /two"):
        cq.open_table(path)
    with cq.open_table(path, "a/one") as table:
        same(pickle.loads(pickle.dumps(table))[:], data)
        with pytest.raises(ValueError, match="reading only"):
            table.append(data)
    assert not table
    assert repr(table) == "<Table, closed>"
    with pytest.raises(ValueError, match="closed"):
        table[:]
    with cq.open(path) as file:
        assert isinstance(file["a/one"], Table)
        assert file["a/one"] is file["a/one"]
        assert file["two"].columns == FLAT.names
        assert isinstance(file["group/plain"], cq.hdf5.Dataset)
        same(file.table("group/plain")[:], data[:4])
        same(file["a"].dataset("one")[:2]["a"], data["a"][:2])
        with pytest.raises(cq.UnsupportedError):
            file.table("empty")
    with pytest.raises(KeyError, match="no table"), h5py.File(tmp_path / "no.h5", "w"):
        cq.open_table(tmp_path / "no.h5")


def test_what_fails_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="layout"):
        cq.create_table(tmp_path / "x.h5", FLAT, layout="diagonal")
    with pytest.raises(TypeError):
        cq.create_table(tmp_path / "x.h5", 5)
    assert list(tmp_path.iterdir()) == []

    def failing(count):
        yield from ((at, 2.0) for at in range(count))
        raise RuntimeError("no more")

    for name, layout in [("x.h5", "rows"), ("x.h5", "columns"), ("x", "columns")]:
        for count in (1, 40000):
            with pytest.raises(RuntimeError):
                cq.create_table(tmp_path / name, failing(count), layout=layout)
        assert list(tmp_path.iterdir()) == []
    with cq.open(tmp_path / "x.h5", "w") as file:
        with pytest.raises(RuntimeError):
            file.create_table("t", failing(40000))
        assert list(file) == []


def test_a_directory_of_frames(tmp_path):
    data = records(COUNT)
    with cq.create_table(tmp_path / "t", data, chunk_rows=512) as table:
        table.append(data)
        assert table.path == str(tmp_path / "t")
        assert table.delete("a > 0") == 2 * np.count_nonzero(data["a"] > 0)
    wanted = np.concatenate([data, data])
    wanted = wanted[wanted["a"] <= 0]
    with cq.open_table(tmp_path / "t") as table:
        same(table[:], wanted)
        same(table.where("f").to_numpy("b"), wanted["b"][wanted["f"]])
        same(pickle.loads(pickle.dumps(table))[3:7], wanted[3:7])
        with table.copy(tmp_path / "c.h5", sort_by="a") as copied:
            assert copied.name == "/table"
            same(copied[:], wanted[np.argsort(wanted["a"], kind="stable")])


def test_threads_share_a_table(table):
    made, data = table
    wrong: list[int] = []

    def read(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(20):
            first, last = sorted(rng.integers(0, COUNT, 2).tolist())
            if made[first:last]["a"].tolist() != data["a"][first:last].tolist():
                wrong.append(seed)
            if made.where("a > 0").count() != np.count_nonzero(data["a"] > 0):
                wrong.append(seed)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []


@both_layouts
def test_what_is_assigned_to_a_column_between_appends_stays(layout, tmp_path):
    with make(tmp_path, layout, np.zeros(200, [("x", "f4")])) as table:
        for turn in range(1, 4):
            table["x"][50:100] = turn
            table.append(np.zeros(150, [("x", "f4")]))
            table.flush()
            assert table["x"][...].sum() == 50 * turn


def test_a_masked_item_is_a_value_that_is_missing(tmp_path):
    values = np.ma.MaskedArray(np.arange(5), [True, False, False, False, False])
    with make(tmp_path, "columns", {"x": values}) as table:
        assert table.modify("x > 2", {"x": values[0]}) == 2
        table.modify(1, {"x": np.ma.MaskedArray(7, True)})
        assert table["x"][...].tolist() == [None, None, 2, None, None]


def test_rows_without_a_value_and_with_nan_keep_their_order(tmp_path):
    values = np.ma.MaskedArray([5.0, np.nan, 1.0, 2.0, np.nan, 0.0], [False, False, False, True, False, True])
    with make(tmp_path, "columns", {"x": values}) as table:
        assert table.order_by("x").row_numbers().tolist() == [2, 0, 1, 3, 4, 5]
        assert table.order_by("x", descending=True).row_numbers().tolist() == [0, 2, 1, 3, 4, 5]
