"""Colours: on terminals only, and not where NO_COLOR is set (no-color.org) or the terminal has none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

_CODES = {"bold": "1", "red": "31", "green": "32", "dim": "2"}


def has_colours(stream: TextIO) -> bool:
    """Whether colours are wanted on a stream."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def painted(text: str, colour: str, stream: TextIO) -> str:
    """Return the text in a colour (bold, dim, green, red), or as it is where there are none."""
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if has_colours(stream) else text
