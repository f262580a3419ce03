"""Searching, sorting and sets beside the strict implementation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

import coquina as cq

from .cases import (
    DTYPES,
    INTEGERS,
    ORDERED,
    REALS,
    agree,
    arrays,
    assert_same,
    finite,
    items_of,
    law,
    lazily,
    ours_of,
    shapes,
)


@law(20)
def test_where_items_are_not_zero(data):
    agree("nonzero", data.draw(arrays(st.sampled_from(DTYPES), shapes(min_dims=1))))


def test_what_has_no_axes_has_no_places():
    with pytest.raises(ValueError, match="0d arrays"):
        cq.nonzero(cq.asarray(3))


@law(30)
def test_where_items_belong_among_sorted_ones(data):
    dtype = data.draw(st.sampled_from(ORDERED))
    x1 = np.sort(data.draw(arrays(dtype, shapes(min_dims=1, max_dims=1, max_side=9), finite)))
    x2 = data.draw(arrays(dtype, elements=finite))
    side = data.draw(st.sampled_from(["left", "right"]))
    agree("searchsorted", x1, x2, side=side)
    order = np.asarray(data.draw(st.permutations(range(len(x1)))), np.int64)
    agree("searchsorted", x1[np.argsort(order)][np.argsort(np.argsort(order))], x2, side=side)
    shuffled = np.empty_like(x1)
    shuffled[order] = x1
    agree("searchsorted", shuffled, x2, side=side, sorter=order)


@law(30)
def test_taking_items(data):
    x = data.draw(arrays(st.sampled_from(DTYPES), shapes(min_dims=1, min_side=1)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    index = st.integers(0, x.shape[axis] - 1)
    indices = np.asarray(data.draw(st.lists(index, max_size=5)), np.int64)
    agree("take", x, indices, axis=axis)
    if x.ndim == 1:
        agree("take", x, indices)


@law(30)
def test_taking_items_along_an_axis(data):
    x = data.draw(arrays(st.sampled_from(DTYPES), shapes(min_dims=1, min_side=1)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    shape = list(x.shape)
    shape[axis] = data.draw(st.integers(0, 4))
    index = st.integers(0, x.shape[axis] - 1)
    indices = data.draw(arrays("int64", st.just(tuple(shape)), lambda _: index))
    agree("take_along_axis", x, indices, axis=axis)


@law(30)
def test_sorting(data):
    x = data.draw(arrays(st.sampled_from(ORDERED), shapes(min_dims=1)))
    x = x[x == x] if x.ndim == 1 else np.where(x == x, x, x.dtype.type(0))
    kwargs = {
        "axis": data.draw(st.integers(-x.ndim, x.ndim - 1)),
        "descending": data.draw(st.booleans()),
        "stable": data.draw(st.booleans()),
    }
    # Of zeros of both signs the order is that of their places.
    x = x + x.dtype.type(0)
    agree("sort", x, **kwargs)
    agree("argsort", x, **{**kwargs, "stable": True})


def test_nan_is_the_largest():
    x = cq.asarray([np.nan, 1.0, np.inf, -1.0, np.nan])
    assert_same(cq.sort(x), np.asarray([-1.0, 1.0, np.inf, np.nan, np.nan]))
    assert np.isnan(cq.sort(x, descending=True)[:2]).all()


def test_equal_items_keep_their_order():
    x = cq.asarray([1, 0, 1, 0, 1, 0])
    assert_same(cq.argsort(x), np.asarray([1, 3, 5, 0, 2, 4]))
    assert_same(cq.argsort(x, descending=True), np.asarray([0, 2, 4, 1, 3, 5]))


def repeating(dtype):
    return st.sampled_from([0, 1, 2]) if np.dtype(dtype).kind in "iufc" else st.booleans()


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse", "unique_values"])
@law(20)
def test_sets(data, name):
    x = data.draw(arrays(st.sampled_from(DTYPES), elements=repeating))
    agree(name, x)


@pytest.mark.parametrize("dtype", REALS)
def test_every_nan_and_both_zeros_are_items_of_a_set(dtype):
    x = np.asarray([np.nan, 0.0, np.nan, -0.0, 1.0], dtype)
    for is_lazy in (False, True):
        with lazily(is_lazy):
            found = cq.unique_all(ours_of(x))
            assert found.values.dtype == dtype
            values = items_of(found.values)
            assert np.isnan(values).sum() == 2
            assert (values == 0).sum() == 1
            assert items_of(found.counts).tolist() == [2 if value == 0 else 1 for value in values]
            assert_same(np.abs(values)[items_of(found.inverse_indices)], np.abs(x))
            assert_same(np.abs(x)[items_of(found.indices)], np.abs(values))
            assert items_of(cq.unique_values(ours_of(x))).shape == (4,)


@law(20)
def test_membership(data):
    dtype = data.draw(st.sampled_from((*INTEGERS, "bool")))
    x1, x2 = (data.draw(arrays(dtype, elements=repeating)) for _ in range(2))
    invert = data.draw(st.booleans())
    # The strict one passes `invert` on as another option.
    agree("isin", x1, x2, invert=invert, judge=np.isin)
    agree("isin", x1, data.draw(repeating(dtype)), invert=invert, judge=np.isin)
