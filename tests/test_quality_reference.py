"""`quality` against formulas written a second time, with NumPy and windows that are really cut out.

Source of the structural similarity: Wang, Bovik, Sheikh, Simoncelli, "Image quality assessment: from error
visibility to structural similarity", 2004, with the windows of 7 by 7 equal weights and the sample covariance
that scikit-image has by default.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq

WINDOW = 7


def similarity(a: np.ndarray, b: np.ndarray, peak: float) -> float:
    """Return the mean similarity of two images: over every window that lies within them."""
    one, two = (0.01 * peak) ** 2, (0.03 * peak) ** 2
    found = []
    for row in range(a.shape[0] - WINDOW + 1):
        for column in range(a.shape[1] - WINDOW + 1):
            box = np.s_[row : row + WINDOW, column : column + WINDOW]
            x, y = a[box].ravel(), b[box].ravel()
            covariance = np.cov(x, y)
            above = (2 * x.mean() * y.mean() + one) * (2 * covariance[0, 1] + two)
            below = (x.mean() ** 2 + y.mean() ** 2 + one) * (covariance[0, 0] + covariance[1, 1] + two)
            found.append(above / below)
    return float(np.mean(found))


def stacked(a: np.ndarray, b: np.ndarray, peak: float) -> float:
    """Return the mean similarity of all images of two stacks."""
    pairs = zip(a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:]), strict=True)
    return float(np.mean([similarity(x.astype(float), y.astype(float), peak) for x, y in pairs]))


def images(seed: int, shape: tuple[int, ...], dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return waves, and the same with noise."""
    random = np.random.default_rng(seed)
    places = np.meshgrid(*(np.arange(length) for length in shape), indexing="ij")
    waves = 1000 + 400 * np.sin(sum(places) / 3) + 100 * np.cos(places[-1] / 2)
    return waves.astype(dtype), (waves + random.normal(0, 30, shape)).astype(dtype)


@pytest.mark.parametrize("dtype", ["u2", "i2", "f4", "f8", ">f4"])
@pytest.mark.parametrize("shape", [(7, 7), (12, 9), (3, 8, 20), (2, 2, 10, 11)])
def test_similarity_is_what_the_windows_give(shape, dtype):
    x, y = images(len(shape), shape, dtype)
    peak = 5000.0
    assert cq.quality(x, y, data_range=peak).ssim == pytest.approx(stacked(x, y, peak), rel=1e-9)


def test_similarity_of_stored_arrays_does_not_depend_on_chunks():
    x, y = images(5, (5, 33, 40), "f4")
    wanted = stacked(x, y, 1000.0)
    for chunks in [(1, 33, 40), (2, 10, 11), (5, 7, 40), (5, 33, 3)]:
        stored = cq.quality(cq.asarray(x, chunks=chunks), cq.asarray(y, chunks=chunks), data_range=1000.0)
        assert stored.ssim == pytest.approx(wanted, rel=1e-9), chunks


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["u1", "i2", "u4", "i8", "f4", "f8"]), st.integers(1, 400))
def test_errors_are_those_of_the_definitions(seed, dtype, length):
    random = np.random.default_rng(seed)
    x = random.integers(0, 100, length).astype(dtype)
    y = (x + random.integers(0, 5, length)).astype(dtype)
    off = [float(b) - float(a) for a, b in zip(x, y, strict=True)]
    found = cq.quality(x, y, data_range=100.0)
    assert found.max_error == max(map(abs, off))
    assert found.mean_error == pytest.approx(math.fsum(map(abs, off)) / length, rel=1e-12)
    rmse = math.sqrt(math.fsum(value * value for value in off) / length)
    assert found.rmse == pytest.approx(rmse, rel=1e-12)
    assert found.psnr == pytest.approx(20 * math.log10(100 / rmse) if rmse else math.inf, rel=1e-12)


def test_equal_images_are_without_error():
    x, _ = images(0, (9, 9), "u2")
    found = cq.quality(x, x)
    assert (found.max_error, found.rmse, found.psnr) == (0, 0, math.inf)
    assert found.ssim == pytest.approx(1, abs=1e-12)
