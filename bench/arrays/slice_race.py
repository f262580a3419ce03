"""What the parts of `slices.py` have in common: how long is measured, who takes part, what has come out.

In: a run of the bench. Out: cells, sizes and costs, in the order in which they were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.arrays.array_peers import BLOSC2, Library
from bench.arrays.slice_cells import Cell, Found
from bench.common import harness
from bench.common.harness import Call, Effort
from bench.common.inputs import Volume
from bench.common.run import Run


@dataclass(frozen=True)
class Plan:
    """What a run covers. close: how long against python-blosc2; far: against the others."""

    codecs: tuple[str, ...]
    storages: tuple[str, ...]
    volumes: Callable[[], Iterator[Volume]]
    chunks: int  # of the file with many chunks
    close: Effort
    far: Effort


@dataclass
class Race:
    """A run in progress: who takes part, what has come out."""

    run: Run
    plan: Plan
    libraries: Sequence[Library]
    found: list[Found] = field(default_factory=list)

    @property
    def ours(self) -> Library:
        """The one that all others are compared with."""
        return self.libraries[0]

    def effort(self, peer: Library) -> Effort:
        """Longer where the race may be close."""
        return self.plan.close if peer.name == BLOSC2.name else self.plan.far

    def add(self, cell: Cell) -> None:
        """Keeps a cell and says so."""
        self.found.append(cell)
        self.run.say(f"{cell.duel.speedup:6.2f}x  {cell.peer:14}{cell.operation}; {cell.setting}")

    def attempt(self, title: str, work: Callable[[], None]) -> None:
        """Runs a piece of work; a failure is a result, not the end of the run."""
        for _ in self.run.attempt(title, work):
            pass

    def path(self, library: Library, stem: str) -> Path:
        """Where a library's file goes."""
        return self.run.folder / f"{stem}-{library.name}{library.suffix}"


@dataclass(frozen=True)
class Setting:
    """What a group of cells has in common."""

    part: str
    data: str
    codec: str
    storage: str


def contest(
    race: Race, setting: Setting, operation: str, make: Callable[[Library], Call], before: Call | None = None
) -> None:
    """A duel with each of the others. `make` is asked anew for each, so that both start at the same place."""
    for peer in race.libraries[1:]:

        def fight(peer: Library = peer) -> None:
            duel = harness.duel(make(race.ours), make(peer), race.effort(peer), before)
            race.add(Cell(**asdict(setting), operation=operation, peer=peer.name, duel=duel))

        race.attempt(f"{peer.name}, {operation}, {setting}", fight)
