"""What tests of functions on arrays share: operands of every kind, and comparing results with NumPy's."""

from __future__ import annotations

import contextlib
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.arrays import results
from coquina.arrays.array import Array
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node
from tests.array_cases import assert_same_array, random_partition

#: Fewer bytes are worked on by NumPy at once: as it is, and never.
EAGER_BYTES = (results.EAGER_BYTES, 0)


def law(examples: int):
    """Check a law, a function of a random generator, for so many seeds, eagerly and lazily."""

    def decorate(function):
        @pytest.mark.parametrize("eager_bytes", EAGER_BYTES)
        def test(eager_bytes):
            @settings(max_examples=examples, deadline=None, database=None)
            @given(seed=st.integers(0, 2**62))
            def check(seed):
                with patch.object(results, "EAGER_BYTES", eager_bytes):
                    function(Random(seed))

            check()

        test.__name__ = function.__name__
        test.__doc__ = function.__doc__
        return test

    return decorate


def operand(rng: Random, items: np.ndarray) -> Any:
    """Return the items as an operand of any kind: NumPy's, compressed, a view, an expression."""
    kind = rng.choice(("numpy", "array", "array", "view", "lazy"))
    if kind == "numpy":
        return items
    if kind == "view":
        # A view that shows a compressed array backwards.
        return cq.asarray(items[::-1] if items.ndim else items).view(np.s_[::-1] if items.ndim else ...)
    array = cq.asarray(items, **random_partition(rng, items.shape))
    return Lazy(array) if kind == "lazy" else array


def Lazy(array: Any) -> Expr:
    """Return an expression that is this array."""
    return Expr(as_node(array))


def check_result(rng: Random, ours: Any, theirs: Any) -> None:
    """Check a compressed or lazy result, whole and in a region, against NumPy's."""
    assert isinstance(ours, (Array, Expr))
    # NumPy's scalars have lost their byte order.
    theirs = np.asarray(theirs, ours.dtype) if isinstance(theirs, np.generic) else np.asarray(theirs)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    assert_same_array(np.asarray(ours[...]), theirs)
    region = []
    for size in theirs.shape:
        start = rng.randint(0, size)
        region.append(slice(start, rng.randint(start, size)))
    assert_same_array(np.asarray(ours[tuple(region)]), np.asarray(theirs[tuple(region)]))


def outcome(call: Any, *args: Any, **options: Any) -> Any:
    """Return what a call returns, or the exception that it raises."""
    with contextlib.suppress(Warning):
        try:
            return call(*args, **options)
        except Warning:
            raise
        except Exception as error:
            return error


def same_refusal(ours: Any, theirs: Any) -> bool:
    """Whether the exception of ours is of a kind by which NumPy's would be caught, or the reverse."""
    return isinstance(ours, type(theirs)) or isinstance(theirs, type(ours))
