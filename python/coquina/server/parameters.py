"""The parameters of a request: texts, numbers and switches by name.

In: the query of a URL. Out: values, or errors that name the parameter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coquina.server.failures import bad_request

if TYPE_CHECKING:
    from collections.abc import Sequence

_INTEGER = re.compile(r"-?\d{1,18}\Z")
_YES, _NO = ("1", "true", "yes"), ("0", "false", "no", "")


class Parameters:
    """The parameters of one request."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        """pairs: names and values, in order."""
        self.pairs = [pair for pair in pairs if pair[0] != "token"]

    def text(self, name: str) -> str | None:
        """Return the first value of this name; None without one."""
        return next((value for key, value in self.pairs if key == name), None)

    def texts(self, name: str) -> list[str]:
        """Return all values of this name."""
        return [value for key, value in self.pairs if key == name]

    def needed(self, name: str) -> str:
        """Return the value of this name. Raises RequestError without one."""
        found = self.text(name)
        if found is None:
            raise bad_request(f"{name}: is needed")
        return found

    def integer(self, name: str, default: int) -> int:
        """Return an integer. Raises RequestError for another text."""
        found = self.text(name)
        if found is None or found == "":
            return default
        if not _INTEGER.match(found):
            raise bad_request(f"{name} {found[:40]!r}: takes an integer")
        return int(found)

    def optional_integer(self, name: str) -> int | None:
        """Return an integer, None without one."""
        return None if not self.text(name) else self.integer(name, 0)

    def number(self, name: str) -> float | None:
        """Return a number, None without one. Raises RequestError for another text."""
        found = self.text(name)
        if not found:
            return None
        try:
            return float(found)
        except ValueError:
            raise bad_request(f"{name} {found[:40]!r}: takes a number") from None

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a switch: 1, true, yes or 0, false, no. Raises RequestError for another text."""
        found = self.text(name)
        if found is None:
            return default
        if found.lower() in _YES:
            return True
        if found.lower() in _NO:
            return False
        raise bad_request(f"{name} {found[:40]!r}: takes 0 or 1")
