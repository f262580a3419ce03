"""What is asked of a table with indexes, and what NumPy answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from random import Random
from typing import Any

import numpy as np

import coquina as cq
from coquina.indexes import access
from tests.indexes import property_cases as cases
from tests.indexes.property_cases import Condition, Held, Model


def held(values: Any) -> Held:
    """Return values that a table gave, as the model has them."""
    mask = np.ma.getmaskarray(values)
    mask = mask.any(1) if mask.ndim > 1 else mask
    data: Any = np.ma.getdata(values)
    if data.dtype.kind in "TO":
        texts = data.tolist()
        mask = mask | np.array([one is None for one in texts], bool)
        data = np.array([*["" if one is None else one for one in texts], None], object)[:-1]
    return Held(data, np.asarray(mask, bool))


def same(found: Held, wanted: Held, what: str) -> None:
    np.testing.assert_array_equal(found.mask, wanted.mask, f"{what}: what is missing")
    there = ~wanted.mask
    np.testing.assert_array_equal(found.data[there], wanted.data[there], what)


class Asked:
    """A table that is asked, and the model of it.

    asked, used, ordered: how many conditions there were, how many used an index that knew something, and how
    many orders did.
    """

    table: cq.Table
    model: Model
    pick: Random
    asked = used = ordered = 0

    def say(self, *words: Any) -> None:
        """Note what is done."""
        raise NotImplementedError

    def read(self, name: str) -> Held:
        self.table.ready()
        return held(self.table.layout.columns[name].read(slice(None)))

    def condition(self) -> Condition:
        extra = [getattr(one, "column", name) for name, one in self.table.indexes.items()]
        return cases.condition(self.pick, self.model, extra)

    def judged(self, one: Condition) -> Any:
        return np.broadcast_to(one.judge(self.model), self.model.nrows).astype(bool)

    def look(self) -> None:
        """Ask some questions, and check that the rows are those of the model."""
        assert len(self.table) == self.model.nrows
        for name, wanted in self.model.columns.items():
            same(self.read(name), wanted, f"column {name}")
        for _ in range(3):
            self.ask()

    def ask(self) -> None:
        one, nrows = self.condition(), self.model.nrows
        start, stop, step = (self.pick.randint(0, most) for most in (nrows, nrows, 9))
        where = self.pick.choice(
            [(None, None, None), (None, None, None), (start, None, step + 1), (-start - 1, stop, None)]
        )
        mode = self.pick.choice([access.forced, access.forced, nullcontext])
        self.say("ask", one.text, one.params, where, mode.__name__)
        is_in = np.zeros(nrows, bool)
        is_in[slice(*where)] = True
        rows = np.flatnonzero(self.judged(one) & is_in)
        with access.disabled():
            np.testing.assert_array_equal(self.table.where(one.text, one.params, *where).row_numbers(), rows)
        with mode():
            found = self.table.where(one.text, one.params, *where)
            self.asked += 1
            names = found.will_use_index()
            self.used += any(getattr(self.table.indexes[name], "rows", 1) > 0 for name in names)
            np.testing.assert_array_equal(found.row_numbers(), rows)
            self.check_rows(found, rows)
        self.check_answers(one, where, mode)

    def check_rows(self, found: Any, rows: Any) -> None:
        assert found.count() == len(rows)
        assert found.any() == bool(len(rows))
        limit = self.pick.choice([1, 10, 500])
        np.testing.assert_array_equal(found.head(limit).row_numbers(), rows[:limit])
        name = self.pick.choice(sorted(self.model.columns))
        same(held(found.to_numpy(name)), self.model.columns[name][rows], f"where: {name}")
        if self.model.kinds[name] in ("pos", "cat", "code"):
            return
        for is_descending in (False, True):
            ordered = cases.order_of(self.model, name, is_descending, rows)
            first = found.order_by(name, is_descending).head(limit)
            self.ordered += first.explain().ordered.startswith("index")
            np.testing.assert_array_equal(first.row_numbers(), ordered[:limit], f"by {name} {is_descending}")
        everything = cases.order_of(self.model, name, False, np.arange(self.model.nrows))
        start, stop = sorted(self.pick.choices(range(self.model.nrows + 2), k=2))
        one_by_one = list(self.table.itersorted(name, start=start, stop=min(stop, start + 40), step=3))
        at_once = self.table.read_sorted(name, start=start, stop=min(stop, start + 40), step=3)
        assert repr(one_by_one) == repr(list(at_once))
        some = self.table.read_sorted(name, name, start=limit // 2, stop=limit)
        same(held(some), self.model.columns[name][everything[limit // 2 : limit]], f"sorted by {name}")
        np.testing.assert_array_equal(self.table.order_by(name).row_numbers(), everything, f"all by {name}")

    def check_answers(self, one: Condition, where: Any, mode: Any) -> None:
        """Check what is computed of the rows that match: as without indexes."""
        key = self.pick.choice([name for name, kind in self.model.kinds.items() if kind != "pos"] or [""])
        sums = [name for name, kind in self.model.kinds.items() if kind in cases.NUMBERS and kind[0] in "iu"]
        name = self.pick.choice(sums or [key])
        if not key:
            return

        def answers() -> list[Any]:
            found = self.table.where(one.text, one.params, *where)
            aggregates = {"n": "count"} | ({"s": (name, "sum")} if sums else {})
            made = [_outcome(lambda: _rounded(found.sum(name)))]
            made.append(_outcome(lambda: found.group_by(key).agg(aggregates).tolist()))
            for rows in (found, self.table):
                made += [_outcome(partial(rows.min, name)), _outcome(partial(rows.max, name))]
            return made

        with access.disabled():
            wanted = answers()
        with mode():
            assert answers() == wanted


def _rounded(total: Any) -> Any:
    """Return a sum without the digits that depend on the order of floating-point numbers."""
    return f"{total:.9g}" if isinstance(total, float | np.floating) else total


def _outcome(what: Callable[[], Any]) -> Any:
    try:
        return repr(what())
    except (TypeError, ValueError) as error:
        return type(error).__name__
