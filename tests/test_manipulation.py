"""Functions that move items, against NumPy: operands of every kind and dtype, eagerly and lazily."""

from __future__ import annotations

import math
import tracemalloc
from random import Random
from unittest.mock import patch

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.arrays import results
from coquina.expressions.expression import Expr
from coquina.functions import joining, manipulation, reshaping, traces
from tests.array_cases import DTYPES, random_items, random_lengths
from tests.layout_cases import Lazy, check_result, law, operand, outcome, same_refusal

NUMBERS = tuple(dtype for dtype in DTYPES if dtype.kind in "biufc")


def some_items(rng: Random, *, axes_min: int = 0, dtypes=DTYPES) -> np.ndarray:
    shape = random_lengths(rng, axes_max=4, items_max=300)
    while len(shape) < axes_min:
        shape = (*shape, rng.randint(0, 4))
    return random_items(rng, shape, rng.choice(dtypes))


def some_axes(rng: Random, ndim: int, count: int | None = None) -> tuple[int, ...]:
    axes = rng.sample(range(ndim), rng.randint(0, ndim) if count is None else count)
    return tuple(axis - ndim if rng.random() < 0.3 else axis for axis in axes)


@law(60)
def test_axes_are_rearranged_as_in_numpy(rng):
    x = some_items(rng)
    a = operand(rng, x)
    axes = some_axes(rng, x.ndim)
    check_result(rng, manipulation.flip(a, axis=axes), np.flip(x, axes))
    check_result(rng, manipulation.flip(a), np.flip(x))
    order = some_axes(rng, x.ndim, x.ndim)
    check_result(rng, manipulation.permute_dims(a, order), np.permute_dims(x, order))
    check_result(rng, manipulation.transpose(a), np.transpose(x))
    targets = some_axes(rng, x.ndim, len(axes))
    check_result(rng, manipulation.moveaxis(a, axes, targets), np.moveaxis(x, axes, targets))
    count = rng.randint(0, 2)
    new = some_axes(rng, x.ndim + count, count)
    check_result(rng, manipulation.expand_dims(a, new), np.expand_dims(x, new))
    dropped = tuple(axis for axis, size in enumerate(x.shape) if size == 1 and rng.random() < 0.7)
    check_result(rng, manipulation.squeeze(a, dropped), np.squeeze(x, dropped))
    for ours, theirs in (
        (manipulation.atleast_1d, np.atleast_1d),
        (manipulation.atleast_2d, np.atleast_2d),
        (manipulation.atleast_3d, np.atleast_3d),
    ):
        check_result(rng, ours(a), theirs(x))
    wide = (*[rng.randint(0, 3) for _ in range(rng.randint(0, 2))],)
    wide += tuple(rng.choice((0, 1, 3)) if size == 1 else size for size in x.shape)
    check_result(rng, manipulation.broadcast_to(a, wide), np.broadcast_to(x, wide))


@law(40)
def test_pairs_of_axes_are_turned_as_in_numpy(rng):
    x = some_items(rng, axes_min=2)
    a = operand(rng, x)
    pair = some_axes(rng, x.ndim, 2)
    turns = rng.randint(-5, 5)
    check_result(rng, manipulation.rot90(a, turns, pair), np.rot90(x, turns, pair))
    check_result(rng, manipulation.swapaxes(a, *pair), np.swapaxes(x, *pair))
    check_result(rng, manipulation.matrix_transpose(a), np.matrix_transpose(x))
    offset = rng.randint(-6, 6)
    if pair[0] % x.ndim != pair[1] % x.ndim:
        check_result(rng, traces.diagonal(a, offset, *pair), np.diagonal(x, offset, *pair))
    check_result(rng, manipulation.flipud(a), np.flipud(x))
    check_result(rng, manipulation.fliplr(a), np.fliplr(x))


@law(60)
def test_places_along_axes_are_chosen_as_in_numpy(rng):
    x = some_items(rng, axes_min=1)
    a = operand(rng, x)
    axes = tuple(rng.randrange(-x.ndim, x.ndim) for _ in range(rng.randint(1, 3)))
    shifts = tuple(rng.choice((0, 1, -2, 7, 10**15)) for _ in axes)
    check_result(rng, manipulation.roll(a, shifts, axis=axes), np.roll(x, shifts, axes))
    check_result(rng, manipulation.roll(a, shifts[0]), np.roll(x, shifts[0]))
    axis = rng.randrange(x.ndim)
    counts = [rng.choice((0, 1, 2, 30)) for _ in range(x.shape[axis])]
    repeats = rng.choice((rng.randint(0, 3), counts, operand(rng, np.array(counts, np.int64))))
    theirs = np.asarray(repeats, np.int64)
    check_result(rng, joining.repeat(a, repeats, axis=axis), np.repeat(x, theirs, axis))
    check_result(rng, joining.repeat(a, 2), np.repeat(x, 2))
    times = tuple(rng.randint(0, 3) for _ in range(rng.randint(0, x.ndim + 1)))
    check_result(rng, joining.tile(a, times), np.tile(x, times))


@law(60)
def test_pad_adds_what_numpy_adds(rng):
    x = some_items(rng, axes_min=1, dtypes=NUMBERS)
    a = operand(rng, x)
    widths = [(rng.randint(0, 20), rng.randint(0, 4)) for _ in x.shape]
    if 0 not in x.shape:
        mode = rng.choice(("edge", "reflect", "symmetric", "wrap"))
        check_result(rng, manipulation.pad(a, widths, mode), np.pad(x, widths, mode))
    values = [(rng.randint(0, 1), rng.randint(0, 1)) for _ in x.shape]
    padded = manipulation.pad(a, widths, constant_values=values)
    check_result(rng, padded, np.pad(x, widths, constant_values=values))


def some_shape(rng: Random, size: int) -> list[int]:
    """Return lengths whose product is `size`, some of them 1."""
    if not size:
        return rng.sample([0, 1, 3], 3)
    lengths = []
    for factor in (2, 2, 3, 5, 7, 11, 13):
        if size % factor == 0:
            lengths.append(factor)
            size //= factor
    lengths += [size] + [1] * rng.randint(0, 2)
    rng.shuffle(lengths)
    while len(lengths) > rng.randint(1, 5):
        place = rng.randrange(len(lengths) - 1)
        lengths[place : place + 2] = [math.prod(lengths[place : place + 2])]
    return lengths


@law(150)
def test_reshape_keeps_the_flat_items(rng):
    x = some_items(rng)
    a = operand(rng, x)
    shape = some_shape(rng, x.size)
    # Windows from single items to all of it.
    window, gap = rng.choice((1, 64, 8 << 20)), rng.choice((0, 16, 64 << 10))
    with patch.multiple(reshaping, _WINDOW_BYTES=window, _GAP_BYTES=gap):
        order = rng.choice("CFA")
        theirs = x.reshape(shape, order="C" if order == "A" else order)
        ours = manipulation.reshape(a, tuple(shape), order=order)
        check_result(rng, ours, theirs)
        check_result(rng, manipulation.ravel(ours), theirs.ravel())
        uncopied = manipulation.reshape(a, tuple(shape), copy=False)
        assert isinstance(uncopied, Expr)
        check_result(rng, uncopied, x.reshape(shape))
        if x.size:
            place = rng.randrange(len(shape))
            shape[place] = -1
            check_result(rng, manipulation.reshape(a, tuple(shape)), x.reshape(shape))


@law(60)
def test_arrays_are_joined_as_in_numpy(rng):
    first = some_items(rng, axes_min=1, dtypes=NUMBERS)
    axis = rng.randrange(-first.ndim, first.ndim)
    parts = [first]
    for _ in range(rng.randint(0, 4)):
        shape = list(first.shape)
        shape[axis] = rng.choice((0, 1, 5))
        parts.append(random_items(rng, tuple(shape), rng.choice(NUMBERS)))
    ours = [operand(rng, part) for part in parts]
    check_result(rng, joining.concat(ours, axis=axis), np.concat(parts, axis=axis))
    check_result(rng, joining.concat(ours, axis=None), np.concat(parts, axis=None))
    check_result(
        rng,
        joining.concatenate(ours, axis, dtype="c16", casting="unsafe"),
        np.concatenate(parts, axis, dtype="c16", casting="unsafe"),
    )
    same = [first, first[::-1].astype("c16")]
    mixed = [operand(rng, part) for part in same]
    place = rng.randrange(-first.ndim - 1, first.ndim + 1)
    stacked = joining.stack(mixed, axis=place)
    check_result(rng, stacked, np.stack(same, axis=place))
    for ours_back, theirs_back in zip(joining.unstack(stacked, axis=place), same, strict=True):
        check_result(rng, ours_back, theirs_back.astype(stacked.dtype))
    where = rng.choice((1, sorted(rng.choices(range(-2, 9), k=3)), 2))
    theirs = outcome(np.split, first, where, axis)
    ours = outcome(joining.split, mixed[0], where, axis)
    assert isinstance(theirs, list) or same_refusal(ours, theirs)
    for our, their in zip(ours, theirs, strict=True) if isinstance(theirs, list) else ():
        check_result(rng, our, their)
    for name in ("vstack", "hstack", "dstack", "column_stack"):
        check_result(rng, getattr(joining, name)(mixed), getattr(np, name)(same))


@law(40)
def test_arrays_are_spread_over_each_other_as_in_numpy(rng):
    lines = [random_items(rng, (rng.randint(0, 5),), rng.choice(DTYPES)) for _ in range(rng.randint(0, 3))]
    ours = [operand(rng, line) for line in lines]
    for sparse in (False, True):
        indexing = rng.choice(("xy", "ij"))
        found = joining.meshgrid(*ours, indexing=indexing, sparse=sparse)
        wanted = np.meshgrid(*lines, indexing=indexing, sparse=sparse)
        assert len(found) == len(wanted)
        for our, their in zip(found, wanted, strict=True):
            check_result(rng, our, their)
    x = some_items(rng)
    y = x[tuple(slice(0, rng.choice((1, size))) for size in x.shape)][..., :1] if x.ndim else x
    for our, their in zip(
        manipulation.broadcast_arrays(operand(rng, x), operand(rng, y)),
        np.broadcast_arrays(x, y),
        strict=True,
    ):
        check_result(rng, our, their)


@law(60)
def test_diff_takes_the_differences_of_numpy(rng):
    dtypes = [dtype for dtype in DTYPES if dtype.kind in "biufcMm" and dtype.isnative]
    x = some_items(rng, axes_min=1, dtypes=dtypes)
    axis, times = rng.randrange(-x.ndim, x.ndim), rng.randint(0, 4)
    more = {}
    if x.dtype.kind not in "Mm":
        for name in ("prepend", "append"):
            if rng.random() < 0.4:
                more[name] = rng.choice((x, np.ones((), x.dtype)))
    ours = {name: operand(rng, items) for name, items in more.items()}
    with np.errstate(all="ignore"):
        theirs = np.diff(x, times, axis, **more)
        check_result(rng, joining.diff(operand(rng, x), n=times, axis=axis, **ours), theirs)


REFUSALS = {
    "reshape to another size": lambda ns, x: ns.reshape(x, (5, 5)),
    "reshape with two unknown lengths": lambda ns, x: ns.reshape(x, (-1, -1)),
    "squeeze a long axis": lambda ns, x: ns.squeeze(x, 0),
    "squeeze an axis that is not there": lambda ns, x: ns.squeeze(x, 7),
    "flip an axis that is not there": lambda ns, x: ns.flip(x, axis=3),
    "permute too few axes": lambda ns, x: ns.permute_dims(x, (0,)),
    "permute an axis twice": lambda ns, x: ns.permute_dims(x, (0, 0)),
    "expand at an axis that is not there": lambda ns, x: ns.expand_dims(x, axis=5),
    "expand twice at one place": lambda ns, x: ns.expand_dims(x, axis=(0, 0)),
    "broadcast to what does not fit": lambda ns, x: ns.broadcast_to(x, (4, 5)),
    "broadcast to fewer axes": lambda ns, x: ns.broadcast_to(x, (4,)),
    "roll an axis that is not there": lambda ns, x: ns.roll(x, 1, axis=2),
    "roll by shifts of other axes": lambda ns, x: ns.roll(x, (1, 2, 3), axis=(0, 1)),
    "concat other lengths": lambda ns, x: ns.concat([x, np.ones((3, 3))], axis=0),
    "concat other axes": lambda ns, x: ns.concat([x, np.ones(3)], axis=0),
    "concat along an axis that is not there": lambda ns, x: ns.concat([x, x], axis=2),
    "concat nothing": lambda ns, x: ns.concat([]),
    "stack other shapes": lambda ns, x: ns.stack([x, np.ones(3)]),
    "stack along an axis that is not there": lambda ns, x: ns.stack([x, x], axis=4),
    "unstack an axis that is not there": lambda ns, x: ns.unstack(x, axis=2),
    "repeat by negative numbers": lambda ns, x: ns.repeat(x, -1),
    "repeat by fractions": lambda ns, x: ns.repeat(x, np.array([1.5])),
    "repeat by too few numbers": lambda ns, x: ns.repeat(x, [1, 2], axis=0),
    "tile by negative numbers": lambda ns, x: ns.tile(x, (-1,)),
    "pad by negative numbers": lambda ns, x: ns.pad(x, -1),
    "pad by fractions": lambda ns, x: ns.pad(x, 1.5),
    "moveaxis of other counts": lambda ns, x: ns.moveaxis(x, (0, 1), (0,)),
    "diff of negative order": lambda ns, x: ns.diff(x, n=-1),
    "diff along an axis that is not there": lambda ns, x: ns.diff(x, axis=2),
    "diagonal of one axis": lambda ns, x: ns.diagonal(x, 0, 1, 1),
    "meshgrid in an unknown order": lambda ns, x: ns.meshgrid(x, x, indexing="yx"),
}


class Ours:
    def __getattr__(self, name):
        return next(getattr(m, name) for m in (manipulation, joining, traces) if hasattr(m, name))


@pytest.mark.parametrize("eager_bytes", [0, 1 << 16])
@pytest.mark.parametrize("what", REFUSALS)
def test_what_numpy_refuses_is_refused(what, eager_bytes):
    x = np.arange(12.0).reshape(3, 4)
    with pytest.raises((ValueError, TypeError, IndexError)) as theirs:
        REFUSALS[what](np, x)
    with patch.object(results, "EAGER_BYTES", eager_bytes), pytest.raises(theirs.type):
        REFUSALS[what](Ours(), cq.asarray(x))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.flip(x, 0),
        lambda x: np.roll(x, 1, 0),
        lambda x: np.concatenate([x, x], 1),
        lambda x: np.concatenate((x, x), axis=None, dtype="f4"),
        lambda x: np.stack([x, x], 1),
        lambda x: np.repeat(x, 2, 1),
        lambda x: np.tile(x, 2),
        lambda x: np.diff(x, 1, 0),
        lambda x: np.reshape(x, (6, 2), "F"),
        lambda x: np.swapaxes(x, 0, 1),
        lambda x: np.rollaxis(x, 1),
        lambda x: np.split(x, 3)[1],
        lambda x: np.tensordot(x, x, 2),
        lambda x: np.einsum("ij,ij->j", x, x),
        lambda x: np.vstack([x, x]),
        lambda x: np.pad(x, 1, "edge"),
        lambda x: np.broadcast_arrays(x, x)[0],
    ],
)
def test_functions_of_numpy_take_compressed_arrays(call):
    x = np.arange(12.0).reshape(3, 4)
    check_result(Random(1), call(cq.asarray(x)), call(x))


def test_datasets_of_hdf5_are_operands(tmp_path):
    x = np.arange(60_000.0).reshape(100, 600)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=x, chunks=(7, 50), compression="gzip")
    with cq.open(tmp_path / "x.h5") as file:
        joined = joining.concat(
            [file["x"], manipulation.permute_dims(manipulation.reshape(file["x"], (600, 100)))]
        )
        wanted = np.concat([x, x.reshape(600, 100).T])
        assert isinstance(joined, Expr)
        made = joined.compute(path=tmp_path / "joined.b2nd")
        np.testing.assert_array_equal(made[...], wanted)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: manipulation.reshape(a, (-1, 32)),
        lambda a: manipulation.reshape(a, (32, -1)),
        lambda a: manipulation.ravel(manipulation.permute_dims(a)),
        lambda a: manipulation.roll(a, 12_345),
        lambda a: joining.concat([a, a], axis=None),
        lambda a: joining.tile(a, (2, 1)),
        lambda a: manipulation.pad(a, 3, "reflect"),
        lambda a: joining.diff(a, axis=0),
    ],
    ids=["split", "fold", "transposed", "roll", "join", "tile", "pad", "diff"],
)
def test_layouts_of_what_does_not_fit_are_made_in_little_memory(change, tmp_path):
    a = cq.full((8192, 4096), 3, dtype="f8", chunks=(256, 256))  # 256 MiB
    result = change(a)
    assert isinstance(result, Expr)
    tracemalloc.start()
    try:
        made = result.compute(path=tmp_path / "made.b2nd")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert made.shape == result.shape
    assert peak < 140 << 20


def test_a_region_reads_only_what_it_needs():
    a = cq.asarray(np.arange(1 << 20), chunks=(4096,), blocks=(1024,))
    read = []

    class Counted:
        shape, dtype, nbytes = a.shape, a.dtype, a.nbytes

        def __getitem__(self, key):
            items = a[key]
            read.append(items.size)
            return items

    table = manipulation.reshape(Counted(), (1024, 1024))
    np.testing.assert_array_equal(table[5:7, 10:20], np.arange(1 << 20).reshape(1024, 1024)[5:7, 10:20])
    assert sum(read) <= 2 * 1024
    read.clear()
    rolled = manipulation.roll(Counted(), 100)
    assert rolled[50:150].tolist() == np.roll(np.arange(1 << 20), 100)[50:150].tolist()
    assert sum(read) == 100
    read.clear()
    assert Lazy(joining.concat([Counted(), Counted()]))[(1 << 20) - 5 : (1 << 20) + 5].size == 10
    assert sum(read) == 10
