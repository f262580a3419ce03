"""Conditions as text: what they mean, by NumPy, and that nothing else gets through."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.expressions.expression import Expr
from coquina.expressions.grammar import DEPTH_MAX, TEXT_MAX, ExpressionError
from coquina.tables.conditions import as_condition, condition, expression
from tests.tables.column_cases import Model, read

MODEL = Model(1, 500)
COLUMNS, V, M = MODEL.columns, MODEL.values, MODEL.masks
N = MODEL.count
EVERY, NONE = np.ones(N, bool), np.zeros(N, bool)
POS, NINT, FRUIT = V["pos"], V["info/nint"], V["info/fruit"]
SOME = MODEL.random.integers(-9, 9, N)
TEXTS = MODEL.random.choice(["a", "ab", "pear"], N)


def among(name: str, *values: Any) -> Any:
    """Return where a column has one of these values."""
    return np.isin(V[name].astype("U30") if V[name].dtype.kind == "T" else V[name], values) & ~M[name]


def texts(name: str, match: Any) -> Any:
    """Return where a text matches."""
    return np.array([match(one) for one in V[name].tolist()]) & ~M[name]


@np.errstate(all="ignore")
def conditions() -> list[tuple[Any, ...]]:
    """Return texts, what NumPy makes of them, and parameters."""
    return [
        ("i1 > 3", V["i1"] > 3),
        ("(i1 > 3) & (f8 < 1) | ~(u8 == 2**63)", (V["i1"] > 3) & (V["f8"] < 1) | ~(V["u8"] == 2**63)),
        ("i1 > 3 and f8 < 1 or not u8 == 2**63", (V["i1"] > 3) & (V["f8"] < 1) | ~(V["u8"] == 2**63)),
        ("(i1 > 3) ^ b", (V["i1"] > 3) ^ V["b"]),
        ("-3 < i1 <= 2 * 2 != i8", (V["i1"] > -3) & (V["i1"] <= 4) & (V["i8"] != 4)),
        ("3 > i1", V["i1"] < 3),
        ("i8 + i1 * 2 - 1 >= f8 / 2", V["i8"] + V["i1"] * 2 - 1 >= V["f8"] / 2),
        ("i8 ** 2 % 5 == i8 // 2", V["i8"] ** 2 % 5 == V["i8"] // 2),
        ("i8 & 4 != 0", (V["i8"] & 4) != 0),
        ("i8 << 2 > 8", (V["i8"] << 2) > 8),
        ("u8 > -1", EVERY),
        ("u8 < i8", NONE),
        ("u8 >= 2**63", V["u8"] >= 2**63),
        ("u8 == 2**64", NONE),
        ("b", V["b"]),
        ("bits & ~b", V["bits"] & ~V["b"]),
        ("bits == True", V["bits"]),
        ("True", EVERY),
        ("not 1 < 2", NONE),
        ("'a' < 'b' and b", V["b"]),
        ("c16.real > 0", V["c16"].real > 0),
        ("abs(c16) > 1.5", abs(V["c16"]) > 1.5),
        ("complex(i1, 1) == 2 + 1j", V["i1"] == 2),
        ("sqrt(abs(f8)) > where(b, 0.5, 1)", np.sqrt(abs(V["f8"])) > np.where(V["b"], 0.5, 1)),
        ("arcsin(sin(f4)) < arctan2(i1, 2)", np.arcsin(np.sin(V["f4"])) < np.arctan2(V["i1"], 2)),
        ("floor(f8) != ceil(f8)", np.floor(V["f8"]) != np.ceil(V["f8"])),
        ("isnan(f4) | (maximum(i1, 0) == 0)", np.isnan(V["f4"]) | (V["i1"] <= 0)),
        ("round(f8) == 3", V["f8"].round() == 3),
        ("clip(i8, 0, 5) == 5", V["i8"] >= 5),
        ("i8 > mean(i8)", V["i8"] > V["i8"].mean()),
        ("f8 < inf and pi > 3", V["f8"] < np.inf),
        ("s == 'ab'", V["s"] == b"ab"),
        ("s >= b'ab'", V["s"] >= b"ab"),
        ("'ab' != s", V["s"] != b"ab"),
        ("u in ('é', 'ab')", np.isin(V["u"], ["é", "ab"])),
        ("s.startswith('a') & contains(s, 'c')", V["s"] == b"abc"),
        ("endswith(s, b'b') or 'z' in s", np.isin(V["s"], [b"ab", b"a\0b", b"zz"])),
        ("upper(s) == 'AB'", V["s"] == b"ab"),
        ("startswith(lower(u), 'a')", np.char.startswith(V["u"].astype("<U5"), "a")),
        ("text == 'ab' or text > 'b'", texts("text", lambda x: x == "ab" or x > "b")),
        ("'é' in text", texts("text", lambda x: "é" in x)),
        ("'é' not in text", texts("text", lambda x: "é" not in x)),
        ("text not in ('ab', 'b')", ~among("text", "ab", "b")),
        ("ntext != 'ab'", texts("ntext", lambda x: x != "ab")),
        ("ntext is null", M["ntext"]),
        (
            "ntext is not null and not ntext.endswith('b')",
            ~texts("ntext", lambda x: x.endswith("b")) & ~M["ntext"],
        ),
        ("ntext == None", M["ntext"]),
        ("ntext != null", ~M["ntext"]),
        ("text is null", NONE),
        ("info.fruit == 'pear'", (FRUIT == "pear") & ~M["info/fruit"]),
        ("info.fruit != 'pear'", (FRUIT != "pear") & ~M["info/fruit"]),
        ("not info.fruit != 'pear'", (FRUIT == "pear") | M["info/fruit"]),
        ("info.fruit in ('pear', 'plum', 'fig')", among("info/fruit", "pear", "plum")),
        ("info.fruit.startswith('p')", texts("info/fruit", lambda x: x.startswith("p"))),
        ("info.fruit == text", (V["text"] == FRUIT) & ~M["info/fruit"]),
        ("col('info.fruit') > 'p'", (FRUIT > "p") & ~M["info/fruit"]),
        ("col('info/nint') == 2", (NINT == 2) & ~M["info/nint"]),
        ("info.nint != 2", (NINT != 2) & ~M["info/nint"]),
        ("info.nint + nfloat > i1", (NINT + V["nfloat"] > V["i1"]) & ~M["info/nint"] & ~M["nfloat"]),
        ("0 < info.nint < 3", (NINT > 0) & (NINT < 3) & ~M["info/nint"]),
        ("info.nint in (1, None)", (NINT == 1) | M["info/nint"]),
        ("isnull(info.nint * 2)", M["info/nint"]),
        ("notnull(nfloat)", ~M["nfloat"]),
        ("nbool", V["nbool"] & ~M["nbool"]),
        ("nbool | b", (V["nbool"] & ~M["nbool"]) | V["b"]),
        ("level * 2 > 4", (V["level"] * 2 > 4) & ~M["level"]),
        ("f8 is null", np.isnan(V["f8"])),
        (
            "f8 / i1 is not null",
            ~np.isnan(V["f8"] / np.where(V["i1"] == 0, np.nan, V["i1"]))
            | (V["i1"] == 0) & ~np.isnan(V["f8"]) & (V["f8"] != 0),
        ),
        ("enum == 'red' or enum in ('blue',)", np.isin(V["enum"], [0, -3])),
        ("enum + 1 > 1", V["enum"] > 0),
        ("t64 < -0.25", V["t64"] < -0.25),
        ("1 <= t64 * 2 <= 3", (V["t64"] * 2 >= 1) & (V["t64"] * 2 <= 3)),
        ("t64 < '1970-01-01'", V["t64"] < 0),
        ("date >= '2020-01-01'", V["date"] >= np.datetime64("2020-01-01")),
        ("date is null", np.isnat(V["date"])),
        ("date in ('1970', '2020-01-01T00:00:01')", np.isin(V["date"], np.array([0, 1577836801], "M8[s]"))),
        ("date + span > '2020-01-01'", V["date"] + V["span"] > np.datetime64("2020-01-01")),
        ("pos[1, 2] > 2", POS[:, 1, 2] > 2),
        ("pos[0, -1] + pos[1, 0] == i1", POS[:, 0, -1] + POS[:, 1, 0] == V["i1"]),
        ("i1 in (1, 2.0, 300, -9)", np.isin(V["i1"], [1, 2, -9])),
        ("i1 not in [1, 2]", ~np.isin(V["i1"], [1, 2])),
        ("i1 in (i8, 3)", (V["i1"] == V["i8"]) | (V["i1"] == 3)),
        ("i1 + 1 in (1, 2)", np.isin(V["i1"], [0, 1])),
        ("isin(i1, (1, 2)) | i8.isin([3])", np.isin(V["i1"], [1, 2]) | (V["i8"] == 3)),
        ("3 in (1, 3)", EVERY),
        ("i1 in ()", NONE),
        ("( i1\n > \n 3 # so it is\n)", V["i1"] > 3),
        ("i1 > k", V["i1"] > 2, {"k": 2}),
        ("i1 > k", V["i1"] > 2, {"k": np.int64(2)}),
        ("u8 > k", V["u8"] > 2**63, {"k": np.uint64(2**63)}),
        ("i1 > k", V["i1"] > SOME, {"k": SOME}),
        ("i1 > k", V["i1"] > SOME, {"k": cq.asarray(SOME)}),
        ("i1 > k", V["i1"] > V["i8"], {"k": COLUMNS["i8"].array()}),
        ("x == k", FRUIT == TEXTS, {"x": COLUMNS["info/fruit"].array(), "k": TEXTS}),
        ("s == k", V["s"] == TEXTS.astype("S"), {"k": TEXTS.astype("S")}),
        ("text == k", V["text"] == TEXTS, {"k": TEXTS}),
        ("i1 in k", np.isin(V["i1"], SOME[:9]), {"k": SOME[:9]}),
        ("i1 in k", np.isin(V["i1"], [1, 5]), {"k": {1, 5}}),
        ("f8 + 1 in k", np.isin(V["f8"] + 1, np.arange(40) / 2), {"k": np.arange(40) / 2}),
        ("s in k", np.isin(V["s"], [b"ab"]), {"k": ["ab", "q"]}),
        ("s == k", V["s"] == b"ab", {"k": np.str_("ab")}),
        ("date >= k", V["date"] >= np.datetime64("2020-01-01"), {"k": datetime.date(2020, 1, 1)}),
        ("date >= k", V["date"] >= np.datetime64("2020-01-01"), {"k": datetime.datetime(2020, 1, 1)}),
        ("date in k", V["date"] == np.datetime64("2020-01-01"), {"k": [datetime.date(2020, 1, 1)]}),
        ("span < k", V["span"] < np.timedelta64(5, "s"), {"k": datetime.timedelta(seconds=5)}),
        ("date + k > '2020-01-02'", V["date"] > np.datetime64("2020-01-01"), {"k": np.timedelta64(1, "D")}),
        ("i1 > i8", V["i1"] > 1, {"i8": 1}),
    ]


CONDITIONS = conditions()


@pytest.mark.parametrize("case", CONDITIONS, ids=[one[0] for one in CONDITIONS])
def test_conditions_mean_what_numpy_computes(case: tuple[Any, ...]) -> None:
    text, wanted, params = (*case, {})[:3]
    found = read(condition(text, COLUMNS, params))
    if text == "x == k":
        wanted = wanted & ~M["info/fruit"]
    assert found.dtype == bool
    np.testing.assert_array_equal(found, wanted)


@settings(max_examples=150)
@given(data=st.data())
def test_random_conditions_are_those_of_numpy(data: Any) -> None:
    numbers = {"i1": V["i1"], "i8": V["i8"], "f8": V["f8"], "u8": V["u8"], "enum": V["enum"], "t64": V["t64"]}
    names = {**numbers, "b": V["b"], "bits": V["bits"]}
    leaf = st.sampled_from(list(numbers)) | st.integers(-5, 5).map(str) | st.sampled_from(["0.5", "2**63"])
    column = st.sampled_from(list(numbers))
    compare = st.builds("{} {} {}".format, column, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), leaf)
    simple = st.builds("({})".format, compare) | st.sampled_from(["b", "bits"])
    text = data.draw(
        st.recursive(
            simple,
            lambda inner: (
                st.builds("({} {} {})".format, inner, st.sampled_from("&|^"), inner)
                | st.builds("~{}".format, inner)
            ),
            max_leaves=6,
        )
    )
    with np.errstate(all="ignore"):
        wanted = eval(text, {"__builtins__": {}}, names)
    np.testing.assert_array_equal(read(condition(text, COLUMNS)), wanted)


#: Text, the beginning of the message, and the column of the caret.
ERRORS = [
    ("", "the text is empty", 0),
    ("i1 >", "the text ends too early", 4),
    ("i1 > 1 & i8 < 2", "& goes before comparisons", 5),
    ("bits & i1 > 1", "& goes before comparisons", 0),
    ("price > 1", "'price' is not a column (i1, i8", 0),
    ("i1 > price", "'price' is not a column", 5),
    ("info > 1", "'info' has columns in it: info.fruit, info.nint", 0),
    ("info.x > 1", "'info.x' is not a column", 0),
    ("i1.x > 1", "'.x': columns have", 0),
    ("sqrt > 1", "'sqrt' is a function", 0),
    ("i1 in 3", "behind 'in' stand values", 6),
    ("i1 is 3", "'is' asks for null", 6),
    ("i1 > 1 if b else b", "'if' and 'else'", 0),
    ("[x for x in i1]", "a comprehension", 1),
    ("(lambda: 1)() > i1", "lambda: not a part", 1),
    ("__import__('os')", "'__import__' is not a function", 0),
    ("i1.__class__", "'.__class__': columns have", 0),
    ("pos[9, 0] > 1", "index 9 is out of bounds", 0),
    ("pos[:] > 1", "parts are named by integers", 4),
    ("pos[i1] > 1", "parts are named by integers", 4),
    ("f8[0] > 1", None, 0),
    ("1 / 0 > i1", "division by zero", 0),
    ("10.0 ** 1000 > i1", "Result too large", 0),
    ("2 ** 9999 > i1", "an integer of", 0),
    ("col('nothing') > 1", "'nothing' is not a column", 4),
    ("startswith(text)", "startswith takes 2 operands", 0),
    ("i1 > None", "None: not a part", 5),
    ("x" * (TEXT_MAX + 1), f"{TEXT_MAX + 1} characters", 0),
    ("(" * 300 + "b" + ")" * 300, "too", 0),
    ("~" * (DEPTH_MAX + 2) + "b", "more than", DEPTH_MAX + 1),
]


@pytest.mark.parametrize(("text", "message", "column"), ERRORS, ids=[one[0][:20] for one in ERRORS])
def test_errors_show_the_place(text: str, message: str | None, column: int) -> None:
    with pytest.raises((ExpressionError, TypeError)) as caught:
        condition(text, COLUMNS)
    shown = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert message is None or shown.startswith(message)
    if isinstance(caught.value, ExpressionError) and "\n" in shown and len(text) < 60:
        assert (caught.value.column, shown.splitlines()[-1].index("^")) == (column, column + 2)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("i1", "i1.* is no condition"),
        ("i1 + 1", "gives bool for each row, not int"),
        ("nfloat", "nfloat.* is no condition"),
        ("3", "gives bool"),
        ("text", "no condition"),
        ("f8 & b", "& takes conditions or integers, not"),
        ("b and i1", "and takes conditions, not int8"),
        ("not i1", "not takes conditions, not int8"),
        ("i1 > 'x'", "not compared by > with text, 'x'"),
        ("s > 1", "not compared by > with 1"),
        ("text + 1 > 2", "not computed with"),
        ("text == i1", "not compared"),
        ("startswith(i1, 'a')", "startswith takes text"),
        ("pos > 1", r"pos\[0, 0\] is one"),
        ("date > 5", "compared with a date"),
        ("date > 'soon'", "'soon' is no date"),
        ("enum == 'pink'", "'pink' is not one of red"),
        ("enum < 'red'", "no order"),
        ("round(nfloat) > 1", "can be missing"),
        ("sum(nfloat) > 1", "can be missing"),
        ("c16 > i1 + 'a'", "not computed with"),
        ("size > 'fig'", "not one of its ordered"),
    ],
)
def test_values_that_do_not_fit_are_named(text: str, match: str) -> None:
    with pytest.raises((TypeError, ValueError), match=match):
        condition(text, COLUMNS)


@pytest.mark.parametrize("value", [[1, 2], SOME[:7], np.zeros((N, 2)), object(), None, {"a": 1}])
def test_parameters_that_do_not_fit_are_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        condition("i1 > k", COLUMNS, {"k": value})


def test_no_variables_of_the_caller_are_looked_at() -> None:
    limit = 3
    with pytest.raises(ExpressionError, match=r"params=\{'limit': \.\.\.\}"):
        condition("i1 > limit", COLUMNS)
    assert read(condition("i1 > limit", COLUMNS, {"limit": limit})).any()


def test_expressions_give_values() -> None:
    for text, wanted in (
        ("i1 * 2 + f8", V["i1"] * 2 + V["f8"]),
        ("info.nint + 1", np.where(M["info/nint"], np.nan, NINT + 1.0)),
        ("info.nint", np.where(M["info/nint"], np.nan, NINT)),
        ("nbool", V["nbool"] & ~M["nbool"]),
        ("t64", V["t64"]),
        ("2.5", np.full(N, 2.5)),
        ("date", V["date"]),
        ("pos[0, 1]", POS[:, 0, 1]),
    ):
        found = read(expression(text, COLUMNS))
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype.newbyteorder("=") == wanted.dtype.newbyteorder("=")
    with pytest.raises(TypeError, match="not computed with"):
        expression("text", COLUMNS)


def test_conditions_as_expressions() -> None:
    lazy = Expr(condition("i1 > 3", COLUMNS)) & V["b"]
    for value, wanted in (
        (lazy, (V["i1"] > 3) & V["b"]),
        (V["b"], V["b"]),
        (cq.asarray(V["b"]), V["b"]),
        (COLUMNS["bits"], V["bits"]),
        (COLUMNS["bits"].array(), V["bits"]),
        (COLUMNS["nbool"], V["nbool"] & ~M["nbool"]),
        (True, EVERY),
        (np.False_, NONE),
    ):
        np.testing.assert_array_equal(read(as_condition(value, COLUMNS)), wanted)
    for wrong in (V["i1"], COLUMNS["i1"], 3, V["b"][:5], COLUMNS["pos"]):
        with pytest.raises((TypeError, ValueError)):
            as_condition(wrong, COLUMNS)
