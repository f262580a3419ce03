"""`train` and `profile=`: what is learnt from files is what `codec="auto"` chooses by, in every writer."""

import json
import pickle

import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

RNG = np.random.default_rng(0)
STEPS = RNG.integers(0, 1000, 200_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    np.save(folder / "steps.npy", STEPS)
    np.save(folder / "walk.npy", np.cumsum(RNG.normal(size=100_000)).astype("f4"))
    cq.asarray(np.arange(100_000) // 7, path=folder / "rise.b2nd").close()
    with cq.open(folder / "more.h5", "w") as f:
        f.create_dataset("x", data=RNG.integers(0, 200, (100, 1000)).astype("u2"), chunks=(50, 1000))
        f.create_dataset("flat", shape=(100_000,), dtype="f8")
    (folder / "notes.txt").write_text("no array")
    (folder / ".hidden").mkdir()
    np.save(folder / ".hidden" / "x.npy", STEPS)
    return folder


@pytest.fixture(scope="module")
def training(folder):
    return cq.train(folder, samples=6)


@pytest.fixture(scope="module")
def turned(training):
    """A profile by which zlib is the fastest of all by far."""
    lines = training.profile.text.splitlines()
    made = lines[:1]
    for line in lines[2:]:
        fields = line.split("\t")
        fields[5:7] = ["0.001"] * 2 if fields[0] == "zlib" else ["500"] * 2
        made.append("\t".join(fields))
    return cq.Profile("\n".join(made))


def test_a_profile_is_learnt_from_all_files_that_have_arrays(folder, training):
    names = {str(folder / name) for name in ("steps.npy", "walk.npy", "rise.b2nd", "more.h5")}
    assert set(training.samples) == names
    assert sum(training.samples.values()) == 6
    assert list(training.skipped) == [str(folder / "notes.txt")]
    assert sorted(training.judged) == ["balanced", "size", "speed"]
    assert all(0 <= part < 50 for both in training.judged.values() for part in both)
    lines = training.profile.text.splitlines()
    assert len(lines) > 50
    assert len(training.profile.text) < 8000
    assert f"skipped {folder / 'notes.txt'}" in training.explain()
    assert json.loads(json.dumps(training.to_dict()))["profile"] == training.profile.text


def test_a_profile_comes_back_from_its_text_and_from_a_pickle(training, tmp_path):
    profile = training.profile
    assert cq.Profile(profile.text) == profile == pickle.loads(pickle.dumps(profile))
    path = tmp_path / "p.txt"
    path.write_text(profile.text)
    by_path, by_value = (cq.asarray(STEPS, codec="auto", profile=one).to_bytes() for one in (path, profile))
    assert by_path == by_value


def wrote(array):
    return {name.split(" + ")[0] for name in array.encodings() if name != "special"}


def test_every_writer_chooses_by_the_profile(turned, tmp_path):
    auto = {"codec": "auto", "profile": turned}
    assert wrote(cq.asarray(STEPS, codec="auto")) == {"zstd"} or wrote(cq.asarray(STEPS, codec="auto")) == {
        "lz4"
    }
    assert wrote(cq.asarray(STEPS, **auto)) == {"zlib"}
    with cq.zeros(STEPS.shape, STEPS.dtype, path=tmp_path / "z.b2nd", **auto) as a:
        a[...] = STEPS
        a.append(STEPS)
        assert wrote(a) == {"zlib"}
        assert np.array_equal(a[:], np.concatenate([STEPS, STEPS]))
    assert cq.chunk_info(cq.compress(STEPS, codec="auto", profile=turned)).codec == "zlib"
    with cq.open(tmp_path / "x.h5", "w") as f:
        assert wrote(f.create_dataset("x", data=STEPS, chunks=(50_000,), **auto)) == {"zlib"}
        d = f.create_dataset("y", shape=STEPS.shape, dtype=STEPS.dtype, chunks=(50_000,), **auto)
        d[:] = STEPS
        assert wrote(d) == {"zlib"}
        f.create_dataset("plain", data=STEPS, chunks=(50_000,))
    cq.hdf5.repack(tmp_path / "x.h5", tmp_path / "y.h5", filter="blosc2", **auto)
    with cq.open(tmp_path / "y.h5") as f:
        assert wrote(f["plain"]) == {"zlib"}
    with cq.create_table(tmp_path / "t", {"x": STEPS}, **auto) as t:
        assert {name.split(" + ")[0] for name in t.info["columns"]["x"]["encodings"]} == {"zlib"}
    with cq.create_table(tmp_path / "r.h5", {"x": STEPS}, layout="rows", **auto) as t:
        t.append({"x": STEPS})
        t.flush()
        assert wrote(t.dataset) == {"zlib"}
    assert cq.tune(STEPS, profile=turned).best.way.codec == "zlib"
    with cq.Frame.create(tmp_path / "f.b2frame", chunk_size=STEPS.nbytes, typesize=8, **auto) as frame:
        frame.append(STEPS)
        assert cq.chunk_info(frame.stored(0)).codec == "zlib"


def test_files_do_not_keep_a_profile(turned, tmp_path):
    path = tmp_path / "a.b2nd"
    with cq.asarray(STEPS, codec="auto", profile=turned, path=path) as a:
        assert a.tuning == cq.asarray(STEPS, codec="auto").tuning
    with cq.open(path, "a") as a:
        a.append(STEPS)
        assert len(wrote(a)) == 2
        assert a.tuning.options == {"codec": "auto", "goal": "balanced", "for_": "both"}


@pytest.mark.parametrize(
    ("words", "error", "text"),
    [
        ({"profile": 3}, TypeError, "profile 3: takes a path"),
        ({"profile": "no such file"}, FileNotFoundError, "no such file"),
        ({"calibrate": True}, ValueError, "leave calibrate out"),
        ({"codec": "lz4"}, ValueError, "profile: for codec='auto'"),
    ],
)
def test_what_is_no_profile_is_refused(training, words, error, text):
    with pytest.raises(error, match=text):
        cq.asarray(STEPS, **{"codec": "auto", "profile": training.profile, **words})


def test_other_texts_are_no_profiles(training, tmp_path):
    text = training.profile.text
    (tmp_path / "p").write_bytes(b"\xff\xfe" + text.encode())
    with pytest.raises(cq.CorruptError, match="p: a profile begins with"):
        cq.asarray(STEPS, codec="auto", profile=tmp_path / "p")
    with pytest.raises(cq.UnsupportedError, match="another version"):
        cq.Profile(text.replace("table-", "table-0", 1))
    for wrong in (
        "lz4\t1\tplanes\t1\t1\tnan\t1\t1",
        "lz4\t1\tplanes\t1\t0.5\t1\t1\t1",
        "x",
        "lz4\t2\tplanes" + "\t1" * 5,
    ):
        with pytest.raises(cq.CorruptError, match="is damaged"):
            cq.Profile(f"{text}{wrong}\n")


def test_the_command_writes_a_profile_that_is_better_and_no_other(folder, tmp_path, capfd):
    path = tmp_path / "mine.profile"
    assert main(["train", str(folder), "-o", str(path), "--samples", "4", "--json"]) == 0
    said = json.loads(capfd.readouterr().out)
    assert said["is_better"] == path.exists()
    assert said["output"] == (str(path) if path.exists() else None)
    (tmp_path / "there").write_text("mine")
    assert main(["train", str(folder), "-o", str(tmp_path / "there")]) == 1
    assert "--force replaces it" in capfd.readouterr().err
    assert main(["train", str(folder / "nothing.npy"), "-o", str(path)]) == 1
    assert main(["train", str(folder / "notes.txt"), "-o", str(tmp_path / "none")]) == 1
    assert "no file has items" in capfd.readouterr().err
    (tmp_path / "p").write_text(cq.train(folder, samples=2, goals=["size"]).profile.text)
    out = tmp_path / "x.b2nd"
    assert (
        main(
            [
                "convert",
                str(folder / "steps.npy"),
                str(out),
                "--codec",
                "auto",
                "--profile",
                str(tmp_path / "p"),
            ]
        )
        == 0
    )
    assert np.array_equal(cq.open(out)[...], STEPS)


def test_a_profile_that_cannot_be_written_leaves_the_one_before(folder, tmp_path, monkeypatch):
    """`train` wrote into the file itself: a failure left half of a profile."""
    path = tmp_path / "mine.profile"
    path.write_text("before")
    path.chmod(0o640)
    monkeypatch.setattr(cq.tuning.training.Training, "is_better", True)
    (tmp_path / "link").symlink_to(path)
    text = cq.train(folder, path=tmp_path / "link", samples=2, overwrite=True).profile.text
    assert path.read_text() == text
    assert path.stat().st_mode & 0o777 == 0o640
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", fail)
        with pytest.raises(OSError, match="disk full"):
            cq.train(folder, path=path, samples=2, overwrite=True)
    assert path.read_text() == text
    assert {one.name for one in tmp_path.iterdir()} == {"mine.profile", "link"}


def fail(*_):
    raise OSError("disk full")
