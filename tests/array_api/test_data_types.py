"""The standard's functions of dtypes, what the namespace says of itself, and exchange by DLPack."""

from __future__ import annotations

import operator

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import strategies as st

import coquina as cq

from .cases import (
    BOOLS,
    COMPLEX,
    DTYPES,
    INTEGERS,
    NUMBERS,
    REALS,
    SIGNED,
    UNSIGNED,
    arrays,
    assert_same,
    law,
    lazily,
    ours_of,
)

KINDS = {
    "bool": BOOLS,
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGERS,
    "real floating": REALS,
    "complex floating": COMPLEX,
    "numeric": NUMBERS,
}
INFO = cq.__array_namespace_info__()


def dtypes(names):
    return [getattr(cq, name) for name in names]


@pytest.mark.parametrize("kind", KINDS)
def test_isdtype_knows_kinds(kind):
    for name in DTYPES:
        dtype = getattr(cq, name)
        assert cq.isdtype(dtype, kind) is (name in KINDS[kind])
        assert cq.isdtype(dtype, (kind, "bool")) is (name in KINDS[kind] or name == "bool")
        assert cq.isdtype(dtype, (dtype,)) is True
        assert cq.isdtype(dtype, dtype) is True
        assert cq.isdtype(cq.zeros(1, dtype).dtype, kind) is (name in KINDS[kind])
    with pytest.raises((ValueError, TypeError)):
        cq.isdtype(cq.int8, "float")


@pytest.mark.parametrize("name", REALS + COMPLEX)
def test_finfo(name):
    theirs = strict.finfo(getattr(strict, name))
    for given in (getattr(cq, name), cq.ones(2, getattr(cq, name)), name):
        ours = cq.finfo(given)
        assert isinstance(ours.bits, int)
        for limit in ("eps", "max", "min", "smallest_normal"):
            assert isinstance(getattr(ours, limit), float)
            assert getattr(ours, limit) == getattr(theirs, limit)
        assert ours.bits == theirs.bits
        assert ours.dtype == np.dtype(name).type(0).real.dtype
    for other in (cq.int8, cq.bool):
        with pytest.raises(ValueError, match="not inexact"):
            cq.finfo(other)


@pytest.mark.parametrize("name", INTEGERS)
def test_iinfo(name):
    theirs = strict.iinfo(getattr(strict, name))
    for given in (getattr(cq, name), cq.ones(2, getattr(cq, name))):
        ours = cq.iinfo(given)
        assert all(isinstance(getattr(ours, limit), int) for limit in ("bits", "max", "min"))
        assert (ours.bits, ours.max, ours.min) == (theirs.bits, theirs.max, theirs.min)
        assert ours.dtype == getattr(cq, name)
    with pytest.raises(ValueError, match="integer"):
        cq.iinfo(cq.float32)


def test_result_type_is_that_of_the_standard():
    for one in DTYPES:
        for other in DTYPES:
            try:
                theirs = strict.result_type(getattr(strict, one), getattr(strict, other))
            except TypeError:
                continue
            wanted = getattr(cq, str(theirs).rsplit(".", 1)[-1])
            assert cq.result_type(getattr(cq, one), getattr(cq, other)) == wanted
            assert cq.result_type(cq.ones(2, getattr(cq, one)), getattr(cq, other)) == wanted
            assert cq.result_type(cq.ones((), getattr(cq, one)), cq.ones(3, getattr(cq, other))) == wanted
            assert cq.can_cast(getattr(cq, one), wanted)
            assert cq.can_cast(cq.ones(1, getattr(cq, one)), wanted)


@pytest.mark.parametrize("name", DTYPES)
def test_python_scalars_are_weak(name):
    dtype = getattr(cq, name)
    kind = np.dtype(name).kind
    scalars = {"b": [True], "i": [True, 1], "u": [True, 1], "f": [True, 1, 1.5], "c": [True, 1, 1.5, 1j]}[
        kind
    ]
    for scalar in scalars:
        assert cq.result_type(dtype, scalar) == dtype
        assert cq.result_type(scalar, cq.ones((), dtype)) == dtype
    with pytest.raises(ValueError, match="at least one"):
        cq.result_type()


@law(20)
def test_astype(data):
    x = data.draw(arrays(st.sampled_from(BOOLS + INTEGERS)))
    dtype = getattr(cq, data.draw(st.sampled_from(DTYPES)))
    for is_lazy in (False, True):
        with lazily(is_lazy):
            assert_same(cq.astype(ours_of(x), dtype), x.astype(dtype))
            assert_same(cq.astype(ours_of(x), dtype, copy=False, device="cpu"), x.astype(dtype))


def test_astype_copies_unless_told_not_to():
    x = cq.ones(3)
    assert cq.astype(x, cq.float64, copy=False) is x
    copy = cq.astype(x, cq.float64)
    copy[0] = 7
    assert x[0] == 1
    with pytest.raises(ValueError, match="device"):
        cq.astype(x, cq.float32, device="gpu")


# Inspection.


def test_the_namespace_says_what_it_can():
    capabilities = INFO.capabilities()
    assert capabilities["boolean indexing"] is True
    assert capabilities["data-dependent shapes"] is True
    axes = capabilities["max dimensions"]
    assert cq.ones((1,) * axes).ndim == axes
    with pytest.raises(ValueError, match="axes"):
        cq.ones((1,) * (axes + 1))
    assert cq.__array_api_version__ == "2024.12"


def test_devices():
    assert INFO.default_device() in INFO.devices()
    for device in INFO.devices():
        x = cq.zeros(2, device=device)
        assert x.device == device
        assert x.to_device(device) is x or np.array_equal(x.to_device(device)[...], x[...])
    with pytest.raises(ValueError, match="device"):
        cq.zeros(2).to_device("gpu")


def test_default_dtypes_are_those_of_arrays():
    found = INFO.default_dtypes(device="cpu")
    assert found["real floating"] == cq.asarray(1.0).dtype == cq.zeros(1).dtype
    assert found["complex floating"] == cq.asarray(1j).dtype
    assert found["integral"] == cq.asarray(1).dtype == cq.arange(3).dtype
    assert found["indexing"] == cq.argmax(cq.ones(3)).dtype


@pytest.mark.parametrize("kind", [None, *KINDS, ("bool", "integral"), ()])
def test_dtypes_by_kind(kind):
    names = KINDS.get(kind) if isinstance(kind, str) else DTYPES
    if isinstance(kind, tuple):
        names = sum((KINDS[one] for one in kind), ())
    assert INFO.dtypes(kind=kind) == {name: getattr(cq, name) for name in names}
    with pytest.raises(ValueError, match="kind"):
        INFO.dtypes(kind="float")
    with pytest.raises(ValueError, match="device"):
        INFO.dtypes(device="tpu")


def test_every_name_resolves_and_is_listed():
    for name in cq.__all__:
        assert name in dir(cq)
        getattr(cq, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cq.nothing  # noqa: B018


# Arrays as objects.


def test_arrays_name_their_namespace():
    for x in (cq.ones(2), cq.ones(100_000), cq.add(cq.ones(100_000), 1)):
        for version in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            assert x.__array_namespace__(api_version=version) is cq
        assert x.__array_namespace__() is cq
        with pytest.raises(ValueError, match="2019"):
            x.__array_namespace__(api_version="2019.12")


@law(20)
def test_dlpack_goes_to_numpy_and_back(data):
    x = data.draw(arrays(st.sampled_from(DTYPES)))
    ours = cq.asarray(x)
    assert ours.__dlpack_device__() == (1, 0)
    out = np.from_dlpack(ours)
    assert_same(out, x)
    assert_same(cq.from_dlpack(ours), x)
    assert_same(cq.from_dlpack(out), x)
    assert_same(cq.from_dlpack(x, copy=True), x)
    assert_same(np.from_dlpack(ours, copy=True), x)
    with pytest.raises((ValueError, BufferError)):
        cq.from_dlpack(x, copy=False)


def test_dlpack_of_an_array_of_ours():
    x = cq.asarray([1, 2, 3])
    assert cq.from_dlpack(x, copy=False) is x
    copy = cq.from_dlpack(x, copy=True)
    copy[0] = 5
    assert x[0] == 1


CONVERSIONS = {"__bool__": bool, "__int__": int, "__float__": float, "__complex__": complex}


@law(30)
def test_an_array_without_axes_is_a_python_scalar(data):
    x = data.draw(arrays(st.sampled_from(DTYPES), st.just(()), elements=lambda dtype: st.integers(0, 1)))
    for is_lazy in (False, True):
        with lazily(is_lazy):
            ours = cq.positive(ours_of(x)) if is_lazy and x.dtype != bool else ours_of(x)
            for convert in CONVERSIONS.values():
                if x.dtype.kind == "c" and convert in (int, float):
                    with pytest.raises(TypeError):
                        convert(ours)
                    continue
                assert convert(ours) == convert(x)
                assert type(convert(ours)) is convert
            if x.dtype.kind in "iu":
                assert operator.index(ours) == int(x)
            else:
                with pytest.raises(TypeError):
                    operator.index(ours)


@pytest.mark.parametrize("convert", [int, float, complex, operator.index])
def test_an_array_with_axes_is_no_python_scalar(convert):
    for shape in ((0,), (2,), (1, 1)):
        with pytest.raises(TypeError):
            convert(cq.ones(shape, cq.int64))


def test_the_truth_of_several_items_is_ambiguous():
    for shape in ((0,), (2,), (2, 3)):
        with pytest.raises(ValueError, match="ambiguous"):
            bool(cq.ones(shape))


@pytest.mark.parametrize("x", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_is_no_integer(x):
    with pytest.raises((ValueError, OverflowError)):
        int(cq.asarray(x))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4), (2, 3, 4)])
def test_attributes(shape):
    x = np.zeros(shape)
    for is_lazy in (False, True):
        with lazily(is_lazy):
            ours = cq.positive(cq.asarray(x))
            assert (ours.shape, ours.ndim, ours.size, ours.dtype) == (x.shape, x.ndim, x.size, x.dtype)
            assert ours.device == "cpu"
            if x.ndim == 2:
                assert_same(ours.T, x.T)
            if x.ndim >= 2:
                assert_same(ours.mT, x.mT)
            else:
                with pytest.raises(ValueError, match="at least"):
                    _ = ours.mT


def test_arrays_are_hashable_by_nobody():
    assert cq.Array.__hash__ is None or isinstance(hash(cq.ones(1)), int)
