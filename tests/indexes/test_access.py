"""How rows are found: by indexes where they pay, with the answers of scans, through every way to ask."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina._core import RowSet
from coquina.expressions import engine
from coquina.indexes.access import disabled, forced
from coquina.tables import access
from coquina.tables.elsewhere import source_node

from ..tables import condition_cases as cases
from ..tables.table_cases import NESTED, records
from .fake_index import FakeIndex, indexed

COUNT = 3000
#: More than an index looks at anew when a row is appended.
ROWS = 150_000
#: What indexes can be like, and what they do not know.
VARIANTS: list[dict[str, Any]] = [
    {},
    {"blur": 3},
    {"unknown": [[2500, 3000]]},
    {"unknown": [[100, 200], [700, 701], [2000, 2001], [2003, 2010], [2900, 3000]]},
    {"kind": "light"},
    {"kind": "zones", "unknown": [[5, 70]]},
]


@pytest.fixture(scope="module", params=["rows", "columns"])
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[cq.Table]:
    path = tmp_path_factory.mktemp("access") / "t.h5"
    rows = cases.records(COUNT, 1)
    with cq.create_table(path, rows, layout=request.param, chunk_rows=256) as made:
        yield made


@pytest.fixture(scope="module", params=range(len(VARIANTS)))
def fakes(request: pytest.FixtureRequest, table: cq.Table) -> list[FakeIndex]:
    names = [*cases.ROW.names, "i4 + f8", "abs(f4)"]
    return [FakeIndex(table, name, **VARIANTS[request.param]) for name in names]


def test_random_conditions_give_the_rows_of_a_scan(table: cq.Table, fakes: list[FakeIndex]) -> None:
    rows, used = cases.records(COUNT, 1), 0
    for seed in range(60):
        pick = random.Random(seed)
        text, judge = cases.condition(pick)
        start, stop, step = cases.span(pick, COUNT)
        is_in = np.zeros(COUNT, bool)
        is_in[start:stop:step] = True
        wanted = np.flatnonzero(judge(rows) & is_in)
        with indexed(*fakes), forced():
            found = table.where(text, start=start, stop=stop, step=step)
            used += bool(found.will_use_index())
            np.testing.assert_array_equal(found.row_numbers(), wanted, text)
            assert found.count() == len(wanted), text
            assert found.any() == bool(len(wanted)), text
            np.testing.assert_array_equal(found["id"], wanted, text)
            np.testing.assert_array_equal(found.head(3).row_numbers(), wanted[:3], text)
            assert found.to_numpy().tobytes() == rows[wanted].tobytes(), text
            assert [len(one) for one in found.batches(1000)] == _lengths(len(wanted), 1000), text
            assert found.sum("id") == wanted.sum(), text
    assert used > 20


def _lengths(count: int, size: int) -> list[int]:
    return [min(size, count - at) for at in range(0, count, size)]


@pytest.fixture
def own(tmp_path: Any) -> Iterator[cq.Table]:
    rng = np.random.default_rng(3)
    data = {"x": rng.permutation(ROWS), "y": rng.integers(0, 3000, ROWS), "s": rng.integers(0, 9, ROWS)}
    with cq.create_table(tmp_path / "t.h5", data, chunk_rows=4096) as made:
        made.create_index("x")
        made.create_index("y", name="of y")
        yield made


def test_indexes_are_chosen_where_they_pay(own: cq.Table) -> None:
    assert own.will_use_index("x == 5") == {"x"}
    assert own.will_use_index("(x < 10) | (y == 3)") == {"x", "of y"}
    assert own.where("x < 10").will_use_index("s == 3") == {"x"}
    # The few rows of one are looked at; the many of the other would cost more.
    assert own.will_use_index("(x == 5) & (y > 3)") == {"x"}
    assert own.will_use_index("x > 5") == frozenset()
    assert own.will_use_index("s == 5") == frozenset()
    assert own.will_use_index("(x == 5) | (s == 5)") == frozenset()
    assert own.where("x == v", {"v": 7}).will_use_index() == {"x"}
    with disabled():
        assert own.will_use_index("x == 5") == frozenset()


def test_explain_says_how_and_why(own: cq.Table) -> None:
    few = own.where("x < 30").explain()
    assert few.access == "index x: 30 rows"
    assert few.indexes == ("x",)
    assert few.reason == ""
    assert few.matched == 30
    assert few.scan["boxes_skipped"] + few.scan["boxes_decoded"] == few.scan["boxes"]
    assert few.to_dict()["access"] == few.access
    assert "index x: 30 rows" in str(few)
    many = own.where("x >= 30").explain()
    assert many.indexes == ()
    assert "a scan costs less" in many.reason
    unknown = own.where("s == 3").explain()
    assert (unknown.access, unknown.indexes) == ("scan", ())
    assert "no index applies" in unknown.reason
    assert own.where("x > 700000").explain().matched == 0
    both = own.where("(x < 30) | (y == 3)").explain()
    assert both.access.startswith("indexes of y, x: ")
    assert own.explain().access == "scan"
    with disabled():
        assert "not to be used" in own.where("x < 30").explain().reason


def test_a_sorted_column_needs_no_index(tmp_path: Any) -> None:
    with cq.create_table(tmp_path / "t.h5", {"x": np.arange(50_000)}, chunk_rows=1024) as table:
        told = table.where("x < 3000").explain()
        assert (told.access, told.reason) == ("zone maps", "there is no index")


def test_stale_rows_are_scanned_and_said(own: cq.Table) -> None:
    own.append({"x": [5, 6], "y": [0, 0], "s": [0, 0]})
    values = own.to_numpy()
    found = own.where("x == 5")
    assert found.will_use_index() == {"x"}
    np.testing.assert_array_equal(found.row_numbers(), np.flatnonzero(values["x"] == 5))
    assert found.count() == 2
    unknown = own.indexes["x"].unindexed_rows
    assert 2 <= unknown < ROWS // 2
    assert f"{unknown} to examine" in found.explain().access


def test_one_lookup_serves_a_query(table: cq.Table) -> None:
    index = FakeIndex(table, "i4")
    for ask in (
        lambda rows: list(rows.batches(10)),
        lambda rows: rows.to_numpy(),
        lambda rows: rows.row_numbers(),
        lambda rows: rows.group_by("i2").count(),
        lambda rows: rows.max("f8"),
        lambda rows: rows.order_by("f8").head(4).to_numpy(),
    ):
        index.asked = 0
        with indexed(index), forced():
            ask(table.where("i4 == 1"))
        assert index.asked == 1


def test_values_in_records_are_found_wherever_they_are(tmp_path: Any) -> None:
    rows = records(2000, NESTED, seed=2)
    with cq.create_table(tmp_path / "t.h5", rows, layout="rows", chunk_rows=256) as table:
        for name in ("k", "w", "info/x", "info/deep/y", "pos[1]"):
            table.create_index(name)
        known = {
            "k == 3": ("k", rows["k"] == 3),
            "w > 40": ("w", rows["w"] > 40),
            "w > 40.5": ("w", rows["w"] > 40),
            "-3 <= info.x < 2": ("info/x", (rows["info"]["x"] >= -3) & (rows["info"]["x"] < 2)),
            "info.deep.y is null": ("info/deep/y", np.isnan(rows["info"]["deep"]["y"])),
            "pos[1] < -2": ("pos[1]", rows["pos"][:, 1] < -2),
        }
        with forced():
            for text, (name, is_in) in known.items():
                assert table.will_use_index(text) == {name}
                np.testing.assert_array_equal(table.where(text).row_numbers(), np.flatnonzero(is_in), text)
            assert table.will_use_index("pos[0] < -2") == frozenset()


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize(
    "text", ["x == 5", "x < 200", "(x < 2000) & (y > 500)", "(x < 9) | (y == 3)", "x > 30"]
)
def test_changes_through_indexes(tmp_path: Any, layout: Any, text: str) -> None:
    rng = np.random.default_rng(4)
    rows = np.zeros(20_000, [("x", "i8"), ("y", "i4"), ("z", "f8")])
    rows["x"], rows["y"] = rng.permutation(20_000), rng.integers(0, 1000, 20_000)
    with cq.create_table(tmp_path / "t.h5", rows, layout=layout, chunk_rows=1024) as table:
        table.create_index("x")
        table.create_index("y")
        is_in = np.asarray(eval(text, {}, {"x": rows["x"], "y": rows["y"]}))
        with forced():
            assert table.where(text).will_use_index()
            groups = table.where(text).group_by("y").agg(n="count", z=("x", "sum"))
            assert groups["n"].sum() == is_in.sum()
            assert groups["z"].sum() == rows["x"][is_in].sum()
            ordered = table.where(text).order_by("x", descending=True).head(5)["x"]
            np.testing.assert_array_equal(ordered, np.sort(rows["x"][is_in])[::-1][:5])
            assert table.modify(text, {"z": 1.5}) == is_in.sum()
            rows["z"][is_in] = 1.5
            assert table.to_numpy().tobytes() == rows.tobytes()
            # The condition's own column: what it finds changes meanwhile.
            assert table.modify(text, {"x": -1}) == is_in.sum()
            rows["x"][is_in] = -1
            assert table.to_numpy().tobytes() == rows.tobytes()
            assert table.delete("x == -1") == is_in.sum()
            assert table.to_numpy().tobytes() == rows[~is_in].tobytes()
            assert table.where("x == -1").count() == 0
            assert table.where("x < 50000").count() == len(table)


def test_a_closed_table_is_asked_as_an_open_one(tmp_path: Any) -> None:
    path = tmp_path / "t.h5"
    x = np.random.default_rng(0).permutation(100_000)
    with cq.create_table(path, {"x": x, "y": np.arange(100_000)}) as table:
        table.create_index("x")
    with cq.open_table(path) as table:
        for text in ("x == 77", "x < 50", "x >= 99_990", "x < 90_000", "(x < 50) & (y > 50_000)"):
            is_in = eval(text, {}, {"x": x, "y": np.arange(100_000)})
            np.testing.assert_array_equal(table.where(text).row_numbers(), np.flatnonzero(is_in))
            assert table.where(text).will_use_index() == (frozenset() if "90_000" in text else {"x"})


Ranges = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)))


def _set(numbers: set[int], ranges: list[tuple[int, int]], is_exact: bool) -> RowSet:
    open_ = RowSet.none()
    for start, stop in ranges:
        pair = np.array([[start, stop]] if start < stop else [], np.int64).reshape(-1, 2)
        open_ = open_ | RowSet(np.empty(0, np.int64), pair)
    return RowSet(np.array(sorted(numbers), np.int64), open_.open, is_exact)


def _possible(found: RowSet) -> tuple[set[int], set[int]]:
    """Return the rows that surely belong to the answer, and those that may."""
    unknown = {at for start, stop in found.open.tolist() for at in range(start, stop)}
    rows = set(found.rows.tolist())
    assert found.rows.tolist() == sorted(rows)
    ends = [end for pair in found.open.tolist() for end in pair]
    assert ends == sorted(set(ends))
    return (rows - unknown if found.is_exact else set()), rows | unknown


@settings(max_examples=300)
@given(st.sets(st.integers(0, 39)), Ranges, st.booleans(), st.sets(st.integers(0, 39)), Ranges, st.booleans())
def test_sets_of_rows_hold_what_may_be_and_say_what_is(
    a: set[int], a_open: Any, a_exact: bool, b: set[int], b_open: Any, b_exact: bool
) -> None:
    left, right = _set(a, a_open, a_exact), _set(b, b_open, b_exact)
    (left_sure, left_maybe), (right_sure, right_maybe) = _possible(left), _possible(right)
    sure, maybe = _possible(left & right)
    assert sure <= left_sure & right_sure
    assert maybe == left_maybe & right_maybe
    sure, maybe = _possible(left | right)
    assert sure <= left_sure | right_sure
    assert maybe == left_maybe | right_maybe
    sure, maybe = _possible(left.clip(10, 30))
    assert (sure, maybe) == (left_sure & set(range(10, 30)), left_maybe & set(range(10, 30)))
    span = range(3, 35, 4)
    part = left.strided(span)
    assert _possible(part)[0] & set(span) == left_sure & set(span)
    assert _possible(part)[1] & set(span) == left_maybe & set(span)
    assert set(part.rows.tolist()) <= set(span)
    assert set(left.known().tolist()) == set(left.rows.tolist()) - (set(range(40)) & _unknown(left))


def _unknown(found: RowSet) -> set[int]:
    return {at for start, stop in found.open.tolist() for at in range(start, stop)}


def test_exact_sets_stay_exact_where_they_can() -> None:
    left, right = _set({1, 5, 9}, [(20, 30)], True), _set({5, 9, 11}, [(20, 30)], True)
    assert (left & right).is_exact
    assert (left & right).rows.tolist() == [5, 9]
    assert (left | right).is_exact
    assert not (left & _set({5}, [(8, 12)], True)).is_exact


def test_a_node_of_rows_reads_as_the_engine_does(table: cq.Table) -> None:
    found = _set({0, 5, 700, 2999}, [(10, 20), (2000, 2900)], True)
    node = source_node("bool", found.lazy(table.nrows, *access.boxes_of(table)))
    wanted = np.zeros(COUNT, bool)
    wanted[[0, 5, 700, 2999, *range(10, 20), *range(2000, 2900)]] = True
    np.testing.assert_array_equal(engine.read(node, (slice(0, COUNT),)), wanted)


def test_an_index_of_text_that_can_be_missing_tells_the_rows_with_a_value(tmp_path: Any) -> None:
    texts = [None if at % 3 else f"name {at}" for at in range(2000)]
    with cq.create_table(tmp_path / "t.h5", {"s": texts, "n": range(2000)}, layout="columns") as table:
        table.create_index("s")
        wanted = [at for at, text in enumerate(texts) if text is not None and text.endswith("7")]
        for condition in ('endswith(s, "7")', 'contains(s, "7") & endswith(s, "7")'):
            with forced():
                assert list(table.where(condition).explain().indexes) == ["s"]
                assert table.where(condition).row_numbers().tolist() == wanted
            with disabled():
                assert table.where(condition).row_numbers().tolist() == wanted
