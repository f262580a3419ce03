"""Commits of HDF5 files: what transactions, handles and refused writes leave in the file."""

import os

import h5py
import numpy as np
import pytest

import coquina as cq


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["d"] = np.arange(10)
    return tmp_path / "x.h5"


def attributes(path):
    with h5py.File(path) as file:
        return dict(file.attrs)


def test_commits_go_on_after_a_rollback_within_a_transaction(path):
    # The end of the block took one from a depth of 0: from then on all commits were put off.
    with cq.open(path, "r+") as file:
        with file.transaction():
            file.attrs["given_up"] = 1
            file.rollback()
            file.attrs["inside"] = 2
        file.attrs["behind"] = 3
        file.flush()
        assert attributes(path) == {"inside": 2, "behind": 3}
        file.attrs["closed"] = 4
    assert attributes(path) == {"inside": 2, "behind": 3, "closed": 4}


def test_commits_go_on_after_a_transaction_within_another_one_has_failed(path):
    with cq.open(path, "r+") as file:
        with file.transaction():
            with pytest.raises(ZeroDivisionError), file.transaction():  # noqa: PT012
                file.attrs["given_up"] = 1
                raise ZeroDivisionError
            file.attrs["inside"] = 2
        assert attributes(path) == {"inside": 2}
    assert attributes(path) == {"inside": 2}


def test_what_is_closed_by_its_h5py_file_is_committed(path, tmp_path):
    # The handle took itself for closed: nothing was committed, and the journal kept others from writing.
    file = cq.open(path, "r+")
    file.attrs["kept"] = 1
    file.h5.close()
    file.close()
    file.close()
    assert attributes(path) == {"kept": 1}
    assert os.listdir(tmp_path) == ["x.h5"]
    with cq.open(path, "r+") as again:
        again.attrs["more"] = 2
    assert attributes(path) == {"kept": 1, "more": 2}


def test_handles_of_a_file_are_closed_one_by_one(path, tmp_path):
    first, second = cq.open(path, "r+"), cq.open(path, "r+")
    second["d"][0] = 7
    second.close()
    assert not second
    assert first["d"][0] == 7
    first["d"][1] = 8
    first.close()
    assert os.listdir(tmp_path) == ["x.h5"]
    with h5py.File(path) as file:
        assert file["d"][:3].tolist() == [7, 8, 2]


@pytest.mark.parametrize("wait", [1e19, float("inf"), -1.0, float("nan")])
def test_any_number_of_seconds_can_be_waited_for_a_file(path, wait):
    with cq.open(path, "r+", wait=wait) as file:
        assert file.commits


def test_open_file_object_shows_commits_that_wait_in_the_journal(path):
    with cq.open(path) as reader, cq.open(path, "r+") as writer:
        writer["d"][0] = 7
        writer.flush()
        # The reader's commit stays in the file until it is closed.
        assert os.path.exists(f"{path}.journal")
        assert reader["d"][0] == 0
        with open(path, "rb") as file, cq.open(file) as found:
            assert found["d"][0] == 7


def test_file_object_whose_name_leads_elsewhere_is_read_itself(path, tmp_path):
    with open(path, "rb") as file:
        os.rename(path, tmp_path / "y.h5")
        with h5py.File(path, "w") as other:
            other["d"] = np.zeros(10)
        with cq.open(file) as found:
            assert found["d"][9] == 9
