"""What killed writers leave in a directory of frames, and in that of its indexes.

In: a directory that this process writes, and the nodes that its manifest has or had. Out: no files but these.
Invariant: only names that a writer makes are removed, and none that a manifest has.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from coquina._core import CoquinaError
from coquina.tables.manifest import FOLDER, LOCK, NAME, Manifest, is_directory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coquina.tables.manifest import Node

#: Arrays that no manifest names, and what was to become one, or a manifest.
_LEFT_OVER = re.compile(rf"[0-9]{{4,}}\.b2nd|\.[0-9]{{4,}}\.b2nd\..*\.tmp|{re.escape(NAME)}\.tmp")


def file_name(node: Node) -> str:
    """Return the name of the file of an array."""
    return f"{node['number']:04d}.b2nd"


def sweep(place: str, nodes: Iterable[Node]) -> None:
    """Remove what killed writers have left. nodes: those that are there, or were at the last commit."""
    named = {file_name(one) for one in nodes if one["kind"] == "array"}
    for name in os.listdir(place):
        if _LEFT_OVER.fullmatch(name) and name not in named:
            with suppress(OSError):
                os.remove(os.path.join(place, name))


def sweep_indexes(place: str) -> None:
    """Remove what killed writers have left of the indexes of a table, which nobody has open."""
    below = os.path.join(place, FOLDER)
    with suppress(CoquinaError, OSError):
        if is_directory(below):
            sweep(below, Manifest.read(below).nodes.values())
        elif os.path.isdir(below):
            sweep(below, [])
            # Nothing was committed there; a folder with anything else stays.
            if set(os.listdir(below)) <= {LOCK}:
                shutil.rmtree(below)
