"""Which chunks and blocks suit an array that is written, and read whole, in planes, boxes and by elements?

    python -m bench.arrays.chunk_size            67 MB; 1.5 minutes
    python -m bench.arrays.chunk_size --quick    17 MB, three sizes; half a minute, nothing is kept
    python -m bench.arrays.chunk_size --full     537 MB, more sizes; 12 minutes

An ERA5-like field (hour, latitude, longitude; float32) in chunks of 4 KB to 32 MB, with blocks of 64 KB at
most; then in chunks of 4 MB with blocks of 4 KB to 4 MB. python-blosc2 gets the same chunks and blocks,
h5py (with the Blosc filter of hdf5plugin) the same chunks. Zstd 5, shuffle, two threads; files are in
memory where there is /dev/shm. Caches of decoded data are off, coquina's of blocks and HDF5's of chunks.

Every array is compared with NumPy's before it is timed, and every place that is read. Speed-up (x) is a
library's time over coquina's: above 1, coquina is faster. Results: bench/results/chunk-size.json,
chunk-size.md, chunk-size-speed.png and chunk-size-blocks.png.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod

import numpy as np

import coquina as cq
from bench.arrays import array_peers
from bench.arrays.array_peers import BLOSC2, COQUINA, H5PY, Held, Library
from bench.arrays.slice_cases import Key, check, elements, in_turn
from bench.common import harness, studies, synthetic
from bench.common.harness import Effort
from bench.common.inputs import Grid
from bench.common.run import Canvas, Run, Script

CODEC = "zstd"
PEERS = (COQUINA, BLOSC2, H5PY)
SIDE = 512  # of a plane, so that chunks of powers of two have no padding
# By size in bytes: extents of a chunk or a block of float32.
SHAPES = {
    "4 KB": (4, 16, 16),
    "16 KB": (16, 16, 16),
    "64 KB": (16, 32, 32),
    "256 KB": (16, 64, 64),
    "1 MB": (16, 128, 128),
    "4 MB": (16, 256, 256),
    "16 MB": (16, 512, 512),
    "32 MB": (32, 512, 512),
}
BLOCK, CHUNK = "64 KB", "4 MB"  # what is kept while the other changes
CHUNKS = ("4 KB", "16 KB", "64 KB", "256 KB", "1 MB", "4 MB", "32 MB")
BLOCKS = ("4 KB", "16 KB", "64 KB", "256 KB", "1 MB", "4 MB")
BOX = (8, 40, 40)  # 51 KB, anywhere


@dataclass(frozen=True)
class Cell:
    """One operation at one cut: median seconds, ratios of the others' times to ours, ratios of the files."""

    study: str
    chunk: str
    block: str
    work: str
    data: str
    nbytes: int
    seconds: Mapping[str, float]
    ratios: Mapping[str, float]
    compression: Mapping[str, float]


def cuts(run: Run) -> Iterator[tuple[str, str, str]]:
    """What is varied, the chunk, the block."""
    for chunk in run.choose(("16 KB", "256 KB", "4 MB"), CHUNKS, tuple(SHAPES)):
        yield "chunks", chunk, min(chunk, BLOCK, key=lambda name: prod(SHAPES[name]))
    for block in run.choose(("4 KB", "1 MB"), BLOCKS, BLOCKS):
        yield "blocks", CHUNK, block


def places(x: np.ndarray) -> dict[str, list[Key]]:
    """What is read, by the name that the results give it."""
    random = np.random.RandomState(11)
    starts = [random.randint(0, n - side + 1, 32).tolist() for n, side in zip(x.shape, BOX, strict=True)]
    corners = zip(*starts, strict=True)
    boxes = [tuple(slice(a, a + side) for a, side in zip(corner, BOX, strict=True)) for corner in corners]
    return {
        "read all": [...],
        "read planes": [int(hour) for hour in random.permutation(len(x))[:24]],
        "read boxes": boxes,
        "read elements": elements(x, 64),
    }


def measured(run: Run, x: np.ndarray, study: str, chunk: str, block: str) -> Iterator[Cell]:
    """All operations at one cut."""
    grid = Grid(SHAPES[chunk], SHAPES[block])
    paths = {one.name: run.folder / f"cut-{one.name}{one.suffix}" for one in PEERS}
    effort = run.choose(Effort(0.1, 2, 5), Effort(0.5, 2, 15), Effort(1.0, 3, 15))

    def write(library: Library) -> None:
        library.create(x, grid, CODEC, paths[library.name]).close()

    def cell(work: str, nbytes: int, calls: Mapping[str, Callable[[], object]]) -> Cell:
        seconds, ratios = harness.compared(harness.take_turns(calls, effort, alike=False), COQUINA.name)
        stored = {name: x.nbytes / array_peers.stored_bytes(path) for name, path in paths.items()}
        label = f"ERA5-like wind, {x.nbytes / 1e6:.0f} MB"
        return Cell(study, chunk, block, work, label, nbytes, seconds, ratios, stored)

    yield cell("write all", x.nbytes, {one.name: lambda one=one: write(one) for one in PEERS})
    held: dict[str, Held] = {one.name: one.open(paths[one.name]) for one in PEERS}
    for work, keys in places(x).items():
        for name, one in held.items():
            check(name, one.array, x, keys)
        nbytes = np.asarray(x[keys[0]]).nbytes
        yield cell(work, nbytes, {name: in_turn(one.array, keys) for name, one in held.items()})
    for name, one in held.items():
        one.close()
        array_peers.remove(paths[name])


def measure(run: Run) -> Iterator[Cell]:
    """Every cut."""
    cq.set_num_threads(array_peers.THREADS)
    hours = run.choose(16, 64, 512)
    x = np.ascontiguousarray(synthetic.era5("wind", (hours, *synthetic.GRID))[:, 100 : 100 + SIDE, :SIDE])
    for cut in cuts(run):
        yield from measured(run, x, *cut)


def line(cell: Cell) -> str:
    """A cell for the terminal."""
    speed = cell.nbytes / cell.seconds[COQUINA.name] / 1e6
    others = ", ".join(f"{name} {ratio:.2f}x" for name, ratio in cell.ratios.items())
    return f"{cell.work}, {cell.study}: {cell.chunk} in {cell.block}: {speed:.0f} MB/s; {others}"


def body(cells: Sequence[Cell], run: Run) -> Iterator[str]:
    """The Markdown page below its head."""
    yield (
        "MB/s: bytes of the result a second; x: time of the other library over time of coquina. Zstd 5, "
        "shuffle, two threads; caches of decoded data off. Ratio: of coquina's file."
    )
    for study, work in itertools.product(("chunks", "blocks"), dict.fromkeys(cell.work for cell in cells)):
        some = [cell for cell in cells if (cell.study, cell.work) == (study, work)]
        rows = []
        for one in some:
            speeds = [one.nbytes / one.seconds[name] / 1e6 for name in one.seconds]
            cut = [one.chunk, one.block, one.compression[COQUINA.name]]
            rows.append([*cut, *speeds, *one.ratios.values()])
        names = [f"{name} MB/s" for name in some[0].seconds] + [f"{name} x" for name in some[0].ratios]
        yield f"## {work}, by size of the {study}"
        yield harness.markdown(["chunk", "block", "ratio", *names], rows)


def draw(cells: Sequence[Cell], canvas: Canvas) -> None:
    """Speeds by size of the chunks, and of the blocks."""
    from bench.common import plots

    for study, suffix in (("chunks", "speed"), ("blocks", "blocks")):
        panels: dict[str, dict[str, dict[str, float]]] = {}
        for cell in cells:
            if cell.study == study and cell.work != "read elements":
                size = cell.chunk if study == "chunks" else cell.block
                speeds = {name: cell.nbytes / value / 1e6 for name, value in cell.seconds.items()}
                panels.setdefault(cell.work, {})[size] = speeds
        title = f"By size of the {study}: {cells[0].data}, Zstd 5"
        note = f"{canvas.note} Higher is better."
        path = canvas.path(suffix)
        plots.grouped_bars(panels, path, title=title, note=note, unit="MB of result a second", columns=2)


SCRIPT = Script(studies.CHUNK_SIZE, __doc__, measure, line, asdict, body, draw, needs=("blosc2", "h5py"))

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
