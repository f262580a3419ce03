"""Tables and selections as `print` shows them: some rows, in columns that line up.

In: a table, or a selection. Out: text no wider than the terminal; columns that have no room are named below.
"""

from __future__ import annotations

from shutil import get_terminal_size
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from coquina.quoting import quoted
from coquina.tables.first_look import COLUMNS_MAX, kind_of, parts_of_selection, parts_of_table, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coquina.tables.first_look import Part
    from coquina.tables.layout import ColumnSpec
    from coquina.tables.selection import Selection
    from coquina.tables.table import Table

_GAP = "…"


def table_text(table: Table) -> str:
    """Return the first and the last rows of a table, under names and kinds of its columns."""
    if table.is_closed:
        return repr(table)
    rows, columns = _counted(table.nrows, "row"), _counted(len(table.columns), "column")
    head = f"Table {quoted(table.name)!r}, {rows} x {columns} ({table.layout.kind})"
    return f"{head}\n{_grid(table.schema, lambda names: parts_of_table(table, names))}"


def selection_text(selection: Selection) -> str:
    """Return the first rows of a selection, under names and kinds of its columns."""
    if selection.is_closed:
        return repr(selection)
    return f"{selection!r}\n{_grid(selection.schema, lambda names: parts_of_selection(selection, names))}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _grid(schema: Sequence[ColumnSpec], read: Callable[[list[str]], list[Part]]) -> str:
    shown = list(schema)[:COLUMNS_MAX]
    parts = read([spec.name for spec in shown])
    numbers = ["", "", *_with_gaps([[str(number) for number in rows] for rows, _ in parts])]
    columns = [_lines_up(numbers, is_number=True)]
    room = max(40, get_terminal_size((120, 24)).columns) - _width(columns[0][0])
    for spec in shown:
        cells = [quoted(spec.name), kind_of(spec), *_with_gaps(texts_of(parts, spec, "null"))]
        is_number = spec.dtype.kind in "iufc" and not spec.shape and spec.categories is None
        column = _lines_up(cells, is_number=is_number and spec.enum is None)
        room -= 2 + _width(column[0])
        if room < 0 and len(columns) > 1:
            break
        columns.append(column)
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    if rest := [quoted(spec.name) for spec in list(schema)[len(columns) - 1 :]]:
        named = ", ".join(rest[:COLUMNS_MAX]) + (f", {_GAP}" if len(rest) > COLUMNS_MAX else "")
        lines.append(f"and {_counted(len(rest), 'column')} more: {named}")
    return "\n".join(lines)


def _with_gaps(parts: list[list[str]]) -> list[str]:
    cells = parts[0]
    for part in parts[1:]:
        cells = [*cells, _GAP, *part]
    return cells


def _lines_up(cells: list[str], *, is_number: bool) -> list[str]:
    """Return cells that are all of one width; numbers end in one column."""
    width = max(map(_width, cells))
    fills = [" " * (width - _width(cell)) for cell in cells]
    return [fill + cell if is_number else cell + fill for cell, fill in zip(cells, fills, strict=True)]


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)
