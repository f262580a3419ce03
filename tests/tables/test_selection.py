"""Queries of tables, with NumPy as the judge: what matches, what it comes to, in which order and groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.tables import scanning
from coquina.tables.grouping import AGGREGATES
from coquina.tables.plan import Plan
from tests.reference import grouping as grouping_reference
from tests.reference import scanning as scanning_reference
from tests.tables.table_cases import LAYOUTS, both_layouts, make, records, same

COUNT = 3000
quick = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))

#: Conditions as text, and what they mean of records.
CONDITIONS = {
    "a > 10": lambda r: r["a"] > 10,
    "(a > 10) & (b < 0.5)": lambda r: (r["a"] > 10) & (r["b"] < 0.5),
    "a > 1000": lambda r: r["a"] > 1000,
    "a < 1000": lambda r: r["a"] < 1000,
    "f": lambda r: r["f"],
    "~f | (a == 3)": lambda r: ~r["f"] | (r["a"] == 3),
    "s == 'BB'": lambda r: r["s"] == b"BB",
    "u > 9223372036854775807": lambda r: r["u"] > 9223372036854775807,
    "-5 < a <= 5": lambda r: (r["a"] > -5) & (r["a"] <= 5),
    "b != b": lambda r: np.isnan(r["b"]),
    "b * 2 + a > h": lambda r: r["b"] * 2 + r["a"] > r["h"],
}
conditions = st.sampled_from(sorted(CONDITIONS))
spans = st.tuples(
    st.none() | st.integers(-COUNT - 9, COUNT + 9),
    st.none() | st.integers(-COUNT - 9, COUNT + 9),
    st.none() | st.integers(1, 700),
)


@pytest.fixture(scope="module", params=LAYOUTS)
def table(request, tmp_path_factory):
    data = records(COUNT)
    with make(tmp_path_factory.mktemp("s"), request.param, data) as made:
        yield made, data


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    """Make several windows of few rows."""
    monkeypatch.setattr("coquina.tables.scanning.WINDOW_BYTES", 1)
    monkeypatch.setattr("coquina.tables.scanning._ROWS_MIN", 700)
    monkeypatch.setattr("coquina.tables.ordering._FIRST_ROWS", 50)


def rows_of(data: np.ndarray, condition: str, span=(None, None, None)) -> np.ndarray:
    """Return the numbers of the rows that match."""
    rows = np.arange(len(data))[slice(*span)]
    return rows[CONDITIONS[condition](data)[rows]]


@pytest.mark.parametrize("rows", [1, 40, 700, 5000])
def test_the_first_rows_of_an_iteration_do_not_wait_for_many(table, rows, monkeypatch):
    made, data = table
    scanned = []

    def watched(node, columns, span, **options):
        scanned.append(span)
        return scanning.scan(node, columns, span, **options)

    monkeypatch.setattr("coquina.tables.gathering.scan", watched)
    batches = made.where("a < 1000").batches(rows)
    first = next(batches)
    assert [len(span) for span in scanned] == [min(rows, 700)] or rows > 700
    same(np.concatenate([first, *batches]), data[data["a"] < 1000])
    # Windows follow each other, and no later one is short but the last.
    assert [span.start for span in scanned[1:]] == [span.stop for span in scanned[:-1]]
    assert scanned[0].start == 0
    assert scanned[-1].stop == COUNT
    lens = [len(span) for span in scanned[:-1]]
    assert lens == [min(rows * 2**step, 700) for step in range(len(lens))]


def test_an_iteration_gives_the_first_row_as_soon_as_it_is_found(tmp_path, monkeypatch):
    # It waited for 16,384 rows that match, however many rows had to be looked at for these.
    scanned = []

    def watched(node, columns, span, **options):
        scanned.append(span)
        return scanning.scan(node, columns, span, **options)

    numbers = np.arange(100_000, dtype="i4")
    with cq.create_table(tmp_path / "t.h5", {"n": numbers, "d": numbers % 100}, mode="w") as table:
        monkeypatch.setattr("coquina.tables.gathering.scan", watched)
        rows = iter(table.where("d == 7"))
        assert next(rows)["n"] == 7
        assert len(scanned) == 1
        assert [row["n"] for row in rows] == numbers[107::100].tolist()
        assert [row["n"] for row in table] == numbers.tolist()


@quick
@given(condition=conditions, span=spans, limit=st.none() | st.integers(0, 400))
def test_what_matches(table, condition, span, limit):
    made, data = table
    rows = rows_of(data, condition, span)[:limit]
    found = made.where(condition, None, *span)
    if limit is not None:
        found = found.head(limit)
    assert found.count() == len(rows)
    assert found.any() == bool(len(rows))
    same(found.row_numbers(), rows)
    same(found.to_numpy(), data[rows])
    same(found.to_numpy("u"), data["u"][rows])
    same(found.select(["s", "b"]).to_numpy(), data[["s", "b"]][rows])
    parts = list(found.batches(101))
    assert [len(part) for part in parts[:-1]] == [101] * max(0, len(parts) - 1)
    assert sum(map(len, parts)) == len(rows)
    assert [row["u"] for row in found] == data["u"][rows].tolist()
    same(found.to_dict(["c"])["c"], data["c"][rows])


@quick
@given(condition=conditions, span=spans, limit=st.none() | st.integers(0, 400))
def test_the_scan_and_its_reference(table, condition, span, limit):
    made, _ = table
    columns = dict(made.layout.columns)
    selection = made.where(condition, None, *span)
    plan = selection.plan if limit is None else selection.plan.first(limit)
    found = plan.scan(columns, numbers=True)
    numbers, values = scanning_reference.scan(plan.node(), list(columns.values()), plan.span, limit)
    assert found.matched == len(numbers)
    same(found.numbers, numbers)
    for name, wanted in zip(columns, values, strict=True):
        same(found.values[name], wanted)


@quick
@given(first=conditions, second=conditions, limit=st.integers(0, 600))
def test_selections_of_selections(table, first, second, limit):
    made, data = table
    rows = rows_of(data, first)
    both = rows[CONDITIONS[second](data)[rows]]
    same(made.where(first).where(second).row_numbers(), both)
    few = rows[:limit]
    same(made.where(first).head(limit).where(second).row_numbers(), few[CONDITIONS[second](data)[few]])
    same(made.head(limit).where(second).head(3).row_numbers(), rows_of(data[:limit], second)[:3])


@quick
@given(
    condition=conditions,
    name=st.sampled_from(["sum", "mean", "min", "max", "std", "var"]),
    column=st.sampled_from(["a", "f", "u", "h", "c", "b", "a * 2.5 - 1"]),
    limit=st.none() | st.integers(1, 900),
)
def test_numbers_of_what_matches(table, condition, name, column, limit):
    made, data = table
    rows = rows_of(data, condition)[:limit]
    values = data["a"][rows] * 2.5 - 1 if "*" in column else data[column][rows]
    if (name in ("min", "max") and (column == "c" or not len(rows))) or (
        column == "h" and name in ("std", "var")
    ):
        return
    if column == "f" and name in ("std", "var"):
        values = values.astype(float)
    found = made.where(condition)
    found = found if limit is None else found.head(limit)
    if not len(rows) and name != "sum":
        with pytest.warns(RuntimeWarning):
            assert np.isnan(getattr(found, name)(column))
        return
    wanted = getattr(np, name)(values.astype(np.float64) if column == "h" else values)
    result = getattr(found, name)(column)
    if column != "h":
        assert result.dtype == wanted.dtype
    np.testing.assert_allclose(result, wanted, rtol=1e-3 if column == "h" else 1e-11, atol=1e-9)


def test_numbers_of_none_and_of_other_values(table):
    made, data = table
    nothing = made.where("a > 1000")
    assert nothing.sum("b") == 0
    with pytest.raises(ValueError, match="no least"):
        nothing.min("b")
    assert made.min("s") == b""
    assert made.where("s > ''").min("s") == b"A"
    assert made.max("s") == b"CCC"
    np.testing.assert_allclose(made.std("a", ddof=1), data["a"].std(ddof=1))
    np.testing.assert_allclose(made.where("f").mean(made["a"] * 2), data["a"][data["f"]].mean() * 2)
    assert made.order_by("a").head(10).sum("a") == np.sort(data["a"])[:10].sum()
    with pytest.raises(TypeError, match="text"):
        made.sum("s")


@quick
@given(
    condition=conditions,
    keys=st.lists(
        st.tuples(st.sampled_from(["a", "b", "s", "f", "u"]), st.booleans()),
        min_size=1,
        max_size=3,
        unique_by=lambda k: k[0],
    ),
    limit=st.none() | st.integers(0, 300),
)
def test_orders(table, condition, keys, limit):
    made, data = table
    rows = rows_of(data, condition)
    for name, descends in reversed(keys):
        values = data[name][rows]
        ranks = np.unique(values[values == values], return_inverse=True)[1]
        codes = np.full(len(rows), np.iinfo(np.int64).max)
        codes[values == values] = -ranks if descends else ranks
        rows = rows[np.argsort(codes, kind="stable")]
    rows = rows[:limit]
    found = made.where(condition).order_by([name for name, _ in keys], [descends for _, descends in keys])
    found = found if limit is None else found.head(limit)
    same(found.row_numbers(), rows)
    same(found.to_numpy(), data[rows])
    same(np.concatenate([data[:0], *found.batches(99)]), data[rows])
    assert found.count() == len(rows)


KEYS = [["a"], ["s"], ["f", "s"], ["b"], ["a", "b", "f"]]


@quick
@given(
    condition=conditions,
    keys=st.sampled_from(KEYS),
    wanted=st.lists(
        st.tuples(st.sampled_from(["a", "b", "f", "a + 1.5"]), st.sampled_from(AGGREGATES)),
        max_size=4,
        unique=True,
    ),
)
def test_groups(table, condition, keys, wanted):
    made, data = table
    found = (
        made.where(condition)
        .group_by(keys)
        .agg(n="count", **{f"x{at}": one for at, one in enumerate(wanted)})
    )
    rows = rows_of(data, condition)
    groups: dict[tuple, list[int]] = {}
    for row in rows.tolist():
        key = tuple(None if data[name][row] != data[name][row] else data[name][row].item() for name in keys)
        groups.setdefault(key, []).append(row)
    assert found["n"].tolist() == [len(one) for one in groups.values()]
    for name in keys:
        same(found[name], data[name][[one[0] for one in groups.values()]])
    for at, (column, kind) in enumerate(wanted):
        for result, members in zip(found[f"x{at}"], groups.values(), strict=True):
            values = data["a"][members] + 1.5 if "+" in column else data[column][members]
            np.testing.assert_allclose(result, judged(values, kind), rtol=1e-11, atol=1e-9)


def judged(values: np.ndarray, kind: str):
    """Return what an aggregate of a group means."""
    match kind:
        case "count":
            return len(values)
        case "nunique":
            return len(np.unique(values))
        case "first" | "last":
            return values[0 if kind == "first" else -1]
        case "std" | "var":
            return getattr(np, kind)(values.astype(float))
        case _:
            return getattr(np, kind)(values)


@quick
@given(
    condition=conditions, keys=st.sampled_from(KEYS), kind=st.sampled_from(AGGREGATES), step=st.integers(1, 5)
)
def test_groups_by_the_engine_and_by_numpy(table, condition, keys, kind, step):
    made, _ = table
    groups = made.where(condition, step=step).group_by(keys)
    by_engine = groups.agg({"b": kind})
    wanted = [groups._wanted("x", "b", kind)]
    by_numpy = grouping_reference.group_by_windows(
        Plan.where(made.plan, *where(condition, step)), keys, wanted
    )
    for name, one in zip(keys, by_numpy, strict=False):
        same(by_engine[name], one)
    np.testing.assert_allclose(by_engine[f"b_{kind}"], by_numpy[-1].astype(float), rtol=1e-11, atol=1e-12)


def where(condition: str, step: int):
    from coquina.tables.plan import Condition

    return Condition(condition), None, None, step


def test_groups_of_text_and_of_missing_values(tmp_path):
    columns = {
        "k": ["x", None, "y", "x", None, "y"],
        "n": np.ma.array([1, 2, 3, 4, 5, 6], mask=[0, 0, 1, 0, 1, 1]),
        "t": ["b", "c", None, "a", "d", None],
    }
    with make(tmp_path, "columns", columns) as table:
        found = table.group_by("k").agg(
            {"n": ["sum", "mean", "count", "max"], "t": ["min", "first", "nunique"]}
        )
        assert found["k"].tolist() == ["x", None, "y"]
        assert found["n_sum"].tolist() == [5, 2, 0]
        assert found["n_count"].tolist() == [2, 1, 0]
        assert found["n_mean"].tolist() == [2.5, 2, None]
        assert found["n_max"].tolist() == [4, 2, None]
        assert found["t_min"].tolist() == ["a", "c", None]
        assert found["t_first"].tolist() == ["b", "c", None]
        assert found["t_nunique"].tolist() == [2, 2, 0]
        by_number = table.group_by("n").agg(rows="count")
        assert by_number["n"].tolist() == [1, 2, None, 4]
        assert by_number["rows"].tolist() == [1, 1, 3, 1]


def test_groups_that_are_refused(table):
    made, _ = table
    with pytest.raises(KeyError, match="zz"):
        made.group_by("zz")
    with pytest.raises(ValueError, match="median"):
        made.group_by("a").agg(m=("b", "median"))
    with pytest.raises(ValueError, match="of which column"):
        made.group_by("a").agg(m="sum")
    with pytest.raises(ValueError, match="twice"):
        made.group_by("a").agg(a="count")


def test_selections_follow_their_table(tmp_path):
    data = records(50)
    with make(tmp_path, "columns", data) as table:
        text, lazy = table.where("a > 0"), table.where(table["a"] > 0)
        before = np.count_nonzero(data["a"] > 0)
        assert text.count() == lazy.count() == before
        table.append(data)
        assert text.count() == 2 * before
        with pytest.raises(ValueError, match="text follows the table"):
            lazy.count()


@both_layouts
def test_params_and_conditions_of_all_kinds(tmp_path, layout):
    data = records(500)
    with make(tmp_path, layout, data) as table:
        wanted = data["a"] > 7
        for condition, params in [
            ("a > low", {"low": 7}),
            (table["a"] > 7, None),
            (wanted, None),
            (cq.expr("a > 7", a=table["a"]), None),
        ]:
            same(table.where(condition, params).row_numbers(), np.flatnonzero(wanted))
        assert table.where("s in ('A', 'BB')").count() == np.isin(data["s"], [b"A", b"BB"]).sum()
        for wrong, error in [
            ("a >", ValueError),
            ("zz > 1", ValueError),
            ("a + 1", TypeError),
            (wanted[:5], ValueError),
        ]:
            with pytest.raises(error):
                table.where(wrong)
        with pytest.raises(ValueError, match="step -1"):
            table.where("a > 1", step=-1)
        with pytest.raises(ValueError, match="before order_by"):
            table.order_by("a").where("b > 0")


@both_layouts
def test_appending_what_was_selected(tmp_path, layout):
    data = records(900)
    with make(tmp_path, layout, data) as table:
        target = table.file.create_table("/target", data[:0][["u", "a"]], layout=layout)
        count = np.count_nonzero(data["a"] > 0)
        assert table.where("a > 0").select(["a", "u"]).append_to(target) == count
        same(target[:], data[data["a"] > 0][["u", "a"]])
        with pytest.raises(ValueError, match="missing"):
            table.where("a > 0").select("a").append_to(target)
        assert table.where("f").append_to(table) == np.count_nonzero(data["f"])
        same(table[:], np.concatenate([data, data[data["f"]]]))


def test_what_a_query_says_of_itself(table):
    made, data = table
    selection = made.where("(a > 10) & f", start=5).select(["b", "s"]).order_by("b").head(3)
    for part in ("(a > 10) & f", "rows 5:None", "by b", "first 3", "b, s"):
        assert part in repr(selection)
    assert selection.columns == ("b", "s")
    assert selection.dtype == np.dtype([("b", "f8"), ("s", "S3")])
    explained = made.where("a > 1000").explain()
    assert explained.matched == 0
    assert explained.rows == COUNT
    assert explained.scan["boxes_decoded"] == 0
    assert explained.to_dict()["conditions"] == ["a > 1000"]
    assert "0 matched" in str(explained)
    assert made.explain().matched == COUNT
    assert str(data["u"][data["f"]][0]) in made.where("f")._repr_html_()
