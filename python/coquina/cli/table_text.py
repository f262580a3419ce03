"""Rows of tables as text: columns that line up, and values as JSON has them.

In: structured arrays, values. Out: text, and what `json` can write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.cli.terminal import cell
from coquina.tables.first_look import dates, name_of, times_of
from coquina.tables.layout import leaves_of

if TYPE_CHECKING:
    from coquina.tables.layout import ColumnSpec, Schema

_WIDTH = 40


def rows_text(rows: Any, schema: Schema = ()) -> str:
    """Return rows as lines under the names of their columns; numbers to the right.

    schema: of the columns, which says what numbers mean: times, and names of enumerations.
    """
    names = rows.dtype.names
    specs = leaves_of(schema)
    columns = [[cell(name), *map(cell_text, _shown(rows[name], specs.get(name)))] for name in names]
    widths = [max(map(len, column)) for column in columns]
    named = {name for name, spec in specs.items() if spec.enum is not None or spec.time is not None}
    rights = [
        rows.dtype[name].kind in "biufc" and not rows.dtype[name].shape and name not in named
        for name in names
    ]
    lines: list[str] = []
    for cells in zip(*columns, strict=True):
        parts = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(cells, widths, rights, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def _shown(values: Any, spec: ColumnSpec | None) -> list[Any]:
    """Return the values of a column as they are shown."""
    if spec is None or values.ndim != 1:
        return _list_of(values)
    if spec.time is not None:
        return times_of(list(values))
    return [name_of(one, spec) for one in _list_of(values)]


def _list_of(values: Any) -> list[Any]:
    if values.dtype.kind == "M" and values.ndim == 1:
        (values,) = dates([list(values)])
    return [None if _is_nat(one) else one for one in values]


def _is_nat(value: Any) -> bool:
    return type(value) in (np.datetime64, np.timedelta64) and bool(np.isnat(value))


def cell_text(value: Any) -> str:
    """Return a value as a cell; what is missing is null."""
    if value is None or value is np.ma.masked:
        return "null"
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    text = cell(str(value).replace("\n", " "))
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


def items_json(values: Any) -> list[Any]:
    """Return the items of an array as JSON has them; records as lists."""
    if values.dtype.names is not None:
        columns = [items_json(values[name]) for name in values.dtype.names]
        return [list(row) for row in zip(*columns, strict=True)]
    if values.dtype.kind in "mM":
        # `tolist` makes plain integers of nanoseconds.
        plain: Any = np.ma.getdata(values)
        texts: Any = plain.astype(str).astype(object)
        texts[np.isnat(plain) | np.ma.getmaskarray(values)] = None
        return texts.tolist()
    return values_json(values.tolist())


def values_json(value: Any) -> Any:
    """Return a value as JSON has it: NaN, infinities and what is missing as null, times and bytes as text."""
    if value is None or value is np.ma.masked:
        return None
    if isinstance(value, np.generic):
        value = cast("Any", value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, complex):
        return [values_json(value.real), values_json(value.imag)]
    if isinstance(value, np.ndarray | list | tuple):
        return [values_json(one) for one in cast("Any", value)]
    return str(value)
