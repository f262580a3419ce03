"""Each function of the engine is that of NumPy, at special values and at random ones, for all types."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import coquina as cq
from coquina.arrays import results
from coquina.expressions import engine, reference
from coquina.expressions.functions import FUNCTIONS, as_node
from coquina.expressions.nodes import Call
from tests.engine_cases import (
    INEXACT,
    KERNEL_DTYPES,
    OTHER_ORDER,
    assert_equal,
    has_same_values,
    law,
    quietly,
    units_apart,
)

#: Floats that may lie between ours and NumPy's doubles, and between ours and NumPy's doubles made singles.
UNITS = dict.fromkeys(
    (
        *("power", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan"),
        *("arcsin", "arccos", "arctan", "arctan2", "hypot", "sinh", "cosh", "tanh"),
        *("arcsinh", "arccosh", "arctanh"),
    ),
    (1, 1),
)
#: Near 0 these are sums of larger numbers: units of the larger operand.
SUMS = ("logaddexp", "logaddexp2")


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch):
    monkeypatch.setattr(results, "EAGER_BYTES", -1)


def special(dtype: np.dtype) -> np.ndarray:
    """Return numbers at which functions go wrong."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        near = (0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 100, -1, -2, -3, -7, -64)
        wanted = {limits.min, limits.min + 1, limits.max - 1, limits.max, *near}
        return np.array(sorted(one for one in wanted if limits.min <= one <= limits.max), dtype)
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    facts = np.finfo(part)
    sizes = [0.0, 1, 2, 0.5, 1.5, 2.5, 3, 0.1, 0.7, 1e-3, 10, 100.25, 1e5, 88.5, 709.5, np.pi, 2**31, 2**63]
    sizes += [facts.max, facts.tiny, facts.smallest_subnormal, facts.tiny * part.type(0.75), facts.eps]
    sizes += [np.inf, 1 + facts.eps, 1 - facts.eps / 2]
    parts = np.array([*sizes, *[-size for size in sizes], np.nan], part)
    if dtype.kind == "f":
        return parts
    items = np.empty((parts.size, parts.size), dtype)
    items.real, items.imag = parts[:, None], parts
    return items.ravel()


def table_rows():
    """Yield each function with the dtypes that it has a loop in NumPy for, if the engine has one too."""
    for function in {id(row): row for row in FUNCTIONS.values() if row.kernel}.values():
        for dtypes in itertools.product(map(np.dtype, KERNEL_DTYPES), repeat=function.arity):
            try:
                loop = function.resolve(dtypes)
            except TypeError:
                continue
            found = engine._core.has_kernel(function.kernel, [dtype.name for dtype in dtypes])
            if loop[:-1] == dtypes and found is not None:
                assert found == loop[-1].name, (function.name, dtypes)
                yield function, dtypes


def operands_of(function, dtypes, rng):
    """Return all pairs of special numbers, or of very many some."""
    special_items = [special(dtype) for dtype in dtypes]
    if np.prod([items.size for items in special_items]) > 20_000:
        return [rng.choice(items, 5000) for items in special_items]
    if function.name == "ldexp":  # NumPy's loops differ for what is far beyond all exponents
        special_items[1] = special_items[1].clip(-5000, 5000)
    return [grid.ravel() for grid in np.meshgrid(*special_items, indexing="ij")]


def both(function, operands):
    """Return what the engine and what NumPy make of operands."""
    nodes = tuple(map(as_node, operands))
    node = Call(function, nodes, nodes[0].shape, function.resolve(tuple([one.dtype for one in nodes]))[-1])
    region = (slice(0, len(operands[0])),)
    return engine.read(node, region), reference.read(node, region)


ROWS = list(table_rows())


@pytest.mark.parametrize("name", sorted({function.name for function, _ in ROWS}))
def test_every_kernel_is_numpys_function_at_special_values(name):
    rng = np.random.default_rng(1)
    for function, dtypes in ROWS:
        if function.name != name:
            continue
        operands = operands_of(function, dtypes, rng)
        if name == "power" and dtypes[0].kind in "iu":
            operands[1] = np.maximum(operands[1], 0)  # negative ones are errors
        found, wanted = both(function, operands)
        assert found.dtype == wanted.dtype
        text = f"{name} of {dtypes}"
        if name in UNITS and dtypes[0].kind == "f":
            assert_near(name, operands, found, wanted)
        elif name in SUMS:
            assert_sum_near(name, operands, found, wanted)
        elif (name, dtypes[0].kind) in INEXACT:
            if name in ("fmax", "fmin"):
                assert np.array_equal(found, wanted, equal_nan=True), text
            elif name in ("absolute", "sign"):
                part = found.dtype.type(0).real.dtype
                assert units_apart(found.view(part), wanted.view(part)).max() <= 2, text
            else:
                assert_product_near(operands, found, wanted)
        else:
            assert has_same_values(found, wanted), text


def assert_near(name, operands, found, wanted):
    """Check singles against NumPy's doubles: NumPy's singles are up to 4 units off."""
    if found.dtype == np.float32:
        with quietly():
            wanted = getattr(np, name)(*[one.astype("f8") for one in operands]).astype("f4")
    units = units_apart(found, wanted)
    at = int(units.argmax())
    assert units[at] <= UNITS[name][found.dtype == np.float32], (name, [one[at] for one in operands])
    assert np.array_equal(np.signbit(found[found == 0]), np.signbit(wanted[found == 0]))


def assert_sum_near(name, operands, found, wanted):
    """Check what is a sum of larger numbers near 0: to units of the largest of these."""
    with quietly():
        if found.dtype == np.float32:
            wanted = getattr(np, name)(*[one.astype("f8") for one in operands]).astype("f4")
        larger = np.maximum(np.abs(wanted), np.maximum(*map(np.abs, operands)))
        is_near = np.abs(found - wanted) <= 2 * np.spacing(larger)
        assert np.all(is_near | (found == wanted) | (np.isnan(found) & np.isnan(wanted)))


def assert_product_near(operands, found, wanted):
    """Check products of parts that are numbers and do not overflow, to the size of what is summed."""
    x, y = operands if len(operands) == 2 else operands * 2
    eps = np.finfo(found.dtype).eps
    with quietly():
        scale = (np.abs(x.real) + np.abs(x.imag)) * (np.abs(y.real) + np.abs(y.imag))
        is_plain = np.isfinite(scale)
        least = np.finfo(found.dtype).tiny
        assert np.all(np.abs(found - wanted)[is_plain] <= 2 * eps * scale[is_plain] + least)


@law(6)
def test_functions_that_are_no_arithmetic_are_near_those_of_numpy(rng, folder):
    random = np.random.default_rng(rng.getrandbits(60))
    for name in (*UNITS, *SUMS):
        function = FUNCTIONS[name]
        for dtype, bits in (("f4", "u4"), ("f8", "u8")):
            spread = 2.0 ** random.integers(-30, 12, 3000)
            near = [(random.standard_normal(3000) * spread).astype(dtype) for _ in range(function.arity)]
            # Of any size, as their bits come; NumPy reduces the largest angles otherwise.
            most = 2 ** (8 * np.dtype(dtype).itemsize) - 1
            wild = [random.integers(0, most, 3000, bits).view(dtype) for _ in range(function.arity)]
            for operands in (near, wild):
                found, wanted = both(function, operands)
                if name in SUMS:
                    assert_sum_near(name, operands, found, wanted)
                else:
                    assert_near(name, operands, found, wanted)


def test_casts_are_those_of_numpy_within_range():
    for start, end in itertools.product(map(np.dtype, (*KERNEL_DTYPES, *OTHER_ORDER)), repeat=2):
        items = special(start.newbyteorder("=")).astype(start)
        with quietly():
            if start.kind in "fc" and end.kind in "iu":
                limits = np.iinfo(end)
                real = np.trunc(items.real.astype("g"))
                items = items[(real >= limits.min) & (real <= limits.max)]
            # NumPy's casts keep a NaN; of complex numbers the real part is taken.
            wanted = (items.real if start.kind == "c" and end.kind in "iuf" else items).astype(end)
        assert_equal(cq.astype(cq.asarray(items), end)[...], wanted)
