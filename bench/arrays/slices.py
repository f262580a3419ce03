"""How fast are parts of n-d arrays read and written, beside python-blosc2, Zarr and h5py at the same grid?

    python -m bench.arrays.slices              two arrays of about 120 MB, lz4 and zstd; 4 minutes
    python -m bench.arrays.slices --quick      one array of 40 MB, lz4; about a minute
    python -m bench.arrays.slices --only append open     some parts of: volumes append open small safety
    python -m bench.arrays.slices --full       a third array, longer; 16 minutes

All get the same chunks, codec, level 5, byte shuffle and two threads; coquina and python-blosc2 the same
blocks; Zarr and h5py know none. Caches of decoded data are off, coquina's and HDF5's. Per array, in memory
and in a file: planes along each axis, boxes smaller than a chunk, single elements and all of it are read;
all of it is written, and boxes of it. Each call takes the next of many places, both sides the same ones. A
file is in the page cache ("file") or the system was asked to drop it from there before each call ("cold",
see cold.py).

Then: pieces of 1 MiB and of 4 KiB appended to a file, where coquina commits each and nobody else does;
opening a file for a first slice; arrays of a hundred elements, python-blosc2 with one thread; what
coquina's checksums and commits cost. Every place is read by every library and compared with NumPy before it
is timed; what was written or appended is read back.

Speed-up (x) is a library's time over coquina's: above 1, coquina is faster. Results:
bench/results/slices.json, slices.md, and slices-memory.png and slices-file.png with the times of a plane
along each axis and of a box.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import coquina as cq
from bench.arrays import array_peers
from bench.arrays.array_peers import COQUINA
from bench.arrays.slice_cells import Found, body, draw
from bench.arrays.slice_parts import PARTS
from bench.arrays.slice_race import Plan, Race
from bench.common import studies
from bench.common.harness import Effort
from bench.common.inputs import Volume, climate_volume, entropy_volume, era5_volume
from bench.common.run import Run, Script

CODECS, STORAGES = ("lz4", "zstd"), ("memory", "file", "cold")


def default_volumes() -> Iterator[Volume]:
    """A real set, the array of the post; one in memory at a time."""
    yield from climate_volume()
    yield entropy_volume((20, 50, 150, 100))


def full_volumes() -> Iterator[Volume]:
    """A field besides."""
    yield era5_volume(5)
    yield from default_volumes()


def quick_volumes() -> Iterator[Volume]:
    """A third of the post's array."""
    yield entropy_volume((10, 50, 100, 100))


QUICK = Plan(("lz4",), STORAGES, quick_volumes, 256, Effort(0.1, 2, 9), Effort(0.1, 2, 5))
DEFAULT = Plan(CODECS, STORAGES, default_volumes, 4096, Effort(0.4, 5, 41), Effort(0.25, 3, 15))
FULL = Plan(CODECS, STORAGES, full_volumes, 4096, Effort(0.6, 5, 41), Effort(0.4, 3, 15))


def measure(run: Run) -> Iterator[Found]:
    """Each part."""
    for name, why in array_peers.absent().items():
        run.say(f"absent: {name} ({why})")
    ours = run.options.ours
    found = sorted(array_peers.libraries(), key=lambda library: library.name != ours)
    if len(found) < 2 or found[0].name != ours:
        run.wrong.append(f"this bench needs {ours} and one other library")
        return
    cq.set_num_threads(array_peers.THREADS)
    race = Race(run, run.choose(QUICK, DEFAULT, FULL), found)
    for part in run.parts:
        race.attempt(part, lambda part=part: PARTS[part](race))
        yield from race.found
        race.found.clear()


def extend(parser: argparse.ArgumentParser) -> None:
    """An option that judges the bench itself."""
    parser.add_argument("--ours", default=COQUINA.name, help="who is compared with the others")


def page(cells: Sequence[Found], run: Run) -> list[str]:
    """The Markdown page below its head."""
    return body(cells, run.options.ours)


SCRIPT = Script(
    studies.SLICES, __doc__, measure, lambda _: "", asdict, page, draw, needs=("blosc2",), extend=extend
)

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
