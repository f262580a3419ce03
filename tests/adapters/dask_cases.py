"""What the tests of Dask share: arrays of every kind."""

from __future__ import annotations

import numpy as np

import coquina as cq

NUMBERS = np.random.default_rng(5).integers(0, 40, (61, 47)).astype("<f4")
KINDS = ["memory", "frame", "folder", "hdf5"]


def stored(kind, tmp_path, numbers=NUMBERS, chunks=(16, 10)):
    """Return an array with these items, as `kind` says, open for reading where it is a file."""
    if kind == "memory":
        return cq.asarray(numbers, chunks=chunks)
    if kind == "hdf5":
        with cq.open(tmp_path / "a.h5", "w") as file:
            file.create_dataset("g/x", data=numbers, chunks=chunks)
        return cq.open(tmp_path / "a.h5")["g/x"]
    path = tmp_path / "a.b2nd"
    cq.asarray(numbers, chunks=chunks, path=path, contiguous=kind == "frame", overwrite=True).close()
    return cq.open(path)
