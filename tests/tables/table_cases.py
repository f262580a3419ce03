"""Tables for tests, and what NumPy says of them."""

from __future__ import annotations

import numpy as np
import pytest

import coquina as cq

LAYOUTS = ["rows", "columns"]
both_layouts = pytest.mark.parametrize("layout", LAYOUTS)

FLAT = np.dtype(
    [("a", "<i4"), ("b", "<f8"), ("s", "S3"), ("f", "?"), ("u", "<u8"), ("c", "<c16"), ("h", "<f2")]
)
NESTED = np.dtype(
    [("k", "<i8"), ("pos", "<f4", (3,)), ("info", [("x", "<i2"), ("deep", [("y", "<f8")])]), ("w", ">i4")]
)


def records(count: int, dtype: np.dtype = FLAT, seed: int = 0) -> np.ndarray:
    """Return records with repeats, NaN and extremes."""
    rng = np.random.default_rng(seed)
    out = np.zeros(count, dtype)
    _fill(out, rng)
    return out


def _fill(out: np.ndarray, rng: np.random.Generator) -> None:
    for name in out.dtype.names:
        part = out[name]
        kind = part.dtype.kind
        if part.dtype.names is not None:
            _fill(part, rng)
        elif kind == "f":
            part[...] = rng.normal(size=part.shape).round(3)
            if len(part) and part.ndim == 1 and part.dtype.itemsize > 2:
                part[rng.random(part.shape) < 0.02] = np.nan
        elif kind == "c":
            part[...] = rng.normal(size=part.shape) + 1j * rng.normal(size=part.shape)
        elif kind == "b":
            part[...] = rng.random(part.shape) < 0.5
        elif kind == "S":
            part[...] = rng.choice([b"", b"A", b"BB", b"CCC"], part.shape)
        elif kind == "u":
            part[...] = rng.integers(0, 2**64, part.shape, np.uint64)
        else:
            part[...] = rng.integers(-50, 50, part.shape)


def make(tmp_path, layout: str, data, **options):
    """Return an open table with some data, in small chunks."""
    return cq.create_table(tmp_path / f"{layout}.h5", data, layout=layout, chunk_rows=512, **options)


def same(found, wanted) -> None:
    """Check records, or the values of a column, byte order aside."""
    found, wanted = np.asanyarray(found), np.asanyarray(wanted)
    assert found.shape == wanted.shape
    if wanted.dtype.names is None:
        np.testing.assert_array_equal(found, wanted)
        return
    assert found.dtype.names == wanted.dtype.names
    for name in wanted.dtype.names:
        same(found[name], wanted[name])
