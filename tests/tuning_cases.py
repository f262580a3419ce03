"""Data for tests of tuning: arrays that want different codecs, some of them in different places."""

import blosc2
import numpy as np

#: What can be asked for, in the order of how small the result is to be.
GOALS = ["speed", "balanced", "size"]
TERMS = [
    {},
    {"goal": "size"},
    {"goal": 0.25, "for_": "read"},
    {"goal": "speed", "for_": "write", "bandwidth": 2e9},
    {"goal": 1, "bandwidth": 50_000},
]
KINDS = ["smooth", "integers", "random", "steps", "sparse", "bytes", "mixed", "zeros"]


def data(kind, rows=4000, seed=0):
    """Return items of one axis, of some kind."""
    rng = np.random.default_rng(seed)
    if kind == "smooth":
        return (np.sin(np.arange(rows) / 50) * 100 + rng.normal(size=rows) * 0.01).astype("f4")
    if kind == "integers":
        return np.cumsum(rng.integers(0, 9, rows)).astype("i8")
    if kind == "random":
        return rng.random(rows)
    if kind == "steps":
        return np.repeat(rng.integers(0, 50, rows // 20 + 1), 20)[:rows].astype("i4")
    if kind == "sparse":
        return np.where(rng.random(rows) < 0.02, rng.normal(size=rows), 0.0)
    if kind == "bytes":
        return rng.integers(0, 4, rows).astype("u1")
    if kind == "zeros":
        return np.zeros(rows, "f8")
    part = rows // 4
    parts = [np.zeros(part), rng.random(part), np.sin(np.arange(part) / 9), np.full(rows - 3 * part, np.nan)]
    return np.concatenate(parts)


def same(a, b):
    """Fail where two arrays differ in a bit."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))


def of_blosc2(path):
    """Return what python-blosc2 reads in a file."""
    found = blosc2.open(str(path))[...]
    return np.asarray(found)
