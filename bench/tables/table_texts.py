"""The part `texts` of `table.py`: conditions on text and on ranges of numbers, in the columns layout.

In: a plan. Out: a `Cell` for each query and each kind of text (of a fixed width, and of any length).
400,000 different words have one to forty letters, and some of them are in many rows; numbers are noise and a
random walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import coquina as cq
from bench.hdf5.hdf5_contest import Case, Cell, Plan, measured, same
from bench.tables import table_data
from bench.tables.table_peers import (
    COLUMNS,
    DUCKDB,
    PANDAS,
    POLARS,
    ask_duckdb,
    ask_ours,
    ask_pandas,
    ask_polars,
    frame_of,
)
from bench.tables.table_queries import EACH_GOALS

ROWS = 4_000_000
QUICK_ROWS = 300_000
DIFFERENT = 400_000
LETTERS = b"etaoinshrdlucmfwypvbgkjqxz"  # from the most frequent one on


@dataclass(frozen=True)
class TextQuery(table_data.Query):
    """A query whose condition is another text in SQL."""

    other: str = ""

    @property
    def sql(self) -> str:
        """The condition for DuckDB and Polars."""
        return self.other


def words(rows: int) -> dict[str, np.ndarray]:
    """The table; the same at each call."""
    rng = np.random.default_rng(1)
    lens = rng.geometric(0.12, DIFFERENT).clip(1, 40)
    share = 1 / np.arange(1, len(LETTERS) + 1)
    chosen = rng.choice(len(LETTERS), lens.sum(), p=share / share.sum())
    letters, ends = np.frombuffer(LETTERS, "S1")[chosen].tobytes(), np.cumsum(lens)
    known = np.array([letters[end - n : end] for end, n in zip(ends, lens, strict=True)], "S40")
    number = (rng.pareto(0.6, rows) * 50).astype("i8") % DIFFERENT
    return {
        "word": known[number],
        "noise": rng.normal(size=rows),
        "walk": np.cumsum(rng.normal(size=rows)).round(2),
        "value": rng.integers(0, 1000, rows).astype("i2"),
    }


def text_queries(columns: table_data.Columns) -> list[TextQuery]:
    """Each gives one column of numbers."""
    word, noise, walk = columns["word"], columns["noise"], columns["walk"]
    low, high = np.quantile(walk[::16], [0.4, 0.5]).round(1)

    def starts(text: bytes) -> np.ndarray:
        return np.char.startswith(word, text)

    return [
        TextQuery("equal", "word == 'et'", "value", lambda t: t["word"] == b"et", "word = 'et'"),
        TextQuery("absent", "word == 'zqzqzq'", "value", lambda t: t["word"] == b"zqzqzq", "word = 'zqzqzq'"),
        TextQuery(
            "begins", "word.startswith('eth')", "value", lambda _: starts(b"eth"), "starts_with(word, 'eth')"
        ),
        TextQuery("before", "word < 'b'", "value", lambda t: t["word"] < b"b", "word < 'b'"),
        TextQuery(
            "noise",
            "(noise > 0.5) & (noise < 0.6)",
            "value",
            lambda _: (noise > 0.5) & (noise < 0.6),
            "noise > 0.5 and noise < 0.6",
        ),
        TextQuery(
            "walk",
            f"(walk > {low}) & (walk < {high})",
            "value",
            lambda _: (walk > low) & (walk < high),
            f"walk > {low} and walk < {high}",
        ),
    ]


def texts(plan: Plan) -> Iterator[Cell]:
    """Words as items of 40 bytes, then as text of any length."""
    columns = words(QUICK_ROWS if plan.quick else ROWS)
    text = {**columns, "word": columns["word"].astype(str).astype(object)}
    parquet = plan.folder / "words.parquet"
    table_data.write_parquet(parquet, text)
    frame = frame_of(text)
    for kind, own in {"S40": columns, "text": frame}.items():
        path = plan.folder / "words.h5"
        cq.create_table(path, own, mode="w", codec=table_data.CODEC, level=table_data.LEVEL).close()
        with cq.open_table(path) as table:
            for query in text_queries(columns):
                if kind == "S40" or "word" in query.text:
                    yield one(plan, kind, query, columns, (table, parquet, frame))


def one(
    plan: Plan, kind: str, query: TextQuery, columns: table_data.Columns, places: tuple[Any, Any, Any]
) -> Cell:
    """A query, when all have answered it as NumPy does."""
    table, parquet, frame = places
    answer = query.answer(columns)
    asks = {COLUMNS: ask_ours(table), DUCKDB: ask_duckdb(parquet), POLARS: ask_polars(parquet)}
    if "word" not in query.text:
        asks[PANDAS] = ask_pandas(frame)
    for library, ask in asks.items():
        same(f"{library}, {query.text}", ask(query), answer)
    share = 100 * len(answer) / len(columns["value"])
    label = f"words, {len(columns['value']) / 1e6:.3g} M rows"
    work = f"{query.text} ({kind}): {query.column}, {share:.3g} % of the rows"
    nbytes = sum(values.nbytes for values in columns.values())
    goals = {name: goal for name, goal in EACH_GOALS.items() if name in asks}
    case = Case("texts", work, label, nbytes, goals, ours=COLUMNS)
    return measured(plan, case, {library: lambda ask=ask: ask(query) for library, ask in asks.items()})
