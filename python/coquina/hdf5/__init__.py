"""HDF5 files: h5py's vocabulary, with datasets that are arrays, decoded and encoded on all cores.

>>> import tempfile, numpy as np, coquina as cq
>>> path = tempfile.mkdtemp() + "/run.h5"
>>> with cq.hdf5.File(path, "w") as f:
...     d = f.create_dataset("images/raw", data=np.arange(600).reshape(6, 10, 10), maxshape=(None, 10, 10))
...     d.attrs["unit"] = "counts"
>>> with cq.open(path) as f:
...     f["images/raw"][2, ::5, -1], f["images/raw"].access
(array([209, 259]), 'direct')

h5py has the file open and does everything but the chunks; it is imported with this module. Compressed
datasets that we write are read by h5py with hdf5plugin, or with our own plugin, and by PyTables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.hdf5 import plugin
from coquina.hdf5.appending import AppendSession
from coquina.hdf5.chunks import ChunkInfo
from coquina.hdf5.copying import Repacked, copy, repack
from coquina.hdf5.dataset_info import DatasetInfo
from coquina.hdf5.datasets import Dataset
from coquina.hdf5.describing import ACCESS_PATHS, describe
from coquina.hdf5.files import File, nodes_for
from coquina.hdf5.groups import Group
from coquina.hdf5.recovery import Recovery, recover
from coquina.hdf5.untyped import h5py

if TYPE_CHECKING:
    from coquina.hdf5.describing import AccessPath

__all__ = [
    "AppendSession",
    "ChunkInfo",
    "Dataset",
    "DatasetInfo",
    "File",
    "Group",
    "Recovery",
    "Repacked",
    "copy",
    "fast",
    "recover",
    "repack",
]


def fast(h5: Any, *, access: AccessPath | None = None) -> Any:
    """Return a `Dataset`, `Group` or `File` for one that h5py has open; both may be used side by side.

    access: a slower access path to the chunks of a dataset than the fastest that is legal: "fetched" or
        "whole".
    Raises TypeError for what h5py has not open, and for a dataset whose items no array has; ValueError for a
    path that is not legal.

    >>> import numpy as np
    >>> import coquina as cq
    >>> import h5py
    >>> with h5py.File("f.h5", "w") as f:
    ...     d = f.create_dataset("x", data=np.arange(1000), compression="gzip")
    ...     print(cq.hdf5.fast(d)[-3:])
    [997 998 999]
    """
    if not isinstance(h5, h5py.HLObject):
        raise TypeError(
            f"fast: takes files, groups and datasets of h5py, not {type(h5).__name__}; open takes paths"
        )
    if isinstance(h5, h5py.File):
        return File.of(h5)
    nodes = nodes_for(h5)
    if not isinstance(h5, h5py.Dataset):
        return nodes.node(h5)
    facts = describe(h5)
    if facts is None:
        raise TypeError(f"{h5.name}: an array cannot hold elements of {h5.id.get_type().dtype}")
    if access is not None and ACCESS_PATHS.index(access) < ACCESS_PATHS.index(facts.access):
        raise ValueError(f"{h5.name}: access path {access!r} is not legal: {facts.reason}")
    return Dataset(h5, facts, nodes, access=access)


plugin.register()
