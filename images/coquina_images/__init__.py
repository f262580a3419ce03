"""JPEG 2000 and HTJ2K codecs for coquina.

There is nothing to import: coquina finds the codecs by the entry points of this package when it first needs
one.
"""

from __future__ import annotations

from pathlib import Path

__version__ = "0.1.0"
__all__ = ["library"]

_ENDINGS = (".so", ".dylib", ".dll")


def library() -> Path:
    """Return the path of the plugin. The entry points name this function."""
    return next(path for path in Path(__file__).parent.iterdir() if path.suffix in _ENDINGS)
