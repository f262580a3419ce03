"""`array-api-compat` and `array-api-extra`, which libraries use on arrays of any kind, on arrays of ours."""

from __future__ import annotations

import array_api_compat as compat
import array_api_extra as xpx
import numpy as np
import pytest

import coquina as cq

from .cases import assert_same, items_of, lazily

GRID = np.arange(12.0).reshape(3, 4)


@pytest.fixture
def x():
    return cq.asarray(GRID)


@pytest.fixture(params=["array", "expression"])
def either(request, x):
    """An array, or a lazy expression of the same items."""
    if request.param == "array":
        return x
    with lazily():
        return cq.positive(x)


def test_the_namespace_of_arrays_is_ours(either, x):
    assert compat.array_namespace(either) is cq
    assert compat.array_namespace(either, x, 1, None) is cq
    assert compat.array_namespace(either, api_version="2023.12") is cq
    assert compat.is_array_api_obj(either)
    assert not compat.is_numpy_array(either)


def test_devices_and_sizes(either):
    assert compat.device(either) == "cpu"
    assert compat.size(either) == 12
    assert compat.to_device(either, "cpu") is either
    assert compat.is_writeable_array(either) in (True, False)
    assert not compat.is_lazy_array(cq.ones(3))


def test_arrays_of_numpy_meet_arrays_of_ours(either):
    for found in (either + GRID, GRID + either, np.add(GRID, either), cq.add(GRID, either)):
        assert not isinstance(found, np.ndarray)
        assert_same(found, GRID + GRID)
    assert_same(either * np.float64(2), GRID * 2)
    assert_same(np.float64(2) * either, GRID * 2)


def test_axes(either):
    assert_same(xpx.atleast_nd(either, ndim=4, xp=cq), GRID[None, None])
    assert_same(cq.expand_dims(either, axis=(0, 2)), np.expand_dims(GRID, (0, 2)))


def test_pad_and_kron(either, x):
    widths = ((1, 0), (2, 3))
    assert_same(xpx.pad(x, widths, constant_values=7.0, xp=cq), np.pad(GRID, widths, constant_values=7))
    assert_same(xpx.kron(either, cq.asarray([1.0, 2.0]), xp=cq), np.kron(GRID, [1.0, 2.0]))


def test_parts_and_numbers(either):
    assert np.sort(items_of(xpx.partition(cq.asarray([3.0, 1.0, 2.0]), 1, xp=cq)))[0] == 1
    holes = cq.where(either > 5, cq.asarray(np.nan), either)
    assert_same(xpx.nan_to_num(holes, fill_value=-1.0, xp=cq), np.where(GRID > 5, -1.0, GRID))
    assert_same(xpx.angle(cq.asarray([1j, 1]), xp=cq), np.angle([1j, 1]))


def test_statistics(either):
    assert np.allclose(items_of(xpx.cov(either, xp=cq)), np.cov(GRID))
    assert_same(xpx.nunique(cq.asarray([1, 2, 2, 5]), xp=cq), np.asarray(3))
    assert np.allclose(items_of(xpx.sinc(either, xp=cq)), np.sinc(GRID))


def test_closeness(either):
    found = xpx.isclose(either, either + 1e-12, xp=cq)
    assert items_of(found).all()
    assert not items_of(xpx.isclose(either, either + 1.0, xp=cq)).any()


def test_sets():
    found = xpx.setdiff1d(cq.asarray([1, 2, 3, 2]), cq.asarray([2]), xp=cq)
    assert_same(found, np.asarray([1, 3]))
    if hasattr(xpx, "isin"):
        assert_same(xpx.isin(cq.asarray([1, 2]), cq.asarray([2]), xp=cq), np.asarray([False, True]))
    if hasattr(xpx, "union1d"):
        assert_same(xpx.union1d(cq.asarray([1, 2]), cq.asarray([2, 5]), xp=cq), np.asarray([1, 2, 5]))


def test_one_hot():
    found = xpx.one_hot(cq.asarray([0, 2, 1]), 3, xp=cq)
    assert np.array_equal(items_of(found), np.eye(3)[[0, 2, 1]])


def test_at_writes_into_arrays(x):
    changed = xpx.at(x, (slice(None), 1)).set(5.0, copy=True, xp=cq)
    expected = GRID.copy()
    expected[:, 1] = 5
    assert_same(changed, expected)
    assert_same(x, GRID)
    xpx.at(x)[0, :].add(1.0, copy=False, xp=cq)
    expected = GRID.copy()
    expected[0] += 1
    assert_same(x, expected)


def test_what_mixes_items_of_keys_with_arrays_is_refused_by_array_api_compat(x):
    """Keys give NumPy arrays, which have another namespace; our functions and operators take both."""
    with pytest.raises(TypeError, match="Multiple namespaces"):
        xpx.apply_where(x > 5, x, lambda x: x * 2, fill_value=0.0, xp=cq)
    assert_same(cq.where(x > 5, x * 2, 0.0), np.where(GRID > 5, GRID * 2, 0.0))


def test_default_dtype():
    assert xpx.default_dtype(cq) == cq.float64
    assert xpx.default_dtype(cq, kind="integral") == cq.int64
