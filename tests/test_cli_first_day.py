"""What the command says and takes on a first day: attributes, lists, parts, outputs by extension, carets."""

from __future__ import annotations

import json
import re

import h5py
import numpy as np
import pyarrow.feather
import pyarrow.parquet
import pytest
import tables

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


def refused(capfd, *words):
    assert main([*words]) in (1, 2)
    error = capfd.readouterr().err
    assert error.startswith("coquina: ")
    assert "Traceback" not in error
    return error


def test_arguments_that_may_be_left_out_stand_behind_options_too(here, capfd):
    """one argument too many: 'price > 5'; only before the options it was taken."""
    first = said(capfd, "query", "t.h5", "price > 5", "--head", "2")
    assert said(capfd, "query", "t.h5", "--head", "2", "price > 5") == first
    assert said(capfd, "query", "--head", "2", "t.h5", "price > 5") == first
    part = said(capfd, "cat", "x.b2nd", "[0, :2]", "--json")
    assert said(capfd, "cat", "x.b2nd", "--json", "[0, :2]") == part
    said(capfd, "compress", "x.b2nd", "--level", "1", "y.blp")
    assert (here / "y.blp").exists()
    assert "one argument too many" in refused(capfd, "query", "t.h5", "price > 5", "--head", "2", "more")
    assert "is not a key" in refused(capfd, "cat", "x.b2nd", "--all", "[0")


def test_options_of_other_programs_name_those_that_are_here(here, capfd):
    for words, meant in {
        ("query", "t.h5", "-n", "3"): "use --head",
        ("query", "t.h5", "--limit", "3"): "use --head",
        ("query", "t.h5", "--sort", "price"): "use --order-by",
        ("query", "t.h5", "--group-by", "s"): "use --by",
        ("query", "t.h5", "--count"): "use --agg count",
        ("ls", "run.h5", "-l"): "use --verbose",
        ("repack", "run.h5", "y.h5", "--complevel", "5"): "use --level",
        ("convert", "x.b2nd", "y.npy", "--overwrite"): "use --force",
        ("compress", "x.b2nd", "-9"): "use --level 9",
    }.items():
        assert meant in refused(capfd, *words), words
    assert "'-l'" in refused(capfd, "codecs", "-l")
    assert not (here / "-9").exists()


def test_help_is_a_command_too(capfd):
    for words in (["help"], ["help", "cat"], ["cat", "--help"], ["-V"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
    assert "usage: coquina cat" in capfd.readouterr().out


def test_aggregates_that_need_groups_say_so(here, capfd):
    """nunique of all rows was an AttributeError with a traceback."""
    for kind in ("first", "last", "any", "all", "nunique"):
        assert f"{kind}(k): needs --by" in refused(capfd, "query", "t.h5", "--agg", f"count,{kind}(k)")
        assert said(capfd, "query", "t.h5", "--by", "s", "--agg", f"{kind}(k)")


def test_cat_prints_an_array_of_an_archive(here, capfd):
    """x.npz:a: No such file or directory"""
    np.savez("x.npz", a=np.arange(6).reshape(2, 3), b=np.arange(2))
    np.savez("y.npz", a=np.arange(3))
    assert said(capfd, "cat", "x.npz:a", "[1]") == said(capfd, "cat", "x.npz:a[1]") == "[3 4 5]\n"
    assert said(capfd, "cat", "y.npz") == "[0 1 2]\n"
    assert "x.npz:a, x.npz:b" in refused(capfd, "cat", "x.npz")
    assert "no array 'c'" in refused(capfd, "cat", "x.npz:c")


@pytest.fixture
def lab(here):
    with tables.open_file("lab.h5", "w") as h5:
        rows = np.zeros(30, [("when", "f8"), ("day", "i4")])
        h5.root._v_attrs.campaign = "spring"

        class Row(tables.IsDescription):
            when = tables.Time64Col(pos=0)
            flag = tables.EnumCol({"good": 0, "bad": 1}, "good", "uint8", pos=1)
            pos = tables.Float32Col(shape=(3,), pos=2)

        t = h5.create_table("/", "t", Row)
        rows = np.zeros(30, t.dtype)
        rows["when"], rows["flag"] = 1.7e9 + np.arange(30) / 4, np.arange(30) % 2
        t.append(rows)
        words = h5.create_vlarray("/", "words", tables.VLUnicodeAtom())
        ragged = h5.create_vlarray("/", "ragged", tables.Int32Atom())
        for at in range(30):
            words.append(f"w{at}")
            ragged.append(np.arange(at % 4))
    return "lab.h5"


def test_times_and_enumerations_of_pytables_are_shown_as_print_shows_them(lab, capfd):
    """1.7e+09 for every row."""
    for words in (("cat", f"{lab}:/t", "[:2]"), ("query", f"{lab}:/t", "--head", "2")):
        lines = said(capfd, *words).splitlines()
        assert "2023-11-14 22:13:20.000  good" in lines[1]
        assert "2023-11-14 22:13:20.250  bad" in lines[2]


def test_rows_of_many_lengths_are_printed_a_line_each_and_compared(lab, here, capfd):
    """diff: setting an array element with a sequence; cat: one line of a thousand arrays."""
    lines = said(capfd, "cat", f"{lab}:/ragged").splitlines()
    assert lines[:4] == ["[]", "[0]", "[0 1]", "[0 1 2]"]
    assert lines[-1] == "10 more; --all prints them"
    assert said(capfd, "cat", f"{lab}:/words").startswith("'w0'\n'w1'\n")
    assert len(said(capfd, "cat", f"{lab}:/words", "--all").splitlines()) == 30
    assert json.loads(said(capfd, "cat", f"{lab}:/ragged", "[:3]", "--json")) == {"items": [[], [0], [0, 1]]}
    said(capfd, "repack", lab, "other.h5")
    assert "are equal" in said(capfd, "diff", lab, "other.h5")
    with tables.open_file("other.h5", "a") as h5:
        h5.root.ragged.append([9])
        h5.root.words[3] = "wx"
    assert main(["diff", lab, "other.h5"]) == 1
    out = capfd.readouterr().out
    assert "/ragged" in out
    assert "/words" in out


def test_a_table_of_records_stays_one_in_a_new_file(lab, capfd):
    said(capfd, "convert", f"{lab}:/t", "new.h5")
    said(capfd, "query", f"{lab}:/t", "flag == 'bad'", "-o", "bad.h5")
    with tables.open_file("new.h5") as h5, tables.open_file("bad.h5") as bad:
        assert (h5.root.table.nrows, bad.root.table.nrows) == (30, 15)
    said(capfd, "convert", "t.h5", "columns.h5")
    assert json.loads(said(capfd, "info", "columns.h5", "--json"))["layout"] == "columns"


def test_info_and_ls_show_words_and_not_python(lab, capfd):
    listed = said(capfd, "ls", "-v", lab)
    assert re.search(r"^  @campaign +'spring'$", listed, re.MULTILINE)
    assert re.search(r"^    @TITLE +''$", listed, re.MULTILINE)
    assert json.loads(said(capfd, "ls", "-v", lab, "--json"))["attributes"]["TITLE"] == ""
    assert json.loads(said(capfd, "ls", "-v", "run.h5", "--json"))["attributes"] == {"title": "A run"}
    said(capfd, "repack", "run.h5", "gzip.h5", "--filter", "gzip", "--level", "4")
    for path in ("gzip.h5:/g/large", "x.b2nd", f"{lab}:/t", lab, "run.h5"):
        assert not [line for line in said(capfd, "info", path).splitlines() if "[(" in line or "['" in line]
    assert "gzip 4" in said(capfd, "info", "gzip.h5:/g/large")


def test_errors_name_options_and_not_keywords(here, capfd):
    said(capfd, "compress", "x.b2nd", "y.blp")
    assert "overwrite must be set" not in refused(capfd, "compress", "x.b2nd", "y.blp")
    assert "--filter blosc2" in refused(capfd, "repack", "run.h5", "y.h5", "--level", "5")
    cq.create_table("c.h5", {"a": np.zeros(3), "c": np.zeros(3, "c16")}, layout="rows").close()
    assert "`coquina query c.h5 --columns" in refused(capfd, "convert", "c.h5", "c.parquet")


def test_verify_names_a_few_datasets_without_checksums(here, capfd):
    with h5py.File("many.h5", "w") as h5:
        for at in range(40):
            h5[f"d{at:02}"] = np.arange(3)
    assert "/d09 and 30 more" in said(capfd, "verify", "many.h5")
    assert len(json.loads(said(capfd, "verify", "many.h5", "--json"))["unprotected"]) == 40


def test_refused_files_name_the_command_that_reads_them(here, capfd):
    np.save("x.npy", np.arange(3))
    (here / "t.csv").write_text("a,b\n1,2\n")
    assert "`coquina query t.csv` prints its rows" in refused(capfd, "info", "t.csv")
    assert "`coquina info x.npy` describes it" in refused(capfd, "ls", "x.npy")
    assert "run.h5:/g/b" in refused(capfd, "info", "run.h5", "/g/b")
    assert "run.h5:/g/b" in refused(capfd, "ls", "run.h5", "/g/b")
    assert "compress - -" in refused(capfd, "convert", "-", "y.npy")
    assert "extension" in refused(capfd, "convert", "x.npy", "-")
    with cq.open("f.h5", "w") as file:
        file.create_table("g/t", np.zeros(3, [("f", "f2")]), layout="rows")
    assert "/g/t: column 'f'" in refused(capfd, "convert", "f.h5", "f.b2z")
