"""Arrays for expressions, and how what is found is held against NumPy's outcome."""

from __future__ import annotations

import warnings
from random import Random

import numpy as np

import coquina as cq
from coquina.expressions.evaluation import evaluate
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS, as_node
from tests.test_indexing_keys import random_key

NUMBERS = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "F", "D", ">i4", ">f8")
SCALARS = (0, 1, 2, 3, -1, 5.5, 0.25, 2j, True, np.float32(1.5), np.int16(7))


def values_of(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Return small numbers, and of floats some that are special."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, shape)
    if np.dtype(dtype).kind in "ifc":
        values = values - 2
    with np.errstate(all="ignore"):
        array = np.asarray(values).astype(dtype)
        if array.dtype.kind in "fc":
            array = np.asarray(array * 0.75, dtype)
            special = rng.random(shape) < 0.15
            array[special] = rng.choice(np.array([np.nan, np.inf, -np.inf, -0.0]), special.sum())
    return array


def is_same(found: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether both have the same dtype, shape and values; floats to some units in the last place."""
    wanted = np.asarray(wanted)
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    if wanted.dtype.kind in "fc":
        eps = np.finfo(wanted.dtype).eps
        return np.allclose(found, wanted, rtol=4 * eps, atol=0, equal_nan=True)
    return bool(np.array_equal(found, wanted, equal_nan=wanted.dtype.kind in "mM"))


def outcome(function, *operands):
    """Return what a function gives, or the kind of error that it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = function(*operands)
            if isinstance(result, Expr):
                result[...]  # Errors that depend on the items are raised here.
            return result
        except (TypeError, ValueError, ArithmeticError) as error:
            return error


def check(found, wanted) -> None:
    """Compare two outcomes."""
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), f"{found!r} where NumPy raises {wanted!r}"
        kinds = (TypeError, ValueError, OverflowError, ZeroDivisionError)
        assert [isinstance(found, k) for k in kinds] == [isinstance(wanted, k) for k in kinds], repr(found)
        return
    if isinstance(found, Exception):
        raise found
    assert found.dtype == np.asarray(wanted).dtype, (found.dtype, np.asarray(wanted).dtype)
    assert is_same(found[...], wanted), (found[...], wanted)


def lazy(x):
    """Return an expression of `x`, however small it is."""
    return Expr(as_node(x))


def evaluated(name, *operands):
    """Return what a function of the table makes of operands, of which arrays become compressed ones."""
    operands = [cq.asarray(x) if isinstance(x, np.ndarray) else x for x in operands]
    return evaluate(FUNCTIONS[name], *operands)


def good_key(seed: int, shape: tuple[int, ...]) -> object:
    """Return a random key that NumPy takes for arrays of this shape."""
    rng = Random(seed)
    while True:
        key = random_key(rng, shape)
        try:
            np.broadcast_to(0, shape)[key]
        except IndexError:
            continue
        return key
