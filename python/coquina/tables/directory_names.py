"""The names of what is in a directory of frames.

Source: docs/formats/columns.md, "A directory of frames".
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from coquina.remote import new_path

if TYPE_CHECKING:
    from coquina._core import Path

NAME = "table.json"
#: Where the indexes of a table are, a directory of frames as well.
FOLDER = "index"


def is_directory(path: Path) -> bool:
    """Whether there is a table in a directory of this name. Raises ValueError for what is far away."""
    return os.path.isfile(os.path.join(new_path(path), NAME))
