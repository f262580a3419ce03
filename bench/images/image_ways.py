"""The ways of `images.py`: JPEG 2000 and other codecs of 16-bit grey images, by coquina and by others.

In: a grid of one image, or one tile of it, a block. Out: `Way`s, and the reason for each that is absent.
Invariant: every codec is given whole images or the grid's tiles; libraries without threads of their own
code images in two threads, which does not help Pillow: it keeps Python's lock while it works.
"""

from __future__ import annotations

import ctypes
import io
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import coquina as cq
from bench.arrays.array_peers import h5py, hdf5plugin
from bench.common.inputs import Grid
from bench.common.peers import THREADS, blosc2, optional
from bench.images.quality_contest import Way
from bench.images.quality_ways import BLOSC2, blosc2_way, coquina_way, h5py_way

PACKAGES = ("coquina-images", "pillow", "imagecodecs", "blosc2", "blosc2-j2k", "blosc2-htj2k", "hdf5plugin")
PILLOW, IMAGECODECS = "Pillow", "imagecodecs"
LOSSLESS, AS_PILLOW = "no loss", "as Pillow {}"
RATES = (5, 10, 20)
# Decibels of JPEG 2000 coders count from 65535, whatever the range of the data: 80 dB are 53 dB or so of it.
DECIBELS = (80,)
LEVELS = (75, 85)  # decibels of imagecodecs, which knows no rates
BOUNDS = (4, 16)
# The plugin htj2k takes a parameter byte, too, but it is of another scale than the rates of j2k.
PARAMETERS = (1, 5, 20)
STEPS = (2e-5, 1e-4, 4e-4)  # of OpenJPH's quantization, as parts of the range

Pillow: Any = optional("PIL.Image")
imagecodecs: Any = optional("imagecodecs")
# Before the plugins of python-blosc2: what they bring is there for all, and its OpenJPH then finds that.
optional("imagecodecs._htj2k")
PLUGINS: dict[str, Any] = {"j2k": optional("blosc2_j2k"), "htj2k": optional("blosc2_htj2k")}
IDS = {"j2k": 39, "htj2k": 40}
POOL = ThreadPoolExecutor(THREADS)


def has_images() -> bool:
    """True if coquina's own image codecs are installed."""
    try:
        cq.asarray(np.zeros((64, 64), np.uint16) + np.arange(64, dtype=np.uint16), codec="htj2k")
    except cq.CoquinaError:
        return False
    return True


def absent() -> dict[str, str]:
    """The libraries that cannot take part here, and why."""
    missing = {
        "coquina's image codecs": (has_images(), "pip install coquina[images]"),
        PILLOW: (Pillow, "pip install pillow"),
        IMAGECODECS: (imagecodecs, "pip install imagecodecs"),
        BLOSC2: (blosc2, "pip install blosc2"),
        f"{BLOSC2} j2k": (PLUGINS["j2k"], "pip install blosc2-j2k"),
        f"{BLOSC2} htj2k": (PLUGINS["htj2k"], "pip install blosc2-htj2k"),
        "h5py htj2k": (h5py and hasattr(hdf5plugin, "Htj2k"), "pip install 'hdf5plugin>=7.1'"),
    }
    return {name: hint for name, (found, hint) in missing.items() if not found}


def targets() -> Iterator[tuple[str, str, float]]:
    """What JPEG 2000 is asked for with loss: how it is called, mode and value."""
    for rate in RATES:
        yield f"rate {rate}", "rates", rate
    for psnr in DECIBELS:
        yield f"{psnr} dB", "dB", psnr


def coquina_ways(x: np.ndarray, grid: Grid) -> Iterator[Way]:
    """Our own: JPEG 2000, HTJ2K as good as what Pillow makes, what is for all arrays, and contracts."""
    if has_images():
        for codec in ("htj2k", "j2k"):
            yield coquina_way(codec, LOSSLESS, 0, grid, codec=codec, filters=())
        for setting, mode, value in targets():
            options = {"quality_mode": mode, "quality": value}
            yield coquina_way("j2k", setting, None, grid, codec=("j2k", options), filters=())
        for way in pillow_ways() if Pillow else ():
            if way.bound is None:
                options = {"quality_mode": "dB", "quality": decibels(x, way.decode(way.encode(x)))}
                setting = AS_PILLOW.format(way.setting)
                yield coquina_way("htj2k", setting, None, grid, codec=("htj2k", options), filters=())
    for codec in ("zstd", "lz4"):
        yield coquina_way(f"{codec} bitshuffle", LOSSLESS, 0, grid, codec=codec, filters="bitshuffle")
    general = {"codec": "zstd", "filters": ("shuffle", "bytedelta")}
    yield coquina_way("zstd bytedelta", LOSSLESS, 0, grid, **general)
    for bound in BOUNDS:
        yield coquina_way("lossy", f"error {bound}", bound, grid, lossy={"max_error": bound}, **general)
    yield coquina_way("lossy", "60 dB", None, grid, lossy={"psnr": 60}, **general)


def decibels(x: np.ndarray, y: np.ndarray) -> float:
    """The PSNR of 65535."""
    return float(20 * np.log10(65535 / np.sqrt(np.mean((y - x.astype(np.float64)) ** 2))))


def blosc2_ways(grid: Grid) -> Iterator[Way]:
    """python-blosc2 with its plugins; the parameter byte of j2k is ten times a rate."""
    if not blosc2:
        return
    general = {"codec": blosc2.Codec.ZSTD, "clevel": 5, "filters": [blosc2.Filter.BITSHUFFLE]}
    yield blosc2_way("zstd bitshuffle", LOSSLESS, 0, grid, **general)
    alone = {"filters": [], "splitmode": blosc2.SplitMode.NEVER_SPLIT}
    metas = {
        "j2k": {f"rate {rate}": 10 * rate for rate in RATES},
        "htj2k": {f"parameter {number}": number for number in PARAMETERS},
    }
    for codec, plugin in PLUGINS.items():
        if plugin:
            plugin.register_codec()
            for setting, meta in {LOSSLESS: 0, **metas[codec]}.items():
                bound = 0 if meta == 0 else None
                way = blosc2_way(codec, setting, bound, grid, **alone, codec=IDS[codec], codec_meta=meta)
                yield replace(way, encode=partial(plugin_encode, plugin, way.encode))


def plugin_encode(plugin: Any, encode: Callable[[np.ndarray], Any], x: np.ndarray) -> Any:
    """What the plugin makes when it starts anew: the parameter byte 0 would mean that of the call before.

    What it writes to the terminal for every image (it keeps 12 bits of 16 with loss) is dropped.
    """
    plugin.set_params_defaults()
    flush = ctypes.CDLL(None).fflush
    sys.stdout.flush()
    flush(None)
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        return encode(x)
    finally:
        flush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def each_image(
    library: str,
    codec: str,
    setting: str,
    bound: float | None,
    encode: Callable[[np.ndarray], bytes],
    decode: Callable[[bytes], np.ndarray],
) -> Way:
    """A way that codes images one by one, two at a time."""

    def size(streams: list[bytes]) -> int:
        return sum(map(len, streams))

    def all_of(streams: list[bytes]) -> np.ndarray:
        return np.stack(list(POOL.map(decode, streams)))

    return Way(library, codec, setting, lambda x: list(POOL.map(encode, x)), size, all_of, bound)


def pillow_codes(**options: Any) -> tuple[Callable[[np.ndarray], bytes], Callable[[bytes], np.ndarray]]:
    """Pillow's JPEG 2000 of an image, and back."""

    def encode(image: np.ndarray) -> bytes:
        file = io.BytesIO()
        Pillow.fromarray(image).save(file, "JPEG2000", no_jp2=True, **options)
        return file.getvalue()

    return encode, lambda stream: np.asarray(Pillow.open(io.BytesIO(stream)))


def pillow_ways() -> Iterator[Way]:
    """Pillow's JPEG 2000, which is OpenJPEG's."""
    if not Pillow:
        return
    yield each_image(PILLOW, "j2k", LOSSLESS, 0, *pillow_codes())
    for setting, mode, value in targets():
        codes = pillow_codes(irreversible=True, quality_mode=mode, quality_layers=[value])
        yield each_image(PILLOW, "j2k", setting, None, *codes)


def imagecodecs_ways() -> Iterator[Way]:
    """imagecodecs: OpenJPEG, OpenJPH, CharLS (whose parameter is the greatest error), libpng."""
    if not imagecodecs:
        return
    one = imagecodecs

    def way(codec: str, setting: str, bound: float | None, encode: Any, decode: Any, **options: Any) -> Way:
        return each_image(
            IMAGECODECS, codec, setting, bound, lambda image: bytes(encode(image, **options)), decode
        )

    yield way("j2k", LOSSLESS, 0, one.jpeg2k_encode, one.jpeg2k_decode, codecformat="j2k", reversible=True)
    for level in LEVELS:
        options = {"codecformat": "j2k", "level": level, "reversible": False}
        yield way("j2k", f"{level} dB", None, one.jpeg2k_encode, one.jpeg2k_decode, **options)
    yield way("htj2k", LOSSLESS, 0, one.htj2k_encode, one.htj2k_decode, reversible=True)
    for step in STEPS:
        options = {"level": step, "reversible": False}
        yield way("htj2k", f"step {step:g}", None, one.htj2k_encode, one.htj2k_decode, **options)
    for bound in (0, *BOUNDS):
        setting = f"error {bound}" if bound else LOSSLESS
        yield way("jpegls", setting, bound, one.jpegls_encode, one.jpegls_decode, level=bound)
    yield way("png", LOSSLESS, 0, one.png_encode, one.png_decode)


def ways(x: np.ndarray, grid: Grid) -> list[Way]:
    """All that take part: ours first."""
    found = [*coquina_ways(x, grid), *pillow_ways(), *imagecodecs_ways(), *blosc2_ways(grid)]
    if "h5py htj2k" not in absent():
        found.append(h5py_way("htj2k", LOSSLESS, 0, Grid((1, *grid.blocks[1:]), ()), hdf5plugin.Htj2k()))
    return found
