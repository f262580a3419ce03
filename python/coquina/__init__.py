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
from coquina.bloscpack import PackFile, append, dumps, loads, open, pack, unpack
from coquina.chunks import ChunkInfo, chunk_info

__all__ = [
    "ChunkInfo",
    "CoquinaError",
    "CorruptError",
    "LimitError",
    "PackFile",
    "TruncatedError",
    "UnsupportedError",
    "__version__",
    "append",
    "chunk_info",
    "codecs",
    "compress",
    "decompress",
    "decompress_into",
    "decompress_items",
    "dumps",
    "filters",
    "loads",
    "num_threads",
    "open",
    "pack",
    "set_num_threads",
    "unpack",
]
