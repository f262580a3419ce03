"""The standard's functions of items, and the operators of arrays, beside the strict implementation."""

from __future__ import annotations

import inspect
import math
import operator

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

import coquina as cq
from coquina.functions.elementwise import __all__ as OURS

from .cases import (
    BOOLS,
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REALS,
    agree,
    arrays,
    assert_same,
    broadcastable,
    law,
    lazily,
    ours_of,
    quietly,
    scalars,
    strict_of,
)

NAMES = sorted(set(OURS) & set(strict.__all__) - {"where", "clip"})
ARITY = {name: len(inspect.signature(getattr(strict, name)).parameters) for name in NAMES}
UNARY = [name for name in NAMES if ARITY[name] == 1]
BINARY = [name for name in NAMES if ARITY[name] == 2]

#: Functions whose results depend on how they are computed; of others all bits are equal.
ROUNDED = frozenset(
    (
        *[
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atan2",
            "atanh",
            "cos",
            "cosh",
            "exp",
            "expm1",
            "hypot",
            "log",
            "log10",
            "log1p",
        ],
        *["log2", "logaddexp", "pow", "sin", "sinh", "tan", "tanh", "__pow__", "__ipow__"],
    )
)

#: Where NumPy decides otherwise: of complex numbers that are not finite the signs are not all NaN.
JUDGES = {"sign": np.sign}

OPERATORS = {
    "__add__": operator.add,
    "__sub__": operator.sub,
    "__mul__": operator.mul,
    "__truediv__": operator.truediv,
    "__floordiv__": operator.floordiv,
    "__mod__": operator.mod,
    "__pow__": operator.pow,
    "__and__": operator.and_,
    "__or__": operator.or_,
    "__xor__": operator.xor,
    "__lshift__": operator.lshift,
    "__rshift__": operator.rshift,
    "__eq__": operator.eq,
    "__ne__": operator.ne,
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
}
IN_PLACE = {
    "__iadd__": operator.iadd,
    "__isub__": operator.isub,
    "__imul__": operator.imul,
    "__itruediv__": operator.itruediv,
    "__ifloordiv__": operator.ifloordiv,
    "__imod__": operator.imod,
    "__ipow__": operator.ipow,
    "__iand__": operator.iand,
    "__ior__": operator.ior,
    "__ixor__": operator.ixor,
    "__ilshift__": operator.ilshift,
    "__irshift__": operator.irshift,
}
ULPS = 4


def ulps_of(name, *operands):
    """Return how much results may differ: magnitudes of complex numbers are roots of sums of squares."""
    is_magnitude = "abs" in name and np.iscomplexobj(operands[0])
    return ULPS if name in ROUNDED or is_magnitude else 0


def is_allowed(function, *dtypes):
    try:
        with quietly():
            function(*[strict.ones(1, dtype=getattr(strict, dtype)) for dtype in dtypes])
    except TypeError:
        return False
    return True


def pairs_of(function):
    return [(one, other) for one in DTYPES for other in DTYPES if is_allowed(function, one, other)]


def second_operands(name):
    """What the second operand may be: shifts stay within the item, powers of integers are not negative."""
    if "shift" in name:
        return lambda dtype: st.integers(0, np.dtype(dtype).itemsize * 8 - 1)
    if "pow" in name:
        return lambda dtype: st.integers(0, 9) if np.dtype(dtype).kind in "iu" else scalars(dtype)
    return scalars


@pytest.mark.parametrize("name", UNARY)
@law()
def test_a_function_of_one_operand(data, name):
    dtypes = [dtype for dtype in DTYPES if is_allowed(getattr(strict, name), dtype)]
    x = data.draw(arrays(st.sampled_from(dtypes)))
    agree(name, x, ulps=ulps_of(name, x), judge=JUDGES.get(name))


def takes_other_roots(name, x1, x2):
    """Whether NumPy takes a root for a power, as it does of an exponent without axes that is 0.5.

    Roots of -inf and -0.0 are not those powers that the standard, and NumPy for exponents with axes, have.
    """
    if name not in ("pow", "__pow__", "__ipow__") or np.asarray(x1).dtype.kind != "f":
        return False
    if not isinstance(x2, np.ndarray) or x2.ndim or x2 != 0.5:
        return False
    return bool(np.any(np.signbit(x1) & (np.isinf(x1) | (x1 == 0))))


@pytest.mark.parametrize("name", BINARY)
@law()
def test_a_function_of_two_operands(data, name):
    dtypes = data.draw(st.sampled_from(pairs_of(getattr(strict, name))))
    x1, x2 = data.draw(broadcastable(dtypes))
    if second_operands(name) is not scalars:
        x2 = data.draw(arrays(dtypes[1], st.just(x2.shape), second_operands(name)))
    assume(not takes_other_roots(name, x1, x2))
    agree(name, x1, x2, ulps=ulps_of(name))


def scalars_for(dtype):
    """Python scalars that may meet an array of this dtype: of its kind, or of one below."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return st.booleans()
    if kind in "iu":
        return scalars(dtype)
    whole = st.integers(-5, 5)
    return whole | scalars("float32") if kind == "f" else whole | scalars("float32") | scalars("complex64")


@pytest.mark.parametrize("name", BINARY)
@law()
def test_a_python_scalar_takes_on_the_dtype_of_the_array(data, name):
    pairs = pairs_of(getattr(strict, name))
    dtype = data.draw(st.sampled_from(sorted({one for one, other in pairs if one == other})))
    x = data.draw(arrays(dtype, elements=second_operands(name)))
    scalar = data.draw(scalars_for(dtype))
    if second_operands(name) is not scalars and np.dtype(dtype).kind in "iu":
        scalar = data.draw(st.integers(0, 7))
    agree(name, *((x, scalar) if data.draw(st.booleans()) else (scalar, x)), ulps=ulps_of(name))


def assert_operator(name, call, *operands):
    """Check an operator of arrays, and of lazy ones."""
    theirs = call(*map(strict_of, operands))
    for is_lazy in (False, True):
        with lazily(is_lazy):
            assert_same(call(*map(ours_of, operands)), theirs, ulps_of(name, *operands))


@pytest.mark.parametrize("name", OPERATORS)
@law()
def test_an_operator_of_two_arrays(data, name):
    call = OPERATORS[name]
    dtypes = data.draw(st.sampled_from(pairs_of(call)))
    x1, x2 = data.draw(broadcastable(dtypes))
    if second_operands(name) is not scalars:
        x2 = data.draw(arrays(dtypes[1], st.just(x2.shape), second_operands(name)))
    assume(not takes_other_roots(name, x1, x2))
    assert_operator(name, call, x1, x2)


@pytest.mark.parametrize("name", OPERATORS)
@law()
def test_an_operator_with_a_python_scalar_on_either_side(data, name):
    call = OPERATORS[name]
    dtype = data.draw(st.sampled_from(sorted({one for one, other in pairs_of(call) if one == other})))
    x = data.draw(arrays(dtype, elements=second_operands(name)))
    scalar = data.draw(scalars_for(dtype))
    if second_operands(name) is not scalars and np.dtype(dtype).kind in "iu":
        scalar = data.draw(st.integers(0, 7))
    assert_operator(name, call, *((x, scalar) if data.draw(st.booleans()) else (scalar, x)))


@pytest.mark.parametrize("name", IN_PLACE)
@law()
def test_an_operator_in_place(data, name):
    call = IN_PLACE[name]
    pairs = [
        (one, other)
        for one, other in pairs_of(OPERATORS[name.replace("__i", "__")])
        if one == str(strict.result_type(getattr(strict, one), getattr(strict, other))).rsplit(".", 1)[-1]
        and (name != "__itruediv__" or one in FLOATS)
    ]
    dtypes = data.draw(st.sampled_from(pairs))
    x1 = data.draw(arrays(dtypes[0]))
    scalar_dtype = dtypes[0] if data.draw(st.booleans()) else None
    if scalar_dtype:
        x2 = data.draw(second_operands(name)(scalar_dtype))
    else:
        shape = x1.shape[data.draw(st.integers(0, x1.ndim)) :]
        x2 = data.draw(arrays(dtypes[1], st.just(shape), second_operands(name)))
    assume(not takes_other_roots(name, x1, x2))
    # The strict arrays have bugs of their own here; NumPy's are what theirs are made of.
    theirs = x1.copy()
    theirs = call(theirs, x2)
    ours = ours_of(x1)
    assert_same(call(ours, ours_of(x2)), theirs, ulps_of(name))


@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("__abs__", NUMBERS),
        ("__neg__", INTEGERS + FLOATS),
        ("__pos__", NUMBERS),
        ("__invert__", BOOLS + INTEGERS),
    ],
)
@law()
def test_an_operator_of_one_array(data, name, dtypes):
    x = data.draw(arrays(st.sampled_from(dtypes)))
    assert_operator(name, lambda one: getattr(one, name)(), x)


@law(10)
def test_where_takes_items_by_a_condition(data):
    pairs = pairs_of(lambda x1, x2: strict.where(strict.ones(1, dtype=strict.bool), x1, x2))
    condition, x1, x2 = data.draw(broadcastable(("bool", *data.draw(st.sampled_from(pairs)))))
    agree("where", condition, x1, x2)
    agree("where", condition, x1, data.draw(scalars_for(x1.dtype.name)))


@law(10)
def test_clip_keeps_items_within_limits(data):
    dtype = data.draw(st.sampled_from(INTEGERS + REALS))
    x, low, high = data.draw(broadcastable((dtype, dtype, dtype)))
    low, high = np.broadcast_arrays(np.minimum(low, high), np.maximum(low, high))
    low, high = (
        data.draw(st.sampled_from([None, limit, limit[(0,) * limit.ndim].item() if limit.size else None]))
        for limit in (low, high)
    )
    expected = x if low is None and high is None else np.clip(x, low, high)
    for is_lazy in (False, True):
        with lazily(is_lazy):
            assert_same(cq.clip(ours_of(x), min=ours_of(low), max=ours_of(high)), expected)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_every_special_case(name, dtype):
    """Infinities, NaN, zeros of both signs, ones, and the ends of the range, in every combination."""
    if not is_allowed(getattr(strict, name), *[dtype] * ARITY[name]):
        pytest.skip("not of this dtype")
    limits = np.finfo(dtype)
    ends = [limits.max, limits.min, limits.tiny, limits.smallest_subnormal]
    angles = [math.pi / 2, math.pi, 1.5, -1.5, 3.0, -3.0]
    items = np.asarray([0.0, -0.0, 1, -1, 0.5, -0.5, math.inf, -math.inf, math.nan, *ends, *angles], dtype)
    with quietly():
        operands = [items] if ARITY[name] == 1 else [np.repeat(items, len(items)), np.tile(items, len(items))]
        agree(name, *operands, ulps=ulps_of(name, *operands))


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_every_special_case_of_complex_numbers(name, dtype):
    if not is_allowed(getattr(strict, name), *[dtype] * ARITY[name]):
        pytest.skip("not of this dtype")
    parts = [0.0, -0.0, 1.0, -1.0, 2.5, math.inf, -math.inf, math.nan]
    items = np.asarray([complex(re, im) for re in parts for im in parts], dtype)
    with quietly():
        operands = [items] if ARITY[name] == 1 else [np.repeat(items, len(items)), np.tile(items, len(items))]
        agree(name, *operands, ulps=ulps_of(name, *operands), judge=JUDGES.get(name))


@pytest.mark.parametrize("name", ["pow", "__pow__"])
def test_negative_powers_of_integers_are_an_error(name):
    x = cq.asarray([1, 2])
    for power in (-1, cq.asarray([-1, 1])):
        with pytest.raises(ValueError, match="negative integer powers"):
            _ = (x**power if name == "__pow__" else cq.pow(x, power))[...]


def test_shapes_that_do_not_broadcast_are_an_error():
    with pytest.raises(ValueError, match="broadcast"):
        cq.add(cq.ones(3), cq.ones(4))
    with lazily(), pytest.raises(ValueError, match="broadcast"):
        cq.add(cq.ones(3), cq.ones(4))


def test_numpy_names_are_the_same_functions():
    aliases = {
        "absolute": "abs",
        "arccos": "acos",
        "power": "pow",
        "true_divide": "divide",
        "mod": "remainder",
    }
    for alias, name in aliases.items():
        assert getattr(cq, alias) is getattr(cq, name)
    for name in OURS:
        assert getattr(cq, name).__doc__
        assert not any(
            p.kind is p.VAR_KEYWORD for p in inspect.signature(getattr(cq, name)).parameters.values()
        )
