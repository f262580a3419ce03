"""How every bench here measures and reports: the one place with a clock in it.

In: calls to compare, as closures. Out: seconds per call and round, ratios pair by pair, Markdown tables.

What must hold, so that numbers from a shared and noisy machine can be believed:
- contenders take turns: A B, B A, A B, ... so that a slow minute hits both, and none is always first;
- a ratio is the median of the ratios of each round's pair, not the ratio of two distant medians;
- calls shorter than a millisecond are repeated within one reading of the clock, equally often for all, but
  where one contender takes hundreds of times another's time;
- the first round warms up caches, pools and pages and is dropped, but where one round is already long.
"""

from __future__ import annotations

import gc
import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from itertools import cycle, repeat
from pathlib import Path
from typing import TypeVar

SHORTEST = 1e-3  # seconds between two readings of the clock, at least

Call = Callable[[], object]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Effort:
    """How long to measure one group of contenders: rounds are added until `seconds` have passed.

    In a large group a contender that has used up `each` sits out the other rounds, so that a slow one does
    not take the time of all. Duels need pairs and leave it alone.
    """

    seconds: float = 0.3
    rounds_min: int = 2
    rounds_max: int = 15
    each: float = math.inf


@dataclass(frozen=True)
class Versus:
    """A duel: median seconds of both, how many times faster `ours` was, in how many of the rounds it lost.

    A duel that comes out below 1 gets a second look, longer, which tells a loss from a noisy minute.
    """

    ours: float
    theirs: float
    speedup: float
    rounds: int
    lost: int
    again: Versus | None = None

    @property
    def is_likely(self) -> bool:
        """True if a fair coin would lose so many rounds in at most one duel of twenty (sign test)."""
        worse = sum(math.comb(self.rounds, lost) for lost in range(self.lost, self.rounds + 1))
        return worse / 2**self.rounds <= 0.05

    @property
    def is_loss(self) -> bool:
        """Slower in the first look, slower in the second, and there in too many rounds for chance."""
        again = self.again
        return self.speedup < 1 and again is not None and again.speedup < 1 and again.is_likely


def clock(call: Call, number: int) -> float:
    """Seconds of one call, as the mean of `number` in a row."""
    turns = repeat(None, number)
    start = time.perf_counter()
    for _ in turns:
        call()
    return (time.perf_counter() - start) / number


def processor(call: Call) -> float:
    """Seconds of one call that this process had of its cores: those of others do not count."""
    start = time.process_time()
    call()
    return time.process_time() - start


class Stopwatch:
    """Seconds since it was made, for what can only be measured from within, and for progress."""

    def __init__(self) -> None:
        """Starts."""
        self._start = self._lap = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self._start

    def lap(self) -> float:
        """Seconds since the last lap, or the start."""
        before, self._lap = self._lap, time.perf_counter()
        return self._lap - before


def take_turns(
    calls: Mapping[str, Call], effort: Effort = Effort(), before: Call | None = None, *, alike: bool = True
) -> dict[str, list[float]]:
    """Seconds per call of each contender, one figure a round; at least `rounds_min` rounds.

    `before` runs ahead of every call, outside the clock; calls are then not repeated within a reading.
    alike: repeat all calls as often as the shortest needs it; else each as often as it needs itself.
    """

    def read(call: Call, number: int) -> float:
        if before is None:
            return clock(call, number)
        before()
        return clock(call, 1)

    seconds: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        first = {name: read(call, 1) for name, call in calls.items()}
        numbers = {name: max(1, math.ceil(SHORTEST / max(value, 1e-9))) for name, value in first.items()}
        if alike:
            numbers = dict.fromkeys(numbers, max(numbers.values()))
        start = time.perf_counter()
        if sum(first.values()) > effort.seconds:
            seconds = {name: [value] for name, value in first.items()}
        while (rounds := max(map(len, seconds.values()))) < effort.rounds_max:
            if rounds >= effort.rounds_min and time.perf_counter() - start > effort.seconds:
                break
            order.reverse()
            for name in order:
                if sum(seconds[name]) < effort.each:
                    seconds[name].append(read(calls[name], numbers[name]))
    finally:
        if was_enabled:
            gc.enable()
    return seconds


def versus(ours: Sequence[float], theirs: Sequence[float]) -> Versus:
    """The duel of two contenders of the same `take_turns`."""
    pairs = [b / a for a, b in zip(ours, theirs, strict=True)]
    median = statistics.median
    return Versus(median(ours), median(theirs), median(pairs), len(pairs), sum(pair < 1 for pair in pairs))


def compared(seconds: Mapping[str, Sequence[float]], ours: str) -> tuple[dict[str, float], dict[str, float]]:
    """Median seconds of the contenders of a `take_turns`, and how many times faster `ours` was than each.

    Of each pair only the rounds that both were in count: who sat out rounds sat out the last ones.
    """
    ratios = {}
    for name, theirs in seconds.items():
        if name != ours:
            common = min(len(seconds[ours]), len(theirs))
            ratios[name] = versus(seconds[ours][:common], theirs[:common]).speedup
    return {name: statistics.median(values) for name, values in seconds.items()}, ratios


def in_turn(call: Callable[[Item], object], items: Iterable[Item]) -> Call:
    """Calls `call` with the next item each time, and with the first again after the last."""
    turn = cycle(items)
    return lambda: call(next(turn))


def duel(ours: Call, theirs: Call, effort: Effort = Effort(), before: Call | None = None) -> Versus:
    """Times two calls against each other; twice if the first time says that `ours` is slower."""

    def look(effort: Effort) -> Versus:
        seconds = take_turns({"ours": ours, "theirs": theirs}, effort, before)
        return versus(seconds["ours"], seconds["theirs"])

    first = look(effort)
    if first.speedup >= 1:
        return first
    return replace(
        first, again=look(Effort(3 * effort.seconds, max(5, effort.rounds_min), 2 * effort.rounds_max))
    )


def geometric_mean(values: Iterable[float]) -> float:
    """The mean for ratios; NaN for none."""
    logs = [math.log(value) for value in values]
    return math.exp(statistics.fmean(logs)) if logs else math.nan


def version(package: str) -> str:
    """The installed version, or "absent"."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


def cpu_name() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def circumstances(*packages: str) -> dict[str, str]:
    """What a reader must know to compare: machine, system, versions, day."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    about = {
        "date": time.strftime("%Y-%m-%d"),
        "cpu": cpu_name(),
        "cores": str(cores()),
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
    return about | {package: version(package) for package in ("coquina", "numpy", *packages)}


def describe(about: Mapping[str, str]) -> str:
    """`circumstances` as one line of text."""
    return ", ".join(f"{name} {value}" for name, value in about.items())


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table, columns aligned so that it can be read as text; numbers to the right."""
    cells = [[short(value) for value in row] for row in rows]
    widths = [max(3, *(len(row[i]) for row in [list(header), *cells])) for i in range(len(header))]
    right = [bool(cells) and all(is_number(row[i]) for row in cells) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        parts = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)]
        return f"| {' | '.join(parts)} |"

    rule = [("-" * (w - 1) + ":") if r else "-" * w for w, r in zip(widths, right, strict=True)]
    return "\n".join([line(header), line(rule), *map(line, cells)])


def short(value: object) -> str:
    """A cell: floats with three or so significant digits."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def is_number(cell: str) -> bool:
    """True for what belongs to the right edge of a column."""
    return cell == "-" or cell.replace(".", "", 1).lstrip("-").isdigit()


def child_environment() -> dict[str, str]:
    """The environment of a process of its own that imports modules of the benches."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
