"""What the command says and takes on a first day: attributes, lists, parts, outputs by extension, carets."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.feather
import pyarrow.parquet
import pytest

import coquina as cq
from coquina.cli import FIRST_STEPS, failures, main

PRICES = np.arange(40.0) % 7
ROWS = {"k": np.arange(40), "price": PRICES, "s": ["a", "bé", "", "d"] * 10}
KEPT = [(int(k), float(p)) for k, p in zip(ROWS["k"], PRICES, strict=True) if p > 4]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with cq.open("run.h5", "w") as file:
        file.attrs["title"] = "A run"
        file.create_dataset("g/large", data=np.arange(6000).reshape(60, 100))
        file.create_dataset("g/b", data=[1, 2]).attrs["unit"] = "K"
        file.create_dataset("a", data=np.arange(20)).attrs["scale"] = np.arange(20.0)
        file.create_table("t", ROWS)
        file.h5["t"].attrs["source"] = "exchange"
    cq.create_table("t.h5", ROWS).close()
    cq.asarray(np.arange(60).reshape(6, 10), path="x.b2nd").close()
    return tmp_path


def said(capfd, *words):
    assert main([*words]) == 0, capfd.readouterr().err
    return capfd.readouterr().out


def test_the_command_alone_says_how_to_begin(capfd):
    assert said(capfd) == FIRST_STEPS
    assert FIRST_STEPS.count("\n") == 5


def test_info_shows_values_of_attributes(here, capfd):
    assert json.loads(said(capfd, "info", "run.h5", "--json"))["attrs"] == {"title": "A run"}
    assert "  unit  'K'" in said(capfd, "info", "run.h5:/g/b").splitlines()
    assert "  scale  float64 (20,)" in said(capfd, "info", "run.h5:/a").splitlines()
    assert json.loads(said(capfd, "info", "run.h5:/a", "--json"))["attrs"]["scale"] == list(range(20))
    assert json.loads(said(capfd, "info", "run.h5:/t", "--json"))["attrs"] == {"source": "exchange"}


def listed(capfd, *words):
    return json.loads(said(capfd, "ls", "run.h5", "--json", *words))["objects"]


def test_ls_sorts_and_cuts(here, capfd):
    sizes = [row["cbytes"] for row in listed(capfd, "--sort", "size")]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 4
    assert {row["path"] for row in listed(capfd, "--depth", "1")} == {"/a", "/g", "/t"}
    names = [row["path"] for row in listed(capfd, "--sort", "name")]
    assert names == ["/a", "/g", "/g/b", "/g/large", "/t"]
    first = said(capfd, "ls", "run.h5", "--sort", "size").splitlines()[1]
    assert first.split()[0] in ("/t", "/g/large")


def test_ls_shows_attributes(here, capfd):
    shown = {row["path"]: row["attributes"] for row in listed(capfd, "-v")}
    assert (shown["/g/b"], shown["/g"], shown["/t"]) == ({"unit": "K"}, {}, {"source": "exchange"})
    lines = said(capfd, "ls", "run.h5", "--verbose").splitlines()
    assert any(line.strip() == "@unit  'K'" for line in lines)
    assert "attributes" not in listed(capfd)[0]


@pytest.mark.parametrize(
    "output", ["o.csv", "o.parquet", "o.arrow", "o.jsonl", "o.h5", "o.h5:/x/y", "o", "o.b2z"]
)
def test_queries_write_what_the_extension_says(here, capfd, output):
    words = ["query", "t.h5", "price > 4", "--columns", "k,price", "-o", output]
    assert said(capfd, *words).startswith(f"{output}: {len(KEPT)} rows")
    again = json.loads(said(capfd, "query", output, "--json"))["rows"]
    assert [(row["k"], row["price"]) for row in again] == KEPT
    assert main(words) == 1
    assert "--force" in capfd.readouterr().err
    assert said(capfd, *words, "--head", "2", "--force").startswith(f"{output}: 2 rows")
    assert len(json.loads(said(capfd, "query", output, "--json"))["rows"]) == 2


def test_other_programs_read_what_queries_write(here, capfd):
    said(capfd, "query", "t.h5", "price > 4", "--order-by", "k", "--descending", "-o", "o.parquet")
    assert pyarrow.parquet.read_table("o.parquet").column("k").to_pylist() == [k for k, _ in KEPT][::-1]
    said(capfd, "query", "t.h5", "--by", "s", "--agg", "count,max(price)", "-o", "o.feather")
    assert pyarrow.feather.read_table("o.feather").column("count").to_pylist() == [10] * 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "o.npy"], "rows are written to .csv"),
        (["-o", "o.csv", "--json"], "leave out --json and --explain"),
        (["-o", "o.csv", "--agg", "sum(k)"], "add --by"),
    ],
)
def test_outputs_that_take_no_rows_are_refused(here, capfd, words, message):
    assert main(["query", "t.h5", *words]) == 1
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("name", ["r.parquet", "r.csv", "r.tsv", "r.feather", "r.jsonl"])
def test_queries_of_files_of_rows(here, capfd, name):
    said(capfd, "convert", "t.h5:/table", name, "-q")
    wanted = json.loads(said(capfd, "query", "t.h5", "price > 4 and s == 'bé'", "--columns", "k", "--json"))
    found = json.loads(said(capfd, "query", name, "price > 4 and s == 'bé'", "--columns", "k", "--json"))
    assert found["rows"] == wanted["rows"] != []
    whole = json.loads(said(capfd, "query", name, "--agg", "count,sum(price)", "--json"))["aggregates"]
    assert whole == {"count": 40, "sum_price": PRICES.sum()}


def test_the_rows_of_a_table_are_sorted(here, capfd):
    said(capfd, "repack", "t.h5", "s.h5", "--sort-by", "price,k")
    with cq.open_table("s.h5") as table:
        assert table["k"][:].tolist() == np.lexsort([ROWS["k"], PRICES]).tolist()
    said(capfd, "repack", "run.h5:/t", "folder", "--sort-by", "s", "--codec", "lz4")
    with cq.open_table("folder") as table:
        assert list(table["s"][:]) == sorted(ROWS["s"])
    for output in ("s.h5", "folder"):
        assert main(["repack", "run.h5:/t", output, "--sort-by", "k"]) == (1 if output == "folder" else 0)
    assert main(["repack", "t.h5", "t.h5", "--sort-by", "k", "--force"]) == 1
    assert "is the file itself" in capfd.readouterr().err


@pytest.mark.parametrize("key", ["[3:5, ::-1]", "[..., 0]", "[2]", "[[1, 4]]", "[::2]"])
def test_a_part_is_converted(here, capfd, key):
    items = np.arange(60).reshape(6, 10)
    np.save("x.npy", items)
    with cq.open("x.h5", "w") as file, cq.open("x.b2z", "w") as store:
        file.create_dataset("g/x", data=items)
        store.create_dataset("x", data=items)
    wanted = eval(f"items{key}", {"items": items})
    for name in ("x.b2nd", "x.npy", "x.h5:/g/x", "x.b2z:/x"):
        said(capfd, "convert", f"{name}{key}", "part.npy", "-f", "-q")
        np.testing.assert_array_equal(np.load("part.npy"), wanted)


def test_a_part_of_a_table_is_converted(here, capfd):
    said(capfd, "convert", "t.h5:/table[3:5]", "part.csv", "-q")
    assert (here / "part.csv").read_text().splitlines()[1:] == ['3,3,"d"', '4,4,"a"']
    said(capfd, "convert", "t.h5:/table['price']", "price.npy", "-q")
    assert np.load("price.npy").tolist() == PRICES.tolist()


def test_a_file_with_brackets_in_its_name_is_no_part(here, capfd):
    np.save("x[1].npy", np.arange(3))
    np.save("y[1]", np.arange(4))
    (here / "y[1].npy").rename(here / "y[1]")
    said(capfd, "convert", "x[1].npy", "o.npy", "-q")
    assert np.load("o.npy").tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("condition", "below"),
    [
        ("prise > 3", "^^^^^"),
        ("k > 1 and prise > 3", "          ^^^^^"),
        ("s == '日本' and prise > 1", " " * 16 + "^^^^^"),
    ],
)
def test_carets_stand_below_what_is_wrong(here, capfd, condition, below):
    assert main(["query", "t.h5", condition]) == 1
    first, *rest = capfd.readouterr().err.splitlines()
    assert first.startswith("coquina: 'prise' is not a column")
    assert [line.removeprefix("    ") for line in rest] == [condition, below]
    assert main(["query", "t.h5", condition, "--json"]) == 1
    error = json.loads(capfd.readouterr().err)["error"]
    assert set(error) == {"kind", "message", "place"}
    assert "^" not in error["message"]


def test_carets_stand_below_signs_that_are_escaped(capfd):
    text, carets = "a\x1b[b > prise", " " * 7 + "^^^^^"
    failure = failures.of(ValueError(f"no column\n{text}\n{carets}"))
    failures.show(failure, as_json=False)
    _, shown, below = capfd.readouterr().err.splitlines()
    assert "\x1b" not in shown
    assert shown.index("prise") == below.index("^")
