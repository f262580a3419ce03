"""Compressed arrays and tables that you compute on directly.

>>> import coquina as cq
>>> chunk = cq.compress(bytes(1000), codec="lz4")  # any contiguous buffer to a small chunk
>>> len(chunk), cq.decompress(chunk) == bytes(1000)  # and back, on all cores
(32, True)
"""

from coquina._core import (
    CoquinaError,
    CorruptError,
    LimitError,
    TruncatedError,
    UnsupportedError,
    __version__,
    codecs,
    compress,
    decompress,
    decompress_into,
    decompress_items,
    filters,
    num_threads,
    set_num_threads,
)
from coquina.array import Array
from coquina.array_info import ArrayInfo, Damage
from coquina.bloscpack import PackFile, append, dumps, loads, pack, unpack
from coquina.chunks import ChunkInfo, chunk_info
from coquina.constants import empty, empty_like, full, full_like, nans, ones, ones_like, zeros, zeros_like
from coquina.creation import asarray, from_slabs
from coquina.frames import Frame
from coquina.opening import from_bytes, open
from coquina.sequences import arange, frombuffer, fromiter, linspace
from coquina.views import View


def __getattr__(name: str) -> object:
    """Import `coquina.hdf5` when it is asked for: it needs h5py, which takes longer than all of us."""
    if name == "hdf5":
        from importlib import import_module

        return import_module("coquina.hdf5")
    raise AttributeError(f"module 'coquina' has no attribute {name!r}")


__all__ = [
    "Array",
    "ArrayInfo",
    "ChunkInfo",
    "CoquinaError",
    "CorruptError",
    "Damage",
    "Frame",
    "LimitError",
    "PackFile",
    "TruncatedError",
    "UnsupportedError",
    "View",
    "__version__",
    "append",
    "arange",
    "asarray",
    "chunk_info",
    "codecs",
    "compress",
    "decompress",
    "decompress_into",
    "decompress_items",
    "dumps",
    "empty",
    "empty_like",
    "filters",
    "from_bytes",
    "from_slabs",
    "frombuffer",
    "fromiter",
    "full",
    "full_like",
    "linspace",
    "loads",
    "nans",
    "num_threads",
    "ones",
    "ones_like",
    "open",
    "pack",
    "set_num_threads",
    "unpack",
    "zeros",
    "zeros_like",
]
