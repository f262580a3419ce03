"""A handle whose frame was replaced says so, and touches nothing of the frame that took its place."""

import os

import numpy as np
import pytest

import coquina as cq

KINDS = pytest.mark.parametrize("contiguous", [True, False], ids=["file", "directory"])


def content(path):
    """Return the bytes of all files of a frame."""
    if path.is_file():
        return path.read_bytes()
    return {one.name: one.read_bytes() for one in sorted(path.iterdir())}


def write_item(a):
    a[0] = 7


def append(a):
    a.append(np.arange(2000))


def resize(a):
    a.resize((10,))


def resize_to_none(a):
    a.resize((0,))


def set_attribute(a):
    a.attrs["x"] = 1


@pytest.mark.parametrize("change", [write_item, append, resize, resize_to_none, set_attribute])
@KINDS
def test_changes_of_a_frame_that_was_replaced_are_refused(tmp_path, contiguous, change):
    path = tmp_path / "a.b2nd"
    old = cq.asarray(np.arange(5000), path=path, contiguous=contiguous, chunks=(1000,))
    old[1:3000] = 5
    new = cq.asarray(np.arange(4000) * 2, path=path, contiguous=contiguous, chunks=(1000,), overwrite=True)
    new.close()
    before = content(path)
    # A chunk of a directory that would have to be read first is gone.
    with pytest.raises(OSError, match=r"another frame has taken its place|No such file"):
        change(old)
    old.close()
    assert content(path) == before
    with cq.open(path) as a:
        assert np.array_equal(a[:], np.arange(4000) * 2)
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@KINDS
def test_a_handle_that_is_closed_leaves_the_frame_that_replaced_its_own(tmp_path, contiguous):
    path = tmp_path / "a.b2nd"
    noise = np.random.default_rng(1).integers(0, 256, 9_000_000, "u1")
    a = cq.asarray(noise, path=path, contiguous=contiguous, chunks=(500_000,))
    # Room that nothing refers to is given back when the handle is closed.
    for _ in range(3):
        a[:] = a[::-1].copy()
    a, old = cq.asarray(np.arange(4000), path=path, contiguous=contiguous, overwrite=True), a
    a.close()
    before = content(path)
    old.close()
    del old
    assert content(path) == before


def test_a_file_that_has_got_another_name_can_be_written(tmp_path):
    path = tmp_path / "a.b2nd"
    a = cq.asarray(np.arange(5000), path=path)
    path.rename(tmp_path / "b.b2nd")
    cq.asarray(np.arange(3), path=path).close()
    a[0] = 9
    a.close()
    assert cq.open(tmp_path / "b.b2nd")[0] == 9
    a = cq.asarray(np.arange(5000), path=tmp_path / "c.b2nd")
    os.unlink(tmp_path / "c.b2nd")
    a[0] = 9
    a.close()


@pytest.mark.parametrize("is_taken", [True, False], ids=["name taken", "name free"])
@pytest.mark.parametrize("remake", [lambda a: a.compact(), resize_to_none], ids=["compact", "resize"])
def test_a_file_with_another_name_is_not_made_anew_by_the_old_one(tmp_path, remake, is_taken):
    path, moved = tmp_path / "a.b2nd", tmp_path / "b.b2nd"
    a = cq.asarray(np.arange(5000), path=path)
    path.rename(moved)
    if is_taken:
        cq.asarray(np.arange(3), path=path).close()
    with pytest.raises(OSError, match="renamed or removed"):
        remake(a)
    a[0] = 9
    a.close()
    assert path.exists() == is_taken
    if is_taken:
        assert cq.open(path)[:].tolist() == [0, 1, 2]
    assert cq.open(moved)[0] == 9


def test_closing_makes_no_frame_anew_under_the_name_of_another(tmp_path):
    path = tmp_path / "a.b2nd"
    noise = np.random.default_rng(1).integers(0, 256, 9_000_000, "u1")
    a = cq.asarray(noise, path=path, chunks=(500_000,))
    for _ in range(3):
        a[:] = a[::-1].copy()
    path.rename(tmp_path / "b.b2nd")
    cq.asarray(np.arange(3), path=path).close()
    a.close()
    assert cq.open(path)[:].tolist() == [0, 1, 2]


def test_hard_links_of_a_frame_stay_one_file(tmp_path):
    path, other = tmp_path / "a.b2nd", tmp_path / "b.b2nd"
    a = cq.asarray(np.arange(5000), path=path)
    os.link(path, other)
    with pytest.raises(OSError, match="hard links"):
        a.compact()
    a[0] = 9
    a.close()
    assert path.samefile(other)
    assert cq.open(other)[0] == 9
