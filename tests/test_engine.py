"""The engine computes what NumPy does: trees over operands of every kind, each function at special values."""

from __future__ import annotations

import operator
import subprocess
import sys
import warnings
from random import Random

import numpy as np
import pytest

import coquina as cq
from coquina import CorruptError
from coquina.arrays import results
from coquina.expressions import reference
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node
from tests.array_cases import random_items, random_lengths, random_partition, same_items
from tests.engine_cases import (
    INEXACT,
    KERNEL_DTYPES,
    OTHER_ORDER,
    assert_equal,
    has_same_values,
    items_of,
    law,
    new_path,
    operand,
    quietly,
    stored,
    uniform,
)
from tests.expression_cases import good_key

DTYPES = (*KERNEL_DTYPES, *KERNEL_DTYPES, *OTHER_ORDER, "f2", "g")
SCALARS = (0, 1, 2, -1, 3, 0.5, -2.5, 1e6, True, np.float32(1.5), np.int16(7), np.uint8(3), np.float64(-0.0))
#: Those of which every bit is NumPy's.
BINARY = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "maximum", "minimum"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "copysign", "nextafter"),
    *("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("left_shift", "right_shift", "heaviside", "gcd", "lcm"),
)
UNARY = (
    *("negative", "absolute", "sign", "square", "sqrt", "floor", "ceil", "trunc", "rint", "reciprocal"),
    *("isnan", "isinf", "isfinite", "signbit", "logical_not", "invert", "conjugate", "fabs", "spacing"),
    *("real", "imag", "bitwise_count", "positive"),
)


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch):
    monkeypatch.setattr(results, "EAGER_BYTES", -1)


def leaf(rng: Random, shape: tuple[int, ...], folder):
    """Return an operand that broadcasts to a shape, and what it is in NumPy."""
    own = [size if rng.random() < 0.8 else 1 for size in shape[rng.choice((0, 0, 0, 1)) :]]
    dtype = rng.choice(DTYPES)
    if rng.random() < 0.15:
        return uniform(rng, tuple(own), dtype)
    items = items_of(rng, tuple(own), dtype)
    return operand(rng, items, folder), items


def step(rng: Random, pool: list) -> tuple | None:
    """Return a function of what there is, ours and NumPy's; None where NumPy has no such function."""
    kind = rng.random()
    (x, x_items), (y, y_items) = rng.choice(pool), rng.choice(pool)
    scalar = rng.choice(SCALARS)
    if kind < 0.2:
        name, ours, theirs = rng.choice(UNARY), (x,), (x_items,)
    elif kind < 0.3:
        mask, mask_items = cq.not_equal(x, scalar), np.not_equal(x_items, scalar)
        other, items = rng.choice(((y, y_items), (scalar, scalar)))
        name, ours, theirs = "where", (mask, x, other), (mask_items, x_items, items)
    elif kind < 0.4:
        dtype = rng.choice((*KERNEL_DTYPES, "f2", ">f8"))
        if not np.can_cast(x_items.dtype, dtype, "same_kind"):
            return None
        return cq.astype(x, dtype), x_items.astype(dtype)
    else:
        pair = rng.choice(((y, y_items), (scalar, scalar)))
        pairs = rng.sample([(x, x_items), pair], 2)
        name, (ours, theirs) = rng.choice(BINARY), zip(*pairs, strict=True)
    try:
        wanted = getattr(np, name)(*theirs)
    except (TypeError, OverflowError, ValueError) as error:
        with pytest.raises(type(error)):
            getattr(cq, name)(*ours)
        return None
    if (name, wanted.dtype.kind) in INEXACT or (name, np.result_type(*theirs).kind) in INEXACT:
        return None
    return getattr(cq, name)(*ours), np.asarray(wanted)


def tree(rng: Random, folder):
    """Return an expression, and what it is in NumPy."""
    shape = tuple(
        [rng.choice((0, 1, 2, 3, 7, 13)) if rng.random() < 0.2 else rng.randint(2, 9) for _ in range(4)]
    )
    shape = shape[: rng.choice((0, 1, 1, 2, 2, 3, 4))]
    pool = [leaf(rng, shape, folder) for _ in range(rng.randint(1, 3))]
    found = None
    for _ in range(rng.randint(1, 8)):
        made = step(rng, pool)
        if made is not None:
            found = made
            pool.append(made)
    return found


@law(350)
def test_trees_over_operands_of_every_kind_are_those_of_numpy(rng, folder):
    with quietly():
        made = tree(rng, folder)
        if made is None:
            return
        ours, items = made
        assert isinstance(ours, Expr)
        assert (ours.shape, ours.dtype) == (items.shape, items.dtype)
        assert_equal(ours[...], items[...])
        key = good_key(rng.getrandbits(32), items.shape)
        assert_equal(ours[key], items[key])
        where = rng.choice((None, None, "file"))
        path = where and new_path(folder)
        computed = ours.compute(path, **random_partition(rng, items.shape), threads=rng.choice((1, 3)))
        if path:
            computed.close()
            computed = cq.open(path)
            assert computed.verify() == []
        assert_equal(computed[...], items[...])
        assert_equal(reference.read(ours.node, tuple(map(slice, [0] * items.ndim, items.shape))), items)


def test_the_number_of_threads_shows_in_no_bit(tmp_path):
    rng = Random(5)
    x = stored(rng, items_of(rng, (61, 53, 40), "f4"))
    y = stored(rng, items_of(rng, (53, 1), "i2"))
    e = cq.where(x > y, cq.sin(x) * 2, cq.sqrt(cq.abs(y) + 0.5)) / (x + 3)
    before = cq.num_threads()
    seen = set()
    try:
        for threads in (1, 2, 7):
            cq.set_num_threads(threads)
            path = tmp_path / f"{threads}.b2nd"
            e.compute(path, threads=threads)
            parts = e[...], e[5:50, :, ::3], e.sum(), e.mean(0), e.var((0, 2)), e.max(1), e.argmin(2)
            texts = [np.asarray(part).tobytes() for part in parts]
            seen.add((*texts, e.compute(threads=threads).to_bytes(), path.read_bytes()))
    finally:
        cq.set_num_threads(before)
    assert len(seen) == 1


def test_conditions_that_bounds_decide_decode_nothing(tmp_path):
    items = np.arange(60_000.0).reshape(300, 200)
    for path in (None, tmp_path / "x.b2nd"):
        x = cq.asarray(items, chunks=(30, 200), blocks=(10, 200), path=path)
        y = cq.asarray(items[::-1].copy(), chunks=(30, 200), blocks=(10, 200))
        conditions = (
            (x < 12_345.5, items < 12_345.5, 3),
            ((x >= 6_000) & (x < 12_000), (items >= 6_000) & (items < 12_000), 0),
            (~(x * 2 + 1 > 24_001), ~(items * 2 + 1 > 24_001), 3),
            ((x == -1) | (x != -1), np.ones_like(items, bool), 0),
        )
        for condition, wanted, most in conditions:
            before = x.handle.stats()["blocks_decoded"]
            assert np.array_equal(condition[...], wanted)
            assert x.handle.stats()["blocks_decoded"] - before <= most
            facts = condition.explain().facts
            assert facts["boxes_known"] > 0
            assert facts["boxes_computed"] <= most
        before = y.handle.stats()["blocks_decoded"]
        assert np.array_equal((x < y)[...], items < items[::-1])
        assert y.handle.stats()["blocks_decoded"] - before == 0


@pytest.mark.parametrize("dtype", ["i1", "u8", "f4", "f8"])
def test_bounds_decide_only_what_is_so(dtype):
    rng = Random(9)
    for _ in range(40):
        items = items_of(rng, (40,), dtype)
        items = np.sort(items) if rng.random() < 0.7 else items
        x = cq.asarray(items, chunks=(8,), blocks=(4,))
        if rng.random() < 0.5:
            at = rng.randrange(40)
            x[at : at + 3] = items[at : at + 3] = items_of(rng, (1,), dtype)[0]
        for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
            limit = rng.choice((items[rng.randrange(40)], np.dtype(dtype).type(3)))
            with quietly():
                assert np.array_equal(compare(x, limit)[...], compare(items, limit))
                assert np.array_equal(
                    compare(x + limit, x * limit)[...], compare(items + limit, items * limit)
                )
                assert np.array_equal(
                    ~(compare(x, limit) & (x != x))[...], ~(compare(items, limit) & (items != items))
                )


def test_operands_that_change_are_followed_or_refused():
    items = np.arange(100.0)
    x, y = cq.asarray(items, chunks=(30,), blocks=(7,)), cq.asarray(items)
    e = x + y
    x[3:50] = items[3:50] = -5
    assert np.array_equal(e[...], items + np.arange(100.0))
    for shape in ((50,), (1,), (120,)):
        for is_lowered in (False, True):
            x = cq.asarray(items)
            changed = [x + y, x.astype("f2") + y, Expr(as_node(x))]
            for e in changed:
                if is_lowered:
                    e[...]
            x.resize(shape)
            for e in changed:
                for use in (lambda e=e: e[...], lambda e=e: e[:1], e.compute, e.sum, lambda e=e: e.max(0)):
                    with pytest.raises(ValueError, match="resized"):
                        use()


def test_damage_and_errors_of_operands_are_errors_of_results(tmp_path):
    path = tmp_path / "x.b2nd"
    items = np.random.default_rng(3).integers(0, 1 << 40, 40_000)
    cq.asarray(items, chunks=(4000,), blocks=(1000,), path=path).close()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    x = cq.open(path)
    target = tmp_path / "out.b2nd"
    for use in (lambda: (x + 1)[...], lambda: (x + 1).compute(target), lambda: (x + 1).sum(), x.sum):
        with pytest.raises(CorruptError):
            use()
    assert not target.exists()
    assert np.array_equal((x + 1)[:4000], items[:4000] + 1)

    @cq.vectorize(dtype="f8")
    def fails(block):
        raise KeyError("mine")

    e = fails(cq.asarray(np.ones(5000))) + 1
    for use in (lambda: e[...], e.compute, e.sum):
        with pytest.raises(KeyError, match="mine"):
            use()


WITHOUT_KERNELS = ("M8[s]", ">M8[D]", "m8[ns]", ">m8[h]", "U3", ">U2", "S4", "f2", ">f2", "g", "G")
OF_OTHERS = (
    *("equal", "not_equal", "less", "greater_equal", "add", "subtract", "maximum", "isnat", "isnan"),
    *("absolute", "negative", "sign", "where", "floor_divide", "divide", "sqrt", "astype", "multiply"),
)


@law(150)
def test_what_has_no_kernels_is_computed_by_numpy(rng, folder):
    shape = random_lengths(rng, axes_max=3, items_max=300) or (4,)  # scalars of strings lose their length
    dtype = np.dtype(rng.choice(WITHOUT_KERNELS))
    items = random_items(rng, shape, dtype), random_items(rng, shape[rng.randint(0, len(shape)) :], dtype)
    name = rng.choice(OF_OTHERS)
    with quietly():
        arrays = [operand(rng, one, folder) for one in items]
        made = []
        for library, (x, y) in ((np, items), (cq, arrays)):
            try:
                if name == "astype":
                    made.append(library.astype(x, {"f": "f8", "c": "f8", "S": "S40"}.get(dtype.kind, "U40")))
                elif name == "where":
                    made.append(library.where(library.equal(x, y), x, y))
                elif getattr(np, name).nin == 1:
                    made.append(getattr(library, name)(x))
                else:
                    made.append(getattr(library, name)(getattr(library, name)(x, y), y))
            except TypeError:
                made.append(None)
        wanted, found = made
        assert (wanted is None) == (found is None)
        if wanted is not None:
            wanted = np.asarray(wanted)
            is_same = same_items if wanted.dtype.kind not in "fc" else has_same_values
            for one in (found[...], found.compute(**random_partition(rng, wanted.shape))[...]):
                assert (one.dtype, one.shape) == (wanted.dtype, wanted.shape)
                assert is_same(one, wanted)
            kinds = {*"?bhilqBHILQfdFD"}
            if name != "where" and {one.dtype.newbyteorder("=").char for one in items} - kinds:
                assert found.explain().facts["by_numpy"]


def test_numpy_warns_of_nothing_in_threads():
    x = cq.asarray(np.zeros(1000, "f2"), chunks=(100,), blocks=(10,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan((x / 0)[...]).all()
        assert cq.astype(cq.asarray(np.full(9, 1e300)), "f2")[3] == np.inf
        assert cq.astype(cq.asarray(np.full(9, 2 + 1j)), "g").sum() == 18


def test_shared_parts_are_computed_once():
    x = cq.asarray(np.ones(1000, "f2"), chunks=(100,), blocks=(50,))
    e, f = x, cq.asarray(np.ones(1000))
    for _ in range(13):
        e, f = e + e, f + f
    assert np.all(e[...] == 2**13)
    for _ in range(47):
        f = f + f
    assert np.all(f[...] == 2.0**60)
    for _ in range(2000):
        e, f = e * np.float16(1), f * 1.0
    assert np.all(e[...] == 2**13)
    assert f.sum() == 1000 * 2.0**60


MEMORY = """
import resource, sys
import numpy as np
import coquina as cq
x = cq.zeros((50_000, 1000), chunks=(500, 1000), blocks=(50, 1000))
for at in range(0, 50_000, 5000):
    x[at : at + 5000] = np.arange(at, at + 5000.0)[:, None]
(x[:100] + 1).sum()
cq.set_num_threads(2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
e = cq.sqrt(x * x + 1.0) - x
assert abs(e.sum() / 1000 - (np.sqrt(np.arange(50_000.0) ** 2 + 1) - np.arange(50_000.0)).sum()) < 1e-3
e.compute(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_large_expressions_take_little_memory(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, tmp_path / "e.b2nd"], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 150 << 10  # KiB
