"""What coquina is compared with, each behind the same few calls: file formats for arrays, and Blosc2 chunks.

In: arrays and paths, or bytes. Out: `Format`s (a writer and a reader) and the reason for each that is
absent; python-blosc2's options for coquina's names of codecs and filters.
What must hold: a peer that is missing is reported by name, never left out in silence.
"""

from __future__ import annotations

import collections
import collections.abc
import importlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import coquina as cq

THREADS = 2
CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")


def optional(name: str) -> ModuleType | None:
    """The module, or None where it is not installed or does not run on this Python."""
    if name == "bloscpack":
        # bloscpack 0.16 uses a name that Python 3.10 moved; this is all it needs on 3.11 with NumPy 2.
        setattr(collections, "MutableMapping", collections.abc.MutableMapping)  # noqa: B010
    try:
        return importlib.import_module(name)
    except Exception:  # a peer that fails to import for any reason is an absent peer
        return None


blosc2: Any = optional("blosc2")
bloscpack: Any = optional("bloscpack")
joblib: Any = optional("joblib")
numexpr: Any = optional("numexpr")
if bloscpack:
    bloscpack.numpy_io.blosc.set_nthreads(THREADS)
PACKAGES = ("blosc2", "blosc", "bloscpack", "joblib", "lz4")


def set_threads(threads: int) -> None:
    """Has coquina, python-blosc2 (in HDF5 files also) and numexpr use so many threads."""
    cq.set_num_threads(threads)
    if blosc2:
        blosc2.set_nthreads(threads)
    if numexpr:
        numexpr.set_num_threads(threads)
    os.environ["BLOSC_NTHREADS"] = str(threads)


@dataclass(frozen=True)
class Format:
    """One way to keep an array in a file. `family` groups rows and colours, `label` tells them apart."""

    family: str
    label: str
    write: Callable[[np.ndarray, Path], object]
    read: Callable[[Path], np.ndarray]
    suffix: str

    @property
    def name(self) -> str:
        """Family and label."""
        return f"{self.family} {self.label}".strip()


def coquina_file(codec: str, level: int, filters: str) -> Format:
    """A Bloscpack file by coquina."""

    def write(x: np.ndarray, path: Path) -> None:
        cq.pack(x, path, codec=codec, level=level, filters=(filters,), threads=THREADS)

    def read(path: Path) -> np.ndarray:
        return np.asarray(cq.unpack(path, threads=THREADS))

    return Format("coquina .blp", f"{codec}-{level} {filters}", write, read, ".blp")


def bloscpack_file(codec: str, level: int) -> Format:
    """A Bloscpack file by bloscpack itself, with shuffle."""

    def write(x: np.ndarray, path: Path) -> None:
        arguments = bloscpack.BloscArgs(typesize=x.itemsize, clevel=level, shuffle=True, cname=codec)
        # bloscpack refuses its own default of 1 MiB for items that do not divide it.
        size = 2**20 // x.itemsize * x.itemsize
        bloscpack.pack_ndarray_to_file(x, str(path), chunk_size=size, blosc_args=arguments)

    def read(path: Path) -> np.ndarray:
        return bloscpack.unpack_ndarray_from_file(str(path))

    return Format("bloscpack", f"{codec}-{level} shuffle", write, read, ".blp")


def blosc2_file(codec: str, level: int, filters: str) -> Format:
    """An array file (b2nd) by python-blosc2."""

    def write(x: np.ndarray, path: Path) -> None:
        cparams = {
            "codec": codec_of(codec),
            "clevel": level,
            "filters": [filter_of(filters)],
            "nthreads": THREADS,
        }
        blosc2.asarray(x, urlpath=str(path), mode="w", cparams=cparams)

    def read(path: Path) -> np.ndarray:
        return blosc2.open(str(path), dparams={"nthreads": THREADS})[...]

    return Format("python-blosc2", f"{codec}-{level} {filters}", write, read, ".b2nd")


def coquina_chunk(codec: str, level: int, filters: tuple[str, ...], like: np.ndarray) -> Format:
    """A bare Blosc2 chunk by coquina in a file; it knows no dtype and shape, so they are those of `like`."""

    def write(x: np.ndarray, path: Path) -> None:
        options = {"codec": codec, "level": level, "filters": filters, "typesize": x.itemsize}
        path.write_bytes(cq.compress(as_bytes(x), **options, threads=THREADS))

    def read(path: Path) -> np.ndarray:
        out = np.empty(like.shape, like.dtype)
        cq.decompress_into(path.read_bytes(), as_bytes(out), threads=THREADS)
        return out

    return Format("coquina chunk", f"{codec}-{level} {'+'.join(filters)}", write, read, ".chunk")


def read_npz(path: Path) -> np.ndarray:
    """The one array of an NPZ file."""
    with np.load(path) as archive:
        return archive["array"]


def numpy_files() -> list[Format]:
    """NumPy's own formats."""
    return [
        Format("NPY", "", lambda x, path: np.save(path, x), np.load, ".npy"),
        Format("NPZ", "zlib-6", lambda x, path: np.savez_compressed(path, array=x), read_npz, ".npz"),
    ]


def joblib_file(codec: str, level: int) -> Format:
    """A joblib dump."""

    def write(x: np.ndarray, path: Path) -> None:
        joblib.dump(x, path, compress=(codec, level))

    return Format("joblib", f"{codec}-{level}", write, lambda path: joblib.load(path), ".joblib")


def absent() -> dict[str, str]:
    """The peers that cannot take part here, and why."""
    missing = {
        "bloscpack": (bloscpack, "pip install bloscpack"),
        "python-blosc2": (blosc2, "pip install blosc2"),
        "joblib": (joblib, "pip install joblib"),
        "joblib lz4": (optional("lz4.frame") if joblib else None, "pip install joblib lz4"),
    }
    return {name: f"not here: {hint}" for name, (module, hint) in missing.items() if module is None}


def codec_of(name: str) -> Any:
    """python-blosc2's name of a codec."""
    return blosc2.Codec[name.upper()]


def filter_of(name: str) -> Any:
    """python-blosc2's name of a filter."""
    return blosc2.Filter[name.upper()]


def blosc2_cparams(
    codec: str, level: int, filters: Sequence[str], typesize: int, threads: int = THREADS
) -> dict[str, Any]:
    """python-blosc2's `compress2` options for what coquina's `compress` is given.

    A dictionary, made once and used for many calls, so that no time of ours is counted as theirs.
    """
    return {
        "codec": codec_of(codec),
        "clevel": level,
        "filters": [filter_of(name) for name in filters],
        "filters_meta": [0] * len(filters),
        "typesize": typesize,
        "nthreads": threads,
        "splitmode": blosc2.SplitMode.AUTO_SPLIT,
    }


def as_bytes(x: np.ndarray) -> np.ndarray:
    """The array's bytes, uncopied where it is contiguous: neither library then looks at the dtype."""
    return np.ascontiguousarray(x).reshape(-1).view(np.uint8)
