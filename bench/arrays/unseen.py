"""How fast are real fields that nothing was tuned by, operation by operation, with one thread and with two?

    python -m bench.arrays.unseen           eight fields, repeated to 64 MB; 6 minutes
    python -m bench.arrays.unseen --quick   two of them, 8 MB; nothing is kept

The fields are those of `UNSEEN` in bench/common/data.py; `compute/compute.py` reads and sums the same ones.

- codecs: a chunk of up to 16 MB (Zlib 4) at level 5 with shuffle, compressed, and decompressed into a buffer.
- boxes: a box around a corner of blocks, read again and again, so that the blocks are in the cache that each
  library has by default: from a Blosc2 file beside h5py, and from the same HDF5 file as h5py.
- cold: all of a file, opened after its pages were dropped: Blosc2 beside python-blosc2, HDF5 beside h5py.
- append: 4 KiB at a time, each committed (h5py: flushed), to thousands of chunks of 16 KiB.
- bound: the field within a hundredth of its spread, rounded down to a power of ten, its mean where it has
  fill values; two threads only.

Blosc2 and HDF5 files have the same chunks (up to 1 MB, of coquina's own blocks), LZ4 at level 5 and shuffle.
Every answer is compared with NumPy's before it is timed. Contenders take turns. Speed-up (x) is a library's
time over coquina's: above 1, coquina is faster. Results: unseen.json, unseen.md and unseen.png in
bench/results.
"""

from __future__ import annotations

import itertools
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np

import coquina as cq
from bench.common import cold, data, harness, studies
from bench.common.harness import Call, Effort, in_turn
from bench.common.inputs import Grid, Input
from bench.common.peers import THREADS, as_bytes, blosc2, blosc2_cparams, set_threads
from bench.common.run import Canvas, Run, Script
from bench.images import field_ways
from bench.images.quality_contest import contest

OURS, BLOSC2, H5PY = "coquina", "python-blosc2", "h5py"
EFFORT = Effort(0.25, 3, 11)
COLD = Effort(0.4, 3, 7)
CODECS = {"lz4": 16_000_000, "blosclz": 16_000_000, "zstd": 16_000_000, "zlib": 4_000_000}
CHUNK = 1 << 20  # bytes
PIECE = 1024  # items that are appended at once
FILL_MIN = 1e15  # from here on values stand for what is missing


@dataclass(frozen=True)
class Cell:
    """One operation on one field: seconds of each, and the others' times, or sizes, over ours."""

    part: str
    work: str
    data: str
    threads: int
    megabytes: float
    seconds: Mapping[str, float]
    ratios: Mapping[str, float]


@dataclass(frozen=True)
class Field:
    """A field, repeated, and the grid of its files."""

    name: str
    x: np.ndarray
    grid: Grid


def fields(run: Run) -> Iterator[Field]:
    """Each of the unseen ones, repeated to the size of the run."""
    size = run.choose(8e6, 64e6, 64e6)
    for name, one in itertools.islice(data.unseen().items(), run.choose(2, None, None)):
        x = np.concatenate([one] * max(1, round(size / one.nbytes)))
        yield Field(name, x, grid_of(x))


def grid_of(x: np.ndarray) -> Grid:
    """Coquina's own blocks, in chunks that h5py's cache takes."""
    array = cq.empty(x.shape, x.dtype)
    chunks = list(array.chunks)
    while math.prod(chunks) * x.itemsize > CHUNK and chunks != list(array.blocks):
        axis = max(range(x.ndim), key=lambda i: chunks[i] / array.blocks[i])
        chunks[axis] = -(-chunks[axis] // (2 * array.blocks[axis])) * array.blocks[axis]
    return Grid(tuple(chunks), array.blocks)


def fight(
    what: tuple[str, str],
    field: Field,
    threads: int,
    calls: Mapping[str, Call],
    effort: Effort = EFFORT,
    before: Call | None = None,
) -> Cell:
    """The contenders in turn."""
    seconds, ratios = harness.compared(harness.take_turns(calls, effort, before), OURS)
    return Cell(*what, field.name, threads, field.x.nbytes / 1e6, seconds, ratios)


def same(name: str, found: object, expected: np.ndarray) -> None:
    """ValueError if a library gives other bits."""
    if np.asarray(found).tobytes() != np.ascontiguousarray(expected).tobytes():
        raise ValueError(f"{name}: not what NumPy has")


# Codecs.


def codec_cells(field: Field, threads: int) -> Iterator[Cell]:
    """Each codec: compressed, and decompressed into a buffer."""
    for codec, limit in CODECS.items():
        content = Input(field.name, as_bytes(field.x), field.x.itemsize).middle(limit).content
        options = {"codec": codec, "level": 5, "filters": ("shuffle",), "typesize": field.x.itemsize}
        cparams = blosc2_cparams(**options, threads=threads)
        chunk = cq.compress(content, **options, threads=threads)
        other = blosc2.compress2(content, **cparams)
        out = np.empty_like(content)
        writes: dict[str, Call] = {
            OURS: lambda c=content, o=options: cq.compress(c, **o, threads=threads),
            BLOSC2: lambda c=content, p=cparams: blosc2.compress2(c, **p),
        }
        reads: dict[str, Call] = {
            OURS: lambda c=chunk, o=out: cq.decompress_into(c, o, threads=threads),
            BLOSC2: lambda c=other, o=out: blosc2.decompress2(c, dst=o, nthreads=threads),
        }
        for name, read in reads.items():
            out.fill(0xA5)
            read()
            same(f"{name}, {codec}", out, content)
        yield fight(("codecs", f"compress, {codec}"), field, threads, writes)
        yield fight(("codecs", f"decompress, {codec}"), field, threads, reads)


# Files.


@dataclass(frozen=True)
class Files:
    """The field in a Blosc2 file and in an HDF5 file, with the same chunks."""

    b2nd: Path
    h5: Path

    def remove(self) -> None:
        """Both."""
        self.b2nd.unlink(missing_ok=True)
        self.h5.unlink(missing_ok=True)


def stored(x: np.ndarray, grid: Grid, folder: Path) -> Files:
    """Writes both."""
    files = Files(folder / "unseen.b2nd", folder / "unseen.h5")
    files.remove()
    options = {"codec": "lz4", "level": 5, "filters": "shuffle"}
    cq.asarray(x, chunks=grid.chunks, blocks=grid.blocks, path=files.b2nd, **options).close()
    with h5py.File(files.h5, "w", libver="latest") as file:
        chunks = tuple(map(min, grid.chunks, x.shape))
        pipeline = hdf5plugin.Blosc2(cname="lz4", clevel=5)
        file.create_dataset("x", data=x, chunks=chunks, maxshape=(None, *x.shape[1:]), **pipeline)
    return files


def box_cells(field: Field, threads: int, files: Files) -> Iterator[Cell]:
    """A box around a corner of blocks, in the caches that each library has by default."""
    key = tuple(
        slice(max(0, min(block, n) - n // 12), min(n, min(block, n) + max(1, min(64, n // 12))))
        for n, block in zip(field.x.shape, field.grid.blocks, strict=True)
    )
    array, ours = cq.open(files.b2nd), cq.open(files.h5)
    with h5py.File(files.h5) as file:
        dataset, theirs = ours["x"], file["x"]
        calls: dict[str, dict[str, Call]] = {
            "Blosc2": {OURS: lambda: array[key], H5PY: lambda: theirs[key]},
            "HDF5": {OURS: lambda: dataset[key], H5PY: lambda: theirs[key]},
        }
        for kind, some in calls.items():
            for name, call in some.items():
                same(f"{name}, box", call(), field.x[key])
            yield fight(("boxes", f"box of cached blocks, {kind}"), field, threads, some)
    array.close()
    ours.close()


def cold_cells(field: Field, threads: int, files: Files) -> Iterator[Cell]:
    """All of it, from the closed file on, its pages dropped."""

    def by_us(path: Path) -> np.ndarray:
        with cq.open(path) as file:
            return file[...] if path == files.b2nd else file["x"][...]

    def by_blosc2() -> np.ndarray:
        return blosc2.open(str(files.b2nd), mode="r", dparams={"nthreads": threads})[...]

    def by_h5py() -> np.ndarray:
        with h5py.File(files.h5) as file:
            return file["x"][...]

    calls: dict[Path, dict[str, Call]] = {
        files.b2nd: {OURS: lambda: by_us(files.b2nd), BLOSC2: by_blosc2},
        files.h5: {OURS: lambda: by_us(files.h5), H5PY: by_h5py},
    }
    for path, some in calls.items():
        for name, call in some.items():
            same(f"{name}, cold", call(), field.x)
        work = f"all of a cold file, {'Blosc2' if path == files.b2nd else 'HDF5'}"
        yield fight(("cold", work), field, threads, some, COLD, lambda path=path: cold.evict([path]))


def append_cells(field: Field, threads: int, folder: Path) -> Iterator[Cell]:
    """4 KiB at a time to a long vector of many chunks, in each kind of file."""
    items = np.ascontiguousarray(field.x).reshape(-1)
    pieces = items[: 64 * PIECE].reshape(-1, PIECE)
    files = stored(items, Grid((4 * PIECE,), (4 * PIECE,)), folder)
    array, ours = cq.open(files.b2nd, mode="r+"), cq.open(files.h5, mode="r+")
    copies = Files(folder / "theirs.b2nd", folder / "theirs.h5")
    copies.b2nd.write_bytes(files.b2nd.read_bytes())
    copies.h5.write_bytes(files.h5.read_bytes())
    other = blosc2.open(str(copies.b2nd), mode="a")
    with h5py.File(copies.h5, "r+", libver="latest") as file:
        theirs, dataset = file["x"], ours["x"]

        def resized(target: Any, done: Callable[[], object]) -> Callable[[np.ndarray], None]:
            def append(piece: np.ndarray) -> None:
                start = target.shape[0]
                target.resize((start + len(piece),))
                target[start:] = piece
                done()

            return append

        def ours_in_hdf5(piece: np.ndarray) -> None:
            dataset.append(piece)
            ours.flush()

        calls: dict[str, dict[str, Call]] = {
            "Blosc2": {
                OURS: in_turn(array.append, pieces),
                BLOSC2: in_turn(resized(other, lambda: None), pieces),
            },
            "HDF5": {OURS: in_turn(ours_in_hdf5, pieces), H5PY: in_turn(resized(theirs, file.flush), pieces)},
        }
        for kind, some in calls.items():
            yield fight(("append", f"append 4 KiB, {kind}"), field, threads, some)
        for name, one in {"b2nd": array, "HDF5": dataset, BLOSC2: other, H5PY: theirs}.items():
            same(f"{name}, before what was appended", one[: len(items)], items)
            same(f"{name}, appended", one[len(items) :], np.resize(pieces, one.shape[0] - len(items)))
    array.close()
    ours.close()
    files.remove()
    copies.remove()


# Within a bound.


def bound_cells(run: Run, field: Field) -> Iterator[Cell]:
    """Size, and times both ways, beside each library that holds the same bound."""
    x = np.array(field.x[: max(1, len(field.x) // 4)])
    is_there = np.abs(x) < FILL_MIN
    exponent = math.floor(math.log10(float(x[is_there].std(dtype=np.float64)) / 100))
    # Not all of the others take what is no number, and one of their filters ends the process at 1e20.
    x[~is_there] = x[is_there].mean(dtype=np.float64)
    found = list(
        contest(run, field.name, x, field_ways.ways(x, field.grid, exponent), Effort(2.0, 2, 5, each=0.3))
    )
    ours = {cell.codec: cell for cell in found if cell.library == OURS}
    others = {cell.family: cell for cell in found if cell.library != OURS}
    kept = {name: cell for name, cell in others.items() if cell.max_error <= 1.01 * 10.0**exponent}
    for codec in ("chosen", "predict"):
        mine = ours[codec]
        word = {"chosen": "", "predict": ", ours by prediction"}[codec]
        sizes = {name: mine.ratio / cell.ratio for name, cell in kept.items()}
        yield Cell("bound", f"size within a bound{word}", field.name, THREADS, x.nbytes / 1e6, {}, sizes)
        for operation in ("compress", "decompress"):
            theirs = {name: getattr(cell, operation) for name, cell in kept.items()}
            seconds = {OURS: getattr(mine, operation), **theirs}
            ratios = {name: value / seconds[OURS] for name, value in theirs.items()}
            work = f"{operation} within a bound{word}"
            yield Cell("bound", work, field.name, THREADS, x.nbytes / 1e6, seconds, ratios)


def file_cells(run: Run, field: Field, threads: int) -> Iterator[Cell]:
    """The parts that need files."""
    if "boxes" in run.parts:
        files = stored(field.x, field.grid, run.folder)
        yield from box_cells(field, threads, files)
        files.remove()
    if "cold" in run.parts and cold.works_in(run.disk):
        files = stored(field.x, field.grid, run.disk)
        os.sync()
        yield from cold_cells(field, threads, files)
        files.remove()
    if "append" in run.parts:
        yield from append_cells(field, threads, run.folder)


def measure(run: Run) -> Iterator[Cell]:
    """Everything, a field at a time; a part that fails is named."""

    def all_of(title: str, cells: Iterator[Cell]) -> Iterator[Cell]:
        for found in run.attempt(title, lambda: list(cells)):
            yield from found

    for field in fields(run):
        for threads in (1, THREADS):
            set_threads(threads)
            if "codecs" in run.parts:
                yield from all_of(f"codecs, {field.name}", codec_cells(field, threads))
            yield from all_of(f"files, {field.name}", file_cells(run, field, threads))
        set_threads(THREADS)
        if "bound" in run.parts:
            yield from all_of(f"bound, {field.name}", bound_cells(run, field))


def body(cells: Sequence[Cell], run: Run) -> Iterator[str]:
    """A table for each part."""
    for part in dict.fromkeys(cell.part for cell in cells):
        some = [cell for cell in cells if cell.part == part]
        peers = list(dict.fromkeys(peer for cell in some for peer in cell.ratios))
        yield f"## {part.capitalize()}: time, or size, of the other over ours"
        yield harness.markdown(
            ["work", "data", "threads", "coquina ms", *peers],
            [
                [c.work, c.data, c.threads, 1e3 * c.seconds.get(OURS, math.nan)]
                + [c.ratios.get(peer, math.nan) for peer in peers]
                for c in some
            ],
        )


def draw(cells: Sequence[Cell], canvas: Canvas) -> None:
    """Speed-ups by operation: a bar for each field."""
    from bench.common import plots

    panels: dict[str, dict[str, dict[str, float]]] = {}
    for cell in cells:
        if cell.threads == THREADS and BLOSC2 in cell.ratios and cell.part == "codecs":
            panels.setdefault(cell.work, {})[cell.data] = {
                name: 1e3 * value for name, value in cell.seconds.items()
            }
    title, note = "Fields that nothing was tuned by", f"{canvas.note} LZ4 to Zstd, level 5, shuffle."
    plots.grouped_bars(panels, canvas.path(""), title=title, note=note, unit="milliseconds", columns=2)


def line(cell: Cell) -> str:
    """A cell for the terminal."""
    ratios = ", ".join(f"{peer} {value:.2f}x" for peer, value in cell.ratios.items())
    return f"{cell.work}, {cell.data}, {cell.threads} threads: {ratios}"


SCRIPT = Script(studies.UNSEEN, __doc__, measure, line, asdict, body, draw, needs=("blosc2", "hdf5plugin"))

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
