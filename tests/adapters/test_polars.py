"""Lazy frames of Polars over tables: rows are those of Polars' own filter, and blocks are passed over."""

from __future__ import annotations

import datetime as dt
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.adapters.polars_scan import Source
from coquina.tables import gathering

pl = pytest.importorskip("polars")

ROWS = 300
START = dt.datetime(2024, 1, 1)


def _frame() -> Any:
    rng = np.random.default_rng(5)

    def holes(values: list[Any], share: float = 0.2) -> list[Any]:
        return [None if rng.random() < share else value for value in values]

    floats = rng.integers(-20, 20, ROWS) / 4
    floats[rng.random(ROWS) < 0.2] = np.nan
    floats[3], floats[4], floats[5] = np.inf, -np.inf, -0.0
    words = [["", "a", "ab", "abc", "b", "é", "zz"][k] for k in rng.integers(0, 7, ROWS)]
    return pl.DataFrame(
        {
            "i": pl.Series(holes(rng.integers(-5, 5, ROWS).tolist()), dtype=pl.Int8),
            "u": pl.Series(rng.integers(0, 10, ROWS), dtype=pl.UInt64),
            "l": np.arange(ROWS) - 10,
            "m": rng.integers(-10, 10, ROWS),
            "f": floats,
            "g": pl.Series(floats[::-1].copy(), dtype=pl.Float32),
            "s": holes(words),
            "w": words,
            "c": pl.Series(holes(words), dtype=pl.Categorical),
            "t": pl.Series(
                holes([START + dt.timedelta(hours=k) for k in range(ROWS)]), dtype=pl.Datetime("us")
            ),
            "d": [dt.date(2024, 1, 1) + dt.timedelta(days=k % 50) for k in range(ROWS)],
            "b": holes((rng.random(ROWS) < 0.5).tolist()),
            "x y'": rng.integers(0, 3, ROWS),
        }
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with cq.create_table(tmp_path_factory.mktemp("polars") / "t.h5", _frame(), chunk_rows=64) as made:
        yield made


NUMBERS = {
    "i": st.integers(-6, 6),
    "u": st.integers(0, 10),
    "l": st.integers(-20, ROWS),
    "m": st.integers(-11, 11),
    "f": st.one_of(
        st.integers(-6, 6).map(float), st.sampled_from([0.25, -0.0, float("nan"), float("inf"), -1.5])
    ),
    "g": st.one_of(st.integers(-6, 6).map(float), st.sampled_from([0.1, 0.25, float("nan")])),
    "s": st.sampled_from(["", "a", "ab", "é", "no", "a\0"]),
    "w": st.sampled_from(["", "a", "ab", "é", "no", "a\0"]),
    "t": st.integers(0, ROWS).map(lambda k: START + dt.timedelta(hours=k)),
    "d": st.integers(0, 60).map(lambda k: dt.date(2024, 1, 1) + dt.timedelta(days=k)),
    "x y'": st.integers(0, 3),
}
COMPARED = ["__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"]


@st.composite
def comparisons(draw: st.DrawFn) -> Any:
    name = draw(st.sampled_from(list(NUMBERS)))
    value = draw(NUMBERS[name])
    if name in ("i", "l", "u") and draw(st.booleans()):
        value += 0.5
    column, constant = pl.col(name), pl.lit(value)
    left, right = (column, constant) if draw(st.booleans()) else (constant, column)
    return getattr(left, draw(st.sampled_from(COMPARED)))(right)


@st.composite
def questions(draw: st.DrawFn) -> Any:
    name = draw(st.sampled_from(list(NUMBERS)))
    column = pl.col(name)
    values = draw(st.lists(NUMBERS[name], min_size=1, max_size=4))
    asked = [
        column.is_null(),
        column.is_not_null(),
        column.is_between(
            pl.lit(min(values)), pl.lit(max(values)), draw(st.sampled_from(["both", "left", "right", "none"]))
        ),
        column.is_in(values + [None] * draw(st.integers(0, 1)), nulls_equal=draw(st.booleans())),
    ]
    return draw(st.sampled_from(asked))


OTHERS = [
    pl.col("b"),
    pl.col("b") == False,  # noqa: E712 - an expression of Polars
    pl.col("b").is_null(),
    pl.col("c") == "ab",
    pl.col("c") != "ab",
    pl.col("c") > "ab",
    pl.col("c").is_in(["a", "zz"]),
    pl.col("c").is_null(),
    pl.col("f").is_nan(),
    pl.col("g").is_not_nan(),
    pl.col("l") > pl.col("m"),
    pl.col("l") == pl.col("m"),
    pl.col("i") < pl.col("l"),
    pl.col("f") >= pl.col("g"),
    pl.col("i").eq_missing(2),
    pl.col("l") % 3 == 1,
    pl.col("s").str.starts_with("a"),
    pl.col("w").str.ends_with("b"),
    pl.col("s").str.contains("b", literal=True),
    pl.col("w").str.contains("^a.*c$"),
    pl.col("s").str.len_chars() > 1,
    pl.col("w") < pl.col("s"),
    pl.col("t").dt.hour() < 5,
    pl.col("f").abs() < 2,
    pl.lit(value=True),
]

predicates = st.recursive(
    st.one_of(comparisons(), questions(), st.sampled_from(OTHERS)),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: two[0] & two[1]),
        st.tuples(inner, inner).map(lambda two: two[0] | two[1]),
        inner.map(lambda one: ~one),
        st.tuples(inner, inner).map(lambda two: two[0] ^ two[1]),
    ),
    max_leaves=6,
)


@settings(max_examples=250, deadline=None)
@given(predicate=predicates)
def test_filters_give_the_rows_that_polars_gives(table: Any, predicate: Any) -> None:
    assert table.scan_polars().filter(predicate).collect().equals(table.to_polars().filter(predicate))


@settings(max_examples=150, deadline=None)
@given(predicate=predicates)
def test_every_row_that_a_predicate_keeps_meets_our_condition(table: Any, predicate: Any) -> None:
    """Without the second filter: what is asked of our scan never loses a row."""
    seen = _seen(table, predicate)
    if seen is None:
        return
    rows = table.to_polars().with_row_index("row").filter(predicate)["row"].to_list()
    assert set(rows) <= set(table.where(seen.given, seen.params).row_numbers().tolist())


def _seen(table: Any, predicate: Any) -> Any:
    """Return the condition that is made of a predicate as Polars hands it over."""
    found: list[Any] = []

    class Watched(Source):
        def condition(self, predicate: Any) -> Any:
            found.append(super().condition(predicate))
            return found[-1]

    from polars.io.plugins import register_io_source

    source = Watched(table.head(ROWS))
    register_io_source(source, schema=source.schema()).filter(predicate).collect()
    return found[0] if found else None


@settings(max_examples=60, deadline=None)
@given(
    columns=st.lists(st.sampled_from(list(_frame().columns)), unique=True, min_size=1),
    count=st.integers(0, ROWS + 5),
    predicate=st.one_of(st.none(), comparisons()),
    engine=st.sampled_from(["in-memory", "streaming"]),
)
def test_columns_and_first_rows_are_those_asked_for(
    table: Any, columns: list[str], count: int, predicate: Any, engine: str
) -> None:
    lazy, whole = table.scan_polars(), table.to_polars()
    if predicate is not None:
        lazy, whole = lazy.filter(predicate), whole.filter(predicate)
    found = lazy.select(columns).head(count).collect(engine=engine)
    assert found.equals(whole.select(columns).head(count))


@pytest.fixture(scope="module")
def sorted_table(tmp_path_factory: pytest.TempPathFactory) -> Any:
    n = 200_000
    columns = {
        "k": np.arange(n),
        "f": np.arange(n) / 3,
        "t": np.datetime64("2024-01-01", "us") + np.arange(n) * np.timedelta64(1, "s"),
        "v": np.random.default_rng(0).normal(size=n),
    }
    with cq.create_table(tmp_path_factory.mktemp("polars") / "s.h5", columns, chunk_rows=20_000) as made:
        yield made


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, int]]:
    """What each scan of the engine says of its boxes."""
    reports: list[dict[str, int]] = []
    scan = gathering.scan

    def watched(*args: Any, **options: Any) -> Any:
        found = scan(*args, **options)
        reports.append({**found.report, "columns": len(args[1])})
        return found

    monkeypatch.setattr(gathering, "scan", watched)
    return reports


@pytest.mark.parametrize(
    "predicate",
    [
        pl.col("k").is_between(150_000, 150_010),
        (pl.col("f") > 66_000) & (pl.col("v").abs() < 100),
        pl.col("t") < dt.datetime(2024, 1, 1, 0, 10),
        ~(pl.col("k") >= 500),
        (pl.col("k") < 10) | (pl.col("k") == 199_999),
    ],
)
def test_blocks_that_cannot_match_are_not_decoded(
    sorted_table: Any, scans: list[dict[str, int]], predicate: Any
) -> None:
    found = sorted_table.scan_polars().filter(predicate).select("v").collect()
    boxes, skipped = (sum(one[key] for one in scans) for key in ("boxes", "boxes_skipped"))
    assert boxes > 5
    assert 0 < boxes - skipped <= boxes // 2
    assert 0 < sum(one["boxes_decoded"] for one in scans) <= boxes - skipped
    assert found.equals(sorted_table.to_polars().filter(predicate).select("v"))


def test_only_the_columns_asked_for_and_no_more_rows_are_decoded(
    sorted_table: Any, scans: list[dict[str, int]]
) -> None:
    assert sorted_table.scan_polars().select("k").head(7).collect()["k"].to_list() == list(range(7))
    assert [one["columns"] for one in scans] == [1]
    assert scans[0]["boxes_decoded"] == 1


def test_an_index_answers_a_predicate(tmp_path: Any) -> None:
    values = np.random.default_rng(1).permutation(50_000)
    with cq.create_table(tmp_path / "t.h5", {"v": values, "r": np.arange(50_000)}) as t:
        t.create_index("v")
        lazy = t.scan_polars().filter(pl.col("v") == 17)
        assert lazy.collect().rows() == [(17, int(np.flatnonzero(values == 17)[0]))]
        assert t.where(*_given(t, pl.col("v") == 17)).explain().indexes == ("v",)


def _given(table: Any, predicate: Any) -> tuple[str, Any]:
    condition = _seen(table, predicate)
    return condition.given, condition.params


def test_selections_keep_their_order_limit_and_columns(table: Any) -> None:
    chosen = table.where("l > 5").order_by("m", descending=True).head(50).select(["l", "m", "s"])
    predicate = pl.col("m") > 3
    assert chosen.scan_polars().filter(predicate).collect().equals(chosen.to_polars().filter(predicate))
    assert chosen.scan_polars().head(3).collect().equals(chosen.to_polars().head(3))
    first = table.where("m > 0", start=10, stop=200).head(20)
    assert first.scan_polars().filter(predicate).collect().equals(first.to_polars().filter(predicate))


def test_rows_appended_later_are_within(tmp_path: Any) -> None:
    with cq.create_table(tmp_path / "t.h5", {"x": [1, 2, 3]}) as t:
        lazy = t.scan_polars().filter(pl.col("x") > 1)
        t.append({"x": [4]})
        assert lazy.collect()["x"].to_list() == [2, 3, 4]


def test_a_lazy_frame_can_be_sent_elsewhere(tmp_path: Any) -> None:
    with cq.create_table(tmp_path / "t", {"x": [1, 2, 3]}) as t:
        sent = t.where("x > 1").scan_polars().serialize()
    assert pl.LazyFrame.deserialize(io.BytesIO(sent)).collect()["x"].to_list() == [2, 3]


def test_columns_within_columns_and_those_with_axes_are_scanned_too(tmp_path: Any) -> None:
    records = np.zeros(10, [("id", "i4"), ("pos", "f4", (2,)), ("in", [("a", "i2"), ("n", "S3")])])
    records["id"], records["in"]["a"], records["in"]["n"] = range(10), range(10), b"ab"
    with cq.create_table(tmp_path / "t.h5", records, layout="rows") as t:
        predicate = (pl.col("id") > 3) & (pl.col("in").struct.field("a") < 8)
        assert t.scan_polars().filter(predicate).collect().equals(t.to_polars().filter(predicate))
        assert t.select(["in/a"]).scan_polars().filter(pl.col("in/a") > 7).collect().rows() == [(8,), (9,)]


def test_a_column_that_arrow_has_no_type_for_is_left_out_by_choice(tmp_path: Any) -> None:
    with cq.create_table(tmp_path / "t.h5", {"z": np.ones(3, complex), "x": [1, 2, 3]}) as t:
        with pytest.raises(TypeError, match="z"):
            t.scan_polars()
        assert t.select(["x"]).scan_polars().collect().height == 3
