"""Statistics, cumulative functions, and the truth of arrays, beside the strict implementation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

import coquina as cq

from .cases import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    ORDERED,
    REALS,
    agree,
    arrays,
    assert_same,
    axes_of,
    finite,
    law,
    lazily,
    ours_of,
    quietly,
    shapes,
)

#: Sums of floats may be made in another order.
ULPS = 32


def scale_of(x):
    """Return what errors of sums are measured by."""
    return float(np.sum(np.abs(x.astype(complex)))) + 1


def reduced(data, dtypes, elements=None, **sides):
    x = data.draw(arrays(st.sampled_from(dtypes), shapes(**sides), elements))
    return x, {"axis": data.draw(axes_of(x.ndim)), "keepdims": data.draw(st.booleans())}


@pytest.mark.parametrize("name", ["sum", "prod"])
@law(20)
def test_sums_and_products(data, name):
    small = (lambda dtype: finite(dtype, 2)) if name == "prod" else finite
    x, kwargs = reduced(data, NUMBERS, small, max_side=3)
    agree(name, x, ulps=ULPS, scale=scale_of(x) if name == "sum" else None, **kwargs)


@pytest.mark.parametrize("name", ["sum", "prod"])
@law(20)
def test_sums_and_products_as_another_dtype(data, name):
    x, kwargs = reduced(data, INTEGERS + REALS, lambda dtype: finite(dtype, 2), max_side=3)
    wanted = REALS + COMPLEX if x.dtype.kind == "f" else ("int64", "uint64", "float64", "complex128")
    wanted = [name for name in wanted if np.can_cast(x.dtype, name)]
    agree(name, x, ulps=ULPS, dtype=np.dtype(data.draw(st.sampled_from(wanted or ["int64"]))), **kwargs)


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_sums_of_small_integers_are_of_the_default_dtype(name):
    for dtype in INTEGERS:
        agree(name, np.ones((2, 3), dtype))
        agree(name, np.ones(0, dtype))
        agree(name, np.full(3, np.iinfo(dtype).max, dtype))


@pytest.mark.parametrize("name", ["max", "min"])
@law(20)
def test_the_largest_and_the_smallest_item(data, name):
    x, kwargs = reduced(data, ORDERED, min_side=1)
    # Of zeros of both signs either is right.
    agree(name, np.asarray(x + x.dtype.type(0)), **kwargs)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_nothing_has_no_largest_item(name):
    for x in (np.ones(0), np.ones((0, 3))):
        with pytest.raises(ValueError, match=r"empty|zero-size"):
            getattr(cq, name)(cq.asarray(x))
        if x.ndim == 2:
            assert np.asarray(getattr(cq, name)(cq.asarray(x), axis=1)).shape == (0,)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@law(20)
def test_where_the_largest_and_the_smallest_item_are(data, name):
    x = data.draw(arrays(st.sampled_from(ORDERED), shapes(min_side=1)))
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1)) if x.ndim else None
    agree(name, x, axis=axis, keepdims=data.draw(st.booleans()))


@law(20)
def test_means(data):
    x, kwargs = reduced(data, FLOATS, finite, min_side=1)
    agree("mean", x, ulps=ULPS, scale=scale_of(x), **kwargs)


@pytest.mark.parametrize("name", ["var", "std"])
@law(20)
def test_variances(data, name):
    x, kwargs = reduced(data, REALS, finite, min_side=2)
    correction = data.draw(st.sampled_from([0, 0.0, 1, 0.5]))
    if x.ndim == 0 or kwargs["axis"] == ():
        correction = 0  # Of one item there is no more than that.
    agree(name, x, ulps=ULPS, scale=scale_of(x) ** 2, correction=correction, **kwargs)


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_statistics_of_nothing_are_nan(name):
    for dtype in REALS:
        with quietly():
            found = getattr(cq, name)(cq.zeros((0, 2), dtype=dtype), axis=0)
        assert_same(found, np.full(2, np.nan, dtype))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std"])
def test_nan_is_passed_on(name):
    for dtype in REALS:
        x = np.asarray([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]], dtype)
        for is_lazy in (False, True):
            with lazily(is_lazy):
                assert np.isnan(np.asarray(getattr(cq, name)(ours_of(x), axis=1))).tolist() == [True, False]
                assert np.isnan(np.asarray(getattr(cq, name)(ours_of(x))))


@pytest.mark.parametrize("name", ["all", "any"])
@law(20)
def test_the_truth_of_all_or_any_items(data, name):
    x, kwargs = reduced(data, DTYPES)
    agree(name, x, **kwargs)


@law(20)
def test_how_many_items_are_not_zero(data):
    x, kwargs = reduced(data, DTYPES)
    agree("count_nonzero", x, **kwargs)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@law(20)
def test_cumulative_functions(data, name):
    x = data.draw(arrays(st.sampled_from(NUMBERS), shapes(min_dims=1), lambda dtype: finite(dtype, 2)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    if x.ndim == 1:
        axis = data.draw(st.sampled_from([None, axis]))
    kwargs = {"axis": axis, "include_initial": data.draw(st.booleans())}
    agree(name, x, ulps=ULPS, scale=scale_of(x) if name == "cumulative_sum" else None, **kwargs)
    if x.dtype.kind in "iu":
        agree(name, x, dtype=np.dtype("int64" if x.dtype.kind == "i" else "uint64"), **kwargs)


def test_cumulative_functions_of_several_axes_need_one():
    for name in ("cumulative_sum", "cumulative_prod"):
        with pytest.raises(ValueError, match="axis"):
            getattr(cq, name)(cq.ones((2, 3)))


@law(20)
def test_differences(data):
    x = data.draw(arrays(st.sampled_from(NUMBERS), shapes(min_dims=1, min_side=1), finite))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    kwargs = {"axis": axis, "n": data.draw(st.integers(0, 3))}
    for side in ("prepend", "append"):
        if data.draw(st.booleans()):
            shape = list(x.shape)
            shape[axis] = data.draw(st.integers(0, 2))
            kwargs[side] = data.draw(arrays(x.dtype.name, st.just(tuple(shape)), finite))
    expected = np.diff(x, **kwargs)
    for is_lazy in (False, True):
        with lazily(is_lazy):
            given = {key: ours_of(value) for key, value in kwargs.items()}
            assert_same(cq.diff(ours_of(x), **given), expected)


@pytest.mark.parametrize("name", ["sum", "max", "mean", "std", "all", "argmax", "count_nonzero"])
def test_an_axis_that_is_not_there_is_an_error(name):
    for axis in (2, -3):
        with pytest.raises((ValueError, IndexError), match="axis"):
            getattr(cq, name)(cq.ones((2, 3)), axis=axis)
