"""Distinct items against NumPy: in memory, by chunks, and by sorting what does not fit."""

from __future__ import annotations

import tracemalloc
from random import Random
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.arrays import results
from coquina.functions import lines
from tests.test_sorting import (
    EXACT,
    NUMBERS,
    ORDERED,
    Source,
    assert_same,
    random_array,
    random_budget,
    random_shape,
    random_source,
)

seeds = st.integers(0, 2**62)
#: NumPy hashes strings, and does not take the zeros at their ends as it does elsewhere.
COMPARED = tuple(dtype for dtype in ORDERED if dtype.kind != "V")


def assert_equal(ours, theirs, dtype):
    """Check values that are equal, of which NumPy may have chosen another one of equal ones."""
    assert ours.dtype == dtype
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(ours[...], theirs)


@settings(max_examples=120, deadline=None)
@given(seed=seeds)
def test_the_functions_of_the_standard_find_what_numpy_finds(seed):
    rng = Random(seed)
    shape = random_shape(rng)
    items = random_array(rng, shape, rng.choice(COMPARED))
    values, firsts, counts = np.unique(items, True, False, True, equal_nan=False)
    source = random_source(rng, items)
    with mock.patch.object(lines, "WORK_BYTES", random_budget(rng, items)):
        every, counted = cq.unique_all(source), cq.unique_counts(source)
        inverse, alone = cq.unique_inverse(source), cq.unique_values(source)
    for found in (every.values, counted.values, inverse.values, alone):
        assert_equal(found, values, items.dtype)
    assert_same(every.indices, np.asarray(firsts, EXACT))
    for found in (every.counts, counted.counts):
        assert_same(found, np.asarray(counts, EXACT))
    for found in (every.inverse_indices, inverse.inverse_indices):
        assert found.dtype == EXACT
        assert found.shape == shape
        np.testing.assert_array_equal(values[found[...]], items)
        # Each NaN is a value of its own.
        np.testing.assert_array_equal(np.bincount(found[...].ravel(), minlength=len(values)), counts)


@settings(max_examples=80, deadline=None)
@given(seed=seeds, flags=st.tuples(st.booleans(), st.booleans(), st.booleans()))
def test_unique_is_numpys(seed, flags):
    rng = Random(seed)
    items = random_array(rng, random_shape(rng), rng.choice(COMPARED))
    source = random_source(rng, items)
    theirs = np.unique(items, *flags)
    if not any(flags) and items.dtype.kind == "c":
        theirs = np.unique(items, return_counts=True)[0]  # Else NumPy compares the bytes of NaNs.
    with mock.patch.object(lines, "WORK_BYTES", random_budget(rng, items)):
        ours = cq.unique(source, *flags)
    if not any(flags):
        ours, theirs = (ours,), (theirs,)
    assert isinstance(ours, tuple)
    assert_equal(ours[0], theirs[0], items.dtype)
    for own, its in zip(ours[1:], theirs[1:], strict=True):
        assert_same(own, np.asarray(its, EXACT))


def test_unique_along_an_axis_compares_rows():
    items = np.array([[1, 2], [0, 5], [1, 2]])
    assert_same(cq.unique(cq.asarray(items), axis=0), np.unique(items, axis=0))
    for ours, theirs in zip(
        cq.unique(cq.asarray(items), return_counts=True, axis=0),
        np.unique(items, return_counts=True, axis=0),
        strict=True,
    ):
        assert_same(ours, theirs)


def test_many_distinct_items_are_found_in_a_bound():
    items = np.random.default_rng(3).permutation(np.repeat(np.arange(250_000, dtype="i4"), 8))
    source, budget = Source(items), 1 << 18
    gathered = budget // 4
    tracemalloc.start()
    try:
        with (
            mock.patch.object(lines, "WORK_BYTES", budget),
            mock.patch.object(lines, "GATHER_BYTES", gathered),
        ):
            found = cq.unique_counts(source)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert_same(found.values, np.arange(250_000, dtype="i4"))
    assert_same(found.counts, np.full(250_000, 8))
    assert source.largest <= budget
    assert peak < 12 * budget < items.nbytes


@settings(max_examples=80, deadline=None)
@given(seed=seeds)
def test_isin_is_numpys(seed):
    rng = Random(seed)
    dtype = rng.choice(NUMBERS)
    items = random_array(rng, random_shape(rng), dtype)
    among = random_array(rng, random_shape(rng, (0, 1, 2)), dtype)
    invert = rng.random() < 0.3
    with (
        mock.patch.object(lines, "WORK_BYTES", random_budget(rng, items)),
        mock.patch.object(results, "EAGER_BYTES", rng.choice((0, 1 << 16))),
    ):
        ours = cq.isin(random_source(rng, items), random_source(rng, among), invert=invert)
        assert_same(ours, np.isin(items, among, invert=invert))


@pytest.mark.parametrize("value", [3, 2.5, True])
def test_isin_takes_numbers(value):
    items = np.array([[1, 2, 3], [0, 1, 7]])
    assert_same(cq.isin(cq.asarray(items), value), np.isin(items, value))
    assert_same(cq.isin(value, cq.asarray(items)), np.isin(value, items))
