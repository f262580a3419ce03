"""What `slices.py` does to arrays: which parts it reads, what it appends and opens, how it checks that.

In: arrays and grids. Out: keys (what stands between the brackets), calls that take the next, cases by name.
What must hold: the places are random, but the same in every run and for every library.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.arrays.array_peers import Held
from bench.common import synthetic
from bench.common.harness import Call
from bench.common.inputs import Grid, Volume, entropy_volume

Key = Any


def in_turn(array: Any, keys: Sequence[Key]) -> Call:
    """A call that reads the next place each time."""
    turn = itertools.cycle(keys)
    return lambda: array[next(turn)]


def check(name: str, array: Any, x: np.ndarray, keys: Sequence[Key]) -> None:
    """Every place is read right; raises ValueError if one is not."""
    for key in keys:
        got, right = np.asarray(array[key]), x[key]
        if got.shape != right.shape or got.dtype != right.dtype or not np.array_equal(got, right):
            raise ValueError(f"{name}: [{key}] is not what NumPy reads")


def planes(x: np.ndarray, axis: int) -> list[Key]:
    """Up to 24 indices of one axis, in random order, all else whole."""
    indices = np.random.RandomState(axis).permutation(x.shape[axis])[:24]
    whole = (slice(None),) * axis
    return [(*whole, int(index)) for index in indices]


def boxes(x: np.ndarray, grid: Grid) -> list[Key]:
    """Boxes of half a chunk along each axis, anywhere."""
    random = np.random.RandomState(64)
    sides = [max(1, min(n, chunk) // 2) for n, chunk in zip(x.shape, grid.chunks, strict=True)]
    starts = [random.randint(0, n - side + 1, 32).tolist() for n, side in zip(x.shape, sides, strict=True)]
    return [
        tuple(slice(start, start + side) for start, side in zip(corner, sides, strict=True))
        for corner in zip(*starts, strict=True)
    ]


def elements(x: np.ndarray, number: int = 256) -> list[Key]:
    """Single places, anywhere."""
    random = np.random.RandomState(256)
    return list(zip(*(random.randint(0, n, number).tolist() for n in x.shape), strict=True))


def selections(volume: Volume) -> dict[str, list[Key]]:
    """What is read of a volume, by the name that the results give it."""
    found = {f"plane of axis {axis}": planes(volume.x, axis) for axis in range(volume.x.ndim)}
    found["box"] = boxes(volume.x, volume.grid)
    found["element"] = elements(volume.x)
    return found | {"all": [...]}


class Appender:
    """A call that appends the next piece, and remembers what must be there."""

    def __init__(self, held: Held, pieces: Sequence[np.ndarray], first: np.ndarray):
        """Appends `pieces` in turn to `held`, which starts as `first`."""
        self.held, self.pieces, self.first, self.count = held, pieces, first, 0

    def __call__(self) -> None:
        """Appends one."""
        self.held.append(self.pieces[self.count % len(self.pieces)])
        self.count += 1

    def finish(self, name: str) -> None:
        """Reads all back and closes; raises ValueError if it is not what was appended."""
        appended = [self.pieces[number % len(self.pieces)] for number in range(self.count)]
        check(name, self.held.array, np.concatenate([self.first, *appended]), [...])
        self.held.close()


def append_cases(chunks: int) -> dict[str, tuple[np.ndarray, list[np.ndarray], Grid]]:
    """By name: what the file starts with, the pieces, the grid."""
    hours = synthetic.era5("wind", (8, *synthetic.GRID))[:, 100:612, 200:712]
    pieces = [np.ascontiguousarray(hour[None]) for hour in hours]
    rows = np.ascontiguousarray(hours[0]).reshape(-1, 1024)[:256]
    many = np.resize(rows, (chunks, 1024))
    return {
        "1 MiB, a chunk each": (pieces[0], pieces, Grid((1, 512, 512), (1, 64, 256), grows=True)),
        "1 MiB, a quarter of a chunk": (pieces[0], pieces, Grid((4, 512, 512), (1, 64, 256), grows=True)),
        f"4 KiB, to {chunks} chunks of 4 KiB": (
            many,
            [row[None] for row in rows],
            Grid((1, 1024), (1, 1024), grows=True),
        ),
    }


def open_cases(chunks: int) -> dict[str, tuple[np.ndarray, Grid]]:
    """By name: the array in the file."""
    volume = entropy_volume((10, 25, 100, 100))
    return {
        "100 elements": (np.linspace(0, 1, 100), Grid((100,), (100,))),
        f"{volume.x.nbytes / 1e6:.0f} MB in 8 chunks": (volume.x, volume.grid),
        f"{chunks} chunks of 4 KiB": (
            np.arange(1024 * chunks, dtype=np.float32).reshape(-1, 1024),
            Grid((1, 1024), (1, 1024)),
        ),
    }
