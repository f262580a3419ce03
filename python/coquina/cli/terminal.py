"""What the command prints: text that acts on no terminal, and JSON.

In: text with names and values of files in it. Out: lines on standard output. On a terminal, and only there,
they are quoted; files and pipes get them as they are, but for what their encoding cannot say.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from coquina.quoting import quoted, quoted_lines

if TYPE_CHECKING:
    from collections.abc import Callable


def cell(text: object) -> str:
    """Return a name or a value for a line of standard output: on a terminal quoted, line breaks included."""
    return quoted(text) if sys.stdout.isatty() else str(text)


def show(text: object, end: str = "\n") -> None:
    """Print text on standard output."""
    print(quoted_lines(text) if sys.stdout.isatty() else _encodable(str(text)), end=end)


def show_json(document: object, default: Callable[[Any], Any] | None = None) -> None:
    """Print a document of JSON on a line, in ASCII."""
    show(json_text(document, default))


def json_text(document: object, default: Callable[[Any], Any] | None = None) -> str:
    """Return a document of JSON in ASCII without control characters."""
    # The only one that `json` leaves as it is.
    return json.dumps(document, default=default).replace("\x7f", "\\u007f")


def _encodable(text: str) -> str:
    """Return text with escapes in place of what standard output's encoding does not have."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


__all__ = ["cell", "json_text", "show", "show_json"]
