"""How the arrays of a columns table are cut and compressed: rows of chunks and blocks, codec and filters.

In: what a user asks for, or what stands in a file. Out: a `Cut`, which a `Home` makes arrays by.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast

from coquina import _core
from coquina._core import CorruptError
from coquina.tuning_options import DEFAULT_LEVEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coquina._core import Filters
    from coquina.lossy import Lossy
    from coquina.tuning.ways import Way
    from coquina.tuning_options import Terms

#: Rows of a block: the unit that is decoded, skipped and walked, the same in all columns.
BLOCK_ROWS = 1 << 14
#: Rows of a chunk where nobody says how many rows are to come; between these two where somebody does.
CHUNK_ROWS = 1 << 16
_CHUNK_ROWS_MIN, _CHUNK_ROWS_MAX = 1 << 12, 1 << 19
_TEXTS_PER_CHUNK = 1 << 10


@dataclass(frozen=True, slots=True)
class Cut:
    """How new arrays are cut and compressed; see `Group.create_dataset` for all but the numbers of rows.

    lossy: of one column, whose array says so itself. ways: codec, level and filters of some arrays, by their
    paths, for those that are made now. The rest is stored, for all columns.
    tuning: what chunks are tuned for; codec, level and filters are then those that tuning starts from.
    """

    chunk_rows: int = CHUNK_ROWS
    block_rows: int = BLOCK_ROWS
    filter: str = "blosc2"
    codec: str | None = None
    level: int = DEFAULT_LEVEL
    filters: Filters = "shuffle"
    fletcher32: bool = False
    lossy: Lossy | None = None
    ways: Mapping[str, Way] | None = None
    tuning: Terms | None = None
    checksums: bool = True

    def __post_init__(self) -> None:
        """Check the numbers of rows. Raises ValueError for those that no chunk can have."""
        if self.chunk_rows < 1 or self.block_rows < 1:
            raise ValueError(f"chunks of {self.chunk_rows} rows, blocks of {self.block_rows}: at least 1")

    @classmethod
    def for_rows(cls, rows: int | None) -> int:
        """Return how many rows of a chunk suit a table of about `rows` rows: a power of two."""
        if rows is None:
            return CHUNK_ROWS
        wanted = 1 << max(rows // 8, 1).bit_length()
        return min(max(wanted, _CHUNK_ROWS_MIN), _CHUNK_ROWS_MAX)

    def at(self, path: str) -> Cut:
        """Return what the array at a path is made with."""
        way = (self.ways or {}).get(path)
        if way is None:
            return self
        return replace(self, codec=way.codec, level=way.level, filters=way.filters, tuning=None)

    def for_bytes(self) -> Cut:
        """Return what suits the bytes of text, of which rows have several."""
        return replace(self, chunk_rows=min(8 * self.chunk_rows, 1 << 22), block_rows=4 * self.block_rows)

    def for_few(self) -> Cut:
        """Return what suits short lists, that are read at once."""
        # Not compressed: a chunk that is longer than before would leave its place while rows are appended.
        rows = _TEXTS_PER_CHUNK
        has_sum = self.fletcher32 or self.checksums
        return Cut(rows, rows, "none", None, 0, "nofilter", has_sum, checksums=self.checksums)

    def stored(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        kept = asdict(replace(self, ways=None))
        del kept["lossy"], kept["ways"]
        goal = kept.pop("tuning")
        # What is as it was before there were tuning and checksums stays so: earlier versions read it.
        if kept["checksums"]:
            del kept["checksums"]
        return kept if goal is None else {**kept, "tuning": _core.tuning_text(goal)}

    @classmethod
    def read(cls, stored: Any, rows: int) -> Cut:
        """Return what `stored` made; for a table of `rows` rows if it is nothing of that kind."""
        if isinstance(stored, dict):
            usual = {"fletcher32": False, "tuning": None, "checksums": True}
            known: dict[str, Any] = {**usual, **cast("dict[str, Any]", stored)}
            numbers = dict.fromkeys(("chunk_rows", "block_rows", "level"), int)
            kinds = {**numbers, **dict.fromkeys(("fletcher32", "checksums"), bool)}
            if set(known) == {one.name for one in fields(cls)} - {"lossy", "ways"} and all(
                isinstance(known[name], kind) for name, kind in kinds.items()
            ):
                known["tuning"] = _goal(known["tuning"])
                return cls(**known)
        return cls(chunk_rows=cls.for_rows(rows))


def _goal(text: Any) -> Terms | None:
    """Return what a text says that new columns are tuned for; None if it is nothing of that kind."""
    try:
        return _core.tuning_of_text(text) if isinstance(text, str) else None
    except CorruptError:
        return None
