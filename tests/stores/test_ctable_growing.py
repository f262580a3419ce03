"""Tables of python-blosc2 get more rows by `resize`: those that `resize` gives to a directory of coquina."""

import os

import blosc2
import numpy as np
import pandas as pd
import pytest

import coquina as cq

COLUMNS = {
    "n": np.arange(3),
    "x": np.linspace(0, 1, 3),
    "flag": np.array([True, False, True]),
    "text": ["a", "b", ""],
    "maybe": ["a", None, "c"],
    "when": np.array(["2020-01-01", "2021-01-01", "NaT"], "M8[ms]"),
    "count": np.ma.masked_array([1, 2, 3], [0, 1, 0]),
    "kind": pd.Categorical(["u", "v", "u"]),
    "raw": np.array([b"ab", b"c", b"d"]),
    "place": np.arange(6.0).reshape(3, 2),
}
LISTS = {"list": [[1, 2], [], [3]]}
ROWS = 1_100_000


@pytest.fixture(params=[".b2z", ".b2d"])
def path(request, tmp_path):
    """Where the table is."""
    return tmp_path / f"t{request.param}"


@pytest.mark.parametrize("deleted", [None, 1, 2])
def test_new_rows_are_those_of_a_directory(path, tmp_path, deleted):
    columns = {name: values for name, values in COLUMNS.items() if name != "place"}
    with cq.create_table(path, columns) as table, cq.create_table(tmp_path / "t", columns) as ours:
        for one in (table, ours):
            if deleted is not None:
                one.delete([deleted])
            one.resize(ROWS)
            one.append(ours[0:1])
        assert table.nrows == ours.nrows == ROWS + 1
        for rows in (slice(0, 9), slice(ROWS - 3, None)):
            for name in columns:
                theirs, wanted = (np.ma.asarray(one[rows][name]) for one in (table, ours))
                same = [str(value) for value in theirs.tolist()] == [str(value) for value in wanted.tolist()]
                assert same, (name, theirs, wanted)
        table.resize(5)
        assert table["n"][...].tolist() == ours["n"][:5].tolist()


def test_python_blosc2_sees_the_new_rows(path):
    with cq.create_table(path, COLUMNS | LISTS) as table:
        table.resize(7)
        table.append(COLUMNS | LISTS)
    peer = blosc2.open(str(path), mode="r")
    assert len(peer) == 10
    assert np.asarray(peer["n"][:]).tolist() == [0, 1, 2, 0, 0, 0, 0, 0, 1, 2]
    assert np.asarray(peer["place"][:])[3:7].tolist() == [[0, 0]] * 4
    assert list(peer["text"][:])[2:] == [""] * 5 + ["a", "b", ""]
    assert cq.open_table(path)["list"][...].tolist()[2:] == [[3], [], [], [], [], [1, 2], [], [3]]


def test_a_thousand_million_rows_take_moments_and_megabytes(path):
    with cq.create_table(path, {"n": [1, 2], "x": [0.5, 1.5]}) as table:
        table.resize(10**9)
        table.append({"n": [7], "x": [2.5]})
    size = sum(one.stat().st_size for one in path.rglob("*")) if path.is_dir() else os.path.getsize(path)
    # 44 bytes for the mask of a chunk of 4096 rows.
    assert size < 16 << 20
    with cq.open_table(path) as table:
        assert table.where("n > 1").to_numpy().tolist() == [(2, 1.5), (7, 2.5)]
        with pytest.raises(cq.LimitError, match=r"10\*\*14"):
            table.resize(10**14)
