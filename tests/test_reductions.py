"""Reductions against NumPy: values, dtypes, shapes, errors and warnings, for any cut, axes and options."""

import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp

import coquina as cq
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS, as_node, call
from coquina.functions import nan_reductions, reducing, reductions
from tests.reference.reductions import fold_plain

DTYPES = [
    "?",
    "i1",
    "i2",
    "i4",
    "i8",
    "u1",
    "u2",
    "u4",
    "u8",
    "f2",
    "f4",
    "f8",
    "c8",
    "c16",
    ">f8",
    ">i2",
    ">c8",
    "g",
]
PLAIN = ["sum", "prod", "mean", "var", "std", "min", "max", "ptp", "any", "all", "count_nonzero"]
PLACES = ["argmin", "argmax"]
NANS = ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmin", "nanmax"]
NAN_PLACES = ["nanargmin", "nanargmax"]
PRECISION = {"f2": 2e-2, "f4": 2e-5, "c8": 2e-5}


@pytest.fixture(autouse=True)
def no_array_is_small(monkeypatch):
    monkeypatch.setattr(reducing, "EAGER_BYTES", 0)


def ours(name):
    return getattr(nan_reductions if name.startswith("nan") else reductions, name)


def outcome(call, *args, **options):
    """What a call gives or raises, and what it says of the items."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            result = call(*args, **options)
        except (TypeError, ValueError, ZeroDivisionError) as error:
            return type(error), None
    said = {str(one.message) for one in caught if issubclass(one.category, RuntimeWarning)}
    return result, {one for one in said if "slice" in one or "axis" in one}


def assert_same(name, array, values, *args, **options):
    masks = {key: np.asarray(one) for key, one in options.items() if key in ("where", "weights")}
    found, said = outcome(ours(name), array, *args, **options)
    expected, words = outcome(getattr(np, name), values, *args, **{**options, **masks})
    text = f"{name} of {values.dtype} {values.shape}, {args} {options}"
    if isinstance(expected, type):
        assert isinstance(found, type), f"{text}: {found!r}, not {expected}"
        assert issubclass(found, expected), f"{text}: {found!r}, not {expected}"
        return
    assert said == words, text
    assert np.shape(found) == np.shape(expected), text
    assert np.asarray(found).dtype == np.asarray(expected).dtype, text
    assert isinstance(found, np.ndarray) == isinstance(expected, np.ndarray), text
    code = np.asarray(expected).dtype.str[1:]
    source = values.dtype.str[1:]
    tolerance = max(PRECISION.get(code, 1e-10), PRECISION.get(source, 0) if code[0] in "fc" else 0)
    np.testing.assert_allclose(
        np.asarray(found), np.asarray(expected), rtol=tolerance, atol=tolerance * 50, err_msg=text
    )


@st.composite
def values_of(draw, codes=DTYPES, max_dims=4, max_side=5):
    dtype = np.dtype(draw(st.sampled_from(codes)))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=max_dims, min_side=1, max_side=max_side))
    halves = st.integers(-4, 4).map(lambda n: n / 2)
    if dtype.kind == "c":
        items = st.builds(complex, halves, halves) | st.just(complex(np.nan, 1))
    elif dtype.kind == "f":
        items = halves | st.sampled_from([np.nan, np.inf, -np.inf])
    else:
        items = st.integers(0, 3)
    with np.errstate(all="ignore"):
        return np.array(draw(hnp.arrays(object, shape, elements=items)).tolist(), dtype).reshape(shape)


@st.composite
def cut_of(draw, values):
    chunks = tuple(draw(st.integers(1, size + 1)) for size in values.shape)
    blocks = tuple(draw(st.integers(1, chunk)) for chunk in chunks)
    return cq.asarray(values, chunks=chunks, blocks=blocks) if values.shape else cq.asarray(values)


@st.composite
def axes_of(draw, ndim, single=False):
    if ndim == 0 or draw(st.booleans()):
        return None
    if single or draw(st.booleans()):
        return draw(st.integers(-ndim, ndim - 1))
    return tuple(draw(st.lists(st.integers(0, ndim - 1), unique=True)))


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_reductions_are_those_of_numpy(data):
    values = data.draw(values_of())
    array = data.draw(cut_of(values))
    name = data.draw(st.sampled_from(PLAIN))
    axis = data.draw(axes_of(values.ndim))
    assert_same(name, array, values, axis=axis, keepdims=data.draw(st.booleans()))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_reductions_that_pass_over_nan_are_those_of_numpy(data):
    values = data.draw(values_of([code for code in DTYPES if code != "?"]))
    array = data.draw(cut_of(values))
    name = data.draw(st.sampled_from(NANS))
    axis = data.draw(axes_of(values.ndim))
    assert_same(name, array, values, axis=axis, keepdims=data.draw(st.booleans()))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_places_are_those_of_numpy(data):
    values = data.draw(values_of([code for code in DTYPES if code[-2:] != "c8"]))
    array = data.draw(cut_of(values))
    name = data.draw(st.sampled_from(PLACES + NAN_PLACES))
    if values.dtype.kind == "c" and name.startswith("nan"):
        # NumPy puts a NaN in both parts of what it takes for infinite.
        values = np.nan_to_num(values)
        array = cq.asarray(values)
    axis = data.draw(axes_of(values.ndim, single=True))
    assert_same(name, array, values, axis=axis, keepdims=data.draw(st.booleans()))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_masks_choose_what_is_reduced(data):
    values = data.draw(values_of(["i4", "f4", "f8", "c16", "?", "f2"]))
    array = data.draw(cut_of(values))
    mask = data.draw(hnp.arrays(np.bool_, values.shape))
    name = data.draw(
        st.sampled_from(["sum", "prod", "mean", "var", "std", "any", "all", "min", "max", *NANS])
    )
    if values.dtype.kind == "b" and name in NANS:
        name = "sum"
    options = {"where": mask if data.draw(st.booleans()) else data.draw(cut_of(mask))}
    if name.removeprefix("nan") in ("min", "max"):
        options["initial"] = 1
    assert_same(name, array, values, axis=data.draw(axes_of(values.ndim)), **options)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_dtype_that_is_asked_for_is_that_of_the_sum(data):
    values = data.draw(values_of(["i1", "u2", "i8", "f4", "f8", "?"]))
    array = data.draw(cut_of(values))
    name = data.draw(st.sampled_from(["sum", "prod", "mean", "nansum", "var"]))
    codes = ["f4", "f8", "c16"] + (
        ["i2", "i8"] if name in ("sum", "prod") and values.dtype.kind != "f" else []
    )
    dtype = data.draw(st.sampled_from(codes))
    assert_same(name, array, values, axis=data.draw(axes_of(values.ndim)), dtype=dtype)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_expressions_are_reduced_as_they_are_computed(data):
    values = data.draw(values_of(["f8", "i4"]))
    array = data.draw(cut_of(values))
    other = data.draw(cut_of(values))
    name = data.draw(st.sampled_from([*PLAIN, *PLACES]))
    axis = data.draw(axes_of(values.ndim, single=True))
    with np.errstate(all="ignore"):
        assert_same(name, lazily(array, other), values * 2 + values, axis=axis)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_folds_of_the_engine_are_those_of_all_items_at_once(data):
    values = data.draw(values_of(["?", "i1", "i4", "i8", "u2", "u8", "f4", "f8", "c8", "c16"]))
    node = as_node(data.draw(cut_of(values)))
    axis = data.draw(axes_of(values.ndim, single=True))
    is_reduced = tuple(axis is None or at == axis % values.ndim for at in range(values.ndim))
    name = data.draw(st.sampled_from(["sum", "min", "max", "any", "all", "count_nonzero", "mean", "moments"]))
    if values.dtype.kind in "f" and data.draw(st.booleans()):
        name = data.draw(
            st.sampled_from(["nansum", "nanmin", "nanargmin", "nanargmax", "nanmean", "nanmoments"])
        )
    found, _, _ = reducing.fold_native(node, name, is_reduced)
    for column in fold_plain(node, name, is_reduced):
        part = np.frombuffer(found[: column.nbytes], column.dtype).reshape(column.shape)
        found = found[column.nbytes :]
        # Of what is not finite the mean is anything that is not.
        is_finite = np.isfinite(column) if name.endswith("moments") else np.ones(column.shape, np.bool_)
        np.testing.assert_allclose(part[is_finite], column[is_finite], rtol=1e-5, atol=1e-5)


def test_chunks_of_one_value_are_not_read():
    array = cq.zeros((100, 100), chunks=(10, 10))
    array[35, 50] = 7
    for name, expected in (("sum", 7), ("max", 7), ("var", 49 * (1e-4 - 1e-8)), ("argmax", 3550)):
        assert ours(name)(array) == pytest.approx(expected)
    read = array.handle.stats()["blocks_decoded"]
    assert 0 < read <= 4
    assert reducing.fold_native(as_node(array), "sum", (True, False))[1:] == (100, 99)


def lazily(array, other):
    return Expr(call(FUNCTIONS["add"], call(FUNCTIONS["multiply"], array, 2), other))


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_counts_are_reduced_by_a_correction(name):
    values = np.random.default_rng(1).normal(size=(4, 5, 6)) + 1e6
    values[1, 2] = np.nan
    array = cq.asarray(values, chunks=(3, 3, 3), blocks=(2, 2, 3))
    for axis in (None, 0, (0, 2)):
        assert_same(name, array, values, axis=axis, ddof=1)
        assert_same(name, array, values, axis=axis, correction=1.5)
        assert_same(name, array, values, axis=axis, ddof=1000)
        means = np.nanmean(values, axis=axis, keepdims=True)
        assert_same(name, array, values, axis=axis, mean=means)
    assert_same(name, array, values, ddof=1, correction=1)


def test_variances_do_not_lose_what_is_small_beside_the_mean():
    values = np.random.default_rng(1).normal(size=100_000) + 1e9
    array = cq.asarray(values, chunks=7000, blocks=(500,))
    exact = (values - 1e9).var()
    assert abs(reductions.var(array) - exact) < 1e-6 * exact


def test_weighted_means_are_those_of_numpy():
    rng = np.random.default_rng(2)
    values, weights = rng.integers(0, 9, (6, 7, 8)), rng.random((6, 7, 8))
    array = cq.asarray(values, chunks=(4, 4, 4))
    assert_same("average", array, values)
    assert_same("average", array, values, axis=(0, 2), keepdims=True)
    assert_same("average", array, values, axis=1, weights=cq.asarray(weights))
    assert_same("average", array, values, axis=1, weights=weights[0, :, 0])
    assert_same("average", array, values, axis=(2, 0), weights=weights[:, 0, :].T)
    assert_same("average", array, values, axis=1, weights=np.zeros(7))
    assert_same("average", array, values, axis=1, weights=np.ones(3))
    assert_same("average", array, values, weights=np.ones(7))
    found, total = reductions.average(array, axis=1, weights=weights, returned=True)
    expected, sums = np.average(values, axis=1, weights=weights, returned=True)
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(total, sums)


def test_datetimes_strings_and_long_doubles_are_reduced_by_numpy():
    dates = np.array(["2020-01-05", "NaT", "2019-01-01", "2021-03-04"] * 6, "M8[D]").reshape(4, 6)
    steps = dates - np.datetime64("2020-01-01")
    texts = np.array(["pear", "fig", "apple", "plum"] * 6).reshape(4, 6)
    for values, names in (
        (dates, ["min", "max", "argmin", "argmax", "nanmin"]),
        (steps, ["min", "max", "sum", "argmin", "mean"]),
        (texts, ["min", "max"]),
        (np.arange(24, dtype="g").reshape(4, 6) / 7, [*PLAIN, *PLACES, *NANS, *NAN_PLACES]),
    ):
        array = cq.asarray(values, chunks=(3, 4), blocks=(2, 2))
        for name in names:
            for axis in (None, 0, 1):
                found, said = outcome(ours(name), array, axis=axis)
                expected, words = outcome(getattr(np, name), values, axis=axis)
                assert np.asarray(found).dtype == np.asarray(expected).dtype, (name, found, expected)
                assert said == words
                if values.dtype.kind == "f":
                    np.testing.assert_allclose(found, expected, rtol=1e-15)
                else:
                    np.testing.assert_array_equal(found, expected)


def test_what_makes_no_sense_is_what_makes_none_to_numpy():
    values = np.arange(24.0).reshape(2, 3, 4)
    array = cq.asarray(values)
    for name, options in (
        ("sum", {"axis": 3}),
        ("sum", {"axis": (0, 0)}),
        ("argmin", {"axis": (0, 1)}),
        ("min", {"where": np.ones(4, np.bool_)}),
        ("sum", {"where": np.ones(5, np.bool_)}),
        ("sum", {"out": np.zeros(3)}),
        ("sum", {"out": np.zeros((), np.int64)}),
        ("nanmean", {"dtype": np.int64}),
    ):
        assert_same(name, array, values, **options)
    assert_same("ptp", cq.asarray(values > 3), values > 3)
    assert_same("nanargmax", cq.asarray(values * np.nan), values * np.nan, axis=0)


def test_results_go_where_they_are_wanted():
    values = np.arange(24.0).reshape(2, 3, 4)
    array = cq.asarray(values)
    for out in (np.zeros((2, 4)), cq.zeros((2, 4))):
        assert reductions.sum(array, axis=1, out=out) is out
        np.testing.assert_array_equal(np.asarray(out), values.sum(axis=1))
    assert reductions.sum(array, initial=5) == values.sum(initial=5)
    assert reductions.max(array, initial=500) == 500
    found = reductions.max(array, axis=0)
    found[0, 0] = -1


def test_large_results_are_compressed(monkeypatch):
    monkeypatch.setattr(reducing, "RESULT_BYTES_MAX", 50)
    values = np.arange(24.0).reshape(2, 3, 4)
    found = reductions.sum(cq.asarray(values), axis=0)
    assert isinstance(found, cq.Array)
    np.testing.assert_array_equal(found[...], values.sum(axis=0))


def test_small_arrays_are_reduced_by_numpy(monkeypatch):
    monkeypatch.setattr(reducing, "EAGER_BYTES", 1 << 16)
    monkeypatch.setattr(reducing, "Reduction", None)
    values = np.arange(24.0).reshape(2, 3, 4)
    values[0, 1] = np.nan
    mask = values > 3
    for name in (*PLAIN, *PLACES, *NANS, *NAN_PLACES, "average"):
        assert_same(name, cq.asarray(values), values, axis=1)
        assert_same(name, cq.asarray(values[0, 0, 0]), values[0, 0, 0])
    for name in ("sum", "mean", "var", "any", "nansum", "nanvar"):
        assert_same(name, cq.asarray(values), values, axis=1, where=cq.asarray(mask))
    out = cq.zeros((2, 4))
    assert reductions.sum(cq.asarray(values), axis=1, out=out) is out
    np.testing.assert_array_equal(out[...], values.sum(axis=1))


def test_no_items_are_what_they_are_to_numpy():
    values = np.zeros((0, 3))
    for name in (*PLAIN, *NANS, *PLACES):
        for axis in (None, 0, 1):
            assert_same(name, cq.asarray(values), values, axis=axis)


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (0, 2), (1, 2)])
def test_the_number_of_threads_shows_in_no_bit(axis):
    values = np.random.default_rng(3).normal(size=(70, 60, 50)).astype(np.float32)
    array = cq.asarray(values, chunks=(32, 32, 32), blocks=(8, 16, 16))
    before = cq.num_threads()
    try:
        results = []
        for threads in (1, 2, 7):
            cq.set_num_threads(threads)
            results.append([ours(name)(array, axis=axis) for name in ("sum", "mean", "var", "prod")])
    finally:
        cq.set_num_threads(before)
    for more in results[1:]:
        for one, other in zip(results[0], more, strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
