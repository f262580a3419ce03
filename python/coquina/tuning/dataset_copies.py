"""Copies of HDF5 datasets, stored as it is advised.

In: recommendations, and what is copied. Out: a new file, made as `coquina repack` makes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coquina.hdf5.copying import repack_by, target_of
from coquina.hdf5.places import inside
from coquina.hdf5.planning import CopyRequest
from coquina.storage_options import Storage

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
        raise ValueError(
            "apply: none of the candidates can be stored in HDF5; tune the file, or store a .b2nd"
        )
    wanted = storage_of(advice, way, len(inside(dataset).shape))
    return copied(where, {f"/{dataset.name.rpartition('/')[2]}": wanted}, path, overwrite, advice.threads)


def storage_of(advice: Recommendation, way: Way | None, axes: int) -> Storage:
    """Return how a dataset is to be stored: in a way, or each of its chunks as it suits that."""
    wanted = Storage(filter="blosc2", chunks=advice.chunks[:axes], blocks=advice.blocks[:axes])
    if way is None:
        return replace(wanted, tuning=advice.wanted.terms)
    return replace(wanted, codec=way.codec, level=way.level, filters=way.filters, lossy=advice.lossy)


def copied(
    where: tuple[str, str], each: dict[str, Storage], path: Path, overwrite: bool, threads: int | None
) -> Any:
    """Copy what is at a name in an HDF5 file to a new one, each dataset stored as is said for it."""
    out = target_of(where[0], path, overwrite=overwrite)
    request = CopyRequest(Storage(each=each))
    return repack_by(request, where[0], out, group=where[1], overwrite=overwrite, threads=threads)
