"""How the arrays of a columns table are stored: defaults, what some arrays differ in, and the JSON for it.

In: what a user asks for, or what stands in a file. Out: a `Storage` without gaps, which a `Home` makes arrays
by: its chunks and blocks are rows, the same in all columns.
Source: docs/formats/columns.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from coquina import _core
from coquina._core import CorruptError
from coquina.hdf5.filters import usual_level
from coquina.storage_options import Storage

if TYPE_CHECKING:
    from coquina.tuning_options import Terms

#: Rows of a block: the unit that is decoded, skipped and walked, the same in all columns.
BLOCK_ROWS = 1 << 14
#: Rows of a chunk where nobody says how many rows are to come; between these two where somebody does.
CHUNK_ROWS = 1 << 16
_CHUNK_ROWS_MIN, _CHUNK_ROWS_MAX = 1 << 12, 1 << 19
_TEXTS_PER_CHUNK = 1 << 10


def column_storage(wanted: Storage, expected_rows: int | None = None) -> Storage:
    """Return how the columns of a new table are stored: as wanted, with the defaults of tables.

    Raises ValueError for numbers of rows that no chunk can have.
    """
    filled = replace(
        wanted,
        level=usual_level(wanted.compressor) if wanted.level is None else wanted.level,
        filters="shuffle" if wanted.filters is None and _is_usual(wanted.codec) else wanted.filters,
        filter=wanted.compressor,
        fletcher32=bool(wanted.fletcher32),
        checksums=wanted.checksums is not False,
        chunks=(_chunk_rows(expected_rows),) if wanted.chunks is None else wanted.chunks,
        blocks=(BLOCK_ROWS,) if wanted.blocks is None else wanted.blocks,
    )
    chunk_rows, block_rows = rows_of(filled)
    if chunk_rows < 1 or block_rows < 1:
        raise ValueError(f"chunks of {chunk_rows} rows, blocks of {block_rows}: at least 1")
    return filled


def _is_usual(codec: Any) -> bool:
    """Whether a codec takes bytes that were shuffled: others say themselves what suits them."""
    return codec is None or isinstance(codec, str)


def _chunk_rows(rows: int | None) -> int:
    """Return how many rows of a chunk suit a table of about `rows` rows: a power of two."""
    if rows is None:
        return CHUNK_ROWS
    wanted = 1 << max(rows // 8, 1).bit_length()
    return min(max(wanted, _CHUNK_ROWS_MIN), _CHUNK_ROWS_MAX)


def rows_of(storage: Storage) -> tuple[int, int]:
    """Return how many rows chunks and blocks have."""
    (chunk_rows,), (block_rows,) = cast("Any", storage.chunks), cast("Any", storage.blocks)
    return chunk_rows, block_rows


def for_array(storage: Storage, path: str) -> Storage:
    """Return how the array at a path is made."""
    chunk_rows, block_rows = rows_of(storage)
    return replace(storage.part(path), blocks=(min(block_rows, chunk_rows),))


def for_bytes(storage: Storage) -> Storage:
    """Return what suits the bytes of text, of which rows have several."""
    chunk_rows, block_rows = rows_of(storage)
    return replace(storage, chunks=(min(8 * chunk_rows, 1 << 22),), blocks=(4 * block_rows,))


def for_few(storage: Storage) -> Storage:
    """Return what suits short lists, that are read at once."""
    # Not compressed: a chunk that is longer than before would leave its place while rows are appended.
    return Storage(
        level=0,
        filters="nofilter",
        filter="none",
        fletcher32=storage.fletcher32 or storage.checksums,
        checksums=storage.checksums,
        chunks=(_TEXTS_PER_CHUNK,),
        blocks=(_TEXTS_PER_CHUNK,),
    )


def to_json(storage: Storage) -> dict[str, Any]:
    """Return it as JSON has it. Bounds are left out: arrays keep their own."""
    chunk_rows, block_rows = rows_of(storage)
    kept: dict[str, Any] = {"chunk_rows": chunk_rows, "block_rows": block_rows}
    kept |= {name: getattr(storage, name) for name in ("filter", "codec", "level", "filters", "fletcher32")}
    # What is as it was before there were tuning and checksums stays so: earlier versions read it.
    if not storage.checksums:
        kept["checksums"] = False
    if storage.tuning is not None:
        kept["tuning"] = _core.tuning_text(storage.tuning)
    if storage.dictionary:
        kept["dictionary"] = True
    return kept


def from_json(stored: Any, rows: int) -> Storage:
    """Return what `to_json` made; for a table of `rows` rows if it is nothing of that kind."""
    if isinstance(stored, dict):
        known: dict[str, Any] = {
            "fletcher32": False,
            "tuning": None,
            "checksums": True,
            "dictionary": False,
        }
        known |= cast("dict[str, Any]", stored)
        names = {"filter", "codec", "filters", "tuning", *_KINDS}
        if set(known) == names and all(isinstance(known[name], kind) for name, kind in _KINDS.items()):
            known["chunks"], known["blocks"] = (known.pop("chunk_rows"),), (known.pop("block_rows"),)
            known["tuning"] = _goal(known["tuning"])
            # Pairs of a name and a parameter are lists in JSON.
            if isinstance(known["filters"], list):
                known["filters"] = [_pair(one) for one in cast("list[Any]", known["filters"])]
            known["codec"] = _pair(known["codec"])
            return column_storage(Storage(**known))
    return column_storage(Storage(), rows)


#: What is checked of the JSON.
_KINDS = {
    **dict.fromkeys(("chunk_rows", "block_rows", "level"), int),
    **dict.fromkeys(("fletcher32", "checksums", "dictionary"), bool),
}


def _pair(found: Any) -> Any:
    return tuple(cast("list[Any]", found)) if isinstance(found, list) else found


def _goal(text: Any) -> Terms | None:
    """Return what a text says that new columns are tuned for; None if it is nothing of that kind."""
    try:
        return _core.tuning_of_text(text) if isinstance(text, str) else None
    except CorruptError:
        return None
