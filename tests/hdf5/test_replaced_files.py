"""A file is replaced only once nobody writes to it, and with all of its commits; else it stays as it was."""

import os
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

import coquina as cq

READER = "import sys, h5py; f = h5py.File(sys.argv[1]); print(flush=True); sys.stdin.read()"
WRITER = """
import sys, os, coquina as cq
f = cq.hdf5.File(sys.argv[1], "a", durable=True)
f["x"][0] = 77
f.flush()
print(flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "lab.h5"
    with cq.hdf5.File(path, "w") as f:
        f.create_dataset("x", data=np.arange(1000))
    return path


class Process:
    def __init__(self, code, path):
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self):
        self.process.stdout.readline()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def other_file(path):
    other = path.with_name("other.h5")
    with h5py.File(other, "w") as f:
        f["y"] = np.arange(5)
    return other


#: Everything that gives a new HDF5 file the name of one that is there.
REPLACING = {
    "repack in place": lambda path: cq.hdf5.repack(path, in_place=True, filter="blosc2"),
    "repack over": lambda path: cq.hdf5.repack(other_file(path), path, overwrite=True),
    "recover over": lambda path: cq.hdf5.recover(other_file(path), path, overwrite=True),
    "new file": lambda path: cq.hdf5.File(path, "w").close(),
    "new table": lambda path: cq.create_table(path, {"a": [1, 2]}, mode="w").close(),
}
replacing = pytest.mark.parametrize("replace", REPLACING.values(), ids=REPLACING.keys())


@replacing
def test_commits_of_another_process_are_not_replaced(path, replace):
    with Process(WRITER, path), pytest.raises(BlockingIOError, match="open for writing"):
        replace(path)
    with cq.hdf5.File(path) as f:
        assert f["x"][0] == 77
    assert not list(path.parent.glob(".*"))


@replacing
def test_commits_of_this_process_are_not_replaced(path, replace):
    with cq.hdf5.File(path, "a") as f:
        f["x"][0] = 77
        f.flush()
        with pytest.raises(BlockingIOError, match="open for writing"):
            replace(path)
        f["x"][1] = 78
    with cq.hdf5.File(path) as f:
        assert f["x"][:3].tolist() == [77, 78, 2]


@replacing
def test_commits_that_wait_for_a_reader_are_not_replaced(path, replace):
    with Process(READER, path):
        with cq.hdf5.File(path, "a") as f:
            f["x"][0] = 77
        journal = path.with_name("lab.h5.journal")
        assert journal.exists()
        with pytest.raises(BlockingIOError, match="wait for those who read it"):
            replace(path)
        assert journal.exists()
    with cq.hdf5.File(path) as f:
        assert f["x"][0] == 77
    assert not journal.exists()
    replace(path)
    assert not journal.exists()


def test_a_copy_of_a_file_has_the_commits_of_its_journal(path, tmp_path):
    with Process(READER, path):
        with cq.hdf5.File(path, "a") as f:
            f["x"][0] = 77
        for out, copy in (("a.h5", cq.hdf5.repack), ("b.h5", cq.hdf5.recover)):
            copy(path, tmp_path / out)
            with h5py.File(tmp_path / out) as f:
                assert f["x"][0] == 77, out


@replacing
def test_a_new_file_has_nothing_of_an_older_one_that_was_killed(path, replace):
    with Process(WRITER, path):
        pass
    journal = path.with_name("lab.h5.journal")
    assert journal.exists()
    replace(path)
    with cq.hdf5.File(path) as f:
        assert "x" not in f or f["x"][:2].tolist() == [77, 1]
    assert not journal.exists()


def test_a_new_file_that_fails_leaves_the_journal_of_another(path):
    with Process(WRITER, path):
        pass
    journal = path.with_name("lab.h5.journal")
    kept = journal.read_bytes()
    away = path.with_name("away.h5")
    os.rename(path, away)

    with pytest.raises(KeyError), cq.hdf5.File(path, "w") as f:  # noqa: PT012
        f["y"] = np.arange(3)
        raise KeyError("y")
    assert not path.exists()
    # Only the owner that it names is another.
    assert journal.read_bytes()[64:] == kept[64:]
    os.rename(away, path)
    with cq.hdf5.File(path) as f:
        assert f["x"][0] == 77


@pytest.mark.parametrize("how", ["changed by h5py", "an older copy"])
def test_what_another_program_did_after_a_kill_is_not_overwritten(path, how):
    older, killed = path.with_name("older.h5"), path.with_name("killed.h5")
    with cq.hdf5.File(path, "a") as f:
        f.attrs["note"] = "much " * 1000
    shutil.copy(path, older)
    with cq.hdf5.File(path, "a") as f:
        f["x"][:] = 5
        f.attrs["note"] = "less"
    with Process(WRITER, path):
        pass
    shutil.copy(path, killed)
    if how == "an older copy":
        shutil.copy(older, path)
    else:
        with h5py.File(path, "r+") as f:
            f["x"][:] = 6
            f.attrs["more"] = "by h5py"
            f["y"] = np.arange(3000)
            f["z"] = "more"
    kept = path.read_bytes()
    for opened in (cq.hdf5.File, lambda path: cq.hdf5.File(path, "a")):
        with pytest.raises(cq.CorruptError, match="Move the journal away"):
            opened(path)
    assert path.read_bytes() == kept
    shutil.copy(killed, path)
    with cq.hdf5.File(path) as f:
        assert f["x"][:2].tolist() == [77, 5]


def test_commits_to_a_file_that_was_replaced_raise(path):
    other = other_file(path)
    f = cq.hdf5.File(path, "a")
    f["x"][0] = 77
    f.flush()
    os.replace(other, path)
    before = path.read_bytes()
    f["x"][1] = 78
    with pytest.raises(OSError, match="another file has taken its place"):
        f.flush()
    with pytest.raises(OSError, match="another file has taken its place"):
        f.close()
    assert path.read_bytes() == before
    with cq.hdf5.File(path, "a") as f:
        assert list(f) == ["y"]
