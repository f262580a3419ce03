"""The standard's creation functions beside the strict implementation, and what is asked of options."""

from __future__ import annotations

import math

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace

import coquina as cq

from .cases import (
    BOOLS,
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REALS,
    SIGNED,
    agree,
    arrays,
    assert_same,
    law,
    lazily,
    ours_of,
    quietly,
    scalars,
    shapes,
    strict_of,
)

xps = make_strategies_namespace(cq)
optional_dtypes = st.sampled_from((None, *DTYPES))


def dtype_of(name):
    return None if name is None else np.dtype(name)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
@law(10)
def test_an_array_of_a_shape(data, name):
    shape = data.draw(shapes() | st.integers(0, 9))
    dtype = data.draw(optional_dtypes)
    kwargs = {} if dtype is None else {"dtype": getattr(cq, dtype)}
    made = getattr(cq, name)(shape, **kwargs)
    expected = np.ones(shape, dtype) if name == "ones" else np.zeros(shape, dtype)
    assert_same(made, expected)


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
@law(5)
def test_an_array_like_another(data, name):
    x = data.draw(arrays(st.sampled_from(DTYPES)))
    dtype = data.draw(optional_dtypes)
    made = getattr(cq, name)(cq.asarray(x), dtype=None if dtype is None else getattr(cq, dtype))
    fill = np.ones if name == "ones_like" else np.zeros
    assert_same(made, fill(x.shape, dtype or x.dtype))


@law(20)
def test_full_has_the_default_dtype_of_its_value_or_the_given_one(data):
    dtype = data.draw(st.sampled_from(DTYPES))
    shape = data.draw(shapes() | st.integers(0, 9))
    value = data.draw(scalars(dtype))
    agree("full", shape, value, dtype=np.dtype(dtype))
    agree("full_like", data.draw(arrays(dtype)), value)
    if not isinstance(value, int) or abs(value) < 2**63:
        agree("full", shape, value)


@law(30)
def test_arange_of_integers(data):
    start, stop = data.draw(st.integers(-50, 50)), data.draw(st.none() | st.integers(-50, 50))
    step = data.draw(st.integers(-9, 9).filter(bool))
    dtype = data.draw(st.none() | st.sampled_from(SIGNED + FLOATS[:2]))
    if stop is None:
        start = abs(start)
    agree("arange", start, stop, step, dtype=dtype_of(dtype))


@law(30)
def test_arange_of_floats(data):
    numbers = st.floats(-20, 20).map(lambda x: round(x, 2)) | st.integers(-20, 20)
    step = data.draw(st.floats(0.05, 5) | st.floats(-5, -0.05))
    start, stop = data.draw(numbers), data.draw(st.none() | numbers)
    dtype = data.draw(st.none() | st.sampled_from(REALS))
    agree("arange", start, stop, step, dtype=dtype_of(dtype))


@pytest.mark.parametrize("args", [(0,), (-5,), (0.0,), (3, 3), (5, 1), (1, 5, -1), (0, 1, 5), (2, 2.0)])
def test_arange_of_few_or_no_items(args):
    agree("arange", *args)


@law(30)
def test_linspace(data):
    dtype = data.draw(st.none() | st.sampled_from(FLOATS))
    number = scalars("float32").filter(lambda x: abs(x) < 1e6)
    if dtype in COMPLEX:
        number = st.builds(complex, number, number)
    start, stop = data.draw(number), data.draw(number)
    num = data.draw(st.integers(0, 9))
    kwargs = {"dtype": dtype_of(dtype), "endpoint": data.draw(st.booleans())}
    agree("linspace", start, stop, num, **kwargs)
    agree("linspace", int(np.real(start)), int(np.real(stop)), num, endpoint=kwargs["endpoint"])


@law(20)
def test_eye(data):
    rows, columns = data.draw(st.integers(0, 6)), data.draw(st.none() | st.integers(0, 6))
    dtype = data.draw(optional_dtypes)
    agree("eye", rows, columns, k=data.draw(st.integers(-8, 8)), dtype=dtype_of(dtype))


def test_a_large_eye_is_made_in_parts(monkeypatch):
    monkeypatch.setattr("coquina.functions.diagonals._AT_ONCE", 1)
    for k in (-3, 0, 2, 50):
        made = cq.eye(20, 30, k=k, dtype=cq.int16, chunks=(7, 8))
        assert_same(made, np.eye(20, 30, k, np.int16))


@pytest.mark.parametrize("name", ["tril", "triu"])
@law(10)
def test_triangles(data, name):
    x = data.draw(arrays(st.sampled_from(DTYPES), shapes(min_dims=2)))
    k = data.draw(st.integers(-5, 5))
    # The strict one multiplies by zeros; of NaN and infinities that is not what the standard says.
    expected = getattr(np, name)(x, k)
    for is_lazy in (False, True):
        with lazily(is_lazy):
            assert_same(getattr(cq, name)(ours_of(x), k=k), expected)


def test_triangles_need_two_axes():
    for name in ("tril", "triu"):
        with pytest.raises(ValueError, match="two axes"):
            getattr(cq, name)(cq.ones(3))


# asarray.


@pytest.mark.parametrize("scalar", [True, 3, -2.5, 1 + 2j])
def test_a_python_scalar_has_the_default_dtype(scalar):
    assert_same(cq.asarray(scalar), strict.asarray(scalar))
    assert_same(cq.asarray([scalar, scalar]), strict.asarray([scalar, scalar]))


@law(20)
def test_asarray_of_nested_lists(data):
    x = data.draw(arrays(st.sampled_from(DTYPES), shapes(min_side=1)))
    assert_same(cq.asarray(x.tolist(), dtype=getattr(cq, x.dtype.name)), x)


@law(20)
def test_asarray_of_an_array_casts(data):
    x = data.draw(arrays(st.sampled_from(BOOLS + INTEGERS)))
    dtype = data.draw(st.sampled_from(NUMBERS))
    copy = data.draw(st.sampled_from([None, True]))
    made = cq.asarray(cq.asarray(x), dtype=getattr(cq, dtype), copy=copy)
    assert_same(made, x.astype(dtype))


def test_asarray_returns_an_array_as_it_is_unless_a_copy_is_asked_for():
    x = cq.asarray([1, 2, 3])
    assert cq.asarray(x) is x
    assert cq.asarray(x, copy=False) is x
    assert cq.asarray(x, dtype=cq.int64, copy=False) is x
    copy = cq.asarray(x, copy=True)
    copy[0] = 9
    assert x[0] == 1
    for options in ({"dtype": cq.int8}, {"codec": "lz4"}, {"chunks": (2,)}):
        assert cq.asarray(x, **options) is not x
        with pytest.raises(ValueError, match="copy=False"):
            cq.asarray(x, copy=False, **options)


@pytest.mark.parametrize("obj", [1, [1.5], np.ones(3), b"abc", range(3)])
def test_what_is_not_an_array_of_ours_is_always_copied(obj):
    with pytest.raises(ValueError, match="copy=False"):
        cq.asarray(obj, copy=False)


def test_asarray_of_an_expression_computes_it():
    with lazily():
        x = cq.asarray(cq.add(cq.ones(3), 1))
    assert isinstance(x, cq.Array)
    assert_same(x, np.full(3, 2.0))


def test_a_copy_of_a_large_array_is_cut_as_asked():
    x = cq.asarray(np.arange(60.0).reshape(6, 10), chunks=(2, 5))
    copy = cq.asarray(x, chunks=(3, 10))
    assert copy.chunks == (3, 10)
    assert_same(copy, np.arange(60.0).reshape(6, 10))


DEVICES = {
    "arange": (3,),
    "asarray": ([1],),
    "empty": (2,),
    "empty_like": (np.ones(2),),
    "eye": (2,),
    "full": (2, 1),
    "full_like": (np.ones(2), 1),
    "linspace": (0, 1, 3),
    "ones": (2,),
    "ones_like": (np.ones(2),),
    "zeros": (2,),
    "zeros_like": (np.ones(2),),
    "from_dlpack": (np.ones(2),),
}


@pytest.mark.parametrize("name", DEVICES)
def test_the_only_device_is_the_cpu(name):
    for device in (None, "cpu", cq.__array_namespace_info__().default_device()):
        assert getattr(cq, name)(*DEVICES[name], device=device).device == "cpu"
    with pytest.raises(ValueError, match="device"):
        getattr(cq, name)(*DEVICES[name], device="cuda:0")


@law(10)
def test_hypothesis_makes_arrays_of_ours(data):
    for dtype in data.draw(st.permutations(DTYPES))[:4]:
        x = data.draw(xps.arrays(getattr(cq, dtype), shapes()))
        assert isinstance(x, cq.Array)
        assert x.dtype == getattr(cq, dtype)


@law(10)
def test_hypothesis_knows_the_dtypes(data):
    for strategy in (xps.scalar_dtypes(), xps.numeric_dtypes(), xps.complex_dtypes(), xps.boolean_dtypes()):
        assert data.draw(strategy) in {getattr(cq, name) for name in DTYPES}


def test_lengths_below_zero_are_an_error():
    for call in (cq.zeros, cq.ones, cq.empty, lambda shape: cq.full(shape, 1)):
        with pytest.raises(ValueError, match="negative"):
            call((2, -1))


def test_constants():
    assert (cq.e, cq.pi, cq.inf) == (math.e, math.pi, math.inf)
    assert math.isnan(cq.nan)
    assert cq.newaxis is None
    assert cq.asarray([1, 2])[:, cq.newaxis].shape == (2, 1)


def test_what_strict_makes_we_take():
    with quietly():
        x = strict_of(np.asarray([1.5, 2.5]))
        assert_same(cq.from_dlpack(x), np.asarray([1.5, 2.5]))
        assert_same(cq.asarray(x), np.asarray([1.5, 2.5]))
