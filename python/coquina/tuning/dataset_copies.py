"""Copies of HDF5 datasets, stored as it is advised.

In: recommendations, and what is copied. Out: a new file, made as `coquina repack` makes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.hdf5.copying import repack_by, target_of
from coquina.hdf5.places import inside
from coquina.hdf5.planning import Wish

if TYPE_CHECKING:
    from coquina._core import Path
    from coquina.tuning.recommendation import Recommendation
    from coquina.tuning.ways import Way


def copy_dataset(advice: Recommendation, dataset: Any, path: Path, overwrite: bool) -> Any:
    """Copy a dataset of an HDF5 file to a new one, stored as it is advised, or nearly, if HDF5 cannot.

    Raises ValueError where no way was tried that HDF5 can be told of.
    """
    where = dataset.file.path, dataset.name
    way = next((one.way for one in advice.tried if one.way.is_plain), None)
    if where[0] is None or way is None:
        raise ValueError("apply: no way that HDF5 can be told of was tried; tune the file, or store a .b2nd")
    wish = wish_of(advice, way, len(inside(dataset).shape))
    return copied(where, {f"/{dataset.name.rpartition('/')[2]}": wish}, path, overwrite, advice.threads)


def wish_of(advice: Recommendation, way: Way | None, axes: int) -> Wish:
    """Return how a dataset is to be stored: in a way, or each of its chunks as it suits that."""
    chunks, blocks = advice.chunks[:axes], advice.blocks[:axes]
    if way is None:
        return Wish("blosc2", blocks=blocks, chunks=chunks, tuning=advice.wanted.terms)
    return Wish("blosc2", way.codec, way.level, way.filters, blocks=blocks, chunks=chunks, lossy=advice.lossy)


def copied(
    where: tuple[str, str], each: dict[str, Wish], path: Path, overwrite: bool, threads: int | None
) -> Any:
    """Copy what is at a name in an HDF5 file to a new one, each dataset stored as it is wished."""
    out = target_of(where[0], path, overwrite=overwrite)
    return repack_by(Wish(each=each), where[0], out, group=where[1], overwrite=overwrite, threads=threads)
