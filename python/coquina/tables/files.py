"""CSV, Parquet, Feather and JSON lines files as tables, by pyarrow.

In: files of others. Out: tables, or rows as Arrow data, some at a time: memory does not grow with the file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from coquina.keyword_hints import check_keywords
from coquina.storage_options import TableOptions
from coquina.tables.arrow_in import with_nulls
from coquina.tables.arrow_module import pyarrow
from coquina.tables.making import create_table
from coquina.tables.wide_integers import WideIntegers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Unpack

    from coquina._core import Path
    from coquina.tables.making import Mode
    from coquina.tables.table import Table

#: The types of a CSV file's columns are found out from so many of its bytes.
_CSV_BLOCK_BYTES = 16 << 20


def read_csv(
    source: Any,
    path: Path,
    *,
    name: str = "/table",
    delimiter: str = ",",
    columns: Sequence[str] | None = None,
    mode: Mode = "a",
    overwrite: bool = False,
    **storage: Unpack[TableOptions],
) -> Table:
    """Convert a CSV file to a table.

    source: a path, or a binary file. path, name, mode, overwrite and the options of storage: of the table;
        see `coquina.create_table`.
    delimiter: the character between values. columns: the names of the columns to read; None for all.

    Returns a `Table`, open for writing. Types are inferred from the first 16 MiB. `csv_rows` returns the same
    rows for `append`. Raises ImportError without pyarrow, and what `create_table` raises. Memory: a batch.

    >>> import coquina as cq
    >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
    >>> rows = t.to_csv("t.csv")
    >>> with cq.read_csv("t.csv", "t.h5", overwrite=True) as read:
    ...     print(read.columns, read.nrows)
    ('x', 's') 3
    """
    check_keywords(read_csv, storage, TableOptions)
    rows = csv_rows(source, delimiter=delimiter, columns=columns)
    return create_table(path, rows, name=name, mode=mode, overwrite=overwrite, **storage)


def read_parquet(
    source: Any,
    path: Path,
    *,
    name: str = "/table",
    columns: Sequence[str] | None = None,
    mode: Mode = "a",
    overwrite: bool = False,
    **storage: Unpack[TableOptions],
) -> Table:
    """Convert a Parquet file to a table.

    source: a path, or a binary file. path, name, mode, overwrite and the options of storage: of the table;
        see `coquina.create_table`.
    columns: the names of the columns to read; None for all.

    Returns a `Table`, open for writing. Raises ImportError without pyarrow, and what `create_table` raises.
    Memory: a batch.

    >>> import coquina as cq
    >>> t = cq.hdf5.File.in_memory().create_table("t", {"x": [3, 1, 2], "s": ["a", "b", "a"]})
    >>> rows = t.to_parquet("t.parquet")
    >>> with cq.read_parquet("t.parquet", "t.h5", overwrite=True) as read:
    ...     print(read.columns, read.nrows)
    ('x', 's') 3
    """
    check_keywords(read_parquet, storage, TableOptions)
    rows = parquet_rows(source, columns=columns)
    return create_table(path, rows, name=name, mode=mode, overwrite=overwrite, **storage)


def csv_rows(source: Any, *, delimiter: str = ",", columns: Sequence[str] | None = None) -> Any:
    """Return the rows of a CSV file, as Arrow data for `create_table` and `append`.

    source: a path, or a binary file; compressed files are recognised by their names. delimiter: between
    values. columns: only these. Names stand in the first line; the types are those of the first 16 MiB. A
    file at a path is read twice, first to see which columns have values that are missing; of a file object
    the first 16 MiB tell.
    Raises ImportError without pyarrow, ValueError for what is no such file.
    """
    csv = pyarrow("csv")

    def opened(wide: Iterable[str] = ()) -> Any:
        return csv.open_csv(
            _source(source),
            read_options=csv.ReadOptions(block_size=_CSV_BLOCK_BYTES),
            parse_options=csv.ParseOptions(delimiter=delimiter),
            convert_options=csv.ConvertOptions(
                include_columns=None if columns is None else list(columns),
                column_types=dict.fromkeys(wide, pyarrow().uint64()),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    nulls: set[str] = set()
    wide: list[str] = []
    try:
        if isinstance(source, str | os.PathLike):
            unsigned = WideIntegers()
            for batch in opened():
                unsigned.look(batch)
                columns_of = zip(batch.schema.names, batch.columns, strict=True)
                nulls.update(name for name, one in columns_of if one.null_count)
            wide = unsigned.those(lambda names: sum(batch.num_rows for batch in opened(names)))
        rows = opened(wide)
    except pyarrow().ArrowInvalid as error:
        raise ValueError(f"{_named(source)}{error}{_other_delimiter(source, delimiter)}") from error
    return with_nulls(rows.schema, rows, nulls)


def _named(source: Any) -> str:
    return f"{os.fspath(source)}: " if isinstance(source, str | os.PathLike) else ""


def _other_delimiter(source: Any, delimiter: str) -> str:
    """Return which delimiter may be meant, if the first line of a file at a path has none as given."""
    path: Any = source
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(path):
        return ""
    with open(path, "rb") as file:
        line = file.readline(1 << 16)
    if delimiter.encode() in line:
        return ""
    other = next((one for one in (";", "\t", "|", ",") if one.encode() in line), None)
    return "" if other is None else f"; did you mean delimiter={other!r}?"


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


def parquet_columns(source: Any) -> list[str]:
    """Return the names of the columns of a Parquet file."""
    return list(pyarrow("parquet").read_schema(_source(source)).names)


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

    source: a path, or a binary file. A line is an object, whose names are those of columns. Integers of 2**63
    and more are uint64 where all numbers of the column are; where some are not, they are float64.
    """
    json, pa = pyarrow("json"), pyarrow()
    place = _source(source)
    content: Any = None if isinstance(place, str | bytes) else pa.BufferReader(place.read())

    def read(wide: Iterable[str] = ()) -> Any:
        if content is not None:
            content.seek(0)
        schema = pa.schema([(name, pa.uint64()) for name in wide])
        return json.read_json(
            place if content is None else content, parse_options=json.ParseOptions(explicit_schema=schema)
        )

    rows = read()
    unsigned = WideIntegers()
    for batch in rows.to_batches():
        unsigned.look(batch)
    wide = unsigned.those(read)
    # Columns of a given schema come first.
    return read(wide).select(rows.schema.names) if wide else rows


def is_nested(kind: Any) -> bool:
    """Whether a type of Arrow is lists, structs or bytes of any length."""
    types = pyarrow().types
    return any(test(kind) for test in (types.is_nested, types.is_binary, types.is_large_binary))


def _source(source: Any) -> Any:
    return cast("Any", os).fspath(source) if isinstance(source, os.PathLike) else source


__all__ = ["read_csv", "read_parquet"]
