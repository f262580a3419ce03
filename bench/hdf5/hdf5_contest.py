"""What the cases of `hdf5.py` and `table.py` have in common: plan and cell, turns, ways to a dataset.

In: calls by library. Out: a `Cell`.
Invariant: no result is timed that was not found equal to NumPy's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import coquina as cq
import coquina.hdf5
from bench.common import harness
from bench.common.harness import Call, Effort, in_turn
from bench.common.run import FULL, QUICK, Run

Key = Any
Read = Callable[[Key], object]

# What the filters of Blosc look at in each call, and what PyTables and b2h5py do.
ENVIRONMENT = {"BLOSC_NTHREADS": "2", "BLOSC2_FILTER": "0"}

OURS = "coquina"
TABLES, TABLES_FRESH, TABLES_FILTER = "PyTables", "PyTables fresh", "PyTables filter"
TABLES_DIRECT = "PyTables direct"


@dataclass(frozen=True)
class Plan:
    """Where files go, and how large they are. disk: of those that are read cold."""

    folder: Path
    quick: bool
    full: bool = field(default=False, kw_only=True)
    disk: Path | None = field(default=None, kw_only=True)

    @property
    def effort(self) -> Effort:
        """How long to measure a case."""
        return Effort(0.15, 2, 5) if self.quick else Effort(2.0 if self.full else 1.0, 3, 41)


def plan_of(run: Run) -> Plan:
    """How a run goes about it."""
    cold_folder = run.disk if "cold" in run.parts else None
    return Plan(run.folder, run.size == QUICK, full=run.size == FULL, disk=cold_folder)


@dataclass(frozen=True)
class Case:
    """What is compared.

    goals: how many times faster than a library we want to be. limit: the most seconds that we want it to
    take, beyond those of the contender `beyond` if there is one. ours: which contender "we" is.
    """

    part: str
    work: str
    data: str
    nbytes: int
    goals: Mapping[str, float] = field(default_factory=dict)
    limit: float | None = None
    beyond: str | None = None
    ours: str = OURS


@dataclass(frozen=True)
class Cell:
    """A case that was measured: median seconds of each library, and of each other one's time over ours."""

    case: Case
    seconds: Mapping[str, float]
    ratios: Mapping[str, float]

    @property
    def limited(self) -> float:
        """The seconds that the limit is for."""
        return self.seconds[self.case.ours] - (self.seconds[self.case.beyond] if self.case.beyond else 0)


def measured(plan: Plan, case: Case, calls: Mapping[str, Call], before: Call | None = None) -> Cell:
    """Times all calls in turns; a ratio is the median of those of the rounds. before: runs ahead of each."""
    seconds = harness.take_turns(calls, plan.effort, before, alike=False)
    return Cell(case, *harness.compared(seconds, case.ours))


def readings(
    plan: Plan, case: Case, readers: Mapping[str, Read], keys: Sequence[Key], items: np.ndarray
) -> Cell:
    """Reads the keys in turn, after each library was seen to read some of them right."""
    for library, read in readers.items():
        for key in keys[:2]:
            same(f"{library}, {case.work}", read(key), items[key])
    return measured(plan, case, {library: in_turn(read, keys) for library, read in readers.items()})


def same(name: str, found: object, expected: np.ndarray) -> None:
    """Stops the bench where a library's answer is wrong."""
    values = np.asarray(found)
    if expected.ndim == 0 and values.size == 1:
        values = values.reshape(())  # b2h5py gives a lone item with all axes
    if not np.array_equal(values, expected):
        raise AssertionError(f"{name}: another result than NumPy's")


def array_of(dataset: h5py.Dataset) -> cq.Array:
    """The dataset as an array of ours that keeps no decoded blocks; chunks must come the fastest way."""
    array = coquina.hdf5.fast(dataset)
    array.cache_bytes = 0
    if array.access != "direct":
        raise AssertionError(f"{dataset.name}: {array.access}: {array.access_reason}")
    return array


def under(variable: str, value: str, call: Callable[..., object]) -> Callable[..., object]:
    """The call, with a variable of the environment set that its library looks at each time."""

    def run(*arguments: Any) -> object:
        os.environ[variable] = value
        try:
            return call(*arguments)
        finally:
            os.environ[variable] = ENVIRONMENT[variable]

    return run


def through_filter(node: Any) -> Read:
    """PyTables' reading through the pipeline."""
    return under("BLOSC2_FILTER", "1", node.__getitem__)


def megabytes(nbytes: float) -> str:
    """A size as a reader says it."""
    return f"{nbytes / 1e6:.3g} MB" if nbytes >= 1e6 else f"{nbytes / 1e3:.3g} KB"
