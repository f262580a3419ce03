"""Data and sizes that the interop matrices share. The same bytes on every machine."""

from __future__ import annotations

from functools import cache

import numpy as np

#: Item sizes: powers of two, odd ones, wide ones, the largest that a header holds, and larger.
TYPESIZES = (1, 2, 3, 4, 7, 8, 12, 16, 24, 32, 100, 255, 256, 300)
LEVELS = (0, 1, 5, 9)
#: Around the fewest bytes that are compressed (32 by Blosc2, 128 by Blosc1), and with leftovers of all kinds.
SIZES = (0, 1, 31, 32, 33, 100, 127, 128, 1000, 4101)

KINDS = ("walk", "noise", "zeros", "ones", "halves", "text")


@cache
def data(kind: str, nbytes: int, typesize: int) -> bytes:
    """`nbytes` bytes of items of `typesize` bytes: smooth, random, constant, or a mixture."""
    rng = np.random.default_rng(nbytes * 1000 + typesize)
    match kind:
        case "walk":
            items = nbytes // typesize + 1
            steps = rng.integers(-3, 9, items).cumsum().astype("<i8").view("u1").reshape(items, 8)
            wide = np.zeros((items, typesize), "u1")
            wide[:, : min(8, typesize)] = steps[:, : min(8, typesize)]
            made = wide.tobytes()
        case "noise":
            made = rng.integers(0, 256, nbytes, dtype="u1").tobytes()
        case "zeros":
            made = bytes(nbytes)
        case "ones":
            made = b"\x81" * nbytes
        case "halves":
            noise = rng.integers(0, 256, nbytes - nbytes // 2, dtype="u1").tobytes()
            made = data("walk", nbytes // 2, typesize) + noise
        case "text":
            made = b"the chunk is the unit stored and fetched; " * (nbytes // 42 + 1)
        case _:
            raise AssertionError(kind)
    assert len(made) >= nbytes
    return made[:nbytes]


def kind_for(number: int) -> str:
    """Each cell of a matrix takes the next kind of data, smooth ones twice as often as the others."""
    return (*KINDS, "walk", "text")[number * 5 % 8]
