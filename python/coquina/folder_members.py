"""The files that make a directory an array, a store of python-blosc2 or a table.

Source: docs/formats/columns.md, "A directory of frames"; docs/formats/blosc2-stores.md.
"""

from __future__ import annotations

import os

ARRAY = "chunks.b2frame"
STORE = "embed.b2e"
TABLE = "table.json"


def has_member(path: str, name: str) -> bool:
    """Whether a path is a directory that has a file of this name."""
    return os.path.isfile(os.path.join(path, name))
