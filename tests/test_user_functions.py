"""Functions of the user's: on blocks, and traced to one expression. NumPy on whole arrays is the judge."""

from __future__ import annotations

import math
import threading
from functools import partial

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import coquina as cq
from coquina.expressions.expression import Expr
from tests.expression_cases import NUMBERS, check, lazy, outcome, values_of

pytestmark = pytest.mark.usefixtures("laziness")

X = np.arange(60_000.0).reshape(200, 300) - 30_000
CUT = {"chunks": (100, 120), "blocks": (30, 50)}
HERE = __file__


def large():
    return cq.asarray(X, **CUT)


def mixed(x, y):
    with np.errstate(all="ignore"):
        return np.where(x > y, x - y, x * y) + np.asarray(x, dtype=np.asarray(x).dtype)


@settings(max_examples=60, deadline=None)
@given(
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=6),
    dtypes=st.tuples(st.sampled_from(NUMBERS[1:]), st.sampled_from(NUMBERS[1:])),
    seed=st.integers(0, 99),
    order=st.sampled_from(["threads", "order"]),
)
def test_blocks_give_what_whole_arrays_give(shapes, dtypes, seed, order):
    x, y = [values_of(dtypes[at], shapes.input_shapes[at], seed + at) for at in range(2)]
    wanted = outcome(mixed, x, y)
    for wrap in (cq.asarray, lazy, lambda x: x, lambda x: cq.asarray(x).view(...)):
        check(outcome(cq.vectorize(mixed, order=order), wrap(x), y), wanted)


@pytest.mark.parametrize("scalar", [2, 0.5, 1j, True, np.float32(1.5), np.int64(3)])
def test_scalars_keep_their_kind(scalar):
    for dtype in ("f4", "i2", "u1"):
        x = values_of(dtype, (4, 5), 1)
        check(cq.vectorize(mixed)(cq.asarray(x), scalar), mixed(x, scalar))
        check(cq.vectorize(mixed)(scalar, lazy(x)), mixed(scalar, x))


def test_the_dtype_is_found_or_given():
    x = np.arange(12).reshape(3, 4)
    for dtype, kind in ((None, np.int64), ("f8", np.float64), ("i1", np.int8), ("f4", np.float32)):
        found = cq.vectorize(lambda b: b + 1, dtype=dtype)
        check(found(cq.asarray(x)), (x + 1).astype(kind))
    text = np.array(["one", "three"])
    check(cq.vectorize(np.strings.upper)(cq.asarray(text)), np.strings.upper(text))
    days = np.array(["2020-01-01", "NaT"], "M8[D]")
    check(cq.vectorize(lambda b: b - np.datetime64("2019-01-01"))(cq.asarray(days)), days - days[0] + 365)


def test_the_function_is_called_for_one_item_only_to_find_the_dtype():
    calls = []

    def seen(b):
        calls.append(b.copy())
        return b

    cq.vectorize(seen, dtype="f8")(large())
    assert calls == []
    cq.vectorize(seen)(large())
    assert [one.tolist() for one in calls] == [[[1.0]]]


@pytest.mark.parametrize("shape", [(0,), (3, 0), ()])
def test_arrays_without_items_or_axes(shape):
    check(cq.vectorize(np.sqrt)(cq.asarray(np.full(shape, 4.0))), np.full(shape, 2.0))


def test_what_is_small_is_computed_at_once(laziness):
    found = cq.vectorize(np.sqrt)(cq.asarray(np.arange(4.0)))
    assert isinstance(found, cq.Array if laziness == "eager" else Expr)
    assert isinstance(cq.vectorize(np.sqrt)(large()), Expr)


def test_the_ways_to_make_one():
    @cq.vectorize
    def plain(b):
        """Say so."""
        return b + 1

    @cq.vectorize(dtype="f4", order="order", name="other")
    def with_options(b):
        return b + 1

    assert (plain.__name__, plain.__doc__) == ("plain", "Say so.")
    assert with_options.__name__ == "other"
    check(plain(large()), X + 1)
    check(with_options(large()), (X + 1).astype("f4"))
    check(cq.vectorize(partial(np.add, 1))(large()), X + 1)


def test_it_works_wherever_expressions_do(tmp_path):
    twice = cq.vectorize(lambda b: b * 2, name="twice")
    e = np.sin(twice(large())) + twice(X) * large() - np.sqrt(np.float16(2))
    wanted = np.sin(X * 2) + X * 2 * X - np.sqrt(np.float16(2))
    check(e, wanted)
    for key in (0, (slice(None, None, 7), 5), ([3, 1], slice(2)), (..., None), X > 29_000, (-1, -1)):
        assert np.allclose(e[key], wanted[key], rtol=1e-14)
    assert np.allclose(e.sum(axis=0), wanted.sum(axis=0))
    assert np.isclose(e.max(), wanted.max(), rtol=1e-14)
    assert np.allclose(e.compute(str(tmp_path / "e.b2nd"), chunks=(64, 64))[...], wanted, rtol=1e-14)
    check(twice(twice(twice(large()))), X * 8)
    check(twice(large().T)[3:5], (X.T * 2)[3:5])
    check(cq.expr("e + x", e=twice(large()), x=X), X * 3)


def test_explain_names_it():
    shown = str((cq.vectorize(np.sqrt, name="root")(large()) + 1).explain())
    assert "function root (per block, Python): float64 (200, 300)" in shown
    assert "by_numpy: ['function root (per block, Python)']" in shown
    assert repr(cq.vectorize(np.sqrt, name="root")(large())).endswith("root(x0)>")


def recorded(calls):
    def record(b):
        calls.append((float(b.flat[0]), b.shape, threading.get_ident()))
        return b

    return record


def blocks_in_order():
    for chunk in np.ndindex(2, 3):
        rows, columns = 100, min(120, 300 - 120 * chunk[1])
        for row in range(0, rows, 30):
            for column in range(0, columns, 50):
                at = (chunk[0] * 100 + row, chunk[1] * 120 + column)
                yield float(X[at]), (min(30, rows - row), min(50, columns - column))


def test_in_order_blocks_come_one_after_the_other():
    calls = []
    e = cq.vectorize(recorded(calls), dtype="f8", order="order")(large())
    uses = [lambda: e[...], lambda: e.compute(), lambda: (np.sqrt(e) + 1)[...], lambda: (e + 1).compute()]
    for use in uses:
        calls.clear()
        use()
        assert [one[:2] for one in calls] == list(blocks_in_order())
        assert len({one[2] for one in calls}) == 1
    for use in (lambda: e.sum(), lambda: e.std(axis=0), lambda: e.compute(chunks=(64, 64))):
        calls.clear()
        use()
        assert len({one[2] for one in calls}) == 1
        assert sum(math.prod(one[1]) for one in calls) == X.size


def test_in_threads_each_block_is_computed_once_too():
    calls = []
    e = cq.vectorize(recorded(calls), dtype="f8")(large())
    for use in (lambda: e[...], lambda: e.compute()):
        calls.clear()
        use()
        assert sorted(one[:2] for one in calls) == sorted(blocks_in_order())


@pytest.mark.skipif(cq.num_threads() < 2, reason="one thread")
def test_threads_run_at_the_same_time():
    meeting = threading.Barrier(2, timeout=60)

    def meet(b):
        # Only passed by two threads at once.
        if b[0, 0] == X[0, 0] or b[0, 0] == X[100, 0]:
            meeting.wait()
        return b

    assert np.array_equal(cq.vectorize(meet, dtype="f8")(large()).compute()[...], X)


def test_errors_of_the_function_are_raised_as_they_are():
    class Mine(Exception):
        pass

    error = Mine("mine", 7)

    def fail(b):
        if b.min() <= X[150, 10] <= b.max():
            raise error
        return b

    e = cq.vectorize(fail, dtype="f8")(large())
    for use in (lambda: e[...], lambda: e.compute(), lambda: e.sum(), lambda: np.sqrt(e)[...]):
        with pytest.raises(Mine) as found:
            use()
        assert found.value is error
    with pytest.raises(ZeroDivisionError) as found:
        cq.vectorize(lambda b: b + 1 // 0, name="bad")(large())
    assert "dtype= says it" in found.value.__notes__[0]


def test_what_does_not_fit_is_refused_by_name_and_block():
    def ends(b):
        return b[:-1] if X[150, 200] in b else b

    with pytest.raises(ValueError, match=r"function ends gave shape .* for the block \[\d+:\d+, \d+:\d+\]"):
        cq.vectorize(ends, dtype="f8")(large())[...]
    with pytest.raises(TypeError, match=r"function kind gave complex128 for the block \[.*\], where float64"):
        cq.vectorize(lambda b: b + 1j, dtype="f8", name="kind")(large())[...]
    with pytest.raises(TypeError, match="where int64 is wanted"):
        cq.vectorize(lambda b: b, dtype="i8")(large())[...]
    with pytest.raises(TypeError, match="function cut gave <U4"):
        cq.vectorize(np.strings.upper, dtype="U2", name="cut")(cq.asarray(np.array(["abcd"])))[...]
    with pytest.raises(ValueError, match=r"function flat gave shape \(\)"):
        cq.vectorize(np.mean, name="flat")(large())
    with pytest.raises(ValueError, match="read-only"):
        cq.vectorize(lambda b: np.add(b, 1, out=b), dtype="f8")(cq.asarray(np.ones(3)))[...]
    with pytest.raises(ValueError, match="broadcast"):
        cq.vectorize(np.add)(large(), np.ones(7))


def test_arguments_of_vectorize_are_checked():
    with pytest.raises(ValueError, match="'any'"):
        cq.vectorize(np.sqrt, order="any")
    with pytest.raises(TypeError, match="not a int"):
        cq.vectorize(3)
    with pytest.raises(TypeError, match="objects"):
        cq.vectorize(np.sqrt, dtype=object)
    with pytest.raises(TypeError, match="objects"):
        cq.vectorize(lambda b: b.astype(object))(large())
    with pytest.raises(TypeError, match="got none"):
        cq.vectorize(np.sqrt)(3.0)


def test_nothing_is_warned_of(recwarn):
    root = cq.vectorize(lambda b: np.sqrt(b) / 0)
    check(root(large()), outcome(lambda b: np.sqrt(b) / 0, X))
    check(root(cq.asarray(-np.ones(3))), np.full(3, np.nan))
    assert not recwarn.list


def waves(x, y):
    """Use many of NumPy's ways."""
    z = np.sin(x) ** 2 + np.where(y > x, y, 0.5) - x.mean(axis=0)
    z = np.clip(z, -3, None).astype("f4") * np.float32(2)
    parts = np.concatenate([z[1:], z[:1]]) / (1 + abs(y[::-1]))
    high, low = np.divmod(parts, 0.25)
    return np.transpose(high + low.sum()), {"part": parts[:, None], "total": parts.max(), "n": len(x)}


@pytest.mark.parametrize("size", [3, 200])
def test_traced_code_gives_what_numpy_gives(size, laziness):
    x, y = X[:size] / 1000, np.cos(X[:size])
    wanted = waves(x, y)
    for a, b in ((cq.asarray(x), cq.asarray(y)), (lazy(x), y), (cq.asarray(x).view(...), lazy(y)), (x, y)):
        found = cq.traced(waves)(a, y=b)
        kind = cq.Array if size == 3 and laziness == "eager" else Expr
        for mine, theirs in ((found[0], wanted[0]), (found[1]["part"], wanted[1]["part"])):
            assert isinstance(mine, kind)
            assert mine.dtype == theirs.dtype
            assert np.allclose(mine[...], theirs, rtol=1e-4, atol=1e-4)
        assert np.isclose(found[1]["total"], wanted[1]["total"], rtol=1e-5)
        assert found[1]["n"] == size


def test_a_trace_is_one_expression():
    a = large()
    e = cq.traced(lambda x: np.where(x > 0, x**2, -x) + np.float64(1))(a)
    assert e.operands == (a,)
    assert e.explain().formula == "where((x0 > 0.0), square(x0), -x0) + 1.0"
    check(e, np.where(X > 0, X**2, -X) + 1)
    view = cq.traced(lambda x: x[::2, 3])(a)
    assert isinstance(view, (Expr, cq.Array))
    check(view, X[::2, 3])
    assert cq.traced(lambda x: x)(a) is a
    assert cq.traced(lambda x, k: (x.shape, x.ndim, x.size, x.nbytes, x.itemsize, k))(a, 2) == (
        (200, 300),
        2,
        60_000,
        480_000,
        8,
        2,
    )


def test_traced_and_block_functions_nest():
    twice = cq.vectorize(lambda b: b * 2)
    inner = cq.traced(lambda x: twice(x) + 1)
    e = cq.traced(lambda x: inner(x) * inner(-x))(large())
    assert isinstance(e, Expr)
    check(e, (X * 2 + 1) * (1 - X * 2))
    check(cq.traced(lambda x: x.reshape(-1).T.real.clip(0, 9))(large()), X.reshape(-1).clip(0, 9))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x if x.any() and x > 1 else -x,
        lambda x: float(x),
        lambda x: int(x),
        lambda x: complex(x),
        lambda x: range(x),
        lambda x: math.sin(x),
        lambda x: list(x),
        lambda x: 3 in x,
        lambda x: x.__setitem__(0, 1),
        lambda x: x.__iadd__(1),
        lambda x: np.add(x, 1, out=np.zeros((200, 300))),
        lambda x: np.sum(x, out=x),
        lambda x: np.add(x, 1, where=x > 3),
        lambda x: np.zeros((200, 300)).__setitem__(..., x),
        lambda x: x[x > 3],
        lambda x: x.tolist(),
        lambda x: x.sort(),
        lambda x: np.asarray(x),
        lambda x: np.convolve(x[0], x[0]),
        lambda x: np.linalg.norm(x),
        lambda x: np.add.outer(x, x),
        lambda x: np.frompyfunc(abs, 1, 1)(x),
        lambda x: cq.sin(x),
        lambda x: large() + x,
    ],
)
def test_what_cannot_be_traced_is_refused_with_its_line(function):
    line = function.__code__.co_firstlineno
    for operand in (large(), lazy(X), cq.asarray(np.ones((1, 1)))):
        with pytest.raises(cq.TraceError) as found:
            cq.traced(function)(operand)
        assert isinstance(found.value, cq.CoquinaError)
        assert isinstance(found.value, TypeError)
        assert str(found.value).startswith("<lambda> cannot be traced: ")
        assert f"({HERE}, line {line}: lambda x: " in str(found.value)


def test_other_errors_of_traced_code_are_as_they_are():
    with pytest.raises(ValueError, match="broadcast"):
        cq.traced(lambda x: x + np.ones(7))(large())
    with pytest.raises(AttributeError, match="nothing"):
        cq.traced(lambda x: x.nothing)(large())
    with pytest.raises(IndexError):
        cq.traced(lambda x: x[500])(large())
    with pytest.raises(TypeError, match="not a int"):
        cq.traced(3)
