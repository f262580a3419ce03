"""How long does each way take that the tuner may choose: what the shipped table of times is made of?

    python -m bench.tuner.tuner_times --out times.jsonl    six minutes

Some ninety generated buffers of 512 KiB, none of them in the corpus of tuner.py, in blocks of 64 KiB by
every way, on one thread; the quickest of six rounds. A line of JSON for each: {data, typesize, codec, level,
filters, fraction, write_ns_per_byte, read_ns_per_byte, work}; fraction is compressed over plain bytes, work
what the streams hold, where the engine can tell.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from bench.tuner import tuner_training, tuner_ways
from coquina import _core

NBYTES = 512 * 1024
SEED = 7012
WORDS = (
    "salt",
    "iron",
    "north",
    "paper",
    "glass",
    "of the",
    "and so",
    "meadow",
    "7",
    "quartz",
    "in",
    "limestone",
)

Buffers = Iterator[tuple[str, np.ndarray]]


def smooth(random: np.random.RandomState, length: int) -> np.ndarray:
    """A sum of waves with random phases, most of them long; float64 about 1 high."""
    at = np.linspace(0, 2 * np.pi, length)
    waves = [np.sin(k * at + random.uniform(0, 6)) / k for k in (3, 7, 17, 41, 101, 307)]
    return np.sum(waves, axis=0)


def integers(random: np.random.RandomState) -> Buffers:
    """Bits of noise, random walks and powers, in integers of each width."""
    for dtype, bits in (("u1", (2, 5)), ("i2", (4, 9, 13)), ("i4", (3, 12, 22)), ("i8", (6, 20, 40))):
        for kept in bits:
            length = NBYTES // np.dtype(dtype).itemsize
            yield f"{dtype}, {kept} bits of noise", random.randint(0, 2**kept, length).astype(dtype)
    for dtype, steps in (("i1", 1), ("i2", 3), ("i4", 50), ("i4", 5000), ("i8", 7), ("i8", 10**6)):
        length = NBYTES // np.dtype(dtype).itemsize
        walk = np.cumsum(random.randint(-steps, steps + 1, length))
        yield f"{dtype}, walk by {steps}", walk.astype(dtype)
    yield "u4, exponential", random.exponential(300, NBYTES // 4).astype("u4")


def floats(random: np.random.RandomState) -> Buffers:
    """Smooth curves with noise of several levels; decimals; plain noise."""
    for dtype, levels in (("f4", (0, 1e-6, 1e-4, 1e-2)), ("f8", (0, 1e-13, 1e-9, 1e-4))):
        length = NBYTES // np.dtype(dtype).itemsize
        for level in levels:
            x = 20 + 5 * smooth(random, length) + level * random.standard_normal(length)
            yield f"{dtype}, smooth, noise {level:g}", x.astype(dtype)
    yield "f8, two decimals", np.round(random.normal(50, 12, NBYTES // 8), 2)
    yield "f4, whole numbers", np.rint(random.normal(0, 200, NBYTES // 4)).astype("f4")
    yield "f8, random", random.standard_normal(NBYTES // 8)


def images(random: np.random.RandomState) -> Buffers:
    """Grey pictures of 512 pixels a row, with noise of several levels."""
    side = np.linspace(-3, 3, 512)
    spot = np.exp(-(side[:, None] ** 2) - side[None] ** 2)
    waves = np.sin(5 * side[:, None] + 2 * side[None])
    for noise in (0, 2, 25, 250):
        x = 900 + 3000 * spot + 200 * waves + noise * random.standard_normal((512, 512))
        yield f"u2, picture, noise {noise}", np.clip(x, 0, 65535).astype("u2").reshape(-1)
    grey = 90 + 100 * spot + 3 * random.standard_normal((512, 512))
    yield "u1, picture", np.tile(grey.astype("u1").reshape(-1), 2)


def sparse(random: np.random.RandomState) -> Buffers:
    """Mostly one value: few items that are not zero, categories, runs."""
    for dtype, share in (("f4", 0.01), ("f8", 0.08), ("i4", 0.03)):
        length = NBYTES // np.dtype(dtype).itemsize
        x = np.where(random.random_sample(length) < share, 1000 * random.random_sample(length), 0)
        yield f"{dtype}, {share:.0%} not zero", x.astype(dtype)
    for dtype, kinds in (("u1", 9), ("i4", 40), ("i8", 5)):
        length = NBYTES // np.dtype(dtype).itemsize
        yield f"{dtype}, {kinds} categories", np.floor(kinds * random.beta(1, 3, length)).astype(dtype)
    lengths = random.geometric(0.02, NBYTES // 4)
    yield "i4, runs", np.repeat(random.randint(0, 300, len(lengths)), lengths)[: NBYTES // 4].astype("i4")


def others(random: np.random.RandomState) -> Buffers:
    """Text, times, records."""
    chosen = random.choice(WORDS, NBYTES // 4)
    running = np.frombuffer(" ".join(chosen).encode(), "u1")[:NBYTES]
    yield "S1, running text", running.view("S1")
    yield "S16, words", chosen[: NBYTES // 16].astype("S16")
    yield "U8, words", chosen[: NBYTES // 32].astype("U8")
    length = NBYTES // 8
    yield "i8, milliseconds", 1_600_000_000_000 + 40 * np.arange(length) + random.randint(0, 3, length)
    yield "i8, nanoseconds", np.cumsum(random.exponential(2e6, length)).astype("i8") + 10**18
    records = np.zeros(NBYTES // 12, [("id", "i4"), ("x", "f4"), ("kind", "i2"), ("flag", "u2")])
    records["id"] = np.arange(len(records))
    records["x"] = np.round(random.normal(3, 1, len(records)), 1)
    records["kind"] = random.randint(0, 6, len(records))
    yield "records of 12 bytes", records


def buffers() -> Buffers:
    """All of them, the same at every call."""
    # RandomState: its streams are frozen, so the same seed gives the same bytes in every NumPy.
    random = np.random.RandomState(SEED)
    for make in (integers, floats, images, sparse, others, tuner_training.fields, tuner_training.repetitive):
        yield from make(random)


def measure(out: TextIO) -> None:
    """Writes a line for each buffer and way."""
    for name, x in buffers():
        plain = np.ascontiguousarray(x).view(np.uint8)
        typesize = tuner_ways.typesize_of(x.dtype)
        costs = tuner_ways.costs(tuner_ways.ways(x.dtype), plain, typesize)
        for way, found in costs.items():
            line = {
                "data": name,
                "typesize": typesize,
                "codec": way.codec,
                "level": way.level,
                "filters": way.filters,
                "fraction": round(found.cbytes / plain.nbytes, 6),
                "write_ns_per_byte": round(found.write / plain.nbytes * 1e9, 4),
                "read_ns_per_byte": round(found.read / plain.nbytes * 1e9, 4),
            }
            work = _core.coder_work(tuner_ways.encode(way, plain, typesize))
            if work is not None and way.level > 0:
                line["work"] = [round(number, 7) for number in work]
            out.write(json.dumps(line) + "\n")
        out.flush()
        print(name, file=sys.stderr)


def main() -> int:
    """The command; returns the exit code."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the lines go")
    args = parser.parse_args()
    with args.out.open("w") as out:
        measure(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
