"""Medians, quantiles, histograms and counts against NumPy: in memory, line by line, and by selection."""

from __future__ import annotations

import tracemalloc
import typing
import warnings
from random import Random
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.arrays import results
from coquina.functions import lines, quantiles, selection
from tests.array_cases import DTYPES
from tests.test_sorting import (
    NUMBERS,
    Source,
    assert_same,
    random_array,
    random_budget,
    random_shape,
    random_source,
)

seeds = st.integers(0, 2**62)
METHODS = typing.get_args(quantiles.Method)
REAL = tuple(dtype for dtype in DTYPES if dtype.kind in "biufmM")
ERRORS = (TypeError, ValueError, IndexError)


def assert_same_outcome(ours, theirs, rtol=0.0):
    """Check that both return the same, of the same type, or raise the same kind of error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted = theirs()
        except ERRORS as error:
            kind = next(kind for kind in ERRORS if isinstance(error, kind))
            with pytest.raises(kind):
                ours()
            return
        found = ours()
    for own, its in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, wanted)), strict=True):
        assert type(own) is type(its)
        # NumPy's empty results, and those without a time, are in this machine's byte order, or not.
        is_nothing = not own.size or (own.dtype.kind in "mM" and np.isnat(own).all())
        assert own.dtype == its.dtype or (is_nothing and own.dtype.newbyteorder() == its.dtype)
        assert own.shape == its.shape
        if own.dtype.kind == "m":
            # NumPy halves spans in float64, which has 53 bits of theirs.
            assert np.array_equal(np.isnat(own), np.isnat(its))
            np.testing.assert_allclose(own.astype("i8"), its.astype("i8"), rtol=max(rtol, 1e-15))
        elif rtol:
            np.testing.assert_allclose(own, its, rtol=rtol)
        else:
            np.testing.assert_array_equal(own, its)


def random_axis(rng, ndim):
    return rng.choice(
        (None, None, *range(-ndim, ndim), tuple(range(ndim)), tuple(rng.sample(range(ndim), 1)))
    )


def out_of_core(rng, items):
    """Return a context in which few items fit, and passes look at few bits."""
    stack = mock.patch.multiple(lines, WORK_BYTES=random_budget(rng, items))
    return stack, mock.patch.object(selection, "PASS_BITS", rng.choice((1, 3, 8, 16)))


@settings(max_examples=100, deadline=None)
@given(seed=seeds, name=st.sampled_from(("median", "nanmedian")))
def test_medians_are_numpys(seed, name):
    rng = Random(seed)
    shape = random_shape(rng, (1, 1, 2, 3))
    items = random_array(rng, shape, rng.choice(NUMBERS))
    axis, keepdims = random_axis(rng, len(shape)), rng.random() < 0.3
    if 0 in shape and name == "nanmedian":
        return
    if items.dtype.kind == "M" and name == "nanmedian":
        return  # NumPy adds two times here and there, which it refuses itself
    budget, bits = out_of_core(rng, items)
    with budget, bits:
        source = random_source(rng, items)
        assert_same_outcome(
            lambda: getattr(cq, name)(source, axis, keepdims=keepdims),
            lambda: getattr(np, name)(items, axis, keepdims=keepdims),
        )


@settings(max_examples=250, deadline=None)
@given(
    seed=seeds,
    name=st.sampled_from(("quantile", "nanquantile", "percentile", "nanpercentile")),
    method=st.sampled_from(METHODS),
)
def test_quantiles_by_all_methods_are_numpys(seed, name, method):
    rng = Random(seed)
    shape = random_shape(rng, (1, 1, 1, 2, 3))
    items = random_array(rng, shape, rng.choice(REAL))
    axis, keepdims = random_axis(rng, len(shape)), rng.random() < 0.3
    scale = 100 if "percent" in name else 1
    q = rng.choice((0, 1, 0.5, 0.3, [0.1, 0.999, 0.5], [0, 1], np.float32(0.77), np.linspace(0, 1, 7), []))
    q = [part * scale for part in q] if isinstance(q, list) else q * scale
    if 0 in shape:
        return
    budget, bits = out_of_core(rng, items)
    with budget, bits:
        source = random_source(rng, items)
        if items.dtype.kind == "f" and type(q) is np.float32 and np.isnan(items).any():
            q = float(q)  # NumPy gives NaN another dtype then.
        assert_same_outcome(
            lambda: getattr(cq, name)(source, q, axis, method=method, keepdims=keepdims),
            lambda: getattr(np, name)(items, q, axis, method=method, keepdims=keepdims),
        )


def test_quantiles_of_several_axes_stand_before_those_of_the_array():
    items = np.random.default_rng(5).normal(size=(30, 4))
    q = np.array([[0.1, 0.2], [0.7, 1.0]])
    for budget in (100, 300, 1 << 20):
        with mock.patch.object(lines, "WORK_BYTES", budget):
            found = cq.quantile(cq.asarray(items), q, axis=0)
        np.testing.assert_array_equal(found, np.quantile(items, q.ravel(), axis=0).reshape(2, 2, 4))


@pytest.mark.parametrize("budget", [100, 300, 1 << 20])
def test_weights_are_those_of_numpy(budget):
    rng = np.random.default_rng(6)
    items, weights, alike = rng.normal(size=(30, 4)), rng.random(30), rng.random((30, 4))
    options = {"axis": 0, "method": "inverted_cdf"}
    with mock.patch.object(lines, "WORK_BYTES", budget):
        for given_weights in (weights, alike):
            found = cq.quantile(cq.asarray(items), [0.2, 0.9], weights=given_weights, **options)
            theirs = np.quantile(items, [0.2, 0.9], weights=given_weights, **options)
            np.testing.assert_array_equal(found, theirs)


def test_the_median_of_what_does_not_fit_takes_few_passes_in_a_bound():
    items = np.random.default_rng(7).normal(size=1 << 19)
    source, budget = Source(items), 1 << 18
    tracemalloc.start()
    try:
        with mock.patch.object(lines, "WORK_BYTES", budget), mock.patch.object(selection, "PASS_BITS", 12):
            found = cq.median(source)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == np.median(items)
    assert source.total <= 3 * items.nbytes
    assert peak < 4 * budget < items.nbytes


def test_what_has_no_quantiles_is_refused_before_it_is_read():
    source = Source(np.ones(500, "c8"))
    with mock.patch.object(lines, "WORK_BYTES", 100):
        with pytest.raises(TypeError, match="real"):
            cq.quantile(source, 0.5)
        source = Source(np.ones(500))
        with pytest.raises(ValueError, match="range"):
            cq.quantile(source, 1.5)
        with pytest.raises(ValueError, match="range"):
            cq.percentile(source, [-1])
        with pytest.raises(ValueError, match="method"):
            cq.nanquantile(source, 0.5, method="none")
        with pytest.raises(np.exceptions.AxisError):
            cq.median(source, 1)
    assert not source.total


@settings(max_examples=200, deadline=None)
@given(seed=seeds)
def test_histograms_are_numpys(seed):
    rng = Random(seed)
    items = random_array(rng, random_shape(rng, (1, 2)), rng.choice(NUMBERS))
    if items.dtype.kind in "mMciu":
        # Bins are not to be as many as there are integers.
        numbers = np.array([rng.randint(0, 1000) for _ in range(items.size)], "i8").reshape(items.shape)
        items = (numbers - 300).astype(rng.choice(("i2", "i4", "i8", "u2")))
    if items.dtype.kind == "f" and rng.random() < 0.8:
        items = np.where(np.isfinite(items), items, 1).astype(items.dtype)
    bins = rng.choice((10, 1, 33, "auto", "fd", "sturges", "rice", "none", [0, 1, 5, 9.5], [3, 2], 0, 1.5))
    span = rng.choice((None, None, (0, 10), (-3.5, 200), (5, 5), (3, 2), (0, np.nan)))
    weights = None if rng.random() < 0.6 else np.random.default_rng(seed % 1000).random(items.shape)
    density = rng.choice((None, True))
    with mock.patch.object(lines, "WORK_BYTES", random_budget(rng, items)):
        source, heavy = random_source(rng, items), None if weights is None else cq.asarray(weights)
        assert_same_outcome(
            lambda: cq.histogram(source, bins, span, density, heavy),
            lambda: np.histogram(items, bins, span, density, weights),
            rtol=1e-12,
        )
        assert_same_outcome(
            lambda: cq.histogram_bin_edges(source, bins, span),
            lambda: np.histogram_bin_edges(items, bins, span),
            rtol=1e-12,
        )


@pytest.mark.parametrize("bins", ["auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges"])
def test_estimators_choose_as_many_bins_as_numpys(bins):
    items = np.random.default_rng(8).gamma(2, size=(40, 30))
    with mock.patch.object(lines, "WORK_BYTES", 1000):
        for span in (None, (0.5, 3)):
            ours = cq.histogram_bin_edges(cq.asarray(items), bins, span)
            np.testing.assert_array_equal(ours, np.histogram_bin_edges(items, bins, span))


@settings(max_examples=100, deadline=None)
@given(seed=seeds)
def test_counts_and_bins_of_items_are_numpys(seed):
    rng = Random(seed)
    items = np.array(
        [rng.randint(0, 30) for _ in range(rng.choice((0, 1, 90)))], rng.choice(("i1", "u2", "i8"))
    )
    if rng.random() < 0.1:
        items = items - 5 if items.dtype.kind == "i" else items.astype(float)
    weights = rng.choice((None, np.arange(len(items)) / 3))
    minlength = rng.choice((0, 5, 60))
    edges = rng.choice(([0, 3, 9], [7.5, 2.5], [3, 1, 2], []))
    right = rng.random() < 0.5
    with (
        mock.patch.object(lines, "WORK_BYTES", random_budget(rng, items)),
        mock.patch.object(results, "EAGER_BYTES", rng.choice((0, 1 << 16))),
    ):
        source = random_source(rng, items)
        assert_same_outcome(
            lambda: cq.bincount(source, weights, minlength),
            lambda: np.bincount(items, weights, minlength),
            rtol=1e-13,
        )
        if edges == [3, 1, 2]:
            with pytest.raises(ValueError, match="monoton"):
                cq.digitize(source, edges, right)
        else:
            assert_same(cq.digitize(source, edges, right), np.digitize(items, edges, right))
