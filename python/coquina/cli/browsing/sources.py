"""What a grid shows: the values of an array's plane, the rows of a table, the members of a group.

In: objects of files. Out: cells as text, read for the rows and columns that are in sight.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from coquina.arrays.info import human
from coquina.server.describing import child_facts
from coquina.server.limits import Limits
from coquina.server.objects import children
from coquina.server.table_columns import ColumnRequest, statistics
from coquina.server.table_rows import Query, rows_as_json, window
from coquina.server.values import chosen, decoded, read

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.server.objects import Found

_LIMITS = Limits()
#: Values of one axis that a plot is made of.
_PLOTTED = 4096
_BINS = 60
_CHANNELS = (3, 4)


class Source(Protocol):
    """Cells in rows and columns."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        ...

    @property
    def columns(self) -> int:
        """How many columns there are."""
        ...

    def name(self, column: int) -> str:
        """Return the heading of a column."""
        ...

    def cells(self, rows: range, columns: range) -> list[list[str]]:
        """Return the texts of cells, row by row. Raises RequestError, CoquinaError, OSError."""
        ...


class GroupSource:
    """The members of a group, with their sizes."""

    _NAMES = ("name", "kind", "dtype", "shape", "size", "stored", "ratio")

    def __init__(self, found: Found) -> None:
        """found: a group."""
        self._rows = [_member(child_facts(one)) for one in children(found)]
        self.rows, self.columns = len(self._rows), len(self._NAMES)

    def name(self, column: int) -> str:
        """Return the heading of a column."""
        return self._NAMES[column]

    def cells(self, rows: range, columns: range) -> list[list[str]]:
        """Return the texts of cells."""
        return [[self._rows[row][column] for column in columns] for row in rows]


def _member(known: dict[str, Any]) -> list[str]:
    shape, nbytes, stored = known.get("shape"), known.get("nbytes"), known.get("stored")
    place = f"{known['rows']} rows" if "rows" in known else "" if shape is None else "x".join(map(str, shape))
    sizes = ["" if one is None else human(one) for one in (nbytes, stored)]
    ratio = f"{nbytes / stored:.2f}x" if nbytes and stored else ""
    return [known["name"], known["kind"], known.get("dtype") or "", place, *sizes, ratio]


class ArraySource:
    """A plane of an array: its last two axes, at one index of each other axis."""

    def __init__(self, found: Found) -> None:
        """found: an array or an expression."""
        self.found = found
        self.shape = found.shape or ()
        dtype = found.dtype
        self.is_image = (
            len(self.shape) >= 3 and self.shape[-1] in _CHANNELS and dtype is not None and dtype == np.uint8
        )
        self.index = [0] * max(0, len(self.shape) - 2)
        self.rows = self.shape[max(0, len(self.shape) - 2)] if self.shape else 1
        self.columns = self.shape[-1] if len(self.shape) > 1 else 1

    def name(self, column: int) -> str:
        """Return the number of a column."""
        return str(column) if len(self.shape) > 1 else "value"

    def move(self, axis: int, by: int) -> None:
        """Change the index of an axis that is not shown."""
        self.index[axis] = min(max(0, self.index[axis] + by), self.shape[axis] - 1)

    def cells(self, rows: range, columns: range) -> list[list[str]]:
        """Return the texts of cells."""
        if not self.shape:
            return [[text_of(np.asarray(self._read("", None))[()])]]
        parts = [*map(str, self.index), f"{rows.start}:{rows.stop}"]
        if len(self.shape) > 1:
            parts.append(f"{columns.start}:{columns.stop}")
        values = self._read(",".join(parts), None)
        values = values.reshape(len(rows), -1) if values.size else values
        return [[text_of(one) for one in row] for row in values]

    def plane(self) -> npt.NDArray[Any]:
        """Return the shown plane, of long axes only every n-th value; an image with its channels."""
        if not self.shape:
            return np.asarray(self._read("", None)).reshape(1)
        shown = 3 if self.is_image else min(2, len(self.shape))
        parts = [str(one) for one in self.index[: len(self.shape) - shown]] + [":"] * shown
        return self._read(",".join(parts), _PLOTTED * (64 if shown > 1 else 1))

    def _read(self, selection: str, most: int | None) -> npt.NDArray[Any]:
        values = read(self.found, chosen(self.found, selection or None, most), _LIMITS)
        return decoded(self.found, values)


class TableSource:
    """Rows of a table that meet a condition, in an order."""

    def __init__(self, found: Found) -> None:
        """found: a table."""
        self.found = found
        self.names = list(found.node.columns)
        self.columns = len(self.names)
        self.where: str | None = None
        self.sort: str | None = None
        self.rows = len(found.node)

    def name(self, column: int) -> str:
        """Return the name of a column, with an arrow where the rows have its order."""
        name = self.names[column]
        return f"{name} ^" if self.sort == name else f"{name} v" if self.sort == f"-{name}" else name

    def ask(self, where: str | None) -> None:
        """Show the rows that meet a condition. Raises RequestError, and keeps the rows then."""
        self.rows = self._total(where, self.sort)
        self.where = where

    def turn(self, column: int) -> None:
        """Sort by a column: upwards, then downwards, then not."""
        name = self.names[column]
        wanted = {name: f"-{name}", f"-{name}": None}.get(self.sort or "", name)
        self.rows = self._total(self.where, wanted)
        self.sort = wanted

    def cells(self, rows: range, columns: range) -> list[list[str]]:
        """Return the texts of cells."""
        names = [self.names[one] for one in columns]
        values = self._asked(self.where, self.sort, rows, names)["values"]
        lists = [values[name] for name in names]
        return [[_cell(one[row]) for one in lists] for row in range(len(rows))]

    def histogram(self, column: int) -> dict[str, Any]:
        """Return the statistics of a column, with a histogram or the most frequent values."""
        wanted = ColumnRequest(self.names[column], _BINS)
        return statistics(self.found, Query.of(self.where, None), wanted)

    def _total(self, where: str | None, sort: str | None) -> int:
        return int(self._asked(where, sort, range(0), self.names[:1])["total"])

    def _asked(self, where: str | None, sort: str | None, rows: range, names: list[str]) -> dict[str, Any]:
        wanted = window(rows.start, rows.stop, names, max(1, len(rows)))
        return json.loads(bytes(rows_as_json(self.found, Query.of(where, sort), wanted, _LIMITS).content))


def _cell(value: Any) -> str:
    return "" if value is None else text_of(value)


def text_of(value: Any) -> str:
    """Return a value in one line: floating-point numbers with six digits."""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    text = str(value)
    return "".join([one if one.isprintable() else " " for one in text])
