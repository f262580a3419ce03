"""How fast are parts of n-d arrays read and written, beside python-blosc2, Zarr and h5py at the same grid?

    python bench/slices.py              three arrays of about 100 MB, lz4 and zstd; under 20 minutes
    python bench/slices.py --quick      one array of 40 MB, lz4; about a minute
    python bench/slices.py --only append open     some parts of: volumes append open small safety

All get the same chunks, codec, level 5, byte shuffle and two threads; coquina and python-blosc2 the same
blocks; Zarr and h5py know none. Caches of decoded data are off, coquina's and HDF5's. Per array, in memory
and in a file: planes along each axis, boxes smaller than a chunk, single elements and all of it are read;
all of it is written, and boxes of it. Each call takes the next of many places, both sides the same ones. A
file is in the page cache ("file") or the system was asked to drop it from there before each call ("cold");
a virtual machine's disk may then still be its host's memory.

Then: pieces of 1 MiB and of 4 KiB appended to a file, where coquina commits each and nobody else does;
opening a file for a first slice; arrays of a hundred elements, python-blosc2 with one thread; what
coquina's checksums and commits cost. Every place is read by every library and compared with NumPy before it
is timed; what was written or appended is read back.

Speed-up (x) is a library's time over coquina's: above 1, coquina is faster. Results:
bench/results/slices.json, slices.md, and slices-memory.png and slices-file.png with the times of a plane
along each axis and of a box.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import array_peers
import harness
import numpy as np
from array_peers import BLOSC2, BLOSC2_ONE_THREAD, COQUINA, COQUINA_CACHED, Held, Library
from harness import Call, Effort
from inputs import Grid, Volume, climate_volume, entropy_volume, era5_volume
from slice_cases import (
    Appender,
    Key,
    append_cases,
    boxes,
    check,
    elements,
    in_turn,
    open_cases,
    selections,
)
from slice_cells import Cell, Cost, Size, report, save_plots

import coquina as cq

PARTS = ("volumes", "append", "open", "small", "safety")
CLOSE, FAR = Effort(0.6, 5, 41), Effort(0.4, 3, 15)  # against python-blosc2; against the others


@dataclass(frozen=True)
class Plan:
    """What a run covers."""

    name: str
    codecs: tuple[str, ...]
    storages: tuple[str, ...]
    volumes: Callable[[], Iterator[Volume]]
    chunks: int  # of the file with many chunks
    close: Effort
    far: Effort


def default_volumes() -> Iterator[Volume]:
    """A field, a real set, the array of the post; one in memory at a time."""
    yield era5_volume(5)
    yield from climate_volume()
    yield entropy_volume((20, 50, 150, 100))


def quick_volumes() -> Iterator[Volume]:
    """A third of the post's array."""
    yield entropy_volume((10, 50, 100, 100))


PLANS = {
    "default": Plan("slices", ("lz4", "zstd"), ("memory", "file", "cold"), default_volumes, 4096, CLOSE, FAR),
    "quick": Plan(
        "slices-quick",
        ("lz4",),
        ("memory", "file", "cold"),
        quick_volumes,
        256,
        Effort(0.1, 2, 9),
        Effort(0.1, 2, 5),
    ),
}


@dataclass
class Run:
    """A run in progress: who takes part, what has come out."""

    plan: Plan
    libraries: Sequence[Library]
    folder: Path
    cells: list[Cell] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    @property
    def ours(self) -> Library:
        """The one that all others are compared with."""
        return self.libraries[0]

    def effort(self, peer: Library) -> Effort:
        """Longer where the race may be close."""
        return self.plan.close if peer.name == BLOSC2.name else self.plan.far

    def add(self, cell: Cell) -> None:
        """Keeps a cell and says so."""
        self.cells.append(cell)
        clock = f"{time.monotonic() - self.started:5.0f} s  {cell.duel.speedup:6.2f}x"
        print(f"{clock}  {cell.peer:14}{cell.operation}; {cell.setting}", file=sys.stderr)

    def attempt(self, title: str, work: Callable[[], None]) -> None:
        """Runs a piece of work; a failure is a result, not the end of the run."""
        try:
            work()
        except Exception as error:
            self.wrong.append(f"{title}: {type(error).__name__}: {error}")
            print(f"FAILED {self.wrong[-1]}", file=sys.stderr)

    def path(self, library: Library, stem: str) -> Path:
        """Where a library's file goes."""
        return self.folder / f"{stem}-{library.name}{library.suffix}"


@dataclass(frozen=True)
class Setting:
    """What a group of cells has in common."""

    part: str
    data: str
    codec: str
    storage: str


def contest(
    run: Run, setting: Setting, operation: str, make: Callable[[Library], Call], before: Call | None = None
) -> None:
    """A duel with each of the others. `make` is asked anew for each, so that both start at the same place."""
    for peer in run.libraries[1:]:

        def fight(peer: Library = peer) -> None:
            duel = harness.duel(make(run.ours), make(peer), run.effort(peer), before)
            run.add(Cell(**asdict(setting), operation=operation, peer=peer.name, duel=duel))

        run.attempt(f"{peer.name}, {operation}, {setting}", fight)


# Volumes: the parts of large arrays.


def evict(paths: Sequence[Path]) -> None:
    """Asks the system to drop the pages of these files and folders, which must be on the disk."""
    for path in paths:
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.is_file():
                descriptor = os.open(file, os.O_RDONLY)
                try:
                    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                finally:
                    os.close(descriptor)


def volume_reads(run: Run, volume: Volume, codec: str) -> None:
    """Reads parts, from each kind of storage."""
    paths = {library.name: run.path(library, "volume") for library in run.libraries}
    for library in run.libraries:
        library.create(volume.x, volume.grid, codec, paths[library.name]).close()
        stored = array_peers.stored_bytes(paths[library.name])
        run.sizes.append(Size(volume.name, codec, library.name, volume.x.nbytes, stored))
    os.sync()
    for storage in run.plan.storages:
        held: dict[str, Held] = {
            library.name: library.create(volume.x, volume.grid, codec, None)
            if storage == "memory"
            else library.open(paths[library.name])
            for library in run.libraries
        }
        setting = Setting("volumes", volume.name, codec, storage)
        is_cold = storage == "cold"
        for operation, keys in selections(volume).items():
            for library in run.libraries:
                check(library.name, held[library.name].array, volume.x, keys)
            contest(
                run,
                setting,
                operation,
                lambda library, keys=keys, held=held: in_turn(held[library.name].array, keys),
                (lambda: evict(list(paths.values()))) if is_cold else None,
            )
        for one in held.values():
            one.close()
    for path in paths.values():
        array_peers.remove(path)


def change_back(held: Held, x: np.ndarray, key: Key) -> None:
    """Writes other values to a box, looks at them and writes the first ones again."""
    others = x.copy()
    others[key] += 1
    held.array[key] = np.ascontiguousarray(others[key])
    check("written", held.array, others, [key, ...])
    held.array[key] = np.ascontiguousarray(x[key])


def volume_writes(run: Run, volume: Volume, codec: str, storage: str) -> None:
    """Writes all, then boxes."""
    setting = Setting("volumes", volume.name, codec, storage)
    x, grid = volume.x, volume.grid

    def path_of(library: Library) -> Path | None:
        return None if storage == "memory" else run.path(library, "written")

    contest(
        run,
        setting,
        "write all",
        lambda library: lambda: library.create(x, grid, codec, path_of(library)).close(),
    )
    held = {library.name: library.create(x, grid, codec, path_of(library)) for library in run.libraries}
    keys = boxes(x, grid)
    values = [np.ascontiguousarray(x[key]) for key in keys]
    for one in held.values():
        change_back(one, x, keys[0])

    def writer(library: Library) -> Call:
        array, turn = held[library.name].array, itertools.cycle(zip(keys, values, strict=True))

        def write() -> None:
            key, value = next(turn)
            array[key] = value

        return write

    contest(run, setting, "write box", writer)
    for library in run.libraries:
        check(library.name, held[library.name].array, x, [...])
        held[library.name].close()
        array_peers.remove(path_of(library))


def volumes(run: Run) -> None:
    """Everything about large arrays."""
    for volume in run.plan.volumes():
        print(volume.title, file=sys.stderr)
        for codec in run.plan.codecs:
            title = f"{volume.name} {codec}"
            run.attempt(title, lambda volume=volume, codec=codec: volume_reads(run, volume, codec))
            for storage in ("memory", "file"):
                run.attempt(
                    f"{title} {storage}",
                    lambda volume=volume, codec=codec, storage=storage: volume_writes(
                        run, volume, codec, storage
                    ),
                )


# Append: pieces to a file.


def appends(run: Run) -> None:
    """Pieces to a file that is open for writing."""
    for name, (first, pieces, grid) in append_cases(run.plan.chunks).items():
        for codec, peer in itertools.product(run.plan.codecs, run.libraries[1:]):

            def fight(
                first: np.ndarray = first,
                pieces: Sequence[np.ndarray] = pieces,
                grid: Grid = grid,
                setting: Setting = Setting("append", "era5 wind", codec, "file"),
                peer: Library = peer,
                name: str = name,
            ) -> None:
                both = (run.ours, peer)
                paths = [run.path(library, "appended") for library in both]
                appenders = [
                    Appender(library.create(first, grid, setting.codec, path), pieces, first)
                    for library, path in zip(both, paths, strict=True)
                ]
                duel = harness.duel(*appenders, run.effort(peer))
                for library, appender, path in zip(both, appenders, paths, strict=True):
                    appender.finish(library.name)
                    array_peers.remove(path)
                run.add(Cell(**asdict(setting), operation=name, peer=peer.name, duel=duel))

            run.attempt(f"{peer.name}, append {name}, {codec}", fight)


# Open: a file and its first slice.


def opens(run: Run) -> None:
    """Opens a file, reads ten elements, closes it."""
    for name, (x, grid) in open_cases(run.plan.chunks).items():
        paths = {library.name: run.path(library, "opened") for library in run.libraries}
        first = (0,) * (x.ndim - 1) + (slice(0, 10),)

        def look(library: Library, paths: Mapping[str, Path] = paths, first: Key = first) -> np.ndarray:
            held = library.open(paths[library.name])
            part = held.array[first]
            held.close()
            return part

        def prepare(
            x: np.ndarray = x, grid: Grid = grid, paths: Mapping[str, Path] = paths, first: Key = first
        ) -> None:
            for library in run.libraries:
                library.create(x, grid, "lz4", paths[library.name]).close()
                if not np.array_equal(look(library, paths, first), x[first]):
                    raise ValueError(f"{library.name}: the first slice is not what NumPy reads")

        run.attempt(f"open {name}", prepare)
        setting = Setting("open", name, "lz4", "file")
        contest(run, setting, "open, ten elements, close", lambda library: lambda: look(library))
        for path in paths.values():
            array_peers.remove(path)


# Small: arrays of a hundred elements in memory.


def small(run: Run) -> None:
    """What a call costs."""
    x = np.linspace(0, 1, 100)
    grid = Grid((100,), (100,))
    one_thread = [BLOSC2_ONE_THREAD if library is BLOSC2 else library for library in run.libraries]
    run = Run(**vars(run) | {"libraries": one_thread})  # the lists of results are shared
    setting = Setting("small", "100 elements", "lz4", "memory")

    def make(library: Library) -> Held:
        held = library.create(x, grid, "lz4", None)
        check(library.name, held.array, x, [..., *elements(x)])
        return held

    def make_and_close(library: Library) -> None:
        library.create(x, grid, "lz4", None).close()

    def make_and_read(library: Library) -> np.ndarray:
        held = library.create(x, grid, "lz4", None)
        back = held.array[...]
        held.close()
        return back

    def reader(library: Library, keys: Sequence[Key]) -> Call:
        return in_turn(make(library).array, keys)

    keys = [key[0] for key in elements(x)]
    contest(run, setting, "make", lambda library: lambda: make_and_close(library))
    contest(run, setting, "make, read back", lambda library: lambda: make_and_read(library))
    contest(run, setting, "read all", lambda library: reader(library, [...]))
    contest(run, setting, "read an element", lambda library: reader(library, keys))
    if run.ours is COQUINA:
        run.libraries = [COQUINA_CACHED, *run.libraries[1:]]
        contest(run, setting, "read an element, coquina's cache on", lambda library: reader(library, keys))


# Safety: coquina with and without.


def cost(run: Run, name: str, with_it: Call, without: Call) -> None:
    """Keeps what a safety costs."""
    seconds = harness.take_turns({"with": with_it, "without": without}, run.plan.close)
    pairs = [a / b for a, b in zip(seconds["with"], seconds["without"], strict=True)]
    median = statistics.median
    run.costs.append(Cost(name, median(seconds["with"]), median(seconds["without"]), median(pairs) - 1))


def checksum_costs(run: Run, volume: Volume, codec: str) -> None:
    """Reads parts of a file, with checksums verified and not."""
    path = run.path(COQUINA, "sums")
    COQUINA.create(volume.x, volume.grid, codec, path).close()
    arrays = [cq.open(path, verify=True), cq.open(path, verify=False)]
    for array in arrays:
        array.cache_bytes = 0
    for operation, keys in selections(volume).items():
        for array in arrays:
            check("coquina", array, volume.x, keys)
        name = f"verify on read: {operation}, {volume.name}, {codec}"
        cost(run, name, *(in_turn(array, keys) for array in arrays))
    for array in arrays:
        array.close()
    array_peers.remove(path)


def commit_costs(run: Run, codec: str) -> None:
    """Appends to a file, which commits, and to memory, which has nothing to commit."""
    for name, (first, pieces, grid) in append_cases(run.plan.chunks).items():
        path = run.path(COQUINA, "commits")
        both = [Appender(COQUINA.create(first, grid, codec, place), pieces, first) for place in (path, None)]
        cost(run, f"commit to a file: append {name}, {codec}", *both)
        for appender in both:
            appender.finish("coquina")
        array_peers.remove(path)


def safety(run: Run) -> None:
    """What checksums and commits cost."""
    if run.ours is not COQUINA:
        return
    volume = next(run.plan.volumes())
    for codec in run.plan.codecs:
        run.attempt(f"checksums {codec}", lambda codec=codec: checksum_costs(run, volume, codec))
        run.attempt(f"commits {codec}", lambda codec=codec: commit_costs(run, codec))


WORK: dict[str, Callable[[Run], None]] = dict(
    zip(PARTS, (volumes, appends, opens, small, safety), strict=True)
)


def results(run: Run, parts: Sequence[str]) -> int:
    """Writes and prints what came out; returns the exit code."""
    about = harness.circumstances(*array_peers.PACKAGES)
    about |= {"minutes": f"{(time.monotonic() - run.started) / 60:.1f}"}
    name = run.plan.name if set(parts) == set(PARTS) else f"{run.plan.name}-{'-'.join(parts)}"
    if run.cells or run.costs:
        harness.save_json(name, about, [asdict(row) for row in (*run.cells, *run.sizes, *run.costs)])
        pictures = save_plots(run.cells, run.ours.name, harness.RESULTS, name, harness.cpu_name())
        page = report(run.cells, run.sizes, run.costs, run.wrong, about, run.ours.name, pictures)
        print(page, f"\nwritten: {harness.save_text(f'{name}.md', page)}")
    return 1 if run.wrong or not run.cells else 0


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_const", dest="plan", const="quick", help="about a minute")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help="some parts")
    parser.add_argument("--folder", type=Path, help="where the files go (default: the system's folder)")
    parser.add_argument(
        "--ours", default=COQUINA.name, help="who is compared with the others (to judge the bench itself)"
    )
    parser.set_defaults(plan="default")
    args = parser.parse_args()
    for name, why in array_peers.absent().items():
        print(f"absent: {name} ({why})", file=sys.stderr)
    found = sorted(array_peers.libraries(), key=lambda library: library.name != args.ours)
    if len(found) < 2 or found[0].name != args.ours:
        print(f"this bench needs {args.ours} and one other library", file=sys.stderr)
        return 2
    cq.set_num_threads(array_peers.THREADS)
    folder = Path(tempfile.mkdtemp(prefix="slices-", dir=args.folder))
    run = Run(PLANS[args.plan], found, folder)
    try:
        for part in args.only:
            run.attempt(part, lambda part=part: WORK[part](run))
    finally:
        shutil.rmtree(folder)
    return results(run, args.only)


if __name__ == "__main__":
    sys.exit(main())
