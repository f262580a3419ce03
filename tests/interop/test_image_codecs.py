"""Images: arrays of the plugins of others read by coquina, and the other way round."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import blosc2
import blosc2_htj2k
import blosc2_j2k
import h5py
import hdf5plugin
import numpy as np
import pytest

import coquina as cq

pytest.importorskip("coquina_images", reason="the codecs of images are a package of their own")

GOLDEN = Path(__file__).parents[1] / "golden" / "images"
CODECS = ("j2k", "htj2k")
IDS = {"j2k": 39, "htj2k": 40}
DECODING = """
import sys, pathlib, imagecodecs, numpy
decoder, stream, out = sys.argv[1:]
numpy.save(out, getattr(imagecodecs, decoder)(pathlib.Path(stream).read_bytes()))
"""
SHAPES = [
    ((64, 48), None),
    ((33, 57), None),
    ((5, 40, 50), (1, 40, 50)),
    ((2, 50, 70), (1, 32, 48)),
    ((1, 1, 31, 65), None),
    ((40, 50, 3), None),
    ((2, 40, 50, 3), (1, 32, 32, 3)),
]
DTYPES = ("u1", "u2", "i1", "i2")


def image(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Waves, a flat part, noise in the lowest bits, and the extremes of the dtype."""
    rng = np.random.default_rng(seed)
    kind = np.iinfo(dtype)
    wave = sum(np.sin(axis / (7 + number)) for number, axis in enumerate(np.indices(shape)))
    x = ((kind.max + kind.min + 1) / 2 + wave / len(shape) * kind.max / 3).astype(dtype)
    x += rng.integers(0, 5, shape).astype(dtype)
    x[..., : shape[-1] // 4] = kind.min
    x.flat[:: x.size // 3] = kind.max
    return x


@pytest.fixture(scope="module")
def _peers():
    blosc2_j2k.register_codec()
    blosc2_htj2k.register_codec()


def theirs(x: np.ndarray, blocks: tuple[int, ...], codec: str, meta: int = 0) -> blosc2.NDArray:
    cparams = {"codec": IDS[codec], "codec_meta": meta, "filters": [], "nthreads": 1}
    cparams["splitmode"] = blosc2.SplitMode.NEVER_SPLIT
    return blosc2.asarray(x, chunks=blocks, blocks=blocks, cparams=cparams, dparams={"nthreads": 1})


def ours(x: np.ndarray, blocks: tuple[int, ...] | None, codec: object) -> cq.Array:
    blocks = x.shape if blocks is None else blocks
    return cq.asarray(x, chunks=blocks, blocks=blocks, codec=codec)


def test_golden_images_are_read_as_their_packages_read_them():
    lines = (GOLDEN / "MANIFEST").read_text().splitlines()
    for line in lines:
        file_sum, content_sum, name = line.split()
        content = (GOLDEN / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == file_sum, f"{name}: a golden file is never rewritten"
        items = np.ascontiguousarray(cq.from_bytes(content)[...])
        if "lossy" in name:
            wanted = np.frombuffer((GOLDEN / name).with_suffix(".items").read_bytes(), items.dtype)
            # Decoders are free in where they put what a coefficient stands for.
            apart = np.sqrt(np.mean((items.ravel().astype(float) - wanted) ** 2))
            assert apart < 5, f"{name}: {apart}"
        else:
            assert hashlib.sha256(items.tobytes()).hexdigest() == content_sum, name
    assert len([path for path in GOLDEN.iterdir() if path.suffix == ".b2nd"]) == len(lines) > 15


@pytest.mark.usefixtures("_peers")
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "blocks"), SHAPES)
def test_lossless_images_of_the_plugins_are_read_bit_for_bit(codec, dtype, shape, blocks):
    x = image(shape, dtype)
    peer = theirs(x, shape if blocks is None else blocks, codec)
    np.testing.assert_array_equal(cq.from_bytes(peer.to_cframe())[...], x)


@pytest.mark.usefixtures("_peers")
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("dtype", ["u1", "u2"])
@pytest.mark.parametrize(("shape", "blocks"), SHAPES)
def test_the_plugins_read_lossless_images_bit_for_bit(codec, dtype, shape, blocks):
    x = image(shape, dtype)
    peer = blosc2.ndarray_from_cframe(ours(x, blocks, codec).to_bytes())
    np.testing.assert_array_equal(peer[...], x)


@pytest.mark.usefixtures("_peers")
@pytest.mark.parametrize("dtype", ["i1", "i2"])
def test_signed_images_are_read_by_who_knows_signs_and_by_all_if_there_are_none(dtype):
    x = image((48, 64), dtype)
    peer = blosc2.ndarray_from_cframe(ours(x, None, "j2k").to_bytes())
    np.testing.assert_array_equal(peer[...], x)
    x &= np.iinfo(dtype).max
    for codec in CODECS:
        made = ours(x, None, codec)
        np.testing.assert_array_equal(made[...], x)
        np.testing.assert_array_equal(blosc2.ndarray_from_cframe(made.to_bytes())[...], x)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (3, 4, 5), (2, 3, 4, 5), (9, 1), (40, 50, 2), (40, 50, 4), (1, 1)])
def test_blocks_that_others_refuse_come_back(codec, dtype, shape):
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    np.testing.assert_array_equal(ours(x, None, codec)[...], x)


@pytest.mark.usefixtures("_peers")
@pytest.mark.parametrize("codec", CODECS)
def test_a_psnr_is_reached_as_others_decode_it(codec):
    x = image((96, 128), "u2")
    for decibels in (50, 70):
        options = {"quality_mode": "dB", "quality": decibels}
        made = ours(x, None, (codec, options))
        assert cq.quality(x, made[...]).psnr >= decibels
        peer = blosc2.ndarray_from_cframe(made.to_bytes())[...]
        error = np.sqrt(np.mean((peer.astype(float) - x) ** 2))
        assert 20 * np.log10(65535 / error) > decibels - 1


@pytest.mark.usefixtures("_peers")
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("how", [50, {"quality_mode": "rates", "quality": 5}])
def test_a_ratio_is_reached(codec, how):
    x = image((128, 128), "u2")
    made = ours(x, None, (codec, how))
    assert x.nbytes / made.cbytes == pytest.approx(5, rel=0.1)
    peer = blosc2.ndarray_from_cframe(made.to_bytes())[...]
    assert np.abs(peer.astype(int) - made[...].astype(int)).max() < 200


def stream_of(made, path):
    """Return the code-stream of the only block of an array."""
    content = made.to_bytes()
    stream = content[content.index(b"\xff\x4f\xff\x51") :]
    path.write_bytes(stream[: stream.rindex(b"\xff\xd9") + 2])
    return path.read_bytes()


def segment(stream, marker):
    """Return the content of a segment of the main head."""
    at = stream.index(marker)
    return stream[at + 4 : at + 2 + int.from_bytes(stream[at + 2 : at + 4])]


def decoded(path):
    """Return a code-stream as OpenJPEG decodes it in imagecodecs, in a process of its own."""
    out = path.with_suffix(".npy")
    subprocess.run([sys.executable, "-c", DECODING, "jpeg2k_decode", str(path), str(out)], check=True)
    return np.load(out)


@pytest.mark.usefixtures("_peers")
@pytest.mark.parametrize("order", ["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"])
def test_tiles_and_progressions_are_read_by_others(order, tmp_path):
    x = image((150, 170), "u2")
    made = ours(x, None, ("j2k", {"tile": [64, 96], "progression": order, "threads": 2}))
    stream = stream_of(made, tmp_path / "x.j2k")
    size = segment(stream, b"\xff\x51")
    assert [int.from_bytes(size[at : at + 4]) for at in (18, 22)] == [96, 64]
    assert segment(stream, b"\xff\x52")[1] == ["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"].index(order)
    for found in (made[...], decoded(tmp_path / "x.j2k"), blosc2.ndarray_from_cframe(made.to_bytes())[...]):
        np.testing.assert_array_equal(found, x)
    alone = ours(x, None, ("j2k", {"tile": [64, 96], "progression": order}))
    assert alone.to_bytes() == made.to_bytes(), "threads change no byte"


@pytest.mark.usefixtures("_peers")
@pytest.mark.parametrize(
    ("mode", "qualities"),
    [("rates", [40, 20, 8]), ("dB", [40, 50, 60]), ("rates", [30, 10, 0]), ("dB", [45, 0])],
)
def test_layers_of_quality_are_read_by_others(mode, qualities, tmp_path):
    x = image((128, 160), "u2")
    made = ours(x, None, ("j2k", {"quality_mode": mode, "quality": qualities}))
    stream = stream_of(made, tmp_path / "x.j2k")
    assert int.from_bytes(segment(stream, b"\xff\x52")[2:4]) == len(qualities)
    others = [decoded(tmp_path / "x.j2k"), blosc2.ndarray_from_cframe(made.to_bytes())[...]]
    if qualities[-1] == 0:
        assert all(np.array_equal(found, x) for found in (made[...], *others))
    elif mode == "dB":
        assert cq.quality(x, made[...], data_range=65535).psnr >= qualities[-1]
    else:
        assert x.nbytes / made.cbytes == pytest.approx(qualities[-1], rel=0.1)
    for found in others:
        assert np.abs(found.astype(int) - made[...].astype(int)).max() < 200


def test_pillow_reads_as_many_layers_as_it_is_asked_to(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    x = image((256, 256), "u2")
    stream_of(ours(x, None, ("j2k", {"quality_mode": "rates", "quality": [40, 10, 0]})), tmp_path / "x.j2k")
    errors = []
    for layers in (1, 2, 3):
        picture = pillow.open(tmp_path / "x.j2k")
        # `picture.layers` counts only where the picture is made smaller too.
        (tile,) = picture.tile
        picture.tile = [tile._replace(args=(tile.args[0], 0, layers, *tile.args[3:]))]
        errors.append(np.abs(np.asarray(picture).astype(int) - x).mean())
    assert errors[0] > errors[1] > errors[2] == 0
    # The layers before one without loss have its transform.
    one = ours(x, None, ("j2k", {"quality_mode": "rates", "quality": 40, "reversible": True}))[...]
    assert errors[0] < 1.2 * np.abs(one.astype(int) - x).mean()


def test_code_streams_are_those_of_other_decoders(tmp_path):
    """A chunk of the HDF5 filter is a bare code-stream, which OpenJPH and OpenJPEG decode."""
    for dtype in ("u1", "u2", "i2"):
        x = image((70, 90), dtype)
        with cq.open(tmp_path / f"{dtype}.h5", "w") as file:
            file.create_dataset("x", data=x, chunks=x.shape, filter="htj2k")
        with h5py.File(tmp_path / f"{dtype}.h5") as file:
            _, stream = file["x"].id.read_direct_chunk((0, 0))
        (tmp_path / dtype).write_bytes(stream)
        # In a process of their own: OpenJPH crashes where the plugins of Blosc2 are loaded, too.
        names = [str(tmp_path / name) for name in (dtype, f"{dtype}.npy")]
        for decoder in ("htj2k_decode", "jpeg2k_decode"):
            subprocess.run([sys.executable, "-c", DECODING, decoder, *names], check=True)
            np.testing.assert_array_equal(np.load(names[1]), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "chunks"),
    [
        ((4, 40, 50), (1, 40, 50)),
        ((3, 40, 50), (1, 32, 32)),
        ((2, 30, 40, 3), (1, 30, 40, 3)),
        ((90,), (64,)),
    ],
)
def test_hdf5_chunks_of_images_are_exchanged_with_hdf5plugin(dtype, shape, chunks, tmp_path):
    x = image(shape, dtype)
    with cq.open(tmp_path / "ours.h5", "w") as file:
        made = file.create_dataset("x", data=x, chunks=chunks, filter="htj2k")
        assert made.access != "whole"
    with h5py.File(tmp_path / "ours.h5") as file:
        np.testing.assert_array_equal(file["x"][...], x)
    with h5py.File(tmp_path / "theirs.h5", "w") as file:
        file.create_dataset("x", data=x, chunks=chunks, compression=hdf5plugin.Htj2k())
        (_, _, values, _) = file["x"].id.get_create_plist().get_filter(0)
    with cq.open(tmp_path / "theirs.h5", "a") as file:
        theirs = file["x"]
        assert theirs.access != "whole"
        np.testing.assert_array_equal(theirs[...], x)
        theirs[0] = x[-1]
        np.testing.assert_array_equal(theirs[0], x[-1])
    with cq.open(tmp_path / "ours.h5") as file:
        assert file["x"].filters[0][2][:2] == values[:2]


def test_hdf5_images_that_cannot_be_say_why(tmp_path):
    cases = [
        ("f4", (8, 8), "integers of 8 and 16 bits"),
        ("u2", (8, 8, 8), "images"),
        (">u2", (8, 8), "byte order"),
    ]
    with cq.open(tmp_path / "x.h5", "w") as file:
        for dtype, chunks, words in cases:
            with pytest.raises(ValueError, match=words):
                file.create_dataset("x", shape=chunks, dtype=dtype, chunks=chunks, filter="htj2k")


def without_parameters(path, x):
    """Write an image as old writers of the filter did: none of its parameters, and any filter mask."""
    with cq.open(path.with_suffix(".source.h5"), "w") as file:
        file.create_dataset("x", data=x, chunks=x.shape, filter="htj2k")
    with h5py.File(path.with_suffix(".source.h5")) as file:
        _, stream = file["x"].id.read_direct_chunk((0,) * x.ndim)
    with h5py.File(path, "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk(x.shape)
        # An id of nobody, so that no plugin adds parameters.
        plist.set_filter(31999, h5py.h5z.FLAG_OPTIONAL, ())
        tid = h5py.h5t.py_create(x.dtype)
        made = h5py.h5d.create(file.id, b"x", tid, h5py.h5s.create_simple(x.shape), plist)
        made.write_direct_chunk((0,) * x.ndim, stream, 0)
    content = path.read_bytes()
    assert content.count((31999).to_bytes(2, "little") + bytes(2)) == 1
    path.write_bytes(content.replace((31999).to_bytes(2, "little"), (32033).to_bytes(2, "little")))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(40, 50), (50,), (30, 40, 3)])
def test_hdf5_images_without_parameters_are_read_by_stream_and_dtype(dtype, shape, tmp_path):
    # They could not be read: "say nothing of the bytes of a sample".
    x = image(shape, dtype)
    without_parameters(tmp_path / "x.h5", x)
    with cq.open(tmp_path / "x.h5") as file:
        assert file["x"].filters == [(32033, "htj2k", ())]
        assert file["x"].access != "whole"
        np.testing.assert_array_equal(file["x"][...], x)
    assert cq.hdf5.recover(tmp_path / "x.h5", tmp_path / "saved.h5").is_whole


def test_hdf5_images_without_parameters_of_the_other_order_are_left_to_libhdf5(tmp_path):
    x = image((40, 50), "u2")
    without_parameters(tmp_path / "x.h5", x)
    content = (tmp_path / "x.h5").read_bytes()
    little = bytes([0x10, 0, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0])
    assert content.count(little) == 1
    (tmp_path / "x.h5").write_bytes(content.replace(little, bytes([0x10, 1]) + little[2:]))
    with cq.open(tmp_path / "x.h5") as file:
        assert file["x"].dtype == np.dtype(">u2")
        assert file["x"].access == "whole"
        assert "order" in file["x"].access_reason
