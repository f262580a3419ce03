"""Groups by the engine: keys of fixed size and text of any length, hashed on all threads.

In: a plan, key columns, and aggregates. Out: the columns of the result; None where the engine does not do it:
for text of any length that is aggregated, rows in an order or with steps, and sums of complex numbers.
Invariant: results are those of `grouping_reference`, sums and what is made of them up to their rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from coquina import _core
from coquina.tables.grouping_keys import EngineKey, engine_key
from coquina.tables.grouping_values import EngineValue, Masks, engine_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coquina.tables.columns import Column
    from coquina.tables.grouping import Wanted
    from coquina.tables.plan import Plan


class _Call(NamedTuple):
    """What the engine is asked for."""

    keys: list[EngineKey]
    values: list[EngineValue]


def group_by_engine(plan: Plan, keys: Sequence[Column], wanted: Sequence[Wanted]) -> list[Any] | None:
    """Return the values of the keys of each group, then those of each aggregate."""
    if plan.order or plan.span.step != 1:
        return None
    masks = Masks()
    known_keys = [engine_key(key, masks) for key in keys]
    known = [engine_value(one, keys[0], masks) for one in wanted]
    call = _Call([one for one in known_keys if one is not None], [one for one in known if one is not None])
    if len(call.keys) < len(keys) or len(call.values) < len(wanted):
        return None
    return _called(plan, call)


def _called(plan: Plan, call: _Call) -> list[Any]:
    parts = [part for key in call.keys for part in key.parts]
    asked = [one for each in (*call.keys, *call.values) for one in each.asked]
    _, found_keys, results, _ = _core.group_by(
        plan.computed(),
        [part.source for part in parts],
        [part.kind for part in parts],
        asked,
        plan.span.start,
        plan.span.stop,
        key_masks=[part.mask for part in parts],
    )
    left_keys, left = iter(found_keys), iter(results)
    made: list[Any] = []
    for key in call.keys:
        own = [next(left_keys) for _ in key.parts]
        made.append(key.values(own, [next(left) for _ in key.asked]))
    made += [value.values([next(left) for _ in value.asked]) for value in call.values]
    return made
