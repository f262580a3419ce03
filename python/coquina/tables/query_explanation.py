"""How a query runs, for people and for tests: what is looked at, what is skipped, and what matched.

In: a plan. Out: facts of a run of it, that counts rows in one pass and keeps no result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coquina.expressions.explanation import explanation_of
from coquina.html import text_html
from coquina.quoting import quoted
from coquina.tables.access import access_of
from coquina.tables.elsewhere import source_node
from coquina.tables.index_order import how_ordered
from coquina.tables.reading import row_bytes
from coquina.tables.scanning import scan

if TYPE_CHECKING:
    from coquina.expressions.explanation import Explanation
    from coquina.tables.access import Access
    from coquina.tables.plan import Plan

#: What matched is decoded, to say of how many boxes that is, if it is not more.
_DECODED_BYTES = 16 << 20


@dataclass(frozen=True)
class QueryExplanation:
    """How a query runs.

    conditions: as they were given. rows: how many are looked at. matched: how many meet the conditions.
    access: how the rows are found: "scan", "zone maps" (a scan that passes over blocks), or by which index,
        and how many rows it gave. indexes: the names of those used. reason: why not by one.
    scan: boxes of rows, how many of them were skipped as nothing in them can match (`boxes_skipped`), and how
        many matched as a whole (`boxes_whole`); of how many the columns are decoded (`boxes_decoded`), if
        what matched is some megabytes at most. Empty without a condition: nothing needs to be looked at.
    program: how the condition is computed; None without one. columns: what is read where rows match.
    ordered: how rows get their order, "sorted" or by which index; empty without one.
    """

    conditions: tuple[str, ...]
    rows: int
    matched: int
    access: str
    indexes: tuple[str, ...]
    reason: str
    scan: dict[str, int]
    program: Any
    columns: tuple[str, ...]
    order: tuple[tuple[str, bool], ...]
    ordered: str
    limit: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as values that JSON knows."""
        return {
            "conditions": list(self.conditions),
            "rows": self.rows,
            "matched": self.matched,
            "access": self.access,
            "indexes": list(self.indexes),
            "reason": self.reason,
            "scan": dict(self.scan),
            "program": None if self.program is None else str(self.program),
            "columns": list(self.columns),
            "order": [list(one) for one in self.order],
            "ordered": self.ordered,
            "limit": self.limit,
        }

    def _repr_html_(self) -> str:
        """Return the text as it is, for notebooks."""
        return text_html(self)

    def __str__(self) -> str:
        """One line for each fact; `program` is printed by itself."""
        facts: dict[str, Any] = {
            "condition": " and ".join(f"({one})" for one in self.conditions) or "none",
            "rows": f"{self.rows} examined, {self.matched} matched",
            "access": f"{self.access} ({self.reason})" if self.reason else self.access,
            "boxes": self._boxes(),
            "columns": ", ".join(self.columns),
        }
        if self.order:
            keys = ", ".join(name + " descending" * flag for name, flag in self.order)
            facts["order"] = f"{keys} ({self.ordered})"
        if self.limit is not None:
            facts["limit"] = self.limit
        return "\n".join([f"{name:10}  {quoted(value)}" for name, value in facts.items() if value != ""])

    __repr__ = __str__

    def _boxes(self) -> str:
        words = {"boxes": "in all", "boxes_skipped": "skipped", "boxes_whole": "matched as a whole"}
        words["boxes_decoded"] = "decoded"
        return ", ".join([f"{self.scan[key]} {word}" for key, word in words.items() if key in self.scan])


def explained(plan: Plan) -> QueryExplanation:
    """Run a plan without a result, and return what that did."""
    span, condition = plan.span, plan.condition()
    access = None if condition is None else access_of(plan.table, condition)
    computed = None if access is None else access.condition
    picked, columns = plan.picked(None)
    read = list(columns.values())
    limit = None if plan.order else plan.limit
    found = scan(computed, {}, span, limit=limit)
    report = {name: count for name, count in found.report.items() if name != "boxes_decoded"}
    if computed is not None and found.matched * row_bytes(read) <= _DECODED_BYTES:
        decoded = scan(computed, columns, span, limit=limit) if found.matched else found
        report["boxes_decoded"] = decoded.report.get("boxes_decoded", 0)
    return QueryExplanation(
        tuple([str(one) for one in plan.conditions]),
        len(span),
        found.matched,
        *_access_words(plan, access, report),
        report,
        None if access is None else _program(plan, access),
        tuple([one.name for one in picked]),
        plan.order,
        how_ordered(plan),
        plan.limit,
    )


def _program(plan: Plan, access: Access) -> Explanation:
    """Return how the condition is computed: with the rows that indexes gave, or as it was given."""
    if access.rows is not None:
        return explanation_of(source_node("bool", access.condition, "rows of indexes"))
    return explanation_of(plan.node())


def _access_words(
    plan: Plan, access: Access | None, report: dict[str, int]
) -> tuple[str, tuple[str, ...], str]:
    """Return how rows are found, the indexes, and why there are none."""
    if access is None:
        return "scan", (), ""
    choice, rows = access.choice, access.rows
    if rows is None:
        is_known = bool(report.get("boxes_skipped") or report.get("boxes_whole"))
        return "zone maps" if is_known else "scan", (), _why_scanned(plan, choice.reason)
    names = ", ".join(choice.names)
    count = len(rows.rows)
    words = f"{'index' if len(choice.names) == 1 else 'indexes'} {names}: {count} row{'s' * (count != 1)}"
    if rows.open_rows:
        words += f", {rows.open_rows} to examine"
    if not access.is_whole:
        words += " that may match"
    return words, choice.names, ""


def _why_scanned(plan: Plan, reason: str) -> str:
    """Return why no index is used, with what is wrong with those that cannot be asked."""
    # Of a file that is far away all of a column may have to be read to know that.
    if plan.table.remote is not None or not reason.startswith("no index applies"):
        return reason
    unused = [f"{index.name}: {index.reason}" for index in plan.table.indexes.values() if index.reason]
    return "; ".join([reason, *unused])
