"""The tables of `table.py`, the six queries, and the files that each library writes of them.

In: a plan. Out: columns and records in memory, queries with their answers by NumPy, files.
Source: the ERA5-like table and the first two queries are those of the post "Blosc2 meets PyTables".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import tables

import coquina as cq
from bench.common import weather
from bench.hdf5.hdf5_contest import Plan

Columns = Mapping[str, np.ndarray]
HOURS = 15
POST_CHUNK = 1_179_648  # rows
PIECE = 1_000_000  # rows that are appended at a time
FILES = {
    "rows": "rows.h5",
    "columns": "columns.h5",
    "pytables": "pytables.h5",
    "parquet": "table.parquet",
}
CODEC, LEVEL = "zstd", 5
FILTERS = tables.Filters(complevel=LEVEL, complib=f"blosc2:{CODEC}", shuffle=True)


@dataclass(frozen=True)
class Query:
    """A condition and the column that is wanted. text: for PyTables, numexpr and us."""

    name: str
    text: str
    column: str
    mask: Callable[[Columns], np.ndarray]

    @property
    def sql(self) -> str:
        """The condition for DuckDB and Polars; names in quotes, as `time` is a word of SQL."""
        return re.sub(r"\b([a-z]{3,})\b", r'"\1"', self.text).replace("&", "and")

    def answer(self, columns: Columns) -> np.ndarray:
        """What NumPy finds."""
        return columns[self.column][self.mask(columns)]


@lru_cache(maxsize=1)
def era5(quick: bool) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The columns, and the same as records."""
    columns = weather.columns(1 if quick else HOURS)
    return columns, weather.records(columns)


def label(plan: Plan) -> str:
    """The table as a reader says it."""
    return f"ERA5-like, {len(era5(plan.quick)[1]) / 1e6:.3g} M rows"


def six_queries(columns: Columns) -> list[Query]:
    """The queries; bounds are such that float32 has them, and that they select what the names say."""
    some = {name: values[::16] for name, values in columns.items()}
    rare = bound(some["precip"], 0.999)
    cold = bound(some["air"], 0.25)
    windy = bound(some["wind"][some["air"] < cold], 0.8)
    sunny = bound(some["solar"], 0.6)
    return [
        Query(
            "post",
            "(lat > 50) & (20 <= lon) & (lon < 50) & (time < 10)",
            "precip",
            lambda t: (t["lat"] > 50) & (t["lon"] >= 20) & (t["lon"] < 50) & (t["time"] < 10),
        ),
        Query("time < 10", "time < 10", "precip", lambda t: t["time"] < 10),
        Query("0.1 %", f"precip > {rare}", "precip", lambda t: t["precip"] > np.float32(rare)),
        Query(
            "5 %",
            f"(air < {cold}) & (wind > {windy})",
            "precip",
            lambda t: (t["air"] < np.float32(cold)) & (t["wind"] > np.float32(windy)),
        ),
        Query("40 %", f"solar > {sunny}", "air", lambda t: t["solar"] > np.float32(sunny)),
        # Where it snows it freezes, which no bounds of a block tell.
        Query("none", "(snow > 0) & (air > 274)", "air", lambda t: (t["snow"] > 0) & (t["air"] > 274)),
    ]


def bound(values: np.ndarray, share: float) -> float:
    """A quantile, of few bits."""
    bits = np.float32(np.quantile(values, share)).view(np.uint32) & np.uint32(0xFFFF_F000)
    return float(bits.view(np.float32))


def pieces(records: np.ndarray, rows: int = PIECE) -> Iterator[np.ndarray]:
    """The rows, some at a time."""
    return (records[start : start + rows] for start in range(0, len(records), rows))


def write_ours(path: Path, records: np.ndarray, layout: Any) -> None:
    """A file of ours, from nothing to closed."""
    with cq.create_table(path, records.dtype, layout=layout, mode="w", codec=CODEC, level=LEVEL) as table:
        for part in pieces(records):
            table.append(part)


def fill_pytables(path: Path, records: np.ndarray, rows: int = POST_CHUNK) -> Any:
    """A file of PyTables, still open; its chunks are those of the post.

    By default it takes the size of the processor's last cache, which on a server makes chunks of hundreds of
    megabytes, and all of it slower.
    """
    file = tables.open_file(str(path), "w")
    table = file.create_table("/", "table", records.dtype, filters=FILTERS, chunkshape=POST_CHUNK)
    for part in pieces(records, rows):
        table.append(part)
    file.flush()
    return file


def write_pytables(path: Path, records: np.ndarray, rows: int = POST_CHUNK) -> None:
    """The same, closed."""
    fill_pytables(path, records, rows).close()


def write_parquet(path: Path, columns: Columns) -> None:
    """A Parquet file of pyarrow's, a row group for each piece."""
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table(dict(columns))
    with parquet.ParquetWriter(str(path), table.schema, compression=CODEC, compression_level=LEVEL) as writer:
        for start in range(0, table.num_rows, PIECE):
            writer.write_table(table.slice(start, PIECE), row_group_size=PIECE)


def files(plan: Plan) -> dict[str, Path]:
    """The table in all formats, by contender; written once."""
    columns, records = era5(plan.quick)
    paths = {name: plan.folder / file for name, file in FILES.items()}
    writers: dict[str, Callable[[Path], None]] = {
        "rows": lambda path: write_ours(path, records, "rows"),
        "columns": lambda path: write_ours(path, records, "columns"),
        "pytables": lambda path: write_pytables(path, records),
        "parquet": lambda path: write_parquet(path, columns),
    }
    for name, path in paths.items():
        if not path.exists():
            writers[name](path)
    return paths
