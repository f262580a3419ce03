"""Linear algebra and Fourier transforms beside the strict implementation, or checked by what they solve."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import strategies as st

import coquina as cq

from .cases import (
    COMPLEX,
    DTYPES,
    FLOATS,
    NUMBERS,
    REALS,
    agree,
    arrays,
    finite,
    items_of,
    law,
    lazily,
    ours_of,
    shapes,
)

any_number = st.sampled_from(NUMBERS)
any_float = st.sampled_from(FLOATS)
sides = st.integers(0, 4)


def scale_of(*operands):
    """Return what errors of sums of products are measured by."""
    found = 1.0
    for x in operands:
        found *= float(np.sum(np.abs(x.astype(complex)))) + 1
    return found


def stacks(dtype, data, rows, columns, elements=finite):
    """Matrices of these lengths, one or a stack."""
    shape = (*data.draw(shapes(max_dims=1, max_side=3)), rows, columns)
    return data.draw(arrays(dtype, st.just(shape), elements))


def regular(data, dtype):
    """A stack of matrices that have inverses, by far."""
    side = data.draw(sides)
    return (stacks(dtype, data, side, side) / 200 + 2 * np.eye(side)).astype(dtype)


def assert_near(found, expected, dtype, scale=1.0):
    found, expected = items_of(found), items_of(expected)
    assert found.shape == expected.shape
    assert found.dtype == dtype
    eps = np.finfo(dtype).eps
    assert np.all(np.abs(found - expected) <= 2000 * eps * scale), (found, expected)


@pytest.mark.parametrize("name", ["matmul", "linalg.matmul"])
@law(20)
def test_products_of_matrices(data, name):
    dtype = data.draw(any_number)
    rows, inner, columns = (data.draw(sides) for _ in range(3))
    x1, x2 = stacks(dtype, data, rows, inner), data.draw(arrays(dtype, st.just((inner, columns)), finite))
    if data.draw(st.booleans()):
        x1 = x1[..., 0, :] if rows else x1
    if data.draw(st.booleans()):
        x2 = x2[..., 0] if columns else x2
    if x1.ndim == 0 or x2.ndim == 0:
        return
    agree(name, x1, x2, ulps=64, scale=scale_of(x1, x2))
    expected = np.asarray(x1 @ x2)
    for is_lazy in (False, True):
        with lazily(is_lazy):
            found = ours_of(x1) @ ours_of(x2)
            assert found.dtype == expected.dtype
            assert np.allclose(items_of(found), expected, rtol=1e-4)


def test_products_of_what_does_not_fit_are_errors():
    for one, other in (((2, 3), (2, 3)), ((3,), (2,)), ((), (3,)), ((2, 2), ())):
        with pytest.raises(ValueError, match=r"match|dimension|axes|0-d|enough"):
            cq.matmul(cq.ones(one), cq.ones(other))


@pytest.mark.parametrize("name", ["tensordot", "linalg.tensordot"])
@law(20)
def test_tensordot(data, name):
    dtype = data.draw(any_number)
    count = data.draw(st.integers(0, 2))
    shared = data.draw(shapes(min_dims=count, max_dims=count, max_side=3))
    x1 = data.draw(arrays(dtype, st.just((*data.draw(shapes(max_dims=1)), *shared)), finite))
    x2 = data.draw(arrays(dtype, st.just((*shared, *data.draw(shapes(max_dims=1)))), finite))
    agree(name, x1, x2, axes=count, ulps=64, scale=scale_of(x1, x2))
    axes = (tuple(range(-count, 0)), tuple(range(count)))
    agree(name, x1, x2, axes=axes, ulps=64, scale=scale_of(x1, x2))


@pytest.mark.parametrize("name", ["vecdot", "linalg.vecdot"])
@law(20)
def test_vecdot(data, name):
    dtype = data.draw(any_number)
    length = data.draw(st.integers(0, 4))
    x1 = data.draw(
        arrays(dtype, st.just((*data.draw(shapes(max_dims=1, min_side=1, max_side=1)), length)), finite)
    )
    x2 = data.draw(arrays(dtype, st.just((*data.draw(shapes(max_dims=2)), length)), finite))
    agree(name, x1, x2, ulps=64, scale=scale_of(x1, x2))


@law(20)
def test_outer_products(data):
    dtype = data.draw(any_number)
    x1, x2 = (data.draw(arrays(dtype, shapes(min_dims=1, max_dims=1), finite)) for _ in range(2))
    agree("linalg.outer", x1, x2)


@law(20)
def test_cross_products(data):
    dtype = data.draw(any_number)
    shape = list(data.draw(shapes(max_dims=2)))
    axis = data.draw(st.integers(0, len(shape)))
    shape.insert(axis, 3)
    x1, x2 = (data.draw(arrays(dtype, st.just(tuple(shape)), finite)) for _ in range(2))
    agree("linalg.cross", x1, x2, axis=axis - len(shape))


@law(20)
def test_diagonals_and_traces(data):
    x = data.draw(arrays(st.sampled_from(DTYPES), shapes(min_dims=2)))
    agree("linalg.diagonal", x, offset=data.draw(st.integers(-4, 4)))
    x = data.draw(arrays(any_number, shapes(min_dims=2), finite))
    agree("linalg.trace", x, offset=data.draw(st.integers(-4, 4)), ulps=8, scale=scale_of(x))
    agree("linalg.matrix_transpose", x)


@law(10)
def test_inverses_and_solutions(data):
    dtype = data.draw(any_float)
    x = regular(data, dtype)
    side = x.shape[-1]
    ones = np.broadcast_to(np.eye(side), x.shape)
    assert_near(x @ items_of(cq.linalg.inv(ours_of(x))), ones, dtype)
    assert_near(x @ items_of(cq.linalg.pinv(ours_of(x))), ones, dtype) if x.size else None
    right = data.draw(arrays(dtype, st.just((*x.shape[:-1], 2)), finite))
    solved = items_of(cq.linalg.solve(ours_of(x), ours_of(right)))
    assert_near(x @ solved, right, dtype, 20)
    vector = data.draw(arrays(dtype, st.just((side,)), finite))
    solved = items_of(cq.linalg.solve(ours_of(x), ours_of(vector)))
    assert_near(np.squeeze(x @ solved[..., None], -1), np.broadcast_to(vector, x.shape[:-1]), dtype, 20)


@law(10)
def test_determinants_powers_and_ranks(data):
    x = regular(data, data.draw(any_float))
    agree("linalg.det", x, ulps=2000, scale=2.5 ** x.shape[-1])
    agree("linalg.slogdet", x, ulps=2000, scale=10.0)
    agree("linalg.matrix_power", x, data.draw(st.integers(0, 3)), ulps=2000, scale=30.0)
    if x.size:
        agree("linalg.matrix_rank", x)


@law(10)
def test_decompositions(data):
    dtype = data.draw(any_float)
    x = regular(data, dtype)
    hermitian = (x + np.swapaxes(x, -1, -2).conj()).astype(dtype)
    lower = items_of(cq.linalg.cholesky(ours_of(hermitian)))
    assert_near(lower @ np.swapaxes(lower, -1, -2).conj(), hermitian, dtype, 10)
    assert_near(lower, np.tril(lower), dtype)
    upper = items_of(cq.linalg.cholesky(ours_of(hermitian), upper=True))
    assert_near(upper, np.swapaxes(lower, -1, -2).conj(), dtype)
    values, vectors = cq.linalg.eigh(ours_of(hermitian))
    assert items_of(values).dtype == np.finfo(dtype).dtype
    values, vectors = items_of(values), items_of(vectors)
    assert_near(hermitian @ vectors, vectors * values[..., None, :], dtype, 10)
    assert_near(cq.linalg.eigvalsh(ours_of(hermitian)), values, np.finfo(dtype).dtype, 10)


@law(10)
def test_factors(data):
    dtype = data.draw(any_float)
    x = stacks(dtype, data, data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4)))
    for mode in ("reduced", "complete"):
        found = cq.linalg.qr(ours_of(x), mode=mode)
        assert found._fields == ("Q", "R")
        assert found.Q.shape == strict.linalg.qr(strict.asarray(x), mode=mode).Q.shape
        assert_near(items_of(found.Q) @ items_of(found.R), x, dtype, 100)
    for full in (True, False):
        found = cq.linalg.svd(ours_of(x), full_matrices=full)
        assert found._fields == ("U", "S", "Vh")
        u, s, vh = map(items_of, found)
        assert s.dtype == np.finfo(dtype).dtype
        theirs = strict.linalg.svd(strict.asarray(x), full_matrices=full)
        assert (u.shape, vh.shape) == (theirs.U.shape, theirs.Vh.shape)
        count = s.shape[-1]
        assert_near((u[..., :count] * s[..., None, :]) @ vh[..., :count, :], x, dtype, 100)
        assert_near(cq.linalg.svdvals(ours_of(x)), s, s.dtype, 100)


@law(10)
def test_eigenvalues_of_any_matrix(data):
    dtype = data.draw(any_float)
    x = regular(data, dtype)
    values, vectors = map(items_of, cq.linalg.eig(ours_of(x)))
    wide = np.result_type(dtype, np.complex64)
    assert values.dtype == vectors.dtype == wide
    assert_near(x @ vectors, vectors * values[..., None, :], wide, 100)
    assert items_of(cq.linalg.eigvals(ours_of(x))).dtype == wide


@law(20)
def test_norms(data):
    x = data.draw(arrays(any_float, shapes(min_dims=1, min_side=1), finite))
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1))
    order = data.draw(st.sampled_from([2, 1, 0, np.inf, -np.inf, 3, -1]))
    keepdims = data.draw(st.booleans())
    agree("linalg.vector_norm", x, axis=axis, ord=order, keepdims=keepdims, ulps=64, scale=scale_of(x))
    x = stacks(data.draw(any_float), data, data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4)))
    order = data.draw(st.sampled_from(["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]))
    agree("linalg.matrix_norm", x, ord=order, keepdims=keepdims, ulps=500, scale=scale_of(x))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@law(10)
def test_transforms_along_an_axis(data, name):
    dtypes = REALS if name in ("rfft", "ihfft") else COMPLEX
    x = data.draw(arrays(st.sampled_from(dtypes), shapes(min_dims=1, min_side=2), finite))
    kwargs = {
        "n": data.draw(st.none() | st.integers(2, 6)),
        "axis": data.draw(st.integers(-x.ndim, x.ndim - 1)),
        "norm": data.draw(st.sampled_from(["backward", "ortho", "forward"])),
    }
    agree(f"fft.{name}", x, ulps=64, scale=scale_of(x), **kwargs)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@law(10)
def test_transforms_along_axes(data, name):
    x = data.draw(
        arrays(st.sampled_from(REALS if name == "rfftn" else COMPLEX), shapes(min_dims=1, min_side=2), finite)
    )
    count = data.draw(st.integers(1, x.ndim))
    axes = tuple(data.draw(st.permutations(range(x.ndim)))[:count])
    lengths = data.draw(st.none() | st.just(tuple(data.draw(st.integers(2, 5)) for _ in axes)))
    norm = data.draw(st.sampled_from(["backward", "ortho", "forward"]))
    agree(f"fft.{name}", x, s=lengths, axes=axes, norm=norm, ulps=128, scale=scale_of(x))
    agree(f"fft.{name}", x, ulps=128, scale=scale_of(x))


@law(20)
def test_frequencies(data):
    n, d = data.draw(st.integers(1, 9)), data.draw(st.sampled_from([1.0, 0.5, 3.0]))
    for name in ("fft.fftfreq", "fft.rfftfreq"):
        agree(name, n, d=d)
        agree(name, n, d=d, dtype=np.dtype("float32"))
    x = data.draw(arrays(any_float, shapes(min_dims=1)))
    axes = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1))
    agree("fft.fftshift", x, axes=axes)
    agree("fft.ifftshift", x, axes=axes)
