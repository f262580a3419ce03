"""BTune beside the tuner: which ways it tries for a chunk, and which it keeps.

In: measured chunks, a goal, a mode. Out: its ways, in the order of its trials, and what it held to be the
best. BTune (AGPL-3.0) is run as its README tells, never read: python-blosc2 4.0.0, blosc2-btune 1.2.1 and
NumPy in a virtual environment of their own in the cache folder of data.py, which is made when it is first
wanted. Its models are sold, not shipped, so this is its search, as anyone has it. Coquina times its ways.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.common.packages import UnavailableError, cache
from bench.tuner import tuner_ways
from bench.tuner.tuner_grid import BANDWIDTH, Chunk
from bench.tuner.tuner_ways import STORED, Filters, Way

BTUNE, TOLD = "BTune", "BTune told of the storage"
WANTED = ("blosc2==4.0.0", "blosc2-btune==1.2.1", "numpy>=2")
PERFORMANCE = {"read": "DECOMP", "write": "COMP", "both": "BALANCED"}
TIMES = 40  # a chunk is appended: one round of its hard readapts and its soft ones
EARLY = 8  # chunks of an array that is not long
FILTERS: dict[int, Filters] = {0: (), 1: (("shuffle", 0),), 2: (("bitshuffle", 0),)}
SPLITS = {"0": "never", "1": "always"}


@dataclass(frozen=True)
class Search:
    """What BTune did with a chunk that came again and again: its ways in turn, and the best of them."""

    tried: Sequence[Way]
    winner: Way


def folder() -> Path:
    """Where the virtual environment is, or will be."""
    return cache() / "btune"


def python() -> Path:
    """Its interpreter; makes it at the first call. UnavailableError if that does not work here."""
    path = folder() / "bin" / "python"
    done = folder() / "done"
    if not done.exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder()], check=True)
            subprocess.run([path, "-m", "pip", "install", "-q", *WANTED], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as why:
            raise UnavailableError(f"BTune: {' '.join(WANTED)} cannot be installed: {why}") from why
        done.touch()
    return path


def write_plan(place: Path, chunks: Sequence[Chunk]) -> None:
    """Puts the chunks where the child finds them."""
    plan = []
    for number, chunk in enumerate(chunks):
        (place / f"{number}.bin").write_bytes(chunk.plain)
        plan.append([f"{number}.bin", chunk.typesize, chunk.block_bytes])
    (place / "plan.json").write_text(json.dumps({"chunks": plan, "times": TIMES}))


def searches(place: Path, chunks: Sequence[Chunk], goal: float, mode: str, *, is_told: bool) -> list[Search]:
    """BTune's search for each chunk of the plan; is_told: it is told the storage that the goals think of."""
    kilobytes = round(BANDWIDTH / 1000) if is_told else 0
    command = [
        python(),
        Path(__file__).parent / "tuner_btune.py",
        place,
        str(goal),
        PERFORMANCE[mode],
        str(kilobytes),
    ]
    # BTune's library asks a "python" of the path where it lies.
    paths = f"{folder() / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    env = {**os.environ, "BTUNE_TRACE": "1", "PATH": paths}
    env.pop("PYTHONPATH", None)
    told = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    parts = told.split("Btune version")[1:]
    if len(parts) != len(chunks):
        raise ValueError(f"BTune told of {len(parts)} chunks, not {len(chunks)}")
    return [parsed(part, chunk) for part, chunk in zip(parts, chunks, strict=True)]


def parsed(trace: str, chunk: Chunk) -> Search:
    """The ways in a trace; the winner is the last that was marked so."""
    tried, winner = [], STORED
    for line in trace.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:]]
        if len(cells) < 11 or not cells[3].isdigit():
            continue
        tried.append(way_of(cells, chunk))
        if cells[10] == "W":
            winner = tried[-1]
    if not tried:
        raise ValueError("BTune told nothing of a chunk")
    return Search(tried, winner)


def way_of(cells: Sequence[str], chunk: Chunk) -> Way:
    """A row of the trace as a way, which is timed if it is new."""
    codec, number, split, level = cells[:4]
    filters = FILTERS[int(number)]
    if chunk.typesize == 1:
        filters = tuple(one for one in filters if one[0] != "shuffle")
    way = Way(codec, int(level), filters, SPLITS[split])
    if way.level == 0:
        return STORED
    if way not in chunk.others:
        chunk.others[way] = tuner_ways.cost(way, chunk.plain, chunk.typesize, chunk.block_bytes)
    return way
