"""What goes out of a table and comes back by any way is the same: names, order, values, nulls, times, zones.

Missing numbers of floating point are NaN in a table, as docs/tables.md says.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import coquina as cq

ROWS = 7
ZONE = "Europe/Berlin"
COLUMNS = {
    "z_last_by_name": pa.array(range(ROWS), pa.int64()),
    "small": pa.array([1, None, -3, 4, 127, -128, None], pa.int8()),
    "unsigned": pa.array([2**64 - 1, 0, 1, 2, 3, 4, 5], pa.uint64()),
    "float": pa.array([0.5, float("nan"), float("inf"), -0.0, 1e300, 2.0, 3.0], pa.float64()),
    "float32": pa.array([0.5, float("nan"), 1.5, -0.0, 2.5, 2.0, 3.0], pa.float32()),
    "truth": pa.array([True, False, None, True, None, False, True], pa.bool_()),
    "text": pa.array(["a", None, "", "é", "日本", "x" * 300, "a"], pa.large_string()),
    "all_text": pa.array(["b", "a", "", "é", "日本", "x" * 300, "a"], pa.large_string()),
    "kind": pa.array(["u", "v", None, "u", "u", "v", "w"]).dictionary_encode(),
    "when_ns": pa.array([0, 1, None, -5, 2**62, 4, 5], pa.timestamp("ns")),
    "when_us": pa.array([0, 1, None, -5, 7, 4, 5], pa.timestamp("us")),
    "berlin": pa.array([0, 10**15, None, -5, 7, 4, 5], pa.timestamp("us", ZONE)),
    "lasts": pa.array([0, 1, None, -5, 7, 4, 5], pa.duration("ms")),
    "A first": pa.array(range(ROWS), pa.int16()),
}
ALL = pa.table(COLUMNS)
ATTRS = {"source": "buoy 7", "version": 3, "scales": [0.5, 2.0], "names": ["x", "é"]}


def create(folder, home, data):
    path = folder / ("d" if home == "directory" else f"{home}.h5")
    return cq.create_table(path, data, **({} if home == "directory" else {"name": "/t", "layout": home}))


def same(found: pa.Table, wanted: pa.Table) -> None:
    assert found.column_names == wanted.column_names
    for name in wanted.column_names:
        one, other = (column.combine_chunks() for column in (found[name], wanted[name]))
        zones = [getattr(array.type, "tz", None) for array in (one, other)]
        assert zones[0] == zones[1], name
        is_text = any("string" in str(array.type) for array in (one, other))
        if is_text:
            one, other = one.cast(pa.large_string()), other.cast(pa.large_string())
        assert one.type == other.type, name
        # NaN is a value, and a null is none; both are kept.
        assert one.is_null().to_pylist() == other.is_null().to_pylist(), name
        assert str(one.to_pylist()) == str(other.to_pylist()), name


HOMES = ("columns", "directory")


@pytest.fixture(params=HOMES)
def table(request, tmp_path):
    with create(tmp_path, request.param, ALL) as made:
        made.attrs.update(ATTRS)
        yield made


def by_parquet(table, folder):
    table.to_parquet(folder / "x.parquet")
    return cq.read_parquet(folder / "x.parquet", folder / "again.h5")


WAYS = {
    "arrow": lambda table, folder: create(folder, "columns", table.to_arrow()),
    "polars": lambda table, folder: create(folder, "columns", table.to_polars()),
    "pandas": lambda table, folder: create(folder, "columns", table.to_pandas()),
    "parquet": by_parquet,
    "batches": lambda table, folder: create(
        folder, "columns", pa.Table.from_batches(table.to_arrow().to_batches(2))
    ),
    "table": lambda table, folder: create(folder, "columns", table),
    "selection": lambda table, folder: create(folder, "columns", table.where("z_last_by_name >= 0")),
    "copy": lambda table, folder: table.copy(folder / "copy.h5", "/t"),
    "copy to a directory": lambda table, folder: table.copy(folder / "copied"),
    "mapping": lambda table, folder: create(
        folder, "columns", {n: table.to_arrow()[n] for n in table.columns}
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_goes_out_and_comes_back_is_the_same(table, tmp_path, way):
    (tmp_path / "away").mkdir()
    with WAYS[way](table, tmp_path / "away") as again:
        same(again.to_arrow(), ALL)


@pytest.mark.parametrize("way", sorted(set(WAYS) - {"polars", "mapping"}))
def test_attributes_go_with_the_rows(table, tmp_path, way):
    # `Table.copy` dropped them all.
    (tmp_path / "away").mkdir()
    with WAYS[way](table, tmp_path / "away") as again:
        assert {name: plain(again.attrs[name]) for name in ATTRS} == ATTRS


def plain(value):
    return value.tolist() if hasattr(value, "tolist") else value


def test_attributes_that_a_directory_cannot_keep_are_refused(tmp_path):
    with create(tmp_path, "columns", ALL) as table:
        table.attrs["raw"] = np.void(b"ab")
        with pytest.raises(TypeError, match="attribute 'raw'"):
            table.copy(tmp_path / "copied")
        assert not (tmp_path / "copied").exists()


def test_the_layouts_give_attributes_and_title_to_each_other(tmp_path):
    rows = np.zeros(3, [("a", "i4"), ("b", "S3")])
    with cq.create_table(tmp_path / "r.h5", rows, layout="rows", name="/t", title="of rows") as table:
        table.attrs.update(ATTRS)
        with (
            table.copy(tmp_path / "c.h5", layout="columns") as columns,
            columns.copy(tmp_path / "r2.h5", layout="rows") as again,
        ):
            for one in (columns, again):
                assert one.layout.title == "of rows"
                assert {name: plain(one.attrs[name]) for name in ATTRS} == ATTRS
            # None of those that say how a table of rows is stored.
            assert not any(name.startswith(("FIELD_", "CLASS", "NROWS")) for name in columns.attrs)


def test_a_selection_gives_the_rows_that_it_has(table):
    wanted = ALL.filter(pa.array([True, False, True, False, True, False, True]))
    selection = table.where("z_last_by_name in (0, 2, 4, 6)")
    same(selection.to_arrow(), wanted)
    assert selection.to_polars().equals(pl.from_arrow(wanted))


@pytest.mark.parametrize("frame", ["polars", "pandas", "arrow"])
def test_frames_are_those_that_their_own_packages_make(table, frame):
    if frame == "polars":
        assert table.to_polars().schema == pl.from_arrow(ALL).schema
        assert table.to_polars().equals(pl.from_arrow(ALL))
    elif frame == "arrow":
        same(table.to_arrow(), ALL)
    else:
        found, wanted = table.to_pandas(), ALL.to_pandas()
        assert list(found.columns) == list(wanted.columns)
        assert found["berlin"].dt.tz is not None
        assert str(found["berlin"].dt.tz) == str(wanted["berlin"].dt.tz)
        assert str(found["small"].dtype) == "Int8"
        assert str(found["truth"].dtype) == "boolean"
        for name in found.columns:
            assert pd.isna(found[name]).tolist() == pd.isna(wanted[name]).tolist(), name


def test_text_files_keep_what_text_can_say(table, tmp_path):
    # pyarrow, which reads them, takes whole numbers beyond 64 bits with a sign for floating-point numbers.
    left_out = {"unsigned", "kind", "berlin", "lasts", "when_ns"}
    kept = [name for name in ALL.column_names if name not in left_out]
    table.select(kept).to_csv(tmp_path / "x.csv")
    with cq.read_csv(tmp_path / "x.csv", tmp_path / "again.h5") as again:
        found = again.to_arrow()
    assert found.column_names == kept
    for name in kept:
        texts = [column.cast(pa.string()).to_pylist() for column in (found[name], ALL[name])]
        if name == "when_us":
            texts[0] = found[name].cast(pa.timestamp("us")).cast(pa.string()).to_pylist()
        assert texts[0] == texts[1], name


def test_numpy_says_masks_for_nulls(table):
    found = table["small"][:]
    assert np.ma.getmaskarray(found).tolist() == ALL["small"].is_null().to_pylist()


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_the_constructor_of_dataframes_is_refused_and_to_pandas_gives_the_columns(tmp_path, layout):
    data = {"a": np.arange(5), "b": np.arange(5) / 2}
    with cq.create_table(tmp_path / "t.h5", data, layout=layout) as t:
        for one in (t, t.where("a > 2")):
            with pytest.raises(TypeError, match="to_pandas"):
                pd.DataFrame(one)
            assert list(one.to_pandas().columns) == ["a", "b"]
            # Whatever else pandas and NumPy make of them goes on.
            assert len(pd.Series(list(one))) == len(one.to_pandas())
        assert pd.DataFrame(np.asarray(t)).equals(t.to_pandas())
