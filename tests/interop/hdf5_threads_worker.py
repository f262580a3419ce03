"""Threads that read and write files together; a program of its own, so that a deadlock ends with it.

Every chunk holds one number only, which grows; so a chunk that is read half written, or old, can be seen.
Run as a program: folder, who writes and who reads ("h5py" or "coquina"), seed.
"""

from __future__ import annotations

import faulthandler
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random

import h5py
import numpy as np

from coquina.hdf5 import fast

ROWS, COLUMNS, CHANGES, READS = 40, 3000, 150, 60
PIPELINES = (
    {"compression": "gzip", "shuffle": True},
    {"fletcher32": True},
    {},
    {"compression": "lzf"},
)


class Table:
    """A dataset of one chunk for each row, and what was written to it last."""

    def __init__(self, file: h5py.File, options: dict[str, object], writer: str) -> None:
        self.h5 = file.create_dataset("d", (ROWS, COLUMNS), "i4", chunks=(1, COLUMNS), **options)
        self.writer = self.h5 if writer == "h5py" else fast(self.h5)
        self.written = [0] * ROWS

    def write(self, rng: Random) -> None:
        for number in range(1, CHANGES):
            row = rng.randrange(ROWS)
            if rng.random() < 0.3:
                # Through the middle of a chunk, which is read, changed and written back.
                self.writer[row, : COLUMNS // 2] = number
                self.writer[row, COLUMNS // 2 :] = number
            else:
                self.writer[row] = np.full(COLUMNS, number)
            self.written[row] = number

    def read(self, rng: Random, reader: str, is_torn: bool) -> None:
        # Both may share a handle, or have their own.
        ours = self.h5 if reader == "h5py" else fast(self.h5)
        for _ in range(READS):
            rows = sorted(rng.sample(range(ROWS), rng.choice((1, 3, 20))))
            least = [self.written[row] for row in rows]
            found = ours[rows] if rng.random() < 0.7 else ours[...][rows]
            for row, values in zip(least, found, strict=True):
                halves = values[: COLUMNS // 2], values[COLUMNS // 2 :]
                for half in halves:
                    assert (half == half[0]).all(), "a chunk is torn"
                    assert half[0] >= row, "a chunk is old"
                assert is_torn or (values == values[0]).all()


def run(jobs: list[Callable[[], None]]) -> None:
    raised: list[BaseException] = []

    def guarded(job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def main(folder: Path, writer: str, reader: str, seed: int) -> None:
    faulthandler.dump_traceback_later(100, exit=True)
    rng = Random(seed)
    stop = threading.Event()

    def spin() -> None:
        # Wants the GIL, all the time.
        count = 0
        while not stop.is_set():
            count += 1

    spinner = threading.Thread(target=spin)
    libver = rng.choice(("earliest", "latest"))
    options = PIPELINES[seed % len(PIPELINES)]
    with h5py.File(folder / "a.h5", "w", libver=libver) as a, h5py.File(folder / "b.h5", "w") as b:
        tables = [Table(a, options, writer), Table(b, PIPELINES[(seed + 1) % len(PIPELINES)], writer)]
        jobs: list[Callable[[], None]] = []
        for table in tables:
            jobs.append(lambda table=table: table.write(Random(seed)))
            jobs += [lambda table=table, n=n: table.read(Random(n), reader, True) for n in range(2)]
        spinner.start()
        try:
            run(jobs)
        finally:
            stop.set()
            spinner.join()
        # When all is quiet, both see the same, and whole rows.
        for table in tables:
            expected = np.repeat(np.array(table.written, "i4")[:, None], COLUMNS, axis=1)
            np.testing.assert_array_equal(table.h5[...], expected)
            np.testing.assert_array_equal(fast(table.h5)[...], expected)
            np.testing.assert_array_equal(table.writer[...], expected)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
    print("done")
