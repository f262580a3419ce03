"""Tables and selections for notebooks: the first and the last rows, kinds of columns, sizes.

In: a table, or a selection. Out: HTML without scripts, and without styles of the page.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.info import human
from coquina.quoting import quoted, quoted_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coquina.tables.layout import ColumnSpec
    from coquina.tables.selection import Selection
    from coquina.tables.table import Table

_ENDS = 5
_COLUMNS_MAX = 20
_TEXT_MAX = 60


def table_html(table: Table) -> str:
    """Return what a notebook shows of a table."""
    if table.is_closed:
        return f"<p>{escape(repr(table))}</p>"
    names = table.columns[:_COLUMNS_MAX]
    nrows = table.nrows
    first = list(range(min(nrows, 2 * _ENDS if nrows <= 2 * _ENDS else _ENDS)))
    last = list(range(nrows - _ENDS, nrows)) if nrows > 2 * _ENDS else []
    kinds = {spec.name: kind_of(spec) for spec in table.schema}
    body = _rows(first, table[first][list(names)] if first else [])
    if last:
        body += f"<tr><td>&#8942;</td>{'<td>&#8942;</td>' * len(names)}</tr>"
        body += _rows(last, table[last][list(names)])
    return f"<table>{_head(names, kinds)}<tbody>{body}</tbody></table>{_facts(table)}"


def selection_html(selection: Selection) -> str:
    """Return what a notebook shows of a selection: its first rows."""
    if selection.is_closed:
        return f"<p>{escape(repr(selection))}</p>"
    head = selection.head(2 * _ENDS)
    names = selection.columns[:_COLUMNS_MAX]
    kinds = {spec.name: kind_of(spec) for spec in selection.schema}
    numbers = head.row_numbers().tolist()
    body = _rows(numbers, head.to_numpy(list(names)))
    return f"<table>{_head(names, kinds)}<tbody>{body}</tbody></table><p>{escape(repr(selection))}</p>"


def kind_of(spec: ColumnSpec) -> str:
    """Return what to call the values of a column."""
    if spec.children:
        return f"{len(spec.children)} columns"
    kind = "text" if spec.dtype.kind == "T" else str(spec.dtype)
    if spec.categories is not None:
        kind = f"category ({len(spec.categories)})"
    elif spec.enum is not None:
        kind = f"enum ({len(spec.enum)})"
    elif spec.time is not None:
        kind = spec.time
    axes = f" {list(spec.shape)}" if spec.shape else ""
    return kind + axes + (", can be missing" if spec.nullable else "")


def _head(names: Sequence[str], kinds: dict[str, str]) -> str:
    first = "".join([f"<th>{escape(quoted(name))}</th>" for name in names])
    second = "".join([f"<td><i>{escape(kinds[name])}</i></td>" for name in names])
    return f"<thead><tr><th></th>{first}</tr><tr><td></td>{second}</tr></thead>"


def _rows(numbers: Sequence[int], rows: Any) -> str:
    lines: list[str] = []
    for number, row in zip(numbers, rows, strict=True):
        cells = "".join([f"<td>{_shown(row[name])}</td>" for name in rows.dtype.names])
        lines.append(f"<tr><th>{number}</th>{cells}</tr>")
    return "".join(lines)


def _shown(value: Any) -> str:
    text = "" if value is np.ma.masked or value is None else str(value)
    return escape(quoted_lines(text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 1] + "…"))


def _facts(table: Table) -> str:
    info = table.info
    parts = [f"{table.nrows} rows", f"{len(table.columns)} columns", f"layout {table.layout.kind}"]
    nbytes, cbytes = cast("Any", info.get("nbytes")), cast("Any", info.get("cbytes"))
    if nbytes is not None and cbytes is not None:
        parts.append(f"{human(nbytes)} in {human(cbytes)}")
    name = f"{table.name} of {table.path}" if table.path else str(table.name)
    return f"<p>{escape(quoted(name))}: {escape(', '.join(parts))}</p>"
