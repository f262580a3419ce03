"""Libraries that hold compressed arrays of n axes, each behind the same few calls.

In: an array, its grid, a codec, and a path or None for memory. Out: a `Held`, whose `array` is the library's
own object: benches index that, so that nothing of ours stands between the clock and a peer.
What must hold: all get the same chunks, codec, level, byte shuffle and number of threads; blocks go to the
two that know them. A library that is missing is named by `absent`, never left out in silence.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import coquina as cq
from bench.common.inputs import Grid
from bench.common.peers import THREADS, blosc2, blosc2_cparams, optional

# The filters of HDF5 read it when they are first used.
os.environ.setdefault("BLOSC_NTHREADS", str(THREADS))

LEVEL = 5
FILTER = "shuffle"
PACKAGES = ("blosc2", "zarr", "numcodecs", "h5py", "hdf5plugin")

zarr: Any = optional("zarr")
h5py: Any = optional("h5py")
hdf5plugin: Any = optional("hdf5plugin")
if zarr:
    zarr.config.set({"threading.max_workers": THREADS})


@dataclass(frozen=True)
class Held:
    """An array as a library holds it: `array[key]` reads, `array[key] = values` writes."""

    array: Any
    append: Callable[[np.ndarray], object]
    close: Callable[[], object]


@dataclass(frozen=True)
class Library:
    """One library. `create` replaces what stands at the path; `open` opens for reading."""

    name: str
    suffix: str
    create: Callable[[np.ndarray, Grid, str, Path | None], Held]
    open: Callable[[Path], Held]


def nothing() -> None:
    """Closes what needs no closing."""


def no_append(_: np.ndarray) -> None:
    """For what is open for reading."""
    raise TypeError("open for reading only")


def remove(path: Path | None) -> None:
    """Removes a file or a folder, if there is one."""
    if path is None:
        return
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def stored_bytes(path: Path) -> int:
    """What a file, or all files of a folder, take."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


# coquina: the cache of decoded blocks is off, so that reading the same block twice decodes it twice, as
# everywhere else here; `COQUINA_CACHED` is what a user gets.


def coquina_held(array: Any) -> Held:
    """The calls of an Array."""
    return Held(array, array.append, array.close)


def coquina_create(x: np.ndarray, grid: Grid, codec: str, path: Path | None) -> Held:
    """An array in memory or in a contiguous file, cache on."""
    remove(path)
    options = {"codec": codec, "level": LEVEL, "filters": [FILTER], "path": path}
    return coquina_held(cq.asarray(x, chunks=grid.chunks, blocks=grid.blocks, **options))


def coquina_open(path: Path) -> Held:
    """A file, cache on."""
    return coquina_held(cq.open(path))


def uncached(held: Held) -> Held:
    """The same array without its cache."""
    held.array.cache_bytes = 0
    return held


COQUINA = Library(
    "coquina",
    ".b2nd",
    lambda x, grid, codec, path: uncached(coquina_create(x, grid, codec, path)),
    lambda path: uncached(coquina_open(path)),
)
COQUINA_CACHED = Library("coquina, cached", ".b2nd", coquina_create, coquina_open)


# python-blosc2.


def blosc2_held(array: Any) -> Held:
    """The calls of an NDArray, whose own `append` is for one axis: the others grow by `resize`."""

    def append(rows: np.ndarray) -> None:
        start = array.shape[0]
        array.resize((start + rows.shape[0], *array.shape[1:]))
        array[start:] = rows

    return Held(array, append, nothing)


def blosc2_create(
    x: np.ndarray, grid: Grid, codec: str, path: Path | None, *, threads: int = THREADS
) -> Held:
    """An array in memory or in a contiguous file."""
    remove(path)
    options = {"cparams": blosc2_cparams(codec, LEVEL, [FILTER], x.itemsize, threads)}
    options["dparams"] = {"nthreads": threads}
    if path is not None:
        options |= {"urlpath": str(path), "mode": "w"}
    return blosc2_held(blosc2.asarray(x, chunks=grid.chunks, blocks=grid.blocks, **options))


def blosc2_open(path: Path, *, threads: int = THREADS) -> Held:
    """A file, for reading."""
    return blosc2_held(blosc2.open(str(path), mode="r", dparams={"nthreads": threads}))


BLOSC2 = Library("python-blosc2", ".b2nd", blosc2_create, blosc2_open)
# For a hundred elements. With two threads each of its calls starts them anew, which would hide all else.
BLOSC2_ONE_THREAD = Library(
    "python-blosc2",
    ".b2nd",
    lambda x, grid, codec, path: blosc2_create(x, grid, codec, path, threads=1),
    lambda path: blosc2_open(path, threads=1),
)


# Zarr, format 3: a folder with a file for each chunk, or a dictionary.


def zarr_held(array: Any) -> Held:
    """The calls of a Zarr array."""
    return Held(array, lambda rows: array.append(rows, axis=0), nothing)


def zarr_create(x: np.ndarray, grid: Grid, codec: str, path: Path | None) -> Held:
    """An array in memory or in a folder."""
    remove(path)
    store = zarr.storage.MemoryStore() if path is None else zarr.storage.LocalStore(path)
    blosc = zarr.codecs.BloscCodec(cname=codec, clevel=LEVEL, shuffle=FILTER, typesize=x.itemsize)
    chunks = tuple(map(min, grid.chunks, x.shape)) if not grid.grows else grid.chunks
    return zarr_held(zarr.create_array(store, data=x, chunks=chunks, compressors=blosc))


def zarr_open(path: Path) -> Held:
    """A folder, for reading."""
    return zarr_held(zarr.open_array(zarr.storage.LocalStore(path, read_only=True), mode="r"))


ZARR = Library("Zarr", ".zarr", zarr_create, zarr_open)


# h5py with hdf5plugin's Blosc filter, which is faster here than its Blosc2 filter. The cache of whole chunks
# is off, as is coquina's of blocks; within a call each chunk is decoded once all the same.

H5_OPTIONS = {"rdcc_nbytes": 0, "libver": "latest"}
FILES_IN_MEMORY = itertools.count()  # HDF5 tells them apart by name


def h5_held(file: Any) -> Held:
    """The calls of the one dataset of a file."""
    array = file["x"]

    def append(rows: np.ndarray) -> None:
        start = array.shape[0]
        array.resize(start + rows.shape[0], axis=0)
        array[start:] = rows
        file.flush()

    return Held(array, append, file.close)


def h5_create(x: np.ndarray, grid: Grid, codec: str, path: Path | None) -> Held:
    """A dataset in a file, in memory or not."""
    remove(path)
    if path is None:
        name = f"coquina-bench-{next(FILES_IN_MEMORY)}"
        file = h5py.File(name, "w", driver="core", backing_store=False, **H5_OPTIONS)
    else:
        file = h5py.File(path, "w", **H5_OPTIONS)
    pipeline = hdf5plugin.Blosc(cname=codec, clevel=LEVEL, shuffle=hdf5plugin.Blosc.SHUFFLE)
    limit = (None, *x.shape[1:]) if grid.grows else None
    chunks = tuple(map(min, grid.chunks, x.shape)) if not grid.grows else grid.chunks
    file.create_dataset("x", data=x, chunks=chunks, maxshape=limit, compression=pipeline)
    return h5_held(file)


def h5_open(path: Path) -> Held:
    """The dataset of a file, for reading."""
    return h5_held(h5py.File(path, "r", **H5_OPTIONS))


H5PY = Library("h5py", ".h5", h5_create, h5_open)


def absent() -> dict[str, str]:
    """The libraries that cannot take part here, and why."""
    missing = {
        COQUINA.name: (getattr(cq, "asarray", None), "this build of coquina has no arrays"),
        BLOSC2.name: (blosc2, "pip install blosc2"),
        ZARR.name: (zarr, "pip install zarr"),
        H5PY.name: (h5py and hdf5plugin, "pip install h5py hdf5plugin"),
    }
    return {name: hint for name, (module, hint) in missing.items() if module is None}


def libraries() -> list[Library]:
    """Those that take part: coquina first."""
    away = absent()
    return [library for library in (COQUINA, BLOSC2, ZARR, H5PY) if library.name not in away]
