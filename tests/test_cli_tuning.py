"""The command with `--codec auto`: all that encode something, and `repack --auto` for whole files."""

import json

import numpy as np
import pytest

import coquina as cq
from coquina.cli import main, tuning_options
from coquina.tuning_options import DEFAULT_LEVEL
from tests.tuning_cases import data, of_blosc2, same

X = data("mixed", 20_000).reshape(200, 100)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    return tmp_path


def done(capfd, *words, code=0):
    assert main(list(words)) == code
    out, err = capfd.readouterr()
    if code:
        assert (out, err.count("\n")) == ("", 1)
        return err
    assert err == ""
    return out


AUTO = ["-c", "auto", "--goal", "size", "--for", "read", "--bandwidth", "500M"]
SAID = "size, to read, 5.24288e+08 B/s"


def test_convert_makes_tuned_arrays(here, capfd):
    done(capfd, "convert", "x.npy", "x.b2nd", *AUTO)
    with cq.open("x.b2nd") as array:
        assert str(array.tuning) == SAID
        same(array[...], X)
    same(of_blosc2("x.b2nd"), X)
    done(capfd, "convert", "x.npy", "x.b2nd", "-c", "auto", "--goal", "0.25", "--calibrate", "-f")
    with cq.open("x.b2nd") as array:
        assert (array.tuning.goal, array.tuning.calibrate) == (0.25, True)
    done(capfd, "convert", "x.npy", "x.h5:/d", *AUTO)
    with cq.open("x.h5") as file:
        assert str(file["d"].tuning) == SAID
    done(capfd, "convert", "x.npy", "x.blp", *AUTO)
    same(cq.unpack("x.blp"), X)
    done(capfd, "convert", "x.npy", "y.blp", "-c", "auto", "--max-error", "0.01")
    assert np.nanmax(np.abs(cq.unpack("y.blp") - X)) <= 0.01


def test_compress_and_append_are_tuned(here, capfd):
    assert "x.npy.blp" in done(capfd, "compress", "x.npy", *AUTO)
    same(cq.unpack("x.npy.blp"), X)
    done(capfd, "append", "x.npy.blp", "x.npy", *AUTO)
    same(cq.unpack("x.npy.blp"), np.concatenate([X, X]))
    done(capfd, "compress", "x.npy", "small.blp", "-c", "auto", "--goal", "size")
    done(capfd, "compress", "x.npy", "fast.blp", "-c", "auto", "--goal", "speed")
    assert (here / "small.blp").stat().st_size <= (here / "fast.blp").stat().st_size


def test_tables_are_tuned(here, capfd):
    cq.create_table("t.h5", {"a": np.arange(5000), "b": data("random", 5000)}).close()
    done(capfd, "convert", "t.h5", "u.h5:/t", *AUTO)
    done(capfd, "convert", "t.h5", "u", *AUTO, "--layout", "columns")
    done(capfd, "convert", "t.h5", "r.h5:/t", *AUTO, "--layout", "rows")
    for path in ("u.h5", "u"):
        with cq.open_table(path) as table:
            assert {str(one["tuning"]) for one in table.info["columns"].values()} == {SAID}
    with cq.open_table("r.h5") as table:
        assert str(table.dataset.tuning) == SAID
    assert f"auto ({SAID})" in done(capfd, "info", "u.h5")
    assert f"auto ({SAID})" in done(capfd, "info", "r.h5:/t")
    done(capfd, "repack", "u", "v", "--auto", "--goal", "speed")
    with cq.open_table("v") as table:
        assert {one["tuning"].goal for one in table.info["columns"].values()} == {"speed"}
        same(table["a"][...], np.arange(5000))


def test_repack_tunes_every_dataset(here, capfd):
    with cq.open("x.h5", "w") as file:
        file.create_dataset("g/d", data=X, chunks=(50, 100))
        file.create_dataset("zip", data=X, filter="gzip", chunks=(50, 100))
        file.create_table("t", {"a": np.arange(5000)})
    for words in (["--auto"], ["--codec", "auto"], ["--codec", "auto", "--filter", "blosc2"]):
        result = json.loads(done(capfd, "repack", "x.h5", "y.h5", *words, "--goal", "size", "--json", "-f"))
        assert {one["how"] for one in result["datasets"] if one["nbytes"] > 1000} == {"encoded"}
        with cq.open("y.h5") as file:
            assert file["g/d"].tuning.goal == file["zip"].tuning.goal == "size"
            assert file["t"].info["columns"]["a"]["tuning"].goal == "size"
            same(file["zip"][...], X)
    assert f"blosc2 {DEFAULT_LEVEL} auto (size)" in done(capfd, "ls", "y.h5")
    rows = json.loads(done(capfd, "ls", "y.h5", "--json"))["objects"]
    assert {one["path"]: one.get("tuning") for one in rows if one["kind"] == "dataset"} == {
        "/g/d": "size",
        "/zip": "size",
    }
    done(capfd, "repack", "y.h5", "--in-place", "--auto", "--path", "/zip")
    with cq.open("y.h5") as file:
        assert (file["zip"].tuning.goal, file["g/d"].tuning.goal) == ("balanced", "size")


def test_repack_tunes_arrays_and_packs(here, capfd):
    cq.asarray(X, path="a.b2nd", chunks=(50, 100), codec="lz4").close()
    result = json.loads(done(capfd, "repack", "a.b2nd", "b.b2nd", "--auto", "--goal", "size", "--json"))
    assert result["is_compared"]
    assert result["after"] < result["before"]
    with cq.open("b.b2nd") as array:
        assert (array.tuning.goal, array.chunks) == ("size", (50, 100))
        same(array[...], X)
    assert "compared" in done(capfd, "repack", "b.b2nd", "c.b2nd", "-c", "lz4")
    assert cq.open("c.b2nd").tuning is None
    cq.pack(X, "a.blp", checksum="sha256", chunk_size=8000)
    done(capfd, "repack", "a.blp", "b.blp", "--auto", "--goal", "size")
    with open("b.blp", "rb") as file:
        about = cq.open(file).info()
    assert (about["checksum"], about["chunk_size"]) == ("sha256", 8000)
    same(cq.unpack("b.blp"), X)
    cq.pack(b"plain bytes" * 1000, "p.blp", metadata=b'{"a": 1}')
    done(capfd, "repack", "p.blp", "q.blp", "--auto")
    assert cq.unpack("q.blp") == b"plain bytes" * 1000
    assert cq.open("q.blp").metadata == {"a": 1}


def test_info_says_what_was_chosen(here, capfd):
    cq.asarray(X, path="a.b2nd", chunks=(50, 100), codec="auto").close()
    lines = dict(line.split(None, 1) for line in done(capfd, "info", "a.b2nd").splitlines())
    assert lines["tuning"] == "balanced"
    assert "special 2" in lines["encodings"] or "special 1" in lines["encodings"]
    facts = json.loads(done(capfd, "info", "a.b2nd", "--json"))
    assert facts["tuning"] == {"goal": "balanced", "for_": "both", "bandwidth": None, "calibrate": False}
    assert sum(facts["encodings"].values()) == 4
    cq.asarray(X, path="b.b2nd").close()
    assert "tuning" not in done(capfd, "info", "b.b2nd")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["convert", "x.npy", "y.b2nd", "--goal", "size"], "--goal: is for --codec auto"),
        (["convert", "x.npy", "y.h5", "-c", "lz4", "--calibrate"], "--calibrate: is for --codec auto"),
        (["compress", "x.npy", "--for", "read"], "--for: is for --codec auto"),
        (["convert", "x.npy", "y.b2nd", "-c", "auto", "-l", "9"], "level 9: --codec auto chooses levels"),
        (["convert", "x.npy", "y.b2nd", "-c", "auto", "-F", "shuffle"], "--codec auto chooses filters"),
        (["repack", "x.h5", "y.h5", "--auto", "-c", "lz4"], "--auto: means --codec auto"),
        (["repack", "x.h5", "y.h5", "--auto", "--filter", "gzip"], "is for the filter 'blosc2'"),
        (["repack", "x.b2nd", "y.b2nd"], "add --auto or --codec to repack it"),
        (["repack", "x.b2nd", "--auto"], "name the new file"),
        (["repack", "x.b2nd", "--auto", "--in-place"], "--in-place: takes HDF5 files"),
        (["repack", "x.b2nd", "x.b2nd", "--auto", "-f"], "is the file itself"),
        (["repack", "x.npy", "y.npy", "--auto"], "x.npy"),
    ],
)
def test_options_that_do_not_fit_are_refused(words, text, here, capfd):
    cq.asarray(X, path="x.b2nd").close()
    with cq.open("x.h5", "w") as file:
        file["d"] = X
    before = sorted(one.name for one in here.iterdir())
    assert main(words) != 0
    out, err = capfd.readouterr()
    assert out == ""
    assert text in err
    assert sorted(one.name for one in here.iterdir()) == before


@pytest.mark.parametrize(
    "option", ["--goal=fast", "--goal=1.5", "--goal=nan", "--for=all", "--bandwidth=0", "-cauto:3"]
)
def test_values_that_mean_nothing_are_refused(option, here, capfd):
    assert main(["convert", "x.npy", "y.b2nd", "-c", "auto", option]) == 2
    assert "takes" in capfd.readouterr().err
    assert not (here / "y.b2nd").exists()


def test_goals_are_read_as_words_and_numbers():
    assert [tuning_options.goal(text) for text in ("size", "0", "1", "0.25")] == ["size", 0, 1, 0.25]
