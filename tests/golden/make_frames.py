"""Frames and arrays as python-blosc2 writes them, for `make_golden.py`: name, file, and what it decodes to.

What a frame of chunks decodes to is its chunks' bytes behind each other; of an array, the items in C order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import blosc2
import numpy as np

Filter, Codec = blosc2.Filter, blosc2.Codec

COUNTS = (np.arange(160) % 37 * 5).astype("i4")
FIELD = (np.sin(np.arange(60) / 9) * 100).round(1)

Golden = tuple[str, bytes, bytes]


def params(**options: object) -> blosc2.CParams:
    return blosc2.CParams(**({"nthreads": 1, "typesize": 4} | options))


def chunks_of(name: str, frame: blosc2.SChunk) -> Golden:
    content = b"".join(frame.decompress_chunk(number) for number in range(frame.nchunks))
    return f"{name}.b2frame", frame.to_cframe(), content


def array_of(name: str, array: blosc2.NDArray) -> Golden:
    return f"{name}.b2nd", array.to_cframe(), np.ascontiguousarray(array[...]).tobytes()


def frame(data: np.ndarray | None = None, *, chunksize: int = 240, **options: object) -> blosc2.SChunk:
    meta = options.pop("meta", None)
    cparams = params(**options)
    return blosc2.SChunk(chunksize, data, contiguous=True, cparams=cparams, meta=meta)


def plain_frames() -> Iterator[Golden]:
    """Frames of chunks."""
    yield chunks_of("empty", frame())
    layers = {"unit": "m", "origin": [1.5, -2], "nothing": None}
    named = frame(COUNTS, meta=layers)
    for name, value in (("history", ["made", "moved"]), ("long", "0123456789" * 20), ("short", b"")):
        named.vlmeta[name] = value
    del named.vlmeta["short"]
    yield chunks_of("metalayers", named)
    special = frame()
    special.append_data(np.zeros(60, "i4"))
    special.append_data(COUNTS[:60])
    special.append_data(np.full(60, 7, "i4"))
    special.append_data(np.zeros(11, "i4"))
    yield chunks_of("special-chunks", special)
    nans = frame(chunksize=400, typesize=8)
    nans.fill_special(120, blosc2.SpecialValue.NAN)
    yield chunks_of("nans", nans)
    changed = frame(COUNTS)
    changed.delete_chunk(0)
    changed.insert_data(0, COUNTS[::-1][:60].copy(), True)
    changed.update_data(1, COUNTS[50:110].copy(), True)
    yield chunks_of("changed-dead-bytes", changed)
    mixed = frame(FIELD, typesize=8, codec=Codec.LZ4, filters=[Filter.DELTA, Filter.BITSHUFFLE])
    yield chunks_of("lz4-delta-bitshuffle", mixed)
    batches = blosc2.BatchArray(items_per_block=2, contiguous=True, cparams=params(typesize=1))
    for lengths in ((10, 300, 1), (40,), (7, 70)):
        batches.append([b"station" * n for n in lengths])
    yield chunks_of("variable-chunks-and-blocks", batches.schunk)
    objects = blosc2.ObjectArray(contiguous=True, cparams=params(typesize=1))
    for item in ("a short one", list(range(200)), {"k": 1}):
        objects.append(item)
    yield chunks_of("variable-chunks", objects.schunk)


def arrays() -> Iterator[Golden]:
    """Frames that hold an array."""

    def array(x: np.ndarray, **options: object) -> blosc2.NDArray:
        shapes = {key: options.pop(key) for key in ("chunks", "blocks", "meta") if key in options}
        return blosc2.asarray(x, contiguous=True, cparams=params(typesize=x.itemsize, **options), **shapes)

    padded = array(COUNTS[:117].reshape(13, 9), chunks=(5, 4), blocks=(2, 3))
    padded.schunk.vlmeta["unit"] = "mm"
    yield array_of("2d-padded-i4", padded)
    cube = FIELD.reshape(3, 4, 5)
    yield array_of("3d-f8-zlib", array(cube, chunks=(2, 4, 3), blocks=(1, 2, 3), codec=Codec.ZLIB))
    yield array_of("0d-f8", array(np.float64(2.5).reshape(())))
    yield array_of("zero-size", array(np.zeros((3, 0, 2), "i2")))
    records = np.zeros(9, [("t", "<M8[s]"), ("xy", ">f4", (2,)), ("in", [("a", "u1"), ("b", "S3")])])
    records["xy"] = np.arange(18).reshape(9, 2)
    records["in"]["b"] = b"abc"
    yield array_of("structured", array(records, chunks=(4,), blocks=(2,)))
    names = np.array(["x" * n for n in (1, 90, 3)], "U90")
    yield array_of("typesize-360", array(names, chunks=(2,), blocks=(1,)))
    options = {"chunks": (4, 3), "blocks": (2, 2), "contiguous": True, "cparams": params(typesize=8)}
    yield array_of("full", blosc2.full((7, 5), 1.5, dtype="f8", **options))
    yield array_of("zeros", blosc2.zeros((7, 5), dtype="f8", **options))
    yield array_of("nans", blosc2.nans((7, 5), dtype="f8", **options))
    grown = array(COUNTS[:20].reshape(4, 5), chunks=(2, 2), blocks=(1, 2))
    grown.resize((6, 7))
    grown[5, 3:] = 9
    yield array_of("resized", grown)
    axes = array(COUNTS[:24].reshape(1, 2, 1, 3, 1, 1, 2, 2), chunks=(1, 1, 1, 2, 1, 1, 2, 2))
    yield array_of("8d", axes)


def axis_arrays() -> Iterator[Golden]:
    """Arrays whose codecs and filters work along the axes of blocks, with the parameter of each."""
    wave = np.add.outer(np.sin(np.arange(21) / 5), np.cos(np.arange(26) / 7)) * 30
    cube = wave[:10, :9, None] + np.arange(11)
    fields = {"1d": wave[:3].ravel(), "2d": wave, "3d": cube, "4d": cube[:8, :6, :5, None] * np.arange(1, 5)}
    cuts = {
        "1d": ((70,), (30,)),
        "2d": ((16, 20), (10, 9)),
        "3d": ((10, 9, 8), (5, 4, 7)),
        "4d": ((8, 6, 5, 4), (8, 6, 5, 4)),
    }
    ways = (("acc", Codec.ZFP_ACC, -2), ("prec", Codec.ZFP_PREC, 8), ("rate", Codec.ZFP_RATE, 30))
    for (axes, field), (way, codec, meta) in itertools.product(fields.items(), ways):
        dtype = "f4" if axes in ("2d", "4d") else "f8"
        chunks, blocks = cuts[axes]
        options = {"codec": codec, "codec_meta": meta & 255, "filters": [Filter.NOFILTER]}
        cparams = params(typesize=int(dtype[1]), **options)
        x = np.ascontiguousarray(field.astype(dtype))
        array = blosc2.asarray(x, contiguous=True, chunks=chunks, blocks=blocks, cparams=cparams)
        yield array_of(f"{axes}-{dtype}-zfp-{way}", array)
    picture = (np.arange(40)[:, None] // 3 * 7 + np.arange(50) % 9).astype("u1")
    picture[5::11, 7::13] = 200
    for side in (4, 8):
        cparams = params(typesize=1, codec=Codec.NDLZ, codec_meta=side, filters=[Filter.NOFILTER])
        shapes = {"chunks": (33, 50), "blocks": (33, 26)}
        yield array_of(f"ndlz-{side}", blosc2.asarray(picture, contiguous=True, cparams=cparams, **shapes))
    for name, code, side in (("ndcell", Filter.NDCELL, 4), ("ndmean", Filter.NDMEAN, 3)):
        cparams = params(typesize=4, codec=Codec.ZSTD, filters=[code], filters_meta=[side])
        shapes = dict(zip(("chunks", "blocks"), cuts["2d"], strict=True))
        yield array_of(name, blosc2.asarray(wave.astype("f4"), contiguous=True, cparams=cparams, **shapes))


def frames() -> Iterator[Golden]:
    """All of them."""
    yield from plain_frames()
    yield from arrays()
    yield from axis_arrays()
