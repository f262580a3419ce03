"""More buffers for `tuner_times.py`: blocks of fields of several axes, and what repeats itself a lot.

In: a source of random numbers. Out: named arrays. Fields are cut into blocks as arrays are, since neighbours
along other axes are what makes their streams other than those of curves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

NBYTES = 512 * 1024
Buffers = Iterator[tuple[str, np.ndarray]]


def waves(random: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
    """A field of long waves along all axes, about 1 high; float64."""
    axes = np.meshgrid(*(np.linspace(0, 2 * np.pi, side) for side in shape), indexing="ij")
    total = np.zeros(shape)
    for strength in (1, 0.5, 0.25, 0.1):
        turns = random.uniform(-4, 4, len(shape)) / strength**0.7
        total += strength * np.sin(
            sum(k * axis for k, axis in zip(turns, axes, strict=True)) + random.uniform(0, 6)
        )
    return total


def blocks_of(x: np.ndarray, block: tuple[int, ...]) -> np.ndarray:
    """Blocks of a field, spread evenly, one behind another: as many as a buffer holds."""
    places = np.ndindex(*(side // length for side, length in zip(x.shape, block, strict=True)))
    cut = [
        x[tuple(slice(at * n, at * n + n) for at, n in zip(place, block, strict=True))] for place in places
    ]
    count = NBYTES // cut[0].nbytes
    return np.concatenate([cut[number * len(cut) // count].reshape(-1) for number in range(count)])


def fields(random: np.random.RandomState) -> Buffers:
    """Fields of two and three axes with noise of several levels, with gaps, rounded, mostly zero."""
    for dtype, block in (("f4", (16, 32, 32)), ("f8", (16, 16, 32)), ("f4", (128, 128))):
        shape = tuple(4 * side for side in block)
        axes = len(block)
        field = waves(random, shape)
        noise = random.standard_normal(shape)
        for level in (0, 1e-5, 1e-3, 3e-2):
            x = 280 + 20 * (field + level * noise)
            yield f"{dtype}, field of {axes} axes, noise {level:g}", blocks_of(x.astype(dtype), block)
        x = np.where(field > 0.2, np.nan, 280 + 20 * (field + 1e-3 * noise))
        yield f"{dtype}, field of {axes} axes with gaps", blocks_of(x.astype(dtype), block)
        rain = np.maximum(field + 0.3 * noise - 0.9, 0) ** 2
        yield f"{dtype}, rain of {axes} axes", blocks_of(rain.astype(dtype), block)
        x = np.round(280 + 20 * (field + 1e-3 * noise), 2)
        yield f"{dtype}, hundredths of {axes} axes", blocks_of(x.astype(dtype), block)
    field = waves(random, (256, 512))
    for scale in (30, 2000, 20000):
        x = scale * (2 + field) + random.standard_normal(field.shape) * scale**0.5
        yield f"i2, field, {scale} high", blocks_of(x.astype("i2"), (128, 256))


def repetitive(random: np.random.RandomState) -> Buffers:
    """What shrinks to a few hundredths: rising numbers, long runs, large areas, few events, what repeats."""
    for dtype, step in (("u4", 1), ("i8", 1), ("i8", 3600), ("f8", 0.5), ("u2", 1)):
        length = NBYTES // np.dtype(dtype).itemsize
        yield f"{dtype}, rising by {step}", (1000 + step * np.arange(length)).astype(dtype)
    for dtype, share in (("u1", 0.01), ("u1", 0.001), ("f8", 0.001), ("f4", 0.0003), ("i8", 0.01)):
        length = NBYTES // np.dtype(dtype).itemsize
        x = np.where(random.random_sample(length) < share, 1 + 90 * random.random_sample(length), 0)
        yield f"{dtype}, {share:.2%} not zero", x.astype(dtype)
    for dtype, turn in (("u1", 300), ("i2", 800), ("i4", 200), ("f8", 1500)):
        length = NBYTES // np.dtype(dtype).itemsize
        lengths = random.geometric(1 / turn, length // turn * 3 + 9)
        x = np.repeat(random.randint(0, 60, len(lengths)), lengths)[:length]
        yield f"{dtype}, runs of {turn}", x.astype(dtype)
    field = waves(random, (512, 1024))
    yield "u1, areas", blocks_of(np.digitize(field, (-0.5, 0, 0.4, 1)).astype("u1"), (256, 256))
    for dtype, period in (("f4", 500), ("f8", 1200), ("i2", 3000), ("u1", 700)):
        length = NBYTES // np.dtype(dtype).itemsize
        x = np.tile(random.normal(30, 9, period), length // period + 1)[:length]
        yield f"{dtype}, every {period} again", x.astype(dtype)
    length = NBYTES // 8
    yield "f8, slow ramp", np.linspace(0, 1, length)
    yield "u4, cubes", (np.arange(NBYTES // 4, dtype="u8") ** 3 // 1000).astype("u4")
