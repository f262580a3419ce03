"""Rows, conditions, orders and statistics of tables are those of pandas."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.server.limits import Limits

from .asgi_client import Client
from .conftest import served, table_columns


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(table_columns())


def rows(client, **parameters):
    answer = client.get("/rows/", file="all.h5", path="/table", **parameters)
    assert answer.status == 200, answer.content
    return answer.json()


def plain(frame, columns):
    """The columns of a frame as JSON has them."""
    made = {}
    for name in columns:
        values = frame[name]
        texts = np.datetime_as_string(values.to_numpy().astype("M8[s]")) if name == "when" else values
        made[name] = list(texts) if name == "when" else values.tolist()
    return made


CONDITIONS = {
    "number > 990": lambda f: f.number > 990,
    "(value < 0.1) & (name == 'n3')": lambda f: (f.value < 0.1) & (f.name_ == "n3"),
    "flag and number < 50": lambda f: f.flag & (f.number < 50),
    "number < 0": lambda f: f.number < 0,
}


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([None, *CONDITIONS]),
    st.sampled_from([None, "value", "-value", "name", "-number", "-when"]),
    st.integers(0, 1100),
    st.integers(0, 60),
)
def test_windows_of_rows_are_those_of_pandas(client, frame, where, sort, start, count):
    asked = {name: text for name, text in (("where", where), ("sort", sort)) if text is not None}
    found = rows(client, start=start, stop=start + count, **asked)
    wanted = frame
    if where is not None:
        wanted = wanted[CONDITIONS[where](frame.rename(columns={"name": "name_"}))]
    if sort is not None:
        name, is_up = sort.removeprefix("-"), not sort.startswith("-")
        wanted = wanted.sort_values(name, ascending=is_up, kind="stable")
    assert found["total"] == len(wanted)
    wanted = wanted.iloc[start : start + count]
    assert found["rows"] == wanted.index.tolist()
    assert found["values"] == plain(wanted, found["columns"])


def test_conditions_are_answered_once_for_many_windows(client, monkeypatch):
    from coquina.server import table_rows

    counted = []
    match = table_rows._match
    monkeypatch.setattr(table_rows, "_match", lambda *args: counted.append(1) or match(*args))
    for start in range(0, 100, 10):
        assert rows(client, where="number >= 123", start=start, stop=start + 10)["rows"][0] == 123 + start
    assert len(counted) == 1


def test_many_rows_are_sorted_no_further_than_asked(folder):
    limits = Limits(rows=100)
    with Client(served(folder, limits=limits).app) as client:
        found = rows(client, where="number >= 10", sort="-number", stop=5)
        assert found["total"] == 990
        assert found["rows"] == [999, 998, 997, 996, 995]
        answer = client.get("/rows/", file="all.h5", path="/table", sort="number", start=500, stop=510)
        assert answer.status == 413


def test_columns_are_chosen(client):
    assert list(rows(client, columns="value,number", stop=2)["values"]) == ["value", "number"]
    answer = client.get("/rows/", file="all.h5", path="/table", columns="nothing")
    assert answer.status == 400
    assert "nothing" in answer.json()["message"]


@pytest.mark.parametrize("extra", [{}, {"where": "number > 500"}, {"where": "number > 5", "sort": "-value"}])
@pytest.mark.parametrize("window", [{}, {"start": 3, "stop": 9}])
def test_files_hold_the_rows_that_json_has(client, extra, window):
    wanted = rows(client, **{"stop": 1000, **extra, **window})["values"]["number"]
    for kind, read in READERS.items():
        answer = client.get("/rows/", file="all.h5", path="/table", format=kind, **extra, **window)
        assert answer.status == 200, answer.content
        assert read(io.BytesIO(answer.content))["number"].to_pylist() == wanted


READERS = {
    "arrow": lambda file: pa.ipc.open_stream(file).read_all(),
    "csv": pa.csv.read_csv,
    "parquet": pa.parquet.read_table,
}


@pytest.mark.parametrize(
    ("where", "caret"), [("number >>> 3", 9), ("nothing > 3", 0), ("number +", 8), ("__import__('os')", 0)]
)
def test_bad_conditions_say_where(client, where, caret):
    answer = client.get("/rows/", file="all.h5", path="/table", where=where)
    assert answer.status == 400
    assert answer.json()["error"] == "expression"
    assert answer.json()["caret"] == caret


def test_the_schema_names_kinds_and_indexes(tmp_path):
    columns = pd.DataFrame(
        {
            "category": pd.Categorical(["x", "y", "x"]),
            "missing": pd.array([1, None, 3], dtype="Int64"),
            "flag": [True, False, True],
            "time": pd.date_range("2020", periods=3, tz="UTC"),
            "text": ["a", None, "c"],
            "float": [1.0, np.nan, np.inf],
        }
    )
    with cq.create_table(tmp_path / "t.h5", columns, name="/t") as table:
        table.create_index("missing")
    with Client(served(tmp_path).app) as client:
        found = client.get("/schema/", file="t.h5", path="/t").json()
        kinds = {one["name"]: one["kind"] for one in found["columns"]}
        assert kinds == {
            "category": "category", "missing": "integer", "flag": "bool", "time": "time", "text": "text",
            "float": "float",
        }  # fmt: skip
        assert [one["name"] for one in found["columns"] if one["indexed"]] == ["missing"]
        values = client.get("/rows/", file="t.h5", path="/t").json()["values"]
        assert values["missing"] == [1, None, 3]
        assert values["text"] == ["a", None, "c"]
        assert values["float"] == [1.0, None, None]
        assert values["category"] == ["x", "y", "x"]
        found = client.get("/column/", file="t.h5", path="/t", name="missing").json()
        assert (found["count"], found["nulls"], found["min"], found["max"]) == (2, 1, 1, 3)
        found = client.get("/column/", file="t.h5", path="/t", name="float").json()
        assert (found["count"], found["nans"]) == (1, 2)
        found = client.get("/column/", file="t.h5", path="/t", name="text").json()
        assert (found["count"], found["nulls"], found["distinct"]) == (2, 1, 2)


@pytest.mark.parametrize("where", [None, "number >= 500", "number < 0"])
def test_statistics_of_columns_are_those_of_pandas(client, frame, where):
    asked = {} if where is None else {"where": where}
    wanted = frame if where is None else frame.query(where)
    found = client.get("/column/", file="all.h5", path="/table", name="value", bins=9, **asked).json()
    assert found["count"] == len(wanted)
    if len(wanted):
        assert np.isclose(found["mean"], wanted.value.mean())
        assert np.isclose(found["std"], wanted.value.std(ddof=0))
        assert found["histogram"]["counts"] == np.histogram(wanted.value, 9)[0].tolist()
    names = client.get("/column/", file="all.h5", path="/table", name="name", **asked).json()
    assert dict(map(tuple, names["top"])) == wanted["name"].value_counts().to_dict()


@pytest.mark.parametrize("where", [None, "flag"])
def test_statistics_of_very_many_rows_are_of_windows_from_all_over(client, frame, monkeypatch, where):
    from coquina.server import table_columns

    monkeypatch.setattr(table_columns, "_WINDOW", 25)
    monkeypatch.setattr(table_columns, "_ROWS_MAX", 100)
    asked = {} if where is None else {"where": where}
    found = client.get("/column/", file="all.h5", path="/table", name="number", **asked).json()
    looked = frame.iloc[[row for start in (0, 250, 500, 750) for row in range(start, start + 25)]]
    wanted = looked if where is None else looked[looked.flag]
    assert found["sampled"] == 100
    assert (found["count"], found["max"]) == (len(wanted), wanted.number.max())
    assert np.isclose(found["mean"], wanted.number.mean())


@pytest.mark.parametrize("where", [None, "flag"])
def test_points_are_every_nth_row(client, frame, where):
    asked = {} if where is None else {"where": where}
    answer = client.get("/points/", file="all.h5", path="/table", x="number", y="when", most=100, **asked)
    found = np.frombuffer(answer.content).reshape(-1, 2)
    wanted = frame if where is None else frame[frame.flag]
    assert answer.headers["x-total"] == str(len(wanted))
    step = -(-len(wanted) // 100)
    assert np.array_equal(found[:, 0], wanted.number[::step])
    assert np.array_equal(found[:, 1], wanted.when[::step].astype("M8[ms]").astype("i8"))


def test_what_is_no_table_has_no_rows(client):
    assert client.get("/rows/", file="grid.b2nd").status == 400
    assert client.get("/schema/", file="all.h5", path="/group").status == 400
    assert client.get("/column/", file="all.h5", path="/table").status == 400
