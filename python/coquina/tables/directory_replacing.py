"""Tables that are directories and give way to new ones.

In: paths of a table that is complete, and of the one whose place it takes. Out: one table, under that name.
Invariant: only tables are replaced, and nothing that is not theirs is removed. Where the system can exchange
two names (Linux, macOS), one of the tables is there at every moment.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from coquina._core import exchange_names
from coquina.tables.directory import Directory
from coquina.tables.directory_locks import found_writer, taken
from coquina.tables.manifest import FOLDER, LOCK, NAME, is_directory

if TYPE_CHECKING:
    from collections.abc import Generator

#: What the directory of a table has: manifest, frames, indexes and lock, and what a kill left of these.
_OWN = re.compile(
    rf"{re.escape(NAME)}(\.[0-9a-f]{{8}}|\.tmp)?|\.?[0-9]{{4,}}\.b2nd.*|{FOLDER}|{re.escape(LOCK)}", re.ASCII
)


def check_is_replaceable(place: str) -> None:
    """Raise FileExistsError unless there is a table, and nothing else, in this directory.

    Raises BlockingIOError if another process writes it.
    """
    if not is_directory(place):
        raise FileExistsError(f"{place} exists and is no table; only tables are replaced")
    others = sorted(one for one in os.listdir(place) if not _OWN.fullmatch(one))
    if others:
        names = ", ".join(others[:5])
        raise FileExistsError(f"{place} has files that are not of the table ({names}); move them first")
    if found_writer(place) is None:
        taken(place, 0).release()


def put_in_place(new: str, place: str) -> None:
    """Give a table its name; one that has it gives way."""
    if not os.path.lexists(place):
        os.rename(new, place)
        return
    check_is_replaceable(place)
    with _ending(place):
        shutil.rmtree(new if exchange_names(new, place) else _moved_away(new, place))


def _moved_away(new: str, place: str) -> str:
    """Give a table its name in two steps; return where the old one is now."""
    old = f"{new}.old"
    os.rename(place, old)
    try:
        os.rename(new, place)
    except BaseException:
        os.rename(old, place)
        raise
    return old


@contextmanager
def _ending(place: str) -> Generator[None]:
    """Hold the lock of a directory that is about to go; who writes it in this process writes no more."""
    if (writer := found_writer(place)) is not None:
        cast("Directory", writer).abandon("the table has been replaced by a new one")
    lock = taken(place, 0)
    try:
        yield
    finally:
        lock.release()
