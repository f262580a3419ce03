"""Pieces of HTML for notebooks: tables of facts and of rows, and text as it is.

In: names and values, as text. Out: HTML with everything escaped, without scripts and styles of the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coquina.quoting import quoted, quoted_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LEFT = 'style="text-align:left"'


def escaped(text: str) -> str:
    """Return text that stands for itself in HTML."""
    from html import escape

    return escape(text)


def facts_html(facts: Iterable[tuple[str, object]]) -> str:
    """Return a table of a line for each fact."""
    rows = [
        f"<tr><th {_LEFT}>{escaped(quoted(name))}</th><td {_LEFT}>{escaped(quoted_lines(value))}</td></tr>"
        for name, value in facts
    ]
    return f"<table>{''.join(rows)}</table>"


def rows_html(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table of a line for each row, below the names of its columns."""
    names = "".join([f"<th {_LEFT}>{escaped(quoted(name))}</th>" for name in head])
    lines = [
        "<tr>" + "".join([f"<td {_LEFT}>{escaped(quoted_lines(cell))}</td>" for cell in row]) + "</tr>"
        for row in rows
    ]
    return f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def text_html(text: object) -> str:
    """Return text as it is, line by line."""
    return f"<pre>{escaped(quoted_lines(text))}</pre>"


def caption_html(text: object) -> str:
    """Return a line of text below something."""
    return f"<p>{escaped(quoted_lines(text))}</p>"
