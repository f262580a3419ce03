"""Append sessions that are killed: the last flush is there exactly, and recovery tells no lies."""

import os

import h5py
import numpy as np
import pytest

from coquina.hdf5.recovery import recover
from tests.hdf5.kill_worker import CASES, CHUNKS, GROUP, rows_of
from tests.test_crash import SEED, Nursery

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="needs processes that can be forked and killed"
)
EACH_CASE = pytest.mark.parametrize("case", range(len(CASES)), ids=[str(case) for case in CASES])
EACH_FORMAT = pytest.mark.parametrize("is_new", [0, 1], ids=["earliest", "latest"])


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery("tests.hdf5.kill_worker")
    yield nursery
    nursery.close()


def kill(nursery, tmp_path, case, seed, seconds):
    """Kill a session; check its file and what is recovered; return whether it was within a flush."""
    path, saved = tmp_path / "x.h5", tmp_path / "saved.h5"
    told = nursery.told(seconds, "append", path, seed, case, is_begun=True)
    word, rows = told[-1][0], int(told[-1][1])
    flushed = max(int(number) for word, number in told if word == "flushed")
    libver, _, _, is_swmr = CASES[case]
    place = f"seed {seed}, {word} {rows}"
    before = path.read_bytes()
    report = recover(path, saved, overwrite=True)
    assert path.read_bytes() == before
    check_recovered(saved, report, place)
    if word == "flushed":
        assert report.is_whole, f"{place}: {report}"
        check_exactly(saved, rows, place)
        if libver == "earliest":
            check_exactly(path, rows, place)
        else:
            # libhdf5 refuses what was open for writing; so it is known that recovery was needed.
            assert report.notes
            with pytest.raises(OSError, match="already open for write"):
                h5py.File(path, "r")
    if is_swmr:
        with h5py.File(path, "r", swmr=True) as file:
            found = file["x"].shape[0]
            assert found >= flushed, place
            np.testing.assert_array_equal(file["x"][:flushed], rows_of(0, flushed), err_msg=place)
    return word == "flushing"


def check_exactly(path, rows, place):
    with h5py.File(path, "r") as file:
        assert file["x"].shape[0] == rows, place
        np.testing.assert_array_equal(file["x"][...], rows_of(0, rows), err_msg=place)


def check_recovered(path, report, place):
    """Check that all which is stored is right, and that all which is not was told."""
    if not report.datasets:
        assert report.lost, place
        return
    (recover,) = report.datasets
    with h5py.File(path, "r") as file:
        x = file["x"]
        items, stored = rows_of(0, len(x)), np.zeros(x.shape, bool)
        for at in range(x.id.get_num_chunks()):
            start = x.id.get_chunk_info(at).chunk_offset
            stored[start[0] : start[0] + CHUNKS[0], start[1] : start[1] + CHUNKS[1]] = True
        np.testing.assert_array_equal(x[...], np.where(stored, items, np.uint64(7)), err_msg=place)
    assert stored.all() or recover.lost or recover.missing, place


def kill_group(nursery, tmp_path, is_new, seed, seconds):
    """Kill a group of appends; check its file and what is recovered; return whether it was within a flush."""
    path, saved = tmp_path / "x.h5", tmp_path / "saved.h5"
    told = nursery.told(seconds, "append_group", path, seed, is_new, is_begun=True)
    word, rows = told[-1][0], int(told[-1][1])
    place = f"seed {seed}, {word} {rows}"
    report = recover(path, saved, overwrite=True)
    if word == "flushed":
        assert report.is_whole, f"{place}: {report}"
        for found in [saved, path] if not is_new else [saved]:
            with h5py.File(found, "r") as file:
                assert [len(file[f"x{number}"]) for number in range(len(GROUP))] == [rows] * 3, place
                for number in range(len(GROUP)):
                    np.testing.assert_array_equal(file[f"x{number}"][...], rows_of(0, rows), err_msg=place)
    return word == "flushing"


@EACH_CASE
def test_a_kill_between_flushes_leaves_the_last_flush(case, nursery, tmp_path):
    for seed, seconds in enumerate(np.random.default_rng((SEED, case)).uniform(0, 0.06, 3)):
        kill(nursery, tmp_path, case, seed, seconds)


@pytest.mark.long
@EACH_CASE
def test_hundreds_of_kills_leave_the_last_flush(case, nursery, tmp_path):
    delays = np.random.default_rng((SEED, case, 1)).uniform(0, 0.06, 100)
    within = [kill(nursery, tmp_path, case, seed, seconds) for seed, seconds in enumerate(delays)]
    assert 0 < sum(within) < len(within)


@EACH_FORMAT
def test_a_kill_between_flushes_leaves_all_datasets_of_a_group_as_they_were(is_new, nursery, tmp_path):
    delays = np.random.default_rng((SEED, 2)).uniform(0, 0.06, 6)
    within = [kill_group(nursery, tmp_path, is_new, seed, seconds) for seed, seconds in enumerate(delays)]
    assert sum(within) < len(within)


@pytest.mark.long
@EACH_FORMAT
def test_hundreds_of_kills_leave_all_datasets_of_a_group_as_they_were(is_new, nursery, tmp_path):
    delays = np.random.default_rng((SEED, 3)).uniform(0, 0.06, 200)
    within = [kill_group(nursery, tmp_path, is_new, seed, seconds) for seed, seconds in enumerate(delays)]
    assert 0 < sum(within) < len(within)
