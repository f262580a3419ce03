"""Random dtypes, items, shapes and partitions of arrays, and how arrays are compared."""

from __future__ import annotations

import math
from random import Random

import numpy as np

#: A record with everything in it: gaps, axes of its own, another record, both byte orders.
NESTED = np.dtype(
    [
        ("at", "<M8[ms]"),
        ("xy", ">f4", (2, 3)),
        ("in", [("flag", "?"), ("name", "S3"), ("deep", [("z", "<c8"), ("u", "<U2", (2,))])]),
        ("n", "<i2"),
    ]
)
PADDED = np.dtype([("p", "u1"), ("q", "f8"), ("r", ">i2")], align=True)

DTYPES = tuple(
    np.dtype(dtype)
    for dtype in (
        *("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"),
        *("f2", "f4", "f8", "c8", "c16"),
        *("M8[s]", "M8[25us]", "M8[D]", "m8[ns]", "m8[7m]", "m8"),
        *("S1", "S5", "U1", "U3", "U90", "V3", "V16"),
        *(">i2", ">u4", ">i8", ">f2", ">f8", ">c16", ">M8[ns]", ">m8[h]", ">U3"),
        *(NESTED, PADDED, np.dtype([("x", "i4"), ("y", "f8")]), np.dtype([("only", "u1")])),
    )
)
WORDS = ("", "a", "bc", "chunk", "0", "\x00x", "Grüße", "\U0001f40c" * 9, "wide " * 18)


def random_items(rng: Random, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array of any dtype, with NaNs, NaTs, infinities and negative zeros among its items."""
    if dtype.names is not None:
        made = np.zeros(shape, dtype)
        for name in dtype.names:
            made[name] = random_items(rng, made[name].shape, made[name].dtype)
        return made
    count = math.prod(shape)
    numbers = np.array([rng.getrandbits(63) >> rng.choice((0, 1, 40, 56)) for _ in range(count)], np.int64)
    match dtype.kind:
        case "b":
            made = numbers % 2 == 0
        case "f" | "c":
            choices = np.array([0.0, -0.0, 1.5, -2.25, 1e4, np.nan, np.inf, -np.inf])
            made = np.where(numbers % 3 == 0, choices[numbers % 8], (numbers % 4001 - 2000) / 8)
            made = made + 1j * (numbers % 77) if dtype.kind == "c" else made
        case "M" | "m":
            made = np.where(numbers % 5 == 0, np.int64(np.iinfo("i8").min), numbers - 2**61)
            return made.astype(dtype.str[0] + "i8").view(dtype).reshape(shape)
        case "S":
            made = np.array([WORDS[n % len(WORDS)].encode() for n in numbers.tolist()], "S")
        case "U":
            made = np.array([WORDS[n % len(WORDS)] for n in numbers.tolist()], "U")
        case "V":
            return np.frombuffer(rng.randbytes(count * dtype.itemsize), dtype).reshape(shape).copy()
        case _:
            made = numbers
    return made.astype(dtype).reshape(shape)


def same_items(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether two arrays have the same bytes, but for the gaps in records."""
    if theirs.dtype.names is None:
        return ours.tobytes() == theirs.tobytes()
    return all(same_items(ours[name], theirs[name]) for name in theirs.dtype.names)


def assert_same_array(ours: object, theirs: object) -> None:
    """Check that two results are of one type, dtype and shape, and have the same bytes."""
    assert type(ours) is type(theirs), (ours, theirs)
    if not isinstance(theirs, (np.ndarray, np.generic)):
        assert ours == theirs
        return
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    assert same_items(np.asarray(ours), np.asarray(theirs)), (ours, theirs)


def random_lengths(rng: Random, axes_max: int = 5, items_max: int = 1500) -> tuple[int, ...]:
    """Return a shape: without axes, with lengths of 0 and 1, or with several chunks and blocks per axis."""
    axes = rng.choice([n for n in (0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5) if n <= axes_max])
    lengths: list[int] = []
    for _ in range(axes):
        room = items_max // max(1, math.prod(lengths))
        length = rng.choice((0, 1, 2, 3)) if rng.random() < 0.15 else rng.randint(2, 13)
        lengths.append(min(length, max(room, 1)))
    rng.shuffle(lengths)
    return tuple(lengths)


def random_partition(rng: Random, shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """Return `chunks` and `blocks` for `asarray`: both, one or none; also larger than the axis."""
    chunks, blocks = [], []
    longer = (1, 5) if len(shape) <= 5 else (0,)  # Of many axes the product would be too large.
    for length in shape:
        whole = max(1, length)
        extents = (1, 2, 3, max(1, length // 2), whole, *(length + more for more in longer))
        chunk = rng.choice([extent for extent in extents if longer != (0,) or extent <= whole])
        chunks.append(chunk)
        blocks.append(rng.choice((1, 2, max(1, chunk // 2), max(1, chunk - 1), chunk)))
    blocks = [min(block, chunk) for block, chunk in zip(blocks, chunks, strict=True)]
    given = {"chunks": tuple(chunks), "blocks": tuple(blocks)}
    drop = rng.choice(("", "", "", "", "chunks", "blocks", "both"))
    return {} if drop == "both" else {name: sizes for name, sizes in given.items() if name != drop}
