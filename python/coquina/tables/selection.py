"""`Selection`: rows of a table that meet conditions, lazily; and the queries that tables share with it.

In: conditions, names of columns, orders. Out: arrays, numbers, other selections; nothing is read before a
method asks for it.
Invariant: a selection never changes. It follows its table, so that what is appended later is within it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.foreign_attributes import SELECTIONS, no_attribute
from coquina.keyword_hints import names_keywords
from coquina.providers import Provider
from coquina.quoting import quoted
from coquina.tables import aggregates, arrow, files_out, gathering
from coquina.tables.access import chosen
from coquina.tables.deleting import delete_plan
from coquina.tables.pandas_callers import refuse_constructor
from coquina.tables.plan import Condition, Plan
from coquina.tables.reading import RowShape, narrowed, plain, records
from coquina.tables.table_html import selection_html
from coquina.tables.table_text import selection_text
from coquina.tables.writing import append_plan, modify_plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]
    import polars as pl

    from coquina.adapters import dask_frames, polars_scan
    from coquina.tables.grouping import Groups
    from coquina.tables.layout import Layout, Schema
    from coquina.tables.query_explanation import QueryExplanation
    from coquina.tables.reading import Names
    from coquina.tables.table import Table

    Values = npt.NDArray[Any]
else:
    dask_frames, polars_scan = map(Provider, ("dask_frames", "polars_scan"))


class Queries:
    """What can be asked of the rows of a table, or of some of them."""

    __slots__ = ()

    def _query(self) -> Plan:
        """Return which rows are asked about; what waits in memory is written first."""
        raise NotImplementedError

    @property
    def plan(self) -> Plan:
        """What is asked for; what waits in memory is written first."""
        return self._query()

    @names_keywords
    def where(
        self,
        condition: Any,
        params: Mapping[str, Any] | None = None,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
    ) -> Selection:
        """Select the rows that match a condition, lazily.

        condition: text, such as `"(price > 10) & (sym == 'ABC')"`; an expression of columns; or an array of
            bool with one element for each row of the table.
        params: values of names in the text that are not columns.
        start, stop, step: consider only these rows of the table.

        Returns a `Selection`. Raises ExpressionError, with the position, for text that is not a condition.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.where("(x >= 2) & (s == wanted)", {"wanted": "a"}).to_numpy("x")
        array([3, 2])
        """
        more = condition if isinstance(condition, str) and not params else Condition(condition, params)
        return Selection(self._query().where(more, start, stop, step))

    def select(self, columns: Names, *more: str) -> Selection:
        """Select columns, lazily.

        columns, more: a list of names, or names one by one. Returns a `Selection` of the same rows. Raises
            KeyError for an unknown column, TypeError for a list that is followed by names.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.select(["x"]).columns
        ('x',)
        >>> t.select("s", "x").columns
        ('s', 'x')
        """
        if more and isinstance(columns, str):
            columns = [columns, *more]
        elif more:
            raise TypeError(
                f"select: takes one list of names, or names one by one, not both: {columns!r}, {more!r}"
            )
        return Selection(self._query().selecting(columns))

    @names_keywords
    def order_by(self, columns: str | Sequence[str], descending: bool | list[bool] = False) -> Selection:
        """Sort the rows by columns, lazily.

        columns: a name, or a list of names, of which the first one decides first. descending: a bool for all,
            or a list with one for each column.

        Returns a `Selection`. The sort is stable; nulls and NaN are last. Memory: with `head(n)` n rows,
        otherwise the keys and the row numbers of all rows.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.order_by("x", descending=True)["x"].tolist()
        [3, 2, 1]
        """
        return Selection(self._query().ordered(columns, descending))

    @names_keywords
    def head(self, n: int = 5) -> Selection:
        """Return the first `n` rows as a `Selection`, lazily.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.head(2)["x"].tolist()
        [3, 1]
        """
        return Selection(self._query().first(n))

    @names_keywords
    def group_by(self, keys: str | Sequence[str]) -> Groups:
        """Group the rows by the values of columns.

        keys: a name, or a list of names. Returns `Groups`, whose `agg`, `sum`, `mean` and `count` compute one
            row for each group. Memory: the groups.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.group_by("s").agg(total=("x", "sum"))["total"]
        array([5, 1])
        """
        from coquina.tables.grouping import Groups

        return Groups(self._query(), keys)

    def count(self) -> int:
        """Return the number of rows.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.where("s == 'a'").count()
        2
        """
        return gathering.count_of(self._query())

    def any(self) -> bool:
        """Return whether there is a row.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.where("x > 5").any()
        False
        """
        return gathering.count_of(self._query().first(1)) > 0

    def sum(self, column: Any) -> Any:
        """Return the sum of a column.

        column: a name, or an expression of columns, such as "price * volume". Nulls are skipped, NaN is not.
            Raises ExpressionError for an unknown column. Memory: a block for each thread.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.sum("x")
        np.int64(6)
        """
        return aggregates.aggregate(self._query(), "sum", column)

    def mean(self, column: Any) -> Any:
        """Return the mean of a column.

        column: a name, or an expression of columns. Nulls are skipped, NaN is not. The mean of times is a
            time of their unit, computed in double precision and rounded toward zero; NaT if one of them is.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.mean("x * 2")
        np.float64(4.0)
        """
        return aggregates.aggregate(self._query(), "mean", column)

    def min(self, column: Any) -> Any:
        """Return the minimum of a column, or of an expression of columns.

        column: a name or an expression. Raises ValueError if there are no values.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.where("s == 'a'").min("x")
        np.int64(2)
        """
        return aggregates.aggregate(self._query(), "min", column)

    def max(self, column: Any) -> Any:
        """Return the maximum of a column, or of an expression of columns.

        column: a name or an expression. Raises ValueError if there are no values.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.max("x")
        np.int64(3)
        """
        return aggregates.aggregate(self._query(), "max", column)

    def std(self, column: Any, ddof: float = 0) -> Any:
        """Return the standard deviation of a column, or of an expression of columns.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> round(float(t.std("x")), 3)
        0.816
        """
        return aggregates.aggregate(self._query(), "std", column, ddof)

    def var(self, column: Any, ddof: float = 0) -> Any:
        """Return the variance of a column, or of an expression of columns.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> round(float(t.var("x", ddof=1)), 3)
        1.0
        """
        return aggregates.aggregate(self._query(), "var", column, ddof)

    def row_numbers(self) -> npt.NDArray[np.int64]:
        """Return the row numbers in the table, an array of int64.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.where("s == 'a'").row_numbers()
        array([0, 2])
        """
        return gathering.row_numbers(self._query())

    def to_numpy(self, columns: Names = None) -> Values:
        """Read the rows into a structured array, or one column into an array.

        columns: a list of names; a single name returns the values of that column; None for all. Returns a
            masked array if the column has nulls; text is an array of objects. Memory: the result.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.where("x > 1").to_numpy("x")
        array([3, 2])
        """
        plan = self._query()
        is_all = columns is None and plan.columns is None
        shape = plan.table.row_shape if is_all else plan.row_shape(columns)
        if shape.records is not None:
            return gathering.whole(plan, shape.records).values[""]
        if isinstance(columns, str) and not shape.picked[0].spec.children:
            return gathering.whole(plan, shape.columns).values[columns]
        rows = gathering.all_records(plan, shape)
        return rows[shape.picked[0].name] if isinstance(columns, str) else rows

    def to_dict(self, columns: Names = None) -> dict[str, Values]:
        """Return the values of columns by their names.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.to_dict("x")["x"].tolist()
        [3, 1, 2]
        """
        plan = self._query()
        picked, read = plan.picked(columns)
        found = gathering.whole(plan, read)
        made: dict[str, Values] = {}
        for one in picked:
            is_nest = bool(one.spec.children)
            made[one.name] = (
                records(RowShape.picking(read, [one]), found.values, found.matched)[one.name]
                if is_nest
                else found.values[one.path]
            )
        return made

    @names_keywords
    def batches(self, rows: int | None = None, columns: Names = None) -> Iterator[Values]:
        """Iterate over the rows as structured arrays: `rows` at a time, or some 64 MiB.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> [rows["x"].tolist() for rows in t.batches(2)]
        [[3, 1], [2]]
        """
        plan = self._query()
        if columns is None and (whole := plan.records) is not None:
            return (values[""] for _, values in gathering.cut(plan, {"": whole}, rows))
        shape = plan.row_shape([columns] if isinstance(columns, str) else columns)
        return (records(shape, values, count) for count, values in gathering.cut(plan, shape.columns, rows))

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows, records of NumPy; many are read at a time."""
        refuse_constructor()
        return (row for batch in self._batches_soon() for row in batch)

    def _batches_soon(self) -> Iterator[Values]:
        """Iterate over the rows as structured arrays of up to 16,384 rows, as soon as there are any."""
        plan = self._query()
        if (whole := plan.records) is not None:
            return (values[""] for _, values in gathering.sliced(plan, {"": whole}, 1 << 14))
        shape = plan.row_shape(None)
        found = gathering.sliced(plan, shape.columns, 1 << 14)
        return (records(shape, values, count) for count, values in found)

    @names_keywords
    def to_arrow(self, columns: Names = None) -> Any:
        """Return the rows as a `pyarrow.Table`.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.to_arrow().column_names
        ['x', 's']
        """
        return arrow.to_arrow(self, columns)

    @names_keywords
    def to_pandas(self, columns: Names = None) -> pd.DataFrame:
        """Read the rows into a `pandas.DataFrame`.

        columns: the names of the columns; None for all. Raises ImportError without pandas. Memory: the
            result.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.to_pandas()["x"].tolist()
        [3, 1, 2]
        """
        return arrow.to_pandas(self, columns)

    @names_keywords
    def to_polars(self, columns: Names = None) -> pl.DataFrame:
        """Return the rows as a `polars.DataFrame`.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.to_polars().shape
        (3, 2)
        """
        return arrow.to_polars(self, columns)

    def scan_polars(self) -> pl.LazyFrame:
        """Return the rows as a `polars.LazyFrame`, which is read when it is collected.

        Only the columns and rows that the query needs are decoded. Its filters on numbers, times, text,
        categories and nulls become conditions: indexes are used, and blocks that cannot match are skipped.
        Memory: about 64 MiB, and the result.

        Raises ImportError without Polars, TypeError for columns without an Arrow type.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.scan_polars().select("x").sum().collect().item()
        6
        """
        return polars_scan.scan(Selection(self._query()))

    def to_dask(self, partition_rows: int | None = None) -> Any:
        """Return the rows as a `dask.dataframe.DataFrame`, which reads when it is computed.

        partition_rows: rows of the table in a partition; by default whole chunks of some 128 MiB. Of columns
            that a computation does not use nothing is decoded. The index is the number of the row.

        Tasks in other processes open the table by its path. Raises ImportError where Dask's DataFrames are
        not installed, ValueError after `order_by`: sort the DataFrame instead.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> int(t.to_dask()["x"].sum().compute(scheduler="threads"))
        6
        """
        return dask_frames.to_dask(Selection(self._query()), partition_rows)

    @names_keywords
    def to_csv(self, path: Any, columns: Names = None, *, delimiter: str = ",") -> int:
        """Write the rows to a CSV file with a header line. Returns their number.

        path: of the file, which appears when it is complete, or a binary file. columns: the names of the
            columns; None for all. delimiter: the character between values.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.to_csv("t.csv")
        3
        """
        return files_out.to_csv(self, path, columns, delimiter=delimiter)

    @names_keywords
    def to_parquet(self, path: Any, columns: Names = None, *, compression: str = "zstd") -> int:
        """Write the rows to a Parquet file. Returns their number.

        path: of the file, which appears when it is complete, or a binary file. columns: the names of the
            columns; None for all. compression: "zstd", "snappy", "gzip", "lz4" or "none".

        Raises ImportError without pyarrow. Memory: about 64 MiB.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.to_parquet("t.parquet")
        3
        """
        return files_out.to_parquet(self, path, columns, compression=compression)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Hand the rows over by Arrow's C stream interface, a window of them at a time."""
        return arrow.stream(self, requested_schema)

    def append_to(self, table: Table) -> int:
        """Append the rows to another table with the same columns. Returns their number.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> other = cq.hdf5.File.in_memory().create_table("u", t.where("x < 0"))
        >>> t.where("x > 1").append_to(other)
        2
        """
        return append_plan(self._query(), table)

    def will_use_index(
        self, condition: Any = None, params: Mapping[str, Any] | None = None
    ) -> frozenset[str]:
        """Return the names of the indexes that the query would use; an empty set for a scan.

        condition, params: a further condition, see `where`. `explain` gives the reason.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> index = t.create_index("x")
        >>> t.will_use_index("x == 2") <= {"x"}
        True
        """
        plan = self._query()
        if condition is not None:
            plan = plan.where(Condition(condition, params), None, None, None)
        node = plan.condition()
        return frozenset(() if node is None else chosen(plan.table, node).names)

    def explain(self) -> QueryExplanation:
        """Return how the query runs: condition, access path, index or why none is used, blocks skipped.

        The query is run, without returning rows. `print` shows the result as text.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.where("x > 2").explain().matched
        1
        """
        from coquina.tables.query_explanation import explained

        return explained(self._query())


class Selection(Queries):
    """Rows of a table that match conditions, in an order; lazy.

    Returned by `where`, `select`, `order_by` and `head` of tables and selections. Rows are read when values
    are requested: `to_numpy`, `to_pandas`, `count`, `sum`, iteration.

    >>> import coquina as cq
    >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
    >>> rows = t.where("x > 1")
    >>> rows.count(), rows.sum("x"), rows["s"].tolist()
    (2, np.int64(5), ['a', 'a'])
    """

    __slots__ = ("_plan",)

    def __init__(self, plan: Plan) -> None:
        """Made by the queries of a table."""
        self._plan = plan

    def _query(self) -> Plan:
        table = self._plan.table
        if table.is_closed or table.waiting.total:
            table.ready()
        return self._plan

    @property
    def table(self) -> Table:
        """The table that the rows are in."""
        return self._plan.table

    @property
    def layout(self) -> Layout:
        """How the table is stored."""
        return self._plan.table.layout

    @property
    def schema(self) -> Schema:
        """The columns that are read."""
        return narrowed(self.table.schema, self._plan.picked(None)[0])

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are read."""
        return tuple([one.name for one in self._plan.picked(None)[0]])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a row."""
        return self._plan.row_shape().dtype

    def __getitem__(self, column: str | list[str]) -> Values:
        """Return the values of a column in these rows, or of several as a structured array."""
        return plain(self.to_numpy(column))

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names of the columns, for interpreters that complete `selection["`."""
        return list(self.columns)

    def delete(self) -> int:
        """Delete the rows from the table. Returns their number. See `Table.delete`.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.where("x > 2").delete()
        1
        """
        with self.table.changing():
            return delete_plan(self._query())

    def modify(self, values: Mapping[str, Any]) -> int:
        """Overwrite columns in these rows. Returns the number of rows.

        values: a mapping of columns to one value for all rows, one for each row, or an expression of the
            table's columns, such as `{"x": t["x"] * 2}`.

        >>> import coquina as cq
        >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
        >>> t.where("s == 'a'").modify({"x": 0})
        2
        >>> t["x"][:].tolist()
        [0, 1, 0]
        """
        with self.table.changing():
            return modify_plan(self._query(), values)

    @property
    def is_closed(self) -> bool:
        """Whether the table was closed."""
        return self._plan.table.is_closed

    if not TYPE_CHECKING:  # To type checkers, every name would be an attribute.

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError; names of PyTables, pandas and Polars are answered with ours."""
            raise AttributeError(no_attribute("the selection", name, SELECTIONS), name=name, obj=self)

    def __repr__(self) -> str:
        """Say what is asked for."""
        plan = self._plan
        if plan.table.is_closed:
            return "<Selection, closed>"
        parts = [str(one) for one in plan.conditions]
        if plan.start is not None or plan.stop is not None or plan.step is not None:
            parts.append(f"rows {plan.start}:{plan.stop}:{plan.step}")
        if plan.order:
            parts.append("by " + ", ".join([name + " descending" * flag for name, flag in plan.order]))
        if plan.limit is not None:
            parts.append(f"first {plan.limit}")
        what = quoted("; ".join(parts) or "all rows")
        return f"<Selection of {plan.table.name!r}: {what}; {quoted(', '.join(self.columns))}>"

    def __str__(self) -> str:
        """Return the first rows, in columns that line up."""
        return selection_text(self)

    def _repr_html_(self) -> str:
        """Return the first rows, for notebooks."""
        return selection_html(self)


__all__ = ["Selection"]
