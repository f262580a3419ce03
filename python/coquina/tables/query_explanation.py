"""How a query runs, for people and for tests: what is looked at, what is skipped, and what matched.

In: a plan. Out: facts of a run of it, that counts rows in one pass and keeps no result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coquina.expressions.expression import Expr
from coquina.tables.reading import row_bytes
from coquina.tables.scanning import scan

if TYPE_CHECKING:
    from coquina.tables.plan import Plan

#: What matched is decoded, to say of how many boxes that is, if it is not more.
_DECODED_BYTES = 16 << 20


@dataclass(frozen=True)
class QueryExplanation:
    """How a query runs.

    conditions: as they were given. rows: how many are looked at. matched: how many meet the conditions.
    scan: boxes of rows, how many of them were skipped as nothing in them can match (`boxes_skipped`), and how
        many matched as a whole (`boxes_whole`); of how many the columns are decoded (`boxes_decoded`), if
        what matched is some megabytes at most. Empty without a condition: nothing needs to be looked at.
    program: how the condition is computed; None without one. columns: what is read where rows match.
    """

    conditions: tuple[str, ...]
    rows: int
    matched: int
    scan: dict[str, int]
    program: Any
    columns: tuple[str, ...]
    order: tuple[tuple[str, bool], ...]
    limit: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as values that JSON knows."""
        return {
            "conditions": list(self.conditions),
            "rows": self.rows,
            "matched": self.matched,
            "scan": dict(self.scan),
            "program": None if self.program is None else str(self.program),
            "columns": list(self.columns),
            "order": [list(one) for one in self.order],
            "limit": self.limit,
        }

    def __str__(self) -> str:
        """One line for each fact."""
        facts: dict[str, Any] = {
            "condition": " and ".join(f"({one})" for one in self.conditions) or "none",
            "rows": f"{self.rows} looked at, {self.matched} matched",
            "boxes": self._boxes(),
            "columns": ", ".join(self.columns),
        }
        if self.order:
            facts["order"] = ", ".join(name + " descending" * flag for name, flag in self.order)
        if self.limit is not None:
            facts["limit"] = self.limit
        lines = [f"{name:10}  {value}" for name, value in facts.items() if value != ""]
        return "\n".join(lines if self.program is None else [*lines, str(self.program)])

    __repr__ = __str__

    def _boxes(self) -> str:
        words = {"boxes": "in all", "boxes_skipped": "skipped", "boxes_whole": "matched as a whole"}
        words["boxes_decoded"] = "decoded"
        return ", ".join([f"{self.scan[key]} {word}" for key, word in words.items() if key in self.scan])


def explained(plan: Plan) -> QueryExplanation:
    """Run a plan without a result, and return what that did."""
    node = plan.node()
    picked, columns = plan.picked(None)
    read = list(columns.values())
    limit = None if plan.order else plan.limit
    found = scan(node, {}, plan.span, limit=limit)
    report = {name: count for name, count in found.report.items() if name != "boxes_decoded"}
    if node is not None and found.matched * row_bytes(read) <= _DECODED_BYTES:
        decoded = scan(node, columns, plan.span, limit=limit) if found.matched else found
        report["boxes_decoded"] = decoded.report.get("boxes_decoded", 0)
    return QueryExplanation(
        tuple([str(one) for one in plan.conditions]),
        len(plan.span),
        found.matched,
        report,
        None if node is None else Expr(node).explain(),
        tuple([one.name for one in picked]),
        plan.order,
        plan.limit,
    )
