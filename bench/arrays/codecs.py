"""Is coquina's chunk engine as fast as python-blosc2's, codec by codec, at the same parameters and size?

    python -m bench.arrays.codecs              codec x filter x level 1, 5, 9 x data; 5 minutes
    python -m bench.arrays.codecs --quick      level 5, few sets, small sizes; under 2 minutes
    python -m bench.arrays.codecs --full       every level, every set, 400 MB

Both libraries get the same bytes, codec, level, filters, typesize, split mode (auto) and 2 threads, and take
turns (harness.py). Three calls: compress (`compress` / `compress2`), decompress to new bytes (`decompress` /
`decompress2`), decompress into a buffer that is there already. Each chunk is decoded by both libraries and
compared with the input before it is timed. "Speed-up" is python-blosc2's time over coquina's: above 1,
coquina is faster. "Size" is coquina's chunk over python-blosc2's: below 1, coquina's is smaller. With two
threads python-blosc2 starts them anew in each call, which takes most of the time of 80 KB; small.py gives it
one.

Data: the real sets in the cache (`python -m bench.common.data --fetch`; else the sample in bench/sample),
ERA5-like fields, and the Bloscpack paper's low, medium and high entropy; 80 KB of each at level 5, and up to
40 MB (80 MB with --full), less for codecs too slow for that (LARGEST). Results: bench/results/codecs.json,
codecs.md, codecs-cells.md (one row per cell), codecs-era5.png and codecs-real.png.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass

import numpy as np

import coquina as cq
from bench.arrays.cells import HUGE, LARGE, OPERATIONS, SMALL, Cell, body, cell_rows, draw
from bench.common import harness, studies, synthetic
from bench.common.harness import Call, Effort
from bench.common.inputs import Input, entropy_input, era5_input, generated_inputs, megabytes, real_inputs
from bench.common.peers import CODECS, THREADS, blosc2, blosc2_cparams
from bench.common.run import Run, Script

FAST = ("blosclz", "lz4")
FILTERS: dict[str, tuple[str, ...]] = {
    "none": ("nofilter",),
    "shuffle": ("shuffle",),
    "bitshuffle": ("bitshuffle",),
    "shuffle+bytedelta": ("shuffle", "bytedelta"),
}

# The largest input in bytes for a codec from a level on: what it compresses in some tenths of a second.
LARGEST = {
    "blosclz": {1: LARGE},
    "lz4": {1: LARGE},
    "lz4hc": {1: 8_000_000, 8: 4_000_000},
    "zlib": {1: 8_000_000, 8: 2_000_000},
    "zstd": {1: 40_000_000, 4: 8_000_000, 7: 3_000_000, 9: 1_000_000},
}

REAL = ("cmip_tas", "flights", "ct_lung")  # of the default run; --full takes all in the cache


@dataclass(frozen=True)
class Setting:
    """The parameters both libraries get."""

    codec: str
    level: int
    filters: str

    @property
    def title(self) -> str:
        """How lists name it."""
        return f"{self.codec}-{self.level} {self.filters}"

    def largest(self) -> int:
        """The most bytes worth giving to this codec at this level."""
        return max((level, size) for level, size in LARGEST[self.codec].items() if level <= self.level)[1]


@dataclass(frozen=True)
class Plan:
    """What a run covers. small: the levels at which 80 KB are compressed, too. limit: the most bytes."""

    levels: tuple[int, ...]
    small: tuple[int, ...]
    inputs: Callable[[], Iterator[Input]]
    limit: int
    effort: Effort
    huge: bool = False


def default_inputs() -> Iterator[Input]:
    """Three real sets, two fields, three levels of entropy."""
    yield from real_inputs(REAL)
    yield from generated_inputs(LARGE // 2, ("wind", "temperature"), synthetic.ENTROPY)


def quick_inputs() -> Iterator[Input]:
    """A table, a field, and medium entropy."""
    yield from real_inputs(("flights",))
    yield from generated_inputs(8_000_000, ("wind",), ("medium",))


def full_inputs() -> Iterator[Input]:
    """Everything."""
    yield from real_inputs(None)
    yield from generated_inputs(LARGE, synthetic.VARIABLES, synthetic.ENTROPY)


EVERY = tuple(range(1, 10))
QUICK = Plan((5,), (5,), quick_inputs, 8_000_000, Effort(0.08, 2, 9))
DEFAULT = Plan((1, 5, 9), (5,), default_inputs, LARGE // 2, Effort(0.15, 2, 11))
FULL = Plan(EVERY, EVERY, full_inputs, LARGE, Effort(0.15, 2, 11), huge=True)


def jobs(plan: Plan) -> Iterator[tuple[Input, Setting]]:
    """Every cell of a run, one input at a time so that only one is in memory."""
    settings = [Setting(*each) for each in itertools.product(CODECS, plan.levels, FILTERS)]
    for source in plan.inputs():
        for setting in settings:
            large = source.middle(min(setting.largest(), plan.limit))
            if large.content.nbytes > 2 * SMALL:
                yield large, setting
            if setting.level in plan.small:
                yield source.middle(SMALL), setting
    if plan.huge:
        for source in (era5_input("wind", HUGE), entropy_input("medium", HUGE)):
            for codec, filters in itertools.product(FAST, FILTERS):
                yield source.middle(HUGE), Setting(codec, 5, filters)


def check(source: Input, calls: Mapping[str, Call], out: np.ndarray) -> None:
    """Every call returns or leaves in `out` what went in; raises ValueError if one does not."""
    content = source.content.tobytes()
    for name, call in calls.items():
        out.fill(0xA5)
        result = call()
        if (result if isinstance(result, bytes) else out.tobytes()) != content:
            raise ValueError(f"{name}: not what went in")


def measured(source: Input, setting: Setting, effort: Effort) -> Cell:
    """One cell: both compress, both read both chunks, then the three duels."""
    content = source.content
    filters = FILTERS[setting.filters]
    options = {
        "codec": setting.codec,
        "level": setting.level,
        "filters": filters,
        "typesize": source.typesize,
    }
    cparams = blosc2_cparams(**options)

    def ours() -> bytes:
        return cq.compress(content, **options, threads=THREADS)

    def theirs() -> bytes:
        return blosc2.compress2(content, **cparams)

    chunk, other = ours(), theirs()
    out = np.empty(content.nbytes, np.uint8)
    calls = {
        "ours": lambda: cq.decompress(chunk, threads=THREADS),
        "ours into": lambda: cq.decompress_into(chunk, out, threads=THREADS),
        "theirs": lambda: blosc2.decompress2(other, nthreads=THREADS),
        "theirs into": lambda: blosc2.decompress2(other, dst=out, nthreads=THREADS),
    }
    crossed = {
        "coquina's chunk read by blosc2": lambda: blosc2.decompress2(chunk, nthreads=THREADS),
        "blosc2's chunk read by coquina": lambda: cq.decompress(other, threads=THREADS),
    }
    check(source, calls | crossed, out)
    return Cell(
        data=source.name,
        nbytes=content.nbytes,
        typesize=source.typesize,
        codec=setting.codec,
        level=setting.level,
        filters=setting.filters,
        ratio=content.nbytes / len(chunk),
        size=len(chunk) / len(other),
        compress=harness.duel(ours, theirs, effort),
        decompress=harness.duel(calls["ours"], calls["theirs"], effort),
        into=harness.duel(calls["ours into"], calls["theirs into"], effort),
    )


def measure(run: Run) -> Iterator[Cell]:
    """Every cell; one that fails is named."""
    plan = run.choose(QUICK, DEFAULT, FULL)
    for source, setting in jobs(plan):
        title = f"{setting.title}, {source.name} {megabytes(source.content.nbytes)}"
        yield from run.attempt(title, lambda s=source, t=setting: measured(s, t, plan.effort))


def line(cell: Cell) -> str:
    """A cell for the terminal."""
    x = "  ".join(f"{name} {of(cell).speedup:5.2f}x" for name, of in OPERATIONS.items())
    return f"{x}  size {cell.size:.3f}  {cell.title}"


SCRIPT = Script(
    studies.CODECS,
    __doc__,
    measure,
    line,
    asdict,
    lambda cells, _: body(cells),
    draw,
    needs=("blosc2",),
    more=lambda cells: {"cells": cell_rows(cells)},
)

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
