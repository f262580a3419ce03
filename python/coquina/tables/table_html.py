"""Tables and selections for notebooks: the first and the last rows, kinds of columns, sizes.

In: a table, or a selection. Out: HTML without scripts, and without styles of the page.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, cast

from coquina.arrays.info import human
from coquina.quoting import quoted
from coquina.tables.first_look import COLUMNS_MAX, kind_of, parts_of_selection, parts_of_table, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coquina.tables.first_look import Part
    from coquina.tables.layout import ColumnSpec
    from coquina.tables.selection import Selection
    from coquina.tables.table import Table


def table_html(table: Table) -> str:
    """Return what a notebook shows of a table."""
    if table.is_closed:
        return f"<p>{escape(repr(table))}</p>"
    return _table(table.schema, lambda names: parts_of_table(table, names)) + _facts(table)


def selection_html(selection: Selection) -> str:
    """Return what a notebook shows of a selection: its first rows."""
    if selection.is_closed:
        return f"<p>{escape(repr(selection))}</p>"
    table = _table(selection.schema, lambda names: parts_of_selection(selection, names))
    return f"{table}<p>{escape(repr(selection))}</p>"


def _table(schema: Sequence[ColumnSpec], read: Callable[[list[str]], list[Part]]) -> str:
    shown = list(schema)[:COLUMNS_MAX]
    gap = f"<tr><td>&#8942;</td>{'<td>&#8942;</td>' * len(shown)}</tr>"
    parts = read([spec.name for spec in shown])
    columns = [texts_of(parts, spec, "") for spec in shown]
    bodies = [_rows(numbers, [column[at] for column in columns]) for at, (numbers, _) in enumerate(parts)]
    body = gap.join(bodies)
    return f"<table>{_head(shown)}<tbody>{body}</tbody></table>"


def _head(shown: list[ColumnSpec]) -> str:
    first = "".join([f"<th>{escape(quoted(spec.name))}</th>" for spec in shown])
    second = "".join([f"<td><i>{escape(kind_of(spec))}</i></td>" for spec in shown])
    return f"<thead><tr><th></th>{first}</tr><tr><td></td>{second}</tr></thead>"


def _rows(numbers: Sequence[int], columns: list[list[str]]) -> str:
    lines: list[str] = []
    for number, *row in zip(numbers, *columns, strict=True):
        cells = "".join([f"<td>{escape(cell)}</td>" for cell in row])
        lines.append(f"<tr><th>{number}</th>{cells}</tr>")
    return "".join(lines)


def _facts(table: Table) -> str:
    info = table.info
    parts = [f"{table.nrows} rows", f"{len(table.columns)} columns", f"layout {table.layout.kind}"]
    nbytes, cbytes = cast("Any", info.get("nbytes")), cast("Any", info.get("cbytes"))
    if nbytes is not None and cbytes is not None:
        parts.append(f"{human(nbytes)} in {human(cbytes)}")
    name = f"{table.name} of {table.path}" if table.path else str(table.name)
    return f"<p>{escape(quoted(name))}: {escape(', '.join(parts))}</p>"
