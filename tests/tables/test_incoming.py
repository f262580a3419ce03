"""Tables are made of everything that people have, and what does not fit is an error with a name in it."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import coquina as cq
from coquina.tables.incoming import batches
from coquina.tables.layout import ColumnSpec
from tests.tables.table_cases import FLAT, NESTED, both_layouts, records, same

TEXT = np.dtypes.StringDType()


def taken(data, schema=None, rows=1 << 18):
    """Return the schema of data, and the values of the columns as lists."""
    found, parts = batches(data, schema, rows)
    made: dict[str, list] = {}
    for part in parts:
        assert len({len(values) for values in part.values()}) == 1
        for path, values in part.items():
            made.setdefault(path, []).extend(np.asanyarray(values).tolist() if hasattr(values, "tolist")
                                             else list(values))  # fmt: skip
    return found, made


def kinds(schema):
    return {spec.name: (str(spec.dtype), spec.nullable) for spec in schema}


@pytest.mark.parametrize(
    "description",
    [
        np.dtype([("a", "i4"), ("b", "f8")]),
        {"a": "i4", "b": "f8"},
        {"a": np.int32, "b": float},
        (ColumnSpec("a", np.dtype("i4")), ColumnSpec("b", np.dtype("f8"))),
    ],
)
def test_descriptions_have_columns_and_no_rows(description):
    schema, made = taken(description)
    assert kinds(schema) == {"a": ("int32", False), "b": ("float64", False)}
    assert made == {}


def test_text_is_described_by_str():
    schema, _ = taken({"s": str, "n": "U5"})
    assert schema[0].dtype.kind == "T"
    assert schema[1].dtype == np.dtype("U5")


ROWS = [(1, "a", 2.5), (2, "", None), (3, "grün", -1.0)]
NAMES = ("f0", "f1", "f2")


@pytest.mark.parametrize(
    "make",
    [
        lambda: ROWS,
        lambda: iter(ROWS),
        lambda: [list(row) for row in ROWS],
        lambda: (dict(zip(NAMES, row, strict=True)) for row in ROWS),
        lambda: dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True)),
        lambda: pa.Table.from_pylist([dict(zip(NAMES, row, strict=True)) for row in ROWS]),
        lambda: pa.RecordBatch.from_pylist([dict(zip(NAMES, row, strict=True)) for row in ROWS]),
        lambda: pd.DataFrame(ROWS, columns=NAMES),
    ],
    ids=["tuples", "iterator", "lists", "mappings", "columns", "arrow", "batch", "pandas"],
)
def test_the_same_rows_in_every_shape_make_the_same_table(make, tmp_path):
    with cq.create_table(tmp_path / "t.h5", make()) as table:
        assert table.columns == NAMES
        assert kinds(table.schema)["f0"] == ("int64", False)
        assert kinds(table.schema)["f2"] == ("float64", False)
        assert table["f0"][:].tolist() == [1, 2, 3]
        assert list(table["f1"][:]) == ["a", "", "grün"]
        np.testing.assert_array_equal(table["f2"][:], [2.5, np.nan, -1.0])
        assert table.append(make()) == 3
        assert table["f0"][3:].tolist() == [1, 2, 3]


@both_layouts
def test_records_and_single_ones(layout, tmp_path):
    for dtype in (FLAT, NESTED)[: 1 + (layout == "rows")]:
        rows = records(100, dtype)
        with cq.create_table(tmp_path / "t.h5", rows, layout=layout, mode="w") as table:
            table.append(rows[3])
            table.append([rows[4], rows[5]])
            table.append(table.where("row >= 0", {"row": np.arange(len(table))}).head(2))
            same(table[:], rows[[*range(100), 3, 4, 5, 0, 1]])


def test_long_data_come_in_batches_of_bounded_size():
    rows = records(1000)
    for data in (rows, {name: rows[name] for name in rows.dtype.names}, pd.DataFrame({"a": rows["a"]})):
        schema, parts = batches(data, rows=300)
        sizes = [len(next(iter(part.values()))) for part in parts]
        assert (sum(sizes), max(sizes)) == (1000, 300)
        assert schema[0].name == "a"


def test_arrays_of_ours_are_columns_and_read_in_parts(tmp_path):
    values = np.arange(100_000)
    with cq.create_table(tmp_path / "t.h5", {"x": cq.asarray(values), "y": cq.asarray(values) * 2}) as table:
        np.testing.assert_array_equal(table["y"][:], values * 2)


def test_masks_and_none_make_columns_that_can_be_missing():
    schema, made = taken({
        "m": np.ma.MaskedArray([1, 2, 3], [0, 1, 0]), "t": ["a", None, "b"], "i": [1, None, 3],
        "b": [True, None, False], "f": [1.5, None, 2.5], "w": [np.datetime64("2024-01-01"), None, None],
    })  # fmt: skip
    assert kinds(schema) == {
        "m": ("int64", True), "t": (str(TEXT), True), "i": ("int64", True), "b": ("bool", True),
        "f": ("float64", False), "w": ("datetime64[D]", False),
    }  # fmt: skip
    assert made["m"] == made["i"] == [1, None, 3]
    assert made["b"] == [True, None, False]
    assert made["w"][1:] == [None, None]
    assert np.isnan(made["f"][1])


def test_pandas_kinds():
    frame = pd.DataFrame(
        {
            "I": pd.array([1, None], "Int32"), "B": pd.array([None, True], "boolean"),
            "S": pd.array(["x", None], "string"), "o": ["x", None],
            "c": pd.Categorical(["q", None], ["q", "r"]),
            "z": pd.to_datetime(["2024-01-01T12:00+02:00", None], utc=True).tz_convert("Europe/Berlin"),
        },
        index=pd.Index([7, 9], name="key"),
    )  # fmt: skip
    schema, made = taken(frame)
    assert [spec.name for spec in schema] == ["key", "I", "B", "S", "o", "c", "z"]
    assert {spec.name for spec in schema if spec.nullable} == {"I", "B", "S", "o"}
    assert made["key"] == [7, 9]
    assert made["I"] == [1, None]
    assert made["B"] == [None, True]
    assert schema[5].categories is not None
    # The instant, in UTC.
    zone = next(iter(batches(frame)[1]))["z"]
    assert zone[0] == np.datetime64("2024-01-01T10:00")
    assert np.isnat(zone[1])


WANTED = (ColumnSpec("a", np.dtype("i4")), ColumnSpec("b", np.dtype("f8")))


@pytest.mark.parametrize(
    ("data", "kind", "sentence"),
    [
        ({"a": [1]}, ValueError, "b missing"),
        ({"a": [1], "b": [2.0], "c": [3]}, ValueError, "c unknown"),
        ({"a": [1, 2], "b": [2.0]}, ValueError, "unequal lengths"),
        ([(1,)], ValueError, "1 values for 2 columns"),
        ([(1, 2.0), {"a": 1}], ValueError, "2 columns are needed"),
        ([(1, 2.0), 5], TypeError, "not int"),
        (pd.DataFrame({"a": [1]}), ValueError, "b missing"),
        (pa.table({"a": [1], "d": [1]}), ValueError, "d unknown"),
        (5, TypeError, "made of int"),
        ("text", TypeError, "made of str"),
        (np.zeros(3), TypeError, "records are needed"),
        (np.zeros((2, 2), [("a", "i4")]), TypeError, "records are needed"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), TypeError, "must be text, each another"),
        (pd.DataFrame([[1, 2]]), TypeError, "must be text, each another"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(data, kind, sentence):
    with pytest.raises(kind, match=sentence):
        taken(data, WANTED)


@pytest.mark.parametrize(
    ("data", "kind", "sentence"),
    [
        ([], TypeError, "none, and no schema"),
        ([5], TypeError, "not int"),
        ({"a": [1, 2], "b": [1]}, ValueError, "unequal lengths"),
        ({"a": 5}, ValueError, "is a single value"),
        ({"a": [object()]}, TypeError, "'a': objects"),
        ({"a": [1, "x", None]}, TypeError, "'a'"),
        (np.zeros(2, [("v", "V4")]), TypeError, "'v': bytes without meaning"),
        (np.zeros(2, [("n", [("x", "i4")], 3)]), TypeError, "'n': records with axes"),
        (np.dtype("i4"), TypeError, "needs one with fields"),
        (pd.DataFrame({"p": pd.period_range("2024", periods=2, freq="M")}), TypeError, "'p': pandas'"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused(data, kind, sentence, tmp_path):
    with pytest.raises(kind, match=sentence):
        cq.create_table(tmp_path / "no.h5", data)
    assert not (tmp_path / "no.h5").exists()


def test_columns_go_by_their_names_and_not_by_their_places(tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"a": [1], "b": [2.5]}) as table:
        table.append({"b": [4.5], "a": [3]})
        table.append(pd.DataFrame({"b": [6.5], "a": [5]}))
        table.append(np.array([(8.5, 7)], [("b", "f8"), ("a", "i8")]))
        table.append([{"b": 10.5, "a": 9}, (11, 12.5)])
        assert table["a"][:].tolist() == [1, 3, 5, 7, 9, 11]
        assert table["b"][:].tolist() == [2.5, 4.5, 6.5, 8.5, 10.5, 12.5]


def test_a_batch_that_fails_leaves_the_table_as_it_was(tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"a": np.arange(5, dtype="i1")}) as table:
        for bad in ({"a": [1, 300]}, {"a": [1.5]}, {"a": ["x"]}, {"a": [None]}):
            with pytest.raises((ValueError, TypeError)):
                table.append(bad)
        assert table["a"][:].tolist() == [0, 1, 2, 3, 4]


def test_a_single_value_is_no_column(tmp_path):
    # Text was taken apart into a value for each character; of numbers "columns of unequal lengths" was said.
    with cq.create_table(tmp_path / "t.h5", {"n": [1], "s": ["a"]}) as t:
        for columns in ({"n": [1, 2], "s": "xy"}, {"n": 5, "s": ["x"]}, {"n": [1], "s": b"x"}):
            with pytest.raises(ValueError, match="is a single value, and columns are lists"):
                t.append(columns)
        assert len(t) == 1


@pytest.mark.parametrize(
    "one", [pd.Series([1]), pl.Series([1]), pd.Index([1]), pa.array([1]), pa.chunked_array([[1]])]
)
def test_a_series_asks_for_the_name_of_its_column(tmp_path, one):
    with pytest.raises(TypeError, match=r"with the name of its column, as \{'price'"):
        cq.create_table(tmp_path / "t.h5", one)
