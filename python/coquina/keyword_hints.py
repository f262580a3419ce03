"""Wrong keywords name the right ones: those of other libraries, and those that are spelled almost as ours.

In: a function and a keyword that it does not have. Out: TypeError, which says what to write.
"""

from __future__ import annotations

import re
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from coquina.foreign_words import CALLS, FILE_OPTIONS, FOREIGN, PLACES, THREADS, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_P = ParamSpec("_P")
_R = TypeVar("_R")
#: Keywords that functions of tables alone have.
_OF_TABLES = frozenset({"columns", "condition", "params"})
#: What Python says of a keyword that a function does not have.
_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'")


def check_keywords(writer: Callable[..., Any], given: Mapping[str, Any], kinds: Any) -> None:
    """Raise TypeError for a keyword that `kinds`, the TypedDict of a writer, does not have."""
    check_names(writer, given, kinds.__annotations__)


def check_names(function: Callable[..., Any], given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Raise TypeError for a keyword that is none of `known`, beside those that the function has itself."""
    if given.keys() <= known.keys():
        return
    for name, value in given.items():
        if name not in known:
            raise _wrong(function, name, value, [*known, *_own_keywords(function)])


def names_keywords(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Have a function without `**storage` name the right keyword where it gets a wrong one."""

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            wrong = _UNEXPECTED.search(str(error))
            # What fails inside of the function has its frame; a call that does not fit has none.
            is_call = error.__traceback__ is not None and error.__traceback__.tb_next is None
            if wrong is None or not is_call:
                raise
            name = wrong[1]
            raise _wrong(function, name, kwargs.get(name), _own_keywords(function)) from None

    return call


def _wrong(function: Callable[..., Any], name: str, value: object, known: list[str]) -> TypeError:
    place = function.__qualname__.removesuffix(".__init__").removeprefix("Queries.")
    return TypeError(f"{place}() got an unexpected keyword argument {name!r}; {advice(name, value, known)}")


def _own_keywords(function: Callable[..., Any]) -> list[str]:
    kinds = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    parameters = signature(function).parameters.values()
    return [one.name for one in parameters if one.name != "self" and one.kind in kinds]


def near_word(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the word that a name is most like, or None; see `near_words`."""
    found = near_words(name, known, 1, cutoff)
    return found[0] if found else None


def near_words(name: str, known: Iterable[str], count: int, cutoff: float = 0.6) -> list[str]:
    """Return the words that a name is most like, at most `count`: those that differ in case alone, if any.

    cutoff: how like, from 0 to 1.
    """
    from difflib import get_close_matches

    words = list(known)
    same = [word for word in words if word.lower() == name.lower()]
    return same[:count] or get_close_matches(name, words, count, cutoff)


def no_key(name: Any, names: Iterable[str]) -> KeyError:
    """Return the KeyError for a name that is none of `names`, which says which one may be meant."""
    near = near_word(name, names) if isinstance(name, str) else None
    return KeyError(name) if near is None else KeyError(f"there is no {name!r}; did you mean {near!r}?")


def advice(name: str, value: object, known: list[str]) -> str:
    """Say which keyword was meant, or what there is."""
    if meant := translated(name, value, known):
        return f"did you mean {meant}?"
    if name in THREADS:
        return "set_num_threads(n), or COQUINA_NUM_THREADS in the environment, says how many threads work"
    if name in CALLS and not _OF_TABLES.isdisjoint(known):
        return CALLS[name]
    if name not in FOREIGN and (near := near_word(name, known)):
        return f"did you mean {near!r}?"
    if name in FILE_OPTIONS and "allow_external" in known:
        return f"coquina.hdf5.File(path, mode, {name}=...) takes it"
    if "values" in known and "rows" in known:
        return f"values are given by column, as {{{name!r}: ...}}"
    if "params" in known:
        return f"values of names in a condition are given as params={{{name!r}: ...}}"
    takes = f"it takes {', '.join(sorted(known))}" if known else "it takes no keywords"
    is_storage = name in FOREIGN and name not in PLACES and "codec" not in known
    return f"how data are stored is not said here; {takes}" if is_storage else takes
