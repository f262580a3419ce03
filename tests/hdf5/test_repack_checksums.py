"""Checksums that files get or lose by being repacked."""

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main
from coquina.hdf5.protection import is_protected

ITEMS = np.arange(6000, dtype="f4").reshape(60, 100) % 37


@pytest.fixture
def path(tmp_path):
    """A file with a dataset with checksums, one without, and one of another filter."""
    path = tmp_path / "x.h5"
    with cq.open(path, "w") as file:
        for name, options in {
            "with": {},
            "without": {"checksums": False},
            "tuned": {"codec": "auto", "checksums": False},
            "gzip": {"filter": "gzip"},
        }.items():
            file.create_dataset(name, data=ITEMS, chunks=(16, 100), **options).attrs["unit"] = "m"
    return path


def protected(path):
    with h5py.File(path) as file:
        return {name for name in file if is_protected(file[name])}


def told(path):
    """What handles say of the chunks that they would write."""
    with cq.open(path) as file:
        return {name for name in file if file[name].checksums}


@pytest.mark.parametrize(
    ("wanted", "there"),
    [(None, {"with"}), (True, {"with", "without", "tuned"}), (False, set())],
)
@pytest.mark.parametrize("by", ["python", "command"])
def test_repack_gives_and_takes_checksums(wanted, there, by, path, tmp_path):
    out = tmp_path / "out.h5"
    if by == "python":
        cq.hdf5.repack(path, out, checksums=wanted)
    else:
        words = {None: [], True: ["--checksums"], False: ["--no-checksums"]}[wanted]
        assert main(["repack", "--quiet", *words, str(path), str(out)]) == 0
    assert protected(out) == there
    assert told(out) == there
    with h5py.File(out) as file, cq.open(out) as ours:
        for name in file:
            np.testing.assert_array_equal(file[name][:], ITEMS)
            np.testing.assert_array_equal(ours[name][:], ITEMS)
            assert file[name].attrs["unit"] == "m"
        assert ours["tuned"].tuning is not None


def test_chunks_that_are_as_wished_are_copied_as_they_are_stored(path, tmp_path):
    repacked = cq.hdf5.repack(path, tmp_path / "out.h5", checksums=True)
    how = {one.name: (one.how, one.reason) for one in repacked.datasets}
    assert how["/with"] == ("copied", None)
    assert how["/without"][0] == how["/tuned"][0] == "encoded"
    assert how["/gzip"][0] == "copied"
    assert "fletcher32" in how["/gzip"][1]


def test_a_new_filter_has_checksums_or_not(path, tmp_path):
    for wanted in (True, False):
        out = tmp_path / f"{wanted}.h5"
        cq.hdf5.repack(path, out, filter="blosc2", codec="lz4", checksums=wanted)
        assert protected(out) == ({"with", "without", "tuned", "gzip"} if wanted else set())
        with cq.open(out, "r+") as file:
            file["gzip"][:20] = 1
        assert ("gzip" in protected(out)) is wanted
    with pytest.raises(ValueError, match="fletcher32=True"):
        cq.hdf5.repack(path, tmp_path / "no.h5", filter="gzip", checksums=True)
    assert not (tmp_path / "no.h5").exists()


def test_arrays_take_checksums_too_and_other_files_say_why_not(tmp_path, capsys):
    path, out = str(tmp_path / "x.b2nd"), str(tmp_path / "out.b2nd")
    cq.asarray(ITEMS, path=path, checksums=False).close()
    assert main(["repack", "--quiet", "--codec", "lz4", "--checksums", path, out]) == 0
    with cq.open(out) as array:
        assert array.info.checksums == "fresh"
    table = str(tmp_path / "table")
    cq.create_table(table, {"a": [1, 2]}).close()
    assert main(["repack", "--quiet", "--codec", "lz4", "--no-checksums", table, str(tmp_path / "t2")]) != 0
    assert "always have some" in capsys.readouterr().err
