"""How small and how fast are float fields at equal greatest error: rounding, truncation, ZFP, SZ3, SPERR?

    python -m bench.images.fields           four fields, three bounds; two minutes
    python -m bench.images.fields --quick   one field, two bounds; half a minute
    python -m bench.images.fields --full    five bounds, larger fields

ERA5-like wind and temperature, surface temperature of a climate model and 240 years of air temperature,
float32, in the same chunks. Each way is told the greatest error that an item may have, a power of ten, since
that is what ZFP in Blosc2 can be told: coquina's contract with the means it chooses and with each of them,
python-blosc2's TRUNC_PREC (as few bits as hold the bound in the whole field) and ZFP, and h5py with
hdf5plugin's ZFP, SZ3 and SPERR, which have one thread. What is rounded or truncated has shuffle, bytedelta
and zstd, here and there. All take turns (harness.py).

Ratio is bytes of the field over bytes kept. Every field is decoded and its greatest error computed by NumPy
before it is timed: one of ours that missed its bound would be a failure, others are named.
Results: bench/results/fields.json, fields.md, fields-ratio.png and fields-speed.png.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np

from bench.common import data, studies, synthetic
from bench.common.harness import Effort
from bench.common.inputs import Grid, Volume
from bench.common.run import Canvas, Run, Script
from bench.images import field_ways
from bench.images.quality_contest import Cell, contest, line, sections

EFFORT = Effort(2.5, 2, 7, each=0.4)
QUICK = Effort(1.0, 2, 3, each=0.2)
# Whole cells of ZFP along each axis of a block, whole blocks along each axis of a chunk.
ERA5_GRID = Grid((8, 180, 360), (4, 60, 72))
# How many months, and the grid.
REAL = {
    "cmip_tas": (96, Grid((16, 144, 192), (4, 48, 96))),
    "e1": (240, Grid((80, 37, 49), (20, 37, 49))),
}


def era5_field(variable: str, hours: int) -> Volume:
    """Hours of an ERA5-like variable on a grid of half a degree, less one row, so that no chunk overhangs."""
    x = synthetic.era5(variable, (hours, 361, 720))[:, :360]
    return Volume(f"era5 {variable}", np.ascontiguousarray(x), ERA5_GRID)


def fields(run: Run) -> Iterator[Volume]:
    """ERA5-like ones, and the real ones in the cache."""
    hours = run.choose(8, 8, 24)
    for variable in run.choose(["wind"], ["wind", "temperature"], ["wind", "temperature", "pressure"]):
        yield era5_field(variable, hours)
    found = data.cached()
    for name, (months, grid) in run.choose({}, REAL, REAL).items():
        if name in found:
            yield Volume(name, np.ascontiguousarray(found[name][: months * hours // 8]), grid)
        else:
            run.say(f"{name} is not in the cache (python -m bench.common.data --fetch {name})")


def measure(run: Run) -> Iterator[Cell]:
    """Every field with every bound by every way."""
    for peer, why in field_ways.absent().items():
        run.say(f"absent: {peer} ({why})")
    effort = run.choose(QUICK, EFFORT, EFFORT)
    for one in fields(run):
        for exponent in run.choose((-1, -3), (-1, -2, -3), (1, 0, -1, -2, -3)):
            ways = field_ways.ways(one.x, one.grid, exponent)
            yield from contest(run, one.title, one.x, ways, effort)


def body(cells: Sequence[Cell], run: Run) -> Iterator[str]:
    """The Markdown page: a table for each field."""
    yield (
        "MB/s of field, medians of rounds in turns. PSNR in dB of the range of the data. All of a setting "
        "are told the same greatest error; '(!)' marks an error that is greater."
    )
    yield from (f"Absent: {name} ({why})." for name, why in field_ways.absent().items())
    yield from sections(cells)


def draw(cells: Sequence[Cell], canvas: Canvas) -> None:
    """Ratio by bound; speeds by ratio."""
    from bench.images.quality_plots import Panel, curves

    names = list(dict.fromkeys(cell.data for cell in cells))

    def by_family(name: str, x: str, y: str) -> dict[str, list[tuple[float, float]]]:
        found: dict[str, list[tuple[float, float]]] = {}
        for cell in cells:
            if cell.data == name:
                speed = y in ("compress", "decompress")
                value = cell.speed(y) if speed else getattr(cell, y)
                found.setdefault(cell.family, []).append((getattr(cell, x), value))
        return found

    panel = partial(Panel, is_log=(True, True))
    ratio = [
        panel(name, "greatest error allowed", "ratio", by_family(name, "bound", "ratio")) for name in names
    ]
    options = {"note": f"{canvas.note} float32.", "columns": min(2, len(names))}
    curves(ratio, canvas.path("ratio"), title="Fields within a bound: ratio by greatest error", **options)
    speed = [
        panel(f"{word}, {name}", "ratio", "MB/s", by_family(name, "ratio", word))
        for name in names
        for word in ("compress", "decompress")
    ]
    options["columns"] = 2
    curves(speed, canvas.path("speed"), title="Fields within a bound: speed by ratio", **options)


SCRIPT = Script(studies.FIELDS, __doc__, measure, line, asdict, body, draw)

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
