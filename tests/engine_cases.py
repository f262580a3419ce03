"""Operands of every kind for the engine, laws for seeds, and how results are held against NumPy's."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina import hdf5
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node
from tests.array_cases import random_partition

#: Types that the engine has kernels for.
KERNEL_DTYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16")
OTHER_ORDER = (">i2", ">u4", ">i8", ">f4", ">f8", ">c16")
#: `make test-long` checks each law for so many times as many seeds.
LONG = 20
_COMPLEX_PRODUCTS = "NumPy multiplies complex numbers with fused steps where the machine has them"
#: Functions of some dtypes whose last bits are not NumPy's, and why.
INEXACT = {
    ("multiply", "c"): _COMPLEX_PRODUCTS,
    ("square", "c"): _COMPLEX_PRODUCTS,
    ("absolute", "c"): "the root of the sum of squares is rounded otherwise: at most 2 units",
    ("sign", "c"): "as that of absolute values: at most 2 units",
    ("fmax", "f"): "either of 0.0 and -0.0",
    ("fmin", "f"): "either of 0.0 and -0.0",
}
_NUMBERS = itertools.count()


def law(examples: int):
    """Check a law, a function of a random generator and a folder, for so many seeds, or many more."""

    def decorate(function):
        counts = [examples, pytest.param(examples * LONG, marks=pytest.mark.long)]

        @pytest.mark.parametrize("examples", counts)
        def test(examples, tmp_path):
            @settings(max_examples=examples, deadline=None, database=None)
            @given(seed=st.integers(0, 2**62))
            def check(seed):
                function(Random(seed), tmp_path)

            check()

        test.__name__ = function.__name__
        test.__doc__ = function.__doc__
        return test

    return decorate


@contextlib.contextmanager
def quietly():
    """NumPy warns of overflows and the like, which is not our subject."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def items_of(rng: Random, shape: tuple[int, ...], dtype: Any, least: int = -9, most: int = 9) -> np.ndarray:
    """Return numbers, a few of them extreme or special."""
    dtype = np.dtype(dtype)
    random = np.random.default_rng(rng.getrandbits(60))
    if dtype.kind == "b":
        return np.asarray(random.integers(0, 2, shape)).astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        items = np.asarray(random.integers(max(least, limits.min), most, shape)).astype(dtype)
        extremes = np.array([limits.min, limits.max, 0, 1, limits.max - 1], dtype)
    elif dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        parts = [items_of(rng, shape, part, least, most) for _ in range(2)]
        items = np.empty(shape, dtype)
        items.real, items.imag = parts
        return items
    else:
        items = np.asarray(random.integers(8 * least, 8 * most, shape) / 8 + random.random(shape), dtype)
        facts = np.finfo(dtype)
        extremes = np.array(
            [np.nan, np.inf, -np.inf, 0.0, -0.0, facts.max, facts.tiny, facts.smallest_subnormal], dtype
        )
    items = np.array(items)
    is_extreme = np.asarray(random.random(shape) < 0.1)
    items[is_extreme] = extremes[random.integers(0, len(extremes), int(is_extreme.sum()))]
    return items


def new_path(folder: Any, suffix: str = ".b2nd") -> Any:
    """Return a path that has not been used."""
    return folder / f"{next(_NUMBERS)}{suffix}"


def stored(rng: Random, items: np.ndarray, folder: Any = None) -> cq.Array:
    """Return the items as an array of any cut, in memory or in a file."""
    path = None if folder is None else new_path(folder)
    codec = rng.choice(("lz4", "zstd"))
    return cq.asarray(items, **random_partition(rng, items.shape), path=path, codec=codec)


def operand(rng: Random, items: np.ndarray, folder: Any) -> Any:
    """Return the items as an operand of any kind."""
    turn = (..., *(slice(None, None, -1),) * items.ndim)
    kinds = ("array", "array", "file", "numpy", "fortran", "strided", "misaligned", "view", "field", "lazy")
    if items.dtype.kind in "biufc" and items.dtype.char not in "gG":
        kinds = (*kinds, "hdf5")
    match rng.choice(kinds):
        case "array":
            return stored(rng, items)
        case "file":
            return stored(rng, items, folder)
        case "numpy":
            return items
        case "fortran":
            return items.copy("F")
        case "strided":
            if items.ndim and rng.random() < 0.5:
                return np.repeat(items, 2, axis=-1)[..., ::2]
            return items[turn].copy("C")[turn]
        case "misaligned":
            memory = np.frombuffer(b"\0" + items.tobytes(), items.dtype, items.size, 1)
            return memory.reshape(items.shape)
        case "view":
            return stored(rng, items[turn]).view(turn)
        case "field":
            records = np.zeros(items.shape, [("a", "u1"), ("x", items.dtype), ("b", "i2")])
            records["x"] = items
            return stored(rng, records).fields["x"]
        case "lazy":
            return Expr(as_node(stored(rng, items)))
        case _:
            return dataset(rng, items, folder)


def dataset(rng: Random, items: np.ndarray, folder: Any) -> Any:
    """Return the items as a dataset of an HDF5 file: contiguous, or chunked and compressed."""
    with hdf5.File(new_path(folder, ".h5"), "w") as file:
        if items.size and items.ndim and rng.random() < 0.6:
            chunks = tuple([rng.randint(1, size) for size in items.shape])
            file.create_dataset("x", data=items, chunks=chunks, filter="gzip")
        else:
            file.h5.create_dataset("x", data=items)
    return hdf5.File(file.path, "r")["x"]


def uniform(rng: Random, shape: tuple[int, ...], dtype: Any) -> tuple[Any, np.ndarray]:
    """Return an array of one value, which has no bytes to decode, and the same in NumPy."""
    value = rng.choice((0, 1, 5, np.nan) if np.dtype(dtype).kind in "fc" else (0, 1))
    items = np.full(shape, value, dtype)
    array = cq.full(shape, value, dtype=dtype, **random_partition(rng, shape))
    return array, items


def has_same_values(found: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether all items are equal: also the signs of zeros, and NaN where NaN is."""
    if wanted.dtype.kind not in "fc":
        return found.tobytes() == np.ascontiguousarray(wanted).tobytes()
    if wanted.dtype.kind == "c":
        return has_same_values(found.real, wanted.real) and has_same_values(found.imag, wanted.imag)
    with quietly():
        same = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
    return bool(np.all(same | (np.isnan(found) & np.isnan(wanted))))


def assert_equal(found: Any, wanted: Any) -> None:
    """Check type, dtype, shape and values of what a key gave."""
    assert isinstance(found, np.ndarray) == isinstance(wanted, np.ndarray), (found, wanted)
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert has_same_values(found, wanted), (found, wanted)


def units_apart(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return how many floats lie between two of each pair; infinite where only one is a number."""
    whole = np.dtype(f"i{found.dtype.itemsize}")
    places = []
    for values in (found, wanted):
        bits = np.ascontiguousarray(values).view(whole)
        places.append(np.where(bits >= 0, bits, np.iinfo(whole).min - bits).astype("i8"))
    with quietly():
        is_same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        is_wrong = ~(np.isfinite(found) & np.isfinite(wanted)) & ~is_same
        distance = np.abs(places[0] - places[1])
        return np.where(is_same, 0, np.where(is_wrong, np.inf, distance))
