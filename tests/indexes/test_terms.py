"""What conditions ask of indexes, for all kinds of columns: the rows that a scan finds, and which indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina._core import KeyRanges
from coquina.indexes.access import disabled, forced
from coquina.tables.access import chooser_of, chosen
from coquina.tables.layout import ColumnSpec

from .fake_index import FakeIndex, indexed

COUNT = 700
WORDS = ["", "a", "ab", "abc", "abcdefgh", "abcdefghi", "abcdefgz", "b", "zz", "é", "éa", "日本語テキスト"]
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
FLOATS = ("f2", "f4", "f8")


def _column(dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    """Return values with all extremes, many of them more than once."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        few = np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 5, 100], dtype)
        some = rng.integers(info.min, info.max, COUNT, dtype, endpoint=True)
        wide = [2**53 - 1, 2**53, 2**53 + 1, 2**62 - 1, 2**62, 2**62 + 1] if dtype.itemsize == 8 else [7]
        return np.where(rng.random(COUNT) < 0.3, some, rng.choice([*few, *np.array(wide, dtype)], COUNT))
    info = np.finfo(dtype)
    few = [
        np.nan,
        -np.inf,
        np.inf,
        0.0,
        -0.0,
        1,
        -1,
        0.1,
        2.5,
        info.min,
        info.max,
        info.tiny,
        info.smallest_subnormal,
    ]
    return np.where(rng.random(COUNT) < 0.3, rng.normal(size=COUNT), rng.choice(few, COUNT)).astype(dtype)


def _data() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    data: dict[str, Any] = {name: _column(np.dtype(name), rng) for name in (*INTEGERS, *FLOATS)}
    data["b"] = rng.random(COUNT) < 0.3
    data["s"] = np.array(rng.choice([b"", b"a", b"ab", b"abc", b"ab\0c", b"zz"], COUNT), "S4")
    long = [b"", b"abcdefg", b"abcdefgh", b"abcdefghi", b"abcdefgh\0z", b"abcdefgz", b"b"]
    data["long"] = np.array(rng.choice(long, COUNT), "S12")
    data["U"] = rng.choice(WORDS, COUNT).astype("U9")
    data["text"] = rng.choice(WORDS, COUNT).astype(np.dtypes.StringDType())
    data["none"] = [None if rng.random() < 0.1 else str(one) for one in rng.choice(WORDS, COUNT)]
    days = rng.choice(
        np.array(["NaT", "1969-12-31", "2020-01-01", "2020-01-02", "2262-01-01"], "M8[ns]"), COUNT
    )
    data["day"], data["span"] = days, (days - np.datetime64("2020-01-01"))
    data["n"] = np.ma.MaskedArray(rng.integers(-3, 4, COUNT), rng.random(COUNT) < 0.2)
    data["nf"] = np.ma.MaskedArray(rng.choice([np.nan, 1.5, -2, 0, np.inf], COUNT), rng.random(COUNT) < 0.2)
    return data


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cq.Table]:
    rng = np.random.default_rng(6)
    words = [None if rng.random() < 0.1 else WORDS[rng.integers(7)] for _ in range(COUNT)]
    path = tmp_path_factory.mktemp("terms") / "t.h5"
    with cq.create_table(path, _data(), layout="columns", chunk_rows=256) as made:
        made.add_column("cat", words, ColumnSpec("cat", np.dtypes.StringDType(), categories=()))
        yield made


NAMES = [*_data(), "cat"]
EXPRESSIONS = ["i2 * 2", "abs(f4)", "i4 + f8"]


@pytest.fixture(scope="module")
def fakes(table: cq.Table) -> list[FakeIndex]:
    return [FakeIndex(table, name) for name in (*NAMES, *EXPRESSIONS)]


def _numbers(name: str) -> st.SearchStrategy[Any]:
    edges = [0, 1, -1, 2, 5, 100, 255, 256, -129, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
    edges += [-(2**63), 2**64, -(2**70), 0.5, -0.0, 2.5, 1e300, -1e300, 0.1, 2.0**53, 2.0**62, 2.0**63]
    special = [
        np.float32(0.1),
        np.float64(0.1),
        np.float64(2.0**62),
        np.nan,
        np.inf,
        -np.inf,
        np.uint64(2**63),
    ]
    return (
        st.sampled_from([*edges, *special, *([True, False] if name == "b" else [])])
        | st.floats()
        | st.integers(-(2**64), 2**65)
    )


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[str, dict[str, Any], str]:
    """Return a comparison, its parameter, and the column that it is of."""
    name = draw(st.sampled_from([*NAMES, *EXPRESSIONS]))
    op = draw(st.sampled_from(["<", "<=", "==", "!=", ">=", ">"]))
    if name in ("s", "long", "U", "text", "none", "cat"):
        value: Any = draw(
            st.sampled_from([*WORDS, "ab\0", "abcdefgh\0", "abcdefghij"]) | st.text(max_size=10)
        )
        value = value.encode(errors="replace") if name in ("s", "long") else value
        if draw(st.booleans()):
            return f"startswith({name}, v)", {"v": value}, name
    elif name == "day":
        value = draw(st.sampled_from([np.datetime64(f"2020-01-0{at}", "s") for at in range(1, 4)]))
    elif name == "span":
        value = np.timedelta64(draw(st.integers(-3, 3)), draw(st.sampled_from(["D", "h", "ns"])))
    else:
        value = draw(_numbers(name))
    left, right = (name, "v") if draw(st.booleans()) else ("v", name)
    return f"(({left}) {op} ({right}))", {"v": value}, name


def _rows(table: cq.Table, text: str, params: dict[str, Any]) -> np.ndarray:
    return table.where(text, params).row_numbers()


def _check(table: cq.Table, fakes: list[FakeIndex], text: str, params: dict[str, Any]) -> frozenset[str]:
    with disabled():
        wanted = _rows(table, text, params)
    with indexed(*fakes), forced():
        found = table.where(text, params)
        np.testing.assert_array_equal(found.row_numbers(), wanted)
        assert found.count() == len(wanted)
        return found.will_use_index()


@settings(max_examples=400, deadline=None)
@given(comparisons(), st.booleans())
def test_a_comparison_gives_the_rows_of_a_scan(
    table: cq.Table, fakes: list[FakeIndex], case: tuple[str, dict[str, Any], str], is_negated: bool
) -> None:
    text, params, name = case
    text = f"not {text}" if is_negated else text
    try:
        table.where(text, params)
    except (TypeError, ValueError, OverflowError):
        return
    used = _check(table, fakes, text, params)
    condition = table.where(text, params).plan.condition()
    assert condition is not None
    tree = chooser_of(table, {one.name: one for one in fakes}).terms(condition)
    assert tree is not None
    assert used == ({f"by {name}"} if not isinstance(tree, bool) else frozenset())


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_combined_comparisons_give_the_rows_of_a_scan(
    table: cq.Table, fakes: list[FakeIndex], data: Any
) -> None:
    params: dict[str, Any] = {}

    def make(depth: int) -> str:
        if not depth or data.draw(st.integers(0, 3)) == 0:
            kind = data.draw(st.integers(0, 5))
            name = data.draw(st.sampled_from(NAMES))
            if kind == 0:
                return f"({name} is null)" if name != "b" else "b"
            if kind == 1:
                return f"({name} is not null)"
            if kind == 2:
                return data.draw(
                    st.sampled_from(["(i4 > i2)", "(contains(text, 'b'))", "(f4 * f8 < 1)", "(1 > 2)", "b"])
                )
            text, given_params, _ = data.draw(comparisons())
            try:
                table.where(text, given_params)
            except (TypeError, ValueError, OverflowError):
                return "~b"
            key = f"v{len(params)}"
            params[key] = given_params["v"]
            return text.replace("(v)", f"({key})").replace(", v)", f", {key})")
        sign = data.draw(st.sampled_from("&|~"))
        if sign == "~":
            return f"(~{make(depth - 1)})"
        return f"({make(depth - 1)} {sign} {make(depth - 1)})"

    text = make(3)
    some = data.draw(st.sets(st.integers(0, len(fakes) - 1), min_size=8))
    _check(table, [fakes[at] for at in sorted(some)], text, params)


CASES = [
    ("i4 == 5", "i4"),
    ("5 == i4", "i4"),
    ("(i4 > 1) == True", "i4"),
    ("-1 < i2 < 7", "i2"),
    ("(i2 >= 0) & (i2 < 9) & (i2 != 5)", "i2"),
    ("i8 > 2.5", "i8"),
    ("u8 > -1.5", "u8"),
    ("f4 < 0.1", "f4"),
    ("f2 < 0.1", "f2"),
    ("b", "b"),
    ("~b", "b"),
    ("b == False", "b"),
    ("isnan(f8)", "f8"),
    ("f8 is null", "f8"),
    ("~isnan(f4)", "f4"),
    ("i4 in (1, 2, 5)", "i4"),
    ("i4 not in (1, 2, 5)", "i4"),
    ("s == b'ab'", "s"),
    ("s < b'ab'", "s"),
    ("s in (b'a', b'zz')", "s"),
    ("startswith(text, 'ab')", "text"),
    ("startswith(U, 'é')", "U"),
    ("day > '2020-01-01'", "day"),
    ("day <= '2020-01-01'", "day"),
    ("day != '2020-01-01'", "day"),
    ("day is null", "day"),
    ("span is not null", "span"),
    ("n > 0", "n"),
    ("n != 0", "n"),
    ("n is null", "n"),
    ("n is not null", "n"),
    ("not (n > 0)", "n"),
    ("n in (1, 2)", "n"),
    ("none is null", "none"),
    ("startswith(none, 'a')", "none"),
    ("cat == 'ab'", "cat"),
    ("cat >= 'ab'", "cat"),
    ("cat is null", "cat"),
    ("contains(cat, 'b')", "cat"),
    ("cat in ('a', 'zz')", "cat"),
    ("i2 * 2 > 4", "i2 * 2"),
    ("abs(f4) < 1", "abs(f4)"),
    ("(i4 == 5) | (f8 > 1)", "i4, f8"),
    ("(i4 == 5) & (f8 > 1)", "i4, f8"),
    ("~((i4 == 5) | (f8 > 1))", "i4, f8"),
    ("(i4 == 5) & contains(text, 'b')", "i4"),
]
#: What keys do not tell: the condition is computed on candidates.
INEXACT = [
    ("text == 'ab'", "text"),
    ("long == b'abcdefgh'", "long"),
    ("long > b'abcdefgh'", "long"),
    ("text in ('a', 'b')", "text"),
    ("(text == 'ab') & (f4 > f8)", "text"),
    ("(i4 == 5) & (f4 > f8) & (i2 > 3) & (i4 < 9)", "i4, i2"),
    ("(i4 > 5) | ((i2 == 5) & (f4 > f8))", "i4, i2"),
    ("nf != 1.5", "nf"),
    ("none != 'a'", "none"),
]
NOT_KNOWN = [
    "i4 > i2",
    "contains(text, 'b')",
    "(i4 > 1) | (f4 > f8)",
    "~((i4 == 5) & (f4 > f8))",
    "i4 * 3 > 5",
    "endswith(s, b'a')",
]


@pytest.mark.parametrize(("text", "names"), CASES)
def test_these_are_answered_by_indexes_alone(
    table: cq.Table, fakes: list[FakeIndex], text: str, names: str
) -> None:
    wanted = frozenset(f"by {name}" for name in names.split(", "))
    assert _check(table, fakes, text, {}) == wanted
    if "contains(text" not in text:
        with indexed(*fakes), forced():
            choice = chosen(table, table.where(text).plan.condition())
            assert choice.is_whole, choice
            rows = choice.rows(COUNT)
            assert rows is not None
            assert rows.is_exact


@pytest.mark.parametrize(("text", "names"), INEXACT)
def test_these_are_answered_with_candidates(
    table: cq.Table, fakes: list[FakeIndex], text: str, names: str
) -> None:
    assert _check(table, fakes, text, {}) == {f"by {name}" for name in names.split(", ")}


@pytest.mark.parametrize("text", NOT_KNOWN)
def test_these_are_scanned(table: cq.Table, fakes: list[FakeIndex], text: str) -> None:
    assert not _check(table, fakes, text, {})


@pytest.fixture
def lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small arrays are computed with at once; not here."""
    monkeypatch.setattr("coquina.arrays.results.EAGER_BYTES", -1)


@pytest.mark.usefixtures("lazy")
def test_expressions_are_found_in_indexes(table: cq.Table, fakes: list[FakeIndex]) -> None:
    conditions = {
        "i4": (table["i4"] > 5) & (table["i4"] < 200),
        "f4": table["f4"] < np.float64(0.1),
        "b": ~table["b"],
        "day": table["day"] > np.datetime64("2020-01-01"),
        "cat": table["cat"].isin(["a", "ab"]),
        "none": table["none"].is_null(),
        "u1": np.logical_or(table["u1"] == 5, table["u1"] == 7),
        "i2 * 2": table["i2"] * 2 <= 4,
        "i8": table["i8"].astype("f4") >= np.float32(2**62),
        "f8": table["f8"].astype("f4") > np.float32(1e38),
        "u2": (table["u2"].astype("u4") <= 5) | (table["u2"].astype("f8") > 65534.5),
    }
    for name, condition in conditions.items():
        with disabled():
            wanted = table.where(condition).row_numbers()
        with indexed(*fakes), forced():
            assert table.where(condition).will_use_index() == {f"by {name}"}, name
            np.testing.assert_array_equal(table.where(condition).row_numbers(), wanted)


@pytest.mark.usefixtures("lazy")
def test_casts_that_mix_up_the_order_are_computed(table: cq.Table, fakes: list[FakeIndex]) -> None:
    with indexed(*fakes), forced():
        for condition in (
            table["i4"].astype("i1") > 5,
            table["i8"].astype("u8") > 5,
            table["f8"].astype("c16") == 1,
            table["f4"].astype("i8") > 5,
        ):
            assert table.where(condition).will_use_index() == frozenset()


@pytest.mark.usefixtures("lazy")
def test_a_deep_condition_is_read(table: cq.Table, fakes: list[FakeIndex]) -> None:
    condition = table["i4"] == 5
    for at in range(3000):
        condition = condition | (table["i4"] == at)
    with indexed(*fakes), forced():
        assert table.where(condition).will_use_index() == {"by i4"}
        found = table.where(condition).row_numbers()
    values = table["i4"][:]
    np.testing.assert_array_equal(found, np.flatnonzero((values >= 0) & (values < 3000)))


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20))),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20))),
)
def test_ranges_of_keys_are_sets(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    # The last keys of all stand for 10 and above.
    def keys(number: int) -> int:
        return number if number <= 10 else (1 << 64) - 21 + number

    def made(pairs: list[tuple[int, int]]) -> tuple[KeyRanges, set[int]]:
        found, members = KeyRanges.of(), set[int]()
        for low, high in pairs:
            found |= KeyRanges.of((keys(low), keys(high)))
            members |= {at for at in range(21) if low <= at <= high}
        return found, members

    def members(ranges: KeyRanges) -> set[int]:
        return {at for at in range(21) if any(low <= keys(at) <= high for low, high in ranges.pairs())}

    (left, a), (right, b) = made(one), made(other)
    for found, wanted in (
        (left, a),
        (left | right, a | b),
        (left & right, a & b),
        (~left, set(range(21)) - a),
    ):
        assert members(found) == wanted
        ends = [end for pair in found.pairs() for end in pair]
        assert ends == sorted(ends)
        assert all(
            high + 1 < low for (_, high), (low, _) in zip(found.pairs(), found.pairs()[1:], strict=False)
        )
