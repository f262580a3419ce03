"""Keys against NumPy: what is selected, its shape, its exceptions, what is assigned, and views of views.

A small engine in this file carries out a `Selection` on a NumPy array, and checks what every one promises.
"""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coquina.arrays.views import view_of
from coquina.indexing import (
    Selection,
    broadcast_values,
    lower,
    lower_outer,
    lower_vector,
    uniform_value,
)

WHOLE = slice(None)
many = settings(max_examples=1000, deadline=None)
seeds = st.integers(0, 2**62)


class Index:
    """An integer that is no int."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value

    def __repr__(self) -> str:
        return f"Index({self.value})"


def positions(selection: Selection, shape: tuple[int, ...]) -> np.ndarray:
    """Return the flat positions that a selection takes, in its raw shape."""
    x = np.arange(math.prod(shape)).reshape(shape)
    assert len(selection.axes) == x.ndim
    joint = [axis for axis, entry in enumerate(selection.axes) if entry is None]
    for axis, entry in enumerate(selection.axes):
        if entry is None:
            continue
        if isinstance(entry, tuple):
            start, step, length = entry
            assert step != 0
            assert length >= 0
            taken = start + step * np.arange(length)
        else:
            taken = checked_list(entry)
        assert ((taken >= 0) & (taken < shape[axis])).all()
        x = x.take(taken, axis)
    if 0 in selection.raw_shape:
        return np.empty(selection.raw_shape, np.int64)
    if selection.points is None:
        assert not joint
    else:
        assert sorted(axis for axis, _ in selection.points) == joint
        assert joint
        for axis, taken in selection.points:
            checked_list(taken)
            assert ((taken >= 0) & (taken < shape[axis])).all()
        assert len({len(taken) for _, taken in selection.points}) == 1
        x = np.moveaxis(x, [axis for axis, _ in selection.points], range(len(joint)))
        x = np.moveaxis(x[tuple(taken for _, taken in selection.points)], 0, selection.points_at)
    assert x.shape == selection.raw_shape
    return x


def checked_list(taken: np.ndarray) -> np.ndarray:
    assert taken.ndim == 1
    assert taken.dtype == np.int64
    assert taken.flags.c_contiguous
    return taken


class Engine:
    """A NumPy array that is reached by selections alone, and counts what is read."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x
        self.shape, self.dtype = x.shape, x.dtype
        self.elements_read = 0

    def get_selection(self, selection: Selection) -> np.ndarray:
        self.elements_read += selection.size
        taken = np.asarray(self.x.reshape(-1)[positions(selection, self.shape)])
        return taken.reshape(selection.shape)

    def set_selection(self, selection: Selection, values: np.ndarray) -> None:
        raw = broadcast_values(values, selection, self.dtype)
        assert raw.flags.c_contiguous
        self.x.reshape(-1)[positions(selection, self.shape).reshape(-1)] = raw.reshape(-1)

    def __getitem__(self, key):
        selection = lower(key, self.shape)
        elements = self.get_selection(selection)
        return elements[()] if selection.is_scalar else elements

    def __setitem__(self, key, value) -> None:
        selection = lower(key, self.shape)
        raw = broadcast_values(value, selection, self.dtype)
        self.x.reshape(-1)[positions(selection, self.shape).reshape(-1)] = raw.reshape(-1)


def numbered(shape: tuple[int, ...], dtype="i4") -> np.ndarray:
    return np.arange(math.prod(shape), dtype=dtype).reshape(shape)


def outcome(call):
    """Return what a call gives: a value, or the type and text of its exception."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def assert_same(ours, theirs) -> None:
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(theirs, (np.ndarray, np.generic)):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)
    else:
        assert ours == theirs


def assert_same_kind(ours, theirs) -> None:
    """Check that both gave no exception, or exceptions of one type."""
    assert (ours and ours[0]) == (theirs and theirs[0]), (ours, theirs)


def random_shape(rng: Random, smallest: int = 0) -> tuple[int, ...]:
    if smallest == 0 and rng.random() < 0.8:
        smallest = 2  # Lengths of 0 and 1 hide most of what can go wrong.
    return tuple(rng.randint(smallest, 5) for _ in range(rng.choice((0, 1, 2, 2, 3, 3, 3, 4, 4, 4))))


def random_slice(rng: Random, size: int) -> slice:
    if size > 1 and rng.random() < 0.8:
        start = rng.randint(0, size - 2)
        return rng.choice(
            (WHOLE, slice(start, None), slice(-1, start, -1), slice(None, None, -2), slice(start, start + 2))
        )
    bounds = [rng.choice((None, rng.randint(-size - 2, size + 2), Index(rng.randint(-2, 2)))) for _ in "ab"]
    steps = (None, 1, 2, 3, -1, -1, -2, 2**80, -(2**80), 2**63)
    return slice(*bounds, rng.choice(steps))


def random_int(rng: Random, size: int) -> object:
    return rng.choice((int, int, Index, np.int8, np.int64, np.array))(rng.randint(-size, size - 1))


def random_indices(rng: Random, size: int, block: tuple[int, ...]) -> object:
    """Return an array of indices of an axis that broadcasts to `block`."""
    own = [n if rng.random() < 0.8 else 1 for n in block]
    while len(own) > 1 and own[0] == 1 and rng.random() < 0.5:
        own.pop(0)
    if size == 0 and math.prod(own):
        own = [0]
    choices = [(-size, "i8"), (0, "i8"), (0, "u8"), (-size, ">i4")]
    if size <= 128:  # an int8 has no more indices
        choices += [(-size, "i1"), (0, "u1")]
    low, dtype = rng.choice(choices)
    values = [rng.randint(low, size - 1) for _ in range(math.prod(own))]
    array = np.array(values, dtype).reshape(own)
    return array.tolist() if array.ndim and rng.random() < 0.3 else array


def random_mask(rng: Random, shape: tuple[int, ...]) -> object:
    density = rng.choice((0.0, 0.5, 0.5, 0.5, 1.0))
    mask = np.array([rng.random() < density for _ in range(math.prod(shape))], bool).reshape(shape)
    if rng.random() < 0.05:
        mask = np.zeros([n * rng.randint(0, 1) for n in shape], bool)
    return mask.tolist() if mask.size and rng.random() < 0.3 else mask


def with_gaps(rng: Random, items: list[object]) -> object:
    """Leave out the end, put an Ellipsis in place of some items, put None between, unpack single items."""
    kind = rng.random()
    if kind < 0.15:
        items = items[: rng.randint(0, len(items))]
    elif kind < 0.3:
        start = rng.randint(0, len(items))
        items = [*items[:start], ..., *items[rng.randint(start, len(items)) :]]
    for _ in range(rng.choice((0, 0, 0, 0, 1, 2))):
        items.insert(rng.randint(0, len(items)), None)
    return items[0] if len(items) == 1 and rng.random() < 0.5 else tuple(items)


def basic_key(rng: Random, shape: tuple[int, ...]) -> object:
    return with_gaps(
        rng, [rng.choice((random_slice, random_int) if n else (random_slice,))(rng, n) for n in shape]
    )


def advanced_key(rng: Random, shape: tuple[int, ...]) -> object:
    block = tuple(rng.choice((2, 2, 2, 3, 3, 3, 4, 4, 1, 0)) for _ in range(rng.choice((1, 1, 1, 2, 3))))
    items: list[object] = []
    axis = 0
    while axis < len(shape):
        size = shape[axis]
        kind = rng.choice(("slice", "slice", "int", "array", "array", "array", "mask"))
        if kind == "int" and size:
            items.append(random_int(rng, size))
        elif kind == "array":
            items.append(random_indices(rng, size, block))
        elif kind == "mask":
            count = rng.randint(1, len(shape) - axis)
            items.append(random_mask(rng, shape[axis : axis + count]))
            axis += count - 1
        else:
            items.append(random_slice(rng, size))
        axis += 1
    if rng.random() < 0.1:
        truth = rng.choice((True, False, np.True_, np.array(True), np.array(False)))
        items.insert(rng.randint(0, len(items)), truth)
    return with_gaps(rng, items)


def open_mesh_key(rng: Random, shape: tuple[int, ...]) -> object:
    lists = [
        [rng.randint(-n, n - 1) for _ in range(rng.choice((0, 1, 2, 2, 3, 3, 4)) if n else 0)] for n in shape
    ]
    return np.ix_(*(np.array(one, int) for one in lists))


def random_key(rng: Random, shape: tuple[int, ...]) -> object:
    return rng.choice((basic_key, basic_key, advanced_key, advanced_key, advanced_key, open_mesh_key))(
        rng, shape
    )


WILD = (
    *(0, 1, -1, 7, -9, 2**62, 2**63, -(2**63), 2**80, Index(3), Index(-30), np.uint8(2), np.uint64(2**63)),
    *(1.0, np.float32(1), 1j, "a", b"a", {}, object, [1.5], ["a"], [[1, 2], [3]], [None], [2**80]),
    *(True, False, None, ..., WHOLE, slice(1.5, None), slice(None, None, 0), slice("a"), slice(0, 2**90)),
    *([], [[]], [True], [True, False], [7], [-9], [0, 1], [0, 1, 2], [[0], [1]], np.array([2**64 - 1], "u8")),
    *(np.zeros(0), np.zeros(2), np.array([1, 2], "M8[s]"), np.ones((2, 2), bool), np.zeros((0, 2), bool)),
    *(np.array(1.5), np.array(1), np.array(True), np.array(9), np.array([0], object), np.array(2**64 - 1)),
)


@many
@given(seeds)
def test_every_key_selects_what_numpy_selects(seed) -> None:
    rng = Random(seed)
    x = numbered(random_shape(rng))
    key = random_key(rng, x.shape)
    assert_same(outcome(lambda: Engine(x)[key]), outcome(lambda: x[key]))


@many
@given(seeds)
def test_what_numpy_refuses_is_refused_in_its_words(seed) -> None:
    rng = Random(seed)
    x = numbered(random_shape(rng))
    key = tuple(rng.choice(WILD) for _ in range(rng.randint(0, 4)))
    assert_same(outcome(lambda: Engine(x)[key]), outcome(lambda: x[key]))


@pytest.mark.parametrize("key", WILD, ids=repr)
@pytest.mark.parametrize("shape", [(), (2,), (3, 2), (0, 2)], ids=str)
def test_each_odd_key_alone_and_behind_another(key, shape) -> None:
    x = numbered(shape)
    for whole in (key, (key,), (0, key), (..., key), ([0], key), (key, [0, 1])):
        assert_same(outcome(lambda: Engine(x)[whole]), outcome(lambda: x[whole]))  # noqa: B023


def test_an_array_too_large_for_numpy_has_index_errors_too() -> None:
    shape = (2**40, 2**40)
    assert lower((-1, slice(2, None, 2**39)), shape).axes == [(2**40 - 1, 1, 1), (2, 2**39, 2)]
    for key in [2**40, (0, 0, 0), [2**40], 1.5]:
        with pytest.raises(IndexError):
            lower(key, shape)


def test_only_one_item_is_a_scalar() -> None:
    x = numbered((2, 3))
    for key in [(1, 2), (1, np.array(2)), (np.int8(1), Index(2)), (..., 1, 2), (1, 2, None), 1, ([1], 2)]:
        assert_same(Engine(x)[key], x[key])
    for key in [(), ..., None, True, (None, ...)]:
        assert_same(Engine(x[0, 0])[key], x[0, 0][key])


def test_arrays_that_vary_independently_become_lists() -> None:
    """Points would name rows times columns elements; lists name rows and columns."""
    shape = (50, 60, 70)
    for key in [
        [3, 1, 2],
        np.arange(6).reshape(2, 3),
        np.ix_([3, 1], [0, 2, 2], [5]),
        (WHOLE, *np.ix_([3, 1], [0, 2])),
        (0, [1, 2]),
        (WHOLE, [1, 2], 3),
        ([5], [1, 2, 3]),
        (WHOLE, np.arange(60) % 7 == 0),
    ]:
        assert lower(key, shape).points is None
    for key in [([1, 2], [3, 4]), (0, WHOLE, [1, 2])]:
        assert lower(key, shape).points is not None
    mask = numbered(shape) % 7 == 0
    assert len(lower(mask, shape).points or ()) == 3


@many
@given(seeds)
def test_outer_keys_index_each_axis_on_its_own(seed) -> None:
    rng = Random(seed)
    shape = random_shape(rng)
    x = theirs = numbered(shape)
    items: list[object] = []
    for axis, size in reversed(list(enumerate(shape))):
        choices = [random_slice(rng, size), random_mask(rng, (size,)), random_indices(rng, size, (3,))]
        items.insert(0, rng.choice(choices + ([random_int(rng, size)] if size else [])))
        theirs = theirs[(WHOLE,) * axis + (items[0],)]
    ours = lower_outer(tuple(items), shape)
    assert_same(Engine(x).get_selection(ours), np.asarray(theirs))
    assert ours.points is None
    if items and isinstance(items[-1], slice) and items[-1] == WHOLE:
        assert lower_outer(tuple(items[:-1]), shape).shape == ours.shape
        assert lower_outer((*items[:-1], ...), shape).shape == ours.shape


def test_outer_keys_that_do_not_fit() -> None:
    for key in [
        None,
        (0, 0, 0),
        (..., ...),
        ([5], 0),
        (0, [-4]),
        [[0, 1]],
        True,
        [True],
        "a",
        1.5,
        [0.5],
        (..., 0, 0, 0),
    ]:
        with pytest.raises(IndexError):
            lower_outer(key, (2, 3))
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 1 with size 3"):
        lower_outer(([0], [5]), (2, 3))


@many
@given(seeds)
def test_vector_keys_give_points_first(seed) -> None:
    rng = Random(seed)
    shape = random_shape(rng, 1)
    x = numbered(shape)
    block = tuple(rng.randint(1, 3) for _ in range(rng.randint(0, 2)))
    items = [
        rng.choice((random_slice(rng, n), random_indices(rng, n, block), random_int(rng, n))) for n in shape
    ]
    arrays = [item for item in items if not isinstance(item, slice)]
    pointed = [axis for axis, item in enumerate(items) if not isinstance(item, slice)]
    rest = [axis for axis, item in enumerate(items) if isinstance(item, slice)]
    turned = x.transpose(pointed + rest)
    theirs = turned[tuple(arrays)] if arrays else turned
    points_ndim = theirs.ndim - len(rest)
    theirs = theirs[(WHOLE,) * points_ndim + tuple(items[axis] for axis in rest)]
    assert_same(Engine(x).get_selection(lower_vector(tuple(items), shape)), np.asarray(theirs))


def test_vector_keys_take_a_mask_and_no_new_axes() -> None:
    x = numbered((3, 4))
    assert_same(Engine(x).get_selection(lower_vector(x % 3 == 1, x.shape)), x[x % 3 == 1])
    for key in [None, (None, [1]), ([1, 2], [1, 2, 3]), [3], (0, 0, 0), [0.5]]:
        with pytest.raises(IndexError):
            lower_vector(key, x.shape)


def random_values(rng: Random, target: np.ndarray) -> object:
    """Return values that broadcast to a target, or some that do not; a single one if it has repeats."""
    if np.unique(target).size != target.size:
        return -1
    kind = rng.randint(0, 9)
    if kind == 0:
        return rng.choice((7, 2.5, True, np.float32(3.5), "12", np.array(5), "x", 1j, 2**70))
    if kind == 1:
        return rng.choice(([], [1], [[1]], [1, 2], [[1, 2]], (1, 2, 3), np.ones((2, 1, 2))))
    own = [n if rng.random() < 0.5 else 1 for n in target.shape] if kind < 5 else list(target.shape)
    own = own[rng.randint(0, len(own)) :] if kind == 6 else [1, *own] if kind == 7 else own
    values = np.asarray(-1 - numbered(tuple(own))).astype(rng.choice(("i4", "i4", "f8", ">i2")))
    return values.tolist() if rng.random() < 0.3 else values.copy(rng.choice("CF"))


@many
@given(seeds)
def test_assignment_does_what_numpy_does(seed) -> None:
    rng = Random(seed)
    ours, theirs = numbered(shape := random_shape(rng)), numbered(shape)
    key = random_key(rng, shape)
    target = outcome(lambda: theirs[key])
    if isinstance(target, tuple):
        return
    value = random_values(rng, target)
    our_error = outcome(lambda: Engine(ours).__setitem__(key, value))
    their_error = outcome(lambda: theirs.__setitem__(key, value))
    assert_same_kind(our_error, their_error)
    assert_same(ours, theirs)


def test_a_list_may_be_nested_deeper_where_numpy_says_so() -> None:
    for key in [[0, 1], slice(0, 2), np.array([True, True, False]), (0, [1]), 0, (0, 0), (..., 0, 0)]:
        for value in ([[[1, 2]]], [[1, 2]], [1], [[1]], np.array([[1, 2]]), np.array([[1]])):
            ours, theirs = numbered((3, 2)), numbered((3, 2))
            our_error = outcome(lambda: Engine(ours).__setitem__(key, value))  # noqa: B023
            their_error = outcome(lambda: theirs.__setitem__(key, value))  # noqa: B023
            assert_same_kind(our_error, their_error)
            if their_error is None:
                assert_same(ours, theirs)


def test_values_that_fit_are_not_copied_and_single_ones_are_known() -> None:
    values = np.ones((2, 1, 4))
    raw = broadcast_values(values, lower(([0, 1], None), (3, 4)), values.dtype)
    assert np.shares_memory(raw, values)
    assert raw.shape == (2, 4)
    assert_same(uniform_value(3, np.dtype("i2")), np.array(3, "i2"))
    assert_same(uniform_value(np.array(3.7), np.dtype(">i2")), np.array(3, ">i2"))
    assert uniform_value([3], np.dtype("i2")) is None
    assert uniform_value(np.ones(1), np.dtype("i2")) is None
    pair = np.dtype("i4,f8")
    assert_same(broadcast_values((1, 2.0), lower(slice(2), (3,)), pair), np.array([(1, 2.0)] * 2, pair))


def random_view(rng: Random, x: np.ndarray):
    """Return a view of views of an engine with `x`, the engine, and for each item its number in `x`."""
    engine, taken = Engine(x), numbered(x.shape, "i8")
    view = view_of(engine)
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        key = random_key(rng, taken.shape)
        got = outcome(lambda: taken[key])  # noqa: B023
        if isinstance(got, tuple):
            assert_same(outcome(lambda: view.view(key)), got)  # noqa: B023
        elif got.size or rng.random() < 0.1:
            taken, view = np.asarray(got), view.view(key)
            assert (view.shape, view.ndim, view.size) == (taken.shape, taken.ndim, taken.size)
    assert engine.elements_read == 0
    return view, engine, taken


@many
@given(seeds)
def test_a_view_of_a_view_is_what_numpy_gives_and_reads_no_more(seed) -> None:
    rng = Random(seed)
    view, engine, expected = random_view(rng, numbered(random_shape(rng), "i8"))
    assert_same(np.asarray(view), expected)
    assert engine.elements_read <= expected.size
    key = random_key(rng, expected.shape)
    engine.elements_read = 0
    theirs = outcome(lambda: expected[key])
    assert_same(outcome(lambda: view[key]), theirs)
    assert engine.elements_read <= np.size(theirs)
    if expected.ndim:
        assert len(view) == len(expected)
        assert np.array_equal(list(view), list(expected))


@many
@given(seeds)
def test_assignment_to_a_view_reaches_the_array(seed) -> None:
    rng = Random(seed)
    x = numbered(random_shape(rng))
    theirs = x.copy()
    view, _, taken = random_view(rng, x)
    key = random_key(rng, taken.shape)
    target = outcome(lambda: taken[key])
    if isinstance(target, tuple):
        return
    value = random_values(rng, target)
    stand_in = np.zeros(taken.shape, "i4")
    their_error = outcome(lambda: stand_in.__setitem__(key, value))
    assert_same_kind(outcome(lambda: view.__setitem__(key, value)), their_error)
    if their_error is None:
        theirs.reshape(-1)[np.asarray(target).reshape(-1)] = np.asarray(stand_in[key]).reshape(-1)
    assert_same(x, theirs)


def test_a_view_turns_its_axes_both_ways() -> None:
    ours, theirs = numbered((2, 3, 4, 5)), numbered((2, 3, 4, 5))
    key = (0, WHOLE, WHOLE, [4, 1])
    values = -numbered((2, 3, 4))
    view = view_of(Engine(ours), key)
    assert_same(np.asarray(view), theirs[key])
    view[...] = values
    theirs[key] = values
    assert_same(ours, theirs)


def test_the_last_of_values_for_one_element_stays() -> None:
    x = numbered((3,))
    view_of(Engine(x), (None, 1))[[0, 0, 0]] = [7, 8, 9]
    assert x.tolist() == [0, 9, 2]


def test_what_is_empty_stays_empty_whatever_the_indices() -> None:
    """NumPy does not check indices that are broadcast to nothing, so a view may carry some out of bounds."""
    x = numbered((3, 4))
    nothing = np.zeros(0, int)
    assert_same(np.asarray(view_of(Engine(x), [2, 0]).view(([7], nothing))), x[[2, 0]][[7], nothing])
    assert_same(view_of(Engine(x), [])[[7], nothing], x[[]][[7], nothing])


def test_views_say_what_they_are() -> None:
    engine = Engine(numbered((4, 6)))
    view = view_of(engine, (slice(1, 3), [0, 5, 2]))
    assert repr(view) == "<View (2, 3) int32 of Engine (4, 6)>"
    assert view.nbytes == 24
    assert np.asarray(view, "f4").dtype == np.float32
    with pytest.raises(ValueError, match="copy=False"):
        np.asarray(view, copy=False)
    for call in (len, iter):
        with pytest.raises(TypeError):
            call(view_of(engine, (..., 0, 0)))


def test_a_view_keeps_its_own_indices() -> None:
    """An index array that changes after the view was made must not change the view."""
    rows = np.array([0, 1])
    x = numbered((3, 2))
    view = view_of(Engine(x), rows)
    rows[:] = 2
    assert_same(np.asarray(view), x[[0, 1]])
