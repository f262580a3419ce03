"""What `test_repack_kills.py` kills: programs that repack a file for ever, and say how often they have."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

from coquina.hdf5.copying import repack
from tests.crash_worker import nursery

OPTIONS = (
    {},
    {"filter": "blosc2"},
    {"codec": "auto", "goal": "size"},
    {"filter": "gzip", "chunks": "auto"},
)


def repack_on(path: str, seed: int, in_place: int) -> None:
    """Repack until somebody ends this: to a file beside, or in place; say `made` with the number."""
    number = seed
    while True:
        target = None if in_place else Path(path).with_name("out.h5")
        repack(path, target, in_place=bool(in_place), overwrite=True, **OPTIONS[number % len(OPTIONS)])
        number += 1
        os.write(1, b"made %d\n" % number)


def _warm_up() -> None:
    """Import what is imported on first use, here and not in each program."""
    with tempfile.TemporaryDirectory() as folder:
        with h5py.File(f"{folder}/x.h5", "w") as file:
            file.create_dataset("x", data=np.arange(100), chunks=(10,))
        repack(f"{folder}/x.h5", f"{folder}/y.h5", filter="gzip", threads=1)


if __name__ == "__main__":
    _warm_up()
    nursery({"repack": repack_on})
    sys.exit()
