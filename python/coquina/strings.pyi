"""The functions of strings, for type checkers; `tools/function_stub.py` writes it."""

from typing import Any, Protocol

from coquina.arrays.array import Array
from coquina.expressions.expression import Expr

class Unary(Protocol):
    """A function of each string."""

    def __call__(self, a: Any, /) -> Array | Expr: ...

class Binary(Protocol):
    """A function of each string, and of another one."""

    def __call__(self, a: Any, sub: Any, /) -> Array | Expr: ...

capitalize: Unary
contains: Binary
count: Binary
endswith: Binary
find: Binary
isalnum: Unary
isalpha: Unary
isdecimal: Unary
isdigit: Unary
islower: Unary
isnumeric: Unary
isspace: Unary
istitle: Unary
isupper: Unary
lower: Unary
lstrip: Unary
rfind: Binary
rstrip: Unary
startswith: Binary
str_len: Unary
strip: Unary
swapcase: Unary
title: Unary
upper: Unary

__all__: list[str] = [
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
