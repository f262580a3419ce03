"""Repacking that is killed leaves the file as it was, and under the new name all or nothing."""

import os
import shutil

import numpy as np
import pytest

from tests.hdf5 import everything
from tests.test_crash import SEED, Nursery

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="needs processes that can be forked and killed"
)
IN_PLACE = pytest.mark.parametrize("in_place", [0, 1], ids=["beside", "in place"])


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery("tests.hdf5.repack_worker")
    yield nursery
    nursery.close()


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("original") / "all.h5"
    everything.make(path)
    return path


def kill_again_and_again(nursery, original, folder, in_place, kills):
    """Return how many copies killed programs have made, and how many kills left an unfinished one."""
    path, out = folder / "x.h5", folder / "out.h5"
    shutil.copy(original, path)
    before, made, unfinished = path.read_bytes(), 0, 0
    for kill, delay in enumerate(np.random.default_rng((SEED, in_place)).uniform(0, 0.8, kills)):
        was = out.read_bytes() if out.exists() else None
        told = nursery.told(delay, "repack", path, kill, in_place)
        made += len(told)
        place = f"kill {kill} after {delay:.3f} s"
        if in_place:
            found = everything.differences(original, path, only_values=True)
            assert [one for one in found if "coquina_tuning" not in one] == [], place
        else:
            assert path.read_bytes() == before, place
            if out.exists() and out.read_bytes() != was:
                found = everything.differences(original, out, only_values=True)
                # Copies that are tuned say so.
                assert [one for one in found if "coquina_tuning" not in one] == [], place
        # A journal that only says who had the lock; whoever opens the file removes it.
        for journal in folder.glob("*.journal"):
            assert journal.stat().st_size == 64, place
            journal.unlink()
        left = [entry for entry in folder.iterdir() if entry not in (path, out)]
        assert all(entry.name.startswith(".") and entry.name.endswith(".part") for entry in left), place
        unfinished += len(left)
        for entry in left:
            entry.unlink()
    return made, unfinished


@IN_PLACE
def test_a_kill_leaves_the_file_and_no_half_of_another(in_place, nursery, original, tmp_path):
    made, unfinished = kill_again_and_again(nursery, original, tmp_path, in_place, 5)
    assert made + unfinished > 0


@pytest.mark.long
@IN_PLACE
def test_hundreds_of_kills_leave_the_file_and_no_half_of_another(in_place, nursery, original, tmp_path):
    made, unfinished = kill_again_and_again(nursery, original, tmp_path, in_place, 150)
    assert made > 30
    assert unfinished > 30
