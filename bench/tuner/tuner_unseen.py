"""More arrays for `tuner.py`, of kinds that nobody looked at while the tuner was made: does it generalize?

In: a source of random numbers. Out: named arrays of 4 MB, of kinds that neither the training data have nor
the rest of the corpus.
Invariant: no choice of the tuner may be mended for one of these arrays, or it is unseen no more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench.common import synthetic
from bench.common.synthetic import Globe

NBYTES = 4 << 20
Arrays = Iterator[tuple[str, np.ndarray]]
Random = np.random.RandomState


def unseen(random: Random) -> Arrays:
    """All of them."""
    yield from measurements(random)
    yield from tiles(random)
    yield from keys(random)
    yield from texts(random)


def measurements(random: Random) -> Arrays:
    """Sound, positions, tenths, returns of a market, principal components."""
    ring = np.exp(-np.arange(300) / 40) * np.cos(np.arange(300) / 5)
    sound = 300 * np.convolve(random.standard_normal(NBYTES // 2), ring)[: NBYTES // 2]
    yield "sound, i2", sound.astype("i2")
    yield "positions, f8", np.round(48.1 + np.cumsum(random.normal(0, 1e-5, NBYTES // 8)), 7)
    yield "tenths, f8", random.randint(0, 1000, NBYTES // 8) / 10
    yield "returns, f8", 1e-2 * random.standard_t(3, NBYTES // 8)
    few = random.standard_normal((NBYTES // 800, 3)) @ random.standard_normal((3, 100))
    yield "three components, f8", few


def tiles(random: Random) -> Arrays:
    """Heights, depths with holes, tiles of one value."""
    globe = Globe(1024, 1024, 9)
    yield "heights, f4", (900 * globe.at(synthetic.LAND, 0)).astype("f4")
    depth = 2000 + 600 * np.tile(globe.at(synthetic.LARGE, 1), (2, 1)) + random.normal(0, 3, (2048, 1024))
    yield "depths with holes, u2", np.where(random.random_sample(depth.shape) < 0.05, 0, depth).astype("u2")
    steps = np.kron(random.standard_normal((64, 32)), np.ones((16, 32)))
    yield "tiles of one value, f4", steps.astype("f4")


def keys(random: Random) -> Arrays:
    """Dates, sorted numbers, users, bits of flags, rows of an instrument."""
    days = np.sort(random.randint(0, 3650, NBYTES // 4))
    dates = 20100000 + days // 365 * 10000 + (days % 365 // 31 + 1) * 100 + days % 31 + 1
    yield "dates as numbers, i4", dates.astype("i4")
    yield "sorted numbers, i4", np.sort(random.randint(0, 2**30, NBYTES // 4)).astype("i4")
    yield "users, i8", (random.zipf(1.2, NBYTES // 8) % 10**6).astype("i8")
    masks = random.randint(0, 64, NBYTES // 4) << random.choice([0, 8, 16], NBYTES // 4)
    yield "flags, u4", masks.astype("u4")
    kind = np.dtype([("time", "<i8"), ("channel", "u1"), ("value", "<i2"), ("spare", "V5")])
    rows = np.zeros(NBYTES // kind.itemsize, kind)
    rows["time"] = np.cumsum(random.geometric(0.01, len(rows)))
    rows["channel"] = random.randint(0, 8, len(rows))
    rows["value"] = random.normal(0, 50, len(rows))
    yield "rows of an instrument", rows


def texts(random: Random) -> Arrays:
    """Bases, identifiers, cities."""
    yield "bases, S1", random.choice(np.frombuffer(b"ACGT", "S1"), NBYTES, p=[0.3, 0.2, 0.2, 0.3])
    digits = np.frombuffer(b"0123456789abcdef", "u1")[random.randint(0, 16, (NBYTES // 36, 36))]
    digits[:, [8, 13, 18, 23]] = ord("-")
    yield "identifiers, S36", np.ascontiguousarray(digits).view("S36").reshape(-1)
    cities = ["Paris", "New York", "São Paulo", "Nairobi", "Reykjavík", "Ulaanbaatar"]
    yield "cities, U16", random.choice(cities, NBYTES // 64).astype("U16")
