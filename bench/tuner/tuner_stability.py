"""Whether codec="auto" chooses the same next time: in new processes, by the table and by what is measured.

In: how many processes. Out: cells: of how many chunks the choice was that of the first process, and of how
many the bytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from bench.common import harness
from bench.tuner.tuner_cells import Cell, asked
from bench.tuner.tuner_grid import BALANCED

TABLE, CALIBRATED = "table", "calibrate"


def once(goal: float, mode: str, how: str) -> dict[str, list[list[Any]]]:
    """The choices of one process."""
    command = [sys.executable, "-m", "bench.tuner.tuner_child", str(goal), mode, how]
    return json.loads(
        subprocess.run(
            command, check=True, capture_output=True, text=True, env=harness.child_environment()
        ).stdout
    )


def cells(times: int) -> Iterator[Cell]:
    """Three processes with the table, `times` that measure the machine."""
    for how, count in ((TABLE, 3), (CALIBRATED, times)):
        runs = [once(*BALANCED, how) for _ in range(count)]
        yield Cell(
            "stability", asked(*BALANCED), "corpus", {"times": how, "processes": count, **shares(runs)}
        )


def shares(runs: list[dict[str, list[list[Any]]]]) -> dict[str, float]:
    """Of all later processes: chunks chosen as the first chose them, and chunks of the same bytes."""
    pairs = [
        (mine, first)
        for run in runs[1:]
        for name, chunks in run.items()
        for mine, first in zip(chunks, runs[0][name], strict=True)
    ]
    return {
        "same_way": sum(mine[:2] == first[:2] for mine, first in pairs) / len(pairs),
        "same_bytes": sum(mine == first for mine, first in pairs) / len(pairs),
    }
