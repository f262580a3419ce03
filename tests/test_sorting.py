"""Sorting, searching and taking against NumPy: in memory, and out of core with budgets of a few items."""

from __future__ import annotations

import inspect
import math
import tracemalloc
from random import Random
from unittest import mock

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.arrays import results
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node
from coquina.functions import lines, sorting
from tests.array_cases import DTYPES, random_items, same_items

seeds = st.integers(0, 2**62)
ORDERED = tuple(dtype for dtype in DTYPES if dtype.kind in "biufcmMSU" or dtype.names == ("x", "y"))
NUMBERS = tuple(dtype for dtype in ORDERED if dtype.kind in "biufcmM")
EXACT = np.dtype(np.int64)


class Source:
    """An array that is read in regions only, and says how large the largest was."""

    def __init__(self, items):
        self.items, self.shape, self.dtype = items, items.shape, items.dtype
        self.nbytes, self.largest, self.total = items.nbytes, 0, 0

    def __getitem__(self, region):
        parts = region if isinstance(region, tuple) else (region,)
        assert all(part is ... or (isinstance(part, slice) and part.step is None) for part in parts)
        items = self.items[region]
        self.largest = max(self.largest, items.nbytes)
        self.total += items.nbytes
        return items


def random_shape(rng, axes=(0, 1, 1, 2, 3)):
    ndim = rng.choice(axes)
    return tuple(rng.choice((0, 1, 2, 5, 17, 40)) if ndim < 3 else rng.randint(0, 7) for _ in range(ndim))


def random_array(rng, shape, dtype):
    """Return items of which many are equal."""
    pool = random_items(rng, (rng.choice((1, 3, 50)),), dtype)
    places = np.array([rng.randrange(len(pool)) for _ in range(math.prod(shape))], np.int64)
    return pool[places].reshape(shape)


def random_source(rng, items):
    """Return an operand of any kind with these items."""
    kind = rng.choice(("array", "array", "numpy", "view", "source", "expression"))
    if kind == "numpy":
        return items
    if kind == "source" and items.ndim:
        return Source(items)
    chunks = tuple(rng.randint(1, max(size, 1)) for size in items.shape)
    array = cq.asarray(items, chunks=chunks) if items.ndim else cq.asarray(items)
    if kind == "expression":
        return Expr(as_node(array))
    return array.view(...) if kind == "view" else array


def random_budget(rng, items):
    """Return a budget for nothing but a few items, for some lines, or for all."""
    few = 1 if items.size < 60 else 20
    return rng.choice((max(few * items.itemsize, 1), 7 * few * items.itemsize, 99 * items.itemsize, 1 << 26))


def assert_same(ours, theirs):
    theirs = np.asarray(theirs)
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    assert same_items(np.asarray(ours[...]), theirs), (ours[...], theirs)


def sorted_as_asked(function, items, axis, descending):
    """Return what NumPy's sort or argsort gives; equal items keep their order if the largest come first."""
    items = items.ravel() if axis is None else items
    axis = -1 if axis is None else axis
    if not descending:
        return function(items, axis=axis, kind="stable")
    turned = np.flip(function(np.flip(items, axis), axis=axis, kind="stable"), axis)
    return turned if function is np.sort else items.shape[axis] - 1 - turned


@settings(max_examples=120, deadline=None)
@given(seed=seeds)
def test_sort_and_argsort_are_numpys_stable_ones(seed):
    rng = Random(seed)
    shape = random_shape(rng, (1, 1, 2, 3))
    items = random_array(rng, shape, rng.choice(ORDERED))
    axis = rng.choice((None, *range(-len(shape), len(shape))))
    descending = rng.random() < 0.5
    source, limit = random_source(rng, items), 4 * random_budget(rng, items)
    ours = cq.sort(source, axis=axis, descending=descending, memory_limit=limit)
    assert isinstance(ours, cq.Array)
    assert_same(ours, sorted_as_asked(np.sort, items, axis, descending))
    ours = cq.argsort(source, axis=axis, descending=descending, memory_limit=limit)
    assert_same(ours, sorted_as_asked(np.argsort, items, axis, descending))


def test_a_line_larger_than_memory_is_sorted_in_a_bound():
    items = np.random.default_rng(1).integers(0, 1 << 40, 400_000)
    source, limit = Source(items), 1 << 19
    tracemalloc.start()
    try:
        ours = cq.argsort(source, memory_limit=limit)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert_same(ours, np.argsort(items, kind="stable"))
    assert source.total == items.nbytes  # read once
    assert source.largest <= limit // 4
    assert peak < 3 * limit < items.nbytes


def test_runs_lie_beside_the_file_while_they_are_needed(tmp_path):
    items = np.random.default_rng(2).permutation(5000).astype(">f4")
    path = tmp_path / "sorted.b2nd"
    assert_same(cq.sort(items, path=path, memory_limit=4000), np.sort(items))
    assert_same(cq.open(path), np.sort(items))
    broken = mock.Mock(side_effect=RuntimeError("cut off"))
    with mock.patch("coquina.functions.runs._block", broken), pytest.raises(RuntimeError, match="cut off"):
        cq.sort(items, path=tmp_path / "failed.b2nd", memory_limit=4000)
    assert [entry.name for entry in tmp_path.iterdir()] == ["sorted.b2nd"]


def test_what_cannot_be_sorted_is_refused():
    with pytest.raises(np.exceptions.AxisError):
        cq.sort(cq.asarray([1, 2]), axis=1)
    with pytest.raises(np.exceptions.AxisError):
        cq.argsort(np.zeros((20, 20)), axis=-3, memory_limit=400)
    with pytest.raises(ValueError, match="memory_limit"):
        cq.sort(cq.asarray([1, 2]), memory_limit=0)


@settings(max_examples=100, deadline=None)
@given(seed=seeds)
def test_searchsorted_is_numpys(seed):
    rng = Random(seed)
    dtype = rng.choice(NUMBERS)
    known = np.sort(random_array(rng, (rng.choice((0, 1, 30, 200)),), dtype))
    other = dtype if dtype.kind in "mM" or rng.random() < 0.7 else np.dtype("f8")
    wanted = random_array(rng, random_shape(rng), other)
    side = rng.choice(("left", "right"))
    sorter = None
    if rng.random() < 0.2:
        known = known[::-1].copy()
        sorter = np.argsort(known, kind="stable")
    theirs = np.searchsorted(known, wanted, side, sorter)
    with (
        mock.patch.object(lines, "WORK_BYTES", random_budget(rng, known)),
        mock.patch.object(sorting, "_BISECTED", rng.choice((0, 1000))),
        mock.patch.object(sorting, "_BISECTED_TO", 3),
    ):
        ours = cq.searchsorted(
            random_source(rng, known), random_source(rng, wanted), side=side, sorter=sorter
        )
    assert_same(ours, np.asarray(theirs, EXACT))


def test_few_values_are_searched_for_without_reading_all():
    items = np.arange(1 << 20)
    source = Source(items)
    with mock.patch.object(lines, "WORK_BYTES", 1 << 20):
        assert_same(cq.searchsorted(source, [5, 77_000, 1 << 21]), np.array([5, 77_000, 1 << 20]))
    assert source.total < items.nbytes // 20


@settings(max_examples=80, deadline=None)
@given(seed=seeds)
def test_where_items_are_is_what_numpy_says(seed):
    rng = Random(seed)
    shape = random_shape(rng, (1, 2, 3))
    items = random_array(rng, shape, rng.choice(NUMBERS))
    if items.dtype.kind in "biuf":
        items[np.array([rng.random() < 0.5 for _ in range(items.size)], bool).reshape(shape)] = 0
    source = random_source(rng, items)
    with (
        mock.patch.object(lines, "WORK_BYTES", random_budget(rng, items)),
        mock.patch.object(lines, "GATHER_BYTES", rng.choice((0, 100, 1 << 20))),
    ):
        for ours, theirs in zip(cq.nonzero(source), np.nonzero(items), strict=True):
            assert_same(ours, theirs)
        assert_same(cq.argwhere(source), np.argwhere(items))
        assert_same(cq.flatnonzero(source), np.flatnonzero(items))
        assert_same(cq.extract(source, random_source(rng, items)), np.extract(items, items))


def test_an_array_without_axes_has_no_indices():
    with pytest.raises(ValueError, match="0d"):
        cq.nonzero(cq.asarray(3))


@settings(max_examples=120, deadline=None)
@given(seed=seeds)
def test_items_are_taken_as_numpy_takes_them(seed):
    rng = Random(seed)
    shape = random_shape(rng)
    items = random_array(rng, shape, rng.choice(ORDERED))
    axis = rng.choice((None, *range(-len(shape), len(shape))))
    length = items.size if axis is None else shape[axis]
    mode = rng.choice(("raise", "raise", "wrap", "clip"))
    lowest, highest = (-length, length - 1) if rng.random() < 0.9 and length else (-50, 50)
    count = rng.choice(((), (0,), (1,), (9,), (2, 3)))
    indices = np.array([rng.randint(lowest, highest) for _ in range(math.prod(count))], EXACT).reshape(count)
    source = random_source(rng, items)
    with mock.patch.object(results, "EAGER_BYTES", rng.choice((0, 1 << 16))):
        if not length and indices.size:
            # NumPy may loop without end: see the next test.
            with pytest.raises(IndexError, match="empty axis"):
                cq.take(source, indices, axis=axis, mode=mode)
            return
        try:
            theirs = np.take(items, indices, axis=axis, mode=mode)
        except IndexError:
            with pytest.raises(IndexError):
                cq.take(source, indices, axis=axis, mode=mode)
            return
        # NumPy's strings are as long as they need to be.
        assert_same(cq.take(source, indices, axis=axis, mode=mode), np.asarray(theirs, items.dtype))


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((0, 6, 0), -3), ((0, 6, 0), 2), ((3, 0), 1), ((0,), 0), ((0, 3), None)]
)
def test_take_from_an_empty_axis_is_an_error_in_each_mode(shape, axis, mode):
    # `np.take` of shape (0, 6, 0), axis -3, mode "wrap" never returned, and neither did ours.
    for x in (cq.zeros(shape), np.zeros(shape), cq.zeros(shape).view(...)):
        with pytest.raises(IndexError, match="cannot take from an empty axis"):
            cq.take(x, [3, -1], axis=axis, mode=mode)
        assert cq.take(x, np.empty(0, int), axis=axis, mode=mode).size == 0


@settings(max_examples=100, deadline=None)
@given(seed=seeds)
def test_items_are_taken_along_an_axis_as_numpy_takes_them(seed):
    rng = Random(seed)
    shape = random_shape(rng, (1, 2, 3))
    items = random_array(rng, shape, rng.choice(ORDERED))
    axis = rng.randrange(-len(shape), len(shape))
    its_shape = [1 if rng.random() < 0.2 else size for size in shape]
    its_shape[axis] = rng.choice((0, 1, 6)) if shape[axis] else 0
    draws = [rng.randrange(-shape[axis], shape[axis]) for _ in range(math.prod(its_shape))]
    indices = np.array(draws, EXACT).reshape(its_shape)
    with (
        mock.patch.object(results, "EAGER_BYTES", rng.choice((0, 1 << 16))),
        mock.patch.object(lines, "WORK_BYTES", random_budget(rng, items)),
    ):
        ours = cq.take_along_axis(random_source(rng, items), random_source(rng, indices), axis=axis)
        assert_same(ours, np.take_along_axis(items, indices, axis))


def test_indices_that_are_out_of_bounds_are_refused():
    items = cq.asarray(np.arange(40.0).reshape(8, 5))
    with mock.patch.object(results, "EAGER_BYTES", 0):
        with pytest.raises(IndexError, match="5 is out of bounds for an axis of 5"):
            cq.take(items, [0, 5], axis=1)
        with pytest.raises(TypeError, match="not integers"):
            cq.take(items, [0.5], axis=1)
        with pytest.raises(IndexError):
            cq.take_along_axis(items, np.full((8, 5), 9), axis=1)[...]
        with pytest.raises(ValueError, match="axes"):
            cq.take_along_axis(items, np.zeros(3, int), axis=1)


STANDARD = (
    *("sort", "argsort", "searchsorted", "nonzero", "take", "take_along_axis", "isin"),
    *("unique_all", "unique_counts", "unique_inverse", "unique_values"),
    *("cumulative_sum", "cumulative_prod"),
)


@pytest.mark.parametrize("name", STANDARD)
def test_signatures_are_those_of_the_standard(name):
    theirs = inspect.signature(getattr(array_api_strict, name)).parameters
    ours = inspect.signature(getattr(cq, name)).parameters
    for parameter in theirs.values():
        own = ours[parameter.name]
        assert (own.kind, own.default) == (parameter.kind, parameter.default), parameter
    others = [parameter for parameter in ours.values() if parameter.name not in theirs]
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in others)
