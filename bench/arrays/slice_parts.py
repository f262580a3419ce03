"""The parts of `slices.py`: large arrays, appends, first slices of files, small arrays, what safety costs.

In: a race. Out: cells, sizes and costs in it.
Invariant: every place is read by every library and compared with NumPy before it is timed.
"""

from __future__ import annotations

import itertools
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

import coquina as cq
from bench.arrays import array_peers
from bench.arrays.array_peers import BLOSC2, BLOSC2_ONE_THREAD, COQUINA, COQUINA_CACHED, Held, Library
from bench.arrays.slice_cases import (
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
from bench.arrays.slice_cells import Cell, Cost, Size
from bench.arrays.slice_race import Race, Setting, contest
from bench.common import cold, harness
from bench.common.harness import Call
from bench.common.inputs import Grid, Volume

# Volumes: the parts of large arrays.


def volume_reads(race: Race, volume: Volume, codec: str) -> None:
    """Reads parts, from each kind of storage."""
    paths = {library.name: race.path(library, "volume") for library in race.libraries}
    for library in race.libraries:
        library.create(volume.x, volume.grid, codec, paths[library.name]).close()
        stored = array_peers.stored_bytes(paths[library.name])
        race.found.append(Size(volume.name, codec, library.name, volume.x.nbytes, stored))
    os.sync()
    for storage in race.plan.storages:
        if storage == "cold" and not cold.works_in(race.run.folder):
            race.run.say("no cold files: the system keeps them in its page cache")
            continue
        held: dict[str, Held] = {
            library.name: library.create(volume.x, volume.grid, codec, None)
            if storage == "memory"
            else library.open(paths[library.name])
            for library in race.libraries
        }
        setting = Setting("volumes", volume.name, codec, storage)
        is_cold = storage == "cold"
        for operation, keys in selections(volume).items():
            for library in race.libraries:
                check(library.name, held[library.name].array, volume.x, keys)
            contest(
                race,
                setting,
                operation,
                lambda library, keys=keys, held=held: in_turn(held[library.name].array, keys),
                (lambda: cold.evict(paths.values())) if is_cold else None,
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


def volume_writes(race: Race, volume: Volume, codec: str, storage: str) -> None:
    """Writes all, then boxes."""
    setting = Setting("volumes", volume.name, codec, storage)
    x, grid = volume.x, volume.grid

    def path_of(library: Library) -> Path | None:
        return None if storage == "memory" else race.path(library, "written")

    contest(
        race,
        setting,
        "write all",
        lambda library: lambda: library.create(x, grid, codec, path_of(library)).close(),
    )
    held = {library.name: library.create(x, grid, codec, path_of(library)) for library in race.libraries}
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

    contest(race, setting, "write box", writer)
    for library in race.libraries:
        check(library.name, held[library.name].array, x, [...])
        held[library.name].close()
        array_peers.remove(path_of(library))


def volumes(race: Race) -> None:
    """Everything about large arrays."""
    for volume in race.plan.volumes():
        race.run.say(volume.title)
        for codec in race.plan.codecs:
            title = f"{volume.name} {codec}"
            race.attempt(title, lambda volume=volume, codec=codec: volume_reads(race, volume, codec))
            for storage in ("memory", "file"):
                race.attempt(
                    f"{title} {storage}",
                    lambda volume=volume, codec=codec, storage=storage: volume_writes(
                        race, volume, codec, storage
                    ),
                )


# Append: pieces to a file.


def appends(race: Race) -> None:
    """Pieces to a file that is open for writing."""
    for name, (first, pieces, grid) in append_cases(race.plan.chunks).items():
        for codec, peer in itertools.product(race.plan.codecs, race.libraries[1:]):

            def fight(
                first: np.ndarray = first,
                pieces: Sequence[np.ndarray] = pieces,
                grid: Grid = grid,
                codec: str = codec,
                peer: Library = peer,
                name: str = name,
            ) -> None:
                setting = Setting("append", "era5 wind", codec, "file")
                both = (race.ours, peer)
                paths = [race.path(library, "appended") for library in both]
                appenders = [
                    Appender(library.create(first, grid, codec, path), pieces, first)
                    for library, path in zip(both, paths, strict=True)
                ]
                duel = harness.duel(*appenders, race.effort(peer))
                for library, appender, path in zip(both, appenders, paths, strict=True):
                    appender.finish(library.name)
                    array_peers.remove(path)
                race.add(Cell(**asdict(setting), operation=name, peer=peer.name, duel=duel))

            race.attempt(f"{peer.name}, append {name}, {codec}", fight)


# Open: a file and its first slice.


def opens(race: Race) -> None:
    """Opens a file, reads ten elements, closes it."""
    for name, (x, grid) in open_cases(race.plan.chunks).items():
        paths = {library.name: race.path(library, "opened") for library in race.libraries}
        first = (0,) * (x.ndim - 1) + (slice(0, 10),)

        def look(library: Library, paths: Mapping[str, Path] = paths, first: Key = first) -> np.ndarray:
            held = library.open(paths[library.name])
            part = held.array[first]
            held.close()
            return part

        def prepare(
            x: np.ndarray = x, grid: Grid = grid, paths: Mapping[str, Path] = paths, first: Key = first
        ) -> None:
            for library in race.libraries:
                library.create(x, grid, "lz4", paths[library.name]).close()
                if not np.array_equal(look(library, paths, first), x[first]):
                    raise ValueError(f"{library.name}: the first slice is not what NumPy reads")

        race.attempt(f"open {name}", prepare)
        setting = Setting("open", name, "lz4", "file")
        contest(race, setting, "open, ten elements, close", lambda library: lambda: look(library))
        for path in paths.values():
            array_peers.remove(path)


# Small: arrays of a hundred elements in memory.


def small(race: Race) -> None:
    """What a call costs."""
    x = np.linspace(0, 1, 100)
    grid = Grid((100,), (100,))
    one_thread = [BLOSC2_ONE_THREAD if library is BLOSC2 else library for library in race.libraries]
    race = Race(race.run, race.plan, one_thread, race.found)
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
    contest(race, setting, "make", lambda library: lambda: make_and_close(library))
    contest(race, setting, "make, read back", lambda library: lambda: make_and_read(library))
    contest(race, setting, "read all", lambda library: reader(library, [...]))
    contest(race, setting, "read an element", lambda library: reader(library, keys))
    if race.ours is COQUINA:
        race.libraries = [COQUINA_CACHED, *race.libraries[1:]]
        contest(race, setting, "read an element, coquina's cache on", lambda library: reader(library, keys))


# Safety: coquina with and without.


def cost(race: Race, name: str, with_it: Call, without: Call) -> None:
    """Keeps what a safety costs."""
    seconds = harness.take_turns({"with": with_it, "without": without}, race.plan.close)
    pairs = [a / b for a, b in zip(seconds["with"], seconds["without"], strict=True)]
    median = statistics.median
    race.found.append(Cost(name, median(seconds["with"]), median(seconds["without"]), median(pairs) - 1))


def checksum_costs(race: Race, volume: Volume, codec: str) -> None:
    """Reads parts of a file, with checksums verified and not."""
    path = race.path(COQUINA, "sums")
    COQUINA.create(volume.x, volume.grid, codec, path).close()
    arrays = [cq.open(path, verify=True), cq.open(path, verify=False)]
    for array in arrays:
        array.cache_bytes = 0
    for operation, keys in selections(volume).items():
        for array in arrays:
            check("coquina", array, volume.x, keys)
        name = f"verify on read: {operation}, {volume.name}, {codec}"
        cost(race, name, *(in_turn(array, keys) for array in arrays))
    for array in arrays:
        array.close()
    array_peers.remove(path)


def commit_costs(race: Race, codec: str) -> None:
    """Appends to a file, which commits, and to memory, which has nothing to commit."""
    for name, (first, pieces, grid) in append_cases(race.plan.chunks).items():
        path = race.path(COQUINA, "commits")
        both = [Appender(COQUINA.create(first, grid, codec, place), pieces, first) for place in (path, None)]
        cost(race, f"commit to a file: append {name}, {codec}", *both)
        for appender in both:
            appender.finish("coquina")
        array_peers.remove(path)


def safety(race: Race) -> None:
    """What checksums and commits cost."""
    if race.ours is not COQUINA:
        return
    volume = next(race.plan.volumes())
    for codec in race.plan.codecs:
        race.attempt(f"checksums {codec}", lambda codec=codec: checksum_costs(race, volume, codec))
        race.attempt(f"commits {codec}", lambda codec=codec: commit_costs(race, codec))


PARTS: dict[str, Callable[[Race], None]] = {
    "volumes": volumes,
    "append": appends,
    "open": opens,
    "small": small,
    "safety": safety,
}
