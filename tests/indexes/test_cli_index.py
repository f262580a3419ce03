"""`coquina index`, and what the other commands say of indexes."""

import json

import numpy as np
import pytest

import coquina
from coquina.cli import main

ROWS = 100_000


@pytest.fixture
def path(tmp_path):
    x = np.random.default_rng(5).permutation(ROWS)
    path = tmp_path / "t.h5"
    coquina.create_table(path, {"x": x, "y": x * 0.5}).close()
    return str(path)


def said(capsys, *args):
    code = main(list(args))
    out, err = capsys.readouterr()
    return code, out, err


def test_an_index_is_made_listed_and_used(capsys, path):
    assert said(capsys, "index", path)[1] == "no index\n"
    code, out, _ = said(capsys, "index", path, "--create", "x")
    assert code == 0
    assert out.splitlines()[1].split()[:5] == ["x", "x", "full", str(ROWS), "0"]
    code, out, _ = said(capsys, "query", path, "x == 777", "--explain")
    assert "index x: 1 row" in out
    code, out, _ = said(capsys, "info", "--json", path)
    assert json.loads(out)["indexes"] == ["x (full)"]


def test_an_expression_is_indexed_under_a_name(capsys, path):
    _code, out, _ = said(
        capsys, "index", path, "--create", "x + y", "--name", "total", "--kind", "partial", "--json"
    )
    (found,) = json.loads(out)["indexes"]
    assert (found["name"], found["column"], found["kind"]) == ("total", "x + y", "partial")
    with coquina.open_table(path) as table:
        assert table.will_use_index("x + y == 150") == {"total"}
        assert (
            table.where("x + y == 150").row_numbers().tolist()
            == np.flatnonzero(table["x"][:] == 100).tolist()
        )


def test_what_was_appended_is_indexed_by_refresh(capsys, path):
    said(capsys, "index", path, "--create", "x")
    with coquina.open_table(path, mode="a") as table:
        table.append({"x": np.arange(5), "y": np.zeros(5)})
    assert json.loads(said(capsys, "index", path, "--json")[1])["indexes"][0]["rows"] < ROWS + 5
    found = json.loads(said(capsys, "index", path, "--refresh", "--json")[1])["indexes"][0]
    assert (found["rows"], found["unindexed_rows"]) == (ROWS + 5, 0)
    found = json.loads(said(capsys, "index", path, "--compact", "x", "--json")[1])["indexes"][0]
    assert (found["rows"], found["runs"]) == (ROWS + 5, 1)


def test_an_index_is_dropped(capsys, path):
    said(capsys, "index", path, "--create", "x")
    assert said(capsys, "index", path, "--drop", "x")[1] == "no index\n"
    code, _, err = said(capsys, "index", path, "--drop", "x")
    assert code == 1
    assert "'x'" in err


@pytest.mark.parametrize("args", [("--create", "z"), ("--refresh", "z"), ("--compact", "z")])
def test_names_that_are_none_are_errors(capsys, path, args):
    code, _, err = said(capsys, "index", path, *args)
    assert code == 1
    assert "z" in err
