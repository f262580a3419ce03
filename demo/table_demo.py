"""Stores tables, asks them questions, and compares answers and times with PyTables, pandas and DuckDB.

    make demo        or        python demo/table_demo.py

A real table (all flights from New York in 2013 if `python -m bench.common.data --fetch` has brought them,
else the sample in the repository) and a generated table of weather are stored in both layouts. Conditions
and groups are computed from the files, and held against NumPy on plain memory. PyTables opens the rows
layout too, and must find the same. Then a column gets an index, and the rows with one of its values are
asked for without and with it. The exit code is 1 if anything differs. Takes some seconds.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from array_demo import ROOT  # first: it shows where the benches' modules are

import coquina as cq

# isort: split
import numpy as np

from bench.common import data, harness, weather
from bench.common.harness import Effort

EFFORT = Effort(seconds=0.3, rounds_min=2, rounds_max=7)
HOURS, GRID = 24, (181, 360)  # of the weather: 1.6 million rows


@dataclass(frozen=True)
class Query:
    """A condition in each dialect, and the column whose values are asked for."""

    text: str
    numexpr: str
    sql: str
    column: str
    mask: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Example:
    """A table, and what is asked of it.

    by: a column that is grouped by, and one that is averaged. indexed: a column that gets an index.
    """

    name: str
    rows: np.ndarray
    queries: tuple[Query, ...]
    by: tuple[str, str]
    indexed: str


def flights() -> Example:
    """The real table."""
    rows = data.cached().get("flights")
    rows = np.array(data.sample()["flights"] if rows is None else rows)
    queries = (
        Query(
            "dep_delay > 60 and origin == 'JFK'",
            "(dep_delay > 60) & (origin == b'JFK')",
            "dep_delay > 60 and origin = 'JFK'",
            "arr_delay",
            lambda r: (r["dep_delay"] > 60) & (r["origin"] == b"JFK"),
        ),
        Query(
            "carrier in ('UA', 'AA') and distance > 2000",
            "((carrier == b'UA') | (carrier == b'AA')) & (distance > 2000)",
            "carrier in ('UA', 'AA') and distance > 2000",
            "air_time",
            lambda r: np.isin(r["carrier"], [b"UA", b"AA"]) & (r["distance"] > 2000),
        ),
        Query(
            "month == 7 and 1 <= day <= 4",
            "(month == 7) & (1 <= day) & (day <= 4)",
            "month = 7 and day between 1 and 4",
            "dep_delay",
            lambda r: (r["month"] == 7) & (r["day"] >= 1) & (r["day"] <= 4),
        ),
    )
    return Example("flights", rows, queries, ("origin", "distance"), "tailnum")


def climate() -> Example:
    """The generated table."""
    rows = weather.records(weather.columns(HOURS, GRID))
    queries = (
        Query(
            "(lat > 50) & (20 <= lon) & (lon < 50) & (time < 10)",
            "(lat > 50) & (20 <= lon) & (lon < 50) & (time < 10)",
            "lat > 50 and lon >= 20 and lon < 50 and time < 10",
            "precip",
            lambda r: (r["lat"] > 50) & (r["lon"] >= 20) & (r["lon"] < 50) & (r["time"] < 10),
        ),
        Query(
            "precip > 0.002",
            "precip > 0.002",
            "precip > 0.002::float",
            "wind",
            lambda r: r["precip"] > np.float32(0.002),
        ),
        Query(
            "air < 250 and wind > 5",
            "(air < 250) & (wind > 5)",
            "air < 250 and wind > 5",
            "snow",
            lambda r: (r["air"] < 250) & (r["wind"] > 5),
        ),
    )
    return Example("weather", rows, queries, ("time", "air"), "wind")


def same(found: Any, wanted: Any) -> bool:
    """Whether two columns have the same values, text as text or bytes."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    return found.shape == wanted.shape and bool(
        np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "f")
    )


def ask(example: Example, folder: Path) -> bool:
    """Answers all queries of an example with every library, prints the times; whether all agree."""
    rows, is_right = example.rows, True
    with Peers(example, folder) as peers:
        lines: list[list[object]] = []
        for query in example.queries:
            wanted = rows[query.column][query.mask({name: rows[name] for name in rows.dtype.names or ()})]
            calls = peers.calls(query)
            answers = [same(call(), wanted) for call in calls.values()]
            is_right &= all(answers)
            seconds = harness.take_turns(calls, EFFORT)
            times = [1e3 * statistics.median(values) for values in seconds.values()]
            lines.append([query.text, len(wanted), *times, "same" if all(answers) else "DIFFERENT"])
        head = [f"{name}, ms" for name in peers.calls(example.queries[0])]
        print(harness.markdown(["condition", "rows", *head, "answers"], lines))
        is_right &= groups(example, peers.table)
        first = example.queries[0]
        print(f"how the first one runs:\n{peers.table.where(first.text).select([first.column]).explain()}\n")
    return is_right


def groups(example: Example, table: Any) -> bool:
    """Averages a column by another one, and compares with NumPy."""
    key, value = example.by
    found = table.group_by(key).agg(count="count", mean=(value, "mean"))
    is_right = True
    for row in found:
        part = example.rows[value][example.rows[key] == row[key]]
        part = part.astype(np.float64)
        # The mean of a column of float32 is one too, as NumPy's.
        close = np.isclose(part.mean(), row["mean"], rtol=1e-6, equal_nan=True)
        is_right &= len(part) == row["count"] and bool(close)
    verdict = "same as NumPy's" if is_right else "DIFFERENT"
    print(f"mean of {value} by {key}: {len(found)} groups, {verdict}")
    return is_right


def indexed(example: Example, folder: Path) -> bool:
    """Asks for the rows with one value, makes an index, and asks again; whether NumPy finds the same."""
    column, path = example.indexed, folder / f"{example.name}.h5"
    value = example.rows[column][len(example.rows) // 2]
    wanted, is_right = np.flatnonzero(example.rows[column] == value), True
    for way in ("scan", "index"):
        if way == "index":
            with cq.open_table(path, mode="a") as table:
                table.create_index(column)
        with cq.open_table(path) as table:
            rare = table.where(f"{column} == value", {"value": value})
            is_right &= same(rare.row_numbers(), wanted)
            times = harness.take_turns({way: rare.row_numbers}, EFFORT)[way]
            milliseconds = 1e3 * statistics.median(times)
            print(f"{column} == {value}: {milliseconds:.2f} ms by {rare.explain().access}")
    verdict = "same as NumPy's" if is_right else "DIFFERENT"
    print(f"{len(wanted)} rows, {verdict}")
    return is_right


class Peers:
    """The table in files of several libraries, open."""

    def __init__(self, example: Example, folder: Path):
        """Writes the files: a table in columns, one in rows, and Parquet."""
        self.name = example.name
        self.columns_path = folder / f"{example.name}.h5"
        self.rows_path = folder / f"{example.name}-rows.h5"
        plain = example.rows
        times = [name for name in plain.dtype.names or () if plain.dtype[name].kind == "M"]
        kept = [name for name in plain.dtype.names or () if name not in times]
        cq.create_table(self.columns_path, plain, name=self.name, level=5, mode="w").close()
        cq.create_table(
            self.rows_path,
            np.array(plain[kept].tolist(), [(n, plain.dtype[n]) for n in kept]),
            name=self.name,
            layout="rows",
            level=5,
            mode="w",
        ).close()
        self.table = cq.open_table(self.columns_path)
        self.rows = cq.open_table(self.rows_path)
        sizes = [path.stat().st_size / 1e6 for path in (self.columns_path, self.rows_path)]
        print(
            f"\n{example.name}: {len(plain)} rows of {plain.dtype.itemsize} bytes, {plain.nbytes / 1e6:.1f} "
            f"MB; in columns {sizes[0]:.1f} MB, in rows {sizes[1]:.1f} MB"
        )
        self.frame = self.duckdb = self.pytables = None
        self.parquet = folder / f"{example.name}.parquet"
        self.open_peers()

    def open_peers(self) -> None:
        """Opens what is installed."""
        try:
            import tables

            self.pytables = tables.open_file(str(self.rows_path))
        except ImportError:
            print("PyTables is not installed")
        try:
            import pandas as pd

            self.frame = self.table.to_pandas()
            self.frame = pd.DataFrame({name: np.asarray(self.frame[name]) for name in self.frame})
        except ImportError:
            print("pandas or pyarrow is not installed")
        try:
            import duckdb

            self.table.to_parquet(self.parquet)
            self.duckdb = duckdb.connect()
            self.duckdb.sql("set threads = 2")
        except ImportError:
            print("DuckDB or pyarrow is not installed")

    def calls(self, query: Query) -> dict[str, Callable[[], Any]]:
        """A call for each library, which gives the values of the query's column."""
        made: dict[str, Callable[[], Any]] = {
            "columns": lambda: self.table.where(query.text).to_numpy(query.column),
            "rows": lambda: self.rows.where(query.text).to_numpy(query.column),
        }
        if self.pytables is not None:
            node = self.pytables.get_node(f"/{self.name}")
            made["PyTables"] = lambda: node.read_where(query.numexpr, field=query.column)
        if self.frame is not None:
            made["pandas"] = lambda: self.frame.query(query.text)[query.column].to_numpy()
        if self.duckdb is not None:
            sql = f"select {query.column} from '{self.parquet}' where {query.sql}"
            made["DuckDB"] = lambda: self.duckdb.sql(sql).fetchnumpy()[query.column]
        return made

    def __enter__(self) -> Peers:
        """The peers, open."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Closes all files."""
        self.table.close()
        self.rows.close()
        for one in (self.pytables, self.duckdb):
            if one is not None:
                one.close()


def main() -> int:
    """Runs both examples."""
    folder = ROOT / "demo-out"
    folder.mkdir(exist_ok=True)
    is_right = True
    for example in (flights(), climate()):
        is_right &= ask(example, folder) and indexed(example, folder)
    print("all answers agree" if is_right else "SOMETHING DIFFERS")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
