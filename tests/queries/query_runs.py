"""Runs the cases of `*.test` files: makes their tables in a home, with indexes of a kind, and compares.

In: a case and a setup. Out: nothing; what differs is an AssertionError that names the setup and the line.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import coquina as cq
from coquina.indexes import access
from coquina.tables.layout import ColumnSpec
from coquina.tables.values import TEXT
from tests.queries.query_files import Case
from tests.queries.query_steps import Param, Step
from tests.queries.query_tables import Table
from tests.queries.query_values import COMPLEX, SIZED, Column, Time, Type


class Setup(NamedTuple):
    """Where a table is, of which kind its indexes are (None: it has none), and who decides on them."""

    home: str
    kind: str | None
    mode: str


#: Indexes of each kind stand in a home at least, those of the default kind in all.
SETUPS = (
    *[Setup(home, None, "disabled") for home in ("columns", "rows", "directory", "memory")],
    *[Setup(home, "full", "forced") for home in ("columns", "rows", "directory", "memory")],
    Setup("columns", "full", "chosen"),
    Setup("columns", "light", "forced"),
    Setup("directory", "partial", "forced"),
    Setup("columns", "zones", "forced"),
    Setup("rows", "zones", "forced"),
    Setup("rows", "pytables", "forced"),
)
_KINDS = {"expression": cq.ExpressionError, "type": TypeError, "value": ValueError, "key": KeyError}
_KINDS["overflow"] = OverflowError
_NAT = np.iinfo(np.int64).min


def mode_of(setup: Setup) -> AbstractContextManager[None]:
    """Return the context in which a setup asks."""
    return {"disabled": access.disabled, "forced": access.forced, "chosen": nullcontext}[setup.mode]()


def dtype_of(kind: Type) -> np.dtype[Any]:
    """Return NumPy's dtype of a type."""
    if kind.base in SIZED:
        return np.dtype(f"{'S' if kind.base == 'bytes' else 'U'}{kind.size}")
    if kind.unit:
        return np.dtype(f"{'M8' if kind.base == 'time' else 'm8'}[{kind.unit}]")
    names = {"bool": "?", "time32": "i4", "time64": "f8", "int": "i8", "float": "f8"}
    if kind.base == "text":
        return TEXT
    return np.dtype((">" if kind.is_swapped else "=") + names.get(kind.base, kind.base))


def item_of(value: Any, kind: Type) -> Any:
    """Return a value of a file as NumPy takes it."""
    if kind.base == "time":
        return np.datetime64("NaT" if value.text == "nat" else value.text, kind.unit) + value.more
    if kind.base == "span":
        return np.timedelta64("NaT" if isinstance(value, Time) else value, kind.unit)
    return value


def _nested(value: Any, kind: Type) -> Any:
    return [_nested(one, kind) for one in value] if isinstance(value, list) else item_of(value, kind)


def values_of(column: Column, cells: list[Any]) -> Any:
    """Return the values of a column as an array: a masked one, or objects, where some are missing."""
    dtype = dtype_of(column.type)
    if column.categories is not None or dtype.kind == "T":
        return np.array([*cells, None], object)[:-1]
    mask = [one is None for one in cells]
    known = next((one for one in cells if one is not None), None)
    items = [_nested(known if one is None else one, column.type) for one in cells]
    if known is None:
        values = np.zeros((len(cells), *column.shape), dtype)
    else:
        values = np.array(items, dtype).reshape(len(cells), *column.shape)
    return np.ma.MaskedArray(values, mask) if column.is_nullable else values


def specs_of(columns: list[Column], above: str = "") -> tuple[ColumnSpec, ...]:
    """Return the columns of a table as the package describes them, nests as columns with children."""
    made: list[ColumnSpec] = []
    for column in columns:
        name, slash, _ = column.path.removeprefix(above).partition("/")
        if any(one.name == name for one in made):
            continue
        if slash:
            inner = [one for one in columns if one.path.startswith(f"{above}{name}/")]
            children = specs_of(inner, f"{above}{name}/")
            dtype = np.dtype([(one.name, one.dtype, one.shape) for one in children])
            made.append(ColumnSpec(name, dtype, children=children))
            continue
        is_time = column.type.base in ("time32", "time64")
        spec = ColumnSpec(
            name,
            dtype_of(column.type),
            column.shape,
            nullable=column.is_nullable,
            categories=column.categories,
            ordered=column.is_ordered,
            enum=column.members,
            time=column.type.base if is_time else None,
            zone=column.zone,
        )
        made.append(spec)
    return tuple(made)


def make(table: Table, setup: Setup, folder: Path) -> cq.Table:
    """Return a new table with its rows, and with indexes if the setup has them."""
    values = {
        one.path: values_of(one, [row[at] for row in table.rows]) for at, one in enumerate(table.columns)
    }
    if setup.home == "memory":
        dtype = [(one.path, dtype_of(one.type), one.shape) for one in table.columns]
        records = np.zeros(len(table.rows), dtype)
        for path, one in values.items():
            records[path] = one
        made = cq.as_table(cq.asarray(records, chunks=(table.chunk,)))
    else:
        path = path_of(table, setup, folder)
        layout: Any = "rows" if setup.home == "rows" else "columns"
        # Characters of rows are bytes of UTF-8, of which the width is that.
        wide = [
            replace(one, type=replace(one.type, size=4 * one.type.size)) if one.type.base == "chars" else one
            for one in table.columns
        ]
        specs = specs_of(wide if setup.home == "rows" else table.columns)
        made = cq.create_table(path, specs, layout=layout, chunk_rows=table.chunk)
    with ExitStack() as stack:
        stack.enter_context(made)
        if table.rows and setup.home != "memory":
            made.append(values)
            made.flush()
        for name, text in indexable(table, setup):
            made.create_index(text, name=None if name == text else name, kind=setup.kind or "full")
        stack.pop_all()
    return made


def path_of(table: Table, setup: Setup, folder: Path) -> Path:
    """Return where a table stands."""
    name = f"{table.name}-{setup.home}-{setup.kind}-{setup.mode}"
    return folder / (name if setup.home == "directory" else f"{name}.h5")


def indexable(table: Table, setup: Setup) -> list[tuple[str, str]]:
    """Return the indexes that a table gets: of each column with an order, and those that the file names."""
    if setup.kind is None:
        return []
    names = [one.path for one in table.columns if not one.shape and one.type.base not in COMPLEX]
    if setup.kind == "pytables":
        # It has no index that is right of uint64 and float16, and takes times of NumPy for integers.
        others = ("u8", "f2", "time", "span", "chars")
        names = [one for one in names if table.column(one).type.base not in others]
        return [(name, name) for name in names]
    return [*[(name, name) for name in names], *table.indexes.items()]


def plain(values: Any, kind: Type | None) -> list[Any]:
    """Return values of the package as the files have them: None for null, times as counts."""
    if kind is not None and kind.base in ("time", "span"):
        mask = np.ma.getmaskarray(values).tolist()
        counts = np.ma.getdata(np.ma.asarray(values)).astype(dtype_of(kind)).view("i8").tolist()
        return [None if is_missing else one for one, is_missing in zip(counts, mask, strict=True)]
    listed = values.tolist()
    if kind is not None and kind.base == "chars":
        return [one.decode() if isinstance(one, bytes) else one for one in listed]
    return listed


def wanted(cells: list[Any], kind: Type) -> list[Any]:
    """Return cells of a file as `plain` gives them."""
    if kind.base in ("time", "span"):
        return [None if one is None else _counted(_nested(one, kind)) for one in cells]
    if kind.base == "bytes":
        return [one.rstrip(b"\0") if isinstance(one, bytes) else one for one in cells]
    if kind.base in ("f2", "f4"):
        return np.array(cells, dtype_of(kind)).tolist() if None not in cells else cells
    return cells


def _counted(item: Any) -> Any:
    return [_counted(one) for one in item] if isinstance(item, list) else item.astype("i8").item()


def is_same(found: Any, expected: Any, tolerance: float = 0.0) -> bool:
    """Whether values are the same: NaN is NaN, and 1, 1.0 and True are not each other."""
    if isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        return all(is_same(a, b, tolerance) for a, b in zip(found, expected, strict=True))
    if type(found) is not type(expected):
        return False
    if isinstance(expected, complex):
        return is_same(found.real, expected.real, tolerance) and is_same(found.imag, expected.imag, tolerance)
    if isinstance(expected, float) and math.isnan(expected):
        return math.isnan(found)
    if isinstance(expected, float) and tolerance and math.isfinite(expected):
        return math.isclose(found, expected, rel_tol=tolerance)
    return found == expected


def param_of(param: Param) -> Any:
    """Return what a condition is given."""
    base = param.type.base
    if param.form == "array":
        return np.array([item_of(one, param.type) for one in param.value], dtype_of(param.type))
    values = param.value if param.form == "list" else [param.value]
    is_scalar = base not in ("int", "float", "text", "bytes", "bool", "time", "span")
    made = [
        dtype_of(param.type).type(one) if is_scalar and one is not None else item_of(one, param.type)
        for one in values
    ]
    return made if param.form == "list" else made[0]


class Run:
    """A case on one table."""

    def __init__(self, case: Case, setup: Setup, table: cq.Table) -> None:
        """Run `case` on `table`, which was made for it, or is shared with cases that change nothing."""
        self.case, self.setup, self.table = case, setup, table
        self.columns = {one.path: one for one in case.table.columns}
        self.is_changed = False

    def all(self) -> None:
        """Run all steps."""
        for step in self.case.steps:
            self.step(step)

    def step(self, step: Step) -> None:
        """Run one step."""
        self.where = f"{self.case.title}, line {step.line}, {'-'.join(map(str, self.setup))}"
        with mode_of(self.setup):
            if step.error is None:
                self._given(step)
                return
            kind, part = step.error
            with pytest.raises(_KINDS[kind]) as caught:
                self._given(step)
        assert caught.type is _KINDS[kind], f"{self.where}: {caught.value!r}"
        assert part in str(caught.value), f"{self.where}: {caught.value}"

    def _given(self, step: Step) -> None:
        query = self._query(step)
        if step.is_change:
            self._change(step, query)
        elif step.group:
            self._groups(step, query)
        elif step.ask is not None:
            self._asked(step, query)
        else:
            self._read(step, query)
        if step.where and step.error is None:
            self._way(step)

    def _query(self, step: Step) -> Any:
        params = {name: param_of(one) for name, one in step.params.items()} or None
        query: Any = self.table
        for at, text in enumerate(step.where):
            query = query.where(text, params, *(step.slice if at == 0 else ()))
        if not step.where and step.slice != (None, None, None):
            query = query.where("True", None, *step.slice)
        if step.order:
            names, flags = zip(*step.order, strict=True)
            query = query.order_by(list(names), list(flags))
        return query if step.head is None else query.head(step.head)

    def _change(self, step: Step, query: Any) -> None:
        if "delete" in step.has:
            changed = query.delete() if step.where else self.table.delete(slice(*step.slice))
        else:
            values = {
                name: self._expression(given) if how == "by" else self._one(name, given)
                for name, (how, given) in step.modify.items()
            }
            changed = query.modify(values) if step.where else self.table.modify(slice(*step.slice), values)
        self.is_changed = self.is_changed or bool(changed)
        assert changed == step.changed, f"{self.where}: {changed} rows changed, not {step.changed}"

    def _one(self, name: str, value: Any) -> Any:
        return item_of(value, self.columns[name].type) if value is not None else np.ma.masked

    def _expression(self, text: str) -> Any:
        used = {name: self.table[name] for name in self.columns if "/" not in name}
        return cq.expr(text, **{name: one for name, one in used.items() if name in text})

    def _groups(self, step: Step, query: Any) -> None:
        asked: Any = {
            one.name: "count" if one.expression is None else (one.expression, one.kind)
            for one in step.aggregates
        }
        found = query.group_by(step.group).agg(**asked)
        for at, column in enumerate(step.cells):
            values = found[column.path]
            self._check_dtype(column.path, values.dtype, column.type)
            self._compare(column, plain(values, column.type), [row[at] for row in step.rows or []], 1e-12)

    def _asked(self, step: Step, query: Any) -> None:
        kind, expression = step.ask or ("", "")
        found = getattr(query, kind)(expression)
        if step.value is None:
            return
        self._check_dtype(expression, np.asarray(found).dtype, step.value[0])
        expected = wanted([step.value[1]], step.value[0])
        values = plain(np.asarray(found).reshape(1), step.value[0])
        assert is_same(values, expected, 1e-12), f"{self.where}: {found!r}, not {expected[0]!r}"

    def _read(self, step: Step, query: Any) -> None:
        numbers = query.row_numbers().tolist()
        count = query.count()
        assert count == len(numbers), f"{self.where}: count {count} of rows {numbers}"
        assert query.any() == bool(numbers), f"{self.where}: any() of rows {numbers}"
        if step.numbers is not None:
            assert numbers == step.numbers, f"{self.where}: rows {numbers}, not {step.numbers}"
        if step.count is not None:
            assert count == step.count, f"{self.where}: {count} rows, not {step.count}"
        names = step.select or list(self.columns)
        found = query.to_dict([name for name in names if "/" not in name])
        for name in names:
            column = self.columns[name]
            values = query.to_numpy(name) if "/" in name else found[name]
            if step.rows is not None:
                cells = [row[names.index(name)] for row in step.rows]
            elif self.case.is_change:
                continue
            else:
                at = self.case.table.columns.index(column)
                cells = [self.case.table.rows[number][at] for number in numbers]
            self._check_dtype(name, values.dtype, column.type)
            self._compare(column, plain(values, column.type), cells)

    def _compare(self, column: Column, found: list[Any], cells: list[Any], tolerance: float = 0.0) -> None:
        expected = wanted(cells, column.type)
        assert is_same(found, expected, tolerance), f"{self.where}, {column.path}: {found}, not {expected}"

    def _check_dtype(self, name: str, found: np.dtype[Any], kind: Type) -> None:
        dtype = dtype_of(kind)
        if dtype.kind not in "SUT" and found.kind != "O":
            assert (found.kind, found.itemsize) == (dtype.kind, dtype.itemsize), (
                f"{self.where}, {name}: {found}"
            )

    def _way(self, step: Step) -> None:
        """Check that the indexes answer that the file names, or that blocks are skipped."""
        query = self._query(step)
        used = query.will_use_index()
        if self.setup.kind == "pytables" and self.is_changed:
            assert not used, f"{self.where}: PyTables' index of rows that were changed"
            return
        # Of no rows, some homes ask no index.
        if self.setup.mode == "forced" and len(self.table):
            known = {name for name, _ in indexable(self.case.table, self.setup)}
            # Of "or" all parts have to be answered: without one of its indexes it asks none.
            is_right = used == set(step.index) if set(step.index) <= known else used < set(step.index)
            assert is_right, f"{self.where}: asks {sorted(used)}, not {step.index}"
        if self.setup.kind is None:
            assert not used
            # Arrays of records in memory keep no bounds of their blocks.
            if "skips" in step.has and self.setup.home != "memory":
                assert query.explain().scan["boxes_skipped"], f"{self.where}: nothing is skipped"
