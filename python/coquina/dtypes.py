"""Dtypes as the text that stands in a file, and back.

In: a NumPy dtype. Out: its text, and a dtype of the same layout from it.
Source: docs/formats/b2nd.md, "Metalayer". Texts of files are hostile: they are checked token by token, parsed
as literals and rebuilt part by part, so that NumPy sees nothing that was not looked at. Nothing is evaluated.
Invariant: `parse_dtype(dtype_text(dtype), dtype.itemsize) == dtype`.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import CorruptError, UnsupportedError

if TYPE_CHECKING:
    from typing import TypeAlias

    Dtype: TypeAlias = np.dtype[Any]

#: Characters of a text, and nested brackets in it: enough for thousands of fields, and far from what hurts
#: Python's parser.
TEXT_MAX = 1 << 18
DEPTH_MAX = 32

_UNITS = "Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as|generic"
_PLAIN = re.compile(
    rf"[<>=|]?(?:\?|b1|[iufc][0-9]{{1,2}}|[SUV][0-9]{{0,10}}|[mM]8(?:\[[0-9]{{0,9}}(?:{_UNITS})\])?|O[0-9]?)"
)
# Names that other writers may give in place of a code.
_NAMES = re.compile(r"bool|u?int(?:8|16|32|64)|float(?:16|32|64)|complex(?:64|128)|object")
# What `repr` makes of a name, and nothing else that a literal could have.
_ESCAPE = r"""\\(?:[\\'"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"""
_STRING = rf"""'(?:[^'\\\n]|{_ESCAPE})*'|"(?:[^"\\\n]|{_ESCAPE})*["]"""
_TOKEN = re.compile(rf"{_STRING}|-?[0-9]{{1,19}}(?![0-9])|True|False|None|[\[\](){{}},: ]")
_OPENING, _CLOSING = "[({", "])}"
_KEYS = {"names", "formats", "offsets", "titles", "itemsize", "aligned"}


class _UnknownError(Exception):
    """The text is not a dtype that we know."""


def dtype_text(dtype: Dtype) -> str:
    """Return the text of `dtype`, as it stands in files.

    Raises TypeError for dtypes that a file cannot hold: objects, no bytes, sub-arrays (which are axes of an
    array), and types that NumPy has no code for.
    """
    if dtype.names is not None:
        return _text_of_fields(dtype, dtype.isalignedstruct)
    if dtype.kind == "T":
        raise TypeError(
            f"dtype {dtype} cannot be stored: arrays have text of a fixed width, as 'U20' is; "
            "tables have any length"
        )
    if dtype.hasobject:
        raise TypeError(f"dtype {dtype}: objects are references, which cannot be stored")
    # Types of other packages call themselves void.
    if dtype.itemsize == 0 or dtype.subdtype is not None or dtype.isbuiltin == 2:
        raise TypeError(f"dtype {dtype}: cannot be stored; elements need a fixed size and no references")
    return dtype.str


def parse_dtype(text: str | None, typesize: int) -> Dtype:
    """Return the dtype that `text` describes, for items of `typesize` bytes.

    Items whose text is missing (None or empty) or not understood are bytes: `V` and the typesize. Raises
    UnsupportedError for objects, CorruptError if the dtype has another size.
    """
    dtype = _parsed(text) if text else None
    if dtype is None:
        return np.dtype(f"V{typesize}")
    if dtype.hasobject:
        raise UnsupportedError(
            f"dtype {dtype}: Python objects are not read, because reading them could run code"
        )
    if dtype.itemsize != typesize:
        raise CorruptError(f"dtype {dtype}: has {dtype.itemsize} bytes, the items have {typesize}")
    return dtype


def known_dtype(text: str) -> Dtype:
    """Return the dtype that `text` describes. Raises ValueError if it is not understood."""
    dtype = _parsed(text)
    if dtype is None:
        raise ValueError(f"dtype {text[:80]!r} is not known")
    return dtype


@lru_cache(maxsize=32)
def _text_of_fields(dtype: Dtype, is_aligned: bool) -> str:
    # An aligned struct equals one of the same layout that is not marked so, whose text is another.
    if dtype.hasobject:
        raise TypeError(f"dtype {dtype}: objects are references, which cannot be stored")
    text = str(_printable(dtype, is_aligned))
    if dtype.itemsize == 0 or _parsed(text) != dtype:
        raise TypeError(f"dtype {dtype}: cannot be stored; elements need a fixed size and no references")
    return text


def _printable(dtype: Dtype, align: bool) -> Dtype:
    """Return `dtype` so that NumPy prints all of its layout.

    It has `np.void` for `np.record`: how items look in Python is not in a file. And structs in it are not
    marked as aligned: else NumPy takes their gaps as understood, and leaves them out.
    """
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((_printable(base, align), shape))
    if dtype.names is None:
        return dtype
    known = cast("dict[str, tuple[Any, ...]]", dtype.fields)
    fields = [known[name] for name in dtype.names]
    parts = {
        "names": list(dtype.names),
        "formats": [_printable(field[0], align=False) for field in fields],
        "offsets": [field[1] for field in fields],
        "titles": [field[2] if len(field) > 2 else None for field in fields],
        "itemsize": dtype.itemsize,
    }
    return np.dtype(cast("Any", parts), align=align)


@lru_cache(maxsize=32)
def _parsed(text: str) -> Dtype | None:
    """Return the dtype of a text, None for one that is not understood."""
    try:
        if text[0] not in _OPENING:
            return _plain(text)
        _check_tokens(text)
        node = ast.literal_eval(text)
        # A sub-array is no item: NumPy makes more axes of it.
        return None if isinstance(node, tuple) else _built(node)
    except (_UnknownError, TypeError, ValueError, SyntaxError, OverflowError, MemoryError, RecursionError):
        return None


def _check_tokens(text: str) -> None:
    """Let nothing pass but strings, small integers, truth values and brackets of little depth."""
    if len(text) > TEXT_MAX:
        raise _UnknownError
    at = depth = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise _UnknownError
        depth += (token[0] in _OPENING) - (token[0] in _CLOSING)
        if depth > DEPTH_MAX:
            raise _UnknownError
        at = token.end()


def _plain(text: str) -> Dtype:
    if _PLAIN.fullmatch(text) is None and _NAMES.fullmatch(text) is None:
        raise _UnknownError
    return np.dtype(text)


def _built(node: Any) -> Dtype:
    """Return the dtype of a parsed literal, after a look at each of its parts."""
    match node:
        case str():
            return _plain(node)
        case list():
            return np.dtype([_field(field) for field in cast("list[Any]", node)])
        case dict():
            return _laid_out(cast("dict[Any, Any]", node))
        case (kind, shape):
            return np.dtype((_built(kind), _shape(shape)))
        case _:
            raise _UnknownError


def _field(node: Any) -> Any:
    match node:
        case (name, kind):
            return (_name(name), _built(kind))
        case (name, kind, shape):
            return (_name(name), _built(kind), _shape(shape))
        case _:
            raise _UnknownError


def _name(node: Any) -> str | tuple[str, str]:
    match node:
        case str():
            return node
        case (str(title), str(name)):
            return (title, name)
        case _:
            raise _UnknownError


def _shape(node: Any) -> tuple[int, ...]:
    if type(node) is int:
        return (node,)
    if isinstance(node, tuple) and all(type(n) is int for n in cast("tuple[Any, ...]", node)):
        return cast("tuple[int, ...]", node)
    raise _UnknownError


def _laid_out(node: dict[Any, Any]) -> Dtype:
    """Return the dtype of fields whose places are given."""
    if not {"names", "formats"} <= node.keys() <= _KEYS:
        raise _UnknownError
    parts: dict[str, Any] = {
        "names": _list_of(node["names"], str),
        "formats": [_built(kind) for kind in _list_of(node["formats"], str, list, dict, tuple)],
    }
    if "offsets" in node:
        parts["offsets"] = _list_of(node["offsets"], int)
    if "titles" in node:
        parts["titles"] = _list_of(node["titles"], str, type(None))
    if "itemsize" in node:
        (parts["itemsize"],) = _list_of([node["itemsize"]], int)
    return np.dtype(cast("Any", parts), align=node.get("aligned") is True)


def _list_of(node: Any, *kinds: type) -> list[Any]:
    """Return `node` if it is a list of these types, and of none that only pass for them."""
    if not isinstance(node, list) or any(type(part) not in kinds for part in cast("list[Any]", node)):
        raise _UnknownError
    return cast("list[Any]", node)
