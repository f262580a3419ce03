"""Whether queries use indexes: as they see fit, always where they can, or never. For tests.

Invariant: answers are the same, whatever this says.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Generator

_MODE: ContextVar[Literal["chosen", "always", "never"]] = ContextVar("coquina_indexes", default="chosen")


def is_disabled() -> bool:
    """Whether no index is used."""
    return _MODE.get() == "never"


def is_forced() -> bool:
    """Whether indexes are used wherever they know something, though a scan may be faster."""
    return _MODE.get() == "always"


@contextmanager
def disabled() -> Generator[None]:
    """Use no index in the `with` block, in this thread."""
    token = _MODE.set("never")
    try:
        yield
    finally:
        _MODE.reset(token)


@contextmanager
def forced() -> Generator[None]:
    """Use indexes in the `with` block, in this thread, wherever they know something of a condition."""
    token = _MODE.set("always")
    try:
        yield
    finally:
        _MODE.reset(token)
