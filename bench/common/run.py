"""The frame of every bench: command line, place of files, progress, and what is kept of a run.

In: a study, what measures it, and how its cells are shown. Out: JSON, a Markdown page and plots in
results/, with a line for each comparison of the summary. Only complete runs are kept there, others where
`--out` says.
Invariant: nothing here reads a clock; harness.py does.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from bench.common import harness, summaries
from bench.common.harness import Stopwatch
from bench.common.studies import Study

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench" / "results"
MEMORY = Path("/dev/shm")
ROOM = 4 << 30  # bytes that the files of a run stay below
QUICK, DEFAULT, FULL = "quick", "default", "full"

Cell = TypeVar("Cell")
Choice = TypeVar("Choice")


@dataclass
class Run:
    """A run in progress: how much is measured, where files go, what failed."""

    study: Study
    options: argparse.Namespace
    is_usual: bool = True  # no option of the study's own was given
    wrong: list[str] = field(default_factory=list)
    watch: Stopwatch = field(default_factory=Stopwatch)

    @property
    def size(self) -> str:
        """How much is measured."""
        return self.options.size

    @property
    def parts(self) -> Sequence[str]:
        """Which parts of the study."""
        return self.options.only or self.study.parts

    @property
    def is_complete(self) -> bool:
        """True if this is a run whose results are kept."""
        return self.size != QUICK and not self.options.only and self.is_usual

    @property
    def name(self) -> str:
        """What the files of the results begin with."""
        parts = "-".join([*self.options.only]) if self.options.only else ""
        return "-".join(filter(None, [self.study.name, "" if self.size == DEFAULT else self.size, parts]))

    def choose(self, quick: Choice, default: Choice, full: Choice) -> Choice:
        """One of three, by size."""
        return {QUICK: quick, DEFAULT: default, FULL: full}[self.size]

    @cached_property
    def folder(self) -> Path:
        """A new folder: where `--folder` says, else in memory, if the study wants that and there is room."""
        place = self.options.folder
        if place is None and self.study.is_in_memory and has_room(MEMORY):
            place = MEMORY
        return Path(tempfile.mkdtemp(prefix="coquina-bench-", dir=place))

    @cached_property
    def disk(self) -> Path:
        """A new folder on a disk, for what the page cache is to be without."""
        return Path(tempfile.mkdtemp(prefix="coquina-bench-", dir=self.options.folder))

    def clean(self) -> None:
        """Removes the folders."""
        for name in ("folder", "disk"):
            if name in vars(self):
                shutil.rmtree(vars(self).pop(name), ignore_errors=True)

    def say(self, text: str) -> None:
        """A line of progress."""
        print(f"{self.watch.seconds:5.0f} s  {text}", file=sys.stderr, flush=True)

    def attempt(self, title: str, work: Callable[[], Cell]) -> Iterator[Cell]:
        """What the work gives; a failure is a result, not the end of the run."""
        try:
            yield work()
        except Exception as error:
            self.wrong.append(f"{title}: {type(error).__name__}: {error}")
            self.say(f"FAILED {self.wrong[-1]}")


@dataclass
class Canvas:
    """Where plots go, and which were made."""

    folder: Path
    name: str
    study: Study
    note: str
    saved: list[str] = field(default_factory=list)

    def path(self, suffix: str) -> Path:
        """The file of a plot; KeyError if the study does not know it."""
        if suffix not in self.study.figures:
            raise KeyError(f"{self.study.name}: {suffix!r} has no caption")
        self.saved.append(f"{'-'.join(filter(None, [self.name, suffix]))}.png")
        return self.folder / self.saved[-1]


@dataclass(frozen=True)
class Script(Generic[Cell]):
    """A bench: what it measures, and how a cell of it becomes a line, a row of JSON, a page, plots.

    measure yields cells. line: "" if it was said already. body: the parts of the page below its head.
    draw: asks the canvas for a path for each plot. needs: packages without which it cannot run. extend: adds
    options of its own. more: further pages, by what their names end with.
    """

    study: Study
    text: str
    measure: Callable[[Run], Iterable[Cell]]
    line: Callable[[Cell], str]
    row: Callable[[Cell], Mapping[str, object]]
    body: Callable[[Sequence[Cell], Run], Iterable[str]]
    draw: Callable[[Sequence[Cell], Canvas], None]
    needs: Sequence[str] = ()
    extend: Callable[[argparse.ArgumentParser], None] | None = None
    more: Callable[[Sequence[Cell]], Mapping[str, str]] | None = None

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """The command; returns the exit code."""
        parser = self.parser()
        usual = vars(parser.parse_args([]))
        if self.extend:
            self.extend(parser)
        own = vars(parser.parse_args([])).keys() - usual.keys()
        options = parser.parse_args(arguments)
        is_usual = all(getattr(options, name) == parser.get_default(name) for name in own)
        if missing := [name for name in self.needs if not find_spec(name)]:
            print(f"this bench needs its peers: pip install {' '.join(missing)}", file=sys.stderr)
            return 2
        run = Run(self.study, options, is_usual)
        cells: list[Cell] = []
        try:
            for cell in self.measure(run):
                cells.append(cell)
                if text := self.line(cell):
                    run.say(text)
        finally:
            run.clean()
        if cells:
            self.report(cells, run)
        return 1 if run.wrong or not cells else 0

    def parser(self) -> argparse.ArgumentParser:
        """The options that all have."""
        parser = argparse.ArgumentParser(
            description=self.text, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        size = parser.add_mutually_exclusive_group()
        size.add_argument(
            "--quick", action="store_const", dest="size", const=QUICK, help="a minute or so; nothing is kept"
        )
        if self.study.full:
            more = self.study.full.replace("%", "%%")
            size.add_argument("--full", action="store_const", dest="size", const=FULL, help=more)
        if self.study.parts:
            parts = self.study.parts
            parser.add_argument("--only", nargs="+", choices=parts, metavar="PART", help="some parts")
        parser.add_argument("--folder", type=Path, help="where the data go while it runs")
        parser.add_argument("--out", type=Path, help="where the results go, also of an incomplete run")
        parser.set_defaults(size=DEFAULT, only=None)
        return parser

    def report(self, cells: Sequence[Cell], run: Run) -> None:
        """Keeps and prints what came out."""
        about = harness.circumstances(*self.study.packages)
        about |= {"threads": self.study.threads, "minutes": f"{run.watch.seconds / 60:.1f}"}
        rows = [dict(self.row(cell)) for cell in cells]
        folder = run.options.out or (RESULTS if run.is_complete else None)
        note = f"Threads: {self.study.threads}; {about['cpu']}."
        canvas = Canvas(folder or RESULTS, run.name, self.study, note)
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            self.paint(cells, canvas)
        page = self.page(cells, run, about, canvas.saved)
        lines = self.study.lines(rows)
        if not folder:
            print(page)
        print(summaries.table([(self.study.name, line) for line in lines]))
        if folder:
            save_json(folder / f"{run.name}.json", self.study, about, rows)
            pages = self.more(cells) if self.more else {}
            pages = {f"-{suffix}": f"{harness.describe(about)}\n\n{text}" for suffix, text in pages.items()}
            for suffix, text in {**pages, "": page}.items():
                path = folder / f"{run.name}{suffix}.md"
                path.write_text(f"{text.rstrip()}\n")
                print(f"written: {path}")

    def paint(self, cells: Sequence[Cell], canvas: Canvas) -> None:
        """The plots, where there is matplotlib."""
        if find_spec("matplotlib"):
            self.draw(cells, canvas)
        else:
            print("no plot: matplotlib is not here: pip install matplotlib", file=sys.stderr)

    def page(self, cells: Sequence[Cell], run: Run, about: Mapping[str, str], pictures: Sequence[str]) -> str:
        """The Markdown page."""
        parts = [f"# {self.study.title}", f"{harness.describe(about)}."]
        parts += [f"![{name}]({name})" for name in pictures]
        parts += self.body(cells, run)
        if run.wrong:
            parts += ["## Wrong or failed", "\n".join(f"- {line}" for line in run.wrong)]
        return "\n\n".join(parts)


def has_room(folder: Path) -> bool:
    """True if files can go there."""
    return folder.is_dir() and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > ROOM


def rounded(value: object) -> object:
    """The value with floats to five digits, and without what is None."""
    if isinstance(value, Mapping):
        return {name: rounded(inner) for name, inner in value.items() if inner is not None}
    return float(f"{value:.5g}") if isinstance(value, float) else value


def save_json(path: Path, study: Study, about: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes the circumstances, the lines for the summary, and a line per row, so that diffs can be read."""
    kept: list[Any] = [rounded(row) for row in rows]
    summary = ",\n".join(json.dumps(rounded(line)) for line in study.lines(kept))
    lines = ",\n".join(json.dumps(row) for row in kept)
    head = f'"study": {json.dumps(study.name)},\n"about": {json.dumps(dict(about), indent=1)},\n'
    path.write_text(f'{{{head}"summary": [\n{summary}\n],\n"rows": [\n{lines}\n]}}\n')
