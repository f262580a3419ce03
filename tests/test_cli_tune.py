"""`coquina tune`: it says what `tune` says, for all files that hold arrays, and applies it."""

import json

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

SHAPE = (40, 60, 50)
GRID = np.random.default_rng(3).integers(0, 200, SHAPE).astype("<i4").cumsum(axis=0, dtype="<i4")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", GRID)
    return tmp_path


def facts(capfd, *words):
    assert main(["tune", *words, "--json"]) == 0
    return json.loads(capfd.readouterr().out)


def failed(capfd, code, *words):
    assert main(["tune", *words]) == code
    return capfd.readouterr().err


def test_the_command_says_what_the_function_says(capfd):
    words = [
        "--goal",
        "0.75",
        "--for",
        "read",
        "--bandwidth",
        "2M",
        "--access",
        "planes:1=3",
        "--access",
        "4,60,5",
    ]
    found = facts(capfd, "x.npy", *words)
    advice = cq.tune(
        "x.npy", 0.75, for_="read", bandwidth=2 << 20, access={"planes:1": 3, "boxes:4,60,5": 1}
    ).to_dict()
    assert found == {"file": "x.npy", **advice}
    assert main(["tune", "x.npy", *words]) == 0
    text = capfd.readouterr().out
    for part in (
        "x.npy: int32",
        f"{found['codec']}-{found['level']}",
        "planes:1 x3, boxes:4,60,5",
        "asarray(x, ",
    ):
        assert part in text
    assert main(["tune", "x.npy", "--quiet"]) == 0
    assert capfd.readouterr().out == ""


def test_kinds_of_files_get_the_same_advice(capfd):
    cq.asarray(GRID, path="x.b2nd").close()
    cq.pack(GRID, "x.blp")
    np.savez("x.npz", a=GRID)
    GRID.tofile("x.raw")
    with h5py.File("x.h5", "w") as file:
        file["g/a"] = GRID
    plain = ["x.raw", "--dtype", "<i4", "--shape", "40,60,50"]
    for words in (["x.b2nd"], ["x.blp"], ["x.npz:a"], ["x.h5:/g/a"], plain):
        found, first = facts(capfd, *words), facts(capfd, "x.npy")
        for name in ("codec", "level", "filters", "chunks", "blocks", "ratio", "cost"):
            assert found[name] == first[name], words
        assert found["name"] == words[0]


def test_what_is_applied_is_what_was_advised(capfd):
    found = facts(capfd, "x.npy", "--access", "series:0", "--goal", "size", "--apply", "y.b2nd")
    assert found["output"] == "y.b2nd"
    made = cq.open("y.b2nd")
    assert (made.info.codec, made.info.level) == (found["codec"], found["level"])
    assert (list(made.chunks), list(made.blocks)) == (found["chunks"], found["blocks"])
    np.testing.assert_array_equal(made[...], GRID)
    assert "--force" in failed(capfd, 1, "x.npy", "--apply", "y.b2nd")
    assert main(["tune", "x.npy", "--apply", "y.b2nd", "--force", "--max-error", "3"]) == 0
    assert "written: y.b2nd" in capfd.readouterr().out
    with cq.open("y.b2nd") as made:
        assert made.lossy.error_bound.max_error == 3


def test_files_and_tables_are_tuned_array_by_array(capfd):
    with h5py.File("x.h5", "w") as file:
        file["a"], file["b"], file["few"] = GRID, GRID[:20] * 2.0, np.arange(3)
    found = facts(capfd, "x.h5", "--apply", "y.h5")
    assert set(found["parts"]) == {"/a", "/b"}
    assert list(found["skipped"]) == ["/few"]
    with cq.open("y.h5") as file:
        np.testing.assert_array_equal(file["a"][...], GRID)
    cq.create_table("t.h5", {"time": np.arange(9000), "name": ["ab"] * 9000}, name="/t").close()
    found = facts(capfd, "t.h5:/t", "--apply", "copy.h5")
    assert "time" in found["parts"]
    with cq.open_table("copy.h5") as table:
        assert table.nrows == 9000
    assert "at the top it has: a, b, few" in failed(capfd, 1, "x.h5:/nope")


def test_a_picture_shows_the_ways_of_one_array(capfd):
    pytest.importorskip("matplotlib")
    assert main(["tune", "x.npy", "--plot", "x.png", "--quiet"]) == 0
    with open("x.png", "rb") as file:
        assert file.read(4) == b"\x89PNG"
    with h5py.File("x.h5", "w") as file:
        file["a"] = GRID
    assert "name one" in failed(capfd, 1, "x.h5", "--plot", "x.png")


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["x.npy", "--goal", "fast"], 2, "takes speed, balanced, size"),
        (["x.npy", "--goal", "1.01"], 2, "from 0"),
        (["x.npy", "--access", "planes:0=-1"], 2, "weight"),
        (["x.npy", "--access", "planes:0=x"], 2, "weight"),
        (["x.npy", "--access", "plane"], 1, "takes any, whole"),
        (["x.npy", "--access", "3,4"], 1, "does not fit"),
        (["x.npy", "--for", "all"], 2, "--for"),
        (["x.npy", "--bandwidth", "fast"], 2, "size"),
        (["x.npy", "--plot", "x.txt"], 1, ".png"),
        (["x.npy", "--apply", "nowhere/y.b2nd"], 1, "no folder"),
        (["x.npy", "--apply", "y.h5"], 1, "Blosc2 frames"),
        (["x.npz"], 1, "no such file"),
        (["rows.csv"], 1, "tune that"),
        (["empty.npy"], 1, "array is empty"),
    ],
)  # fmt: skip
def test_mistakes_are_told(words, code, text, capfd, here):
    (here / "rows.csv").write_text("a,b\n1,2\n")
    np.save("empty.npy", np.zeros((0, 3)))
    assert text in failed(capfd, code, *words)
