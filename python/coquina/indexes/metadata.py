"""What is said of an index beside its arrays: one attribute of JSON, which names all that belongs to it.

In: text, hostile for all we know. Out: `Metadata`.
Source: docs/formats/indexes.md, "Metadata".
Invariant: what is read was checked: types, names of kinds, numbers that are not negative.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass, field, fields
from typing import Any, cast

from coquina._core import CorruptError, UnsupportedError
from coquina.indexes import units

VERSION = 1
KINDS = ("full", "partial", "light", "zones")
#: The attribute of an index is called this and its key.
PREFIX = "coquina_index:"
BLOCK_ENTRIES = 1 << 12
_TYPES: dict[type[object], str] = {
    int: "a number",
    str: "text",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}
_NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
KEY_KINDS = frozenset(("bool", *_NUMBERS, "time", "S", "U", "text"))


@dataclass
class Metadata:
    """An index as it is described.

    name: of the index. column, is_expression: what is indexed. kind, key_kind: of the index, and of its keys.
    dtype: of the values, for people. bucket_rows, block_entries: see the format. rows: how many there were
    when it was last written. spans: the number of the array with the spans; 0 for none. runs: number,
    entries, rows without a key as stored, and rows of each. zones: the number of the arrays of zones. next:
    a number that no array has. stamp: what freshness has kept.
    """

    name: str
    column: str
    is_expression: bool
    kind: str
    key_kind: str
    dtype: str
    bucket_rows: int = 1
    block_entries: int = BLOCK_ENTRIES
    rows: int = 0
    spans: int = 0
    zones: int = 0
    next: int = 1
    runs: list[list[int]] = field(default_factory=list[list[int]])
    stamp: dict[str, Any] = field(default_factory=dict[str, Any])

    def text(self) -> str:
        """Return it as JSON, with a checksum of the JSON without it."""
        found: dict[str, Any] = {"version": VERSION, **asdict(self)}
        return json.dumps({**found, "checksum": _checksum(found)}, ensure_ascii=True)

    @classmethod
    def read(cls, text: Any) -> Metadata:
        """Return what `text` made. Raises CorruptError, and UnsupportedError for a later version."""
        try:
            found = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise CorruptError(f"the description of an index is no JSON: {error}") from None
        if not isinstance(found, dict):
            raise CorruptError("the description of an index is no object")
        known = cast("dict[str, Any]", found)
        # Those of earlier versions have none.
        if "checksum" in known and known.pop("checksum") != _checksum(known):
            raise CorruptError("the description of an index: its checksum does not match")
        if known.pop("version", None) != VERSION:
            raise UnsupportedError(f"an index of another version than {VERSION}: make it anew")
        for one in fields(cls):
            kind = cast("type[object]", type(getattr(_EXAMPLE, one.name)))
            if type(known.get(one.name)) is not kind:
                raise CorruptError(f"the description of an index: {one.name} is not {_TYPES[kind]}")
        made = cls(**{one.name: known[one.name] for one in fields(cls)})
        made.check()
        return made

    def check(self) -> None:
        """Raise CorruptError for what no index has."""
        numbers = (self.rows, self.spans, self.zones, self.next, *[n for run in self.runs for n in _run(run)])
        is_cut = self.bucket_rows in (1, units.BUCKET_ROWS) and 1 <= self.block_entries <= 1 << 16
        if min(numbers) < 0 or max(numbers) >= 1 << 62 or not is_cut:
            raise CorruptError("the description of an index: a number is out of range")
        if self.kind not in KINDS or self.key_kind not in KEY_KINDS:
            raise CorruptError(f"the description of an index: of kind {self.kind!r}, keys {self.key_kind!r}")


def _checksum(found: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(found, ensure_ascii=True).encode())


def _run(run: Any) -> list[int]:
    if not isinstance(run, list) or len(cast("list[Any]", run)) != 4:
        raise CorruptError("the description of an index: a run is four numbers")
    numbers = cast("list[Any]", run)
    if any(type(one) is not int for one in numbers):
        raise CorruptError("the description of an index: a run is four numbers")
    return numbers


_EXAMPLE = Metadata("", "", False, "full", "int64", "")
