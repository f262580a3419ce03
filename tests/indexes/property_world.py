"""A table and its indexes through random changes, reopenings and other writers; NumPy has the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import h5py
import numpy as np

import coquina as cq
from coquina.indexes import access, ordered_runs, store, units
from coquina.tables import access as table_access
from coquina.tables import index_order
from tests.indexes import property_cases as cases
from tests.indexes.property_cases import Held, Model
from tests.indexes.property_others import THEIRS, Others

KINDS = ("full", "full", "partial", "light", "zones")
SMALL_SPAN = 1024


@contextmanager
def small_parts() -> Iterator[None]:
    """Spans, zones, buckets, runs and blocks of few rows, in the `with` block."""
    with (
        mock.patch.multiple(units, SPAN_ROWS=SMALL_SPAN, ZONE_ROWS=256, BUCKET_ROWS=64),
        mock.patch.multiple(units, BLOCK_ENTRIES=64, PARTIAL_SPANS=2, TIER_RUNS=4),
        mock.patch.multiple(store, FLUSH_ROWS=1 << 13, CLOSE_ROWS=1 << 11),
        mock.patch.multiple(ordered_runs, _WINDOW=100, _ASKED=4),
        mock.patch.object(table_access, "COSTS", (16, 1 << 9, 1 << 10)),
        mock.patch.object(index_order, "_FEW_OF", 4),
    ):
        yield


class World(Others):
    """One table, and what happens to it."""

    def __init__(self, seed: int, folder: Path, most: int) -> None:
        """most: about how many rows there are at most."""
        self.pick, self.rng = Random(seed), np.random.default_rng(seed)
        self.folder, self.most, self.seed = folder, most, seed
        self.log: list[str] = []
        self.array: Any = None
        self.owner: Any = None
        self.name: str | None = None
        self.place = self.pick.choice(["rows", "rows", "columns", "columns", "directory", "array"])
        layout = {"directory": "columns"}.get(self.place, self.place)
        pool = cases.KINDS[layout]
        count = 1 if layout == "array" else self.pick.randint(1, 5)
        self.chosen = self.pick.sample(pool, count)
        self.model = Model({path: kind for one in self.chosen for path, kind in cases.paths_of(one)})
        self.model.columns = self.random_rows(self.rows()).columns
        if layout == "array":
            self.model = Model({"value": self.chosen[0]}, {"value": self.model.columns[self.chosen[0]]})
        self.make()

    # Making and opening

    def rows(self) -> int:
        """Return a number of rows: often few, at times many."""
        return self.pick.choice(
            [0, 1, 7, self.pick.randint(2, 300), *[self.pick.randint(1, self.most) for _ in range(4)]]
        )

    def random_rows(self, count: int) -> Model:
        kinds = self.model.kinds
        return Model(kinds, {name: cases.values_of(kind, count, self.rng) for name, kind in kinds.items()})

    def say(self, *words: Any) -> None:
        self.log.append(" ".join(str(word) for word in words))

    def make(self) -> None:
        self.say("make", self.place, self.chosen, self.model.nrows)
        self.path = self.folder / ("t" if self.place == "directory" else "t.h5")
        if self.place == "array":
            self.where = self.pick.choice(["memory", "frame", "hdf5"])
            self.say("array", self.where)
            self.make_array()
            return
        specs = tuple(cases.spec_of(kind) for kind in self.chosen)
        layout = "columns" if self.place == "directory" else self.place
        chunk = self.pick.choice([64, 512, 3000])
        self.table = cq.create_table(self.path, specs, layout=layout, chunk_rows=chunk)
        self.table.append(self.given(self.model))

    def make_array(self) -> None:
        values = self.model.columns["value"].data
        if self.where == "memory":
            self.array = cq.asarray(values)
        elif self.where == "frame":
            self.path = self.folder / "a.b2nd"
            self.array = cq.asarray(values, path=self.path)
        else:
            self.owner = cq.open(self.path, "w")
            dtype = h5py.opaque_dtype(values.dtype) if values.dtype.kind == "M" else values.dtype
            self.owner.create_dataset("a", data=values.astype(dtype), chunks=(512,), maxshape=(None,))
            self.array = self.owner["a"]
        self.table = cq.as_table(self.array)

    def close(self) -> None:
        self.table.close()
        if self.array is not None and self.where != "memory":
            self.array.close() if self.owner is None else self.owner.close()

    def open(self, mode: str) -> None:
        self.say("open", mode)
        if self.array is None:
            self.table = cq.open_table(self.path, self.name, mode)
        elif self.where == "memory":
            self.table = cq.as_table(self.array)
        else:
            self.owner = None if self.where == "frame" else cq.open(self.path, mode)
            self.array = cq.open(self.path, mode) if self.owner is None else self.owner["a"]
            self.table = cq.as_table(self.array)

    def given(self, model: Model, names: list[str] | None = None) -> Any:
        """Return rows as tables take them."""
        if self.place == "rows" and names is None:
            made = np.zeros(model.nrows, self.table.dtype)
            for path, one in model.columns.items():
                part = made
                for name in path.split("/"):
                    part = part[name]
                part[...] = one.data
            return made
        return {name: _given(model.columns[name], model.kinds[name]) for name in names or model.columns}

    # Changes

    def step(self) -> None:
        """Change something."""
        steps: list[Callable[[], Any]] = [
            *[self.append] * 3,
            *[self.modify] * 2,
            self.assign,
            self.delete,
            self.resize,
            *[self.refresh] * 2,
            self.compact,
            self.index,
            self.drop,
            *[self.reopen] * 2,
            self.by_condition,
            *[self.columns_change] * (self.place in ("columns", "directory")),
            self.move,
        ]
        self.pick.choice(steps)()

    def append(self) -> None:
        count = self.pick.choice([1, 3, self.pick.randint(1, 200), self.pick.randint(1, self.most // 2 + 1)])
        for _ in range(self.pick.choice([1, 1, 3])):
            more = self.random_rows(count)
            self.say("append", count)
            self.table.append(self.given(more))
            self.model.put(more)
        # What waits is seen by whatever comes next.
        if self.pick.random() < 0.3:
            self.say("flush")
            self.table.flush()

    def span(self, most: int) -> slice:
        start = self.pick.randint(0, self.model.nrows)
        stop = min(self.model.nrows, start + self.pick.choice([1, 10, self.pick.randint(0, most)]))
        return slice(start, stop, self.pick.choice([None, None, 3]))

    def modify(self) -> None:
        rows = self.span(self.most // 4)
        count = len(range(*rows.indices(self.model.nrows)))
        names = self.pick.sample(sorted(self.model.columns), self.pick.randint(1, len(self.model.columns)))
        more = self.random_rows(count)
        self.say("modify", rows, names)
        self.table.modify(rows, self.given(more, names))
        self.put_at(rows, more, names)

    def put_at(self, rows: Any, more: Model, names: list[str]) -> None:
        for name in names:
            self.model.columns[name].data[rows] = more.columns[name].data
            self.model.columns[name].mask[rows] = more.columns[name].mask

    def assign(self) -> None:
        rows = self.span(self.most // 4)
        count = len(range(*rows.indices(self.model.nrows)))
        more = self.random_rows(count)
        if self.place == "rows" and self.pick.random() < 0.5:
            self.say("assign rows", rows)
            self.table[rows] = self.given(more)
            self.put_at(rows, more, list(self.model.columns))
            return
        name = self.pick.choice(
            [name for name, kind in self.model.kinds.items() if kind in cases.COMMON] or [""]
        )
        if name and self.array is None:
            self.say(f"t[{name!r}][{rows}] = ")
            if self.place == "columns" and name in cases.NUMBERS and self.pick.random() < 0.5:
                self.table.file[f"{self.table.name}/{name}"][rows] = more.columns[name].data
            else:
                self.table[name][rows] = more.columns[name].data
            self.put_at(rows, more, [name])

    def delete(self) -> None:
        if self.pick.random() < 0.5:
            key: Any = self.span(self.most // 4)
        else:
            key = self.rng.integers(
                0, max(1, self.model.nrows), min(self.model.nrows, self.pick.randint(0, 9))
            )
        self.say("delete", key)
        self.table.delete(key)
        self.keep(np.delete(np.arange(self.model.nrows), key))

    def keep(self, rows: Any) -> None:
        self.model = self.model.take(rows)

    def resize(self) -> None:
        count, before = self.rows(), self.model.nrows
        if self.pick.random() < 0.5:
            count = min(count, before)
            self.say("truncate", count)
            self.table.truncate(count)
        else:
            self.say("resize", count)
            self.table.resize(count)
        self.keep(np.arange(min(count, before)))
        if count > before:
            # What new rows have is for others to test.
            more = {name: self.read(name)[before:] for name in self.model.columns}
            self.model.put(Model(self.model.kinds, more))

    def refresh(self) -> None:
        names = list(self.table.index_store.indexes)
        name = self.pick.choice([None, *names])
        self.say("refresh", name)
        self.table.refresh_index(name)

    def compact(self) -> None:
        if self.table.index_store.is_empty:
            return
        self.say("compact")
        if self.pick.random() < 0.5:
            self.table.compact()
        else:
            self.pick.choice(list(self.table.index_store.indexes.values())).compact()

    def index(self) -> None:
        operands = [text for text, _, _ in cases.operands_of(self.model)]
        expressions = [text for text, _, _ in cases.expressions_of(self.model)]
        text = (
            self.pick.choice([*operands, *operands, *expressions])
            if expressions
            else self.pick.choice(operands)
        )
        column = text.replace(".", "/") if text in operands else text
        name = f"i{self.pick.randrange(10**9)}" if self.pick.random() < 0.2 else None
        kind = self.pick.choice(KINDS)
        if self.place == "rows" and self.model.kinds.get(column) in THEIRS and self.pick.random() < 0.25:
            kind, name = "pytables", None
        if (column if name is None else name) in self.table.indexes:
            return
        self.say("index", column, kind, name)
        limit = self.pick.choice([1 << 30, 1 << 14])
        self.table.create_index(column, kind=kind, name=name, memory_limit=limit)

    def drop(self) -> None:
        if self.table.indexes and self.pick.random() < 0.5:
            name = self.pick.choice(sorted(self.table.indexes))
            self.say("drop", name)
            self.table.drop_index(name)

    def by_condition(self) -> None:
        one = self.condition()
        flags = self.judged(one)
        if self.pick.random() < 0.4 and flags.sum() < 0.6 * len(flags):
            self.say("delete", one.text, one.params)
            with access.forced():
                found = self.table.where(one.text, one.params).delete()
            assert found == flags.sum()
            self.keep(np.flatnonzero(~flags))
            return
        name = self.pick.choice(sorted(self.model.columns))
        more = self.random_rows(1)
        self.say("modify", name, one.text, one.params)
        with access.forced():
            values = self.given(more, [name])[name]
            if self.model.kinds[name] == "gapf":
                more.columns[name].mask |= np.isnan(more.columns[name].data)
            found = self.table.where(one.text, one.params).modify({name: values[0]})
        assert found == flags.sum()
        self.put_at(flags, more, [name])

    def columns_change(self) -> None:
        """Add a column, remove one, or call it something else."""
        names = sorted(self.model.columns)
        name, what = self.pick.choice(names), self.pick.choice(["add", "drop", "rename"])
        new = f"c{self.pick.randrange(10**6)}"
        kinds, columns = dict(self.model.kinds), dict(self.model.columns)
        if what == "add" and len(names) < 7:
            kind = self.pick.choice(cases.KINDS["columns"])
            values = cases.values_of(kind, self.model.nrows, self.rng)
            self.table.add_column(new, _given(values, kind), replace(cases.spec_of(kind), name=new))
            kinds[new], columns[new] = kind, values
        elif what == "rename":
            self.table.rename_column(name, new)
            kinds[new], columns[new] = kinds.pop(name), columns.pop(name)
        elif what == "drop" and len(names) > 1:
            self.table.drop_column(name)
            del kinds[name], columns[name]
        self.say("column", what, name, new, kinds)
        self.model = Model(kinds, columns)

    def move(self) -> None:
        """Give a table in a file another name."""
        if self.array is not None or self.place == "directory":
            return
        old, new = self.table.name, self.pick.choice(["/table", "/moved", "/in/other"])
        self.say("move", old, new)
        self.table.close()
        with cq.open(self.path, "r+") as file:
            if new not in file:
                file.move(old, new)
            self.name = new
        self.open("r+")

    # Others

    def reopen(self) -> None:
        self.say("close")
        self.close()
        if self.pick.random() < 0.4:
            self.open("r")
            self.look()
            self.say("close")
            self.close()
        if self.pick.random() < 0.5:
            if self.place == "rows":
                self.by_pytables()
            elif self.place == "columns":
                self.by_h5py()
        self.open("r+")


def _given(one: Held, kind: str) -> Any:
    if one.data.dtype == object and one.mask.any():
        texts = [None if gone else text for text, gone in zip(one.data, one.mask, strict=True)]
        return np.array([*texts, None], object)[:-1]
    if one.data.dtype == object:
        return one.data.astype(cases.TEXT)
    # NaN that is not masked stays what it is.
    return np.ma.MaskedArray(one.data, one.mask) if kind in cases.NULLABLE else one.data
