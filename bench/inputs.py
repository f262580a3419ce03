"""What the benches compress: real sets, ERA5-like fields and levels of entropy, as bytes with an item size.

In: names and sizes. Out: `Input`s, of which a bench takes the piece it has time for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import data
import numpy as np
import synthetic
from peers import as_bytes


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
        print("no real set in the cache (python bench/data.py --fetch): the sample instead", file=sys.stderr)
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
