"""The corpus of `tuner.py`: some seventy arrays of many kinds, mostly of 4 to 5 MB, and how each is cut.

In: nothing. Out: `Case`s: real sets that are in the cache, ERA5-like fields, numbers, images, text, records,
and arrays that change along their first axis. None of it is in the training data of `tuner_times.py`.
Invariant: the same arrays at every call and everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

import coquina as cq
from bench.common import data, synthetic, weather
from bench.common.synthetic import Globe
from bench.tuner.tuner_unseen import unseen

NBYTES = 4 << 20
CHUNK_BYTES = 1 << 20
SEED = 90210
UNSEEN = "unseen"
Random = np.random.RandomState


@dataclass(frozen=True)
class Case:
    """An array. is_mixed: its second half is of another kind than its first. chunk_bytes: about so many."""

    name: str
    kind: str
    x: np.ndarray
    is_mixed: bool = False
    chunk_bytes: int = CHUNK_BYTES

    @property
    def blocks(self) -> tuple[int, ...]:
        """What the default rule cuts it by."""
        return cq.zeros(self.x.shape, dtype=self.x.dtype).blocks

    @property
    def chunks(self) -> tuple[int, ...]:
        """Whole blocks, by default 1 MiB: several in an array, and the slow ways end within a second."""
        blocks = self.blocks
        chunk = [min(side, extent) for side, extent in zip(blocks, self.x.shape, strict=True)]
        axis = len(chunk) - 1
        while (axis := next_axis(chunk, self.x.shape, axis)) is not None:
            longer = [*chunk]
            longer[axis] = min(2 * chunk[axis], -(-self.x.shape[axis] // blocks[axis]) * blocks[axis])
            if prod(longer) * self.x.itemsize > self.chunk_bytes * 1.5:
                break
            chunk = longer
            axis -= 1
        return tuple(chunk)


def next_axis(chunk: Sequence[int], shape: Sequence[int], axis: int) -> int | None:
    """The next axis, from the last to the first and round again, along which a chunk may be longer."""
    for number in range(axis, axis - len(chunk), -1):
        if chunk[number % len(chunk)] < shape[number % len(chunk)]:
            return number % len(chunk)
    return None


def length(dtype: str) -> int:
    """How many items make an array."""
    return NBYTES // np.dtype(dtype).itemsize


def middle(x: np.ndarray, nbytes: int = 5_000_000) -> np.ndarray:
    """Whole rows out of the middle: the edges of real sets are often empty."""
    rows = max(1, min(len(x), nbytes // (x.nbytes // len(x))))
    start = (len(x) - rows) // 2
    return np.ascontiguousarray(x[start : start + rows])


def real() -> Iterator[Case]:
    """The sets in the cache, and two columns of a table."""
    found = data.cached() or {f"sample {name}": x for name, x in data.sample().items()}
    for name, x in found.items():
        yield Case(name, "real", middle(x))
        if x.dtype.names and "time_hour" in x.dtype.names:
            for column in ("time_hour", "dest"):
                yield Case(f"{name}, {column}", "real", np.ascontiguousarray(x[column]))


def fields() -> Iterator[Case]:
    """ERA5-like fields, one of them also as it was before it was packed."""
    shape = (4, 361, 720)
    for variable in synthetic.VARIABLES:
        yield Case(f"era5 {variable}", "field", synthetic.era5(variable, shape, seed=2024))
    globe = Globe(*shape[1:], 2024)
    plain = np.stack([synthetic.temperature(globe, hour) for hour in range(2)])
    yield Case("temperature, not packed, f8", "field", plain)
    yield Case("temperature, not packed, f2", "field", np.repeat(plain, 4, 0).astype("f2"))
    wet = synthetic.era5("precipitation", (16, 361, 720), seed=2025) > 1e-5
    yield Case("where it rains, bool", "field", wet)
    gaps = synthetic.era5("temperature", shape, seed=2026)
    gaps[:, globe.land > 0.3] = np.nan
    yield Case("temperature over sea, NaN on land", "field", gaps)


def floats(random: Random) -> Iterator[Case]:
    """Levels of entropy, prices, sensors, weights, spectra."""
    for level, make in synthetic.ENTROPY.items():
        yield Case(f"{level} entropy", "floats", make(length("f8")))
    prices = 80 * np.exp(np.cumsum(2e-4 * random.standard_normal(length("f8"))))
    yield Case("prices in cents, f8", "floats", np.round(prices, 2))
    turns = np.linspace(0, 900, length("f4")) ** 1.3
    volts = np.sin(turns) + 0.3 * np.sin(7.3 * turns) + 0.002 * random.standard_normal(length("f4"))
    yield Case("voltage of 12 bits, f4", "floats", (np.rint(volts * 1500) / 1500).astype("f4"))
    weights = random.standard_normal((length("f4") // 512, 512)) * np.exp(random.standard_normal(512) / 2)
    yield Case("weights of a network, f4", "floats", weights.astype("f4"))
    spectrum = np.fft.fft(np.cumsum(random.standard_normal((length("c8") // 4096, 4096)), 1), axis=1)
    yield Case("spectra, c8", "floats", spectrum.astype("c8"))
    few = np.zeros((1024, length("f8") // 1024))
    few[random.randint(0, 1024, 900), random.randint(0, few.shape[1], 900)] = random.standard_normal(900)
    yield Case("sparse matrix, f8", "floats", few)


def integers(random: Random) -> Iterator[Case]:
    """Counters, walks, categories, powers, hashes."""
    yield Case("row numbers, i8", "integers", np.arange(length("i8")) + 5 * 10**9)
    gaps = np.cumsum(random.geometric(0.1, length("i8")))
    yield Case("keys with gaps, i8", "integers", gaps)
    beats = 1_700_000_000_000_000 + 20_000 * np.arange(length("i8")) + random.normal(0, 90, length("i8"))
    yield Case("times with jitter, us", "integers", beats.astype("i8").view("M8[us]"))
    yield Case("walk, i2", "integers", np.cumsum(random.normal(0, 12, length("i2"))).astype("i2"))
    counts = random.poisson(np.abs(np.cumsum(random.normal(0, 0.05, length("i4")))) + 4)
    yield Case("counts, i4", "integers", counts.astype("i4"))
    powers = random.randint(1, 4000, length("u8")).astype("u8") ** random.randint(1, 4, length("u8")).astype(
        "u8"
    )
    yield Case("powers, u8", "integers", powers)
    stay = np.cumsum(random.random_sample(length("i1")) < 0.06)
    yield Case("states that last, i1", "integers", random.randint(0, 7, stay[-1] + 1).astype("i1")[stay])
    kinds = np.minimum(random.zipf(1.4, length("i4")), 5000)
    yield Case("categories by Zipf, i4", "integers", kinds.astype("i4"))
    yield Case("hashes, u8", "integers", np.frombuffer(random.bytes(NBYTES), "u8"))
    square = np.add.outer(np.arange(1024) ** 2, 3 * np.arange(1024)) % 65521
    yield Case("table of squares, u4", "integers", square.astype("u4"))
    yield Case("constant, i4", "integers", np.full(length("i4"), 7, "i4"))
    yield Case("rare events, bool", "integers", random.random_sample(length("?")) < 0.002)


def images(random: Random) -> Iterator[Case]:
    """Stars, a microscope's stack, a photograph, labels."""
    sky = random.normal(1200, 14, (1024, 2048))
    for row, col, light in zip(
        random.randint(8, 1016, 800), random.randint(8, 2040, 800), random.pareto(1.2, 800), strict=True
    ):
        bump = np.exp(-np.add.outer(np.arange(-8, 8) ** 2, np.arange(-8, 8) ** 2) / 5)
        sky[row - 8 : row + 8, col - 8 : col + 8] += 900 * light * bump
    yield Case("stars, u2", "images", np.clip(sky, 0, 65535).astype("u2"))
    globe = Globe(512, 1024, 77)
    cloud = np.stack([globe.at(synthetic.CLOUD, hour) for hour in (0, 6, 12, 18)])
    light = random.poisson(60 * np.exp(cloud))
    yield Case("photons, u2", "images", light.astype("u2"))
    colours = [130 + 40 * globe.at(layer, 0) + random.normal(0, 2, (512, 1024)) for layer in LAYERS]
    photo = np.clip(np.stack(colours, -1), 0, 255).astype("u1")
    yield Case("photograph, u1", "images", np.concatenate([photo, photo[::-1], photo[:, ::-1]]))
    labels = np.digitize(cloud, [-1.5, -0.5, 0.3, 1, 2]).astype("u1")
    yield Case("labels, u1", "images", np.concatenate([labels, labels[::-1]]))


LAYERS = (synthetic.LARGE, synthetic.LAND, synthetic.CLOUD)


def texts(random: Random) -> Iterator[Case]:
    """Names, codes, lines of a log."""
    names = np.array(
        ["Amélie", "Björn", "Chiara", "Dmitri", "Eilidh", "Farah", "Günther", "Hiroko", "Ínés", "Jürgen"]
    )
    rows = length("U12")
    yield Case(
        "names, U12",
        "text",
        np.char.add(random.choice(names, rows), random.randint(10, 99, rows).astype("U2")).astype("U12"),
    )
    rows = length("S8")
    codes = np.char.add(
        random.choice([b"AB-", b"QX-", b"ZZ-"], rows), random.randint(10000, 99999, rows).astype("S5")
    )
    yield Case("codes, S8", "text", codes.astype("S8"))
    rows = length("S48")
    level = random.choice([b"INFO  ", b"INFO  ", b"INFO  ", b"WARN  ", b"ERROR "], rows)
    what = random.choice([b"request served in ", b"cache missed after ", b"connection closed, "], rows)
    lines = np.char.add(np.char.add(level, what), random.randint(0, 5000, rows).astype("S4"))
    yield Case("lines of a log, S48", "text", lines.astype("S48"))
    yield Case(
        "hexadecimal digits, U8",
        "text",
        random.choice(list("0123456789abcdef"), (length("U1"))).astype("U1").view("U8"),
    )


def records(random: Random) -> Iterator[Case]:
    """A table of weather, particles."""
    table = weather.records(weather.columns(1, (361, 720), seed=31))
    yield Case("rows of weather", "records", table[: NBYTES // table.itemsize])
    kind = np.dtype([("id", "<u4"), ("at", "<f4", (3,)), ("speed", "<f4", (3,)), ("mass", "<f8")])
    particles = np.zeros(NBYTES // kind.itemsize, kind)
    particles["id"] = random.permutation(len(particles))
    particles["at"] = np.cumsum(random.normal(0, 0.01, (len(particles), 3)), 0)
    particles["speed"] = random.normal(0, 220, (len(particles), 3))
    particles["mass"] = 10.0 ** random.randint(8, 11, len(particles))
    yield Case("particles", "records", particles)


def mixed(random: Random) -> Iterator[Case]:
    """Halves of different kinds, one after the other."""
    half = NBYTES // 2
    smooth = synthetic.era5("pressure", (2, 361, 720), seed=5).reshape(-1)[: half // 4]
    pairs = {
        "field, then noise, f4": (smooth, random.standard_normal(half // 4).astype("f4")),
        "noise, then few values, f8": (
            random.random_sample(half // 8),
            random.choice([0.0, 0.25, 0.5, 1.0], half // 8),
        ),
        "counter, then hashes, i8": (np.arange(half // 8), np.frombuffer(random.bytes(half), "i8")),
        "walk, then categories, i4": (
            np.cumsum(random.randint(-900, 901, half // 4)).astype("i4"),
            random.randint(0, 12, half // 4).astype("i4"),
        ),
        "hashes, then runs, u2": (
            np.frombuffer(random.bytes(half), "u2"),
            np.repeat(random.randint(0, 9000, half // 64 + 1), 32)[: half // 2].astype("u2"),
        ),
    }
    for name, (first, second) in pairs.items():
        yield Case(name, "mixed", np.concatenate([first, second]), is_mixed=True)


def corpus() -> Iterator[Case]:
    """All of them."""
    # RandomState: its streams are frozen, so the same seed gives the same arrays in every NumPy.
    yield from real()
    yield from fields()
    for number, make in enumerate((floats, integers, images, texts, records, mixed)):
        yield from make(Random(SEED + number))
    for name, x in unseen(Random(SEED)):
        yield Case(name, UNSEEN, x)
