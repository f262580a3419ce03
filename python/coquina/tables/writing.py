"""Rows and values that are put into a table: behind its rows, or in their place.

In: anything that `incoming` takes, and where it goes. Out: batches for the layout.
Invariant: columns go by their names. What does not fit is refused before anything is written, but for
streams of batches, of which those before it stay.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.casting import is_masked, mask_of
from coquina.indexing import lower
from coquina.tables.gathering import cut, row_numbers
from coquina.tables.incoming import batches
from coquina.tables.layout import leaves_of
from coquina.tables.reading import narrowed, pick, row_bytes
from coquina.tables.scanning import WINDOW_BYTES

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.tables.layout import Batch, ColumnSpec, Schema
    from coquina.tables.plan import Plan
    from coquina.tables.table import Table

    Integers = npt.NDArray[np.int64]

#: Rows whose changes are told to indexes as one.
_SPAN_ROWS = 1 << 16
#: What makes of names an expression.
_COMPUTING = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call, ast.IfExp)


def length(batch: Batch) -> int:
    """Return how many rows a batch has."""
    return len(next(iter(batch.values()), ()))


def append_rows(table: Table, data: Any) -> int:
    """Append what `incoming` takes; return how many rows that was."""
    _, parts = batches(data, table.layout.stored_schema)
    source = getattr(data, "table", data)
    if source is table:
        parts = iter(list(parts))
    count = 0
    for batch in parts:
        table.put(batch)
        count += length(batch)
    return count


def append_plan(plan: Plan, table: Table) -> int:
    """Append the rows of a plan to a table; return how many there are."""
    picked, columns = plan.picked(None)
    paths = {path: one.name + path[len(one.path) :] for one in picked for path in one.leaves()}
    wanted = leaves_of(table.layout.stored_schema)
    missing = [name for name in wanted if name not in paths.values()]
    unknown = [name for name in paths.values() if name not in wanted]
    if missing or unknown:
        raise ValueError(f"append_to: columns {missing} are missing, {unknown} are not in {table.name!r}")
    parts: Iterable[tuple[int, Batch]] = cut(plan, columns, None)
    if table is plan.table:
        parts = list(parts)
    count = 0
    for rows, values in parts:
        table.put({paths[path]: one for path, one in values.items()})
        count += rows
    return count


def rows_of_key(table: Table, key: Any) -> Integers:
    """Return the numbers of the rows that a key names, any that NumPy takes."""
    selection = lower(key, (table.nrows,))
    axis = selection.axes[0] if selection.axes else None
    if axis is None or len(selection.shape) > 1:
        raise IndexError(f"rows of a table: a key that gives shape {selection.shape} names none")
    if isinstance(axis, tuple):
        return np.arange(axis[2], dtype=np.int64) * axis[1] + axis[0]
    return axis


def write_key(table: Table, key: Any, value: Any) -> None:
    """Overwrite the rows that a key names with records, or one record for all."""
    write_rows(table, rows_of_key(table, key), value, table.layout.stored_schema)


def write_rows(table: Table, rows: Integers, value: Any, schema: Schema) -> None:
    """Overwrite the columns of `schema` in these rows."""
    parts = list(batches(_as_rows(value), schema, max(len(rows), 1))[1])
    total = sum(map(length, parts))
    if total == 1 and len(rows) != 1:
        parts = [_repeated(part, len(rows)) for part in parts if length(part)]
    elif total != len(rows):
        raise ValueError(f"{total} rows for {len(rows)} rows of the table")
    at = 0
    for part in parts:
        put_rows(table, rows[at : at + length(part)], part)
        at += length(part)


def put_rows(table: Table, rows: Integers, batch: Batch) -> None:
    """Write a batch to rows, at once where they follow each other."""
    if not len(rows):
        return
    first, last = int(rows[0]), int(rows[-1])
    if last - first + 1 == len(rows) and (len(rows) == 1 or bool(np.all(np.diff(rows) == 1))):
        with table.notify_indexes(batch, [(first, last + 1)]):
            table.layout.write(first, batch)
    else:
        with table.notify_indexes(batch, _spans(rows, table.nrows)):
            table.layout.write_at(rows, batch)


def _spans(rows: Integers, nrows: int) -> Iterable[tuple[int, int]]:
    """Yield ranges that hold these rows, each of so many that an index forgets them together."""
    numbers = np.where(rows < 0, rows + nrows, rows)
    for number in np.unique(numbers // _SPAN_ROWS).tolist():
        yield number * _SPAN_ROWS, (number + 1) * _SPAN_ROWS


def _as_rows(value: Any) -> Any:
    """Return one row as rows."""
    if isinstance(value, np.void | tuple):
        return [cast("Any", value)]
    if isinstance(value, Mapping):
        columns = cast("Mapping[str, Any]", value)
        if all(_is_single(one) for one in columns.values()):
            return {name: [one] for name, one in columns.items()}
    return cast("Any", value)


def _is_single(value: Any) -> bool:
    # A list has an axis, also one of lists of unequal lengths.
    return isinstance(value, str | bytes) or (not isinstance(value, list | tuple) and np.ndim(value) == 0)


def _repeated(batch: Batch, count: int) -> Batch:
    return {path: np.repeat(_array(one), count, axis=0) for path, one in batch.items()}


def _array(values: Any) -> Any:
    return cast("Any", values) if isinstance(values, np.ndarray) else np.asarray(values)


def modify_plan(plan: Plan, values: Mapping[str, Any]) -> int:
    """Overwrite columns in the rows of a plan; return how many rows there are."""
    return modify_rows(plan.table, row_numbers(plan), values)


def modify_rows(table: Table, rows: Integers, values: Mapping[str, Any]) -> int:
    """Overwrite columns in some rows; return how many rows there are."""
    if not values:
        return 0
    schema = narrowed(table.schema, pick(table.schema, list(values)))
    if any(spec.children for spec in schema):
        raise TypeError("modify: a nest of columns; name the columns in it")
    for name, one in values.items():
        check_no_expression(table, name, one)
    given = {name: _Values(name, one, table, len(rows)) for name, one in values.items()}
    columns = [table.layout.columns[name] for name in values]
    step = max(1, WINDOW_BYTES // row_bytes(columns))
    for at in range(0, len(rows), step):
        part = rows[at : at + step]
        made = {name: one.part(part, at) for name, one in given.items()}
        for batch in batches(made, schema, len(part))[1]:
            put_rows(table, part, batch)
    return len(rows)


def check_no_expression(table: Table, name: str, value: Any) -> None:
    """Raise TypeError for text that computes with columns of the table: it is no value for all rows."""
    if not isinstance(value, str):
        return
    try:
        tree = ast.parse(value, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    parts = list(ast.walk(tree))
    functions = {id(part.func) for part in parts if isinstance(part, ast.Call)}
    used = [part.id for part in parts if isinstance(part, ast.Name) and id(part) not in functions]
    if used and set(used) <= set(table.columns) and any(isinstance(part, _COMPUTING) for part in parts):
        raise TypeError(
            f"column {name!r}: {value!r} computes with columns, and text is not computed; write it with the "
            f"columns themselves, as t[{used[0]!r}] * 2, or give the text once for each row"
        )


class _Values:
    """Values for some rows: one for all, one for each, or an expression of all rows of the table."""

    def __init__(self, name: str, given: Any, table: Table, count: int) -> None:
        self._given: Any = given
        self._is_by_row = False
        self._is_one = _is_single(given) if not _is_lazy(given) else False
        shape = table.layout.columns[name].shape
        if not self._is_one and not _is_lazy(given):
            self._given = given if hasattr(given, "shape") else list(given)
            self._is_one = bool(shape) and np.shape(self._given) == shape
        if self._is_one:
            if is_masked(given) and given.ndim == 0 and bool(mask_of(given)):
                # What a masked array gives for an item without a value.
                self._given = None
            return
        if _is_lazy(given) and given.shape[:1] == (table.nrows,):
            self._is_by_row = True
        elif len(self._given) != count:
            raise ValueError(f"modify: {len(self._given)} values of {name!r} for {count} rows")

    def part(self, rows: Integers, at: int) -> Any:
        """Return the values of some of the rows, which are the ones from the `at`-th on."""
        if self._is_by_row:
            return self._given[rows]
        if not self._is_one:
            return self._given[at : at + len(rows)]
        if isinstance(self._given, str | bytes) or self._given is None:
            return [self._given] * len(rows)
        return np.broadcast_to(np.asarray(self._given), (len(rows), *np.shape(self._given)))


def _is_lazy(value: Any) -> bool:
    return not isinstance(value, np.ndarray | list | tuple) and hasattr(value, "shape") and bool(value.shape)


def write_columns(table: Table, names: list[str], value: Any) -> None:
    """Overwrite some columns with records, or one record for all."""
    schema = narrowed(table.schema, pick(table.schema, names))
    write_rows(table, np.arange(table.nrows, dtype=np.int64), value, schema)


def write_nest(table: Table, name: str, value: Any) -> None:
    """Overwrite all columns of a nest with records of it."""
    picked = pick(table.schema, name)
    made: Any = np.asarray(value)
    if made.dtype.names is None or not all(
        child.name in made.dtype.names for child in picked[0].spec.children
    ):
        raise TypeError(f"column {name!r} is a nest of columns, and takes records of them, not {made.dtype}")
    write_rows(table, np.arange(table.nrows, dtype=np.int64), {name: made}, narrowed(table.schema, picked))


def add_column(table: Table, name: str, values: Any, spec: ColumnSpec | None) -> None:
    """Put a column behind the last, with a value for each row, or one for all."""
    if _is_single(values) and not _is_lazy(values):
        if spec is None:
            check_no_expression(table, name, values)
        count = table.nrows
        values = [values] * count if isinstance(values, str | bytes) else np.full(count, values)
    elif _is_lazy(values) and not hasattr(values, "__arrow_c_stream__"):
        values = values[...]
    (found,), parts = batches({name: values}, None if spec is None else (spec,), max(1, table.nrows))
    batch = next(parts, None)
    count = 0 if batch is None else length(batch)
    if count != table.nrows:
        raise ValueError(f"column {name!r}: {count} values for {table.nrows} rows")
    table.layout.add_column(found, [] if batch is None else batch[name])
