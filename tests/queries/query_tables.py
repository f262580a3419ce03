"""Tables of `*.test` files: their columns, and rows that are written down or generated.

In: lines of a block `table`. Out: a table, with all of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tests.queries.query_values import (
    FLOATS,
    INTEGER,
    INTEGERS,
    NAME,
    Column,
    MalformedError,
    Time,
    Type,
    cell_of,
    type_of,
    value_of,
    words_of,
)

#: Where a table can be: in an HDF5 file in both layouts, in a directory, as an array of records in memory.
HOMES = ("columns", "rows", "directory", "memory")


@dataclass
class Table:
    """A table: `rows` are lists of values, in the order of the columns."""

    name: str
    line: int
    columns: list[Column] = field(default_factory=list[Column])
    rows: list[list[Any]] = field(default_factory=list[list[Any]])
    homes: tuple[str, ...] = ()
    chunk: int = 8
    indexes: dict[str, str] = field(default_factory=dict[str, str])

    def column(self, path: str) -> Column:
        """The column of a path. Raises KeyError."""
        return {one.path: one for one in self.columns}[path]


class TableBlock:
    """Takes the lines of a block `table`, one after the other."""

    def __init__(self, name: str, line: int) -> None:
        """Begin with the name. Raises MalformedError."""
        if not NAME.fullmatch(name) or "/" in name:
            raise MalformedError(f"{name!r}: not a name")
        self.table = Table(name, line)
        self._count: int | None = None
        self._fills: dict[str, list[list[Any]]] = {}

    def take(self, word: str, rest: str) -> None:
        """Take a line, by its first word. Raises MalformedError."""
        table = self.table
        if word == "index":
            name, _, expression = rest.partition(" ")
            if not NAME.fullmatch(name) or not expression or name in table.indexes:
                raise MalformedError("index NAME EXPRESSION, each name once")
            table.indexes[name] = expression.strip()
            return
        words = words_of(rest)
        if word == "column":
            self._take_column(words)
        elif word == "homes":
            if wrong := [one for one in words if one not in HOMES]:
                raise MalformedError(f"{wrong[0]!r}: homes are {', '.join(HOMES)}")
            table.homes = tuple(words)
        elif word == "chunk":
            table.chunk = positive(words)
        elif word == "rows":
            if table.rows:
                raise MalformedError("rows are generated, or written down")
            self._count = positive(words)
        elif word == "fill":
            if not words or words[0] not in [one.path for one in table.columns]:
                raise MalformedError("fill COLUMN HOW: of a column above")
            self._fills.setdefault(words[0], []).append(words[1:])
        elif word == "|":
            if self._count is not None:
                raise MalformedError("rows are generated, or written down")
            table.rows.append(row_of(words, table.columns))
        else:
            raise MalformedError(f"{word!r}: not a line of a table")

    def _take_column(self, words: list[Any]) -> None:
        if self.table.rows:
            raise MalformedError("columns come before rows")
        column = _column(words)
        paths = [one.path for one in self.table.columns]
        if any(one in (column.path, *_above(column.path)) or column.path in _above(one) for one in paths):
            raise MalformedError(f"column {column.path} is there twice")
        self.table.columns.append(column)

    def ended(self) -> Table:
        """Return the table. Raises MalformedError."""
        table = self.table
        if not table.columns:
            raise MalformedError(f"table {table.name} has no columns")
        if self._count is not None:
            missing = [one.path for one in table.columns if one.path not in self._fills]
            if missing:
                raise MalformedError(f"table {table.name}: no fill of {', '.join(missing)}")
            columns = [_filled(one, self._fills[one.path], self._count) for one in table.columns]
            table.rows = [list(row) for row in zip(*columns, strict=True)]
        elif self._fills:
            raise MalformedError(f"table {table.name}: fill without rows N")
        possible = homes_of(table)
        if wrong := [one for one in table.homes if one not in possible]:
            raise MalformedError(f"table {table.name} cannot be in {', '.join(wrong)}")
        table.homes = table.homes or possible
        if not table.homes:
            raise MalformedError(f"table {table.name}: no home has all of its columns")
        return table


def row_of(words: list[Any], columns: list[Column]) -> list[Any]:
    """Return the values of a row. Raises MalformedError."""
    if len(words) != len(columns):
        raise MalformedError(f"{len(words)} values for {len(columns)} columns")
    return [cell_of(one, column) for one, column in zip(words, columns, strict=True)]


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:at]) for at in range(1, len(parts))]


def positive(words: list[Any]) -> int:
    """Return the only word as a number. Raises MalformedError."""
    if (
        len(words) != 1
        or not isinstance(words[0], str)
        or not INTEGER.fullmatch(words[0])
        or int(words[0]) < 1
    ):
        raise MalformedError("one number from 1 on is wanted")
    return int(words[0])


def _column(words: list[Any]) -> Column:
    if len(words) < 2 or not isinstance(words[0], str) or not NAME.fullmatch(words[0]):
        raise MalformedError("column NAME TYPE OPTIONS")
    made = Column(words[0], type_of(words[1]))
    if made.type.base in ("int", "float"):
        raise MalformedError(f"{made.type.base} is for params; columns have a width")
    rest = words[2:]
    while rest:
        word, *rest = rest
        if word == "null":
            made = replace(made, is_nullable=True)
        elif word == "ordered":
            made = replace(made, is_ordered=True)
        elif word == "zone" and rest and made.type.base == "time":
            made, rest = replace(made, zone=str(rest[0])), rest[1:]
        elif word == "shape" and rest and isinstance(rest[0], list) and rest[0]:
            made, rest = replace(made, shape=tuple([positive([one]) for one in rest[0]])), rest[1:]
        elif word == "categories" and rest and isinstance(rest[0], list):
            values = tuple([value_of(one, made.type) for one in rest[0]])
            made, rest = replace(made, categories=values), rest[1:]
        elif word == "members" and rest and isinstance(rest[0], list) and made.type.base in INTEGERS:
            pairs = [str(one).partition("=") for one in rest[0]]
            members = {name: value_of(number, made.type) for name, _, number in pairs}
            made, rest = replace(made, members=members), rest[1:]
        else:
            raise MalformedError(f"{word!r}: not an option of a column of {made.type.base}")
    return made


def homes_of(table: Table) -> tuple[str, ...]:
    """Return where a table of these columns can be."""
    columns = table.columns
    has_nests = any("/" in one.path or one.type.base in ("time32", "time64") for one in columns)
    has_axes = any(one.shape for one in columns)
    has_parts = any(one.is_nullable or one.type.base == "text" or one.categories for one in columns)
    is_described = any(one.zone or one.members for one in columns)
    can = {
        "columns": not has_nests and not has_axes,
        "rows": not has_parts,
        "directory": not has_nests and not has_axes,
        "memory": not has_parts and not has_nests and not is_described,
    }
    return tuple([home for home in HOMES if can[home]])


def _filled(column: Column, fills: list[list[Any]], count: int) -> list[Any]:
    """Return the values of a column of a generated table."""
    first, *others = fills
    kind, words = (first[0], first[1:]) if first else (None, [])
    if kind == "step" and len(words) == 2:
        values = [_plus(column, words[0], words[1], at) for at in range(count)]
    elif kind == "mix" and len(words) == 5:
        a, b, m = [value_of(one, Type("int")) for one in words[:3]]
        values = [_plus(column, words[3], words[4], (a * at + b) % m) for at in range(count)]
    elif kind == "cycle" and words:
        cells = [cell_of(one, column) for one in words]
        values = [cells[at % len(cells)] for at in range(count)]
    elif kind == "runs" and len(words) > 1:
        length, cells = positive(words[:1]), [cell_of(one, column) for one in words[1:]]
        values = [cells[at // length % len(cells)] for at in range(count)]
    elif kind == "pick" and len(words) > 3:
        a, b, m = [value_of(one, Type("int")) for one in words[:3]]
        cells = [cell_of(one, column) for one in words[3:]]
        values = [cells[(a * at + b) % m % len(cells)] for at in range(count)]
    else:
        raise MalformedError(f"fill {column.path}: step, mix, cycle, runs or pick, with their values")
    for one in others:
        if len(one) != 4 or one[0] != "every":
            raise MalformedError(f"fill {column.path}: a second line says every K AT VALUE")
        every, cell = positive(one[1:2]), cell_of(one[3], column)
        place = value_of(one[2], Type("int"))
        values = [cell if at % every == place else value for at, value in enumerate(values)]
    return values


def _plus(column: Column, first: Any, step: Any, times: int) -> Any:
    """Return a value some steps after the first: of times in their unit."""
    if column.type.base == "time":
        return Time(value_of(first, column.type).text, value_of(step, Type("int")) * times)
    if column.type.base == "span":
        return value_of(first, column.type) + value_of(step, Type("int")) * times
    if column.type.base not in INTEGERS and column.type.base not in FLOATS:
        raise MalformedError(f"fill {column.path}: {column.type.base} is not counted")
    is_float = column.type.base in FLOATS
    made = value_of(first, column.type) + value_of(step, Type("float" if is_float else "int")) * times
    return made if is_float else value_of(str(made), column.type)
