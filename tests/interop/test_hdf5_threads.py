"""Threads of coquina and h5py in one file that is open for writing: no torn or old chunk, no deadlock."""

from __future__ import annotations

import subprocess
import sys

import pytest

WAYS = [("h5py", "coquina"), ("coquina", "h5py"), ("coquina", "coquina")]


@pytest.mark.parametrize(
    "seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 30))]
)
@pytest.mark.parametrize(("writer", "reader"), WAYS, ids=["h5py writes", "h5py reads", "both coquina"])
def test_two_readers_and_a_writer_in_each_of_two_files(writer, reader, seed, tmp_path):
    command = [sys.executable, "-m", "tests.interop.hdf5_threads_worker", str(tmp_path), writer, reader]
    done = subprocess.run([*command, str(seed)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
