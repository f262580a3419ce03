"""The extensions `linalg` and `fft` against NumPy and the standard: results, signatures, slab by slab."""

from __future__ import annotations

import inspect
import tracemalloc
from random import Random
from unittest.mock import patch

import array_api_strict
import numpy as np
import pytest

import coquina as cq
from coquina import fft, linalg
from coquina.arrays.array import Array
from coquina.functions import joining, linear_algebra, manipulation, slabs
from tests.layout_cases import check_result, law, operand, outcome, same_refusal

FLOATS = ("f4", "f8", "c8", "c16")


def some_matrices(rng: Random, *, is_square: bool = False, dtypes=FLOATS) -> np.ndarray:
    rows = rng.randint(0, 5)
    shape = (
        *[rng.randint(0, 3) for _ in range(rng.randint(0, 2))],
        rows,
        rows if is_square else rng.randint(0, 5),
    )
    made = np.random.default_rng(rng.getrandbits(60))
    return (made.standard_normal(shape) + 1j * made.standard_normal(shape)).astype(rng.choice(dtypes)).copy()


def check_close(ours, theirs) -> None:
    theirs = np.asarray(theirs)
    assert isinstance(ours, Array)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    exact = np.finfo(theirs.dtype).eps if theirs.dtype.kind in "fc" else 0
    np.testing.assert_allclose(ours[...], theirs, rtol=200 * exact, atol=200 * exact)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@law(40)
def test_functions_of_square_matrices_are_those_of_numpy(rng):
    x = some_matrices(rng, is_square=True)
    a = operand(rng, x)
    definite = x @ np.matrix_transpose(x.conj()) + 4 * np.eye(x.shape[-1], dtype=x.dtype)
    b = operand(rng, definite)
    upper = rng.random() < 0.5
    check_close(linalg.cholesky(b, upper=upper), np.linalg.cholesky(definite, upper=upper))
    check_close(linalg.det(a), np.linalg.det(x))
    check_close(linalg.inv(b), np.linalg.inv(definite))
    power = rng.randint(-2, 4)
    check_close(linalg.matrix_power(b, power), np.linalg.matrix_power(definite, power))
    for name in ("eigh", "slogdet"):
        ours, theirs = getattr(linalg, name)(b), getattr(np.linalg, name)(definite)
        assert ours._fields == theirs._fields
        for our, their in zip(ours, theirs, strict=True):
            check_close(our, their)
    check_close(linalg.eigvalsh(b), np.linalg.eigvalsh(definite))
    check_close(linalg.eigvals(b), np.linalg.eigvals(definite).astype(np.result_type(x.dtype, "c8")))
    values, vectors = linalg.eig(b)
    assert values.dtype == vectors.dtype == np.result_type(x.dtype, "c8")
    rest = definite @ vectors[...] - vectors[...] * values[...][..., None, :]
    assert np.abs(rest).max(initial=0) < 1e-3
    right = operand(rng, x)
    check_close(linalg.solve(b, right), np.linalg.solve(definite, x))


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@law(40)
def test_functions_of_matrices_are_those_of_numpy(rng):
    x = some_matrices(rng)
    a = operand(rng, x)
    mode = rng.choice(("reduced", "complete"))
    ours = linalg.qr(a, mode=mode)
    assert ours._fields == ("Q", "R")
    for our, their in zip(ours, np.linalg.qr(x, mode), strict=True):
        check_close(our, their)
    full = rng.random() < 0.5
    ours = linalg.svd(a, full_matrices=full)
    assert ours._fields == ("U", "S", "Vh")
    for our, their in zip(ours, np.linalg.svd(x, full), strict=True):
        check_close(our, their)
    check_close(linalg.svdvals(a), np.linalg.svdvals(x))
    if 0 not in x.shape[-2:]:
        check_close(linalg.pinv(a), np.linalg.pinv(x, rtol=None))
        check_close(linalg.pinv(a, rtol=0.4), np.linalg.pinv(x, rtol=0.4))
        keepdims, order = rng.random() < 0.5, rng.choice((1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"))
        check_close(
            linalg.matrix_norm(a, keepdims=keepdims, ord=order),
            np.linalg.matrix_norm(x, keepdims=keepdims, ord=order),
        )
        singular = np.linalg.svd(x, compute_uv=False)
        check_close(linalg.matrix_rank(a, rtol=0.5), (singular > 0.5 * singular[..., :1]).sum(-1))
        check_close(linalg.matrix_rank(a), np.linalg.matrix_rank(x))
    offset = rng.randint(-5, 5)
    check_result(rng, linalg.diagonal(a, offset=offset), np.linalg.diagonal(x, offset=offset))
    check_close(linalg.trace(a, offset=offset), np.linalg.trace(x, offset=offset))
    small = np.ones((3, 3), "u1")
    check_close(linalg.trace(small), np.linalg.trace(small))


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@law(40)
def test_norms_of_vectors_are_those_of_numpy(rng):
    x = some_matrices(rng, dtypes=(*FLOATS, "i4", "u1")) if rng.random() < 0.9 else np.float32(3)
    ndim = np.ndim(x)
    if 0 in np.shape(x):
        return
    axis = rng.choice((None, -1, tuple(rng.sample(range(ndim), rng.randint(1, ndim))))) if ndim else None
    order = rng.choice((0, 1, 2, 3, 0.5, np.inf, -np.inf))
    keepdims = rng.random() < 0.5
    theirs = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=order)
    with patch.object(linalg, "NORM_BYTES", rng.choice((0, 1 << 20))):
        ours = linalg.vector_norm(operand(rng, np.asarray(x)), axis=axis, keepdims=keepdims, ord=order)
    check_close(ours, theirs)


@law(40)
def test_cross_is_that_of_numpy(rng):
    shape = [rng.choice((0, 1, 2, 4)) for _ in range(rng.randint(1, 4))]
    axis = rng.randrange(-len(shape), len(shape))
    shape[axis] = 3
    other = [rng.choice((size, 1)) for size in shape]
    other[axis] = 3 if rng.random() < 0.9 else 2
    made = np.random.default_rng(rng.getrandbits(60))
    pair = [
        made.integers(0, 9, sizes).astype(rng.choice(("i4", "u1", "f4", "c16"))) for sizes in (shape, other)
    ]
    wanted = outcome(np.linalg.cross, *pair, axis=axis)
    with patch.object(slabs, "SLAB_BYTES", rng.choice((0, 200, 64 << 20))):
        found = outcome(linalg.cross, *[operand(rng, x) for x in pair], axis=axis)
    if isinstance(wanted, Exception):
        assert same_refusal(found, wanted)
    else:
        check_result(rng, found, wanted)


@law(150)
def test_transforms_are_those_of_numpy(rng):
    shape = [rng.choice((1, 2, 3, 5, 6)) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.1:
        shape[0] = 0
    name = rng.choice(("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "ifftn", "rfftn", "irfftn"))
    is_real = name in ("rfft", "ihfft", "rfftn")
    made = np.random.default_rng(rng.getrandbits(60))
    x = made.standard_normal(shape) + 1j * made.standard_normal(shape)
    x = (x.real if is_real else x).astype(
        rng.choice(("f4", "f8", "f2", "i4")[::1] if is_real else FLOATS[2:])
    )
    options = {"norm": rng.choice(("backward", "ortho", "forward", "sideways"))}
    if name.endswith("n"):
        axes = rng.sample(range(-len(shape), 0), rng.randint(1, len(shape)))
        options["axes"] = axes
        if rng.random() < 0.5 and 0 not in shape:  # NumPy makes up items where there are none
            options["s"] = [rng.choice((1, 2, 5, 7, -1)) for _ in axes]
        elif rng.random() < 0.3:
            options["axes"] = None
    else:
        options["axis"] = rng.randrange(-len(shape), len(shape))
        options["n"] = rng.choice((None, 1, 2, 5, 8, 0, -3)) if 0 not in shape else None
    wanted = outcome(getattr(np.fft, name), x, **options)
    with patch.object(slabs, "SLAB_BYTES", rng.choice((0, 200, 64 << 20))):
        found = outcome(getattr(fft, name), operand(rng, x), **options)
    if isinstance(wanted, Exception):
        assert same_refusal(found, wanted), (found, wanted)
    else:
        check_close(found, wanted)


@law(30)
def test_shifts_are_those_of_numpy(rng):
    x = np.arange(np.prod(shape := [rng.randint(1, 5) for _ in range(rng.randint(1, 3))])).reshape(shape)
    axes = rng.choice((None, 0, tuple(rng.sample(range(x.ndim), rng.randint(1, x.ndim)))))
    a = operand(rng, x)
    check_result(rng, fft.fftshift(a, axes=axes), np.fft.fftshift(x, axes))
    check_result(rng, fft.ifftshift(a, axes=axes), np.fft.ifftshift(x, axes))
    n, d = rng.randint(1, 9), rng.random() + 0.1
    check_close(fft.fftfreq(n, d=d), np.fft.fftfreq(n, d))
    check_close(fft.rfftfreq(n, d=d, dtype=np.float32), np.fft.rfftfreq(n, d).astype("f4"))


def test_transforms_of_what_does_not_fit_go_slab_by_slab(tmp_path):
    x = np.random.default_rng(4).standard_normal((1000, 1200))
    a = cq.asarray(x, chunks=(100, 120))
    with patch.object(slabs, "SLAB_BYTES", 2 << 20):
        tracemalloc.start()
        try:
            made = [fft.fft(a, axis=axis, path=tmp_path / f"{axis}.b2nd") for axis in (0, 1)]
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    for axis, ours in enumerate(made):
        np.testing.assert_allclose(ours[...], np.fft.fft(x, axis=axis), rtol=0, atol=1e-10)
    assert peak < 8 << 20  # Of 9 MiB and 18.


MODULES = {"": (manipulation, joining, linear_algebra), "linalg": (linalg,), "fft": (fft,)}


def standard_names():
    for space, modules in MODULES.items():
        theirs = getattr(array_api_strict, space) if space else array_api_strict
        names = theirs.__all__ if space else {name for module in modules for name in module.__all__}
        for name in sorted(names):
            if hasattr(theirs, name):
                yield pytest.param(modules, getattr(theirs, name), id=f"{space}.{name}")


@pytest.mark.parametrize(("modules", "theirs"), list(standard_names()))
def test_signatures_are_those_of_the_standard(modules, theirs):
    ours = next(getattr(module, theirs.__name__) for module in modules if hasattr(module, theirs.__name__))
    found, wanted = (inspect.signature(function).parameters for function in (ours, theirs))
    for name, parameter in wanted.items():
        assert name in found, f"{name} is missing"
        assert found[name].kind == parameter.kind, name
        assert parameter.default in (inspect.Parameter.empty, found[name].default), name
    assert [name for name in found if name in wanted] == list(wanted)
    for name, parameter in found.items():
        if name not in wanted and parameter.kind != parameter.VAR_KEYWORD:  # How the result is stored.
            # NumPy's own: nobody has to give them, and they come after the others.
            assert parameter.default is not inspect.Parameter.empty
            assert parameter.kind == parameter.KEYWORD_ONLY
