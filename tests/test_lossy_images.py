"""Bounds that are held by the codecs of images: no item is further off, whatever the shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq

pytest.importorskip("coquina_images", reason="the codecs of images are a package of their own")

CODECS = ("j2k", "htj2k")


def image(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Something smooth, with noise."""
    rng = np.random.default_rng(seed)
    top = np.iinfo(dtype).max
    axes = np.meshgrid(*(np.linspace(0, 3, length) for length in shape), indexing="ij")
    x = top * (0.4 + 0.3 * np.sin(sum(axes))) + rng.normal(0, top / 300, shape)
    return x.clip(np.iinfo(dtype).min, top).astype(dtype)


def greatest(x: np.ndarray, y: np.ndarray) -> int:
    return int(np.abs(x.astype("i8") - y.astype("i8")).max(initial=0))


bounds = st.one_of(
    st.fixed_dictionaries({"max_error": st.sampled_from([0.5, 1, 2, 7.5, 30, 1000])}),
    st.fixed_dictionaries({"psnr": st.floats(15, 90)}),
    st.fixed_dictionaries({"ratio": st.floats(1, 40)}),
)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(CODECS),
    st.sampled_from(["u1", "i1", "u2", "i2"]),
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
    bounds,
    st.data(),
)
def test_bounds_hold_whatever_the_image_is(method, dtype, shape, bound, data):
    shape = tuple(shape)
    x = image(shape, dtype, data.draw(st.integers(0, 99)))
    if data.draw(st.booleans()):
        x = np.random.default_rng(1).permutation(x.ravel()).reshape(shape)
    blocks = tuple(data.draw(st.integers(1, length)) for length in shape)
    a = cq.asarray(x, chunks=shape, blocks=blocks, lossy={**bound, "method": method})
    y = a[...]
    if "max_error" in bound:
        assert greatest(x, y) <= bound["max_error"]
    if "psnr" in bound:
        range_ = float(x.max()) - float(x.min())
        mean = np.mean((x.astype(float) - y.astype(float)) ** 2)
        assert mean <= (range_**2) * 10 ** (-bound["psnr"] / 10) * (1 + 1e-9)
    assert a.lossy.max_error == greatest(x, y)
    assert sum(a.lossy.chunks.values()) == 1


@pytest.mark.parametrize("method", CODECS)
def test_images_are_smaller_than_rounded_numbers(method):
    x = image((4, 200, 300), "u2")
    cut = {"chunks": (1, 200, 300), "blocks": (1, 200, 300)}
    coded = cq.asarray(x, **cut, lossy={"psnr": 60, "method": method})
    rounded = cq.asarray(x, **cut, lossy={"psnr": 60})
    assert coded.lossy.chunks["image"] == 4
    assert rounded.lossy.chunks["image"] == 0
    assert coded.cbytes < 0.8 * rounded.cbytes
    sized = cq.asarray(x, **cut, lossy={"ratio": 12, "method": method})
    assert sized.lossy.chunks["image"] == 4
    assert 12 <= sized.nbytes / sized.cbytes <= 12 * 1.1


@pytest.mark.parametrize("method", CODECS)
def test_items_that_are_not_written_stay(tmp_path, method):
    x = image((64, 96), "u2")
    a = cq.asarray(x, chunks=(64, 96), path=tmp_path / "a.b2nd", lossy={"max_error": 40, "method": method})
    before = a[...]
    a.close()
    with cq.open(tmp_path / "a.b2nd", "r+") as b:
        b[10:20, 30:50] = x[10:20, 30:50]
        after = b[...]
        assert greatest(after, x) <= 40
        outside = np.ones(x.shape, bool)
        outside[10:20, 30:50] = False
        assert np.array_equal(after[outside], before[outside])
    assert cq.open(tmp_path / "a.b2nd").lossy.error_bound == cq.Lossy(max_error=40, method=method)


def test_what_is_no_image_is_refused():
    with pytest.raises(ValueError, match="8 and 16 bits"):
        cq.asarray(np.ones((8, 8), "f4"), lossy={"psnr": 50, "method": "j2k"})
    with pytest.raises(ValueError, match="cannot hold keep_bits"):
        cq.asarray(np.ones((8, 8), "u2"), lossy={"keep_bits": 4, "method": "htj2k"})
