"""Codecs and filters that work along the axes of blocks, and codecs with a parameter."""

from __future__ import annotations

import json
import math
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.cli import main

WAVE = np.add.outer(np.sin(np.arange(70) / 9), np.cos(np.arange(90) / 11)) * 20
PICTURE = (np.arange(64)[:, None] // 5 * 11 + np.arange(80) % 8).astype("u1")


def field(shape: tuple[int, ...], dtype: str, noise: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    waves = [np.sin(np.arange(size) / (7 + axis) + seed) for axis, size in enumerate(shape)]
    smooth = sum(
        wave.reshape([-1 if a == axis else 1 for a in range(len(shape))]) for axis, wave in enumerate(waves)
    )
    return (10 * smooth + noise * rng.normal(size=shape)).astype(dtype)


shapes = st.integers(1, 4).flatmap(
    lambda axes: st.tuples(*[st.integers(4, {1: 300, 2: 40, 3: 14, 4: 8}[axes])] * axes)
)


@settings(max_examples=60, deadline=None)
@given(shapes, st.sampled_from(["f4", "f8"]), st.integers(-6, 2), st.floats(0, 10), st.integers(0, 99))
def test_no_item_is_farther_off_than_the_accuracy_says(shape, dtype, power, noise, seed):
    x = field(shape, dtype, noise, seed)
    array = cq.asarray(x, codec=("zfp_accuracy", power))
    error = np.abs(array[...].astype("f8") - x).max()
    # float32 cannot say more than it has digits for.
    assert error <= 10.0**power + np.spacing(np.abs(x).max()) * 4


@pytest.mark.parametrize(
    ("dtype", "scale", "power"), [("f4", 1e-33, -36), ("f4", 1e-36, -38), ("f8", 1e-300, -128)]
)
def test_accuracy_holds_for_very_small_numbers(dtype, scale, power):
    x = (WAVE * scale).astype(dtype)
    y = cq.asarray(x, codec=("zfp_accuracy", power))[...]
    assert np.abs(y.astype("f8") - x).max() <= 10.0**power
    exact = cq.asarray(x, codec=("zfp_precision", 60))[...]
    assert np.abs(exact.astype("f8") - x).max() <= 1e-6 * np.abs(x).max()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_rate_says_how_small_an_array_gets(dtype):
    x = np.tile(WAVE, (4, 4)).astype(dtype)
    for rate in (10, 25, 50):
        array = cq.asarray(x, codec=("zfp_rate", rate), chunks=(280, 360), blocks=(56, 72))
        assert math.isclose(array.cbytes, x.nbytes * rate / 100, rel_tol=0.02)
        assert array.info.codec_option == ("zfp_rate", rate)


def test_more_bit_planes_lose_less():
    errors = [np.abs(cq.asarray(WAVE, codec=("zfp_precision", n))[...] - WAVE).max() for n in (4, 12, 25, 50)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] < 5
    assert errors[-1] < 1e-9


@pytest.mark.parametrize("codec", [("zfp_accuracy", -2), ("zfp_precision", 9), ("zfp_rate", 30)])
def test_items_that_are_not_finite_are_kept_as_they_are(codec):
    x = WAVE.astype("f4")
    x[3, 5], x[40, 60], x[41, 60] = np.nan, np.inf, -np.inf
    assert cq.asarray(x, codec=codec).cbytes > 0
    y = cq.asarray(x, codec=codec, chunks=(70, 90), blocks=(70, 90))[...]
    assert np.array_equal(y, x, equal_nan=True)


def test_arrays_with_lossy_codecs_know_no_bounds_of_chunks(tmp_path):
    array = cq.asarray(WAVE, codec=("zfp_rate", 10), path=tmp_path / "a.b2nd")
    assert array.info.known_chunks == 0
    plain = cq.asarray(WAVE, path=tmp_path / "b.b2nd")
    assert plain.info.known_chunks == plain.info.nchunks
    # What is asked of them is answered by what is decoded.
    assert (array > 39).any() == (array[...] > 39).any()


def test_files_say_their_codec_and_are_written_on_with_it(tmp_path):
    path = tmp_path / "a.b2nd"
    cq.asarray(WAVE, codec=("zfp_accuracy", -3), chunks=(16, 90), blocks=(8, 30), path=path)
    with cq.open(path, "a") as array:
        array[20:40] = WAVE[:20]
        array.append(WAVE[:9])
        assert array.info.codec_option == ("zfp_accuracy", -3)
        assert array.info.filters == []
    y = cq.open(path)[...]
    expected = np.concatenate([WAVE[:20], WAVE[:20], WAVE[40:], WAVE[:9]])
    assert np.abs(y - expected).max() <= 1e-3


def test_a_copy_is_encoded_as_the_array_unless_it_is_told_otherwise():
    array = cq.asarray(WAVE, codec=("zfp_rate", 40))
    assert array.copy().info.codec_option == ("zfp_rate", 40)
    other = array.copy(codec="lz4")
    assert (other.info.codec_option, other.info.filters) == ("lz4", [("shuffle", 0)])
    assert np.array_equal(other[...], array[...])
    assert other.copy(codec=("zfp_rate", 40)).info.filters == []


@pytest.mark.parametrize("side", [4, 8])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f8"])
def test_ndlz_keeps_pictures_of_any_items(side, dtype):
    x = PICTURE.astype(dtype)
    array = cq.asarray(x, codec=("ndlz", side), chunks=(64, 80), blocks=(33, 41))
    assert np.array_equal(array[...], x)
    assert array.cbytes < x.nbytes
    assert np.array_equal(array[5:60, 7], x[5:60, 7])


def test_cells_are_put_back_and_means_are_of_cells():
    x = WAVE.astype("f4")
    for side in (2, 3, 8):
        celled = cq.asarray(x, filters=[("ndcell", side), "shuffle"])
        assert np.array_equal(celled[...], x)
    averaged = cq.asarray(x, filters=[("ndmean", 5)], chunks=(70, 90), blocks=(35, 45))[...]
    means = x.reshape(14, 5, 18, 5).astype("f8").mean(axis=(1, 3))
    assert np.allclose(averaged, np.kron(means, np.ones((5, 5))), atol=1e-5)


@pytest.mark.parametrize(
    ("codec", "x", "options", "said"),
    [
        ("zfp_rate", WAVE, {}, "needs a parameter"),
        (("zfp_rate", 0), WAVE, {}, "1..=255"),
        (("zfp_rate", 256), WAVE, {}, "-128..=255"),
        (("lz4", 1), WAVE, {}, "takes no parameter"),
        (("lz4", {"window": 9}), WAVE, {}, "takes no options"),
        (("zfp_rate", 25), WAVE, {"filters": "shuffle"}, "shuffle moves"),
        (("zfp_rate", 25), WAVE, {"filters": ["delta"]}, "delta moves"),
        (("zfp_rate", 25), WAVE, {"chunks": (9, 9), "blocks": (3, 9)}, "4 items and more"),
        (("zfp_rate", 25), WAVE.astype("f2"), {}, "float64"),
        (("zfp_rate", 25), WAVE.astype(">f8"), {}, "little-endian"),
        (("zfp_rate", 25), WAVE.astype("c8"), {}, "float64"),
        (("zfp_rate", 25), np.zeros((4,) * 5), {}, "1 to 4 axes"),
        (("ndlz", 5), PICTURE, {}, "4 or 8"),
        (("ndlz", 4), PICTURE[0], {}, "2 axes"),
        (("ndlz", 4), WAVE, {"filters": "nofilter"}, "shuffle"),
        ("zstd", WAVE, {"filters": "ndcell"}, "1..=255"),
        ("zstd", PICTURE, {"filters": ("ndmean", 4)}, "float64"),
    ],
)
def test_what_cannot_be_is_refused_and_says_what_can(codec, x, options, said):
    with pytest.raises(ValueError, match=said.replace(".", r"\.")):
        cq.asarray(x, codec=codec, **options)


@pytest.mark.parametrize("codec", [5, ("zstd",), ("zfp_rate", 25, 1), ("zfp_rate", "25"), None])
def test_a_codec_is_a_name_or_a_pair(codec):
    with pytest.raises(TypeError):
        cq.asarray(WAVE, codec=codec)


def test_plain_bytes_have_no_axes_for_codecs():
    with pytest.raises(ValueError, match="chunks of arrays"):
        cq.compress(WAVE, codec=("zfp_rate", 25))
    with pytest.raises(ValueError, match="chunks of arrays"):
        cq.compress(WAVE, filters=("ndcell", 4))
    with pytest.raises(ValueError, match="zfp_rate"):
        cq.dumps(WAVE, codec=("zfp_rate", 25))


def test_a_chunk_alone_says_its_codec_but_cannot_be_decoded(tmp_path):
    cq.asarray(WAVE, codec=("zfp_accuracy", -3), path=tmp_path / "a.b2nd", contiguous=False)
    chunk = next((tmp_path / "a.b2nd").glob("*.chunk")).read_bytes()
    info = cq.chunk_info(chunk)
    assert (info.codec, info.codec_parameter) == ("zfp_accuracy", -3)
    with pytest.raises(cq.UnsupportedError, match="through its array"):
        cq.decompress(chunk)


def test_arrays_do_not_depend_on_the_number_of_threads():
    x = np.tile(WAVE, (6, 6)).astype("f4")
    made = {
        cq.asarray(x, codec=("zfp_accuracy", -3), blocks=(40, 50), threads=n).to_bytes() for n in (1, 2, 5)
    }
    assert len(made) == 1


def test_the_command_takes_parameters_and_shows_them(tmp_path, capsys):
    source, target = tmp_path / "x.npy", tmp_path / "x.b2nd"
    np.save(source, WAVE)
    assert main(["convert", str(source), str(target), "--codec", "zfp_accuracy:-2"]) == 0
    assert np.abs(cq.open(target)[...] - WAVE).max() <= 0.01
    capsys.readouterr()
    assert main(["info", str(target)]) == 0
    assert "zfp_accuracy" in capsys.readouterr().out
    assert main(["info", str(target), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["codec"], facts["codec_parameter"]) == ("zfp_accuracy", -2)


@pytest.mark.parametrize("codec", [("zfp_rate", 10), ("zfp_precision", 5), ("zfp_accuracy", 0)])
def test_copies_lose_no_more(tmp_path, codec):
    x = np.random.default_rng(3).normal(size=(40, 60)).cumsum(0).astype("f4")
    a = cq.asarray(x, chunks=(20, 60), blocks=(20, 20), codec=codec)
    a.attrs["unit"] = "m"
    for copy in (a.copy(), a.copy(path=tmp_path / "c.b2nd"), deepcopy(a)):
        assert np.array_equal(copy[...], a[...])
        assert copy.info.codec_option == codec
        assert copy.attrs["unit"] == "m"
    assert np.array_equal(a.copy(codec="lz4")[...], a[...])
    assert a.copy(chunks=(40, 60)).chunks == (40, 60)
