"""Our filters for h5py, and for other programs that use libhdf5."""

from __future__ import annotations

import ctypes

from coquina.hdf5.untyped import h5z
from coquina.plugins import main_library, plugin_path

__all__ = ["plugin_path", "register"]

FILTERS = {"blosc2": 32026, "blosc": 32001, "bitshuffle": 32008, "lz4": 32004, "zstd": 32015}
"""The filters of the plugin: names and ids."""


def register() -> tuple[str, ...]:
    """Let h5py use our filters in this process, and return the names of those that it had not already.

    Filters of other packages, as of hdf5plugin, stay what they are; so do those that h5py finds by itself in
    HDF5_PLUGIN_PATH. Nothing is done in a build without plugins.
    """
    missing = [name for name, number in FILTERS.items() if not h5z.filter_avail(number)]
    try:
        library = ctypes.CDLL(str(main_library())) if missing else None
    except FileNotFoundError:
        return ()
    if library is None:
        return ()
    by_id = library.coquina_h5_filter
    by_id.argtypes, by_id.restype = [ctypes.c_int], ctypes.c_void_p
    for name in missing:
        h5z.register_filter(by_id(FILTERS[name]))
    return tuple(missing)
