"""Files that an opened file names: which of them are read.

In: where a file lies, and a path that it names. Out: nothing, or UnsupportedError where a stranger's file
would have another file of the user read. What lies beside the file, in its folder or below, is read.
Invariant: symbolic links are resolved first.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from coquina._core import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Generator

_ALLOWED: ContextVar[bool] = ContextVar("allow_external", default=False)
ADVICE = "allow_external=True (in the command --allow-external) reads it"


def is_allowed(given: bool | None) -> bool:
    """Return whether files elsewhere are followed: as it was given, else as the command was told."""
    return _ALLOWED.get() if given is None else given


@contextmanager
def allowing(is_allowed: bool) -> Generator[None]:
    """Open files within the block so that they follow others, or do not, where they are not told."""
    token = _ALLOWED.set(is_allowed)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def check_path(folder: str | None, path: str, what: str) -> None:
    """Raise UnsupportedError for a path that is not below a folder, whose links are resolved."""
    place = os.path.realpath(path)
    if folder is None or os.path.commonpath([folder, place]) != folder:
        raise UnsupportedError(f"{what} in {path}, which is not beside the file: {ADVICE}")
