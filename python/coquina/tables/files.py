"""CSV, Parquet, Feather and JSON lines files as tables, and back, by pyarrow.

In: files of others, or rows. Out: tables, or files. Both ways some rows at a time: memory does not grow with
    the file.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from coquina.remote import new_path
from coquina.tables.arrow import reader
from coquina.tables.arrow_in import pyarrow, with_nulls
from coquina.tables.opening import create_table

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from coquina._core import Path
    from coquina.tables.opening import Kind, Mode
    from coquina.tables.reading import Names
    from coquina.tables.selection import Queries
    from coquina.tables.table import Table

#: The types of a CSV file's columns are found out from so many of its bytes.
_CSV_BLOCK_BYTES = 16 << 20


def read_csv(
    source: Any,
    path: Path,
    *,
    name: str = "/table",
    layout: Kind = "columns",
    delimiter: str = ",",
    columns: Sequence[str] | None = None,
    mode: Mode = "a",
    overwrite: bool = False,
) -> Table:
    """Return a new table with the rows of a CSV file, open for writing.

    source: a path, or a binary file; see `csv_rows`, which gives the same rows to `append`. path, name,
    layout, mode, overwrite: of the table; see `coquina.create_table`. delimiter: between values. columns:
    only these.
    """
    rows = csv_rows(source, delimiter=delimiter, columns=columns)
    return create_table(path, rows, name=name, layout=layout, mode=mode, overwrite=overwrite)


def read_parquet(
    source: Any,
    path: Path,
    *,
    name: str = "/table",
    layout: Kind = "columns",
    columns: Sequence[str] | None = None,
    mode: Mode = "a",
    overwrite: bool = False,
) -> Table:
    """Return a new table with the rows of a Parquet file, open for writing.

    source: a path, or a binary file. path, name, layout, mode, overwrite: of the table; see
    `coquina.create_table`.
    columns: only these.
    """
    rows = parquet_rows(source, columns=columns)
    return create_table(path, rows, name=name, layout=layout, mode=mode, overwrite=overwrite)


def csv_rows(source: Any, *, delimiter: str = ",", columns: Sequence[str] | None = None) -> Any:
    """Return the rows of a CSV file, as Arrow data for `create_table` and `append`.

    source: a path, or a binary file; compressed files are recognised by their names. delimiter: between
    values. columns: only these. Names stand in the first line; the types are those of the first 16 MiB. A
    file at a path is read twice, first to see which columns have values that are missing; of a file object
    the first 16 MiB tell.
    Raises ImportError without pyarrow, ValueError for what is no such file.
    """
    csv = pyarrow("csv")

    def opened() -> Any:
        return csv.open_csv(
            _source(source),
            read_options=csv.ReadOptions(block_size=_CSV_BLOCK_BYTES),
            parse_options=csv.ParseOptions(delimiter=delimiter),
            convert_options=csv.ConvertOptions(
                include_columns=None if columns is None else list(columns),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    nulls: set[str] = set()
    if isinstance(source, str | os.PathLike):
        for batch in opened():
            nulls.update(
                name for name, one in zip(batch.schema.names, batch.columns, strict=True) if one.null_count
            )
    rows = opened()
    return with_nulls(rows.schema, rows, nulls)


def parquet_rows(source: Any, *, columns: Sequence[str] | None = None) -> Any:
    """Return the rows of a Parquet file, as Arrow data for `create_table` and `append`.

    source: a path, or a binary file. columns: only these. Raises ImportError without pyarrow.
    """
    pa = pyarrow()
    file = pyarrow("parquet").ParquetFile(_source(source))
    names = None if columns is None else list(columns)
    schema = file.schema_arrow
    if names is not None:
        schema = pa.schema([schema.field(name) for name in names], metadata=schema.metadata)
    return with_nulls(schema, file.iter_batches(columns=names), _nulls_of(file.metadata))


def _nulls_of(metadata: Any) -> set[str]:
    """Return the columns of a Parquet file that have nulls, or of which it does not say."""
    found: set[str] = set()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(metadata.num_columns)):
            known = column.statistics
            if known is None or not known.has_null_count or known.null_count:
                found.add(column.path_in_schema.partition(".")[0])
    return found


def feather_rows(source: Any) -> Any:
    """Return the rows of a Feather file, which is Arrow's own, as Arrow data.

    source: a path. Raises ValueError for what is no such file.
    """
    file = pyarrow("ipc").open_file(pyarrow().memory_map(_source(source)))
    batches = (file.get_batch(at) for at in range(file.num_record_batches))
    nulls = {
        name
        for batch in map(file.get_batch, range(file.num_record_batches))
        for name, one in zip(batch.schema.names, batch.columns, strict=True)
        if one.null_count
    }
    return with_nulls(file.schema, batches, nulls)


def json_rows(source: Any) -> Any:
    """Return the rows of a file of JSON lines as Arrow data, all of it in memory.

    source: a path, or a binary file. A line is an object, whose names are those of columns.
    """
    return pyarrow("json").read_json(_source(source))


def to_feather(rows: Queries, path: Any, columns: Names = None) -> int:
    """Write rows as a Feather file; return how many they were."""
    count = 0
    source = reader(rows, columns)
    with _new_file(path) as target, pyarrow("ipc").new_file(target, source.schema) as writer:
        for batch in source:
            writer.write_batch(batch)
            count += len(batch)
    return count


def to_json_lines(rows: Queries, path: Any, columns: Names = None) -> int:
    """Write rows as JSON lines, times and spans of time as text of ISO 8601; return how many they were.

    NaN is null, as are missing values. Raises ValueError for what JSON has not: infinities, bytes.
    """
    pa = pyarrow()
    count = 0
    source = reader(rows, columns)
    for field in source.schema:
        if pa.types.is_binary(field.type) or pa.types.is_fixed_size_binary(field.type):
            raise ValueError(f"{field.name}: JSON has no bytes; .parquet and .feather have")
    with _new_file(path) as target, cast("Any", open)(target, "w", encoding="utf-8") as file:
        for batch in source:
            for row in _plain_times(batch).to_pylist():
                plain = {name: _without_nan(value) for name, value in row.items()}
                try:
                    file.write(json.dumps(plain, ensure_ascii=False, allow_nan=False) + "\n")
                except ValueError:
                    raise ValueError(f"{_infinite(plain)}, row {count}: JSON has no infinities") from None
                count += 1
    return count


def _without_nan(value: Any) -> Any:
    """Return a value of a row whose NaNs are None."""
    if isinstance(value, list):
        return [_without_nan(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _without_nan(one) for name, one in cast("dict[str, Any]", value).items()}
    return None if isinstance(value, float) and value != value else value


def _infinite(row: dict[str, Any]) -> str:
    """Return the column of a row that JSON refuses."""
    for name, value in row.items():
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:
            return name
    return "rows"


def _plain_times(batch: Any) -> Any:
    """Return rows whose times and spans of time are text, to the last digit."""
    pa = pyarrow()
    columns: list[Any] = []
    for one in batch.columns:
        if pa.types.is_duration(one.type):
            counts = one.cast(pa.int64()).to_pylist()
            columns.append(pa.array([_span(count, one.type.unit) for count in counts], pa.string()))
        else:
            columns.append(one.cast(pa.string()) if pa.types.is_temporal(one.type) else one)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _span(count: int | None, unit: str) -> str | None:
    """Return a span of time as ISO 8601 writes it, in seconds: PT1.5S."""
    if count is None:
        return None
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit]
    whole, rest = divmod(abs(count), 10**digits)
    fraction = f".{rest:0{digits}}".rstrip("0") if rest else ""
    return f"{'-' if count < 0 else ''}PT{whole}{fraction}S"


def to_csv(rows: Queries, path: Any, columns: Names = None, *, delimiter: str = ",") -> int:
    """Write rows as a CSV file with names in the first line; return how many they were."""
    csv = pyarrow("csv")
    count = 0
    source = reader(rows, columns)
    options = csv.WriteOptions(delimiter=delimiter)
    with _new_file(path) as target, csv.CSVWriter(target, source.schema, write_options=options) as writer:
        for batch in source:
            writer.write_batch(batch)
            count += len(batch)
    return count


def to_parquet(rows: Queries, path: Any, columns: Names = None, *, compression: str = "zstd") -> int:
    """Write rows as a Parquet file; return how many they were."""
    parquet = pyarrow("parquet")
    count = 0
    source = reader(rows, columns)
    with (
        _new_file(path) as target,
        parquet.ParquetWriter(target, source.schema, compression=compression) as writer,
    ):
        for batch in source:
            writer.write_batch(batch)
            count += len(batch)
    return count


def _source(source: Any) -> Any:
    return cast("Any", os).fspath(source) if isinstance(source, os.PathLike) else source


@contextmanager
def _new_file(path: Any) -> Generator[Any]:
    """Give what a new file is written to, which gets its name when it is complete."""
    if not isinstance(path, str | os.PathLike):
        yield path
        return
    target = new_path(path)
    temporary = f"{target}.{secrets.token_hex(4)}"
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


__all__ = ["read_csv", "read_parquet"]
