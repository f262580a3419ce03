"""All names of a file lead to one journal: one writer at a time, and its commits by any name."""

import os
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

import coquina as cq

KILLED = """
import os, sys, coquina as cq
f = cq.hdf5.File(sys.argv[1], "a", durable=True)
f["x"][0] = 77
f.flush()
if len(sys.argv) > 2:
    os.rename(*sys.argv[1:])
os._exit(0)
"""
WRITER = """
import sys, coquina as cq
f = cq.hdf5.File(sys.argv[1], "a")
f["x"][0] = 77
f.flush()
print(flush=True)
sys.stdin.readline()
f["x"][1] = 78
f.close()
"""
VALUES = [77, 78, 2]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "lab.h5"
    with cq.hdf5.File(path, "w") as f:
        f.create_dataset("x", data=np.arange(1000))
    return path


def symlinked(path):
    other = path.parent / "links" / "other.h5"
    other.parent.mkdir()
    other.symlink_to("../lab.h5")
    return path, other


def hard_linked(path):
    other = path.parent / "links" / "other.h5"
    other.parent.mkdir()
    os.link(path, other)
    return path, other


def in_a_linked_folder(path):
    folder = path.with_name("linked")
    folder.symlink_to(path.parent)
    return path, folder / path.name


NAMES = {make.__name__: make for make in (symlinked, hard_linked, in_a_linked_folder)}
naming = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
turning = pytest.mark.parametrize("turn", [1, -1], ids=["first", "second"])


def kill(*names):
    subprocess.run([sys.executable, "-c", KILLED, *map(str, names)], check=True)


def first(path, **options):
    with cq.hdf5.File(path, **options) as f:
        return f["x"][:3].tolist()


def journals(folder):
    return [one for one in folder.rglob("*") if "journal" in one.name]


class Writing:
    """Another process that writes to a file, and once more at the end of the block."""

    def __init__(self, path):
        self.process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self):
        self.process.stdout.readline()

    def __exit__(self, *_):
        self.process.communicate(b"\n")
        assert self.process.returncode == 0


@naming
@turning
def test_who_writes_by_another_name_waits(path, name, turn):
    one, other = name(path)[::turn]
    with Writing(one):
        with pytest.raises(BlockingIOError, match="open for writing"):
            cq.hdf5.File(other, "a")
        assert first(other) == [77, 1, 2]
    with cq.hdf5.File(other, "a") as f:
        assert f["x"][:3].tolist() == VALUES
    assert not journals(path.parent)


@naming
@turning
def test_readers_by_another_name_see_commits(path, name, turn):
    one, other = name(path)[::turn]
    with cq.hdf5.File(other) as reader:
        with Writing(one):
            assert reader.refresh()
            assert reader["x"][:3].tolist() == [77, 1, 2]
        assert reader.refresh()
        assert reader["x"][:3].tolist() == VALUES
    assert not journals(path.parent)


@naming
@turning
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_kill_leaves_the_last_commit_by_each_name(path, name, turn, mode):
    one, other = name(path)[::turn]
    with h5py.File(path):
        kill(one)
    assert journals(path.parent)
    assert first(other, mode=mode) == [77, 1, 2]
    assert first(one) == [77, 1, 2]
    assert not journals(path.parent)


@naming
@turning
def test_recovery_takes_the_journal_by_each_name(path, name, turn):
    one, other = name(path)[::turn]
    out = path.with_name("out.h5")
    with h5py.File(path):
        kill(one)
        cq.hdf5.recover(other, out)
    assert first(out) == [77, 1, 2]


def test_a_file_that_got_another_name_while_it_is_written_has_one_writer(path):
    other = path.with_name("other.h5")
    with Writing(path):
        path.rename(other)
        with pytest.raises(BlockingIOError, match="open for writing"):
            cq.hdf5.File(other, "a")
    assert first(other) == VALUES
    assert not journals(path.parent)


def test_a_kill_after_a_new_name_leaves_the_last_commit(path):
    other = path.with_name("other.h5")
    with h5py.File(path):
        kill(path, other)
    assert first(other) == [77, 1, 2]
    assert not journals(path.parent)


def test_a_folder_that_got_another_name_takes_no_journal_away(path):
    old = path.parent / "old"
    old.mkdir()
    shutil.copy(path, old)
    with cq.hdf5.File(old / path.name, "a") as f:
        f["x"][:2] = VALUES[:2]
        old.rename(path.parent / "new")
        old.mkdir()
        shutil.copy(path, old)
        with Writing(old / path.name):
            f.close()
            assert (old / "lab.h5.journal").exists()
            with pytest.raises(BlockingIOError, match="open for writing"):
                cq.hdf5.File(old / path.name, "a")
    assert first(path.parent / "new" / path.name) == VALUES
    assert first(old / path.name) == VALUES


def test_a_copy_with_its_attributes_is_another_file(path):
    with h5py.File(path):
        kill(path)
    copy = path.with_name("copy.h5")
    shutil.copy2(path, copy)
    with cq.hdf5.File(copy, "a") as f:
        f["x"][2] = 5
    assert first(copy) == [0, 1, 5]
    assert first(path) == [77, 1, 2]


@pytest.mark.parametrize("journal", [True, False])
def test_a_new_file_replaces_what_a_link_points_to(path, journal):
    _, link = symlinked(path)
    with cq.hdf5.File(link, "w", journal=journal) as f:
        f.create_dataset("x", data=[5, 6, 7])
    assert link.is_symlink()
    assert first(path) == [5, 6, 7]
    assert [one.name for one in link.parent.iterdir()] == [link.name]


def test_a_new_file_by_a_link_waits_for_the_writer(path):
    _, link = symlinked(path)
    with Writing(path), pytest.raises(BlockingIOError, match="open for writing"):
        cq.hdf5.File(link, "w")
    assert first(path) == VALUES
