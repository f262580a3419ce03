"""Tables whose chunks are tuned, in both layouts and both homes: each column by itself, now and later."""

import json

import h5py
import hdf5plugin  # noqa: F401  (h5py reads Blosc2 by it)
import numpy as np
import pytest
import tables

import coquina as cq
from tests.tuning_cases import TERMS, data, of_blosc2, same

ROWS = 6000
PLACES = [("t.h5", "columns"), ("t", "columns"), ("t.h5", "rows")]


def columns(rows=ROWS, seed=0, layout="columns"):
    rng = np.random.default_rng(seed)
    found = {
        "time": np.arange(rows),
        "x": data("smooth", rows, seed),
        "noise": rng.random(rows),
        "none": np.zeros(rows),
        "code": rng.integers(0, 4, rows).astype("i1"),
        "name": np.array([b"n%d" % (at % 7) for at in range(rows)]),
    }
    return found if layout == "rows" else {**found, "text": [f"text {at % 91}" for at in range(rows)]}


def make(folder, place, layout, **options):
    options = {"codec": "auto", "goal": "size", "chunk_rows": 1024, **options}
    return cq.create_table(folder / place, columns(layout=layout), layout=layout, **options)


def check(table, expected):
    for name, values in expected.items():
        found = table[name][...]
        if name == "text":
            assert found.tolist() == list(values)
        else:
            same(np.asarray(found), np.asarray(values))


def arrays(table):
    """Return all arrays of a table."""
    if table.layout.kind == "rows":
        return [table.dataset]
    return [part.array for column in table.layout.columns.values() for part in column.stored]


@pytest.mark.parametrize(("place", "layout"), PLACES)
@pytest.mark.parametrize("words", TERMS)
def test_every_column_keeps_the_goal(place, layout, words, tmp_path):
    expected = cq.asarray([1], codec="auto", **words).tuning
    table = cq.create_table(tmp_path / place, columns(layout=layout), layout=layout, codec="auto", **words)
    with table:
        check(table, columns(layout=layout))
        assert {one.tuning for one in arrays(table)} == {expected}
    with cq.open_table(tmp_path / place) as table:
        check(table, columns(layout=layout))
        assert {one.tuning for one in arrays(table)} == {expected}


@pytest.mark.parametrize(("place", "layout"), PLACES)
def test_rows_that_come_later_are_tuned_too(place, layout, tmp_path):
    make(tmp_path, place, layout).close()
    expected = {name: list(values) for name, values in columns(layout=layout).items()}
    for seed in (1, 2):
        more = columns(700, seed, layout)
        with cq.open_table(tmp_path / place, mode="a") as table:
            for at in range(0, 700, 175):
                table.append({name: values[at : at + 175] for name, values in more.items()})
                table.flush()
            table.modify(slice(10, 20), {"x": more["x"][:10]})
        for name, values in more.items():
            expected[name] += list(values)
        expected["x"][10:20] = list(more["x"][:10])
    dtypes = {name: getattr(values, "dtype", None) for name, values in columns(layout=layout).items()}
    with cq.open_table(tmp_path / place) as table:
        check(table, {name: np.array(values, dtypes[name]) for name, values in expected.items()})
        assert all(one.tuning.goal == "size" for one in arrays(table))
        if layout == "columns":
            # What is not like the default was chosen, also in chunks that were written again as rows came.
            assert set(table["time"].array.encodings() if hasattr(table["time"], "array") else ["-"]) != {
                "zstd + shuffle"
            }


def test_each_column_gets_what_suits_it(tmp_path):
    with make(tmp_path, "t.h5", "columns") as table:
        found = {name: one["encodings"] for name, one in table.info["columns"].items()}
    assert found["none"] == {"special": 6}
    assert found["time"] != found["noise"]


def test_new_columns_of_a_tuned_table_are_tuned(tmp_path):
    for place in ("t.h5", "t"):
        with make(tmp_path, place, "columns") as table:
            table["new"] = data("steps", ROWS)
        with cq.open_table(tmp_path / place, mode="a") as table:
            table["newer"] = data("sparse", ROWS)
            tuned = {name: one["tuning"] for name, one in table.info["columns"].items()}
            assert {one.goal for one in tuned.values()} == {"size"}


def test_other_programs_read_tuned_tables(tmp_path):
    make(tmp_path, "c.h5", "columns").close()
    make(tmp_path, "r.h5", "rows").close()
    make(tmp_path, "t", "columns").close()
    expected = columns()
    with h5py.File(tmp_path / "c.h5") as file:
        for name in ("time", "x", "noise", "none", "code"):
            same(file["table"][name][...], expected[name])
        kept = json.loads(file["table"].attrs["coquina"])
        assert kept["tuning"] == "goal=1 for=both bandwidth=any times=table"
    with tables.open_file(str(tmp_path / "r.h5"), "a") as file:
        theirs = file.root.table
        for name in ("time", "x", "noise", "none", "code", "name"):
            same(theirs.col(name), expected[name])
        # PyTables appends as its filter is set up; what we write is tuned again.
        theirs.append(theirs[:1])
    with cq.open_table(tmp_path / "r.h5", mode="a") as table:
        assert len(table) == ROWS + 1
        table.append({name: values[:5] for name, values in columns(layout="rows").items()})
        assert table.dataset.tuning.goal == "size"
    nodes = json.loads((tmp_path / "t" / "table.json").read_text())["nodes"]
    for name in ("time", "x", "noise"):
        same(of_blosc2(tmp_path / "t" / f"{nodes[name]['number']:04d}.b2nd"), expected[name])


def test_copies_of_tables_take_a_goal(tmp_path):
    with cq.create_table(tmp_path / "t.h5", columns()) as table:
        for target in ("u.h5", "u"):
            with table.copy(tmp_path / target, codec="auto", goal="speed", for_="read") as copy:
                check(copy, columns())
                assert all(str(one.tuning) == "speed, to read" for one in arrays(copy))
        with table.copy(tmp_path / "v.h5", columns=["time", "x"], layout="rows", codec="auto") as copy:
            assert copy.dataset.tuning.goal == "balanced"
        with pytest.raises(ValueError, match="goal: for codec='auto'"):
            table.copy(tmp_path / "w.h5", goal="size")
        with pytest.raises(TypeError, match="unexpected keyword argument 'golf'"):
            table.copy(tmp_path / "w.h5", codec="auto", golf=1)
    assert not (tmp_path / "w.h5").exists()
    with cq.open(tmp_path / "x.h5", "w") as file:
        made = file.create_table("t", columns(), codec="auto", goal=0.75)
        assert made.info["columns"]["x"]["tuning"].goal == 0.75


def test_options_that_do_not_fit_leave_nothing(tmp_path):
    for options, text in [
        ({"filter": "gzip"}, "codec='auto' is for"),
        ({"fletcher32": True}, "codec='auto' is for"),
        ({"level": 9}, "level 9: codec='auto' chooses levels"),
        ({"filters": "bitshuffle"}, "codec='auto' chooses filters"),
        ({"goal": 2}, "goal 2"),
    ]:
        for layout in ("columns", "rows"):
            with pytest.raises(ValueError, match=text):
                make(tmp_path, "t.h5", layout, **options)
    for options in ({"filter": "gzip"}, {"goal": "best"}):
        with pytest.raises(ValueError, match=r"gzip|best"):
            make(tmp_path, "t", "columns", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_goal_of_a_table_is_forgotten_for_new_columns(tmp_path):
    make(tmp_path, "t.h5", "columns").close()
    with h5py.File(tmp_path / "t.h5", "a") as file:
        text = file["table"].attrs["coquina"]
        file["table"].attrs["coquina"] = text.replace("goal=1", "goal=12")
    with cq.open_table(tmp_path / "t.h5", mode="a") as table:
        table["new"] = data("steps", ROWS)
        tuned = {name: one["tuning"] for name, one in table.info["columns"].items()}
        assert tuned["new"] is None
        assert tuned["x"].goal == "size"
