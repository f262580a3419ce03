"""Expressions equal what NumPy computes of the same arrays: dtype, shape and values; NumPy is the judge."""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import coquina as cq
from coquina.expressions.expression import Expr
from tests.expression_cases import (
    NUMBERS,
    SCALARS,
    check,
    evaluated,
    good_key,
    is_same,
    lazy,
    outcome,
    values_of,
)

BINARY = [
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder"),
    *("fmod", "power", "maximum", "minimum", "fmax", "fmin"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("left_shift", "right_shift", "hypot", "arctan2", "copysign", "nextafter"),
    *("heaviside", "gcd", "lcm", "logaddexp"),
]
UNARY = [
    *("negative", "positive", "absolute", "fabs", "square", "sqrt"),
    *("cbrt", "reciprocal", "sign", "conjugate", "logical_not", "invert"),
    *("floor", "ceil", "trunc", "rint", "exp", "expm1"),
    *("log", "log1p", "sin", "cos", "tan", "arctan"),
    *("sinh", "tanh", "arcsinh", "deg2rad", "isnan", "isinf"),
    *("isfinite", "signbit", "spacing"),
]
SHAPES = npst.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4, min_side=0)
pytestmark = pytest.mark.usefixtures("laziness")
SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=20)
@given(SHAPES, st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), SEEDS)
def test_functions_of_two_arrays_are_those_of_numpy(name, shapes, left, right, seed):
    x, y = values_of(left, shapes.input_shapes[0], seed), values_of(right, shapes.input_shapes[1], seed + 1)
    check(outcome(evaluated, name, x, y), outcome(getattr(np, name), x, y))


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=20)
@given(st.sampled_from(NUMBERS), st.sampled_from((*SCALARS, 1000, -(2**40), 2**62)), st.booleans(), SEEDS)
def test_functions_of_an_array_and_a_scalar_are_those_of_numpy(name, dtype, scalar, is_first, seed):
    x = values_of(dtype, (5,), seed)
    operands = (scalar, x) if is_first else (x, scalar)
    check(outcome(evaluated, name, *operands), outcome(getattr(np, name), *operands))


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=15)
@given(st.sampled_from(NUMBERS), SEEDS)
def test_functions_of_one_array_are_those_of_numpy(name, dtype, seed):
    x = values_of(dtype, (2, 3), seed)
    check(outcome(evaluated, name, x), outcome(getattr(np, name), x))


@settings(max_examples=60)
@given(SHAPES, st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), st.sampled_from(SCALARS), SEEDS)
def test_where_is_that_of_numpy(shapes, left, right, scalar, seed):
    mask = values_of("i4", shapes.input_shapes[0], seed) > 0
    x, y = values_of(left, shapes.input_shapes[1], seed), values_of(right, shapes.input_shapes[0], seed + 1)
    for one, other in ((x, y), (x, scalar), (scalar, y)):
        wanted = outcome(np.where, mask, one, other)
        check(outcome(evaluated, "where", mask, one, other), wanted)


OPERATORS = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lshift,
    operator.rshift,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
)


@pytest.mark.parametrize("apply", OPERATORS, ids=lambda apply: apply.__name__)
@settings(max_examples=30)
@given(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), st.sampled_from(SCALARS), SEEDS)
def test_operators_are_those_of_numpy(apply, left, right, scalar, seed):
    x, y = values_of(left, (2, 3), seed), values_of(right, (3,), seed + 1)
    pairs = [(x, y), (x, scalar), (scalar, x)]
    for one, other in pairs:
        wanted = outcome(apply, one, other)
        for wrap in (cq.asarray, lazy, lambda a: cq.asarray(a).view(...)):
            mine = [wrap(a) if isinstance(a, np.ndarray) else a for a in (one, other)]
            check(outcome(apply, *mine), wanted)
            # NumPy's arrays let ours answer.
            check(outcome(apply, one, mine[1]), wanted)


def test_operators_of_one_operand_are_those_of_numpy():
    x = values_of("f8", (7,), 3)
    for wrap in (cq.asarray, lazy):
        for apply in (operator.neg, operator.pos, abs):
            check(apply(wrap(x)), apply(x))
        check(~wrap(x > 0), ~(x > 0))
        for found, wanted in zip(divmod(wrap(x), 2), outcome(divmod, x, 2), strict=True):
            check(found, wanted)


@st.composite
def trees(draw, operands, depth=4):
    """Draw a function from a list of arrays, ours or NumPy's, to an array: a tree of a few operators.

    They are those with one right answer: what is not quite exact would grow on the way up.
    """
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(0, operands - 1))
        return lambda arrays: arrays[at]
    kind = draw(st.integers(0, 5))
    left = draw(trees(operands, depth - 1))
    if kind == 0:
        name = draw(st.sampled_from(("sqrt", "negative", "absolute", "floor", "square", "isnan", "sign")))
        return lambda arrays: getattr(np, name)(left(arrays))
    if kind == 1:
        scalar = draw(st.sampled_from((1, 2, 0.5)))
        return lambda arrays: left(arrays) * scalar
    right = draw(trees(operands, depth - 1))
    if kind == 2:
        return lambda arrays: np.where(left(arrays) > right(arrays), left(arrays), right(arrays))
    apply = draw(st.sampled_from((operator.add, operator.sub, operator.mul, operator.truediv, np.maximum)))
    return lambda arrays: apply(left(arrays), right(arrays))


@settings(max_examples=120)
@given(
    trees(3),
    npst.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=5, min_side=1),
    st.lists(st.sampled_from(("u1", "i4", "i8", "f4", "f8")), min_size=3, max_size=3),
    SEEDS,
)
def test_trees_of_arrays_equal_numpy(tree, shapes, dtypes, seed):
    arrays = [
        values_of(dtype, shape, seed + at)
        for at, (dtype, shape) in enumerate(zip(dtypes, shapes.input_shapes, strict=True))
    ]
    wanted = outcome(tree, arrays)
    found = outcome(tree, [lazy(cq.asarray(x)) for x in arrays])
    if isinstance(wanted, Exception):
        check(found, wanted)
        return
    wanted = np.asarray(wanted)
    assert (found.shape, found.dtype, found.ndim, found.size) == (
        wanted.shape,
        wanted.dtype,
        wanted.ndim,
        wanted.size,
    )
    check(found, wanted)
    if isinstance(found, Expr):
        check(found.compute(), wanted)
    key = good_key(seed, wanted.shape)
    part = found[key]
    assert type(part) is type(wanted[key])
    assert is_same(np.asarray(part), wanted[key])


STRINGS = np.array(["", "a", "Abc", "abc d", " x ", "12"])
TIMES = np.array(["2020-01-01", "NaT", "1969-12-31", "2024-02-29"], "M8[D]")


@pytest.mark.parametrize("kind", ["U", "S"])
def test_functions_of_strings_are_those_of_numpy(kind):
    x = STRINGS.astype(kind)
    a, word = cq.asarray(x), np.array("a").astype(kind)[()]
    for name in (
        "str_len",
        "upper",
        "lower",
        "strip",
        "isalpha",
        "isdigit",
        "title",
        "swapcase",
        "capitalize",
    ):
        wanted = getattr(np.strings, name)(x)
        check(getattr(cq.strings, name)(a), wanted)
        check(getattr(cq.strings, name)(lazy(a)), wanted)
    for name in ("startswith", "endswith", "find", "count"):
        check(getattr(cq.strings, name)(lazy(a), word), getattr(np.strings, name)(x, word))
    check(cq.strings.contains(a, word), np.strings.find(x, word) >= 0)
    for apply in (operator.eq, operator.ne, operator.lt, operator.ge, operator.add):
        check(apply(lazy(a), word), apply(x, word) if apply is not operator.add else np.strings.add(x, word))
        check(apply(a, a), apply(x, x) if apply is not operator.add else np.strings.add(x, x))
    check(outcome(operator.sub, lazy(a), a), outcome(operator.sub, x, x))


@pytest.mark.parametrize("wrap", [cq.asarray, lazy])
def test_dates_and_durations_are_those_of_numpy(wrap):
    day = np.timedelta64(36, "h")
    for apply in (operator.add, operator.sub):
        check(apply(wrap(TIMES), day), apply(TIMES, day))
        check(apply(wrap(TIMES), 5), apply(TIMES, 5))
    gaps = TIMES - TIMES[0]
    check(wrap(TIMES) - TIMES[0], gaps)
    check(wrap(TIMES) < np.datetime64("2000-01-01"), np.datetime64("2000-01-01") > TIMES)
    check(cq.isnat(wrap(TIMES)), np.isnat(TIMES))
    for other in (2, 2.5, day, np.int8(3)):
        check(wrap(gaps) / other, gaps / other)
    check(wrap(gaps) * 3, gaps * 3)
    check(wrap(gaps) // day, outcome(operator.floordiv, gaps, day))
    check(outcome(operator.add, wrap(TIMES), wrap(TIMES)), outcome(operator.add, TIMES, TIMES))


def test_structured_items_are_compared():
    x = np.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f8")])
    for wrap in (cq.asarray, lazy):
        check(wrap(x) == x[0], x == x[0])
        check(wrap(x) != x[0], x != x[0])


def test_python_numbers_out_of_range():
    x = np.arange(-3, 4, dtype="i1")
    e = lazy(x)
    for other in (1000, -1000):
        for apply in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
            check(apply(e, other), apply(x, other))
            check(apply(other, e), apply(other, x))
        with pytest.raises(OverflowError, match="out of bounds for int8"):
            e + other
    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
        e**-1


def test_shapes_that_do_not_broadcast_are_refused_in_numpys_words():
    x, y = np.zeros((3, 4)), np.zeros((2, 4))
    with pytest.raises(ValueError, match="broadcast") as wanted:
        x + y
    for one in (lazy(x), cq.asarray(x)):
        with pytest.raises(ValueError, match="broadcast") as found:
            one + y
        assert str(found.value) == str(wanted.value)


def test_objects_are_refused():
    with pytest.raises(TypeError):
        lazy(np.zeros(3)) + np.array([1, None, 2])


@settings(max_examples=40)
@given(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), SEEDS)
def test_casts_are_those_of_numpy(left, right, seed):
    x = values_of(left, (4, 3), seed)
    if np.dtype(left).kind in "fc" and np.dtype(right).kind in "iu":
        x = np.nan_to_num(x, posinf=3, neginf=2)
        x = np.abs(x).astype(left)  # what is out of range depends on the machine
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = x.astype(right)
    check(lazy(cq.asarray(x)).astype(right), wanted)
    check(cq.asarray(x).astype(right), wanted)
