"""The table of times that the tuner ships: a few numbers for each way, fitted to what was measured.

In: the file of `tuner_times.py`. Out: `times.tsv` of the engine: for each codec, level and shape of streams
the least part of the size of a probe that it was seen to reach, and the logarithms (base 2) of nanoseconds
per byte of writing and of reading as sums of what the engine's `times.rs` calls terms: of its own fraction,
of its own work, that of its probe if it has none, and of the sequences of LZ4 at level 1.

    python -m bench.tuner.tuner_times --out times.jsonl
    python -m bench.tuner.tuner_table times.jsonl crates/coquina/src/policy/tuned/times.tsv
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

#: The ways of the tuner: codecs and levels.
WAYS = {
    "blosclz": (9,),
    "lz4": (1, 5, 9),
    "lz4hc": (1, 5, 9),
    "zlib": (1,),
    "zstd": (1, 2, 3, 4, 5, 6, 7, 8, 9),
}
#: Whose size says most of that of a codec.
PROBE = {"blosclz": "lz4", "lz4": "lz4", "lz4hc": "lz4", "zlib": "zstd", "zstd": "zstd"}
#: Added to times, so that the fastest do not count more than all others.
FLOOR_NS = 0.02
#: Keeps polynomials flat where there is little to fit them to.
RIDGE = 0.05

Measured = dict[str, Any]


def shape_of(row: Measured) -> str:
    """What streams look like: as the engine tells them apart."""
    names = [name for name, _ in row["filters"]]
    if "bitshuffle" in names:
        return "bits"
    if "bytedelta" in names:
        return "deltas"
    return "planes" if "shuffle" in names and row["typesize"] > 1 else "plain"


def terms(fraction: float, work: Sequence[float], matches: float) -> list[float]:
    """What the logarithms are sums of; the engine has the same in `times.rs`."""
    sequences, literals, coded, tables, raw = work
    size = fraction, fraction**0.5, fraction * fraction
    found = 3 * sequences**0.5, 10 * sequences, raw, coded**0.5, coded, literals
    return [1, *size, *found, 3 * matches**0.5, 10 * matches, 1000 * tables]


def fitted(points: Iterable[tuple[list[float], float]]) -> np.ndarray:
    """The coefficients that fit these logarithms best."""
    x, y = (np.array(column) for column in zip(*points, strict=True))
    weights = RIDGE * np.eye(x.shape[1])
    weights[0, 0] = 0
    return np.linalg.solve(x.T @ x + weights, x.T @ y)


def table(rows: list[Measured]) -> list[str]:
    """The lines of the table."""
    probes = {(row["data"], str(row["filters"]), row["codec"]): row for row in rows if row["level"] == 1}
    found: dict[tuple[str, int, str], list[Measured]] = defaultdict(list)
    for row in rows:
        if row["level"] in WAYS.get(row["codec"], ()):
            found[row["codec"], row["level"], shape_of(row)].append(row)
    lines: list[str] = []
    for (codec, level, shape), group in sorted(found.items()):
        least: list[float] = []
        write: list[tuple[list[float], float]] = []
        read: list[tuple[list[float], float]] = []
        for row in group:
            key = row["data"], str(row["filters"])
            probe = probes[*key, PROBE[codec]]
            work = row.get("work", probe["work"])
            known = terms(row["fraction"], work, probes[*key, "lz4"]["work"][0])
            least.append(row["fraction"] / probe["fraction"])
            write.append((known, np.log2(row["write_ns_per_byte"] + FLOOR_NS)))
            read.append((known, np.log2(row["read_ns_per_byte"] + FLOOR_NS)))
        numbers = [np.quantile(least, 0.05), np.median(least), *fitted(write), *fitted(read)]
        lines.append("\t".join([codec, str(level), shape, *(f"{number:.3f}" for number in numbers)]))
    return lines


def main() -> None:
    """Write the table."""
    source, target = map(Path, sys.argv[1:])
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    target.write_text("\n".join(table(rows)) + "\n")


if __name__ == "__main__":
    main()
