"""The names of what is in a directory of frames.

Source: docs/formats/columns.md, "A directory of frames".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coquina.folder_members import TABLE, has_member
from coquina.remote import new_path

if TYPE_CHECKING:
    from coquina._core import Path

#: Where the indexes of a table are, a directory of frames as well.
FOLDER = "index"


def is_directory(path: Path) -> bool:
    """Whether there is a table in a directory of this name. Raises ValueError for what is far away."""
    return has_member(new_path(path), TABLE)
