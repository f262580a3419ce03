"""Reads `*.test` files: tables, and queries of them with what they give. README.md describes the format.

In: text. Out: tables and cases, of plain numbers, texts and bytes; nothing of the package or of NumPy.
Invariant: a file that says anything else than the format has is refused, with its name and line.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.queries.query_steps import Step, check_step, take
from tests.queries.query_tables import Table, TableBlock
from tests.queries.query_values import MalformedError


@dataclass
class Case:
    """Steps, one after the other, on a table that no other case sees if one of them is a change."""

    title: str
    table: Table
    steps: list[Step]
    line: int

    @property
    def is_change(self) -> bool:
        """Whether a step writes to the table."""
        return any(step.is_change for step in self.steps)


def read_file(path: Path) -> list[Case]:
    """Return the cases of a file. Raises MalformedError."""
    return read(path.read_text(encoding="utf-8"), path.name)


def read(text: str, name: str = "text") -> list[Case]:
    """Return the cases of a text. Raises MalformedError."""
    reader = _Reader()
    for number, line in enumerate([*text.split("\n"), None], 1):
        try:
            if line is None:
                return reader.ended()
            reader.take(line, number)
        except MalformedError as error:
            raise MalformedError(f"{name}:{number}: {error}") from None
    raise AssertionError("the last line is None")


class _Reader:
    """Takes lines, one after the other."""

    def __init__(self) -> None:
        self.block: TableBlock | None = None
        self.table: Table | None = None
        self.case: Case | None = None
        self.cases: list[Case] = []
        self.names: set[str] = set()

    def take(self, line: str, number: int) -> None:
        if not line.strip() or line.lstrip().startswith("#"):
            return
        if line != line.strip() or "\t" in line:
            raise MalformedError("a tab, or white space at an end of the line")
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word in ("table", "case"):
            self.end()
            if f"{word} {rest}" in self.names:
                raise MalformedError(f"{word} {rest!r} is there twice")
            self.names.add(f"{word} {rest}")
        if word == "table":
            self.block = TableBlock(rest, number)
        elif word == "case":
            if self.table is None or not rest:
                raise MalformedError("a case has a title, and a table before it")
            self.case = Case(rest, self.table, [Step(number)], number)
        elif self.block is not None:
            self.block.take(word, rest)
        elif self.case is None:
            raise MalformedError("a file begins with a table")
        elif word == "then" and not rest:
            check_step(self.case.steps[-1])
            self.case.steps.append(Step(number))
        else:
            take(self.case.table, self.case.steps[-1], word, rest)

    def end(self) -> None:
        """End the block that was begun."""
        if self.block is not None:
            self.table = self.block.ended()
        if self.case is not None:
            check_step(self.case.steps[-1])
            self.cases.append(self.case)
        self.block = self.case = None

    def ended(self) -> list[Case]:
        self.end()
        if not self.cases:
            raise MalformedError("no cases")
        return self.cases
