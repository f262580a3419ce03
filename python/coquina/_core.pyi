"""The compiled engine. Users import these names from `coquina`."""

from collections.abc import Buffer, Callable, Iterable
from typing import Any, Literal

__version__: str

type Filters = str | tuple[str, int] | Iterable[str | tuple[str, int]]

class CoquinaError(Exception):
    """Base of the exceptions that only coquina raises."""

class CorruptError(CoquinaError):
    """The bytes contradict their format, or are damaged."""

class TruncatedError(CorruptError):
    """The bytes end before what they announce."""

class UnsupportedError(CoquinaError):
    """Well formed, but this build lacks what it needs."""

class LimitError(CoquinaError):
    """More bytes than the format or a given limit allows."""
