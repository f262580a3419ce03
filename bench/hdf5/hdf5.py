"""How fast are HDF5 datasets read and written, beside h5py with hdf5plugin, PyTables and b2h5py?

    python -m bench.hdf5.hdf5              all parts; 3 minutes
    python -m bench.hdf5.hdf5 --quick      smaller data; about a minute
    python -m bench.hdf5.hdf5 --only full slices     some parts, see below
    python -m bench.hdf5.hdf5 --full       every pipeline, every kind of index, longer; 15 minutes

full    an ERA5-like field, a CT-like stack: all of a dataset, pipeline by pipeline, read and written
slices  the array of the post "Blosc2 NDim in PyTables" at a seventh of its size: hyperplanes along each axis,
        boxes and elements, at small and at big chunks, beside PyTables' own path past the pipeline (in a file
        opened again, and in one still open since it was written), its filter, b2h5py and h5py
direct  the tomography of the post on direct chunking: a stack of images, a chunk each
small   small parts of chunks of 28.8 MB, of arrays and flat ones: boxes, one block, one element
table   a million chunks, by kind of index: all of them listed, and one element, each from the closed file on
append  small pieces; what an append session costs beyond the encoding of chunks
cold    first reads of a file on a disk that is not in the page cache, where the system allows it (cold.py)

All use two threads where they can use any, but "h5py" in `full`: as it comes, its filters use one, and with
two it stands beside. All read the same files, made by h5py or PyTables, in `direct` their own; in `small` one
of ours too, whose blocks are smaller. coquina's cache of decoded blocks is off; HDF5's caches are as they
come, and calls take the next of many places. Files lie in memory where there is /dev/shm: libraries are
measured, not the disk, which coquina alone waits for when it closes a new file.

Every result is compared with NumPy before it is timed; what was appended is read back. Speed-up (x) is a
library's time over coquina's: above 1, coquina is faster. Results: bench/results/hdf5.json, hdf5.md,
hdf5-slices.png (MB a second along each axis) and hdf5-direct.png.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

import coquina as cq
from bench.common import studies
from bench.common.run import Run, Script
from bench.hdf5 import hdf5_cold, hdf5_reads, hdf5_report, hdf5_writes
from bench.hdf5.hdf5_contest import ENVIRONMENT, Cell, Plan, plan_of

PARTS: dict[str, Callable[[Plan], Iterator[Cell]]] = {
    "full": hdf5_reads.full,
    "slices": hdf5_reads.slices,
    "direct": hdf5_writes.direct,
    "small": hdf5_reads.small,
    "table": hdf5_writes.table,
    "append": hdf5_writes.append,
    "cold": hdf5_cold.first_reads,
}


def measure(run: Run) -> Iterator[Cell]:
    """Each part."""
    import blosc2
    import tables

    os.environ.update(ENVIRONMENT)
    cq.set_num_threads(2)
    blosc2.set_nthreads(2)
    tables.set_blosc_max_threads(2)
    plan = plan_of(run)
    for part in run.parts:
        yield from PARTS[part](plan)


SCRIPT = Script(
    studies.HDF5, __doc__, measure, hdf5_report.line, hdf5_report.row, hdf5_report.body, hdf5_report.draw
)

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
