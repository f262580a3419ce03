"""Indexing and assignment of `Array` against NumPy: any dtype, shape, partition and key, in memory and files.

Also laws of what changes shapes (resize, append), and of how many blocks a key touches.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from tests.array_cases import (
    DTYPES,
    NESTED,
    assert_same_array,
    random_items,
    random_lengths,
    random_partition,
)
from tests.test_indexing_keys import (
    WILD,
    numbered,
    outcome,
    random_int,
    random_key,
    random_mask,
    random_slice,
)

WHOLE = slice(None)
seeds = st.integers(0, 2**62)

#: `make test-long` checks each law for so many times as many seeds.
LONG = 15


def law(examples: int):
    """Check a law, a function of a seed and a folder, for so many seeds; as a long test for many more."""

    def decorate(function):
        counts = [examples, pytest.param(examples * LONG, marks=pytest.mark.long)]

        @pytest.mark.parametrize("examples", counts)
        def test(examples, folder):
            @settings(max_examples=examples, deadline=None, database=None)
            @given(seed=seeds)
            def check(seed):
                function(seed, folder)

            check()

        return test

    return decorate


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("arrays")


@contextlib.contextmanager
def quietly():
    """NumPy's casts may warn, which is not our subject."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


names = itertools.count()


def random_options(rng: Random, shape: tuple[int, ...]) -> dict[str, object]:
    return {
        **random_partition(rng, shape),
        "codec": rng.choice(("lz4", "lz4", "blosclz", "zstd", "zlib")),
        "level": rng.choice((0, 1, 1, 1, 3)),
        "filters": rng.choice(("shuffle", "shuffle", "bitshuffle", "nofilter", ["delta", "shuffle"])),
    }


def made(rng: Random, x: np.ndarray, folder: Path) -> cq.Array:
    """Return an array that can be changed with the items of `x`, in memory, a file or a directory."""
    options = random_options(rng, x.shape)
    place = rng.choice(("memory", "memory", "memory", "file", "directory"))
    if place != "memory":
        options |= {"path": folder / f"{next(names)}.b2nd", "contiguous": place == "file"}
    array = cq.asarray(x, **options)
    if place != "memory":
        array.close()
        array = cq.open(options["path"], "a")
    array.cache_bytes = rng.choice((0, 0, 1000, array.cache_bytes, array.cache_bytes))
    return array


def made_for_reading(rng: Random, x: np.ndarray, folder: Path) -> cq.Array:
    """As `made`, but also of bytes."""
    return cq.from_bytes(made(rng, x, folder).to_bytes()) if rng.random() < 0.2 else made(rng, x, folder)


def random_array(rng: Random) -> np.ndarray:
    return random_items(rng, random_lengths(rng), rng.choice(DTYPES))


def assert_same_outcome(ours: object, theirs: object) -> None:
    """Check results; of exceptions only the types."""
    if isinstance(theirs, tuple):
        assert isinstance(ours, tuple), (ours, theirs)
        assert ours[0] is theirs[0], (ours, theirs)
    else:
        assert_same_array(ours, theirs)


def key_or_nonsense(rng: Random, shape: tuple[int, ...]) -> object:
    if rng.random() > 0.1:
        return random_key(rng, shape)
    return rng.choice((rng.choice(WILD), (rng.choice(WILD), rng.choice(WILD)), (..., rng.choice(WILD))))


# Reading.


@law(700)
def test_reading_gives_what_numpy_gives(seed, folder):
    rng = Random(seed)
    x = random_array(rng)
    with made_for_reading(rng, x, folder) as array:
        for _ in range(8):
            key = key_or_nonsense(rng, x.shape)
            expected = outcome(lambda: x[key])  # noqa: B023
            for _ in range(rng.choice((1, 2))):  # The second time from the cache, if there is one.
                assert_same_outcome(outcome(lambda: array[key]), expected)  # noqa: B023
        assert_same_array(array[...], x)
        assert_same_array(np.asarray(array), x)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_dtype_is_read_and_assigned_in_all_places(dtype, folder):
    rng = Random(str(dtype))
    for place in ("memory", "file", "directory"):
        x = random_items(rng, (5, 7, 3), dtype)
        where = {} if place == "memory" else {"path": folder / f"{next(names)}"}
        with cq.asarray(x, chunks=(3, 4, 3), blocks=(2, 3, 2), contiguous=place == "file", **where) as array:
            for key in [
                0,
                (1, 2, 0),
                (WHOLE, 2),
                (..., [2, 0, 2]),
                np.arange(5) % 2 == 0,
                (4, WHOLE, None, -1),
            ]:
                assert_same_array(array[key], x[key])
                array[key] = x[key] = random_items(rng, np.shape(x[key]), dtype)
                assert_same_array(array[key], x[key])
            assert_same_array(array[...], x)
        if place != "memory":
            assert_same_array(cq.open(where["path"])[...], x)


@law(80)
def test_sixteen_axes_are_indexed_as_few_are(seed, folder):
    rng = Random(seed)
    shape = [1] * 16
    for axis in rng.sample(range(16), 7):
        shape[axis] = rng.choice((2, 2, 3))
    x = random_items(rng, tuple(shape), np.dtype(rng.choice(("i4", ">f2", "S5"))))
    with made(rng, x, folder) as array:
        for _ in range(3):
            key = random_key(rng, x.shape)
            assert_same_outcome(outcome(lambda: array[key]), outcome(lambda: x[key]))  # noqa: B023
        key = tuple(rng.choice((WHOLE, 0, slice(None, None, -1), slice(0, 1))) for _ in shape)
        assert_same_array(array[key], x[key])
        if isinstance(x[key], np.ndarray):
            array[key] = x[key] = random_items(rng, x[key].shape, x.dtype)
        assert_same_array(array[...], x)


def outer(x: np.ndarray, items: tuple[object, ...]) -> object:
    """Index each axis on its own, the last one first."""
    if not items:
        return x[()]
    for axis in reversed(range(len(items))):
        x = x[(WHOLE,) * axis + (items[axis],)]
    return x


def random_outer_key(rng: Random, shape: tuple[int, ...]) -> tuple[object, ...]:
    items: list[object] = []
    for size in shape:
        taken = [rng.randint(-size, size - 1) for _ in range(rng.randint(0, 4))] if size else []
        choices = [random_slice(rng, size), random_mask(rng, (size,)), taken, np.array(taken, "i2")]
        items.append(rng.choice([*choices, random_int(rng, size)] if size else choices))
    return tuple(items)


@law(240)
def test_outer_indexing_takes_each_axis_on_its_own(seed, folder):
    rng = Random(seed)
    x = random_array(rng)
    with made(rng, x, folder) as array:
        for _ in range(4):
            key = random_outer_key(rng, x.shape)
            numbers = np.asarray(outer(numbered(x.shape, "i8"), key))
            assert_same_array(array.oindex[key], outer(x, key))
            values = random_items(rng, numbers.shape, x.dtype)
            x.reshape(-1)[numbers.reshape(-1)] = values.reshape(-1)
            array.oindex[key] = values
            assert_same_array(array[...], x)


@law(160)
def test_vector_indexing_takes_points(seed, folder):
    rng = Random(seed)
    x = random_items(rng, tuple(rng.randint(1, 9) for _ in range(rng.randint(1, 4))), rng.choice(DTYPES))
    with made(rng, x, folder) as array:
        for _ in range(4):
            pointed = rng.randint(1, x.ndim)
            block = rng.choice(((3,), (2, 3), (1,), (7,), (0,)))
            coordinates = tuple(
                np.array([rng.randint(-n, n - 1) for _ in range(math.prod(block))], int).reshape(block)
                for n in x.shape[:pointed]
            )
            # Points on the first axes: that is how NumPy does it too.
            assert_same_array(array.vindex[coordinates], x[coordinates])
            numbers = numbered(x.shape, "i8")[coordinates]
            values = random_items(rng, numbers.shape, x.dtype)
            x.reshape(-1)[numbers.reshape(-1)] = values.reshape(-1)
            array.vindex[coordinates] = values
            assert_same_array(array[...], x)
            # On the last axis the points come first all the same.
            last = np.array([rng.randint(0, x.shape[-1] - 1) for _ in range(3)])
            key = (*(WHOLE,) * (x.ndim - 1), last)
            assert_same_array(array.vindex[key], np.moveaxis(x, -1, 0)[last])


@law(240)
def test_a_mask_of_any_rank_selects_and_assigns(seed, folder):
    rng = Random(seed)
    x = random_array(rng)
    with made(rng, x, folder) as array:
        for ndim in range(x.ndim + 1):
            mask = np.asarray(random_mask(rng, x.shape[:ndim]), bool)
            assert_same_array(array[mask], x[mask])
            array[mask] = x[mask] = random_items(rng, x[mask].shape, x.dtype)
            single = random_items(rng, (), x.dtype)[()]
            if x.dtype.names is None:
                array[mask] = x[mask] = single
            assert_same_array(array[...], x)


# Views.


@law(300)
def test_views_compose(seed, folder):
    rng = Random(seed)
    x = random_array(rng)
    with made(rng, x, folder) as array:
        for _ in range(3):
            key = random_key(rng, x.shape)
            taken = outcome(lambda: x[key])  # noqa: B023
            if isinstance(taken, tuple):
                assert_same_outcome(outcome(lambda: array.view(key)), taken)  # noqa: B023
                continue
            taken = np.asarray(taken, x.dtype)  # Scalars have no byte order.
            view = array.view(key)
            assert (view.shape, view.dtype, view.ndim) == (taken.shape, x.dtype, taken.ndim)
            if max(taken.shape, default=0) > 127:
                continue  # Random keys have indices of one byte.
            second = random_key(rng, taken.shape)
            expected = outcome(lambda: taken[second])  # noqa: B023
            assert_same_outcome(outcome(lambda: view[second]), expected)  # noqa: B023
            if not isinstance(expected, tuple):
                third = np.asarray(expected, x.dtype)
                assert_same_array(np.asarray(view.view(second)), third)
                # Assigned through the view; if an item is there twice, the last value stays.
                numbers = np.asarray(np.asarray(numbered(x.shape, "i8")[key])[second])
                values = random_items(rng, third.shape, x.dtype)
                if np.unique(numbers).size == numbers.size:
                    view.view(second)[...] = values
                    x.reshape(-1)[numbers.reshape(-1)] = values.reshape(-1)
                    assert_same_array(array[...], x)


# Assigning.


def random_dtype_for(rng: Random, dtype: np.dtype) -> np.dtype:
    """Return a dtype that is assigned to items of `dtype`, with a result that NumPy does not leave open."""
    if rng.random() < 0.7:
        return dtype
    other = rng.choice(DTYPES)
    if dtype.kind in "Mm":
        # To times without a unit NumPy assigns others where the key has arrays, and else refuses them; and
        # NumPy 2.4 crashes where a text is no time and the key has arrays.
        return dtype if other.kind in "SU" or np.datetime_data(dtype)[0] == "generic" else other
    if dtype.names is not None or other.names is not None:
        # Whether times fit into texts depends on the way there, and records are refused if there are some.
        return dtype if dtype.names is None else np.dtype(rng.choice(("i2", "f4")))
    return other


def random_values(rng: Random, shape: tuple[int, ...], dtype: np.dtype) -> object:
    """Return what may be assigned to items of a shape: of this or another dtype, broadcast, nested, wrong."""
    if rng.random() < 0.1:
        return rng.choice(
            (7, 2.5, True, 1 + 2j, "12", b"9", "x", None, np.float16(3.5), np.int64(300), 2**70)
        )
    # Whether values of the wrong type for no items are refused depends on NumPy's way there.
    other = random_dtype_for(rng, dtype) if math.prod(shape) else dtype
    own = list(shape)
    kind = rng.random()
    if kind < 0.2:
        own = [n if rng.random() < 0.5 else 1 for n in own]
    elif kind < 0.3:
        own = own[rng.randint(0, len(own)) :]
    elif kind < 0.45 and other == dtype:  # Of two things that are wrong NumPy names either first.
        own = rng.choice(([1, *own], [1, *own], [*own, 2]))
    if math.prod(own) > 5000:
        return 0
    if dtype.kind in "iu" and other.kind in "fc":
        # What NaN and large numbers become as integers depends on the instructions in use.
        values = (random_items(rng, tuple(own), np.dtype("i1")) & 127).astype(other)
    else:
        values = random_items(rng, tuple(own), other)
    form = rng.random()
    return values.tolist() if form < 0.2 else np.asarray(values, order="F") if form < 0.3 else values


def error_kind(outcome: tuple[type[Exception], str] | None) -> type[Exception] | None:
    """Return what was raised; whichever of several bad texts is met first, it is a ValueError."""
    return outcome and (ValueError if issubclass(outcome[0], ValueError) else outcome[0])


@law(1000)
def test_assignment_does_what_numpy_does(seed, folder):
    rng = Random(seed)
    x = random_array(rng)
    with made(rng, x, folder) as array, quietly():
        for _ in range(4):
            key = key_or_nonsense(rng, x.shape)
            numbers = outcome(lambda: numbered(x.shape, "i8")[key])  # noqa: B023
            if isinstance(numbers, tuple):
                theirs = outcome(lambda: x[key])  # noqa: B023
                assert_same_outcome(outcome(lambda: array.__setitem__(key, 0)), theirs)  # noqa: B023
                continue
            if np.unique(numbers).size == np.size(numbers):
                values = random_values(rng, np.shape(numbers), x.dtype)
                before = x.copy()
                theirs = outcome(lambda: x.__setitem__(key, values))  # noqa: B023
                ours = outcome(lambda: array.__setitem__(key, values))  # noqa: B023
                assert error_kind(ours) == error_kind(theirs), (ours, theirs, key, values, x.dtype)
                if theirs is not None:
                    x = before  # NumPy may have assigned some of the values; we have not.
            else:
                # Several values for an item: the last one stays, in the order of the result.
                values = random_items(rng, np.shape(numbers), x.dtype)
                x.reshape(-1)[np.asarray(numbers).reshape(-1)] = values.reshape(-1)
                array[key] = values
            assert_same_array(array[...], x)
        path = array.path
    if path is not None:
        assert_same_array(cq.open(path)[...], x)


def test_the_last_of_many_values_for_one_item_stays():
    rng = np.random.default_rng(3)
    x = np.zeros((40, 50), "i4")
    array = cq.asarray(x, chunks=(7, 9), blocks=(3, 4))
    for _ in range(20):
        rows, columns = rng.integers(-40, 40, 5000), rng.integers(0, 50, 5000)
        values = rng.integers(0, 2**31, 5000)
        array[rows, columns] = x[rows, columns] = values
        assert np.array_equal(array[...], x)
        picked = rng.integers(0, 40, 200)
        rows_of_values = rng.integers(0, 2**31, (200, 50))
        array[picked] = x[picked] = rows_of_values
        assert np.array_equal(array[...], x)


def test_values_may_be_compressed_arrays_and_views():
    x = numbered((6, 7))
    array, source = cq.asarray(x, chunks=(4, 3)), cq.asarray(x * 10, chunks=(5, 5))
    array[1:4] = source[2:5]
    array[:, 2] = source.view((WHOLE, 5))
    array[4:] = source.view((slice(0, 2),))
    x[1:4], x[:, 2], x[4:] = (x * 10)[2:5], (x * 10)[:, 5], (x * 10)[:2]
    assert np.array_equal(array[...], x)


# Fields.


def field_keys(dtype: np.dtype) -> list[object]:
    first, last = dtype.names[0], dtype.names[-1]
    return [first, last, [first], [last, first], list(dtype.names), "zz", [first, "zz"], [first, first], []]


@law(240)
def test_fields_are_read_and_assigned_as_in_numpy(seed, folder):
    rng = Random(seed)
    dtype = rng.choice([dtype for dtype in DTYPES if dtype.names is not None])
    x = random_items(rng, random_lengths(rng), dtype)
    with made(rng, x, folder) as array, quietly():
        for key in field_keys(dtype):
            expected = outcome(lambda: x[key])  # noqa: B023
            assert_same_outcome(outcome(lambda: array[key]), expected)  # noqa: B023
            if isinstance(expected, tuple):
                ours = outcome(lambda: array.__setitem__(key, 0))  # noqa: B023
                assert_same_outcome(ours, outcome(lambda: x.__setitem__(key, 0)))  # noqa: B023
                continue
            values = random_items(rng, expected.shape, expected.dtype)
            array[key] = values
            x[key] = values
            assert_same_array(array[...], x)
            if isinstance(key, str) and key not in ("at", "in"):
                array[key] = x[key] = 1
                assert_same_array(array[key], x[key])
        for name in dtype.names:
            if dtype[name].subdtype is None:
                part = random_key(rng, x.shape)
                view = array.fields[name]
                theirs = outcome(lambda: x[name][part])  # noqa: B023
                assert_same_outcome(outcome(lambda: view[part]), theirs)  # noqa: B023
        assert_same_array(array[...], x)


def test_a_record_is_a_void_scalar_that_names_its_fields():
    x = random_items(Random(1), (4, 3), NESTED)
    array = cq.asarray(x, chunks=(2, 2))
    assert type(array[1, 2]) is type(x[1, 2]) is np.void
    assert array[1, 2]["in"]["deep"]["z"] == x[1, 2]["in"]["deep"]["z"]
    assert list(array.fields) == list(NESTED.names)
    with pytest.raises(IndexError):
        cq.asarray(numbered((3,)))["a"]


# Shapes that change.


@law(300)
def test_resizing_keeps_what_stays_and_gives_zeros(seed, folder):
    rng = Random(seed)
    x = random_array(rng)
    with made(rng, x, folder) as array:
        for _ in range(4):
            shape = tuple(max(0, n + rng.choice((-7, -3, -1, 0, 0, 1, 2, 5, 12))) for n in x.shape)
            if math.prod(shape) > 20_000:
                continue
            grown = np.zeros(shape, x.dtype)
            both = tuple(slice(0, min(n, m)) for n, m in zip(shape, x.shape, strict=True))
            grown[both] = x[both]
            x = grown
            array.resize(shape)
            assert array.shape == shape
            assert_same_array(array[...], x)
            key = random_key(rng, shape)
            numbers = outcome(lambda: numbered(shape, "i8")[key])  # noqa: B023
            if not isinstance(numbers, tuple) and np.unique(numbers).size == np.size(numbers):
                array[key] = x[key] = random_items(rng, np.shape(numbers), x.dtype)
        path = array.path
    if path is not None:
        assert_same_array(cq.open(path)[...], x)


@law(300)
def test_appending_is_concatenation(seed, folder):
    rng = Random(seed)
    x = random_array(rng)
    if not x.ndim:
        return
    with made(rng, x, folder) as array:
        for _ in range(4):
            axis = rng.randrange(x.ndim)
            shape = (*x.shape[:axis], rng.choice((0, 1, 1, 2, 5, 11)), *x.shape[axis + 1 :])
            if x.size + math.prod(shape) > 20_000:
                continue
            more = random_items(rng, shape, x.dtype)
            array.append(more, axis - x.ndim if rng.random() < 0.3 else axis)
            x = np.concatenate([x, more], axis).astype(x.dtype)
            assert array.shape == x.shape
            assert_same_array(array[...], x)
        path = array.path
    if path is not None:
        assert_same_array(cq.open(path)[...], x)


def test_what_does_not_fit_is_not_appended():
    array = cq.asarray(numbered((3, 4)), chunks=(2, 2))
    for wrong, error in [
        ((np.zeros((1, 5), "i4"), 0), ValueError),
        ((np.zeros(4, "i4"), 0), ValueError),
        ((np.zeros((1, 4), "i4"), 2), IndexError),
        ((np.zeros((1, 4), "f8"), 0), TypeError),
    ]:
        with pytest.raises(error):
            array.append(*wrong)
    for shape in [(3,), (3, 4, 1), (-1, 4)]:
        with pytest.raises(ValueError, match="resize"):
            array.resize(shape)
    assert_same_array(array[...], numbered((3, 4)))


# Blocks.


def blocks_of_items(array: cq.Array) -> np.ndarray:
    """Return for each item the number of its block: a naive count over all axes."""
    number = np.zeros(array.shape, "i8")
    for axis, (n, chunk, block) in enumerate(zip(array.shape, array.chunks, array.blocks, strict=True)):
        places = np.arange(n)
        per_chunk = -(-chunk // block) if block else 1
        along = places // max(chunk, 1) * per_chunk + places % max(chunk, 1) // max(block, 1)
        count = -(-n // max(chunk, 1)) * per_chunk
        number = number * count + along.reshape([-1 if at == axis else 1 for at in range(array.ndim)])
    return number


@law(400)
def test_the_blocks_that_a_key_touches_are_those_with_its_items(seed, folder):
    rng = Random(seed)
    x = random_items(rng, random_lengths(rng), np.dtype("u2")) | 1  # No chunk is one of zeros.
    with made(rng, x, folder) as array:
        array.cache_bytes = 0
        blocks = blocks_of_items(array)
        for _ in range(6):
            key = random_key(rng, x.shape)
            taken = outcome(lambda: blocks[key])  # noqa: B023
            if isinstance(taken, tuple):
                assert outcome(lambda: array.blocks_touched(key))[0] is taken[0]  # noqa: B023
                continue
            touched = array.blocks_touched(key)
            assert touched == np.unique(taken).size
            before = array.info.blocks_decoded
            assert_same_array(array[key], x[key])
            assert array.info.blocks_decoded - before <= touched


def test_a_cached_block_is_not_decoded_again():
    x = np.random.default_rng(0).integers(0, 9, (60, 70), "i4") + 1
    array = cq.asarray(x, chunks=(30, 35), blocks=(10, 7))
    assert array.blocks_touched((12, 3)) == 1
    assert array.blocks_touched(12) == 10
    assert array.blocks_touched((WHOLE, 3)) == 6
    assert array.blocks_touched(([1, 11, 1], [1, 1, 2])) == 2
    assert array.blocks_touched(slice(0, 0)) == 0
    assert array.blocks_touched(...) == 60
    counts = []
    for cache_bytes in (0, 1 << 20):
        array.cache_bytes = cache_bytes
        before = array.info.blocks_decoded
        for _ in range(5):
            assert_same_array(array[12, 3], x[12, 3])
        counts.append(array.info.blocks_decoded - before)
    assert counts == [5, 1]
    # What was written is what is read, whatever was kept.
    array[12, 3] = 77
    assert array[12, 3] == 77
