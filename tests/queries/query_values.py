"""Words, types and values of `*.test` files; README.md describes them.

In: a line of a file. Out: its words, and what they say: plain numbers, texts and bytes, no arrays.
Invariant: a word that is no value of its type, or does not fit it, is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

#: Integers, with their least and greatest values.
INTEGERS = {
    f"{sign}{bits // 8}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if sign == "i" else (0, 2**bits - 1)
    for sign in "iu"
    for bits in (8, 16, 32, 64)
}
FLOATS, COMPLEX, SIZED, TIMES = ("f2", "f4", "f8"), ("c8", "c16"), ("bytes", "chars"), ("time", "span")
UNITS = ("W", "D", "h", "m", "s", "ms", "us", "ns")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*")
INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[0-9]+)?|-?inf|nan")
_TIME = re.compile(
    r"-?[0-9]{4,}(-[0-9]{2}(-[0-9]{2}(T[0-9]{2}(:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?)?)?)?)?|nat"
)
#: What stands for characters behind a backslash.
_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "t": "\t", "0": "\0"}


class MalformedError(ValueError):
    """A file that the format does not allow."""


@dataclass(frozen=True)
class Time:
    """A time as text, "nat" for none, and how many units come after it."""

    text: str
    more: int = 0


@dataclass(frozen=True)
class Type:
    """What one value is. base: the word before the colon. size: of bytes and characters. unit: of times."""

    base: str
    size: int = 0
    unit: str = ""
    is_swapped: bool = False


@dataclass(frozen=True)
class Column:
    """A column of a table; `path` has the names of nests, with slashes."""

    path: str
    type: Type
    is_nullable: bool = False
    shape: tuple[int, ...] = ()
    zone: str | None = None
    categories: tuple[Any, ...] | None = None
    is_ordered: bool = False
    members: dict[str, int] | None = None


def words_of(line: str) -> list[Any]:
    """Return the words of a line: str for bare ones, `Quoted`, and lists for what stands in brackets.

    Raises MalformedError.
    """
    stack: list[list[Any]] = [[]]
    at = 0
    while at < len(line):
        if line[at] == " ":
            at += 1
        elif line[at] == "[":
            stack.append([])
            at += 1
        elif line[at] == "]":
            if len(stack) == 1:
                raise MalformedError("a bracket is closed that was not opened")
            stack[-2].append(stack.pop())
            at += 1
        elif line[at] == '"':
            value, at = _quoted(line, at + 1)
            stack[-1].append(value)
        else:
            end = at
            while end < len(line) and line[end] not in ' []"':
                end += 1
            stack[-1].append(line[at:end])
            at = end
    if len(stack) > 1:
        raise MalformedError("a bracket is not closed")
    return stack[0]


class Quoted:
    """Text in quotes, whose `\\x` escapes are bytes."""

    def __init__(self, parts: list[str | int]) -> None:
        self.parts = parts

    def text(self) -> str:
        """As text. Raises MalformedError for bytes."""
        if any(isinstance(one, int) for one in self.parts):
            raise MalformedError("\\x is for bytes")
        return "".join(map(str, self.parts))

    def raw(self) -> bytes:
        """As bytes: of characters those of UTF-8."""
        return b"".join(bytes([one]) if isinstance(one, int) else one.encode() for one in self.parts)


def _quoted(line: str, at: int) -> tuple[Quoted, int]:
    parts: list[str | int] = []
    while at < len(line) and line[at] != '"':
        if line[at] != "\\":
            parts.append(line[at])
            at += 1
            continue
        sign = line[at + 1 : at + 2]
        if sign in _ESCAPES and sign:
            parts.append(_ESCAPES[sign])
            at += 2
        elif found := re.compile(r"\\x([0-9a-f]{2})").match(line, at):
            parts.append(int(found[1], 16))
            at = found.end()
        elif found := re.compile(r"\\u\{([0-9a-f]{1,6})\}").match(line, at):
            parts.append(chr(int(found[1], 16)))
            at = found.end()
        else:
            raise MalformedError(f"{line[at : at + 2]}: not an escape")
    if at == len(line):
        raise MalformedError("a quote is not closed")
    if line[at + 1 : at + 2] not in ("", " ", "]"):
        raise MalformedError("a quote is closed within a word")
    return Quoted(parts), at + 1


def type_of(word: Any) -> Type:
    """Return the type that a word names. Raises MalformedError."""
    if isinstance(word, str):
        is_swapped = word.startswith(">")
        base, colon, rest = word.removeprefix(">").partition(":")
        if not colon and (base in INTEGERS or base in FLOATS or base in COMPLEX):
            return Type(base, is_swapped=is_swapped)
        if not is_swapped and not colon and base in ("bool", "text", "time32", "time64", "int", "float"):
            return Type(base)
        if not is_swapped and base in SIZED and INTEGER.fullmatch(rest) and int(rest) > 0:
            return Type(base, size=int(rest))
        if not is_swapped and base in TIMES and rest in UNITS:
            return Type(base, unit=rest)
    raise MalformedError(f"{word!r}: not a type")


def value_of(word: Any, kind: Type) -> Any:
    """Return a value of a type. Raises MalformedError for what is none, or does not fit it."""
    base = kind.base
    if base in ("text", *SIZED):
        return _text_of(word, kind)
    if not isinstance(word, str):
        raise MalformedError(f"a value of {base} is a bare word")
    if base in INTEGERS or base in ("int", "time32"):
        least, greatest = INTEGERS.get(base, INTEGERS["i4"] if base == "time32" else (-(2**70), 2**70))
        if INTEGER.fullmatch(word) and least <= int(word) <= greatest:
            return int(word)
    elif base in FLOATS or base in ("float", "time64"):
        if _FLOAT.fullmatch(word):
            return float(word)
    elif base in COMPLEX:
        real, comma, imag = word.partition(",")
        if comma and _FLOAT.fullmatch(real) and _FLOAT.fullmatch(imag):
            return complex(float(real), float(imag))
    elif base == "bool" and word in ("true", "false"):
        return word == "true"
    elif base == "time" and _TIME.fullmatch(word):
        return Time(word)
    elif base == "span" and (word == "nat" or INTEGER.fullmatch(word)):
        return Time("nat") if word == "nat" else int(word)
    raise MalformedError(f"{word!r}: not a value of {base}")


def _text_of(word: Any, kind: Type) -> str | bytes:
    if not isinstance(word, Quoted):
        raise MalformedError(f"{word!r}: text stands in quotes")
    value = word.raw() if kind.base == "bytes" else word.text()
    if kind.size and len(value) > kind.size:
        raise MalformedError(f"{value!r}: more than {kind.size} {kind.base}")
    return value


def cell_of(word: Any, column: Column) -> Any:
    """Return the value of a cell: None for null, lists for axes. Raises MalformedError."""
    if word == "null":
        if not column.is_nullable:
            raise MalformedError(f"{column.path} has no nulls")
        return None
    value = _nested(word, column.type, column.shape)
    if column.categories is not None and value not in column.categories:
        raise MalformedError(f"{value!r} is no category of {column.path}")
    return value


def _nested(word: Any, kind: Type, shape: tuple[int, ...]) -> Any:
    if not shape:
        return value_of(word, kind)
    if not isinstance(word, list) or len(word) != shape[0]:
        raise MalformedError(f"{shape[0]} values in brackets are wanted")
    return [_nested(one, kind, shape[1:]) for one in word]
