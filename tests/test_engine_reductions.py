"""Reductions of arrays and expressions are those of NumPy: values, dtypes, shapes, warnings, errors."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np
import pytest

import coquina as cq
from coquina.arrays import results
from coquina.arrays.operators import Operators
from coquina.functions import reducing
from tests.array_cases import random_lengths
from tests.engine_cases import (
    KERNEL_DTYPES,
    OTHER_ORDER,
    has_same_values,
    items_of,
    law,
    operand,
    quietly,
    stored,
    uniform,
)

DTYPES = (*KERNEL_DTYPES, *OTHER_ORDER, "f2", "g")
SUMS = ("sum", "prod", "mean", "var", "std")
OTHERS = ("min", "max", "ptp", "any", "all", "count_nonzero", "argmin", "argmax")
NANS = ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmin", "nanmax", "nanargmin", "nanargmax")
#: Which options methods take.
METHODS = {name: {"axis", "keepdims"} for name in ("min", "max", "any", "all", "argmin", "argmax")}
METHODS |= {name: {"axis", "keepdims", "dtype"} for name in ("sum", "prod", "mean")}
METHODS |= {name: {"axis", "keepdims", "ddof"} for name in ("var", "std")}
REFUSALS = (TypeError, ValueError, ZeroDivisionError, OverflowError, MemoryError)


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch):
    monkeypatch.setattr(results, "EAGER_BYTES", -1)
    monkeypatch.setattr(reducing, "EAGER_BYTES", 0)


def outcome(call: Any, *args: Any, **options: Any) -> tuple[Any, set[str]]:
    """Return what a call gives or raises, and what it says of slices without items."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            result = call(*args, **options)
        except REFUSALS as error:
            return error, set()
    return result, {str(one.message) for one in caught if "slice" in str(one.message)}


def axes_of(rng: Random, ndim: int, *, single: bool) -> Any:
    """Return an axis, none, or several; some of them do not exist."""
    if not ndim or rng.random() < 0.3:
        return None
    if rng.random() < 0.03:
        return rng.choice((ndim, -ndim - 1))
    if single or rng.random() < 0.5:
        return rng.randrange(-ndim, ndim)
    axes = rng.sample(range(ndim), rng.randint(0, ndim))
    return tuple([axis - rng.choice((0, ndim)) for axis in axes])


def plain(rng: Random, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return numbers whose sums and squares neither overflow nor cancel, with NaN among them at times."""
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        return items_of(rng, shape, dtype)
    random = np.random.default_rng(rng.getrandbits(60))
    items = np.asarray(random.uniform(0.5, 2, shape)).astype(dtype)
    if dtype.kind == "c":
        items = np.asarray(items + 1j * random.uniform(-1, 1, shape)).astype(dtype)
    if rng.random() < 0.5:
        items = np.array(items)
        items[np.asarray(random.random(shape) < 0.1)] = np.nan
    return items


def assert_result(found: Any, wanted: Any, name: str, items: np.ndarray, said: Any, words: Any) -> None:
    text = f"{name} of {items.dtype} {items.shape}"
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), f"{text}: {found!r}, not {wanted!r}"
        assert isinstance(found, type(wanted)) or isinstance(wanted, type(found)), (found, wanted)
        return
    if isinstance(found, Exception):
        raise found
    assert said == words, text
    assert isinstance(found, np.ndarray) == isinstance(wanted, np.ndarray), text
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), text
    if wanted.dtype.kind not in "fc":
        assert np.array_equal(found, wanted), (text, found, wanted)
        return
    # NumPy adds items of float32 in float32: its error grows with their number, ours does not.
    precise = items if items.dtype.kind in "fc" else wanted
    eps = max(float(np.finfo(wanted.dtype).eps), float(np.finfo(precise.dtype).eps))
    bound = eps * (4 + 2 * items.size)
    if name.endswith("prod"):
        # Ours are taken in higher precision, and overflow later on the way.
        is_plain = np.isfinite(wanted) & (np.abs(wanted) > np.finfo(wanted.dtype).tiny)
        found, wanted = found[is_plain], wanted[is_plain]
    with quietly():
        np.testing.assert_allclose(
            found, wanted, rtol=bound, atol=0 if name.endswith("prod") else bound, err_msg=text
        )


def compare(name: str, ours: Any, items: np.ndarray, **options: Any) -> None:
    theirs = dict(options)
    if isinstance(theirs.get("where"), cq.Array):
        theirs["where"] = theirs["where"][...]
    wanted, words = outcome(getattr(np, name), items, **theirs)
    found, said = outcome(getattr(cq, name), ours, **options)
    assert_result(found, wanted, name, items, said, words)
    if name in METHODS and not options.keys() - METHODS[name] and not isinstance(found, Exception):
        method, _ = outcome(getattr(cq_array(ours), name), **options)
        assert has_same_values(np.asarray(method), np.asarray(found))


def cq_array(x: Any) -> Any:
    """Return what has our methods."""
    return x if isinstance(x, Operators) else cq.asarray(x)


def subject(rng: Random, folder: Any) -> tuple[Any, np.ndarray]:
    """Return an array, an expression, or any other operand, and what it is in NumPy."""
    shape = random_lengths(rng, axes_max=4, items_max=600)
    dtype = rng.choice(DTYPES)
    if rng.random() < 0.1:
        return uniform(rng, shape, dtype)
    items = plain(rng, shape, dtype)
    kind = rng.random()
    if kind < 0.4:
        return stored(rng, items), items
    if kind < 0.7:
        return operand(rng, items, folder), items
    other = plain(rng, shape[rng.randint(0, len(shape)) :], rng.choice(("u1", "f4", "f8", "i4", "?")))
    with quietly():
        if rng.random() < 0.3 and items.dtype.kind != "c":
            return stored(rng, items) < stored(rng, other), np.asarray(items < other)
        return cq.maximum(operand(rng, items, folder), stored(rng, other)), np.asarray(
            np.maximum(items, other)
        )


def options_of(rng: Random, name: str, items: np.ndarray) -> dict[str, Any]:
    single = "arg" in name
    options: dict[str, Any] = {"axis": axes_of(rng, items.ndim, single=single)}
    if rng.random() < 0.4:
        options["keepdims"] = rng.random() < 0.7
    plain_name = name.removeprefix("nan")
    if plain_name in ("var", "std") and rng.random() < 0.5:
        options["ddof"] = rng.choice((0, 1, 1.5, 40))
    if plain_name not in ("argmin", "argmax", "ptp", "count_nonzero") and rng.random() < 0.3:
        mask = np.asarray(np.random.default_rng(rng.getrandbits(30)).random(items.shape) < 0.7)
        options["where"] = mask if rng.random() < 0.5 else stored(rng, mask)
        if plain_name in ("min", "max"):
            options["initial"] = 1
    if plain_name in ("sum", "prod", "min", "max") and "where" not in options and rng.random() < 0.2:
        options["initial"] = rng.choice((0, 1, 3))
    is_float = items.dtype.kind in "fc" or plain_name in ("mean", "var", "std")
    if plain_name in SUMS and items.dtype.kind in "biuf" and rng.random() < 0.2:
        options["dtype"] = rng.choice(("f4", "f8", "c16") if is_float else ("i2", "u8", "f8", "i8"))
    return options


def is_apart(name: str, items: np.ndarray, options: dict[str, Any]) -> bool:
    """Whether NumPy itself does not say what the result is to be."""
    low = items.dtype == np.float16 or options.get("dtype") == "f4"
    is_nan = items.dtype.kind in "fc" and bool(np.isnan(items).any())
    # Sums of floats of which the large ones cancel are what is left of them.
    is_float = name.removeprefix("nan") in ("mean", "var", "std") or options.get("dtype") in ("f8", "c16")
    if is_float and items.dtype.kind in "iu" and items.dtype.itemsize == 8:
        return True
    # Halves overflow; large integers lose all digits in float32; places of complex NaN are NumPy's own.
    return (low and name.removeprefix("nan") in SUMS) or (
        items.dtype.kind == "c" and is_nan and "arg" in name
    )


@law(500)
def test_reductions_are_those_of_numpy(rng, folder):
    with quietly():
        ours, items = subject(rng, folder)
        name = rng.choice((*SUMS, *OTHERS, *NANS))
        options = options_of(rng, name, items)
        if not is_apart(name, items, options) and not (name == "ptp" and items.dtype.kind == "b"):
            compare(name, ours, items, **options)


@law(60)
def test_sums_are_as_exact_as_they_can_be(rng, folder):
    """Sums of float32 are rounded once; sums of float64 are within what adding by pairs gives."""
    shape = random_lengths(rng, axes_max=3, items_max=1500)
    items = items_of(rng, shape, "f8", -1000, 1000)
    items[~(np.abs(items) < 1e6)] = 7
    axis = axes_of(Random(1), len(shape), single=True) if shape else None
    for dtype in ("f4", "f8"):
        values = items.astype(dtype)
        exact = values.astype("g").sum(axis=axis)
        size = np.abs(values.astype("g")).sum(axis=axis)
        found = np.asarray(stored(rng, values).sum(axis=axis), "g")
        room = np.spacing(np.abs(exact).astype("f4")) if dtype == "f4" else 1e-15 * size
        assert np.all(np.abs(found - exact) <= room + 1e-12 * size * (dtype == "f4"))


@pytest.mark.parametrize("dtype", KERNEL_DTYPES)
def test_the_number_of_threads_shows_in_no_bit(dtype):
    rng = Random(4)
    items = items_of(rng, (41, 37, 29), dtype)
    array = cq.asarray(items, chunks=(16, 16, 16), blocks=(4, 8, 16))
    expression = cq.where(array > 1, array, array * 2) if np.dtype(dtype).kind != "c" else array + array
    names = [*SUMS, *OTHERS, *(NANS if np.dtype(dtype).kind in "fc" else ())]
    before = cq.num_threads()
    seen = []
    try:
        for threads in (1, 2, 7):
            cq.set_num_threads(threads)
            texts = []
            for name in names:
                for one in (array, expression):
                    for axis in (None, 0, 1, 2, (0, 2), (1, 2)):
                        if "arg" not in name or not isinstance(axis, tuple):
                            result, said = outcome(getattr(cq, name), one, axis=axis)
                            is_error = isinstance(result, Exception)
                            text = repr(result) if is_error else np.asarray(result).tobytes()
                            texts.append((name, axis, text, sorted(said)))
            seen.append(texts)
    finally:
        cq.set_num_threads(before)
    assert seen[0] == seen[1] == seen[2]


def test_what_bounds_tell_is_not_read(tmp_path):
    items = np.arange(40_000.0)[::-1].copy()
    items[777] = np.nan
    for path in (None, tmp_path / "x.b2nd"):
        x = cq.asarray(items, chunks=(4000,), blocks=(500,), path=path)
        before = x.handle.stats()["blocks_decoded"]
        assert cq.nanmax(x) == 39_999
        assert cq.nanmin(x) == 0
        assert x.handle.stats()["blocks_decoded"] == before
        assert np.isnan(cq.max(x))
        # The chunk with NaN is read.
        assert x.handle.stats()["blocks_decoded"] - before <= 8
        assert np.isnan(x[...].min())
        # Bounds of what was written over are limits only.
        x[5:] = 3.0
        assert cq.max(x) == 39_999
        assert cq.min(x) == 3


def test_chunks_of_which_all_or_nothing_meets_a_condition_are_not_read():
    x = cq.asarray(np.arange(100_000), chunks=(5000,), blocks=(1000,))
    before = x.handle.stats()["blocks_decoded"]
    assert cq.count_nonzero(x < 50_000) == 50_000
    assert cq.any(x == -1) == np.False_
    assert cq.all(x >= 0) == np.True_
    assert x.handle.stats()["blocks_decoded"] == before
    assert cq.sum(x < 62_345) == 62_345
    assert x.handle.stats()["blocks_decoded"] - before <= 5
