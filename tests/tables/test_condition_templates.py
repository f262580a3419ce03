"""What is kept of a condition gives for others with other numbers what reading these gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.expressions.functions import quietly
from coquina.expressions.nodes import Call, Cast, Constant, Leaf, Node
from coquina.tables.condition_templates import Templates
from coquina.tables.conditions import KnownConditions, condition
from tests.tables.column_cases import Model

COLUMNS = Model(2, 50).columns
NAMES = ["i1", "i8", "u8", "f8", "b", "bits"]
SIGNS = ["<", "<=", ">", ">=", "==", "!="]


def shape_of(node: Node) -> Any:
    """Return what tells nodes apart that compute different things."""
    match node:
        case Leaf():
            source: Any = node.source
            return "leaf", source.dtype.str, id(getattr(source, "whole", None) or source)
        case Constant():
            return "constant", node.dtype.str, node.value.tobytes()
        case Cast():
            return "cast", node.dtype.str, shape_of(node.arg)
        case Call():
            return "call", node.function.name, node.shape, *map(shape_of, node.args)
        case _:
            return type(node).__name__, node.dtype.str, node.shape, *map(shape_of, node.args)


def outcome(read: Any, *args: Any) -> Any:
    """Return what a text is read as, or the error with its notes."""
    try:
        return shape_of(read(*args))
    except (ArithmeticError, TypeError, ValueError) as error:
        return type(error), str(error), getattr(error, "__notes__", None)


NUMBERS = st.one_of(
    st.integers(0, 300).map(str),
    st.integers(2**53 - 2, 2**53 + 2).map(str),
    st.integers(2**63 - 2, 2**64 + 2).map(str),
    st.integers(0, 10**60).map(str),
    st.floats(0, allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        ["0", "00", "007", "0.0", "1.", ".5", "1e400", "1e-400", "1E5", "1_000", "0x1f", "2j", "1e5"]
    ),
)
TERMS = st.one_of(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(SIGNS),
        st.sampled_from(["{}", "-{}", "+{}", "(- {})", "--{}"]),
    ),
    st.tuples(st.sampled_from(["{}", "-{}"]), st.sampled_from(SIGNS), st.sampled_from(NAMES)),
    st.tuples(st.sampled_from(NAMES), st.sampled_from(SIGNS), st.sampled_from(NAMES)),
    st.sampled_from(
        [
            ("-{}<=i8<{}",),
            ("{} < f8 != i1 < {}",),
            ("{} < {}",),
            ("i8 + {} > {}",),
            ("b",),
            ("i8 in ({}, {})",),
            ("f8 > nan",),
            ("f8 < -inf",),
            ("pos[{}] > {}",),
            ("info.nint > {}",),
            ("col('i8') > {}",),
            ("i8 > {} is null",),
            ("f8 is null",),
        ]
    ),
).map(" ".join)
TEXTS = st.recursive(
    TERMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&", "|", "^", "and", "or"]), inner).map(
            "({0[0]}) {0[1]} ({0[2]})".format
        ),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map("{0[0]} {0[1]} {0[2]}".format),
        st.tuples(st.sampled_from(["~", "not "]), inner).map("{0[0]}({0[1]})".format),
    ),
    max_leaves=4,
)


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.lists(st.lists(NUMBERS, min_size=10, max_size=10), min_size=3, max_size=5))
@example("-{}<=i8<{}", [["9007199254740993"] * 10] * 4)
@example("f8 > -{}", [["0"] * 10, ["0.0"] * 10, ["0.0"] * 10, ["0"] * 10])
@example("u8 == {}", [["1"] * 10, ["1"] * 10, [str(2**64)] * 10, ["1.0"] * 10])
@example("i8 > {} or i1 > {}", [["0b0", "1"], ["0b0", "2"], ["1b0", "3"]])
@example("f8 < {}", [["1"] * 10, ["2"] * 10, [str(10**400)] * 10])
def test_what_is_kept_means_what_is_read(template, rounds):
    known = KnownConditions()
    for numbers in rounds:
        text = template.format(*numbers)
        found = quietly(outcome, known.node, text, COLUMNS, None)
        assert found == quietly(outcome, condition, text, COLUMNS)


@pytest.mark.parametrize(
    "template",
    [
        "i8 > {0}",
        "(f8 > -{0}) & (f8 < {1}) | ~(u8 == {2})",
        "{0} <= i8 < {1} and not b == {2}",
        "  i1 > {0}  ",
    ],
)
def test_the_third_of_its_kind_is_not_read(template):
    templates = Templates(COLUMNS)
    for numbers in ((1, 2, 0), (3, 4.5, 1)):
        text = template.format(*numbers)
        assert templates.node(text) is None
        templates.told(text)
    text = template.format(5, 6.25, 1)
    found = templates.node(text)
    assert found is not None
    assert shape_of(found) == shape_of(condition(text, COLUMNS))


@pytest.mark.parametrize(
    "template", ["i8 + {} > 1", "i8 in ({}, 2)", "f8 > {}j", "fruit == 'a' and i8 > {}", "{} < 2"]
)
def test_all_else_is_read(template):
    templates = Templates(COLUMNS)
    for number in range(4):
        assert templates.node(template.format(number)) is None
        templates.told(template.format(number))


def test_it_follows_the_table(tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"x": "f8", "y": "i8"}) as table:
        for count in range(1, 6):
            table.append({"x": [count + 0.5], "y": [count]})
            y = np.arange(1, count + 1)
            for at in range(6):
                found = table.where(f"x > {at} and y <= {at + 2}").row_numbers()
                np.testing.assert_array_equal(found, np.flatnonzero((y + 0.5 > at) & (y <= at + 2)))
        table.add_column("z", np.arange(5))
        for at in range(4):
            assert table.where(f"z < {at}").count() == at
