"""Looks at changed HDF5 files for `test_table_damage.py` and `test_table_metadata_fuzz.py`, in a process of
its own: libhdf5 itself does not survive all that can be in a file.

In: a file with a table, what to do to it, a seed, how often. Out: a line for each changed file, before and
after it is looked at.
"""

from __future__ import annotations

import sys
from pathlib import Path

import hdf5plugin
import numpy as np

from tests.tables.hostile_cases import flipped, mutated, open_and_look

CHANGES = {"flip": flipped, "mutate": mutated}


def main(path: str, how: str, first: int, count: int, scratch: str) -> None:
    """Change a file again and again, each time anew, and look at it."""
    hdf5plugin.register()
    content, damaged = Path(path).read_bytes(), Path(scratch)
    for seed in range(first, first + count):
        print("look", seed, flush=True)
        damaged.write_bytes(CHANGES[how](content, np.random.default_rng(seed)))
        failed = open_and_look(damaged)
        print("seen", seed, *failed[:1], flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
