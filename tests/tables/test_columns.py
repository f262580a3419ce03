"""Laws of columns: values, encoding, comparisons and questions are those of NumPy, for every kind."""

from __future__ import annotations

import datetime
import operator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.tables import string_columns
from coquina.tables.columns import BitsColumn, DatetimeColumn, EnumColumn, NumberColumn, Stored, StringColumn
from coquina.tables.values import Coded, Utf8
from tests.tables.column_cases import COMPARISONS, MEMBERS, RECORD, WORDS, Model, gathered, read, same

MODEL = Model(0, 700)
NAMES = list(MODEL.columns)
ORDERED = [name for name in NAMES if name not in ("c16", "pos")]
#: Constants that the columns are compared with, some in them, some between, some beyond all of them.
CONSTANTS: dict[str, tuple[Any, ...]] = {
    "i1": (0, 3, -9, 300, -300, 2.5, np.int64(4), np.uint64(4), True, 10**30),
    "i8": (0, 3, -9, 2**64, 2.5, np.uint64(2**63), np.float32(1)),
    "u8": (-1, 0, 2**63, 2**63 - 1, 2**64, np.int8(-1), np.int64(5), np.uint64(2**63 + 1), 1.5),
    "f2": (0.1, 3, np.nan, np.inf, np.float64(0.1)),
    "f4": (0.1, 3, -0.0, np.nan, np.float64(0.1), np.float32(0.1), 10**10),
    "f8": (0.1, 3, -0.0, np.nan, np.inf, np.float32(0.1)),
    "c16": (0, 1 + 1j, 2.0),
    "b": (True, False, 1, 0.5),
    "s": ("ab", b"ab", "", "zz", "abcdefg", b"a\0b", np.str_("a"), np.bytes_(b"a")),
    "u": ("ab", b"ab", "", "日本", "日本語abc", "é"),
    "bits": (True, False, 1),
    "enum": (0, 1, 99, -3, np.int8(1)),
    "t64": (0, 1.5, -0.25, -3),
    "text": ("", "ab", "a", "é", "a\0b", "日", "zzz", np.str_("abc")),
    "info/fruit": ("", "plum", "nothing", "Äpfel"),
    "level": (0, 2.5, -5, 7.0, 1.5),
    "info/nint": (0, 3, 2.5, -1, 10**20),
    "nfloat": (0, 3, 2.5, np.inf),
    "nbool": (True, False),
    "ntext": ("", "ab", "zzz"),
}
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns")
DATES = (
    np.datetime64("1970-01-01T00:00:01"),
    np.datetime64("1969-12-31T23:59:59.5"),
    np.datetime64("2020-01-01"),
    np.datetime64("2020-01-01T00:00:00.000000001"),
    np.datetime64("2020"),
    np.datetime64("292277026596-12-04T15:30:08", "s"),
    np.datetime64("-5000"),
    np.datetime64("NaT"),
)
SPANS = (np.timedelta64(1, "s"), np.timedelta64(1500, "ms"), np.timedelta64(1, "h"), np.timedelta64(-1, "ns"))


def plain(name: str) -> Any:
    """Return the values as NumPy compares them."""
    values = MODEL.values[name]
    return values.astype("S5") if name == "s" else values


def compared(name: str, op: str, constant: Any) -> Any:
    """Return NumPy's comparison, which is false where a value is missing."""
    values = plain(name)
    if values.dtype.kind == "S" and isinstance(constant, str):
        constant = constant.encode()
    if values.dtype.kind in "UT" and isinstance(constant, bytes):
        constant = constant.decode()
    if values.dtype.kind == "T":
        constant = np.array(constant, "T")
    return getattr(np, op)(values, constant) & ~MODEL.masks[name]


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_that_are_stored(name: str) -> None:
    column = MODEL.columns[name]
    wanted = MODEL.masked(name)
    same(column.values(gathered(column)), wanted)
    same(column.values(column.encode(wanted)), wanted)
    same(column.array()[...], wanted)
    assert len(column) == MODEL.count
    assert column.values(gathered(column)).dtype == column.dtype
    assert column.shape == wanted.shape[1:]


@settings(max_examples=60)
@given(data=st.data(), name=st.sampled_from(NAMES))
def test_rows_are_read_by_any_key(data: Any, name: str) -> None:
    n = MODEL.count
    ends = st.none() | st.integers(-n - 5, n + 5)
    rows = st.lists(st.integers(-n, n - 1), max_size=20)
    key = data.draw(
        st.builds(slice, ends, ends, st.sampled_from([None, 1, 2, 7, -1, -3]))
        | rows
        | rows.map(lambda one: np.array(one, np.int64))
        | st.integers(0, 2**32).map(lambda seed: np.random.default_rng(seed).random(n) < 0.1)
    )
    array = MODEL.columns[name].array()
    wanted = MODEL.masked(name)[np.array(key, np.int64) if isinstance(key, list) else key]
    same(array[key], wanted)
    at = data.draw(st.integers(-n, n - 1))
    single, item = array[at], MODEL.masked(name)[at]
    assert np.ma.is_masked(single) == np.ma.is_masked(item)
    if not np.ma.is_masked(item):
        np.testing.assert_array_equal(single, item)
    with pytest.raises(IndexError):
        array[[n]]
    with pytest.raises(IndexError):
        array[-n - 1]


@pytest.mark.parametrize("op", COMPARISONS)
@pytest.mark.parametrize("name", list(CONSTANTS))
def test_comparisons_with_constants_are_numpys(name: str, op: str) -> None:
    column = MODEL.columns[name]
    for constant in CONSTANTS[name]:
        np.testing.assert_array_equal(read(column.compared(op, constant)), compared(name, op, constant))


@pytest.mark.parametrize("op", COMPARISONS)
def test_times_are_compared_exactly_whatever_the_units(op: str) -> None:
    # NumPy's own comparison overflows where the finer unit is too fine for the range.
    dates = MODEL.values["date"]
    for constant in DATES:
        found = read(MODEL.columns["date"].compared(op, constant))
        whole = constant.astype("M8[s]")
        if np.isnat(constant) or whole == constant:
            wanted = getattr(np, op)(dates, whole)
        else:
            floor = whole if whole < constant else whole - 1
            wanted = {
                "equal": np.zeros(len(dates), bool),
                "not_equal": np.ones(len(dates), bool),
                "less": dates <= floor,
                "less_equal": dates <= floor,
                "greater": dates > floor,
                "greater_equal": dates > floor,
            }[op]
        np.testing.assert_array_equal(found, wanted, str(constant))
    for constant in SPANS:
        found = read(MODEL.columns["span"].compared(op, constant))
        np.testing.assert_array_equal(found, getattr(np, op)(MODEL.values["span"], constant), str(constant))


@settings(max_examples=150)
@given(
    unit=st.sampled_from(UNITS),
    step=st.sampled_from([1, 1, 7]),
    count=st.integers(-(10**6), 10**6),
    op=st.sampled_from(COMPARISONS),
    other=st.sampled_from(UNITS),
)
def test_dates_of_any_unit_are_compared_with_any_other(
    unit: str, step: int, count: int, op: str, other: str
) -> None:
    dtype = np.dtype(f"M8[{step}{unit}]")
    limit = 25 if unit in "YMWD" else 10**5 if unit == "h" else 10**7
    raw = np.random.default_rng(abs(count)).integers(-limit, limit, 50)
    raw[0] = np.iinfo("i8").min
    column = DatetimeColumn("t", Stored(cq.asarray(raw), "i8"), dtype)
    constant = np.datetime64(count % 200 if other in "YMWD" else count, other)
    wanted = getattr(np, op)(raw.view(dtype).astype("M8[ns]"), constant.astype("M8[ns]"))
    np.testing.assert_array_equal(read(column.compared(op, constant)), wanted)
    np.testing.assert_array_equal(read(column.compared(op, str(constant))), wanted)


def test_dates_are_given_as_text_and_as_pythons() -> None:
    column, dates = MODEL.columns["date"], MODEL.values["date"]
    second = np.datetime64("2020-01-01T00:00:01")
    zone = datetime.timezone(datetime.timedelta(hours=2))
    for constant in (
        "2020-01-01T00:00:01",
        "2020-01-01 00:00:01",
        "2020-01-01T02:00:01+02:00",
        "2020-01-01T00:00:01Z",
        datetime.datetime(2020, 1, 1, 0, 0, 1),
        datetime.datetime(2020, 1, 1, 2, 0, 1, tzinfo=zone),
        b"2020-01-01T00:00:01",
    ):
        np.testing.assert_array_equal(read(column.compared("less", constant)), dates < second)
    found = read(column.compared("greater", datetime.date(2019, 12, 31)))
    np.testing.assert_array_equal(found, dates > np.datetime64("2019-12-31"))
    found = read(MODEL.columns["span"].compared("less", datetime.timedelta(minutes=1)))
    np.testing.assert_array_equal(found, MODEL.values["span"] < np.timedelta64(60, "s"))
    for wrong in ("tomorrow", "2020-13-01", "5"):
        with pytest.raises(ValueError, match="date"):
            column.compared("less", wrong) if wrong != "5" else column.compared("less", "5x")
    for value in (5, 1.5, np.timedelta64(1, "s")):
        with pytest.raises(TypeError, match="date"):
            column.compared("less", value)


@pytest.mark.parametrize("name", list(CONSTANTS))
def test_membership_is_equality_with_any(name: str) -> None:
    column = MODEL.columns[name]
    for constants in (CONSTANTS[name], CONSTANTS[name][:1], ()):
        wanted = np.zeros(MODEL.count, bool)
        for constant in constants:
            wanted |= compared(name, "equal", constant)
        np.testing.assert_array_equal(read(column.among(constants)), wanted)


def test_membership_of_times() -> None:
    dates, spans = MODEL.values["date"], MODEL.values["span"]
    wanted = np.isin(dates, np.array(["1970-01-01T00:00:01", "2020-01-01"], "M8[s]"))
    found = MODEL.columns["date"].among([*DATES, "1970-01-01T00:00:01", "2020-01-01"])
    np.testing.assert_array_equal(read(found), wanted)
    found = MODEL.columns["span"].among([*SPANS])
    np.testing.assert_array_equal(read(found), np.isin(spans, np.array([1, 3600], "m8[s]")))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_missing(name: str) -> None:
    column, values = MODEL.columns[name], MODEL.values[name]
    if column.shape:
        return
    wanted = MODEL.masks[name] | ((values != values) if values.dtype.kind in "fcmM" else False)
    np.testing.assert_array_equal(read(column.is_null()), wanted)
    with pytest.raises(TypeError, match="null"):
        column.compared("equal", None)


@pytest.mark.parametrize("name", ["s", "u", "info/fruit", "text", "ntext"])
@pytest.mark.parametrize("text", ["", "a", "ab", "b", "é", "日本", "pear", "xyz", "a\0b"])
def test_text_is_matched_as_pythons(name: str, text: str) -> None:
    column, mask = MODEL.columns[name], MODEL.masks[name]
    texts = [one.decode() if isinstance(one, bytes) else one for one in MODEL.values[name].tolist()]
    for op, match in (
        ("startswith", str.startswith),
        ("endswith", str.endswith),
        ("contains", operator.contains),
    ):
        wanted = np.array([match(one, text) for one in texts]) & ~mask
        np.testing.assert_array_equal(read(column.matching(op, text)), wanted, op)
    with pytest.raises(ValueError, match="startswith, endswith, contains"):
        MODEL.columns["text"].matching("like", text)


@pytest.mark.parametrize(
    "left", ["i1", "u8", "f4", "f8", "bits", "enum", "t64", "level", "info/nint", "nfloat"]
)
@pytest.mark.parametrize("right", ["i8", "u8", "f8", "b", "level", "info/nint"])
def test_numbers_of_two_columns_are_compared(left: str, right: str) -> None:
    mask = MODEL.masks[left] | MODEL.masks[right]
    for op in COMPARISONS:
        wanted = getattr(np, op)(MODEL.values[left], MODEL.values[right]) & ~mask
        found = read(MODEL.columns[left].compared(op, MODEL.columns[right]))
        np.testing.assert_array_equal(found, wanted, op)


@pytest.mark.parametrize("left", ["s", "u", "text", "ntext", "info/fruit"])
@pytest.mark.parametrize("right", ["s", "u", "text", "ntext", "info/fruit"])
def test_texts_of_two_columns_are_compared(left: str, right: str) -> None:
    def texts(name: str) -> Any:
        values = MODEL.values[name]
        if values.dtype.kind == "S":
            return np.char.decode(values, "utf-8").astype("T")
        return values.astype("<U5").astype("T") if values.dtype.kind == "U" else values

    mask = MODEL.masks[left] | MODEL.masks[right]
    for op in ("equal", "not_equal", "less"):
        wanted = getattr(np, op)(texts(left), texts(right)) & ~mask
        np.testing.assert_array_equal(read(MODEL.columns[left].compared(op, MODEL.columns[right])), wanted)


def test_names_of_enumerations() -> None:
    column, values = MODEL.columns["enum"], MODEL.values["enum"]
    for name, number in MEMBERS.items():
        np.testing.assert_array_equal(read(column.compared("equal", name)), values == number)
        np.testing.assert_array_equal(read(column.compared("not_equal", name)), values != number)
    np.testing.assert_array_equal(read(column.among(["red", -3])), np.isin(values, [0, -3]))
    same(column.encode(["blue", "red"])[0], np.array([-3, 0], "i2"))
    for wrong in (["pink"], [7]):
        with pytest.raises(ValueError, match=r"pink|7 is the number"):
            column.encode(wrong)
    with pytest.raises(TypeError, match="no order"):
        column.compared("less", "red")


def test_ordered_categories_compare_by_their_places() -> None:
    column = MODEL.columns["size"]
    codes = gathered(column)[0].view("i1")
    np.testing.assert_array_equal(read(column.compared("greater", "pear")), codes > 0)
    np.testing.assert_array_equal(read(column.compared("less_equal", "Äpfel")), (codes <= 2) & (codes >= 0))
    with pytest.raises(ValueError, match="ordered"):
        column.compared("less", "fig")


def test_one_of_several_values_is_a_column() -> None:
    column, values = MODEL.columns["pos"], MODEL.values["pos"]
    for index in ((0, 0), (1, 2), (-1, -1)):
        part = column.element(index)
        np.testing.assert_array_equal(read(part.compared("greater", 2)), values[:, *index] > 2)
        same(part.read(slice(None)), values[:, *index])
    for index in ((0,), (0, 3), (2, 0), (0, 0, 0)):
        with pytest.raises(IndexError):
            column.element(index)
    with pytest.raises(TypeError, match=r"pos\[0, 0\]"):
        column.compared("less", 3)
    with pytest.raises(TypeError, match="no axes"):
        MODEL.columns["i1"].element((0,))


def test_arrays_of_columns_have_operators() -> None:
    array = {name: column.array() for name, column in MODEL.columns.items()}
    values, masks = MODEL.values, MODEL.masks
    found = (array["info/nint"] > 1) & (array["text"] != "ab") & array["bits"]
    wanted = (values["info/nint"] > 1) & ~masks["info/nint"] & (values["text"] != "ab") & values["bits"]
    np.testing.assert_array_equal(found[:], wanted)
    np.testing.assert_array_equal(
        (array["nfloat"] + 1)[:], np.where(masks["nfloat"], np.nan, values["nfloat"] + 1)
    )
    np.testing.assert_array_equal(
        (2 * array["info/nint"])[:], np.where(masks["info/nint"], np.nan, 2.0 * values["info/nint"])
    )
    np.testing.assert_array_equal((~array["nbool"])[:], ~(values["nbool"] & ~masks["nbool"]))
    np.testing.assert_array_equal((array["t64"] * 2)[:], values["t64"] * 2)
    np.testing.assert_array_equal(array["s"].isin(["ab", "zz"])[:], np.isin(values["s"], [b"ab", b"zz"]))
    np.testing.assert_array_equal(array["ntext"].isnull()[:], masks["ntext"])
    np.testing.assert_array_equal(array["ntext"].not_null()[:], ~masks["ntext"])
    np.testing.assert_array_equal(np.asarray(array["text"]), values["text"])
    np.testing.assert_array_equal(
        (array["date"] + np.timedelta64(1, "D"))[:], values["date"] + np.timedelta64(1, "D")
    )
    np.testing.assert_array_equal((array["i8"] < array["u8"])[:], values["i8"] < values["u8"])
    assert list(array["text"])[:20] == values["text"][:20].tolist()
    assert array["pos"].shape == (MODEL.count, 2, 3)
    np.testing.assert_array_equal(array["pos"][5:9, 1], values["pos"][5:9, 1])
    with pytest.raises(TypeError, match="text"):
        array["text"] + 1
    with pytest.raises(ValueError, match=r"missing|null"):
        np.asarray(array["nfloat"])


def test_assigned_values_are_stored() -> None:
    model = Model(3, 40)
    array = {name: column.array() for name, column in model.columns.items()}
    for name, value in (
        ("i8", 5),
        ("s", "zz"),
        ("bits", True),
        ("enum", "blue"),
        ("t64", 1.5),
        ("date", "2020-02-03"),
        ("info/fruit", "plum"),
        ("info/nint", None),
        ("pos", np.arange(6).reshape(2, 3)),
        ("nfloat", 2.5),
    ):
        array[name][3:7] = value
        wanted = model.columns[name].read(slice(None))
        single = model.columns[name].values(model.columns[name].encode([value]))
        for at in range(3, 7):
            same(wanted[at : at + 1], single)
        np.testing.assert_array_equal(wanted[7:], model.masked(name)[7:])
    array["u"][[1, 30]] = ["x", "y"]
    assert array["u"][[1, 30, 2]].tolist() == ["x", "y", model.values["u"][2]]


@pytest.mark.parametrize(
    ("name", "values", "match"),
    [
        ("i1", [1, 200], "200 is out of the range"),
        ("u8", [-1], "-1 is out of the range"),
        ("i8", [1.5], "float64 cannot be cast"),
        ("i8", [10**30], "out of range"),
        ("i8", ["x"], "cannot be cast"),
        ("i8", [1, None], "null"),
        ("b", [2, 3], "cannot be cast"),
        ("s", ["toolong"], "7 bytes"),
        ("u", ["toolong"], "7 characters"),
        ("i8", [[1, 2]], "shape"),
        ("pos", [1, 2], "shape"),
        ("f8", [1j], "cannot be cast"),
        ("t64", [1e12], "32 bits"),
        ("date", ["2020-01-01T00:00:00.5"], "unit"),
        ("info/fruit", ["fig"], "not one of its categories"),
        ("info/nint", [1.5, None], "cannot be cast"),
        ("text", ["a", None], "null"),
        ("text", [5], "text"),
        ("i8", np.ma.MaskedArray([1, 2], [False, True]), "null"),
    ],
)
def test_values_that_do_not_fit_are_refused(name: str, values: Any, match: str) -> None:
    with pytest.raises((TypeError, ValueError), match=match) as caught:
        MODEL.columns[name].encode(values)
    assert repr(name) in str(caught.value)


def test_values_of_other_kinds_are_taken() -> None:
    columns = MODEL.columns
    same(columns["i1"].encode(np.array([1, 2], "u8"))[0], np.array([1, 2], "i1"))
    same(columns["f8"].encode([1, None, 2.5])[0], np.array([1, np.nan, 2.5]))
    same(columns["date"].encode(["2020-01-01", None])[0], np.array([1577836800, np.iinfo("i8").min]))
    values, mask = columns["info/nint"].encode([1, None, 3])
    assert values[[0, 2]].tolist() == [1, 3]
    assert mask.tolist() == [0, 1, 0]
    values, mask = columns["info/nint"].encode(np.array([1.0, np.nan]))
    assert (values[0], mask.tolist()) == (1, [0, 1])
    coded = Coded(np.array([0, 1, -1]), np.array(["plum", "pear"], "T"))
    assert columns["info/fruit"].encode(coded)[0].tolist() == [3, 0, -1]
    assert columns["s"].encode(["é"])[0].tolist() == ["é".encode()]
    text = columns["ntext"].encode(Utf8.of(["a", None, "é"])[1:])
    assert (text[0][0].tolist(), text[1].tolist()) == ([0, 0, 2], [1, 0])
    for name in MODEL.columns:
        empty = columns[name].encode(np.empty((0, *columns[name].shape), columns[name].dtype))
        assert len(columns[name].values(empty)) == 0


@settings(max_examples=40)
@given(st.lists(st.text(max_size=400) | st.sampled_from(WORDS.tolist()), max_size=30))
def test_texts_come_back_as_they_were(texts: list[str]) -> None:
    texts = [one.encode(errors="ignore").decode() for one in texts]
    column = MODEL.columns["text"]
    parts = column.encode(texts)
    assert column.values(parts).tolist() == texts
    offsets, data = parts[0]
    made = StringColumn("made", cq.asarray(offsets), cq.asarray(data))
    assert made.read(slice(None)).tolist() == texts
    for text in texts[:3]:
        assert read(made.compared("equal", text)).tolist() == [one == text for one in texts]


def test_parts_that_are_not_inside_are_refused() -> None:
    array = cq.asarray(np.zeros(5, RECORD))
    for dtype, offset in (("i8", RECORD.itemsize - 4), ("i8", -1), (RECORD, 1)):
        with pytest.raises(ValueError, match="at byte"):
            Stored(array, dtype, offset)
    with pytest.raises(ValueError, match="a byte each"):
        BitsColumn("x", Stored(array, "i8", 1))
    with pytest.raises(ValueError, match="unit"):
        DatetimeColumn("x", Stored(array, "i8", 1), "M8")
    assert NumberColumn("x", Stored(array, "i8", 1)).kind == "number"
    assert EnumColumn("x", Stored(array, "i1"), MEMBERS).number("red") == 0


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_times_among_categories_are_found_as_they_are_compared(unit: str, tmp_path: Path) -> None:
    # Text and times of another unit were looked for among the integers of the categories: no row was found.
    days = ["2020-01-01", "2021-01-01", None, "2020-01-01"]
    data = {"c": pd.Categorical(pd.to_datetime(days).astype(f"M8[{unit}]"))}
    with cq.create_table(tmp_path / "t", data) as table:
        for day in ("2020-01-01", np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "ns")):
            wanted = table.where("c == v", {"v": day}).row_numbers().tolist()
            assert wanted == [0, 3]
            for several in ([day], [day, np.datetime64("2030-01-01", "h")]):
                assert table.where("c in v", {"v": several}).row_numbers().tolist() == wanted
        both = np.array(["2021-01-01", "2020-01-01"], "M8[D]")
        assert table.where("c in v", {"v": both}).row_numbers().tolist() == [0, 1, 3]
        assert table.where("c in v", {"v": []}).count() == 0


@pytest.mark.parametrize("is_nullable", [False, True])
@pytest.mark.parametrize("longest", [0, 1, 7, 256, 300])
@pytest.mark.parametrize("letters", ["ab", "aé日", "a\0"])
def test_texts_in_any_order_are_those_in_order_taken(monkeypatch, is_nullable, longest, letters):
    rng = np.random.default_rng(longest)
    lengths = rng.integers(0, longest // len(letters[-1].encode()) + 1, 500)
    texts: list[str | None] = ["".join(rng.choice(list(letters), length)) for length in lengths]
    texts[200] = "a" * longest
    if is_nullable:
        texts[::7] = [None] * len(texts[::7])
    moved, real = [], string_columns._put_in_order
    monkeypatch.setattr(
        string_columns, "_put_in_order", lambda *given: moved.append(found := real(*given)) or found
    )
    monkeypatch.setattr(string_columns, "_WORK_BYTES", 2000)
    data = {"s": np.array(texts, object)}
    with cq.hdf5.File.in_memory().create_table("t", data) as table:
        column = table.layout.columns["s"]
        for rows in (rng.permutation(500), rng.integers(100, 400, 900), np.arange(499, -1, -1)):
            assert column.read(rows).tolist() == [texts[row] for row in rows]
            assert column.read(rows).dtype == column.read(slice(3)).dtype
    assert all((found is not None) == (0 < longest <= 256) for found in moved)
    assert len(moved) == 6
