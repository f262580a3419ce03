"""How a query runs, for people and for tests: what is looked at, what is skipped, and what matched.

In: a plan. Out: facts of one run of it, that counts rows and makes no result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coquina.expressions.expression import Expr
from coquina.tables.scanning import scan, windows

if TYPE_CHECKING:
    from coquina.tables.plan import Plan


@dataclass(frozen=True)
class QueryExplanation:
    """How a query runs.

    conditions: as they were given. rows: how many are looked at. matched: how many meet the conditions.
    scan: boxes of rows, how many of them were skipped as nothing in them can match (`boxes_skipped`), how
        many matched as a whole (`boxes_whole`), and of how many the columns were decoded (`boxes_decoded`).
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
    left = None if plan.order else plan.limit
    matched = 0
    report: dict[str, int] = {}
    for window in windows(plan.span, list(columns.values())):
        found = scan(node, columns, window, limit=left)
        matched += found.matched
        left = None if left is None else left - found.matched
        for name, value in found.report.items():
            report[name] = report.get(name, 0) + value
        if left == 0:
            break
    return QueryExplanation(
        tuple([str(one) for one in plan.conditions]),
        len(plan.span),
        matched,
        report,
        None if node is None else Expr(node).explain(),
        tuple([one.name for one in picked]),
        plan.order,
        plan.limit,
    )
