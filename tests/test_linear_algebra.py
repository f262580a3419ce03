"""Products of arrays against NumPy: any shapes and dtypes, at once and tile by tile, with bounded memory."""

from __future__ import annotations

import tracemalloc
from random import Random
from unittest.mock import patch

import numpy as np
import pytest

import coquina as cq
from coquina.arrays.array import Array
from coquina.expressions.expression import Expr
from coquina.functions import contraction, linear_algebra
from coquina.functions.einstein import einsum
from tests.layout_cases import Lazy, law, operand, outcome, same_refusal

DTYPES = ("?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", ">i4", ">f8")


def some_items(rng: Random, shape) -> np.ndarray:
    """Return small whole numbers, whose products and sums are exact in every dtype."""
    numbers = np.random.default_rng(rng.getrandbits(60)).integers(-3, 4, (2, *shape))
    dtype = np.dtype(rng.choice(DTYPES))
    numbers = np.abs(numbers) if dtype.kind in "bu" else numbers
    return (numbers[0] + 1j * numbers[1] if dtype.kind == "c" else numbers[0]).astype(dtype)


def some_shape(rng: Random, axes_min: int = 1, axes_max: int = 4) -> list[int]:
    return [rng.choice((0, 1, 1, 2, 3, 4, 6)) for _ in range(rng.randint(axes_min, axes_max))]


def check_product(rng: Random, ours, theirs, x1: np.ndarray, x2: np.ndarray, **options) -> None:
    """Check that a product of two operands of any kind is NumPy's."""
    check_products(rng, ours, theirs, [x1, x2], **options)


def check_products(rng: Random, ours, theirs, items: list[np.ndarray], *first, **options) -> None:
    """Check that a product of operands of any kind is NumPy's, with little memory for panels or much."""
    wanted = outcome(theirs, *first, *items, **options)
    sizes = {"PANEL_BYTES": rng.choice((0, 20, 300, 64 << 20)), "TILE_BYTES": rng.choice((0, 40, 4000))}
    with patch.multiple(contraction, **sizes):
        found = outcome(ours, *first, *[operand(rng, x) for x in items], **options)
    if isinstance(wanted, Exception):
        assert same_refusal(found, wanted), (found, wanted)
    else:
        assert not isinstance(found, Exception), (found, [x.shape for x in items], first, options)
        # Zeros of both signs are the same number.
        wanted = np.asarray(wanted)
        assert isinstance(found, (Array, Expr))
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_array_equal(found[...], wanted)


class Ours:
    einsum = staticmethod(einsum)

    def __getattr__(self, name):
        return getattr(linear_algebra, name)


@law(120)
def test_matmul_is_that_of_numpy(rng):
    a, b = some_shape(rng), some_shape(rng)
    if rng.random() < 0.9:
        b[-2 if len(b) > 1 else -1] = a[-1]
        for axis in range(3, min(len(a), len(b)) + 1):
            b[-axis] = rng.choice((a[-axis], 1))
    x1, x2 = some_items(rng, a), some_items(rng, b)
    check_product(rng, linear_algebra.matmul, np.matmul, x1, x2)
    check_product(rng, linear_algebra.dot, np.dot, x1, x2)


@law(80)
def test_vecdot_is_that_of_numpy(rng):
    a = some_shape(rng)
    axis = rng.randrange(-len(a), len(a))
    b = [rng.choice((size, 1)) for size in a]
    b[axis] = a[axis] if rng.random() < 0.9 else a[axis] + 1
    if axis < 0:
        b = b[rng.randint(0, len(b) + axis) :]
    pair = (some_items(rng, a), some_items(rng, b))
    check_product(
        rng, linear_algebra.vecdot, np.vecdot, *(pair if rng.random() < 0.5 else pair[::-1]), axis=axis
    )
    b = some_shape(rng)
    b[-1] = a[-1]
    check_product(rng, linear_algebra.inner, np.inner, some_items(rng, a), some_items(rng, b))
    check_product(rng, linear_algebra.vdot, np.vdot, some_items(rng, a), some_items(rng, a))


@law(80)
def test_tensordot_is_that_of_numpy(rng):
    a, b = some_shape(rng, 0), some_shape(rng, 0)
    count = rng.randint(0, min(len(a), len(b)))
    if rng.random() < 0.5:
        axes = count
        b[:count] = a[len(a) - count :]
    else:
        axes = (
            rng.sample(range(len(a)), count),
            [axis - len(b) for axis in rng.sample(range(len(b)), count)],
        )
        for first, second in zip(*axes, strict=True):
            b[second] = a[first]
    if b and rng.random() < 0.1:
        b[0] += 1
    x1, x2 = some_items(rng, a), some_items(rng, b)
    check_product(rng, linear_algebra.tensordot, np.tensordot, x1, x2, axes=axes)
    check_product(rng, linear_algebra.outer, np.outer, x1, x2)
    native = [x.astype(x.dtype.newbyteorder("=")) for x in (x1, x2)]
    check_product(rng, linear_algebra.kron, np.kron, *native)


@law(80)
def test_einsum_is_that_of_numpy(rng):
    terms = ["".join(rng.choices("iJkl", k=rng.randint(0, 3))) for _ in range(rng.randint(1, 3))]
    letters = sorted(set("".join(terms)))
    subscripts = ",".join(terms)
    if rng.random() < 0.5:
        place = rng.randint(0, len(terms) - 1)
        terms[place] = "..." + terms[place] if rng.random() < 0.5 else terms[place] + "..."
        subscripts = " , ".join(terms)
    if rng.random() < 0.6:
        chosen = rng.sample(letters, rng.randint(0, len(letters)))
        subscripts += "->" + "".join([*chosen, "..."] if "..." in subscripts else chosen)
    lengths = {letter: rng.choice((0, 1, 2, 3, 5)) for letter in letters}
    operands = []
    for term in terms:
        before, dots, after = term.partition("...")
        shape = [lengths[letter] for letter in before]
        shape += some_shape(rng, 0, 2) if dots else []
        operands.append(some_items(rng, [*shape, *[lengths[letter] for letter in after]]))
    # Sums of three factors of 16 bits are not exact; and some results of NumPy keep the byte order.
    operands = [x.astype("f4") if x.dtype in ("f2", ">f8", ">i4") else x for x in operands]
    check_products(rng, einsum, np.einsum, operands, subscripts)


@pytest.mark.parametrize(
    "call",
    [
        lambda ns, x, v: ns.einsum("ij,j", x),
        lambda ns, x, v: ns.einsum("ij,i", x, v),
        lambda ns, x, v: ns.einsum("i->i", x),
        lambda ns, x, v: ns.einsum("ij->ik", x),
        lambda ns, x, v: ns.einsum("i?", x),
        lambda ns, x, v: ns.matmul(x, v[:-1]),
        lambda ns, x, v: ns.matmul(x, np.float64(3)),
        lambda ns, x, v: ns.matmul(x, x),
        lambda ns, x, v: ns.matmul(v, v[:-1]),
        lambda ns, x, v: ns.matmul(np.ones((2, 3, 4)), np.ones((3, 4, 2))),
        lambda ns, x, v: ns.vecdot(x, v, axis=1),
        lambda ns, x, v: ns.vecdot(x, np.ones((2, 4))),
        lambda ns, x, v: ns.tensordot(x, x, axes=((0, 0), (0, 0))),
        lambda ns, x, v: ns.tensordot(x, v, axes=((5,), (0,))),
        lambda ns, x, v: ns.dot(x, v[:2]),
        lambda ns, x, v: ns.inner(x, v[:2]),
        lambda ns, x, v: ns.matmul(x, np.array(["a", "b", "c", "d"])),
    ],
)
def test_what_numpy_refuses_is_refused(call):
    x, v = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    theirs = outcome(call, np, x, v)
    assert isinstance(theirs, Exception)
    with patch.object(contraction, "PANEL_BYTES", 0):
        ours = outcome(call, Ours(), cq.asarray(x), v)
    assert same_refusal(ours, theirs), (ours, theirs)


def test_large_products_are_made_tile_by_tile(tmp_path):
    rng = np.random.default_rng(5)
    x1 = rng.integers(-9, 9, (1500, 1100)).astype("f8")
    x2 = rng.integers(-9, 9, (1100, 900)).astype("f8")
    a, b = cq.asarray(x1, chunks=(200, 300)), cq.asarray(x2, chunks=(250, 128))
    with patch.multiple(contraction, PANEL_BYTES=2 << 20, TILE_BYTES=1 << 20):
        tracemalloc.start()
        try:
            made = linear_algebra.matmul(a, b, path=tmp_path / "made.b2nd")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert made.path == str(tmp_path / "made.b2nd")
    np.testing.assert_array_equal(made[...], x1 @ x2)
    # All three are 31 MiB; panels, a tile or a chunk, and its product are far less.
    assert peak < 14 << 20
    made.close()
    with pytest.raises(FileExistsError), patch.object(contraction, "PANEL_BYTES", 0):
        linear_algebra.matmul(a, b, path=tmp_path / "made.b2nd")


def test_operands_are_read_few_times():
    x = np.ones((512, 512), "f4")
    read = []

    class Counted:
        shape, dtype, nbytes, chunks = x.shape, x.dtype, x.nbytes, (64, 64)

        def __getitem__(self, key):
            read.append(x[key].nbytes)
            return x[key]

    with patch.multiple(contraction, PANEL_BYTES=x.nbytes // 2, TILE_BYTES=1 << 20):
        made = linear_algebra.matmul(Counted(), Counted())
    np.testing.assert_array_equal(made[...], x @ x)
    assert sum(read) <= 5 * x.nbytes
    assert max(read) <= x.nbytes // 2


def test_operators_multiply_matrices():
    x = np.arange(12.0).reshape(3, 4)
    a = cq.asarray(x)
    np.testing.assert_array_equal((Lazy(a) @ x.T)[...], x @ x.T)
    np.testing.assert_array_equal((Lazy(a) @ Lazy(a)[...].T)[...], x @ x.T)
