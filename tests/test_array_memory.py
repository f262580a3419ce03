"""Arrays larger than the memory that is used for them: built, read, copied and checked in parts."""

import subprocess
import sys

# 256 MiB of data; the process may grow by much less.
CHILD = """
import resource, sys
import numpy as np
import coquina as cq

folder = sys.argv[1]
shape, mib = (512, 256, 256), 1 << 20


def grown():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before


def slabs():
    for row in range(shape[0]):
        yield np.full((1, *shape[1:]), row, np.float64) + np.arange(shape[2])


cq.asarray(np.arange(1000.0))[:]
before = 0
before = grown()
with cq.from_slabs(slabs(), path=folder + "/a.b2nd") as a:
    assert a.shape == shape and a.nbytes == 256 * mib
a = cq.open(folder + "/a.b2nd")
for axis in range(3):
    key = [slice(None)] * 3
    key[axis] = 100
    assert a[tuple(key)].size == np.prod(shape) // shape[axis]
assert a[::64, 5, ::-100].shape == (8, 3)
total = sum(part.sum() for _, part in a.iterchunks())
assert total == (np.arange(512).sum() * 256 * 256 + np.arange(256).sum() * 512 * 256)
with a.copy(chunks=(64, 64, 64), codec="lz4", path=folder + "/b.b2nd") as b:
    assert b[511, 255, 255] == 511 + 255
assert a.verify() == []
print(grown())
"""


def test_an_array_of_256_mib_needs_a_part_of_that_memory(tmp_path):
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert child.returncode == 0, child.stderr
    assert float(child.stdout) < 96, child.stdout
