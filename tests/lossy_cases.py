"""Numbers that are hard to round, and what judges a bound: exactly, by fractions, item by item."""

from fractions import Fraction
from math import inf, log10

import numpy as np
from hypothesis import strategies as st

DTYPES = ["<f4", "<f8", ">f4", "<f2", "<i2", "<u2", "<i8", "|u1", "<c8"]
#: Bounds, as the keywords of `coquina.Lossy`.
BOUNDS = [
    {"max_error": 0.01},
    {"max_error": 3.0},
    {"relative_error": 1e-3},
    {"relative_error": 0.2},
    {"keep_bits": 4},
    {"psnr": 40.0},
]


def hard(dtype, shape, seed):
    """Return numbers of all sizes, among them NaN, infinities, zeros of both signs, and the ends."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype.newbyteorder("="), endpoint=True).astype(dtype)
    with np.errstate(over="ignore"):
        scale = rng.choice([1.0, 1e-3, 1e3, 1e-7], shape)
        x = (rng.normal(size=shape) * scale).astype(dtype.newbyteorder("="))
        if dtype.kind == "c":
            x += (1j * rng.normal(size=shape)).astype(x.dtype)
    real = x.real
    special = [0.0, -0.0, np.nan, inf, -inf, np.finfo(real.dtype).tiny / 4, np.finfo(real.dtype).max]
    real[...] = np.where(rng.random(shape) < 0.1, rng.choice(np.array(special, real.dtype), shape), real)
    return x.astype(dtype)


def smooth(dtype, shape):
    """Return numbers as fields have them, which compress."""
    axes = np.meshgrid(*(np.linspace(0, 3, length) for length in shape), indexing="ij")
    field = sum(np.sin((at + 1.3) * axis) for at, axis in enumerate(axes)) * 50 + 280
    noise = np.random.default_rng(1).normal(size=shape)
    return (field + noise).astype(dtype)


shapes = st.lists(st.integers(1, 20), min_size=1, max_size=3).map(tuple)


def parts(x):
    """Return numbers as floats or integers of this machine's order: of complex ones both parts."""
    x = np.asarray(x)
    x = x.astype(x.dtype.newbyteorder("="))
    return x.view(x.real.dtype) if x.dtype.kind == "c" else x


def check(bound, original, stored, zeros_stay=True):
    """Fail where a number is further from what it was than a bound allows. PSNR is of all of them."""
    assert original.dtype == stored.dtype
    assert original.shape == stored.shape
    before, after = parts(original).ravel(), parts(stored).ravel()
    if before.dtype.kind == "f":
        odd = ~np.isfinite(before)
        np.testing.assert_array_equal(raw(before)[odd], raw(after)[odd])
        assert np.isfinite(after[~odd]).all()
        before, after = before[~odd], after[~odd]
        zeros = (before == 0) & zeros_stay
        np.testing.assert_array_equal(raw(before)[zeros], raw(after)[zeros])
    name, limit = next(iter(bound.items()))
    pairs = [(Fraction(a), Fraction(b)) for a, b in zip(before.tolist(), after.tolist(), strict=True)]
    errors = [abs(a - b) for a, b in pairs]
    if name == "max_error":
        assert all(error <= Fraction(limit) for error in errors)
    elif name == "relative_error":
        assert all(error <= Fraction(limit) * abs(a) for error, (a, _) in zip(errors, pairs, strict=True))
    elif name == "psnr" and errors and any(errors):
        mean = float(sum(error * error for error in errors) / len(errors))
        peak = float(max(a for a, _ in pairs) - min(a for a, _ in pairs))
        assert 20 * log10(peak) - 10 * log10(mean) >= limit - 1e-9
    elif name == "keep_bits" and before.dtype.kind == "f":
        half = Fraction(1, 2 ** (limit + 1))
        tiny = Fraction(float(np.finfo(before.dtype).smallest_normal))
        assert all(error <= half * max(abs(a), tiny) for error, (a, _) in zip(errors, pairs, strict=True))


def raw(x):
    """Return numbers as the bits that they are."""
    return np.ascontiguousarray(x).view(f"u{x.real.dtype.itemsize}")
