"""How the arrays of a table should be stored: of a columns table each by itself, of records all as one.

In: an open table. Out: a `FileRecommendation`, and a copy of the table that is stored so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coquina.storage_options import Storage
from coquina.tables.making import NewTable, copy_plan
from coquina.tables.opening import is_file_name
from coquina.tuning.arrays import kept_cut, of_array, refuse_cut
from coquina.tuning.files import FileRecommendation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from coquina._core import Path
    from coquina.tuning.arrays import Request
    from coquina.tuning.recommendation import Recommendation
    from coquina.tuning.ways import Way

#: What records are called among the parts of a table.
RECORDS = "records"
_NO_ROWS = "it has no items"


def of_table(
    table: Any, request: Request, name: str, source: Callable[[], AbstractContextManager[Any]]
) -> FileRecommendation:
    """Return how the arrays of a table should be stored. They stay cut as they are.

    Raises ValueError for bounds, chunks, blocks and ways of reading, which are not for tables.
    """
    refuse_cut(request, "a table")
    if request.access != "any":
        raise ValueError(f"access {request.access!r}: access= takes arrays, not tables")
    if request.lossy is not None:
        raise ValueError("lossy: tables have bounds by column; see create_table")
    table.ready()
    request = replace(request, is_plain=table.file is not None)
    parts: dict[str, Recommendation] = {}
    skipped: dict[str, str] = {}
    for path, array in _arrays(table):
        if not array.shape[0]:
            skipped[path] = _NO_ROWS
            continue

        parts[path] = of_array(array, kept_cut(request, array), path, _no_source)

    def applied(advice: FileRecommendation, path: Path, overwrite: bool) -> Any:
        with source() as found:
            return _copy(advice, found, path, overwrite)

    name = name or str(table.name or table.path or "")
    return FileRecommendation(name=name, wanted=request.wanted, parts=parts, skipped=skipped, applied=applied)


def _no_source() -> AbstractContextManager[Any]:
    raise ValueError("apply: a part of a table cannot be copied alone; apply the advice to the whole table")


def _arrays(table: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arrays that a table stores, by their paths below it; but for short lists of text."""
    layout = table.layout
    home = getattr(layout, "home", None)
    if home is None:
        yield RECORDS, layout.array if hasattr(layout, "array") else table.dataset
        return
    for column in layout.columns:
        if home.kind(column) == "array":
            yield column, home.array(column)
        for part in home.names(column) if home.kind(column) == "group" else ():
            path = f"{column}/{part}"
            if part != "categories" and home.kind(path) == "array":
                yield path, home.array(path, zoned=False)


def _copy(advice: FileRecommendation, table: Any, path: Path, overwrite: bool) -> Any:
    """Return a copy of a table, its arrays stored as it is advised."""
    ways = {name: _way(one, is_plain=is_file_name(path)) for name, one in advice.parts.items()}
    kind = table.layout.kind
    if (own := ways.get(RECORDS)) is not None and kind != "columns":
        new = NewTable("rows" if kind == "rows" else "columns", _storage_of(own))
    else:
        new = NewTable(
            "rows" if kind == "rows" else "columns",
            Storage(each={name: _storage_of(way) for name, way in ways.items()}),
        )
    return copy_plan(table.plan, path, None, new, overwrite)


def _storage_of(way: Way) -> Storage:
    return Storage(way.codec, way.level, way.filters)


def _way(advice: Recommendation, *, is_plain: bool) -> Way:
    """Return the best way, of those that HDF5 can be told of if it must be one."""
    return next((one.way for one in advice.tried if one.way.is_plain or not is_plain), advice.best.way)
