"""What `coquina convert` writes, by names: it is right, or refused, and nothing is lost that was there."""

from __future__ import annotations

import json
import zipfile

import h5py
import numpy as np
import pandas as pd
import pyarrow.feather
import pyarrow.json
import pytest

import coquina as cq
from coquina.cli import main

ROWS = {
    "k": np.arange(4),
    "s": ["a", "bé", "", "d"],
    "at": np.arange(4).astype("M8[us]"),
    "price": [1.5, 2.0, -3.0, 4.0],
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cq.create_table("t.h5", ROWS).close()
    np.save("n.npy", np.arange(6.0))
    (tmp_path / "notes.txt").write_text("name,age\n")
    with zipfile.ZipFile("store.b2z", "w") as file:
        file.writestr("a.b2nd", b"members")
    return tmp_path


def refused(capfd, command):
    assert main(command.split()) == 1
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize("source", ["t.h5", "n.npy"])
@pytest.mark.parametrize("extension", ["json", "duckdb", "xlsx", "txt", "zarr", "zip", "pkl", "h", "d"])
def test_outputs_of_no_known_kind_are_refused(here, capfd, source, extension):
    # Tables became files of raw pointers, arrays bytes without a header, and the exit code was 0.
    before = sorted(here.iterdir())
    said = refused(capfd, f"convert {source} out.{extension}")
    assert all(known in said for known in (".b2nd", ".parquet", ".feather", ".h5", ".raw"))
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize("extension", ["b2nd", "blp", "npy", "npz", "raw", "bin", "tif", "png"])
def test_text_of_any_length_is_never_written_as_pointers(here, capfd, extension):
    assert ".parquet" in refused(capfd, f"convert t.h5 out.{extension}")
    assert not (here / f"out.{extension}").exists()


@pytest.mark.parametrize(
    "extension", ["b2nd", "blp", "npy", "npz", "raw", "csv", "parquet", "feather", "jsonl"]
)
def test_missing_values_are_kept_or_refused(here, capfd, extension):
    values = {"n": np.ma.array([1, 2, 3], mask=[0, 1, 0]), "s": ["a", None, "c"]}
    cq.create_table("nulls.h5", values).close()
    cq.create_table("numbers.h5", {"n": values["n"]}).close()
    if extension in ("csv", "parquet", "feather", "jsonl"):
        assert main(["convert", "nulls.h5", f"out.{extension}"]) == 0
        assert main(["convert", f"out.{extension}", "again.h5"]) == 0
        with cq.open_table("again.h5") as again:
            assert again.to_arrow().to_pydict() == {"n": [1, None, 3], "s": ["a", None, "c"]}
    else:
        assert "can be missing" in refused(capfd, f"convert numbers.h5 out.{extension}")


@pytest.mark.parametrize("extension", ["feather", "arrow", "jsonl", "ndjson", "parquet", "csv"])
def test_tables_go_through_files_of_rows_and_back(here, extension):
    assert main(["convert", "t.h5", f"out.{extension}"]) == 0
    assert main(["convert", f"out.{extension}", "again.h5"]) == 0
    with cq.open_table("again.h5") as again, cq.open_table("t.h5") as table:
        found, wanted = again.to_arrow(), table.to_arrow()
    assert found.column_names == wanted.column_names
    assert found.cast(wanted.schema).equals(wanted)


def test_others_read_feather_and_json_lines(here):
    for kind in ("feather", "jsonl"):
        assert main(["convert", "t.h5", f"out.{kind}"]) == 0
    assert pyarrow.feather.read_table("out.feather")["s"].to_pylist() == ROWS["s"]
    first = json.loads((here / "out.jsonl").read_text().splitlines()[1])
    assert first == {"k": 1, "s": "bé", "at": "1970-01-01 00:00:00.000001", "price": 2.0}


@pytest.mark.parametrize(
    ("layout", "value"), [("columns", np.inf), ("rows", -np.inf), ("rows", [1.0, np.inf])]
)
def test_json_lines_refuse_what_json_cannot_say(here, capfd, layout, value):
    # The error named a row, and no column.
    rows = {"fine": [1.0, 2.0], "odd": np.array([np.zeros_like(value), value])}
    cq.create_table("odd.h5", rows, layout=layout).close()
    assert "odd, row 1: JSON has no infinities" in refused(capfd, "convert odd.h5 out.jsonl")
    assert not (here / "out.jsonl").exists()


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_json_lines_have_null_for_nan_and_text_for_spans_of_time(here, layout):
    # NaN was an error, and a span a number of units that nothing told.
    rows = {
        "x": np.array([1.5, np.nan, -0.0]),
        "pair": np.array([[1.0, np.nan]] * 3),
        "s": np.array([90, -1, "NaT"], "m8[s]"),
        "ms": np.array([1500, -1, 86_400_000], "m8[ms]"),
        "ns": np.array([1, 10**15 + 1, "NaT"], "m8[ns]"),
        "at": np.array(["2024-01-01", "NaT", "2024-01-02"], "M8[ms]"),
    }
    if layout == "columns":  # which have one value for each row
        del rows["pair"]
    cq.create_table("odd.h5", rows, layout=layout).close()
    assert main(["convert", "odd.h5", "out.jsonl"]) == 0

    def not_json(text):
        raise AssertionError(text)

    lines = (here / "out.jsonl").read_text().splitlines()
    found = [json.loads(line, parse_constant=not_json) for line in lines]
    assert [row["x"] for row in found] == [1.5, None, -0.0]
    assert [row.get("pair") for row in found] == ([[1.0, None]] * 3 if layout == "rows" else [None] * 3)
    assert [row["s"] for row in found] == ["PT90S", "-PT1S", None]
    assert [row["ms"] for row in found] == ["PT1.5S", "-PT0.001S", "PT86400S"]
    assert [row["ns"] for row in found] == ["PT0.000000001S", "PT1000000.000000001S", None]
    for name in ("s", "ms", "ns"):
        theirs = pd.to_timedelta([row[name] for row in found])
        assert theirs.equals(pd.to_timedelta(rows[name]).as_unit("ns"))
    again = pyarrow.json.read_json("out.jsonl")
    assert again["x"].to_pylist() == [1.5, None, -0.0]


def test_plain_bytes_are_written_only_to_names_that_say_so(here):
    for name in ("n.raw", "n.bin"):
        assert main(["convert", "n.npy", name]) == 0
        assert (here / name).read_bytes() == np.arange(6.0).tobytes()
    assert main(["convert", "n.raw", "back.npy", "--dtype", "<f8"]) == 0
    assert np.array_equal(np.load("back.npy"), np.arange(6.0))


@pytest.mark.parametrize("output", ["o.b2nd", "o.npy", "o.h5", "o.raw", "o"])
@pytest.mark.parametrize("source", ["store.b2z", "notes.txt", "out.feather"])
def test_archives_and_text_are_no_arrays_of_their_own_bytes(here, capfd, source, output):
    # A ZIP became an array of its own bytes, and `coquina info` said so as an advice.
    (here / "out.feather").write_bytes(b"no Feather file")
    refused(capfd, f"convert {source} {output}")
    assert not (here / output).exists()
    assert "converts it" not in refused(capfd, f"info {source}")
    if source == "notes.txt" and output in ("o.b2nd", "o.npy"):
        # Who says what the bytes are has them.
        assert main(["convert", source, output, "--dtype", "u1"]) == 0


def test_far_outputs_are_refused(here, capfd):
    for place in ("memory://x.b2nd", "s3://bucket/x.h5", "https://example.org/x.npy"):
        assert "only be read" in refused(capfd, f"convert n.npy {place}")
    assert not any("memory" in one.name for one in here.iterdir())


@pytest.mark.parametrize("source", ["t.h5", "n.npy", "out.csv"])
def test_force_replaces_no_group(here, capfd, source):
    # `--force` with the name of a group deleted the group with all that was in it.
    assert main(["convert", "t.h5", "out.csv"]) == 0
    with h5py.File("lab.h5", "w") as file:
        file["run/1/raw"] = np.arange(5)
        file["old"] = np.arange(3)
    before = (here / "lab.h5").read_bytes()
    for path in ("/run", "/run/1"):
        assert "group" in refused(capfd, f"convert {source} lab.h5:{path} --force")
    assert "--force replaces it" in refused(capfd, f"convert {source} lab.h5:/old")
    assert (here / "lab.h5").read_bytes() == before
    assert main(["convert", source, "lab.h5:/old", "--force"]) == 0
    assert main(["convert", source, "lab.h5:/new"]) == 0
    with h5py.File("lab.h5") as file:
        assert file["run/1/raw"][4] == 4
        assert sorted(file) == ["new", "old", "run"]


def test_a_table_takes_the_place_of_a_directory_only_by_force(here, capfd):
    assert main(["convert", "t.h5", "folder"]) == 0
    assert "--force" in refused(capfd, "convert t.h5 folder")
    assert main(["convert", "t.h5", "folder", "--force"]) == 0
    (here / "mine").mkdir()
    (here / "mine" / "letter").write_text("dear")
    said = refused(capfd, "convert t.h5 mine --force")
    assert "is not a table" in said
    assert "--force" not in said, "it was given"
    refused(capfd, "convert n.npy mine --force")
    assert (here / "mine" / "letter").read_text() == "dear"


def test_a_dataset_that_fails_leaves_nothing_behind(here, capfd):
    with h5py.File("lab.h5", "w") as file:
        file["old"] = np.arange(3)
    refused(capfd, "convert n.npy lab.h5:/new --chunks 1,2,3")
    refused(capfd, "convert n.npy lab.h5:/old --force --chunks 1,2,3")
    with h5py.File("lab.h5") as file:
        assert list(file) == ["old"]
        assert file["old"].shape == (3,)
