"""When a table that becomes very long has its rows written again, in larger chunks.

In: numbers of rows. Out: whether it is to be done.
"""

from __future__ import annotations

#: Arrays have no more chunks; the engine says so too.
_CHUNKS_MAX = (1 << 28) - 6
#: So many rows are written again rather than that a table cannot grow.
_ROWS_REWRITTEN = 1 << 20


def needs_larger_chunks(nrows: int, chunk_rows: int, wanted: int, written: int) -> bool:
    """Whether `nrows` rows would have too many chunks of `chunk_rows`, and not of `wanted`.

    written: how many rows there are now; a table that has many keeps its chunks.
    """
    return nrows // chunk_rows > _CHUNKS_MAX >= nrows // wanted and written <= _ROWS_REWRITTEN
