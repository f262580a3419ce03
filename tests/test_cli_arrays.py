"""The command with arrays, run as a user runs it."""

import argparse
import json
from itertools import pairwise

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main
from coquina.cli.keys import key
from tests.test_cli import coquina

GRID = np.arange(20 * 30 * 4, dtype="<f4").reshape(20, 30, 4)
RECORDS = np.array([(1, b"ab"), (2, b"c")], [("id", "<i4"), ("tag", "S2")])


@pytest.fixture
def array(tmp_path):
    a = cq.asarray(GRID, path=tmp_path / "a.b2nd", chunks=(7, 30, 4), blocks=(2, 10, 4))
    a.attrs["unit"] = "K"
    return tmp_path / "a.b2nd"


def test_info_tells_of_arrays_and_frames_and_reads_no_data(array, tmp_path):
    facts = json.loads(coquina("info", array, "--json"))
    expected = {
        "format": "Blosc2 array", "shape": [20, 30, 4], "dtype": "float32", "chunks": [7, 30, 4],
        "nchunks": 3, "codec": "zstd", "nbytes": GRID.nbytes, "checksums": "fresh", "attrs": {"unit": "K"},
    }  # fmt: skip
    assert {name: facts[name] for name in expected} == expected
    assert "float32" in coquina("info", array)
    frame = cq.Frame.create(tmp_path / "f.b2frame")
    frame.append(b"abc" * 100)
    facts = json.loads(coquina("info", tmp_path / "f.b2frame", "--json"))
    assert (facts["format"], facts["nchunks"], facts["nbytes"]) == ("Blosc2 frame", 1, 300)
    cq.zeros((3, 4), path=tmp_path / "sparse", contiguous=False)
    assert json.loads(coquina("info", tmp_path / "sparse", "--json"))["cratio"] is None
    assert "None" not in coquina("info", tmp_path / "sparse")
    assert "url" not in coquina("info", array)


def test_cat_prints_any_part(array, tmp_path):
    assert coquina("cat", array, "[3:5, ::-1, 0]").strip() == str(GRID[3:5, ::-1, 0])
    assert coquina("cat", array, "-1, 2, 3").strip() == str(GRID[-1, 2, 3])
    assert "..." not in coquina("cat", array, "--all")
    assert "..." in coquina("cat", array)
    shown = json.loads(coquina("cat", array, "[0, :2]", "--json"))
    assert shown == {"dtype": "float32", "shape": [2, 4], "items": GRID[0, :2].tolist()}
    cq.asarray(RECORDS, path=tmp_path / "r.b2nd")
    assert coquina("cat", tmp_path / "r.b2nd", "['id']").strip() == "[1 2]"
    assert json.loads(coquina("cat", tmp_path / "r.b2nd", "--json"))["items"] == [[1, "ab"], [2, "c"]]
    cq.pack(GRID, tmp_path / "p.blp")
    assert coquina("cat", tmp_path / "p.blp", "[2, 3]").strip() == str(GRID[2, 3])
    assert "out of bounds" in coquina("cat", array, "[99]", code=1)
    assert "not a key" in coquina("cat", array, "[print(1)]", code=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("[]", ()),
        ("3", 3),
        ("[-3]", -3),
        ("[1:2]", np.s_[1:2]),
        ("[::-2, ..., None]", np.s_[::-2, ..., None]),
        ("newaxis, 1", (None, 1)),
        ("[[1, 2], [3, 4]]", ([1, 2], [3, 4])),
        ("[1], [2]", ([1], [2])),
        ("[[True, False]]", [True, False]),
        ("['a']", "a"),
        ("[(1, 2)]", (1, 2)),
    ],
)
def test_keys_are_what_numpy_would_get(text, expected):
    assert key(text) == expected


@pytest.mark.parametrize(
    "text", ["a", "[x.y]", "[f()]", "[1", "1]", "[1][2]; import os", "[lambda: 0]", "[1 + x]"]
)
def test_keys_run_no_code(text):
    with pytest.raises(argparse.ArgumentTypeError):
        key(text)


def test_arrays_go_from_kind_to_kind(tmp_path):
    np.save(tmp_path / "x.npy", GRID)
    steps = ["x.npy", "a.b2nd", "b.npz", "c.b2nd", "d.blp", "e.npy", "f.blp", "g.b2nd", "h.raw"]
    for source, target in pairwise(steps):
        coquina("convert", source, target, cwd=tmp_path)
    coquina("convert", "h.raw", "i.npy", "--dtype", "<f4", "--shape", "20,30,4", cwd=tmp_path)
    for name in ("e.npy", "i.npy"):
        np.testing.assert_array_equal(np.load(tmp_path / name), GRID)
    assert (tmp_path / "h.raw").read_bytes() == GRID.tobytes()
    np.testing.assert_array_equal(cq.open(tmp_path / "g.b2nd")[...], GRID)
    for x in (np.float64(3.5), np.empty((0, 3), "i2"), RECORDS, np.asfortranarray(GRID)):
        np.save(tmp_path / "x.npy", x)
        coquina("convert", "-f", "x.npy", "y.b2nd", cwd=tmp_path)
        coquina("convert", "-f", "y.b2nd", "z.npy", cwd=tmp_path)
        back = np.load(tmp_path / "z.npy")
        assert (back.dtype, back.shape, back.tobytes()) == (np.asarray(x).dtype, np.shape(x), x.tobytes())


def test_options_of_convert_reach_the_file(tmp_path):
    np.savez(tmp_path / "x.npz", a=GRID, b=GRID[0])
    assert "x.npz:b" in coquina("convert", "x.npz", "y.b2nd", code=1, cwd=tmp_path)
    options = ["-c", "lz4", "-l", "9", "-F", "bitshuffle", "--chunks", "5,30,2", "--blocks", "1x30x2"]
    result = json.loads(coquina("convert", "x.npz:a", "y.b2nd", *options, "--json", cwd=tmp_path))
    assert result["written"] == (tmp_path / "y.b2nd").stat().st_size
    info = cq.open(tmp_path / "y.b2nd").info
    assert (info.codec, info.level, info.filters) == ("lz4", 9, [("bitshuffle", 0)])
    assert (info.chunks, info.blocks) == ((5, 30, 2), (1, 30, 2))
    before = (tmp_path / "y.b2nd").read_bytes()
    for target in ("y.b2nd", "x.npz"):
        assert "exists" in coquina("convert", "x.npz:b", target, code=1, cwd=tmp_path)
    assert (tmp_path / "y.b2nd").read_bytes() == before
    coquina("convert", "-f", "x.npz:b", "y.b2nd", cwd=tmp_path)
    assert cq.open(tmp_path / "y.b2nd").shape == GRID[0].shape
    for wrong in (["missing.npy", "z.npy"], ["x.npz:a", "nowhere/z.npy"]):
        coquina("convert", *wrong, code=1, cwd=tmp_path)
    coquina("convert", "y.b2nd", "z.b2nd", "-c", "lzma", code=2, cwd=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.npz", "y.b2nd"]


def test_verify_and_repair_tell_what_is_damaged(array, tmp_path):
    assert json.loads(coquina("verify", array, "--json"))["damage"] == []
    assert "0 damaged" in coquina("verify", array)
    data = bytearray(array.read_bytes())
    data[len(data) // 3] ^= 16
    array.write_bytes(data)
    assert "1 of 3 chunks are damaged" in coquina("verify", array, code=1)
    report = json.loads(coquina("repair", array, tmp_path / "good.b2nd", "--json"))
    (damage,) = report["damage"]
    good = cq.open(tmp_path / "good.b2nd")
    expected = GRID.copy()
    expected[tuple(slice(*part) for part in damage["region"])] = np.nan
    np.testing.assert_array_equal(good[...], expected)
    assert "exists" in coquina("repair", array, tmp_path / "good.b2nd", code=1)
    assert "0 damaged" in coquina("verify", tmp_path / "good.b2nd")
    cq.pack(GRID, tmp_path / "p.blp")
    assert "0 damaged" in coquina("verify", tmp_path / "p.blp")
    assert "is not an array" in coquina("repair", tmp_path / "p.blp", tmp_path / "q", code=1)


def test_urls_are_files_too(array, tmp_path, capfd):
    fsspec = pytest.importorskip("fsspec")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x/y"] = GRID
    for name in ("a.b2nd", "a.h5"):
        fsspec.filesystem("memory").pipe(f"/cli/{name}", (tmp_path / name).read_bytes())
    for url in ("memory://cli/a.b2nd", "memory://cli/a.h5:/x/y"):
        assert main(["cat", url, "[3, :2, 0]"]) == main(["info", url, "--json"]) == main(["verify", url]) == 0
        out = capfd.readouterr().out
        assert str(GRID[3, :2, 0]) in out
        assert '"shape": [20, 30, 4]' in out
        assert main(["convert", url, str(tmp_path / "back.npy"), "--force"]) == 0
        np.testing.assert_array_equal(np.load(tmp_path / "back.npy"), GRID)
    assert main(["cat", "memory://cli/b.b2nd"]) == 1
    assert "no such file" in capfd.readouterr().err


def test_help_teaches_by_example():
    for command in ["info", "cat", "convert", "verify", "repair"]:
        assert f"coquina {command} " in coquina(command, "--help")
