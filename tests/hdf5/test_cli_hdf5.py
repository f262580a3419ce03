"""The command with HDF5 files, run as a user runs it."""

import json
import subprocess
import sys
from itertools import pairwise

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.cli import hdf5_paths
from tests.hdf5 import everything
from tests.test_cli import coquina

GRID = np.arange(60 * 50, dtype="<f4").reshape(60, 50)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("original") / "all.h5"
    everything.make(path)
    return path


def facts(*arguments, **options):
    return json.loads(coquina(*arguments, "--json", **options))


def test_ls_lists_every_object_and_link_once(original):
    rows = {row["path"]: row for row in facts("ls", original)["objects"]}
    with h5py.File(original) as f:
        names = []
        f.visit_links(lambda name: names.append(f"/{name}"))
        # The walk by names goes through the loop too, once.
        assert set(rows) == {name for name in names if not name.startswith("/loop/")}
        d = f["again"]
        assert rows["/again"] == {
            "path": "/again", "kind": "dataset", "attrs": 4, "shape": [60, 50], "dtype": "float32",
            "chunks": [16, 20], "maxshape": [None, 50], "filters": ["shuffle", "gzip 4", "fletcher32"],
            "nbytes": 12_000, "cbytes": d.id.get_storage_size(), "cratio": 12_000 / d.id.get_storage_size(),
        }  # fmt: skip
    assert rows["/grid"] == {"path": "/grid", "kind": "again", "to": "/again"}
    assert rows["/soft"] == {"path": "/soft", "kind": "soft", "to": "/g/nowhere"}
    assert rows["/outside"] == {"path": "/outside", "kind": "external", "to": "other.h5:/x"}
    assert (rows["/text"]["dtype"], rows["/refs"]["dtype"], rows["/kind"]["kind"]) == (
        "str",
        "reference",
        "type",
    )
    assert rows["/null"]["shape"] is None
    inner = [row["path"] for row in facts("ls", f"{original}:/g")["objects"]]
    assert inner == ["/zebra", "/apple", "/mole", "/deep", "/deep/er", "/deep/er/plain", "/deep/same"]
    text = coquina("ls", original)
    for part in ("chunks (16, 20) shuffle + gzip 4 + fletcher32", "= /again", "-> other.h5:/x", "plain"):
        assert part in text
    assert "reads HDF5 files" in coquina("ls", __file__, code=1)


def test_info_tells_of_files_groups_and_datasets(original):
    whole = facts("info", original)
    assert (whole["format"], whole["groups"], whole["datasets"]) == ("HDF5 file", 3, 27)
    group = facts("info", f"{original}:/g")
    assert (group["format"], group["datasets"], group["attrs"]) == ("HDF5 group", 4, {"of_kind": [4, 0.5]})
    dataset = facts("info", f"{original}:/grid")
    expected = {
        "format": "HDF5 dataset", "shape": [60, 50], "dtype": "float32", "chunks": [16, 20], "access":
        "direct",
        "maxshape": [None, 50], "layout": "chunked", "nbytes": 12_000,
    }  # fmt: skip
    assert {name: dataset[name] for name in expected} == expected
    assert facts("info", f"{original}:/text")["dtype"] == "str"
    assert "float32" in coquina("info", f"{original}:/grid")
    assert "there is no /nowhere" in coquina("info", f"{original}:/nowhere", code=1)


def test_cat_prints_parts_of_datasets(original, tmp_path):
    assert coquina("cat", f"{original}:/grid[3:5, ::10]").strip() == str(GRID[3:5, ::10])
    assert coquina("cat", f"{original}:grid", "[-1, 2]").strip() == str(GRID[-1, 2])
    assert facts("cat", f"{original}:/records", "['id']")["items"][3:7] == [0, 0, 3, 3]
    assert facts("cat", f"{original}:/text[1]")["items"] == "ümlaut"
    assert facts("cat", f"{original}:/scalar")["items"] == 3.5
    assert "two keys" in coquina("cat", f"{original}:/grid[0]", "[1]", code=1)
    assert "is not a dataset" in coquina("cat", f"{original}:/g", code=1)
    assert "is empty" in coquina("cat", f"{original}:/null", code=1)
    with h5py.File(tmp_path / "odd:name.h5", "w") as f:
        f["x[0]"], f["x"] = 7, [1, 2]
    assert coquina("cat", tmp_path / "odd:name.h5:x[0]").strip() == "7"
    assert coquina("cat", tmp_path / "odd:name.h5:x[1]").strip() == "2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.h5", ("a.h5", "/data")),
        ("a.h5:", ("a.h5", "/data")),
        ("a.h5:/x/y", ("a.h5", "/x/y")),
        ("c:a.hdf5:x", ("c:a.hdf5", "x")),
        ("a.npy", None),
        ("a.npy:/x", None),
    ],
)
def test_names_of_new_datasets(text, expected):
    assert hdf5_paths.new_place(text, "/data") == expected


def test_datasets_become_other_files_and_files_datasets(original, tmp_path):
    steps = [f"{original}:/grid", "a.b2nd", "b.h5:/x/y", "c.npy", "d.h5", "e.blp", "b.h5:/z", "f.npy"]
    for source, target in pairwise(steps):
        coquina("convert", "d.h5:data" if source == "d.h5" else source, target, cwd=tmp_path)
    for name in ("c.npy", "f.npy"):
        np.testing.assert_array_equal(np.load(tmp_path / name), GRID)
    assert "exists" in coquina("convert", "c.npy", "b.h5:/z", code=1, cwd=tmp_path)
    np.save(tmp_path / "g.npy", GRID[:5])
    options = ["-c", "lz4", "-l", "9", "-F", "bitshuffle", "--chunks", "4,50"]
    coquina("convert", "-f", *options, "g.npy", "b.h5:/z", cwd=tmp_path)
    with h5py.File(tmp_path / "b.h5") as f, h5py.File(tmp_path / "d.h5") as g:
        assert (f["z"].shape, f["z"].chunks, f["x/y"].shape) == ((5, 50), (4, 50), (60, 50))
        np.testing.assert_array_equal(f["z"][:], GRID[:5])
        np.testing.assert_array_equal(g["data"][:], GRID)
    assert "is not a dataset of numbers" in coquina(
        "convert", f"{original}:/text", tmp_path / "x.npy", code=1
    )
    assert not (tmp_path / "x.npy").exists()


def test_verify_names_dataset_and_start_of_each_bad_chunk(original, tmp_path):
    good = facts("verify", original)
    assert (good["ndatasets"], good["damage"]) == (27, [])
    names = [row["path"] for row in facts("ls", original)["objects"] if row.get("chunks")]
    with h5py.File(original) as f:
        assert good["nchunks"] > sum(f[name].id.get_num_chunks() for name in names) > 80
    path = tmp_path / "bad.h5"
    path.write_bytes(original.read_bytes())
    with h5py.File(path, "r+") as f:
        places = []
        for name, start in (("again", (16, 20)), ("again", (48, 0)), ("g/mole", (300,)), ("text", (14,))):
            row = f[name].id.get_chunk_info_by_coord(start)
            places.append((row.byte_offset, row.size))
    content = bytearray(path.read_bytes())
    for offset, size in places:
        content[offset : offset + size] = b"\xff" * size
    path.write_bytes(content)
    assert "4 of" in coquina("verify", path, code=1)
    done = subprocess.run(
        [sys.executable, "-m", "coquina.cli", "verify", str(path), "--json"], capture_output=True, text=True
    )
    found = [(one["dataset"], one["start"]) for one in json.loads(done.stdout)["damage"]]
    assert found == [("/again", [16, 20]), ("/again", [48, 0]), ("/g/mole", [300]), ("/text", [14])]
    assert done.returncode == 1
    assert "1 of" in coquina("verify", f"{path}:/g", code=1)


def test_repack_takes_all_options(original, tmp_path):
    result = facts(
        "repack", "--filter", "blosc2", "-c", "lz4", "-l", "9", original, tmp_path / "b.h5", "-t", "1"
    )
    assert result["is_compared"]
    assert result["after"] == (tmp_path / "b.h5").stat().st_size < result["before"]
    assert everything.differences(original, tmp_path / "b.h5", only_values=True) == []
    assert "exists" in coquina("repack", original, tmp_path / "b.h5", code=1)
    chosen = [
        "--filter",
        "gzip",
        "--chunks",
        "20x25",
        "--path",
        "/again",
        "--fletcher32",
        "--no-compare",
        "-f",
    ]
    assert not facts("repack", *chosen, original, tmp_path / "b.h5")["is_compared"]
    with h5py.File(tmp_path / "b.h5") as f, h5py.File(original) as g:
        d = f["grid"]
        assert (d.chunks, d.compression, d.fletcher32) == ((20, 25), "gzip", True)
        assert f["g/apple"].compression == g["g/apple"].compression == "lzf"
    text = coquina("repack", "--filter", "none", "--no-fletcher32", f"{original}:/g", tmp_path / "g.h5")
    assert "3 of 4 datasets encoded again, compared with the file" in text
    assert next(iter(h5py.File(tmp_path / "g.h5"))) == "zebra"
    coquina("repack", "--in-place", "--filter", "gzip", tmp_path / "b.h5")
    assert everything.differences(original, tmp_path / "b.h5", only_values=True) == []
    assert "a whole file" in coquina("repack", "--in-place", f"{tmp_path / 'b.h5'}:/g", code=1)
    assert "--filter" in coquina("repack", "--help")
    assert "takes one of blosc2" in coquina("repack", "--filter", "zip", original, tmp_path / "c.h5", code=2)
    coquina("repack", "--chunks", "2y3", original, tmp_path / "c.h5", code=2)
    assert not (tmp_path / "c.h5").exists()


def test_help_teaches_by_example():
    for command in ["info", "cat", "convert", "verify", "ls", "repack"]:
        assert ".h5" in coquina(command, "--help")
    assert cq.__version__ in coquina("--version")
