"""Columns of pandas, Arrow and Polars in a mapping: their nulls, texts, categories and zones."""

import numpy as np
import pyarrow as pa
import pytest

import coquina as cq

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

COLUMNS = {
    "arrow integers": (pa.array([1, None, 3]), [1, None, 3]),
    "arrow chunks": (pa.chunked_array([[1, None], [3]]), [1, None, 3]),
    "arrow no chunk": (pa.chunked_array([], pa.int8()), []),
    "arrow truths": (pa.array([True, None]), [True, None]),
    "arrow text": (pa.array(["x", None, "z"]), ["x", None, "z"]),
    "arrow floats": (pa.array([1.5, 2.5]), [1.5, 2.5]),
    "arrow dictionary": (pa.array(["x", None, "x"]).dictionary_encode(), ["x", None, "x"]),
    "polars": (pl.Series([1, None, 3]), [1, None, 3]),
    "polars text": (pl.Series(["x", None]), ["x", None]),
    "Int64": (pd.array([1, None, 3], "Int64"), [1, None, 3]),
    "Int64 series": (pd.Series([1, None, 3], dtype="UInt8"), [1, None, 3]),
    "boolean": (pd.array([True, None], "boolean"), [True, None]),
    "string": (pd.Series(["x", None], dtype="string"), ["x", None]),
    "arrow in pandas": (pd.Series([1, None], dtype="int64[pyarrow]"), [1, None]),
    "categorical": (pd.Categorical(["x", None, "x"]), ["x", None, "x"]),
    "index": (pd.Index([3, 1]), [3, 1]),
    "plain series": (pd.Series([1.5, 2.5], index=[7, 9]), [1.5, 2.5]),
}


def listed(table, name="a"):
    return table.to_arrow()[name].to_pylist()


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_keep_values_and_nulls(tmp_path, name):
    values, wanted = COLUMNS[name]
    with cq.create_table(tmp_path / "t.h5", {"a": values, "k": np.arange(len(wanted))}) as table:
        assert listed(table) == wanted
        table.append({"a": values, "k": list(range(len(wanted)))})
        assert listed(table) == wanted * 2
        if "categor" in name or "dictionary" in name:
            assert table.schema[0].categories is not None


@pytest.mark.parametrize("name", [name for name, (values, _) in COLUMNS.items() if len(values) == 3])
def test_columns_are_added_with_their_nulls(tmp_path, name):
    values, _ = COLUMNS[name]
    with cq.create_table(tmp_path / "t.h5", {"k": np.arange(3)}) as table:
        table.add_column("a", values)
        table["b"] = values
        wanted = (
            pa.array(values).to_pylist() if not isinstance(values, pa.ChunkedArray) else values.to_pylist()
        )
        assert listed(table) == listed(table, "b") == wanted


def test_zones_of_series_stay(tmp_path):
    times = pd.Series(pd.to_datetime(["2024-01-01", None])).dt.tz_localize("Europe/Berlin")
    with cq.create_table(tmp_path / "t.h5", {"t": times}) as table:
        assert table.schema[0].zone == "Europe/Berlin"
        pd.testing.assert_series_equal(table.to_pandas()["t"], times, check_names=False)


def test_lengths_that_differ_and_structs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="unequal lengths"):
        cq.create_table(tmp_path / "t.h5", {"a": pa.array([1]), "b": [1, 2]})
    with pytest.raises(TypeError, match="struct"):
        cq.create_table(tmp_path / "t.h5", {"a": pa.array([{"x": 1}])})
