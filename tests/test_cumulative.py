"""Cumulative sums and products against NumPy: bit for bit, however the array is cut."""

from __future__ import annotations

import warnings
from random import Random
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.functions import lines
from tests.array_cases import DTYPES
from tests.test_sorting import Source, assert_same, random_array, random_budget, random_shape, random_source

seeds = st.integers(0, 2**62)
NUMBERS = tuple(dtype for dtype in DTYPES if dtype.kind in "biufcmMS")


def assert_same_outcome(ours, theirs, *, is_product):
    """Check that both return the same, or raise the same kind of error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = theirs()
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error).__mro__[-3]):
                ours()
            return
        found = ours()
    assert isinstance(found, cq.Array)
    if wanted.dtype.kind in "fc":
        # The sign and bits of NaN depend on which operand of an addition comes first.
        found, wanted = np.asarray(found[...]), np.asarray(wanted)
        assert found.dtype == wanted.dtype
        if is_product and wanted.dtype.kind == "c":
            # NumPy rounds these in one way or another, as they lie in memory.
            known = np.isfinite(wanted)
            rtol = 64 * np.finfo(wanted.dtype).eps
            np.testing.assert_allclose(found[known], wanted[known], rtol=rtol)
            return
        np.testing.assert_array_equal(found, wanted)
        found, wanted = np.where(np.isnan(found), 0, found), np.where(np.isnan(wanted), 0, wanted)
    assert_same(found, wanted)


@settings(max_examples=150, deadline=None)
@given(seed=seeds, name=st.sampled_from(("cumsum", "cumprod", "nancumsum", "nancumprod")))
def test_numpys_functions_give_the_same_bits(seed, name):
    rng = Random(seed)
    shape = random_shape(rng, (1, 1, 2, 3))
    items = random_array(rng, shape, rng.choice(NUMBERS))
    axis = rng.choice((None, *range(-len(shape), len(shape))))
    dtype = rng.choice((None, None, "f8", "f4", "i2", "c16", "u8"))
    with mock.patch.object(lines, "WORK_BYTES", random_budget(rng, items)):
        source = random_source(rng, items)
        assert_same_outcome(
            lambda: getattr(cq, name)(source, axis, dtype),
            lambda: getattr(np, name)(items, axis, dtype),
            is_product="prod" in name,
        )


@settings(max_examples=120, deadline=None)
@given(seed=seeds, name=st.sampled_from(("cumulative_sum", "cumulative_prod")))
def test_the_functions_of_the_standard_give_the_same_bits(seed, name):
    rng = Random(seed)
    shape = random_shape(rng, (1, 1, 2, 3))
    items = random_array(rng, shape, rng.choice(NUMBERS))
    options = {
        "axis": rng.choice((None, *range(-len(shape), len(shape)))),
        "dtype": rng.choice((None, None, np.float64, np.int32)),
        "include_initial": rng.random() < 0.5,
    }
    with mock.patch.object(lines, "WORK_BYTES", random_budget(rng, items)):
        source = random_source(rng, items)
        assert_same_outcome(
            lambda: getattr(cq, name)(source, **options),
            lambda: getattr(np, name)(items, **options),
            is_product="prod" in name,
        )


def test_a_long_line_is_gone_through_once_in_boxes(tmp_path):
    items = np.random.default_rng(4).normal(size=(400_000, 3))
    source, budget, path = Source(items), 1 << 20, tmp_path / "sums.b2nd"
    with mock.patch.object(lines, "WORK_BYTES", budget):
        ours = cq.cumulative_sum(source, axis=0, include_initial=True, path=path)
    assert_same(ours, np.cumulative_sum(items, axis=0, include_initial=True))
    assert_same(cq.open(path), ours[...])
    assert source.total == items.nbytes
    assert source.largest <= max(budget, ours.chunks[0] * 24) < items.nbytes / 2


def test_an_axis_has_to_be_named_if_there_are_several():
    with pytest.raises(ValueError, match="axis has to be named"):
        cq.cumulative_sum(cq.asarray(np.ones((2, 3))))
    with pytest.raises(ValueError, match="without axes"):
        cq.cumulative_prod(cq.asarray(1.0))
    with pytest.raises(np.exceptions.AxisError):
        cq.cumsum(cq.asarray([1.0]), axis=1)
