"""NumPy's ufuncs and functions on our arrays are ours, or are refused."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import coquina as cq
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS
from coquina.expressions.protocols import NUMPY_FUNCTIONS, OTHER_NAMES
from tests.expression_cases import check, lazy, outcome, values_of

X = np.linspace(0.5, 3, 12).reshape(3, 4)
LARGE = np.arange(20_000.0).reshape(100, 200)
pytestmark = pytest.mark.usefixtures("laziness")


def test_ufuncs_are_ours_and_lazy_on_large_arrays():
    a = cq.asarray(LARGE)
    e = np.sqrt(a) + np.add(LARGE, a) * np.float64(2)
    assert isinstance(e, Expr)
    check(e, np.sqrt(LARGE) + (LARGE + LARGE) * 2.0)
    assert any(operand is a for operand in e.operands)


@pytest.mark.parametrize(
    "name",
    sorted(
        {row.name for row in FUNCTIONS.values() if isinstance(row.apply, np.ufunc) and hasattr(np, row.name)}
    ),
)
def test_each_ufunc_of_the_table_takes_our_arrays(name):
    ufunc = FUNCTIONS[name].apply
    dtype = "i4" if ufunc.types[0][0] in "?b" and "d" not in "".join(ufunc.types) else "f8"
    operands = [values_of(dtype, (3, 4), at) for at in range(ufunc.nin)]
    if name in ("ldexp", "left_shift", "right_shift"):
        operands[1] = np.arange(12, dtype="i4").reshape(3, 4)
    if name == "isnat":
        operands = [np.array(["2020", "NaT"], "M8[D]")]
    for wrap in (cq.asarray, lazy):
        check(outcome(ufunc, wrap(operands[0]), *operands[1:]), outcome(ufunc, *operands))


def test_numpy_scalars_and_arrays_on_the_left_leave_it_to_us():
    for wrap in (cq.asarray, lazy, lambda x: cq.asarray(x).view(...)):
        for left in (np.float32(2), np.int64(3), np.array(2.5), X, X[0]):
            for apply in (operator.add, operator.truediv, operator.pow, operator.gt, operator.eq):
                found = apply(left, wrap(X))
                assert isinstance(found, (cq.Array, Expr))
                check(found, apply(left, X))


def test_options_of_ufuncs():
    a = cq.asarray(X)
    check(np.add(a, 1, dtype="f4"), np.add(X, 1, dtype="f4"))
    check(np.sqrt(cq.asarray(np.arange(4)), dtype="f4"), np.sqrt(np.arange(4), dtype="f4"))
    for casting, dtype in (("same_kind", "i4"), ("safe", "f4"), ("no", "f4")):
        wanted = outcome(
            lambda x, casting=casting, dtype=dtype: np.add(x, x, dtype=dtype, casting=casting), X
        )
        assert isinstance(wanted, TypeError)
        with pytest.raises(TypeError):
            np.add(a, a, dtype=dtype, casting=casting)
    for options in ({"order": "F"}, {"signature": "dd->d"}):
        with pytest.raises(TypeError, match="ufunc options"):
            np.add(a, 1, **options)


def test_results_go_where_out_says():
    a, out = cq.asarray(X), cq.asarray(np.zeros((3, 4)))
    assert np.add(a, 1, out=out) is out
    assert np.array_equal(out[...], X + 1)
    values = np.zeros((3, 4))
    assert np.multiply(a, a, out=values) is values
    assert np.array_equal(values, X * X)
    values += a
    assert isinstance(values, np.ndarray)
    assert np.array_equal(values, X * X + X)
    with pytest.raises(TypeError, match="same_kind"):
        np.add(a, 1j, out=out)
    with pytest.raises(ValueError, match="broadcast"):
        np.add(a, 1, out=cq.asarray(np.zeros(4)))
    whole, part = np.zeros((3, 4)), np.zeros((3, 4))
    np.modf(a, out=(part, whole))
    assert np.array_equal(part + whole, X)


def test_ufuncs_of_two_results():
    for mine, wanted in zip(np.divmod(cq.asarray(X), 0.7), np.divmod(X, 0.7), strict=True):
        check(mine, wanted)
    for name in ("modf", "frexp"):
        for mine, wanted in zip(getattr(np, name)(lazy(X)), getattr(np, name)(X), strict=True):
            check(mine, wanted)


def test_ufuncs_that_are_not_ours_are_refused():
    a = cq.asarray(X)
    for call in (
        lambda: np.add.outer(a, a),
        lambda: np.add.at(a, [0], 1),
        lambda: np.subtract.reduce(a),
        lambda: np.add.reduceat(a, [0, 1]),
    ):
        with pytest.raises(TypeError):
            call()


def test_reductions_of_ufuncs():
    for wrap in (cq.asarray, lazy):
        a = wrap(X)
        for ufunc in (np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or):
            for axis in (0, 1, None, (0, 1)):
                found = ufunc.reduce(a, axis=axis)
                assert np.allclose(found, ufunc.reduce(X, axis=axis), rtol=1e-14)
            assert np.shape(ufunc.reduce(a, keepdims=True)) == (1, 4)
        for ufunc in (np.add, np.multiply):
            assert np.allclose(
                np.asarray(ufunc.accumulate(a, axis=1)), ufunc.accumulate(X, axis=1), rtol=1e-14
            )


def test_functions_of_the_list_are_there():
    assert not {name for name in NUMPY_FUNCTIONS if not hasattr(np, name)}
    facts = {"ndim", "shape", "size"}
    assert not {name for name in NUMPY_FUNCTIONS - facts if not hasattr(cq, OTHER_NAMES.get(name, name))}
    for wrap in (cq.asarray, lazy):
        a = wrap(X)
        assert (np.ndim(a), np.shape(a), np.size(a), np.size(a, 1)) == (2, (3, 4), 12, 4)


CALLS = {
    "sum": lambda x: np.sum(x, axis=0),
    "mean": lambda x: np.mean(x, axis=1, keepdims=True),
    "std": lambda x: np.std(x),
    "amax": lambda x: np.amax(x, axis=0),
    "argmin": lambda x: np.argmin(x, axis=0),
    "count_nonzero": lambda x: np.count_nonzero(x > 1),
    "where": lambda x: np.where(x > 1, x, 0),
    "clip": lambda x: np.clip(x, 1, 2),
    "round": lambda x: np.round(x, 1),
    "concatenate": lambda x: np.concatenate([x, x], axis=1),
    "stack": lambda x: np.stack([x, x]),
    "transpose": lambda x: np.transpose(x),
    "reshape": lambda x: np.reshape(x, (4, 3)),
    "squeeze": lambda x: np.squeeze(x),
    "sort": lambda x: np.sort(x),
    "cumsum": lambda x: np.cumsum(x, axis=0),
    "isclose": lambda x: np.isclose(x, 1, atol=1),
    "nan_to_num": lambda x: np.nan_to_num(x),
    "real": lambda x: np.real(x),
    "dot": lambda x: np.dot(x, x.T),
    "full_like": lambda x: np.full_like(x, 3),
    "roll": lambda x: np.roll(x, 2),
    "flip": lambda x: np.flip(x, axis=1),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_of_numpy_are_ours(name):
    wanted = CALLS[name](X)
    for wrap in (cq.asarray, lazy):
        found = CALLS[name](wrap(X))
        assert np.allclose(np.asarray(found), wanted, rtol=1e-13)
        assert np.shape(found) == np.shape(wanted)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype


def test_other_functions_of_numpy_are_refused_with_a_hint():
    for function in (np.convolve, np.interp, np.correlate):
        with pytest.raises(TypeError, match="NUMPY_FUNCTIONS"):
            function(cq.asarray(X[0]), cq.asarray(X[0]), cq.asarray(X[0]))


def test_foreign_operands_are_asked_first():
    class Foreign:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "mine"

        def __eq__(self, other):
            return "equal"

    a = cq.asarray(X)
    assert a + Foreign() == "mine"
    assert (a == Foreign()) == "equal"
    with pytest.raises(TypeError):
        a - Foreign()


def test_lists_and_datasets_are_operands():
    class Dataset:
        shape, dtype = (3, 4), np.dtype("f8")

        def __getitem__(self, key):
            return X[key]

    row = [1, 2, 3, 4]
    check(cq.asarray(X) + row, X + row)
    check(cq.add(Dataset(), Dataset()), X + X)
    check(cq.asarray(X) * Dataset(), X * X)


def test_matplotlib_takes_arrays_whole_and_not_item_by_item(monkeypatch):
    # `plt.hist(a)` asks for `to_numpy`; without it each of three million items became an array: 12 s.
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    x = np.arange(1000.0)
    a = cq.asarray(x)
    monkeypatch.setattr(cq.Array, "__iter__", lambda self: pytest.fail("iterates over items"))
    for values in (a, a * 2, a.view(slice(None))):
        expected = np.asarray(values)
        np.testing.assert_array_equal(plt.hist(values)[0], plt.hist(expected)[0])
        (line,) = plt.plot(values)
        np.testing.assert_array_equal(line.get_ydata(), expected)
    plt.close("all")
    np.testing.assert_array_equal(a.to_numpy(), x)
    assert a.to_numpy("f4").dtype == np.float32
