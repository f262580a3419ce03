"""What `table.py` finds beyond times that are compared in turns: sizes, memory, the figures of huge tables.

In: numbers by library. Out: a `Fact`, and its goals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bench.common import harness
from bench.hdf5.hdf5_contest import Cell


@dataclass(frozen=True)
class Fact:
    """A number for each library. limits: the most that we want some of them to have."""

    part: str
    work: str
    data: str
    values: Mapping[str, float]
    unit: str
    limits: Mapping[str, float] = field(default_factory=dict)

    def goals(self) -> Iterator[tuple[str, str, bool]]:
        """Each goal, what was found, whether that is enough."""
        for name, limit in self.limits.items():
            value = self.values[name]
            yield (
                f"{name} {harness.short(float(limit))} {self.unit} at most",
                f"{harness.short(float(value))} {self.unit}",
                value <= limit,
            )

    def line(self) -> str:
        """A line for the terminal."""
        found = ", ".join(f"{name} {harness.short(float(value))}" for name, value in self.values.items())
        missed = "; ".join(f"{goal}: {value}" for goal, value, is_met in self.goals() if not is_met)
        text = f"{self.part:11}{self.work}; {self.data}: {found} {self.unit}"
        return text + (f"  MISSED {missed}" if missed else "")


Found = Cell | Fact
