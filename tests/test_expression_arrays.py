"""Expressions as arrays: keys, operators in place, conversions, what is said of them; NumPy is the judge."""

from __future__ import annotations

import operator
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import coquina as cq
from coquina.arrays import results
from coquina.expressions import reference
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS, call
from coquina.expressions.gathering import read_selection
from coquina.indexing import lower
from tests.expression_cases import NUMBERS, check, good_key, lazy, outcome, values_of

pytestmark = pytest.mark.usefixtures("laziness")
SEEDS = st.integers(0, 2**32 - 1)


def assert_same(found, wanted) -> None:
    assert np.array_equal(found, wanted)
    assert np.shape(found) == np.shape(wanted)


@settings(max_examples=300)
@given(npst.array_shapes(min_dims=0, max_dims=3, max_side=12), st.integers(0, 2**32))
def test_any_key_gives_what_numpy_gives(shape, seed):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    key = good_key(seed, shape)
    assert_same((lazy(cq.asarray(x)) * 2)[key], (x * 2)[key])
    # Box by box, as what is large is read.
    selection = lower(key, shape)
    boxwise = read_selection(lambda region: x[region], selection, shape, x.dtype, (2, 3, 5)[: x.ndim])
    assert_same(boxwise.reshape(selection.shape), np.asarray(x[key]))


def test_keys_that_numpy_refuses_are_refused():
    x = np.zeros((3, 4))
    e = lazy(x) + 1
    for key in (3, (0, 0, 0), "a", 1.5, [7], np.zeros(4, bool), (..., ...)):
        with pytest.raises(IndexError) as wanted:
            x[key]
        with pytest.raises(IndexError) as found:
            e[key]
        assert str(found.value) == str(wanted.value)


def test_keys_with_gaps_compute_boxes_only():
    """Of a large expression only the boxes around the items are read."""
    read = []

    class Source:
        shape, dtype = (1 << 22, 4), np.dtype("f8")

        def __getitem__(self, region):
            read.append(region)
            rows = np.arange(region[0].start, region[0].stop, dtype="f8")
            return np.repeat(rows[:, None], 4, axis=1)[:, region[1]]

    e = lazy(Source()) * 1
    rows = [5, 1 << 20, (1 << 22) - 1, 6]
    assert np.array_equal(e[rows, 1], rows)
    assert np.array_equal(e[:: 1 << 20, 2], np.arange(0, 1 << 22, 1 << 20))
    assert np.array_equal(e[np.array([3, 1 << 21]), np.array([0, 3])], [3, 1 << 21])
    assert max(region[0].stop - region[0].start for region in read) < 1 << 20


IN_PLACE = (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.ipow)


@pytest.mark.parametrize("apply", IN_PLACE, ids=lambda apply: apply.__name__)
@settings(max_examples=25)
@given(st.sampled_from(("u1", "i4", "f4", "f8", "D")), st.sampled_from((*NUMBERS, None)), SEEDS)
def test_in_place_operators_are_those_of_numpy(apply, left, right, seed):
    x = values_of(left, (3, 4), seed)
    y = 2 if right is None else values_of(right, (4,), seed + 1)
    for wrap in (cq.asarray, lambda a: cq.asarray(a).view(...), lambda a: lazy(a.copy())):
        mine = wrap(x)
        found = outcome(apply, mine, y)
        check(found, outcome(apply, x.copy(), y))
        if not isinstance(found, Exception) and not isinstance(found, Expr):
            assert found is mine


def test_large_arrays_change_in_place_within_one_commit(tmp_path):
    x = np.arange(40_000.0).reshape(200, 200)
    a = cq.asarray(x, chunks=(64, 64), path=tmp_path / "a.b2nd")
    same = a
    a += 1
    a *= a
    assert a is same
    assert np.array_equal(cq.open(tmp_path / "a.b2nd")[...], (x + 1) ** 2)
    # Items that stand elsewhere in an operand are those from before.
    x = a[...]
    a -= a.view((slice(None, None, -1), slice(None)))
    assert np.array_equal(a[...], x - x[::-1])
    with pytest.raises(ValueError, match="broadcast"):
        a += np.zeros((3, 200, 200))
    with pytest.raises(TypeError, match="same_kind"):
        a += 1j
    readonly = cq.open(tmp_path / "a.b2nd", mode="r")
    with pytest.raises(ValueError, match="read-only"):
        readonly += 1


def test_operands_of_different_partitions_stores_and_kinds(tmp_path):
    x = np.arange(60_000.0).reshape(100, 600)
    a = cq.asarray(x, chunks=(7, 100), path=tmp_path / "a.b2nd")
    b = cq.asarray(x.astype("f4"), chunks=(100, 9))
    e = (a - b) * x + a.view((slice(None, None, -1),)) / np.arange(1, 601, dtype="i2")
    wanted = (x - x.astype("f4")) * x + x[::-1] / np.arange(1, 601, dtype="i2")
    check(e, wanted)
    stored = e.compute(tmp_path / "e.b2nd", codec="lz4", level=1)
    check(cq.open(tmp_path / "e.b2nd"), wanted)
    assert stored.chunks == a.chunks
    assert e.operands[0] is a
    assert any(one is b for one in e.operands)


def test_results_of_small_arrays_are_arrays_and_of_large_ones_expressions(monkeypatch):
    monkeypatch.setattr(results, "EAGER_BYTES", 1 << 16)
    small, large = cq.asarray(np.zeros(100)), cq.asarray(np.zeros(10_000))
    assert isinstance(small + 1, cq.Array)
    assert isinstance(large + 1, Expr)
    # What is small may grow by broadcasting.
    column, row = cq.asarray(np.zeros((2000, 1))), cq.asarray(np.zeros((1, 2000)))
    assert isinstance(column + row, Expr)
    assert (column + row).shape == (2000, 2000)


def test_long_and_shared_trees_are_computed(monkeypatch):
    monkeypatch.setattr(results, "EAGER_BYTES", -1)
    e = lazy(np.arange(3.0))
    for _ in range(5000):
        e = e + 1
    assert np.array_equal(e[...], np.arange(3.0) + 5000)
    e = lazy(np.arange(3.0))
    for _ in range(60):
        e = e + e  # 2**60 paths
    assert np.array_equal(e[...], np.arange(3.0) * 2.0**60)
    assert "again" in str(e.explain())
    assert len(repr(e)) < 200


def test_constants_are_folded():
    node = call(FUNCTIONS["add"], call(FUNCTIONS["multiply"], np.float64(2), np.float64(3)), 1)
    assert type(node).__name__ == "Constant"
    assert reference.read(node, ()) == 7


def test_expressions_follow_their_operands():
    a = cq.asarray(np.zeros(10_000))
    e = a + 1
    a[5] = 3
    assert e[5] == 4


def test_conversions_are_those_of_numpy():
    e = lazy(np.array(3)) * 2
    assert (int(e), float(e), complex(e), bool(e), range(10)[e]) == (6, 6.0, 6 + 0j, True, 6)
    rows = lazy(np.arange(6).reshape(3, 2)) * 2
    assert [row.tolist() for row in rows] == [[0, 2], [4, 6], [8, 10]]
    assert len(rows) == 3
    assert rows.tolist() == [[0, 2], [4, 6], [8, 10]]
    assert rows.item(3) == rows.item(1, 1) == 6
    assert 6 in rows
    assert 7 not in rows
    assert np.asarray(rows, "f4").dtype == "f4"
    assert hash(rows) == hash(rows)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(rows)
    with pytest.raises(TypeError):
        iter(e)
    with pytest.raises(TypeError):
        len(e)
    with pytest.raises(ValueError, match="copy"):
        rows.__array__(copy=False)
    assert np.array_equal(np.from_dlpack(rows), rows[...])
    assert rows.__array_namespace__() is cq


def test_what_is_said_of_expressions(monkeypatch):
    monkeypatch.setattr(results, "EAGER_BYTES", -1)
    e = cq.sqrt(lazy(np.zeros((2, 3))) ** 2 + 1) > 0.5
    assert repr(e) == "<Expr (2, 3) bool: sqrt((square(x0) + 1.0)) > 0.5>"
    lines = str(e.explain()).splitlines()
    assert lines[0].startswith("greater: bool (2, 3)")
    assert any("NumPy array" in line for line in lines)
    assert "sqrt" in e._repr_html_()


@settings(max_examples=40)
@given(st.sampled_from(("f4", "f8", "i4", "D")), SEEDS)
def test_composed_functions_are_those_of_numpy(dtype, seed):
    x, y = values_of(dtype, (3, 4), seed), values_of(dtype, (4,), seed + 1)
    for wrap in (cq.asarray, lazy):
        a, b = wrap(x), wrap(y)
        for equal_nan in (False, True):
            check(cq.isclose(a, b, 0.1, 0.1, equal_nan), np.isclose(x, y, 0.1, 0.1, equal_nan))
        check(cq.nan_to_num(a), np.nan_to_num(x))
        check(cq.nan_to_num(a, 1, 2, 3), np.nan_to_num(x, True, 1, 2, 3))
        check(cq.iscomplex(a), np.iscomplex(x))
        check(cq.isreal(a), np.isreal(x))
        check(cq.angle(a, True), np.angle(x, True))


def test_long_sums_do_not_nest():
    arrays = [cq.asarray(np.full(9000, at, "f8")) for at in range(30)]
    assert np.array_equal(reduce(operator.add, arrays)[:3], [435.0] * 3)


METHODS = {
    "sum": lambda x: x.sum(),
    "sum of axes": lambda x: x.sum((0, 2), keepdims=True),
    "sum as": lambda x: x.sum(axis=1, dtype="i4"),
    "prod": lambda x: x.prod(1),
    "mean": lambda x: x.mean(axis=0),
    "std": lambda x: x.std(1, ddof=1),
    "var": lambda x: x.var(),
    "min": lambda x: x.min(2),
    "max": lambda x: x.max(axis=(0, 1)),
    "any": lambda x: (x > 90).any(),
    "all": lambda x: (x > -1).all(axis=0),
    "argmin": lambda x: x.argmin(),
    "argmax": lambda x: x.argmax(axis=1, keepdims=True),
    "cumsum": lambda x: x.cumsum(1),
    "cumsum of all": lambda x: x.cumsum(),
    "cumprod": lambda x: x.cumprod(0),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "transpose": lambda x: x.transpose(1, 0, 2),
    "transpose by a tuple": lambda x: x.transpose((2, 0, 1)),
    "transpose all": lambda x: x.transpose(),
    "reshape": lambda x: x.reshape(5, -1),
    "reshape by a tuple": lambda x: x.reshape((6, 20)),
    "ravel": lambda x: x.ravel(),
    "flatten": lambda x: x.flatten(),
    "squeeze": lambda x: x.reshape(1, 4, 1, 30).squeeze(),
    "squeeze an axis": lambda x: x.reshape(1, 4, 1, 30).squeeze(2),
    "swapaxes": lambda x: x.swapaxes(0, 2),
    "repeat": lambda x: x.repeat(2, axis=1),
    "take": lambda x: x.take([1, 0], axis=1),
    "take of all": lambda x: x.take([1, 70]),
    "argsort": lambda x: x.argsort(1),
    "nonzero": lambda x: np.array(x.nonzero()),
    "searchsorted": lambda x: x.ravel().searchsorted([1, 50]),
    "diagonal": lambda x: x.diagonal(0, 1, 2),
    "trace": lambda x: x.trace(1),
    "dot": lambda x: x.dot(np.ones(6)),
    "matmul": lambda x: x @ np.ones((6, 2)),
    "matmul on the left": lambda x: np.ones((2, 5)) @ x,
    "clip": lambda x: x.clip(2, 5),
    "round": lambda x: x.round(-1),
    "conj": lambda x: x.conj(),
    "astype": lambda x: x.astype("f4"),
    "item": lambda x: x.item(3),
    "item of an index": lambda x: x.item((1, 2, 3)),
    "tolist": lambda x: x.tolist(),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_those_of_numpy(name):
    x = np.arange(120).reshape(4, 5, 6)
    wanted = np.asarray(METHODS[name](x))
    for wrap in (cq.asarray, lazy, lambda a: cq.asarray(a).view(...)):
        found = np.asarray(METHODS[name](wrap(x)))
        assert found.dtype == wanted.dtype
        assert_same(found, wanted) if wanted.dtype.kind in "iub" else np.testing.assert_allclose(
            found, wanted
        )


def undone(a) -> None:
    with a.transaction():
        a += 1
        raise KeyError


def test_in_place_operators_join_a_transaction():
    a = cq.asarray(np.zeros((200, 200)))
    with pytest.raises(KeyError):
        undone(a)
    assert not a[...].any()
    with a.transaction():
        a += 1
        a *= 2
    assert np.array_equal(a[...], np.full((200, 200), 2.0))


def test_views_of_expressions_compute_what_is_asked():
    x = np.arange(60.0).reshape(6, 10)
    part = lazy(x * 2).view((slice(None, None, -1), [1, 5]))
    assert np.array_equal(part[2:4, 1], (x * 2)[::-1, [1, 5]][2:4, 1])
    with pytest.raises(TypeError, match="compute"):
        part[0, 0] = 1
