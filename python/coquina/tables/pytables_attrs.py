"""The attributes of PyTables' nodes, with no pickle ever loaded.

In: a node of h5py. Out: its attributes as PyTables would give them, as far as they are plain: numbers,
arrays, strings, truth values; and what is pickled by protocol 0 of numbers, strings, None, lists, tuples and
dicts, by a decoder that can make nothing else.
Source: docs/formats/pytables-nodes.md; the opcodes are those of Python's `pickletools`.
Invariant: nothing is called, imported or looked up by what an attribute says.
"""

from __future__ import annotations

import pickletools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.hdf5.attributes import check
from coquina.hdf5.item_types import is_fixed
from coquina.hdf5.untyped import h5a, h5py, h5s, h5t

if TYPE_CHECKING:
    from collections.abc import Callable

_SYSTEM = frozenset(
    {"CLASS", "VERSION", "TITLE", "PYTABLES_FORMAT_VERSION", "FLAVOR", "NODE_TYPE", "PSEUDOATOM"}
)
_MARK = object()


class Pickled(bytes):
    """An attribute that holds a pickled object, as its bytes: it is not loaded, since that may run code."""

    __slots__ = ()


def pytables_attrs(node: Any) -> dict[str, Any]:
    """Return the attributes of a node of h5py, or of ours, by name.

    Strings of PyTables' own and those in UTF-8 are str, other ones bytes; bit fields of 8 bits are bool; what
    is pickled is its value if it is made of numbers, strings, None, lists, tuples and dicts, else `Pickled`.
    Items that NumPy has no dtype for are `numpy.void`. None stands for what has no item, "" for such strings.
    """
    h5 = getattr(node, "h5", node)
    return {name: _value(h5, name) for name in sorted(h5.attrs)}


def _value(h5: Any, name: str) -> Any:
    value = _stored(h5, name)
    if not isinstance(value, bytes):
        return value
    if name in _SYSTEM or (name.startswith("FIELD_") and name.endswith("_NAME")):
        return value.decode("utf-8", "replace")
    return unpickled(value) if value.endswith(b".") and value != b"0." else value


def _stored(h5: Any, name: str) -> Any:
    """Return the value as it is stored: strings that are not UTF-8 as bytes."""
    attribute = h5a.open(h5.id, name.encode())
    tid = attribute.get_type()
    is_text = isinstance(tid, h5t.TypeStringID)
    is_utf8 = is_text and tid.get_cset() == h5t.CSET_UTF8
    if attribute.get_space().get_simple_extent_type() == h5s.NULL:
        return ("" if is_utf8 else b"") if is_text else None
    try:
        check(h5.id)
        value = h5.attrs[name]
    except (TypeError, ValueError, OSError):
        return _bytes(attribute, tid)
    if isinstance(tid, h5t.TypeBitfieldID) and tid.get_size() == 1:
        return np.asarray(value) != 0 if np.ndim(value) else bool(value)
    if isinstance(value, h5py.Empty):
        return None
    if is_text and attribute.shape == () and isinstance(value, bytes):
        value = bytes(value)
        return value.decode("utf-8", "replace") if is_utf8 else value
    return value


def _bytes(attribute: Any, tid: Any) -> Any:
    """Return the items of an attribute as bytes without meaning, None where that would be addresses."""
    if not is_fixed(tid):
        return None
    values: Any = np.empty(attribute.shape, f"V{tid.get_size()}")
    attribute.read(values, tid)
    return values[()]


def unpickled(raw: bytes) -> Any:
    """Return what pickled bytes hold, if that is plain; else `Pickled`, or `raw` if they are no pickle.

    Raises nothing, whatever the bytes are.
    """
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    needs_code = False
    try:
        for name, argument in _steps(raw):
            needs_code = needs_code or name in _CODE
            if not needs_code and name != "STOP":
                _step(name, argument, stack, memo)
        (value,) = [Pickled(raw)] if needs_code else stack
    except _NotPlainError:
        return Pickled(raw)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
        return Pickled(raw) if needs_code else raw
    return raw if value is _MARK else value


def _steps(raw: bytes) -> list[tuple[str, Any]]:
    """Return the names of the opcodes, with their arguments, up to one that is none (named "")."""
    found: list[tuple[str, Any]] = []
    with warnings.catch_warnings():
        # Python warns of escapes in strings that mean nothing.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            found.extend((opcode.name, argument) for opcode, argument, _ in pickletools.genops(raw))
        except (ValueError, OverflowError):
            # Strings of Python 2 that are not ASCII, or what is no pickle.
            found.append(("", None))
    return found


class _NotPlainError(Exception):
    """A pickle of something else than plain values."""


#: What names a class, a function, or something outside of the pickle. Without one of these nothing is called.
_CODE = frozenset({"GLOBAL", "STACK_GLOBAL", "INST", "EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID"})
_VALUES = frozenset({"INT", "LONG", "FLOAT", "STRING", "UNICODE", "NONE"})


def _step(name: str, argument: Any, stack: list[Any], memo: dict[int, Any]) -> None:
    """Take a step of protocol 0. Raises LookupError for an opcode that it has not, what wrong ones raise."""
    if name in _VALUES:
        stack.append(argument)
    elif name == "MARK":
        stack.append(_MARK)
    elif name == "PUT":
        memo[argument] = stack[-1]
    elif name == "GET":
        stack.append(memo[argument])
    elif name == "APPEND":
        _extend(stack[-2], [stack.pop()])
    elif name == "SETITEM":
        value, key = stack.pop(), stack.pop()
        stack[-1].update(_dict([key, value]))
    else:
        make = _MADE[name]
        items: list[Any] = []
        while stack[-1] is not _MARK:
            items.append(stack.pop())
        stack[-1] = make(items[::-1])


def _extend(target: list[Any], items: list[Any]) -> None:
    if items[0] is _MARK:
        raise ValueError("a mark is not a value")
    target.extend(items)


def _dict(items: list[Any]) -> dict[Any, Any]:
    keys, values = items[::2], items[1::2]
    if any(item is _MARK for item in items):
        raise ValueError("a mark is not a value")
    # Tuples of tuples may be deeper than what the computing of a hash can bear.
    if not all(isinstance(key, str | int | float | None) for key in keys):
        raise _NotPlainError
    return dict(zip(keys, values, strict=True))


_MADE: dict[str, Callable[[list[Any]], Any]] = {"LIST": list, "TUPLE": tuple, "DICT": _dict}
