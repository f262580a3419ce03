"""Tables of 10^14 rows, of which few were written: all that is done with them takes moments."""

import numpy as np
import pytest

import coquina as cq

ROWS = 10**14
SCHEMA = np.dtype([("n", "i8"), ("x", "f4")])
HOMES = [("t", "columns"), ("t.h5", "columns"), ("t.h5", "rows")]


@pytest.mark.parametrize(("name", "layout"), HOMES)
def test_rows_that_nobody_wrote_cost_nothing(tmp_path, name, layout):
    path = tmp_path / name
    with cq.create_table(path, SCHEMA, layout=layout, expected_rows=ROWS) as table:
        table.resize(ROWS)
        assert table.nrows == ROWS
        table.append({"n": [7, 8], "x": [0.5, 1.5]})
        table.flush()
        table[ROWS // 3] = (9, 2.5)
    with cq.open_table(path) as table:
        assert table.nrows == ROWS + 2
        assert table[ROWS // 3].tolist() == (9, 2.5)
        assert table[ROWS // 3 + 1].tolist() == (0, 0.0)
        assert table.where("n > 7").to_numpy().tolist() == [(9, 2.5), (8, 1.5)]
        assert table.where("x > 0").sum("n") == 24


@pytest.mark.parametrize(("name", "layout"), HOMES)
@pytest.mark.parametrize("before", [pytest.param(0, marks=pytest.mark.long), 5])
def test_tables_with_few_rows_get_larger_chunks_by_themselves(tmp_path, name, layout, before):
    path = tmp_path / name
    schema = {"n": np.arange(before), "x": np.linspace(0, 1, before, dtype="f4")}
    with cq.create_table(path, schema, layout=layout, title="long") as table:
        chunks = table.layout.info()["chunk_rows"]
        if layout == "columns":
            table["n"].attrs["unit"] = "m"
        table.attrs["run"] = 7
        table.resize(ROWS)
        assert table.layout.info()["chunk_rows"] > chunks
        assert table["n"][:before].tolist() == list(range(before))
        table.append({"n": [7], "x": [0.5]})
        table[ROWS // 3] = (9, 2.5)
        assert table.where("n > 6").to_numpy()["n"].tolist() == [9, 7]
    with cq.open_table(path) as table:
        assert table.nrows == ROWS + 1
        assert (table.layout.title, table.attrs["run"]) == ("long", 7)
        assert layout == "rows" or table["n"].attrs["unit"] == "m"
        assert table[:before]["n"].tolist() == list(range(before))
        assert table[ROWS // 3].tolist() == (9, 2.5)
        assert table.where("n > 6").to_numpy()["n"].tolist() == [9, 7]


@pytest.mark.parametrize(("name", "layout"), HOMES[:2])
def test_all_kinds_of_columns_keep_their_rows_in_larger_chunks(tmp_path, name, layout):
    data = {
        "n": np.arange(5),
        "text": ["a", "", "\u00e9\u00e8", "dd", "a"],
        "when": np.arange(5).astype("M8[s]"),
        "missing": np.ma.masked_array([1, 2, 3, 4, 5], [0, 1, 0, 0, 1]),
    }
    with cq.create_table(tmp_path / name, data, layout=layout) as table:
        table.layout.enlarge_chunks(ROWS)
        assert table["n"].chunks == (1 << 19,)
        rows = [tuple(row) for row in table[...].tolist()]
        table.append({"n": [5], "text": ["new"], "when": np.array([9], "M8[s]"), "missing": [6]})
    with cq.open_table(tmp_path / name) as table:
        assert [tuple(row) for row in table[:5].tolist()] == rows
        assert table["text"][5] == "new"
        assert table["n"].chunks == (1 << 19,)


@pytest.mark.parametrize(("name", "layout"), HOMES)
def test_too_many_chunks_that_stay_say_what_to_do(tmp_path, name, layout):
    # Columns with bounds keep their chunks, and so do many rows.
    bounds, many = ({}, 1 << 20) if layout == "rows" else ({"lossy": {"x": cq.Lossy(max_error=0.5)}}, 0)
    with cq.create_table(tmp_path / name, SCHEMA, layout=layout, **bounds) as table:
        table.append(np.zeros(many, SCHEMA))
        table.append({"n": [1], "x": [2.0]})
        with pytest.raises(cq.LimitError, match=f"expected_rows={ROWS}"):
            table.resize(ROWS)
        assert table[many:].tolist() == [(1, 2.0)]
        table.append({"n": [3], "x": [4.0]})
        assert table[many:].tolist() == [(1, 2.0), (3, 4.0)]


def test_a_resize_that_no_chunks_suffice_for_changes_no_rows(tmp_path):
    with cq.create_table(tmp_path / "t", SCHEMA) as table:
        table.append({"n": [1], "x": [2.0]})
        with pytest.raises(cq.LimitError, match="resize to"):
            table.resize(10**16)
        assert table[...].tolist() == [(1, 2.0)]


def test_wide_records_get_chunks_that_are_large_enough(tmp_path):
    # Chunks of 8 MiB of records of 32 bytes are more than an array has.
    schema = np.dtype([("n", "i8"), ("x", "f8"), ("y", "f8"), ("z", "i8")])
    with cq.create_table(tmp_path / "t.h5", schema, layout="rows", expected_rows=ROWS) as table:
        table.resize(ROWS)
        table.append(np.ones(2, schema))
    with cq.open_table(tmp_path / "t.h5") as table:
        assert table.nrows == ROWS + 2
        assert table.where("n > 0").row_numbers().tolist() == [ROWS, ROWS + 1]
    for rows in (None, 10**6, 10**9):
        with cq.create_table(tmp_path / f"{rows}.h5", schema, layout="rows", expected_rows=rows) as table:
            assert table.info["chunk_rows"] * 32 <= 8 << 20
