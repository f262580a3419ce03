"""Adds golden arrays written by the image plugins of others; a file that exists is never rewritten.

A golden file is named package-version-what, and MANIFEST in `images` has a line for each: the SHA-256 of the
file, that of what it decodes to, as its own package reads it, and the name. What a package decodes of a lossy
file other decoders need not decode to the last bit: its items stand beside it, in a file `.items`.

No environment has all packages: grok and openhtj2k need blosc2 4.0, the others a later one. Run it in each:

    pip install blosc2==4.0.0 blosc2-grok==0.3.5 blosc2-openhtj2k==0.1.2    and another time
    pip install blosc2==4.14.1 blosc2-j2k==0.4.0 blosc2-htj2k==0.4.2        and then, with that bin in PATH,
    python tests/golden/make_images.py
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import blosc2
import numpy as np

FOLDER = Path(__file__).parent / "images"


def image(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Waves, and noise in the lowest bits, over most of the range that the dtype has."""
    rng = np.random.default_rng(5)
    wave = sum(np.sin(axis / (5 + number)) for number, axis in enumerate(np.indices(shape)))
    kind = np.iinfo(dtype)
    middle = (kind.max + kind.min + 1) / 2
    return (middle + wave / len(shape) * kind.max / 4 + rng.integers(0, 4, shape)).astype(dtype)


def array(codec: int, x: np.ndarray, blocks: tuple[int, ...] | None = None, meta: int = 0) -> blosc2.NDArray:
    """An array with an image, or a part of one, in each block."""
    blocks = x.shape if blocks is None else blocks
    cparams: dict[str, Any] = {"codec": codec, "codec_meta": meta, "filters": [], "nthreads": 1}
    cparams["splitmode"] = blosc2.SplitMode.NEVER_SPLIT
    return blosc2.asarray(x, chunks=blocks, blocks=blocks, cparams=cparams, dparams={"nthreads": 1})


def grey_and_colours(codec: int) -> Iterator[tuple[str, blosc2.NDArray]]:
    yield "grey-u2", array(codec, image((24, 40), "u2"))
    yield "grey-u1", array(codec, image((24, 40), "u1"))
    yield "grey-i2", array(codec, image((24, 40), "i2"))
    yield "colours-u1", array(codec, image((16, 24, 3), "u1"))
    yield "stack-u2", array(codec, image((2, 20, 30), "u2"), (1, 16, 20))
    yield "lossy-u2", array(codec, image((24, 40), "u2"), meta=80)


def openhtj2k(codec: int) -> Iterator[tuple[str, blosc2.NDArray]]:
    # Its samples have 32 bits, and the components come first.
    yield "colours-u4", array(codec, image((3, 24, 40), "u1").astype("u4"))
    yield "grey-u4", array(codec, image((1, 24, 40), "u1").astype("u4"))


def grok(codec: int) -> Iterator[tuple[str, blosc2.NDArray]]:
    plugin = importlib.import_module("blosc2_grok")
    for name, options in {
        "tiles-u2": {"tile_size": (16, 16), "num_resolutions": 3, "progression": "RPCL"},
        "throughput-u2": {"mode": plugin.GrkMode.HT},
        "bare-u2": {"cod_format": plugin.GrkFileFmt.GRK_FMT_J2K},
    }.items():
        plugin.set_params_defaults(**options)
        yield name, array(codec, image((24, 40), "u2"))
    plugin.set_params_defaults()
    yield from grey_and_colours(codec)


PACKAGES = {
    "blosc2-grok": (37, grok),
    "blosc2-openhtj2k": (36, openhtj2k),
    "blosc2-j2k": (39, grey_and_colours),
    "blosc2-htj2k": (40, grey_and_colours),
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    lines = []
    for package, (codec, make) in PACKAGES.items():
        try:
            plugin = importlib.import_module(package.replace("-", "_"))
        except ImportError:
            print(f"{package} is not installed")
            continue
        if hasattr(plugin, "register_codec"):
            plugin.register_codec()
        for name, made in make(codec):
            path = FOLDER / f"{package}-{version(package)}-{name}.b2nd"
            if path.exists():
                continue
            content, items = made.to_cframe(), np.ascontiguousarray(made[...]).tobytes()
            path.write_bytes(content)
            if "lossy" in name:
                path.with_suffix(".items").write_bytes(items)
            sums = [hashlib.sha256(part).hexdigest() for part in (content, items)]
            lines.append(f"{sums[0]} {sums[1]} {path.name}\n")
    with (FOLDER / "MANIFEST").open("a") as manifest:
        manifest.writelines(lines)


if __name__ == "__main__":
    main()
