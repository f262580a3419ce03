"""The rows that are shown of a table or a selection, and their values as text: for notebooks and `print`.

In: a table, or a selection. Out: the first rows, and the last ones of a table; values as text of one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.tables.layout import ColumnSpec
    from coquina.tables.selection import Selection
    from coquina.tables.table import Table

_ENDS = 5
COLUMNS_MAX = 20
_TEXT_MAX = 60
#: Of times, from coarse to fine.
_UNITS = ("s", "ms", "us", "ns", "ps", "fs", "as")
#: Of the year 10000.
_SECONDS_MAX = 253402300800

#: Numbers of rows, and what they hold.
Part = tuple["Sequence[int]", Any]


def parts_of_table(table: Table, names: Sequence[str]) -> list[Part]:
    """Return all rows if they are few; else the first ones, and the last ones."""
    nrows = table.nrows
    ends = [range(nrows)] if nrows <= 2 * _ENDS else [range(_ENDS), range(nrows - _ENDS, nrows)]
    return [(rows, table[list(rows)][list(names)] if len(rows) else []) for rows in ends]


def parts_of_selection(selection: Selection, names: Sequence[str]) -> list[Part]:
    """Return the first rows."""
    head = selection.head(2 * _ENDS)
    return [(head.row_numbers().tolist(), head.to_numpy(list(names)))]


def kind_of(spec: ColumnSpec) -> str:
    """Return what to call the values of a column."""
    if spec.children:
        return f"{len(spec.children)} columns"
    kind = spec.values_kind or ("text" if spec.dtype.kind == "T" else str(spec.dtype))
    if spec.categories is not None:
        kind = f"category ({len(spec.categories)})"
    elif spec.enum is not None:
        kind = f"enum ({len(spec.enum)})"
    elif spec.time is not None:
        kind = spec.time
    elif spec.zone is not None:
        kind = f"{kind[:-1]}, {spec.zone}]"
    axes = f" {list(spec.shape)}" if spec.shape else ""
    return kind + axes + (" or null" if spec.nullable else "")


def texts_of(parts: Sequence[Part], spec: ColumnSpec, missing: str) -> list[list[str]]:
    """Return the values of a column in some parts as text of one line each. missing: what stands for none."""
    values = [[row[spec.name] for row in rows] for _, rows in parts]
    if spec.time is not None and not spec.shape:
        values = dates([[_point_in_time(value) for value in part] for part in values])
    elif spec.dtype.kind == "M" and not spec.shape:
        # Times of a zone are stored, and compared with text, in UTC.
        values = dates(values, end="Z" if spec.zone not in (None, "UTC") else "")
    return [[_text_of(value, spec, missing) for value in part] for part in values]


def dates(parts: list[list[Any]], end: str = "") -> list[list[Any]]:
    """Return dates and times as text of the same fineness, no finer than one needs; `end` follows each."""
    dates: list[Any] = [value for part in parts for value in part if isinstance(value, np.datetime64)]
    known: npt.NDArray[Any] = np.array(dates, None if dates else "M8[s]")
    known = known[~np.isnat(known)]
    stored = np.datetime_data(known.dtype)[0]
    units = _UNITS[: _UNITS.index(stored)] if stored in _UNITS else ()
    unit: Any = next((unit for unit in units if (known.astype(f"M8[{unit}]") == known).all()), stored)

    def shown(value: Any) -> Any:
        if type(value) is not np.datetime64 or np.isnat(value):
            return value
        made: str = np.datetime_as_string(value, unit=unit)
        return made.replace("T", " ") + end

    return [[shown(value) for value in part] for part in parts]


def _text_of(value: Any, spec: ColumnSpec, missing: str) -> str:
    """Return a value as text of one line. missing: what stands for none."""
    if value is None or value is np.ma.masked:
        return missing
    value = name_of(value, spec)
    if isinstance(value, np.timedelta64):
        value = _duration(cast("Any", value))
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    text = quoted(
        f"{value:.6g}" if isinstance(value, float | np.floating) else " ".join(str(value).split("\n"))
    )
    return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 1] + "…"


def times_of(seconds: list[Any]) -> list[Any]:
    """Return seconds since 1970, as PyTables has times, as text of the same fineness."""
    (shown,) = dates([[_point_in_time(value) for value in seconds]])
    return shown


def name_of(value: Any, spec: ColumnSpec) -> Any:
    """Return the name of a number of an enumeration; other values as they are."""
    if spec.enum is None or spec.shape:
        return value
    return next((name for name, number in spec.enum.items() if number == value), value)


def _point_in_time(seconds: Any) -> Any:
    """Return seconds since 1970, as PyTables has times, as date and time; as they are beyond year 9999."""
    if seconds is np.ma.masked or not abs(seconds) < _SECONDS_MAX:
        return seconds
    whole = int(np.floor(seconds))
    micros = min(round((float(seconds) - whole) * 1e6), 999_999)
    return np.datetime64(whole * 1_000_000 + micros, "us")


def _duration(value: Any) -> Any:
    """Return days, hours, minutes and seconds; the value as it is where Python's durations have no room."""
    fine = value.astype("m8[us]")
    found = fine.item()
    return value if found is None or isinstance(found, int) or fine.astype(value.dtype) != value else found
