"""The first hour with a table: names of PyTables and pandas, wrong names of tables, data that do not fit."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coquina as cq
from coquina import foreign_attributes

TIME = np.datetime64("2024-05-06T07:08:09")
tables = pytest.importorskip("tables")


@pytest.fixture
def t(tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"price": [1.0, 2.0], "sym": ["a", "b"]}) as table:
        yield table


@pytest.mark.parametrize("name", foreign_attributes.TABLES)
def test_a_foreign_name_is_answered_with_names_that_there_are(t, name):
    with pytest.raises(AttributeError, match=f"no attribute or column '{name}'; use ") as caught:
        getattr(t, name)
    for one in re.findall(r"\bt\.(\w+)", str(caught.value)):
        assert hasattr(t, one), one


@pytest.mark.parametrize("name", foreign_attributes.COLUMNS)
def test_a_column_of_text_answers_a_foreign_name_too(t, name):
    with pytest.raises(AttributeError, match=f"the column has no attribute '{name}'; use ") as caught:
        getattr(t["sym"], name)
    for one in re.findall(r"\bt\.(\w+)", str(caught.value)):
        assert hasattr(t, one), one
    for one in re.findall(r"(?<=[\] ])\.(\w+)\(", str(caught.value)):
        assert hasattr(t["sym"], one) or hasattr(np.ndarray, one), one
    assert not hasattr(t["sym"], "nothing")


def test_columns_are_selected_one_by_one_or_in_a_list(t):
    assert t.select("sym", "price").columns == t.select(["sym", "price"]).columns == ("sym", "price")
    with pytest.raises(TypeError, match="not both"):
        t.select(["sym"], "price")
    with pytest.raises(KeyError, match="nothing"):
        t.select("sym", "nothing")


def test_a_selection_answers_too_and_other_names_get_no_advice(t):
    with pytest.raises(AttributeError, match=r"selection has no attribute 'sort_values'; use t\.order_by"):
        _ = t.where("price > 1").sort_values
    with pytest.raises(AttributeError, match=r"no attribute or column 'nothing'$"):
        _ = t.nothing
    with pytest.raises(AttributeError, match=r"use agg\(.*which computes count, sum"):
        t.group_by("sym").median("price")
    with pytest.raises(TypeError, match=r"mean\('price'\)"):
        t.group_by("sym")["price"]
    with pytest.raises(TypeError, match=r"mean: of which columns\? takes mean\('price'\)"):
        t.group_by("sym").mean()
    with pytest.raises(TypeError, match=r"agg: takes \{'price': 'mean'\}"):
        t.group_by("sym").agg(["price"])
    with pytest.raises(TypeError, match=r"t\[0:10\] reads rows"):
        t.read(0, 10)
    assert not hasattr(t.where("price > 1"), "__array_interface__")


def test_a_column_keeps_a_foreign_name(tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"index": [1, 2]}) as t:
        assert t.index.sum() == 3


def test_a_wrong_name_of_a_table_names_near_ones_and_a_list_is_short(tmp_path):
    path = tmp_path / "many.h5"
    with cq.open(path, "w") as f:
        for number in range(20):
            f.create_table(f"day/t{number:02}", {"x": [1]}).close()
    with pytest.raises(KeyError, match=r"20 tables, pass the name of one: /day/t00, .*, \.\.\."):
        cq.open_table(path)
    with pytest.raises(KeyError, match="there is no table 'day/t77'; did you mean /day/t17 or"):
        cq.open_table(path, "day/t77")
    with pytest.raises(KeyError, match="there is no table 'zzz'; the file has 20 tables"):
        cq.open_table(path, "zzz")


def test_what_is_no_data_says_what_to_pass(tmp_path):
    class Trade(tables.IsDescription):
        price = tables.Float64Col()

    class Lazy:
        def collect(self):
            """Stand for a lazy frame."""

    with pytest.raises(TypeError, match="dtype_from_descr"):
        cq.create_table(tmp_path / "t.h5", Trade)
    with pytest.raises(TypeError, match=r"of a Lazy; pass its collect\(\)"):
        cq.create_table(tmp_path / "t.h5", Lazy())
    dtype = tables.description.dtype_from_descr(Trade)
    with cq.create_table(tmp_path / "t.h5", dtype, layout="rows") as t:
        assert t.columns == ("price",)


def test_a_table_of_a_frame_without_rows_takes_nulls_later(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"city": pd.array(["Rome", None], "string"), "n": pd.array([1, None], "Int64")})
    with cq.create_table(tmp_path / "t.h5", frame[:0]) as t:
        t.append(frame)
        assert t.to_pandas()["city"].isna().tolist() == t.to_pandas()["n"].isna().tolist() == [False, True]


def test_times_of_pytables_and_durations_are_shown_readably(tmp_path):
    class Row(tables.IsDescription):
        when = tables.Time64Col(pos=0)
        whole = tables.Time32Col(pos=1)

    seconds = float(TIME.astype("M8[s]").astype(int))
    with tables.open_file(tmp_path / "p.h5", "w") as h5:
        rows = np.array([(seconds + 0.25, seconds)], "f8, i4")
        h5.create_table("/", "t", Row).append([tuple(row) for row in rows.tolist()])
    with cq.open_table(tmp_path / "p.h5") as t:
        assert "2024-05-06 07:08:09.250  2024-05-06 07:08:09" in str(t)
    lasting = np.array([3_600_000_000, -1_000_000, np.iinfo("i8").min], "m8[us]")
    with cq.create_table(tmp_path / "d.h5", {"d": lasting, "ns": lasting.astype("m8[ns]")}) as t:
        assert [line.split()[1:] for line in str(t).splitlines()[3:]] == [
            ["1:00:00", "1:00:00"],
            ["-1", "day,", "23:59:59", "-1", "day,", "23:59:59"],
            ["NaT", "NaT"],
        ]


def test_a_tree_shows_tables_of_pytables_as_tables(tmp_path):
    class Row(tables.IsDescription):
        side = tables.EnumCol(["buy", "sell"], "buy", "int8")
        price = tables.Float64Col()

    with tables.open_file(tmp_path / "p.h5", "w") as h5:
        h5.create_table("/day", "t", Row, createparents=True)
    with cq.open(tmp_path / "p.h5") as f:
        assert "t  table, 0 rows: price, side" in str(f.tree())


def test_groups_compute_by_the_name_of_the_aggregate(t):
    for kind in ("sum", "mean", "min", "max"):
        found = getattr(t.group_by("sym"), kind)("price")
        assert np.array_equal(found, t.group_by("sym").agg({"price": kind}))


def test_attributes_of_pytables_are_found_and_not_listed(tmp_path):
    with tables.open_file(tmp_path / "t.h5", "w") as h5:
        made = h5.create_table("/", "t", np.zeros(3, [("x", "i4"), ("n", [("y", "f8")])]))
        made.attrs.unit = "m"
        hidden = made.attrs._f_list("sys")
    with cq.open_table(tmp_path / "t.h5", "/t", "a") as t:
        assert list(t.attrs) == ["unit"]
        assert len(t.attrs) == 1
        assert all(name in t.attrs for name in hidden)
        assert t.attrs["CLASS"] == "TABLE"
        t.attrs["run"] = 5
        assert repr(t.attrs) == "{'run': np.int64(5), 'unit': 'm'}"
        with pytest.raises(ValueError, match="n: CSV has no columns with fields; select n/y"):
            t.to_csv(tmp_path / "t.csv")
        assert t.to_csv(tmp_path / "t.csv", ["x", "n/y"]) == 3


def test_names_of_enumerations_are_appended(tmp_path):
    description = {
        "x": tables.Int32Col(pos=0),
        "kind": tables.EnumCol(["off", "on"], "off", base="uint8", pos=1),
    }
    with tables.open_file(tmp_path / "t.h5", "w") as h5:
        h5.create_table("/", "t", description)
    with cq.open_table(tmp_path / "t.h5", "/t", "a") as t:
        t.append([(1, "on"), (2, b"off"), (3, "on")])
        t.append({"x": [4], "kind": ["on"]})
        assert t["kind"][:].tolist() == [1, 0, 1, 1]
        assert t.where("kind == 'on'").count() == 3
        with pytest.raises(ValueError, match="'oops' is not one of off, on"):
            t.append([(5, "oops")])


@pytest.mark.parametrize(
    ("method", "wrong", "meant"),
    [
        ("order_by", {"by": "price"}, "columns=..."),
        ("order_by", {"ascending": False}, "descending=True"),
        ("order_by", {"ascending": [True, False]}, "descending=[False, True]"),
        ("batches", {"batch_size": 5}, "rows=..."),
        ("batches", {"chunksize": 5}, "rows=..."),
        ("group_by", {"by": "sym"}, "keys=..."),
    ],
)
def test_keywords_of_pandas_and_polars_name_ours(t, method, wrong, meant):
    positional = ["price"] if "ascending" in wrong else []
    for rows in (t, t.where("price > 0")):
        with pytest.raises(TypeError, match=re.escape(f"did you mean {meant}?")):
            getattr(rows, method)(*positional, **wrong)


def test_files_of_other_formats_say_what_opens_them(tmp_path):
    # HDF5's "file signature not found" was all that was said.
    cq.create_table(tmp_path / "t.h5", {"x": [1, 2]}).to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    cq.asarray([1, 2], path=tmp_path / "t.b2nd").close()
    for name, meant in (
        ("t.parquet", "read_parquet makes a table of it"),
        ("t.csv", "read_csv makes a table of it"),
        ("t.b2nd", "an Array, not a table; cq.as_table"),
    ):
        for mode in ("r", "a"):
            with pytest.raises(cq.UnsupportedError, match=meant):
                cq.open_table(tmp_path / name, mode=mode)


def test_a_csv_file_of_another_delimiter_names_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;2,5\n")
    with pytest.raises(ValueError, match=r"t\.csv: .*; did you mean delimiter=';'\?"):
        cq.read_csv(path, tmp_path / "t.h5")
    path.write_text("a,b\n1\n")
    with pytest.raises(ValueError, match=r"t\.csv: CSV parse error: Expected 2 columns, got 1: 1$"):
        cq.read_csv(path, tmp_path / "t.h5")


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("price > @low", "write the name without @, and pass its value"),
        ("`price` > 1", r"write col\('my name'\)"),
        ("!(price > 1)", "write not for !"),
        ("price <> 1", "write != for <>"),
        ("sym.str.contains('a')", r"write s.contains\('a'\) for"),
        ("price.dt.day == 2", "compare times with text"),
        ("price > datetime(2024, 1, 1)", "write times as text"),
    ],
)
def test_conditions_of_pandas_and_sql_say_what_to_write(t, condition, meant):
    with pytest.raises(cq.ExpressionError, match=meant):
        t.where(condition)


def test_text_of_any_length_is_no_array(tmp_path):
    with pytest.raises(TypeError, match="arrays have text of a fixed width, as 'U20' is"):
        cq.asarray(np.array(["a", "bb"], np.dtypes.StringDType()))
