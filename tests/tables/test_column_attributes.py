"""Attributes of columns: each is a commit, as its documentation says, whatever is changed after it."""

import subprocess
import sys

import numpy as np
import pytest

import coquina as cq


@pytest.fixture(params=["columns", "directory"])
def path(request, tmp_path):
    path = tmp_path / ("t" if request.param == "directory" else "t.h5")
    cq.create_table(path, {"n": np.arange(5), "s": np.ones(5)}).close()
    return path


def not_fitting(table):
    with pytest.raises(TypeError, match="column 'n'"):
        table.append({"n": ["x"], "s": [2.5]})


def broken_off(table):
    with table["n"].transaction():
        table["n"][2] = 7
        table["n"].attrs["unit"] = "km"
        raise KeyError("broken off")


CHANGES = {
    "a batch that does not fit": not_fitting,
    "an append": lambda t: t.append({"n": [5], "s": [2.5]}),
    "a change": lambda t: t.modify("n == 2", {"n": 7}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_attribute_outlives_what_follows(path, change):
    with cq.open_table(path, mode="r+") as table:
        table["n"].attrs["unit"] = "m"
        table["s"].attrs["of"] = "names"
        del table["s"].attrs["of"]
        change(table)
        assert table["n"].attrs["unit"] == "m"
        assert "of" not in table["s"].attrs
    with cq.open_table(path) as table:
        assert table["n"].attrs["unit"] == "m"
        assert "of" not in table["s"].attrs


def test_an_attribute_of_a_directory_outlives_a_transaction_that_fails(tmp_path):
    with cq.create_table(tmp_path / "t", {"n": np.arange(5)}) as table:
        table["n"].attrs["unit"] = "m"
        with pytest.raises(KeyError, match="broken off"):
            broken_off(table)
        assert table["n"].attrs["unit"] == "m"
        assert table["n"][2] == 2


def test_an_attribute_of_a_directory_is_there_after_a_kill(tmp_path):
    path = tmp_path / "t"
    cq.create_table(path, {"n": np.arange(5)}).close()
    code = (
        "import os, sys, coquina as cq; t = cq.open_table(sys.argv[1], mode='r+'); "
        "t['n'].attrs['unit'] = 'm'; os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, path], check=False, timeout=60).returncode == 9
    with cq.open_table(path) as table:
        assert table["n"].attrs["unit"] == "m"
