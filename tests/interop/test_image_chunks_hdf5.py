"""JPEG 2000 and HTJ2K in chunks of HDF5: written here, read here and by h5py with hdf5plugin.

Each peer runs in a process of its own: with both packages of codecs, python-blosc2 ends in a double free.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

pytest.importorskip("coquina_images")
IMAGES = np.add.outer(np.arange(3) * 5, np.add.outer(np.arange(64) * 7, np.arange(48)) % 900).astype("u2")
READ = """
import sys
import h5py
if sys.argv[2] == "theirs":
    import hdf5plugin
with h5py.File(sys.argv[1]) as file:
    sys.stdout.buffer.write(file["d"][...].tobytes())
"""


@pytest.fixture(params=["j2k", "htj2k"])
def path(request, tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("d", data=IMAGES, chunks=(1, 64, 48), codec=request.param)
        assert dataset.filter_ids == (32026,)
    return tmp_path / "x.h5"


def peer(path, plugin, **environment):
    """Read a dataset by h5py in a process of its own."""
    command = [sys.executable, "-c", READ, str(path), plugin]
    # C-Blosc2 asks the first `python` of the search path where the packages of codecs are.
    found_first = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    env = {**os.environ, "PATH": found_first, **environment}
    return subprocess.run(command, env=env, capture_output=True, check=False, timeout=60)


def test_images_in_chunks_of_hdf5_are_read_here_and_by_h5py_with_hdf5plugin(path):
    with cq.open(path) as file:
        assert file["d"].access == "direct"
        np.testing.assert_array_equal(file["d"][...], IMAGES)
        np.testing.assert_array_equal(file["d"][1, 5:9], IMAGES[1, 5:9])
    assert peer(path, "theirs").stdout == IMAGES.tobytes()


def test_our_plugin_for_hdf5_has_no_codecs_of_images_and_says_that_it_cannot(path, capsys):
    assert main(["plugin-path"]) == 0
    folder = capsys.readouterr().out.strip()
    if not os.path.isdir(folder):
        pytest.skip("the plugin for HDF5 is not built")
    done = peer(path, "ours", HDF5_PLUGIN_PATH=folder)
    assert done.stdout == b""
    assert b"filter returned failure" in done.stderr
