"""Tables and selections as Arrow: streams, tables, DataFrames of pandas and Polars.

In: the rows of a plan. Out: record batches, a window of rows at a time, so that whoever takes them needs no
    more memory than it wants itself. The condition runs in the engine, and only the columns asked for are
    decoded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from coquina.tables import gathering
from coquina.tables.arrow_module import pyarrow
from coquina.tables.arrow_out import ArrowColumn, struct_of, struct_type
from coquina.tables.user_attributes import metadata_of, plain_attributes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.tables.layout import Batch
    from coquina.tables.reading import Names
    from coquina.tables.selection import Queries


def reader(rows: Queries, columns: Names = None) -> Any:
    """Return the rows as a `pyarrow.RecordBatchReader`, which scans as it is read."""
    pa = pyarrow()
    plan = rows.plan
    picked, found = plan.picked([columns] if isinstance(columns, str) else columns)
    arrow_columns = {path: ArrowColumn(column) for path, column in found.items()}
    fields = [(one.name, struct_type(one.path, one.spec, arrow_columns)) for one in picked]
    schema = pa.schema(fields, metadata=metadata_of(plan.table))

    def batch(values: Batch) -> Any:
        arrays = [struct_of(one.path, one.spec, values) for one in picked]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def batches() -> Iterator[Any]:
        found_any = False
        for piece in gathering.pieces(plan, cast("Any", arrow_columns)):
            yield batch(piece.values)
            found_any = True
        if not found_any:
            # Categories come with a batch, also where no row does.
            yield batch({path: column.read(slice(0, 0)) for path, column in arrow_columns.items()})

    return pa.RecordBatchReader.from_batches(schema, batches())


def stream(rows: Queries, requested_schema: Any = None) -> Any:
    """Return the capsule of Arrow's C stream interface."""
    return reader(rows).__arrow_c_stream__(requested_schema)


def to_arrow(rows: Queries, columns: Names = None) -> Any:
    """Return the rows as a `pyarrow.Table`."""
    return reader(rows, columns).read_all()


def to_pandas(rows: Queries, columns: Names = None) -> Any:
    """Return the rows as a `pandas.DataFrame`."""
    found = to_arrow(rows, columns)
    frame = found.to_pandas(date_as_object=False)
    for name, mapper in _nullable_types(found):
        # Else whole numbers with missing values would become floating-point numbers.
        frame[name] = found[name].to_pandas(types_mapper=mapper)
    frame.attrs.update(plain_attributes(rows.plan.table))
    return frame


def _nullable_types(found: Any) -> Iterator[tuple[str, Any]]:
    """Yield columns of integers and truth values with nulls, and what gives pandas' own type for them."""
    types = pyarrow().types
    pandas = import_module("pandas")
    for name, column in zip(found.column_names, found.columns, strict=True):
        ty = column.type
        if column.null_count and types.is_boolean(ty):
            yield name, {ty: pandas.BooleanDtype()}.get
        elif column.null_count and types.is_integer(ty):
            title = str(ty).title().replace("Uint", "UInt")
            yield name, {ty: getattr(pandas, f"{title}Dtype")()}.get


def to_polars(rows: Queries, columns: Names = None) -> Any:
    """Return the rows as a `polars.DataFrame`. Raises ImportError where Polars is not installed."""
    try:
        polars = import_module("polars")
    except ImportError as error:
        raise ImportError("to_polars needs Polars: pip install polars") from error
    return polars.from_arrow(to_arrow(rows, columns))
