"""Tables that are directories: opened as of one commit, and shared by all handles that write.

In: paths. Out: tables.
Invariant: a table that is read is as of one commit, whatever a writer does meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from coquina._core import CorruptError
from coquina.tables.columns_layout import ColumnsLayout
from coquina.tables.frames_home import FramesHome
from coquina.tables.table import Table

if TYPE_CHECKING:
    from weakref import WeakSet

    from coquina._core import Path
    from coquina.tables.frames_arrays import Directory

#: So often a reader looks again if a writer removes what the reader was about to open.
_ATTEMPTS = 100
#: The handles of the tables that this process writes.
_handles: WeakKeyDictionary[Directory, WeakSet[Table]] = WeakKeyDictionary()


def open_directory(
    path: Path,
    mode: Literal["r", "r+", "a"] = "r",
    *,
    wait: float | None = None,
    durable: bool = False,
) -> Table:
    """Open a table that is a directory; see `coquina.open_table`."""
    if mode == "r":
        return Table(_read(path))
    home = FramesHome.open(path, mode, wait=wait, durable=durable)
    found = next(iter(_handles.get(home.directory, ())), None)
    if found is not None:
        home.close()
        return found.shared()
    try:
        table = Table(ColumnsLayout.open(home))
    except BaseException:
        home.close()
        raise
    _handles[home.directory] = table.handles
    return table


def _read(path: Path) -> ColumnsLayout:
    for _ in range(_ATTEMPTS):
        home = FramesHome.open(path)
        try:
            return ColumnsLayout.open(home)
        except CorruptError:
            # A writer may have come to the next commit, and removed what was before.
            if not home.is_outdated():
                raise
    raise CorruptError(f"{path}: it changes faster than it can be read")
