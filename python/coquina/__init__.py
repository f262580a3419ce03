"""Compressed arrays and tables that you compute on directly.

    import coquina as cq
    chunk = cq.compress(x, codec="lz4")          # any contiguous buffer to a small chunk
    cq.decompress(chunk) == x.tobytes()          # and back, on all cores
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
from coquina.chunks import ChunkInfo, chunk_info

__all__ = [
    "ChunkInfo",
    "CoquinaError",
    "CorruptError",
    "LimitError",
    "TruncatedError",
    "UnsupportedError",
    "__version__",
    "chunk_info",
    "codecs",
    "compress",
    "decompress",
    "decompress_into",
    "decompress_items",
    "filters",
    "num_threads",
    "set_num_threads",
]
