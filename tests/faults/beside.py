"""Programs that write, wait to write, and read, side by side, for some seconds.

    python -m tests.faults.beside KIND PATH SECONDS

In: a file of a kind, at rest. Out: a line of JSON for each program: what it did, and what was wrong.
Two writers append batches of 30 rows, each batch a commit, and let go of the file now and then, for the other
one to have its turn. Readers open it to read, `refresh`, and look: what they see is whole batches, whose
values follow from the numbers of their rows, and never fewer than before.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import coquina as cq
from tests.faults.subjects import SUBJECTS, column_rows, matrix, records

if TYPE_CHECKING:
    from collections.abc import Callable

BATCH = 30
START = 300
#: Commits until a writer lets go of the file.
TURN = 8
READERS = 4


@dataclass(frozen=True)
class Kind:
    """What is written and read: a subject, and rows by column, which follow from their numbers."""

    subject: str
    open: Callable[..., Any]
    append: Callable[[Any], None]
    length: Callable[[Any], int]
    read: Callable[[Any, int], dict[str, Any]]
    rows_of: Callable[[int, int], dict[str, Any]]


def _table(rows_of: Callable[[int, int], Any], subject: str) -> Kind:
    def opened(path: str, mode: str, **options: Any) -> Any:
        return cq.open_table(path, "/table" if path.endswith(".h5") else None, mode=mode, **options)

    def append(table: Any) -> None:
        table.append(rows_of(len(table), len(table) + BATCH))
        table.flush()

    def read(table: Any, start: int) -> dict[str, Any]:
        return {name: table[name][start:] for name in table.columns}

    def wanted(start: int, stop: int) -> dict[str, Any]:
        rows = rows_of(start, stop)
        return rows if isinstance(rows, dict) else {name: rows[name] for name in rows.dtype.names}

    return Kind(subject, opened, append, len, read, wanted)


def _append_in_session(file: Any) -> None:
    with file["grows"].appending() as session:
        session.append(matrix(session.rows, session.rows + BATCH))


def _open_file(path: str, mode: str, **options: Any) -> Any:
    return cq.open(path, mode, **options)


def _open_frame(path: str, mode: str, wait: float = 0.0) -> Any:
    """Open an array; who writes one is waited for by asking again."""
    until = time.monotonic() + wait
    while True:
        try:
            return cq.open(path, mode)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.002)


def _frame(subject: str) -> Kind:
    return Kind(
        subject,
        _open_frame,
        lambda array: array.append(matrix(len(array), len(array) + BATCH)),
        len,
        lambda array, start: {"": array[start:]},
        lambda start, stop: {"": matrix(start, stop)},
    )


KINDS = {
    "frame": _frame("frame"),
    "sparse": _frame("sparse"),
    "columns": _table(column_rows, "columns"),
    "columns_latest": _table(column_rows, "columns_latest"),
    "rows": _table(records, "rows"),
    "directory": _table(column_rows, "directory"),
    "dataset": Kind(
        "datasets",
        _open_file,
        _append_in_session,
        lambda file: len(file["grows"]),
        lambda file, start: {"grows": file["grows"][start:]},
        lambda start, stop: {"grows": matrix(start, stop)},
    ),
}


def make(kind: str, path: str) -> None:
    """Make the file."""
    SUBJECTS[KINDS[kind].subject].make(path)
    with KINDS[kind].open(path, "r+") as handle:
        if KINDS[kind].length(handle) < START:
            # Those that begin with a hundred rows.
            (handle["grows"] if kind == "dataset" else handle).append(matrix(100, START))


def _same(found: Any, wanted: Any) -> bool:
    """Whether values are equal; what is missing in both is."""
    as_list = [np.ma.asanyarray(one).tolist() for one in (found, wanted)]
    return as_list[0] == [
        x.encode() if isinstance(x, str) and found.dtype.kind == "S" else x for x in as_list[1]
    ]


def complaints(kind: Kind, handle: Any, start: int) -> list[str]:
    """Return what is wrong with the rows from one on."""
    length = kind.length(handle)
    if length % BATCH:
        return [f"{length} rows are no whole batches"]
    wanted = kind.rows_of(start, length)
    found = kind.read(handle, start)
    return [
        f"{name}: rows {start} to {length} are not those that were written"
        for name, values in wanted.items()
        if not _same(found[name], values)
    ]


def write(kind: Kind, path: str, until: float, report: dict[str, Any]) -> None:
    """Append until the time is over; let go after each turn."""
    while time.monotonic() < until:
        handle = kind.open(path, "r+", wait=60)
        try:
            report["turns"] += 1
            for _ in range(TURN):
                kind.append(handle)
                report["commits"] += 1
                time.sleep(0.002)
        finally:
            handle.close()
        time.sleep(0.01)


def read(kind: Kind, path: str, until: float, report: dict[str, Any]) -> None:
    """Look until the time is over."""
    before = START
    while time.monotonic() < until:
        handle = kind.open(path, "r")
        try:
            for look in range(20):
                handle.refresh()
                length = kind.length(handle)
                if length < before:
                    report["wrong"].append(f"{length} rows after {before}")
                # Mostly the last rows; now and then all.
                start = 0 if look == 0 and length < 10_000 else max(0, length - 3 * BATCH)
                try:
                    report["wrong"] += complaints(kind, handle, start)
                except FileNotFoundError:
                    # A sparse frame has no files for states that are gone: the next one is to be looked for.
                    if kind.subject != "sparse":
                        raise
                report["looks"] += 1
                before = max(before, length)
                if time.monotonic() > until:
                    break
        finally:
            handle.close()


def _program(work: Any, kind: Kind, path: str, until: float, pipe: int) -> None:
    report: dict[str, Any] = {"program": work.__name__, "turns": 0, "commits": 0, "looks": 0, "wrong": []}
    try:
        work(kind, path, until, report)
    except Exception as error:
        report["wrong"].append(f"{type(error).__name__}: {error}")
    report["wrong"] = report["wrong"][:5]
    os.write(pipe, json.dumps(report).encode() + b"\n")


def main() -> None:
    """Fork all programs, and tell what they say."""
    kind, path, until = KINDS[sys.argv[1]], sys.argv[2], time.monotonic() + float(sys.argv[3])
    pipe, report = os.pipe()
    children = []
    for work in [write, write] + [read] * READERS:
        child = os.fork()
        if child == 0:
            try:
                _program(work, kind, path, until, report)
            finally:
                os._exit(0)
        children.append(child)
    os.close(report)
    with os.fdopen(pipe, "rb") as said:
        sys.stdout.write(said.read().decode())
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
