"""Random operands of the Array API standard's dtypes, and its strict implementation as the judge.

A law is a function of hypothesis's `data`; it is checked a few times, and in the long tests many times.
`agree` calls a function of both namespaces with the same operands: of ours as it comes, and with small
operands taken for large ones, so that what is lazy is tested too.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import warnings
from unittest import mock

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import coquina as cq
from coquina.arrays import results
from coquina.expressions import assignment
from coquina.functions import reducing

#: `make test-long` checks each law so many times as often.
LONG = 40

BOOLS = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
REALS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
FLOATS = REALS + COMPLEX
NUMBERS = INTEGERS + FLOATS
DTYPES = BOOLS + NUMBERS
ORDERED = INTEGERS + REALS

STRICT_ARRAY = type(strict.asarray(0))
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, math.inf, -math.inf, math.nan)


def law(examples=5):
    """Check a law for so many examples; as a long test for many more."""

    def decorate(function):
        counts = [examples, pytest.param(examples * LONG, marks=pytest.mark.long)]

        def test(examples, **fixed):
            @settings(
                max_examples=examples,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(st.data())
            def check(data):
                with quietly():
                    function(data, **fixed)

            check()

        # What pytest parametrizes must be in the signature.
        fixed = list(inspect.signature(function).parameters.values())[1:]
        examples_parameter = inspect.Parameter("examples", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        test.__signature__ = inspect.Signature([examples_parameter, *fixed])
        test.__name__, test.__module__ = function.__name__, function.__module__
        return pytest.mark.parametrize("examples", counts)(test)

    return decorate


@contextlib.contextmanager
def quietly():
    """NumPy warns of what is not our subject."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def lazily(is_lazy=True):
    """Take all operands for large ones."""
    with contextlib.ExitStack() as stack:
        for module in (results, reducing, assignment) if is_lazy else ():
            stack.enter_context(mock.patch.object(module, "EAGER_BYTES", -1))
        yield


# Operands.


def scalars(dtype):
    """Python scalars that fit a dtype; special ones often."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return st.booleans()
    if kind in "iu":
        limits = np.iinfo(dtype)
        small = st.integers(max(int(limits.min), -9), 9)
        return small | st.sampled_from([0, 1, int(limits.max), int(limits.min)])
    width = 32 if dtype in ("float32", "complex64") else 64
    near = st.floats(-100, 100, width=width)
    floats = st.sampled_from(SPECIAL) | near | st.floats(width=width)
    return floats if kind == "f" else st.builds(complex, floats, floats)


def finite(dtype, most=20):
    """Small numbers, whose sums and products are exact enough to compare."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return st.booleans()
    whole = st.integers(0 if kind == "u" else -most, most)
    if kind in "iu":
        return whole
    halves = whole.map(lambda n: n / 2)
    return halves if kind == "f" else st.builds(complex, halves, halves)


def shapes(min_dims=0, max_dims=3, min_side=0, max_side=4):
    return hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=max_side)


def arrays(dtype, shape=None, elements=None):
    """NumPy arrays of a dtype (or of a strategy of them)."""
    made = dtype if isinstance(dtype, st.SearchStrategy) else st.just(dtype)
    shape = shapes() if shape is None else shape

    def of(one):
        items = scalars(one) if elements is None else elements(one)
        return hnp.arrays(np.dtype(one), shape, elements=items, fill=st.nothing())

    return made.flatmap(of)


@st.composite
def broadcastable(draw, dtypes, elements=None):
    """Arrays of these dtypes, of shapes that broadcast to one."""
    found = draw(
        hnp.mutually_broadcastable_shapes(num_shapes=len(dtypes), max_dims=3, max_side=4, min_side=0)
    )
    return [
        draw(arrays(dtype, st.just(shape), elements))
        for dtype, shape in zip(dtypes, found.input_shapes, strict=True)
    ]


def axes_of(ndim):
    """None, an axis, or several different ones, counted from either end."""
    if not ndim:
        return st.none()
    one = st.integers(-ndim, ndim - 1)
    several = st.lists(one, unique_by=lambda axis: axis % ndim, max_size=ndim).map(tuple)
    return st.none() | one | several


# Ours and theirs.


def ours_of(x):
    """Return arrays as ours: while all operands are taken for large ones, cut into several small chunks."""
    if not isinstance(x, np.ndarray):
        return mapped(ours_of, x)
    is_cut = results.EAGER_BYTES < 0 and x.ndim
    return cq.asarray(x, chunks=(2,) * x.ndim if is_cut else None)


def strict_of(x):
    if isinstance(x, np.dtype):
        return getattr(strict, x.name)
    return strict.asarray(x) if isinstance(x, np.ndarray) else mapped(strict_of, x)


def mapped(change, x):
    if isinstance(x, (list, tuple)):
        return type(x)(change(one) for one in x)
    return x


def items_of(x):
    """Return the items as NumPy has them."""
    return x._array if isinstance(x, STRICT_ARRAY) else np.asarray(x)


def assert_same(ours, theirs, ulps=0, scale=None):
    """Check dtype, shape and items; floats may differ by so many units in the last place of `scale`, or of
    the item. The sign of NaN does not matter; that of zeros does, where items must be equal.
    """
    if isinstance(theirs, (tuple, list)):
        assert isinstance(ours, (tuple, list))
        assert len(ours) == len(theirs)
        assert getattr(type(ours), "_fields", None) == getattr(type(theirs), "_fields", None)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other, ulps, scale)
        return
    expected = items_of(theirs)
    assert ours.dtype == expected.dtype, (ours.dtype, expected.dtype)
    assert tuple(ours.shape) == expected.shape, (ours.shape, expected.shape)
    found = items_of(ours)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if expected.dtype.kind not in "fc":
        assert np.array_equal(found, expected), (found, expected)
        return
    if expected.dtype.kind == "c":
        ulps = max(ulps, 4)  # NumPy multiplies complex numbers in several ways, and takes one by the layout.
    for part in (np.real, np.imag) if expected.dtype.kind == "c" else (np.asarray,):
        assert_close(part(found), part(expected), ulps, np.abs(expected) if scale is None else scale)


def assert_close(found, expected, ulps, scale):
    if not ulps:
        same = (found == expected) & (np.signbit(found) == np.signbit(expected))
    else:
        room = ulps * np.spacing(
            np.maximum(np.abs(scale), np.finfo(expected.dtype).tiny).astype(expected.dtype)
        )
        same = (found == expected) | (np.abs(found - expected) <= room)
    same |= np.isnan(found) & np.isnan(expected)
    assert np.all(same), (found, expected)


def function_of(namespace, name):
    for part in name.split("."):
        namespace = getattr(namespace, part)
    return namespace


def agree(name, *args, ulps=0, scale=None, judge=None, **kwargs):
    """Check that ours returns what the strict one returns, or `judge` of NumPy arrays; return that."""
    if judge is None:
        given = {key: strict_of(value) for key, value in kwargs.items()}
        theirs = function_of(strict, name)(*map(strict_of, args), **given)
    else:
        theirs = judge(*args, **kwargs)
    for is_lazy in (False, True):
        with lazily(is_lazy):
            given = {key: ours_of(value) for key, value in kwargs.items()}
            ours = function_of(cq, name)(*map(ours_of, args), **given)
            assert_same(ours, theirs, ulps, scale)
    return theirs
