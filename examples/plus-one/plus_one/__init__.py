"""A filter for coquina that adds 1 to every byte."""

from __future__ import annotations

from pathlib import Path

_ENDINGS = (".so", ".dylib", ".dll")


def library() -> Path:
    """Return the path of the plugin. The entry point `filter-160` names this function."""
    return next(path for path in Path(__file__).parent.iterdir() if path.suffix in _ENDINGS)
