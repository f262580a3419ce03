"""What the benches compress: real sets, ERA5-like fields and levels of entropy.

In: names and sizes. Out: `Input`s, bytes with an item size, of which a bench takes the piece it has time for;
`Volume`s, arrays of four axes with the grid that all libraries cut them by.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bench.common import data, synthetic
from bench.common.peers import as_bytes


@dataclass(frozen=True)
class Input:
    """Bytes to compress, and the size of the items they are made of."""

    name: str
    content: np.ndarray
    typesize: int

    def middle(self, nbytes: int) -> Input:
        """Whole items, at most `nbytes`, out of the middle: the edges of real sets are often empty."""
        items = min(nbytes, self.content.nbytes) // self.typesize
        start = (self.content.nbytes // self.typesize - items) // 2 * self.typesize
        return Input(self.name, self.content[start : start + items * self.typesize], self.typesize)


def megabytes(nbytes: int) -> str:
    """A size as a reader says it."""
    return f"{nbytes / 1e6:.0f} MB" if nbytes >= 1e6 else f"{nbytes / 1e3:.0f} KB"


def real_inputs(names: Sequence[str] | None) -> Iterator[Input]:
    """The real sets that are in the cache, or the sample where there are none."""
    sets = {name: x for name, x in data.cached().items() if names is None or name in names}
    if not sets:
        print(
            "no real set in the cache (python -m bench.common.data --fetch): the sample instead",
            file=sys.stderr,
        )
    for name, x in (sets or {f"sample {name}": x for name, x in data.sample().items()}).items():
        yield Input(name, as_bytes(x), x.itemsize)


def era5_input(variable: str, nbytes: int) -> Input:
    """Enough hours of an ERA5-like variable to fill `nbytes`."""
    hours = -(-nbytes // (4 * synthetic.GRID[0] * synthetic.GRID[1]))
    return Input(f"era5 {variable}", as_bytes(synthetic.era5(variable, (hours, *synthetic.GRID))), 4)


def entropy_input(level: str, nbytes: int) -> Input:
    """Float64 of one of the paper's levels of entropy."""
    return Input(f"{level} entropy", as_bytes(synthetic.ENTROPY[level](nbytes // 8)), 8)


def generated_inputs(nbytes: int, variables: Iterable[str], levels: Iterable[str]) -> Iterator[Input]:
    """ERA5-like fields and levels of entropy."""
    for variable in variables:
        yield era5_input(variable, nbytes)
    for level in levels:
        yield entropy_input(level, nbytes)


@dataclass(frozen=True)
class Grid:
    """How an array is cut: chunks of blocks. `grows` is True where rows will be appended."""

    chunks: tuple[int, ...]
    blocks: tuple[int, ...]
    grows: bool = False


@dataclass(frozen=True)
class Volume:
    """An array to slice, and its grid."""

    name: str
    x: np.ndarray
    grid: Grid

    @property
    def title(self) -> str:
        """Name, shape, type and size, as a reader says them."""
        shape = " x ".join(map(str, self.x.shape))
        return f"{self.name}: {shape} {self.x.dtype}, {megabytes(self.x.nbytes)}"


def era5_volume(days: int) -> Volume:
    """ERA5-like wind by day, hour, latitude and longitude: float32 on a grid of half a degree.

    Chunks of 3.9 MB overhang the array along both axes of space; three blocks of 60 KB fit along each axis.
    """
    x = synthetic.era5("wind", (24 * days, 361, 720)).reshape(days, 24, 361, 720)
    return Volume("era5 wind", x, Grid((5, 12, 91, 180), (2, 4, 31, 60)))


def climate_volume() -> Iterator[Volume]:
    """Surface temperature of a climate model by year, month, latitude and longitude, if the cache has it."""
    x = data.cached().get("cmip_tas")
    if x is None:
        print("cmip_tas is not in the cache (python -m bench.common.data --fetch cmip_tas)", file=sys.stderr)
        return
    months, rows, cols = x.shape
    years = np.ascontiguousarray(x).reshape(months // 12, 12, rows, cols)
    yield Volume("cmip_tas", years, Grid((13, 12, 48, 96), (5, 4, 16, 32)))


def entropy_volume(shape: tuple[int, int, int, int]) -> Volume:
    """Medium entropy in float64, cut as in the post that introduced the format b2nd.

    The post's array, (50, 100, 300, 250), has 3 GB; its chunks of 5 MB and blocks of 24 KB are kept.
    """
    x = synthetic.medium(int(np.prod(shape))).reshape(shape)
    return Volume("medium entropy", x, Grid((10, 25, 50, 50), (3, 5, 10, 20)))
