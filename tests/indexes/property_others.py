"""What other programs do to a table, or its file, while it is closed: PyTables and h5py."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import tables

from tests.indexes import property_cases as cases
from tests.indexes.property_cases import Held, Model
from tests.indexes.property_questions import Asked

#: What PyTables sorts.
THEIRS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "f4", "f8", "b", "S", "info/x", "info/y")


class Others(Asked):
    """A table, and what others do to it."""

    path: Path
    most: int
    name: str | None

    def random_rows(self, count: int) -> Model:
        """Return rows for the table."""
        raise NotImplementedError

    def span(self, most: int) -> slice:
        """Return some of the rows."""
        raise NotImplementedError

    def put_at(self, rows: Any, more: Model, names: list[str]) -> None:
        """Overwrite rows of the model."""
        raise NotImplementedError

    def keep(self, rows: Any) -> None:
        """Keep some rows of the model."""
        raise NotImplementedError

    def by_pytables(self) -> None:
        if not self.model.nrows:
            return
        with warnings.catch_warnings(), tables.open_file(str(self.path), "a") as file:
            warnings.simplefilter("ignore")
            node = file.get_node(self.name or "/table")
            rows, what = self.span(self.most // 4), self.pick.choice(["append", "modify", "remove", "index"])
            rows = slice(rows.start, rows.stop)
            count = rows.stop - rows.start
            self.say("PyTables", what, rows)
            more = self.random_rows(count)
            if what == "append":
                node.append(self._records(more, node.dtype))
                self.model.put(more)
            elif count and what == "modify":
                node.modify_rows(rows.start, rows.stop, rows=self._records(more, node.dtype))
                self.put_at(rows, more, list(self.model.columns))
            elif what == "index":
                names = [name for name in THEIRS if name in self.model.columns]
                name = self.pick.choice(names) if names else None
                if name and not node.colinstances[name].is_indexed:
                    kind = self.pick.choice(["full", "medium", "light", "ultralight"])
                    self.say("PyTables indexes", name, kind)
                    node.colinstances[name].create_index(self.pick.choice([0, 6, 9]), kind)
            elif count and count < self.model.nrows:
                node.remove_rows(rows.start, rows.stop)
                self.keep(np.delete(np.arange(self.model.nrows), rows))

    def _records(self, model: Model, dtype: Any) -> Any:
        made = np.zeros(model.nrows, dtype)
        for path, one in model.columns.items():
            part = made
            for name in path.split("/"):
                part = part[name]
            part[...] = one.data.view("i8") if one.data.dtype.kind in "mM" else one.data
        return made

    def by_h5py(self) -> None:
        plain = [
            name for name, kind in self.model.kinds.items() if kind in (*cases.NUMBERS, "when", "span", "S")
        ]
        rows = self.span(self.most // 4)
        rows = slice(rows.start, rows.stop)
        count = rows.stop - rows.start
        more = self.random_rows(count)
        with h5py.File(self.path, "r+") as file:
            if len(plain) == len(self.model.kinds) and self.pick.random() < 0.5:
                self.say("h5py grows by", count)
                for name in plain:
                    file[self.name or "table"][name].resize((self.model.nrows + count,))
                    file[self.name or "table"][name][self.model.nrows :] = _stored(more.columns[name])
                self.model.put(more)
            elif plain and count:
                name = self.pick.choice(plain)
                self.say("h5py assigns", name, rows)
                file[self.name or "table"][name][rows] = _stored(more.columns[name])
                self.put_at(rows, more, [name])


def _stored(one: Held) -> Any:
    return one.data.view("i8") if one.data.dtype.kind in "mM" else one.data
