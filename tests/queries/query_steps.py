"""Steps of the cases of `*.test` files: what is asked of a table, or changed in it, and what that gives.

In: lines of a block `case`. Out: steps, of which each says what is expected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from tests.queries.query_tables import Table, row_of
from tests.queries.query_values import (
    NAME,
    Column,
    MalformedError,
    Quoted,
    Type,
    cell_of,
    type_of,
    value_of,
    words_of,
)

#: Kinds of errors that a case can expect.
ERRORS = ("expression", "type", "value", "key", "overflow")
AGGREGATES = ("count", "sum", "mean", "min", "max", "std", "var", "first", "last", "any", "all", "nunique")
ASKED = ("sum", "mean", "min", "max", "std", "var")
_MANY = ("where", "param", "aggregate", "modify", "|")


@dataclass(frozen=True)
class Param:
    """A value that a condition has by a name. form: "one", "list" or "array"."""

    type: Type
    form: str
    value: Any


@dataclass(frozen=True)
class Aggregate:
    """What is asked of each group."""

    name: str
    type: Type
    kind: str
    expression: str | None


@dataclass
class Step:
    """A query, or a change, and what it is to give. `has` names what the file says of it."""

    line: int
    has: set[str] = field(default_factory=set[str])
    where: list[str] = field(default_factory=list[str])
    params: dict[str, Param] = field(default_factory=dict[str, Param])
    select: list[str] | None = None
    order: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    slice: tuple[int | None, int | None, int | None] = (None, None, None)
    head: int | None = None
    group: list[str] = field(default_factory=list[str])
    aggregates: list[Aggregate] = field(default_factory=list[Aggregate])
    ask: tuple[str, str] | None = None
    modify: dict[str, tuple[str, Any]] = field(default_factory=dict[str, tuple[str, Any]])
    rows: list[list[Any]] | None = None
    numbers: list[int] | None = None
    count: int | None = None
    value: tuple[Type, Any] | None = None
    changed: int | None = None
    error: tuple[str, str] | None = None
    index: list[str] = field(default_factory=list[str])
    #: Columns of `rows`.
    cells: list[Column] = field(default_factory=list[Column])

    @property
    def is_change(self) -> bool:
        """Whether it writes to the table."""
        return "delete" in self.has or bool(self.modify)


def take(table: Table, step: Step, word: str, rest: str) -> None:
    """Take a line of a step, by its first word. Raises MalformedError."""
    if word in step.has and word not in _MANY:
        raise MalformedError(f"{word} is there twice")
    if word not in LINES:
        raise MalformedError(f"{word!r}: not a line of a case")
    if step.rows is not None and word != "|":
        raise MalformedError("rows come last")
    if word in ("delete", "rows", "skips") and rest:
        raise MalformedError(f"{word} stands alone")
    step.has.add(word)
    LINES[word](table, step, rest)


def _where(table: Table, step: Step, rest: str) -> None:
    if not rest:
        raise MalformedError("where needs a condition")
    step.where.append(rest)


def _row(table: Table, step: Step, rest: str) -> None:
    if step.rows is None:
        raise MalformedError("a row stands behind the line rows")
    step.rows.append(row_of(words_of(rest), step.cells))


def _nothing(table: Table, step: Step, rest: str) -> None:
    """Take a line that stands alone."""


def _params(table: Table, step: Step, rest: str) -> None:
    words = words_of(rest)
    is_name = bool(words) and isinstance(words[0], str) and NAME.fullmatch(words[0])
    if len(words) < 3 or not is_name or words[0] in step.params:
        raise MalformedError("param NAME TYPE VALUE, each name once")
    if words[1] in ("list", "array"):
        kind = type_of(words[2])
        values = [None if one == "null" and words[1] == "list" else value_of(one, kind) for one in words[3:]]
        step.params[words[0]] = Param(kind, words[1], values)
    elif len(words) == 3:
        kind = type_of(words[1])
        step.params[words[0]] = Param(kind, "one", value_of(words[2], kind))
    else:
        raise MalformedError("param NAME TYPE VALUE")


def _select(table: Table, step: Step, rest: str) -> None:
    step.select = _known(table, words_of(rest))


def _known(table: Table, names: list[Any]) -> list[str]:
    for name in names:
        if name not in [one.path for one in table.columns]:
            raise MalformedError(f"{name!r}: no column of table {table.name}")
    if not names:
        raise MalformedError("columns are wanted")
    return names


def _order(table: Table, step: Step, rest: str) -> None:
    for part in rest.split(","):
        words = words_of(part)
        if len(words) not in (1, 2) or words[1:] not in ([], ["down"]):
            raise MalformedError("order COLUMN [down], COLUMN [down]")
        step.order.append((_known(table, words[:1])[0], len(words) == 2))


def _slice(table: Table, step: Step, rest: str) -> None:
    words = words_of(rest)
    if len(words) != 3:
        raise MalformedError("slice START STOP STEP, with - for none")
    start, stop, step_by = [None if one == "-" else value_of(one, Type("int")) for one in words]
    step.slice = (start, stop, step_by)


def _head(table: Table, step: Step, rest: str) -> None:
    step.head = _whole(rest)


def _whole(rest: str) -> int:
    if not rest.isdecimal():
        raise MalformedError("one number from 0 on is wanted")
    return int(rest)


def _group(table: Table, step: Step, rest: str) -> None:
    step.group = _known(table, words_of(rest))


def _aggregate(table: Table, step: Step, rest: str) -> None:
    parts = rest.split(maxsplit=3)
    if len(parts) < 3 or not NAME.fullmatch(parts[0]) or parts[2] not in AGGREGATES:
        raise MalformedError("aggregate NAME TYPE KIND EXPRESSION")
    if len(parts) == 3 and parts[2] != "count":
        raise MalformedError(f"{parts[2]} of what?")
    expression = parts[3] if len(parts) == 4 else None
    step.aggregates.append(Aggregate(parts[0], type_of(parts[1]), parts[2], expression))


def _ask(table: Table, step: Step, rest: str) -> None:
    kind, _, expression = rest.partition(" ")
    if kind not in ASKED or not expression:
        raise MalformedError(f"ask KIND EXPRESSION: {', '.join(ASKED)}")
    step.ask = (kind, expression.strip())


def _modify(table: Table, step: Step, rest: str) -> None:
    parts = rest.split(maxsplit=2)
    if len(parts) != 3 or parts[1] not in ("to", "by") or parts[0] in step.modify:
        raise MalformedError("modify COLUMN to VALUE, or modify COLUMN by EXPRESSION")
    _known(table, parts[:1])
    if parts[1] == "by":
        step.modify[parts[0]] = ("by", parts[2])
        return
    words = words_of(parts[2])
    if len(words) != 1:
        raise MalformedError("modify COLUMN to one value")
    step.modify[parts[0]] = ("to", cell_of(words[0], table.column(parts[0])))


def _rows(table: Table, step: Step, rest: str) -> None:
    step.rows = []
    if step.group:
        keys = [replace(table.column(one), is_nullable=True, categories=None) for one in step.group]
        step.cells = keys + [Column(one.name, one.type, is_nullable=True) for one in step.aggregates]
    else:
        names = step.select or [one.path for one in table.columns]
        step.cells = [table.column(one) for one in names]


def _numbers(table: Table, step: Step, rest: str) -> None:
    step.numbers = []
    for word in rest.split():
        found = re.fullmatch(r"(\d+)(?:\.\.(\d+)(?:/(\d+))?)?", word)
        if found is None or (found[3] and int(found[3]) < 1):
            raise MalformedError(f"{word!r}: rows are 3, 3..9 or 3..9/2, the last one with them")
        first = int(found[1])
        last = first if found[2] is None else int(found[2])
        if last < first:
            raise MalformedError(f"{word!r}: the last row stands before the first")
        step.numbers += range(first, last + 1, int(found[3] or 1))
    if not step.order and step.numbers != sorted(set(step.numbers)):
        raise MalformedError("numbers of rows increase")


def _count(table: Table, step: Step, rest: str) -> None:
    step.count = _whole(rest)


def _changed(table: Table, step: Step, rest: str) -> None:
    step.changed = _whole(rest)


def _value(table: Table, step: Step, rest: str) -> None:
    words = words_of(rest)
    if len(words) != 2:
        raise MalformedError("value TYPE VALUE")
    kind = type_of(words[0])
    step.value = (kind, value_of(words[1], kind))


def _error(table: Table, step: Step, rest: str) -> None:
    words = words_of(rest)
    if len(words) != 2 or words[0] not in ERRORS or not isinstance(words[1], Quoted):
        raise MalformedError(f'error KIND "part of the message": {", ".join(ERRORS)}')
    step.error = (words[0], words[1].text())


def _index(table: Table, step: Step, rest: str) -> None:
    step.index = rest.split()
    if not step.index:
        raise MalformedError("index NAME ...: those that the query asks")


#: The lines of a step, by their first words.
LINES = {
    "where": _where,
    "|": _row,
    "param": _params,
    "select": _select,
    "order": _order,
    "slice": _slice,
    "head": _head,
    "group": _group,
    "aggregate": _aggregate,
    "ask": _ask,
    "modify": _modify,
    "delete": _nothing,
    "rows": _rows,
    "numbers": _numbers,
    "count": _count,
    "changed": _changed,
    "value": _value,
    "error": _error,
    "index": _index,
    "skips": _nothing,
}
#: What a step is to give: one of these; of lines that read rows both, rows and numbers.
_GIVEN = frozenset(("rows", "numbers", "count", "changed", "value", "error"))


def check_step(step: Step) -> None:
    """Refuse a step that says too little, or what does not go together."""
    given = step.has & _GIVEN
    if not given:
        raise MalformedError(f"the step of line {step.line} says nothing of what it gives")
    wanted = "rows" if step.group else "value" if step.ask else "changed" if step.is_change else None
    if wanted is None and given & {"changed", "value"}:
        raise MalformedError(f"the step of line {step.line}: changed is for changes, value for ask")
    if wanted is not None and given not in ({wanted}, {"error"}):
        raise MalformedError(f"the step of line {step.line} gives {wanted}, or an error")
    if "error" in given and given != {"error"}:
        raise MalformedError(f"the step of line {step.line} gives an error, and nothing else")
    if bool(step.group) != bool(step.aggregates):
        raise MalformedError(f"the step of line {step.line}: group and aggregate go together")
    kinds = [bool(step.group), step.ask is not None, "delete" in step.has, bool(step.modify)]
    if sum(kinds) > 1:
        raise MalformedError(f"the step of line {step.line} does more than one thing")
    if any(kinds) and step.select:
        raise MalformedError(f"the step of line {step.line}: select is for rows")
    if step.index and not step.where:
        raise MalformedError(f"the step of line {step.line}: an index answers where")
