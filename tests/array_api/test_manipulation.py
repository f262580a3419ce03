"""Shapes and places of items beside the strict implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import coquina as cq

from .cases import (
    DTYPES,
    agree,
    arrays,
    assert_same,
    axes_of,
    broadcastable,
    law,
    lazily,
    ours_of,
    shapes,
)

any_dtype = st.sampled_from(DTYPES)
PROMOTED = [("int8", "int16"), ("uint8", "int32"), ("float32", "float64"), ("float32", "complex64")]


@law(20)
def test_concat(data):
    axis = data.draw(st.none() | st.integers(-3, 2))
    shape = data.draw(shapes(min_dims=3))
    dtypes = data.draw(st.sampled_from(PROMOTED))
    parts = []
    for dtype in data.draw(st.permutations(dtypes)):
        lengths = list(shape)
        if axis is None:
            lengths = data.draw(shapes())
        else:
            lengths[axis] = data.draw(st.integers(0, 3))
        parts.append(data.draw(arrays(dtype, st.just(tuple(lengths)))))
    agree("concat", parts, axis=axis)
    agree("concat", tuple(parts[:1]), axis=axis)


@law(20)
def test_stack_and_unstack(data):
    shape = data.draw(shapes())
    parts = [data.draw(arrays(one, st.just(shape))) for one in data.draw(st.sampled_from(PROMOTED))]
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    agree("stack", parts, axis=axis)
    # The strict one stumbles over results without axes.
    agree("unstack", np.stack(parts, axis=axis), axis=axis, judge=np.unstack)


@law(20)
def test_reshape(data):
    x = data.draw(arrays(any_dtype))
    shape = data.draw(st.permutations([*x.shape, 1]))
    if x.size and data.draw(st.booleans()):
        shape[data.draw(st.integers(0, len(shape) - 1))] = -1
    agree("reshape", x, tuple(shape))
    agree("reshape", x, (-1,) if x.size else (0,), copy=True)


def test_a_shape_of_other_size_is_an_error():
    for shape in ((4,), (-1, 4), (-1, -1), (7, 0)):
        with pytest.raises(ValueError, match=r"reshape|unknown dimension|-1"):
            cq.reshape(cq.ones((2, 3)), shape)


@law(20)
def test_permute_dims(data):
    x = data.draw(arrays(any_dtype))
    agree("permute_dims", x, tuple(data.draw(st.permutations(range(x.ndim)))))


@law(20)
def test_matrix_transpose(data):
    x = data.draw(arrays(any_dtype, shapes(min_dims=2)))
    agree("matrix_transpose", x)
    for is_lazy in (False, True):
        with lazily(is_lazy):
            assert_same(ours_of(x).mT, np.swapaxes(x, -1, -2))


@law(20)
def test_moveaxis(data):
    x = data.draw(arrays(any_dtype, shapes(min_dims=1)))
    axis = st.integers(-x.ndim, x.ndim - 1)
    agree("moveaxis", x, data.draw(axis), data.draw(axis))
    orders = [tuple(data.draw(st.permutations(range(x.ndim)))) for _ in range(2)]
    count = data.draw(st.integers(0, x.ndim))
    agree("moveaxis", x, orders[0][:count], orders[1][:count])


@law(20)
def test_expand_dims_and_squeeze(data):
    x = data.draw(arrays(any_dtype))
    axis = data.draw(st.integers(-x.ndim - 1, x.ndim))
    agree("expand_dims", x, axis=axis)
    longer = np.expand_dims(x, axis)
    agree("squeeze", longer, axis)
    ones = [at for at, length in enumerate(longer.shape) if length == 1]
    agree("squeeze", longer, tuple(data.draw(st.lists(st.sampled_from(ones), unique=True))))


def test_axes_that_cannot_be_are_errors():
    x = cq.ones((2, 3))
    for axis in (3, -4):
        with pytest.raises((IndexError, ValueError), match="axis"):
            cq.expand_dims(x, axis=axis)
        with pytest.raises((IndexError, ValueError), match="axis"):
            cq.squeeze(x, axis)
    with pytest.raises(ValueError, match=r"size|length"):
        cq.squeeze(x, 0)
    with pytest.raises(ValueError, match=r"repeated|axes"):
        cq.permute_dims(x, (0, 0))


@law(20)
def test_flip(data):
    x = data.draw(arrays(any_dtype))
    agree("flip", x, axis=data.draw(axes_of(x.ndim)), judge=np.flip)


@law(30)
def test_roll(data):
    x = data.draw(arrays(any_dtype, shapes(min_dims=1)))
    shift = st.integers(-9, 9)
    agree("roll", x, data.draw(shift))
    agree("roll", x, data.draw(shift), axis=data.draw(st.integers(-x.ndim, x.ndim - 1)))
    axes = tuple(data.draw(st.lists(st.integers(-x.ndim, x.ndim - 1), min_size=1, max_size=3)))
    agree("roll", x, tuple(data.draw(shift) for _ in axes), axis=axes)


@law(20)
def test_repeat(data):
    x = data.draw(arrays(any_dtype))
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1)) if x.ndim else None
    agree("repeat", x, data.draw(st.integers(0, 3)), axis=axis)
    length = x.size if axis is None else x.shape[axis]
    counts = data.draw(arrays("int64", st.just((length,)), lambda _: st.integers(0, 3)))
    expected = np.repeat(x, counts, axis=axis)
    for is_lazy in (False, True):
        with lazily(is_lazy):
            assert_same(cq.repeat(ours_of(x), ours_of(counts), axis=axis), expected)


@law(20)
def test_tile(data):
    x = data.draw(arrays(any_dtype))
    agree("tile", x, tuple(data.draw(st.lists(st.integers(0, 3), max_size=4))))


@law(20)
def test_broadcasting(data):
    parts = data.draw(broadcastable((data.draw(any_dtype), data.draw(any_dtype), "int8")))
    agree("broadcast_arrays", *parts)
    shape = np.broadcast_shapes(*[part.shape for part in parts])
    assert cq.broadcast_shapes(*[part.shape for part in parts]) == shape
    for part in parts:
        agree("broadcast_to", part, shape)


def test_shapes_that_do_not_broadcast_are_errors():
    for call in (
        lambda: cq.broadcast_to(cq.ones(3), (2,)),
        lambda: cq.broadcast_arrays(cq.ones(3), cq.ones(2)),
        lambda: cq.broadcast_shapes((3,), (2,)),
    ):
        with pytest.raises(ValueError, match="broadcast"):
            call()


@law(20)
def test_meshgrid(data):
    dtype = data.draw(any_dtype)
    lines = data.draw(st.lists(arrays(dtype, st.integers(0, 3).map(lambda n: (n,))), min_size=1, max_size=3))
    agree("meshgrid", *lines, indexing=data.draw(st.sampled_from(["xy", "ij"])))


# Keys.


@law(60)
def test_reading_any_key_of_the_standard(data):
    x = data.draw(arrays(any_dtype))
    key = data.draw(hnp.basic_indices(x.shape, allow_newaxis=True, allow_ellipsis=True))
    assert_same(cq.asarray(x)[key], x[key])
    with lazily():
        assert_same(cq.positive(ours_of(x))[key] if x.dtype != bool else ours_of(x)[key], x[key])


@law(30)
def test_reading_by_a_mask(data):
    x = data.draw(arrays(any_dtype, shapes(min_dims=1)))
    axes = data.draw(st.integers(1, x.ndim))
    mask = data.draw(arrays("bool", st.just(x.shape[:axes])))
    for given in (mask, cq.asarray(mask)):
        assert_same(cq.asarray(x)[given], x[mask])
        with lazily():
            assert_same(cq.asarray(x)[cq.logical_not(cq.logical_not(given))], x[mask])
    assert_same(cq.asarray(x)[mask, ...], x[mask])
    assert_same(cq.asarray(x)[np.True_], x[np.True_])


@law(30)
def test_reading_by_integer_arrays(data):
    x = data.draw(arrays(any_dtype, shapes(min_dims=1, min_side=1)))
    shape = data.draw(shapes(max_dims=2))
    key = []
    for length in x.shape[: data.draw(st.integers(1, x.ndim))]:
        index = st.integers(-length, length - 1)
        key.append(data.draw(arrays("int64", st.just(shape), lambda _, index=index: index)))
    for ours in (tuple(key), tuple(cq.asarray(one) for one in key)):
        assert_same(cq.asarray(x)[ours], x[tuple(key)])
    mixed = (key[0].reshape(-1)[0].item() if key[0].size else 0, *key[1:])
    assert_same(cq.asarray(x)[mixed], x[mixed])


@law(60)
def test_writing_to_any_key_of_the_standard(data):
    x = data.draw(arrays(any_dtype))
    key = data.draw(hnp.basic_indices(x.shape, allow_ellipsis=True))
    ours, theirs = cq.asarray(x), x.copy()
    shape = x[key].shape
    value = data.draw(arrays(x.dtype.name, st.just(shape[data.draw(st.integers(0, len(shape))) :])))
    theirs[key] = value
    ours[key] = data.draw(st.sampled_from([value, cq.asarray(value)]))
    assert_same(ours, theirs)


@law(30)
def test_writing_by_a_mask(data):
    x = data.draw(arrays(any_dtype, shapes(min_dims=1)))
    mask = data.draw(arrays("bool", st.just(x.shape)))
    value = data.draw(arrays(x.dtype.name, st.just(())))
    ours, theirs = cq.asarray(x), x.copy()
    theirs[mask] = value
    ours[cq.asarray(mask)] = data.draw(st.sampled_from([cq.asarray(value), value.item()]))
    assert_same(ours, theirs)
    many = data.draw(arrays(x.dtype.name, st.just((int(mask.sum()),))))
    theirs[mask] = many
    ours[mask] = cq.asarray(many)
    assert_same(ours, theirs)


@pytest.mark.parametrize("key", [3, -4, (0, 4), (0, 0, 0), (..., ...)])
def test_keys_out_of_range_are_errors(key):
    x = cq.ones((3, 4))
    with pytest.raises(IndexError):
        _ = x[key]
    with pytest.raises(IndexError):
        x[key] = 1
    with pytest.raises(IndexError):
        _ = cq.add(x, 1)[key]


def test_iteration_gives_the_items_of_the_first_axis():
    x = np.arange(math.prod((4, 3))).reshape(4, 3)
    for is_lazy in (False, True):
        with lazily(is_lazy):
            rows = list(cq.positive(cq.asarray(x)))
            assert len(rows) == 4
            for row, wanted in zip(rows, x, strict=True):
                assert_same(row, wanted)
    with pytest.raises(TypeError):
        iter(cq.asarray(1))
