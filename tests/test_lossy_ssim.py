"""`lossy={"ssim": ...}`: each image of what is written is as similar to the original as was asked for."""

import os

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main


def stack(dtype="f4"):
    """Images of unequal ranges, some with noise."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0:90, 0:120]
    smooth = np.sin(x / 9) + np.cos(y / 13) * np.exp(-((x - 50) ** 2 + (y - 40) ** 2) / 2000)
    images = np.stack([smooth * (k + 1) + rng.normal(size=smooth.shape) * 0.1 * k for k in range(4)])
    return (images * 1000).astype(dtype) if np.dtype(dtype).kind in "iu" else images.astype(dtype)


@pytest.mark.parametrize("wanted", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("chunks", [(1, 90, 120), (4, 90, 120), (2, 32, 50)])
def test_each_image_reaches_the_similarity_and_one_step_less_does_not(tmp_path, wanted, chunks):
    x = stack()
    a = cq.asarray(x, chunks=chunks, path=tmp_path / "a.b2nd", lossy={"ssim": wanted})
    found = [cq.quality(one, other).ssim for one, other in zip(x, a[...], strict=True)]
    assert min(found) >= wanted
    assert a.lossy.error_bound.bound == "psnr"
    assert a.lossy.psnr >= a.lossy.error_bound.psnr
    assert a.cbytes < x.nbytes / 2
    assert os.listdir(tmp_path) == ["a.b2nd"]
    assert np.array_equal(cq.open(tmp_path / "a.b2nd")[...], a[...])
    # Of chunks that are images, it is the least bound: a little lower, and an image falls below.
    if chunks == (1, 90, 120):
        lower = cq.asarray(x, chunks=chunks, lossy={"psnr": a.lossy.error_bound.psnr - 6.1})
        assert min(cq.quality(one, other).ssim for one, other in zip(x, lower[...], strict=True)) < wanted


def test_a_higher_similarity_takes_more_bytes_and_options_go_along():
    x = stack()
    sizes = [cq.asarray(x, lossy={"ssim": wanted}, codec="zstd", level=3).cbytes for wanted in (0.8, 0.98)]
    assert sizes == sorted(sizes)
    a = cq.asarray(x, lossy=cq.Lossy(ssim=0.95, method="zfp"), chunks=(1, 90, 120))
    assert a.lossy.error_bound.method == "zfp"
    assert min(cq.quality(one, other).ssim for one, other in zip(x, a[...], strict=True)) >= 0.95


def test_images_of_integers_and_lazy_ones():
    x = stack("u2")
    a = cq.asarray(cq.asarray(x) + 0, lossy={"ssim": 0.97})
    assert a.dtype == "u2"
    assert min(cq.quality(one, other).ssim for one, other in zip(x, a[...], strict=True)) >= 0.97
    flat = cq.asarray(np.full((8, 9), 7.5), lossy={"ssim": 0.99})
    assert np.array_equal(flat[...], np.full((8, 9), 7.5))


@pytest.mark.parametrize(
    ("x", "error"),
    [
        (np.ones((6, 90)), "7 by 7"),
        (np.ones(100), "7 by 7"),
        (np.ones((9, 9), "c8"), "complex64"),
        (np.full((9, 9), np.nan), "not finite"),
    ],
)
def test_what_has_no_similarity_is_refused(x, error):
    with pytest.raises(ValueError, match=error):
        cq.asarray(x, lossy={"ssim": 0.9})


@pytest.mark.parametrize("wanted", [0, 1, 1.5, -0.5])
def test_a_similarity_is_between_0_and_1(wanted):
    with pytest.raises(ValueError, match="between 0 and 1"):
        cq.Lossy(ssim=wanted)


def test_writers_that_see_no_images_say_what_to_give(tmp_path):
    with pytest.raises(ValueError, match="give data, or a psnr"):
        cq.zeros((9, 9), lossy={"ssim": 0.9})
    with cq.open(tmp_path / "x.h5", "w") as f:
        with pytest.raises(ValueError, match="give data, or a psnr"):
            f.create_dataset("d", shape=(9, 9), dtype="f4", lossy={"ssim": 0.9})
        with pytest.raises(ValueError, match="7 by 7"):
            f.create_dataset("d", data=np.ones(90, "f4"), lossy={"ssim": 0.9})
        assert list(f) == []


def least(x, y):
    return min(cq.quality(one, other).ssim for one, other in zip(x, y, strict=True))


@pytest.mark.parametrize("chunks", [(1, 90, 120), (4, 90, 120), (2, 32, 50)])
def test_copies_and_datasets_reach_the_similarity(tmp_path, chunks):
    x = stack()
    copy = cq.asarray(x, chunks=chunks).copy(path=tmp_path / "a.b2nd", lossy={"ssim": 0.98})
    assert copy.chunks == chunks
    assert least(x, copy[...]) >= 0.98
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", data=x, chunks=chunks, lossy={"ssim": 0.98})
        assert d.lossy.error_bound.bound == "psnr"
        size = d.cbytes
    assert size < x.nbytes / 2
    with h5py.File(tmp_path / "x.h5") as f:
        assert least(x, f["d"][...]) >= 0.98


def test_repack_searches_a_bound_for_each_dataset_of_images(tmp_path, capsys):
    x = stack()
    with h5py.File(tmp_path / "x.h5", "w") as f:
        for name, images in {"noisy": x[1:], "smooth": x[:1]}.items():
            f.create_dataset(name, data=images, chunks=(1, 90, 120))
        f.create_dataset("line", data=np.linspace(0, 1, 5000), chunks=(5000,))
    cq.hdf5.repack(tmp_path / "x.h5", tmp_path / "y.h5", filter="blosc2", lossy={"ssim": 0.99}, verify=False)
    assert (
        main(
            ["repack", str(tmp_path / "x.h5"), str(tmp_path / "z.h5"), "--filter", "blosc2", "--ssim", "0.99"]
        )
        == 0
    )
    for name in ("y.h5", "z.h5"):
        with cq.open(tmp_path / name) as f:
            assert least(x[1:], f["noisy"][...]) >= 0.99
            assert least(x[:1], f["smooth"][...]) >= 0.99
            bounds = [f[one].lossy.error_bound.psnr for one in ("noisy", "smooth")]
            assert bounds[0] != bounds[1]
            assert np.array_equal(f["line"][...], np.linspace(0, 1, 5000))
