"""Libraries that keep arrays in chunks, as ways of a contest: coquina, python-blosc2, HDF5 filters by h5py.

In: a grid and options. Out: `Way`s.
What must hold: all get the same chunks; blocks go to the two that know them. libhdf5's filters have one
thread, the others two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import coquina as cq
from bench.arrays.array_peers import FILES_IN_MEMORY, H5_OPTIONS, h5py
from bench.common.inputs import Grid
from bench.common.peers import THREADS, blosc2
from bench.images.quality_contest import OURS, Way

BLOSC2, H5PY = "python-blosc2", "h5py"


def coquina_way(codec: str, setting: str, bound: float | None, grid: Grid, /, **options: Any) -> Way:
    """An array of ours in memory; its cache of decoded blocks is off."""

    def encode(x: np.ndarray) -> Any:
        array = cq.asarray(
            x, chunks=grid.chunks, blocks=grid.blocks, threads=THREADS, **{"level": 5, **options}
        )
        array.cache_bytes = 0
        return array

    return Way(OURS, codec, setting, encode, lambda array: array.cbytes, lambda array: array[...], bound)


def blosc2_way(codec: str, setting: str, bound: float | None, grid: Grid, /, **cparams: Any) -> Way:
    """An array of python-blosc2 in memory."""
    options = {"cparams": {**cparams, "nthreads": THREADS}, "dparams": {"nthreads": THREADS}}

    def encode(x: np.ndarray) -> Any:
        return blosc2.asarray(x, chunks=grid.chunks, blocks=grid.blocks, **options)

    return Way(
        BLOSC2, codec, setting, encode, lambda array: array.schunk.cbytes, lambda array: array[...], bound
    )


@dataclass(frozen=True)
class Image:
    """An HDF5 file as bytes, and the bytes of its dataset's chunks."""

    content: bytes
    cbytes: int


def h5py_way(codec: str, setting: str, bound: float | None, grid: Grid, pipeline: Any) -> Way:
    """A dataset in an HDF5 file in memory, written and read through a filter of libhdf5."""

    def encode(x: np.ndarray) -> Image:
        name = f"coquina-bench-{next(FILES_IN_MEMORY)}"
        with h5py.File(name, "w", driver="core", backing_store=False, **H5_OPTIONS) as file:
            chunks = tuple(map(min, grid.chunks, x.shape))
            dataset = file.create_dataset("x", data=x, chunks=chunks, compression=pipeline)
            file.flush()
            return Image(file.id.get_file_image(), dataset.id.get_storage_size())

    def decode(image: Image) -> np.ndarray:
        with h5py.File(h5py.h5f.open_file_image(image.content), "r") as file:
            return file["x"][...]

    return Way(H5PY, codec, setting, encode, lambda image: image.cbytes, decode, bound)
