"""How fast does the server answer: slices beside h5grove, eight clients at once, and very large files?

    python -m bench.server.serving            64 MiB of float32, half a minute
    python -m bench.server.serving --quick    16 MiB, few rounds

Slices are 512 x 512 of a field with noise, as bytes, without HTTP: our handler of `/data/` beside h5grove's
own functions, which open the file for each request as its applications do; ours stays open, and keeps decoded
blocks. They are of random places, then each beside the one before, and then of random places by a server that
keeps no blocks, as where all is seen for the first time. Values are compared first. Then a server in a
process of its own answers eight clients on sockets, each with a connection that it keeps; "beyond" is what an
answer takes longer than the same slice read locally by one thread. Last, a table of a billion rows and arrays
of 100 GB without values are asked for by a server that has not seen them.

Client and server share the machine's cores. Results of a complete run: bench/results/serving.md.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import h5grove.content
import h5grove.encoders
import hdf5plugin
import numpy as np

import coquina as cq
from bench.common import harness
from bench.common.harness import Effort, Stopwatch
from coquina.server import h5grove as ours
from coquina.server import opened_files
from coquina.server.limits import Limits
from coquina.server.objects import find
from coquina.server.parameters import Parameters
from coquina.server.root import Root
from coquina.server.service import Service
from coquina.server.users import EVERYBODY

RESULTS = Path(__file__).parents[1] / "results" / "serving.md"
SIDE = 512
CLIENTS = 8
BESIDE = ("ours, ms", "h5grove, ms", "speed-up", "ours, CPU ms", "h5grove, CPU ms", "speed-up by CPU")
DATASETS: dict[str, dict[str, Any]] = {
    "gzip": {"filter": "gzip", "level": 5},
    "gzip, shuffle": {"filter": "gzip", "level": 5, "filters": "shuffle"},
    "blosc2 zstd": {"filter": "blosc2", "codec": "zstd", "level": 5},
    "blosc2 lz4": {"filter": "blosc2", "codec": "lz4", "level": 5},
}


def field(side: int) -> np.ndarray:
    """A smooth field with noise in its lowest bits."""
    rng = np.random.default_rng(4)
    axis = np.linspace(0, 20, side, dtype="f4")
    return (
        (np.sin(axis)[:, None] * np.cos(axis) * 100 + rng.normal(0, 0.1, (side, side))).round(2).astype("f4")
    )


def make(folder: Path, side: int) -> None:
    """The files of the first two parts."""
    values = field(side)
    with cq.hdf5.File(folder / "slices.h5", "w") as file:
        for name, options in DATASETS.items():
            file.create_dataset(name, data=values, chunks=(SIDE, SIDE), **options)
    cq.asarray(values, path=folder / "slices.b2nd", chunks=(SIDE, SIDE)).close()


def places(side: int, count: int) -> list[str]:
    """Selections of random places."""
    rng = np.random.default_rng(9)
    starts = rng.integers(0, side - SIDE, (count, 2))
    return [f"{row}:{row + SIDE},{column}:{column + SIDE}" for row, column in starts]


def panned(side: int, count: int) -> list[str]:
    """Selections that move over the field as one who looks at it moves: by an eighth of what is shown."""
    starts = [at * SIDE // 8 % (side - SIDE) for at in range(count)]
    return [f"{at}:{at + SIDE},{at}:{at + SIDE}" for at in starts]


def theirs(path: Path, name: str, selection: str) -> bytes:
    """What h5grove answers."""
    with h5grove.content.get_content_from_file(
        path, name, lambda code, text: ValueError(code, text)
    ) as content:
        return h5grove.encoders.encode(content.data(selection), "bin").content


def answered(service: Service, file: str, path: str, selection: str) -> bytes:
    """What we answer."""
    pairs = [("file", file), ("path", path), ("selection", selection), ("format", "bin")]
    parameters = Parameters(pairs)
    with service.opened(EVERYBODY, parameters) as opened:
        return ours.data(service, find(opened, path), parameters).content


@contextlib.contextmanager
def without_kept_blocks() -> Iterator[None]:
    """Has the server decode everything for each request."""
    before, opened_files.CACHE_BYTES = opened_files.CACHE_BYTES, 0
    try:
        yield
    finally:
        opened_files.CACHE_BYTES = before


def first_time(folder: Path, chosen: list[str], effort: Effort) -> Iterator[list[object]]:
    """Rows as those of `beside_h5grove`, where nothing was decoded before."""
    with without_kept_blocks():
        yield from beside_h5grove(folder, chosen, effort)


def beside_h5grove(folder: Path, chosen: list[str], effort: Effort) -> Iterator[list[object]]:
    """Rows: a dataset, milliseconds of both, the ratio; the same by the processor's time, of all threads."""
    service = Service(Root(str(folder)), limits=Limits(rate=0))
    for name in [*DATASETS, "b2nd"]:
        file, path = ("slices.b2nd", "/") if name == "b2nd" else ("slices.h5", f"/{name}")
        beside = f"/{'blosc2 zstd' if name == 'b2nd' else name}"

        def mine(file: str = file, path: str = path) -> None:
            for one in chosen:
                answered(service, file, path, one)

        def other(name: str = beside) -> None:
            for one in chosen:
                theirs(folder / "slices.h5", name, one)

        if answered(service, file, path, chosen[0]) != theirs(folder / "slices.h5", beside, chosen[0]):
            raise AssertionError(f"{name}: other values than h5grove's")
        found = harness.duel(mine, other, effort)
        by_processor = [min(harness.processor(call) for _ in range(3)) for call in (mine, other)]
        yield [
            name,
            *(f"{1e3 * one / len(chosen):.2f}" for one in (found.ours, found.theirs)),
            f"{found.speedup:.1f}x",
            *(f"{1e3 * one / len(chosen):.2f}" for one in by_processor),
            f"{by_processor[1] / by_processor[0]:.1f}x",
        ]
    service.files.close_idle(forever=True)


class Served:
    """A server of a folder in a process of its own."""

    def __init__(self, folder: Path) -> None:
        """Starts it."""
        command = [
            sys.executable,
            "-m",
            "coquina.cli",
            "serve",
            str(folder),
            "--port",
            "0",
            "--limit-rate",
            "0",
        ]
        self._server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._server.stdout is not None
        self.port = int(self._server.stdout.readline().split("http://127.0.0.1:")[1].split("/")[0])

    @property
    def processor(self) -> float:
        """Seconds of the processor that the server has taken; NaN where the system does not tell."""
        try:
            fields = Path(f"/proc/{self._server.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return math.nan
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> Served:
        """The server."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Ends it."""
        self._server.terminate()
        self._server.communicate()


def ask(connection: http.client.HTTPConnection, route: str, **parameters: object) -> bytes:
    """An answer to a request."""
    connection.request("GET", f"/{route}/?{urlencode(parameters)}")
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 200:
        raise AssertionError(content)
    return content


def client(port: int, file: str, path: str, chosen: list[str], seconds: list[float]) -> None:
    """One client: asks for slices, one after the other."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for one in chosen:
        watch = Stopwatch()
        ask(connection, "slice", file=file, path=path, selection=one)
        seconds.append(watch.seconds)
    connection.close()


def many_clients(folder: Path, side: int, each: int) -> Iterator[list[object]]:
    """Rows: a dataset, median and 95th percentile, the local read, what is beyond, the server's own time."""
    with Served(folder) as served:
        for name in ("gzip, shuffle", "blosc2 zstd", "b2nd"):
            file, path = ("slices.b2nd", "/") if name == "b2nd" else ("slices.h5", f"/{name}")
            lists: list[list[float]] = [[] for _ in range(CLIENTS)]
            chosen = places(side, CLIENTS * each)
            threads = [
                threading.Thread(
                    target=client, args=(served.port, file, path, chosen[at::CLIENTS], lists[at])
                )
                for at in range(CLIENTS)
            ]
            watch, before = Stopwatch(), served.processor
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            rate, by_processor = len(chosen) / watch.seconds, (served.processor - before) / len(chosen)
            seconds = sorted(one for found in lists for one in found)
            middle, high = statistics.median(seconds), seconds[int(len(seconds) * 0.95)]
            local = local_read(folder / file, path, chosen[:8])
            row = [f"{1e3 * one:.1f}" for one in (middle, high, local, high - local, by_processor)]
            yield [name, *row, f"{rate:.0f}"]


def local_read(path: Path, name: str, chosen: list[str]) -> float:
    """Median seconds of a slice that is read here, by one thread."""
    threads = cq.num_threads()
    cq.set_num_threads(1)
    with cq.open(str(path)) as top:
        array = top if name == "/" else top[name]
        seconds: list[float] = []
        for one in chosen:
            rows, columns = (slice(*map(int, part.split(":"))) for part in one.split(","))
            watch = Stopwatch()
            array[rows, columns]
            seconds.append(watch.seconds)
    cq.set_num_threads(threads)
    return statistics.median(seconds)


def large(folder: Path) -> Iterator[list[object]]:
    """Rows: a file, seconds until a server that has not seen it answered its tree, facts and first values."""
    with cq.hdf5.File(folder / "rows.h5", "w") as file:
        table = file.create_table(
            "t", {"number": np.arange(10), "value": np.arange(10.0), "flag": np.arange(10) > 5}
        )
        table.resize(10**9)
    with cq.hdf5.File(folder / "large.h5", "w") as file:
        file.create_dataset("x", (160_000, 160_000), "f4", chunks=(1000, 1000))
    cq.zeros((160_000, 160_000), "f4", path=folder / "large.b2nd", chunks=(1000, 1000)).close()
    for name, file, path, routes in (
        ("table of 10^9 rows", "rows.h5", "/t", ["schema", "rows"]),
        ("HDF5, 102 GB", "large.h5", "/x", ["slice", "storage"]),
        ("b2nd, 102 GB", "large.b2nd", "/", ["slice", "storage"]),
    ):
        with Served(folder) as served:
            connection = http.client.HTTPConnection("127.0.0.1", served.port)
            watch = Stopwatch()
            for route in ["tree", "info", *routes]:
                where = "/" if route == "tree" else path
                more: dict[str, object] = {"selection": ":512,:512"} if route == "slice" else {}
                ask(connection, route, file=file, path=where, **more)
            seconds = watch.seconds
            ask(connection, *routes[-1:], file=file, path=path)
            yield [name, f"{seconds:.3f}", f"{watch.seconds - seconds:.3f}"]
            connection.close()


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    side = 2048 if quick else 4096
    effort = Effort(1.0, 2, 3) if quick else Effort(4.0, 3, 9)
    told = [harness.describe(harness.circumstances("h5grove", "h5py", "hdf5plugin", "starlette", "uvicorn"))]
    print(told[0])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, side)
        parts: list[tuple[tuple[str, ...], Callable[[], Iterator[list[object]]]]] = [
            (
                ("slices 512 x 512", *BESIDE),
                lambda: beside_h5grove(folder, places(side, 64), effort),
            ),
            (
                ("panned by 64", *BESIDE),
                lambda: beside_h5grove(folder, panned(side, 64), effort),
            ),
            (
                ("512 x 512, nothing kept", *BESIDE),
                lambda: first_time(folder, places(side, 64), effort),
            ),
            (
                (
                    f"{CLIENTS} clients",
                    "median, ms",
                    "p95, ms",
                    "local, ms",
                    "p95 beyond, ms",
                    "server CPU, ms",
                    "answers a second",
                ),
                lambda: many_clients(folder, side, 10 if quick else 40),
            ),
            (("never seen", "first answers, s", "once more, s"), lambda: large(folder)),
        ]
        for header, rows in parts:
            told.append(harness.markdown(header, rows()))
            print(told[-1], flush=True)
    if not quick:
        RESULTS.write_text("\n\n".join(["# The server", *told]) + "\n")
    # Its import has registered the filters that h5grove needs.
    assert hdf5plugin.FILTERS


if __name__ == "__main__":
    main()
