"""Arrays that the text of an expression makes, and that functions store: as NumPy's, by the options."""

from __future__ import annotations

import numpy as np
import pytest

import coquina as cq

NAMES = {name: getattr(np, name) for name in ("arange", "linspace", "zeros", "ones", "full", "eye", "sum")}


@pytest.mark.parametrize(
    "text",
    [
        "arange(10)",
        "arange(2, 10, 3)",
        "arange(2, 8, dtype='f4')",
        "arange(0)",
        "linspace(0, 1, 5)",
        "linspace(0, 1, num=5, endpoint=False)",
        "zeros((2, 3))",
        "ones(4, dtype='i2')",
        "full((2, 2), 7)",
        "arange(10) * 2 + a",
        "sum(arange(10) + a)",
        "(arange(10) + a).max()",
        "eye(3, 4, k=1)",
        "a.reshape(2, 5)",
        "a.reshape((5, -1)).T + 1",
        "(a / 3).round(2)",
        "a.clip(2, 5)",
        "a.astype('f4').conj()",
        "a.mean(0)",
        "a.std(axis=0, keepdims=True)",
    ],
)
def test_a_text_makes_the_arrays_that_numpy_makes(text):
    expected = np.asarray(eval(text, {"a": np.arange(10), **NAMES}))
    found = np.asarray(cq.expr(text, a=cq.arange(10)))
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)


def test_methods_of_strings_are_called_as_methods():
    names = np.array(["anna", "bo"])
    assert cq.expr("s.startswith('a')", s=names)[:].tolist() == [True, False]
    assert cq.expr("s.upper().lower() == s", s=names)[:].tolist() == [True, True]


@pytest.mark.parametrize(
    ("text", "says"),
    [("a.sqrt()", r"write sqrt\(\.\.\.\)"), ("a.nothing()", "only functions")],
)
def test_what_is_no_method_says_so(text, says):
    with pytest.raises(cq.ExpressionError, match=says):
        cq.expr(text, a=cq.arange(3))


@pytest.mark.parametrize(
    "text", ["arange(100000000)", "eye(10000000)", "zeros((100000, 100000))", "ones(100000, dtype='S100000')"]
)
def test_a_text_makes_no_array_of_any_size(text):
    with pytest.raises(ValueError, match="a text makes at most 134217728"):
        cq.expr(text)


@pytest.mark.parametrize(
    "text", ["zeros(a)", "linspace(0, 1, n=3)", "arange(1, 2, 3, 'i4', 5)", "arange()", "eye()"]
)
def test_wrong_arguments_show_their_place(text):
    with pytest.raises((TypeError, ValueError)) as error:
        cq.expr(text, a=cq.arange(3))
    assert "^" in "".join([str(error.value), *getattr(error.value, "__notes__", [])])


def test_joins_and_reshapes_are_stored_as_the_options_say(tmp_path):
    a, x = cq.arange(30_000), np.arange(30_000)
    path = tmp_path / "joined.b2nd"
    assert np.array_equal(cq.concat([a, a], path=path, codec="lz4")[:], np.concatenate([x, x]))
    assert np.array_equal(cq.open(path)[:], np.concatenate([x, x]))
    assert isinstance(cq.concatenate([a, a], codec="lz4"), cq.Array)
    assert np.array_equal(cq.stack([a, a], chunks=(1, 30_000))[:], np.stack([x, x]))
    cut = a.reshape(3, -1, chunks=(1, 100))
    assert cut.chunks == (1, 100)
    assert np.array_equal(cut[:], x.reshape(3, -1))
    with pytest.raises(TypeError, match="codec='zlib'"):
        cq.stack([a], compression="gzip")


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_cumulative_functions_are_methods_too(name):
    x = np.linspace(0.5, 1.5, 1000)
    expected = getattr(np, name)(x, include_initial=True)
    for a in (cq.asarray(x), cq.asarray(x) * 1.0):
        assert np.allclose(getattr(a, name)(include_initial=True)[:], expected)
