"""Rows as CSV, Parquet, Feather and JSON lines files, by pyarrow.

In: rows of a table. Out: files, written some rows at a time: memory does not grow with the file.
Invariant: a file appears under its name when it is complete.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from coquina.disk import new_file
from coquina.remote import new_path
from coquina.tables.arrow import reader
from coquina.tables.arrow_module import pyarrow

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina.tables.reading import Names
    from coquina.tables.selection import Queries


def to_feather(rows: Queries, path: Any, columns: Names = None) -> int:
    """Write rows as a Feather file; return how many they were."""
    count = 0
    source = reader(rows, columns)
    with _new_file(path) as target, pyarrow("ipc").new_file(target, source.schema) as writer:
        for batch in source:
            writer.write_batch(batch)
            count += len(batch)
    return count


#: What pyarrow calls the types of bytes.
_BYTES = ("is_binary", "is_large_binary", "is_fixed_size_binary")


def to_json_lines(rows: Queries, path: Any, columns: Names = None) -> int:
    """Write rows as JSON lines, times and spans of time as text of ISO 8601; return how many they were.

    NaN is null, as are missing values. Raises ValueError for what JSON has not: infinities, bytes.
    """
    pa = pyarrow()
    count = 0
    source = reader(rows, columns)
    for field in source.schema:
        if any(getattr(pa.types, name)(field.type) for name in _BYTES):
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
    """Write rows as a CSV file with names in the first line; return how many they were.

    Raises ValueError for columns with fields or axes, which CSV has no form for.
    """
    pa, csv = pyarrow(), pyarrow("csv")
    count = 0
    source = reader(rows, columns)
    for field in source.schema:
        if pa.types.is_nested(field.type):
            inner = f"select {field.name}/{field.type[0].name}" if pa.types.is_struct(field.type) else ""
            what, advice = ("fields", f"{inner} and the like") if inner else ("axes", "select other columns")
            raise ValueError(
                f"{field.name}: CSV has no columns with {what}; {advice}, or write .parquet or .jsonl"
            )
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


@contextmanager
def _new_file(path: Any) -> Generator[Any]:
    """Give what a new file is written to, which gets its name when it is complete."""
    if not isinstance(path, str | os.PathLike):
        yield path
        return
    with new_file(new_path(path)) as temporary:
        yield temporary
