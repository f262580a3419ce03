"""A contest of ways to keep an array in fewer bytes, with loss or without: size, quality, time of each.

In: an array and ways. Out: `Cell`s.
What must hold: every way is decoded and compared before it is timed. What promises no loss gives the same
bits, what of ours promises a bound keeps it; a peer that misses its bound stays, and its cell says so.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import coquina as cq
from bench.common import harness
from bench.common.harness import Effort
from bench.common.run import Run

OURS = "coquina"


@dataclass(frozen=True)
class Way:
    """One way. bound: the greatest error that it promises, 0 for no loss, None if it promises none."""

    library: str
    codec: str
    setting: str
    encode: Callable[[np.ndarray], Any]
    size: Callable[[Any], int]
    decode: Callable[[Any], np.ndarray]
    bound: float | None = None

    @property
    def name(self) -> str:
        """Library, codec and setting: tells it apart."""
        return f"{self.library} {self.codec}, {self.setting}"


@dataclass(frozen=True)
class Reached:
    """How near the decoded array is. psnr: of the range of the data, None without loss."""

    max_error: float
    rmse: float
    psnr: float | None
    ssim: float


@dataclass(frozen=True)
class Cell:
    """What was found of one way with one array; times in seconds."""

    data: str
    library: str
    codec: str
    setting: str
    nbytes: int
    ratio: float
    bound: float | None
    max_error: float
    rmse: float
    psnr: float | None
    ssim: float
    compress: float
    decompress: float

    @property
    def family(self) -> str:
        """Whose curve it is on."""
        return f"{self.library} {self.codec}"

    @property
    def is_kept(self) -> bool:
        """False if more was promised than held."""
        return self.bound is None or self.max_error <= self.bound

    def speed(self, operation: str) -> float:
        """MB/s of array of "compress" or "decompress"."""
        return self.nbytes / 1e6 / getattr(self, operation)


def reached(x: np.ndarray, y: np.ndarray) -> Reached:
    """How near `y` is to `x`; the structural similarity is coquina's, all else is computed here."""
    wide = x.astype(np.float64)
    error = y.astype(np.float64) - wide
    largest, rmse = float(np.abs(error).max()), float(np.sqrt(np.mean(error**2)))
    peak = float(wide.max() - wide.min())
    psnr = 20 * math.log10(peak / rmse) if rmse else None
    return Reached(largest, rmse, psnr, float(cq.quality(x, y, data_range=peak).ssim))


def tried(way: Way, x: np.ndarray) -> tuple[Any, Reached]:
    """What the way holds, and what comes back; ValueError if that is not what it promises."""
    held = way.encode(x)
    y = np.asarray(way.decode(held))
    if (y.shape, y.dtype) != (x.shape, x.dtype):
        raise ValueError(f"gives {y.dtype} {y.shape}, not {x.dtype} {x.shape}")
    found = reached(x, y)
    if way.bound == 0 and y.tobytes() != x.tobytes():
        raise ValueError(f"promises no loss, is off by {found.max_error:g}")
    if way.library == OURS and way.bound is not None and not found.max_error <= way.bound:
        raise ValueError(f"promises {way.bound:g}, is off by {found.max_error:g}")
    return held, found


def contest(run: Run, data: str, x: np.ndarray, ways: Sequence[Way], effort: Effort) -> Iterator[Cell]:
    """A cell for each way that works: all take turns, first writing, then reading."""
    ready: list[tuple[Way, Any, Reached]] = []
    for way in ways:
        for held, found in run.attempt(f"{way.name}, {data}", partial(tried, way, x)):
            ready.append((way, held, found))
    writes = {way.name: partial(way.encode, x) for way, _, _ in ready}
    reads = {way.name: partial(way.decode, held) for way, held, _ in ready}
    compress = harness.take_turns(writes, effort, alike=False)
    decompress = harness.take_turns(reads, effort, alike=False)
    for way, held, found in ready:
        yield Cell(
            data,
            way.library,
            way.codec,
            way.setting,
            x.nbytes,
            x.nbytes / way.size(held),
            way.bound,
            **vars(found),
            compress=statistics.median(compress[way.name]),
            decompress=statistics.median(decompress[way.name]),
        )


HEADER = ["library", "codec", "setting", "ratio", "max error", "PSNR", "SSIM", "compress MB/s"]
HEADER += ["decompress MB/s"]


def precise(value: float) -> str:
    """An error, or a similarity that is near 1."""
    return f"{value:.4g}" if value < 0.5 else f"{value:.6g}"


def table(cells: Sequence[Cell]) -> str:
    """One row per cell."""
    rows: list[list[object]] = []
    for cell in cells:
        error = precise(cell.max_error) + ("" if cell.is_kept else " (!)")
        quality = [error, math.nan if cell.psnr is None else cell.psnr, precise(cell.ssim)]
        speeds = [cell.speed("compress"), cell.speed("decompress")]
        rows.append([cell.library, cell.codec, cell.setting, cell.ratio, *quality, *speeds])
    return harness.markdown(HEADER, rows)


def broken(cells: Sequence[Cell]) -> Iterator[str]:
    """A sentence for each cell whose bound did not hold."""
    for cell in cells:
        if not cell.is_kept:
            said = f"promises {cell.bound:g}, is off by {cell.max_error:.9g}"
            yield f"- {cell.family}, {cell.setting}, {cell.data}: {said}"


def sections(cells: Sequence[Cell]) -> Iterator[str]:
    """The tables of a page, one for each set of data, and the bounds that did not hold."""
    for name in dict.fromkeys(cell.data for cell in cells):
        yield f"## {name}"
        yield table([cell for cell in cells if cell.data == name])
    if missed := list(broken(cells)):
        yield "## Bounds that did not hold"
        yield "\n".join(missed)


def line(cell: Cell) -> str:
    """A cell for the terminal."""
    speeds = f"{cell.speed('compress'):7.1f} MB/s, {cell.speed('decompress'):7.1f} MB/s back"
    psnr = "   no loss" if cell.psnr is None else f"{cell.psnr:7.1f} dB"
    return f"{speeds}, ratio {cell.ratio:6.2f}, {psnr}  {cell.family}, {cell.setting}; {cell.data}"
