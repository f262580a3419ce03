"""How a table of python-blosc2 describes its columns: the text of its schema, and where each column lies.

In: the frame `_meta` of a table. Out: a description for each column.
Source: docs/formats/blosc2-stores.md, "Tables".
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coquina._core import CorruptError, UnsupportedError
from coquina.stores.metadata import list_of, map_of, variable

if TYPE_CHECKING:
    from coquina._core import FrameHandle

KIND = "ctable"
_VERSIONS = (1, 2, 3)
_ESCAPED = str.maketrans({"%": "%25", "/": "%2F", "\\": "%5C", ".": "%2E"})
#: A name of a nested column: its parts, between dots that have no backslash before them.
_PART = re.compile(r"(?:\\.|[^.\\])+")


@dataclass(frozen=True, slots=True)
class Described:
    """A column, as a table describes it. fields: what else is said, by name."""

    name: str
    kind: str
    fields: dict[str, Any]

    @property
    def key(self) -> str:
        """Where it lies below the table."""
        parts = [re.sub(r"\\(.)", r"\1", part) for part in _PART.findall(self.name)]
        return "/".join(["_cols", *(part.translate(_ESCAPED) for part in parts)])

    @property
    def has_mask(self) -> bool:
        """Whether a mask says which values there are."""
        return self.fields.get("null_storage") == "mask"

    @property
    def null_value(self) -> Any:
        """The value that stands for none; None if there is no such value."""
        return self.fields.get("null_value") if self.fields.get("nullable") and not self.has_mask else None


def is_table(meta: FrameHandle) -> bool:
    """Whether the frame `_meta` says that all around it is a table."""
    return variable(meta, "kind") == KIND


def schema_of(meta: FrameHandle, where: str) -> dict[str, Any]:
    """Return what a table says of its columns. Raises CorruptError, UnsupportedError. where: for errors."""
    text = variable(meta, "schema")
    try:
        schema = map_of(json.loads(text)) if isinstance(text, str) else None
    except (ValueError, RecursionError) as error:
        raise CorruptError(f"{where}: schema: no JSON: {error}") from None
    if schema is None:
        raise CorruptError(f"{where}: no schema")
    if schema.get("version") not in _VERSIONS:
        raise UnsupportedError(f"{where}: schema of version {schema.get('version')!r}")
    return schema


def columns_of(schema: dict[str, Any], where: str) -> list[Described]:
    """Return the stored columns that a schema describes. Raises CorruptError. where: for errors."""
    columns: list[Described] = []
    for one in map(map_of, list_of(schema.get("columns")) or []):
        name, kind = (None, None) if one is None else (one.get("name"), one.get("kind"))
        if one is None or not isinstance(name, str) or not isinstance(kind, str) or not name:
            raise CorruptError(f"{where}: schema: a column without name and kind")
        columns.append(Described(name, kind, one))
    if len({column.name for column in columns}) != len(columns):
        raise CorruptError(f"{where}: schema: two columns of one name")
    return columns
