"""Functions of strings, item by item: `coquina.strings`, as `numpy.strings`.

In: arrays of `S` or `U` dtypes, expressions, Python strings. Out: an `Array`, computed at once, if all is
    small, else a lazy expression. Comparing and joining are `coquina.equal`, `coquina.add`, and operators.
Source: NumPy's `numpy.strings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.expressions.evaluation import evaluate
from coquina.expressions.functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr


def _unary(name: str, what: str) -> Callable[[Any], Array | Expr]:
    function = FUNCTIONS[name]

    def call(a: Any, /) -> Array | Expr:
        return evaluate(function, a)

    return _named(call, name, what)


def _binary(name: str, what: str) -> Callable[[Any, Any], Array | Expr]:
    function = FUNCTIONS[name]

    def call(a: Any, sub: Any, /) -> Array | Expr:
        return evaluate(function, a, sub)

    return _named(call, name, what)


def _named(call: Any, name: str, what: str) -> Any:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return {what}."
    return call


capitalize = _unary("capitalize", "each string with a capital first and small letters after it")
isalnum = _unary("isalnum", "whether each string has letters and digits only, and at least one")
isalpha = _unary("isalpha", "whether each string has letters only, and at least one")
isdecimal = _unary("isdecimal", "whether each string has decimal characters only, and at least one")
isdigit = _unary("isdigit", "whether each string has digits only, and at least one")
islower = _unary("islower", "whether all letters of each string are small, and there is one")
isnumeric = _unary("isnumeric", "whether each string has numeric characters only, and at least one")
isspace = _unary("isspace", "whether each string has white space only, and at least one")
istitle = _unary("istitle", "whether each word of each string starts with its only capital")
isupper = _unary("isupper", "whether all letters of each string are capitals, and there is one")
lower = _unary("lower", "each string in small letters")
lstrip = _unary("lstrip", "each string without white space in front")
rstrip = _unary("rstrip", "each string without white space at the end")
str_len = _unary("str_len", "the number of characters of each string")
strip = _unary("strip", "each string without white space around it")
swapcase = _unary("swapcase", "each string with small letters for capitals and capitals for small letters")
title = _unary("title", "each string with a capital at the start of each word")
upper = _unary("upper", "each string in capitals")

contains = _binary("contains", "whether `sub` stands anywhere in each string")
count = _binary("count", "how often `sub` stands in each string, without overlap")
endswith = _binary("endswith", "whether each string ends with `sub`")
find = _binary("find", "where `sub` stands first in each string, -1 where it does not")
rfind = _binary("rfind", "where `sub` stands last in each string, -1 where it does not")
startswith = _binary("startswith", "whether each string starts with `sub`")

__all__ = [
    "capitalize",
    "contains",
    "count",
    "endswith",
    "find",
    "isalnum",
    "isalpha",
    "isdecimal",
    "isdigit",
    "islower",
    "isnumeric",
    "isspace",
    "istitle",
    "isupper",
    "lower",
    "lstrip",
    "rfind",
    "rstrip",
    "startswith",
    "str_len",
    "strip",
    "swapcase",
    "title",
    "upper",
]
