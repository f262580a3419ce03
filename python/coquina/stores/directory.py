"""The leaves of a store that is a directory.

In: a path. Out: the leaves that are there now, by key. Links are not followed.
Source: docs/formats/blosc2-stores.md, "Directories".
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from coquina._core import CorruptError
from coquina.folder_members import STORE
from coquina.stores.keys import SUFFIXES, key_of
from coquina.stores.leaves import FRAME_MAGIC, FileLeaf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.stores.leaves import Leaf


def leaves_of_directory(folder: str) -> dict[str, Leaf]:
    """Return the leaves of a directory but those in its `embed.b2e`. Raises CorruptError for two of a key."""
    leaves: dict[str, Leaf] = {}
    for path in sorted(_paths(folder)):
        key = key_of(path)
        if key in leaves:
            raise CorruptError(f"{folder}: two files are called {key!r} but for their endings")
        leaves[key] = FileLeaf(folder, path)
    return leaves


def _paths(folder: str) -> Iterator[str]:
    """Yield the path of each frame below a folder, with "/" between its parts."""
    for above, _, names in os.walk(folder):
        inside = os.path.relpath(above, folder)
        for name in names:
            path = name if inside == os.curdir else f"{inside.replace(os.sep, '/')}/{name}"
            if _is_unfinished(name) or path == STORE:
                continue
            if name.endswith(SUFFIXES) or _is_frame(os.path.join(above, name)):
                yield path


def _is_unfinished(name: str) -> bool:
    """Whether a file was to take the place of a frame when its writer was killed."""
    return name.startswith(".") and name.endswith(".tmp")


def _is_frame(path: str) -> bool:
    """Whether a file of another name begins as frames do."""
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(FRAME_MAGIC)) == FRAME_MAGIC
