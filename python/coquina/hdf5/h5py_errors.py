"""What h5py says of closed files, of files that are open for reading, and of text: with what to do about it.

In: a method that calls h5py, and its error. Out: an error of its type with another sentence, or that error.
"""

from __future__ import annotations

import re
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_P = ParamSpec("_P")
_R = TypeVar("_R")
_ERRORS = (ValueError, KeyError, OSError, RuntimeError, TypeError)


def explained(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Have a method of what wraps an object of h5py, `_h5` or `_parent`, raise errors that say what to do."""

    @wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return method(*args, **kwargs)
        except _ERRORS as error:
            own = cast("Any", args[0])
            # A closed object of h5py is false.
            h5 = getattr(own, "_h5", None)
            sentence = _sentence(own._parent if h5 is None else h5, error)
            if sentence is None:
                raise
            raise type(error)(sentence) from error

    return call


def takes_one_path(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Have a method that makes a node say how its path is written, if it gets a group and a name."""

    @wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if len(args) > _PATH_AND_NAME and all(isinstance(one, str) for one in args[1:3]):
            above, name = cast("tuple[str, str]", args[1:3])
            raise TypeError(f"{method.__name__}: takes one path: {above.rstrip('/')}/{name}")
        return method(*args, **kwargs)

    return call


def check_open(h5: Any) -> None:
    """Raise ValueError if an object of h5py, or its file, was closed."""
    if not h5:
        raise ValueError(_CLOSED)


#: The object, and what comes before a name of its own.
_PATH_AND_NAME = 2
_CLOSED = "the file is closed; open it again"


def _sentence(h5: Any, error: Exception) -> str | None:
    if not h5:
        return _CLOSED
    if "no write intent" in str(error):
        return f"{h5.file.filename}: the file is open for reading only; open it with mode 'r+'"
    # Text of Python and lists of it are stored; arrays of NumPy's U are not.
    if wide := re.search(r"No conversion path for dtype: dtype\('([<>]U\d+)'\)", str(error)):
        return f"dtype {wide[1]}: HDF5 has no datatype for it; store x.tolist() for text, or x.astype('S')"
    if "Object dtype dtype('O') has no native HDF5 equivalent" in str(error):
        return "HDF5 has no datatype for Python objects; store numbers, text, lists of them, or json.dumps(x)"
    if time := re.search(r"No conversion path for dtype: dtype\('[<>]([mM]8\S*)'\)", str(error)):
        return f"dtype {time[1]}: HDF5 has no datatype for it; store text, as str(x), or x.astype('i8')"
    return None


__all__ = ["check_open", "explained", "takes_one_path"]
