"""MessagePack: plain values as bytes, and back.

In: None, bool, int of 64 bits, float, str, bytes, list, dict and `Ext`, nested; what else there is, a
function says in these. Out: the shortest bytes of each, floats in 8 bytes, as the `msgpack` package writes
them. Source: docs/formats/b2nd.md, "Metadata values". Invariant: lengths are held against the bytes that are
left before anything is made of them, so hostile bytes give ValueError and no memory beyond a few times their
length.
"""

from __future__ import annotations

from struct import pack as pack_numbers
from struct import unpack_from
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_DEPTH_MAX = 250

#: Marks of numbers of a fixed width: mark, format, width.
_NUMBERS = {
    0xCA: (">f", 4),
    0xCB: (">d", 8),
    0xCC: (">B", 1),
    0xCD: (">H", 2),
    0xCE: (">I", 4),
    0xCF: (">Q", 8),
    0xD0: (">b", 1),
    0xD1: (">h", 2),
    0xD2: (">i", 4),
    0xD3: (">q", 8),
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
#: Marks of what begins with a length of 1, 2 or 4 bytes: what it is, and the format of the length.
_SIZED = {
    0xC4: ("bytes", ">B"),
    0xC5: ("bytes", ">H"),
    0xC6: ("bytes", ">I"),
    0xC7: ("ext", ">B"),
    0xC8: ("ext", ">H"),
    0xC9: ("ext", ">I"),
    0xD9: ("str", ">B"),
    0xDA: ("str", ">H"),
    0xDB: ("str", ">I"),
    0xDC: ("list", ">H"),
    0xDD: ("list", ">I"),
    0xDE: ("dict", ">H"),
    0xDF: ("dict", ">I"),
}
_WIDTHS = {">B": 1, ">H": 2, ">I": 4}


class Ext(NamedTuple):
    """Bytes of a kind that an application knows, by a code from -128 to 127."""

    code: int
    data: bytes


def pack(value: Any, encode: Callable[[Any], Any]) -> bytes:
    """Return the bytes of a value; `encode` says what is not plain in other words.

    Raises TypeError if `encode` does or gives what is not plain either, ValueError for what is too deep or
    too long, OverflowError for integers of more than 64 bits.
    """
    parts: list[bytes] = []
    _pack(value, encode, parts, 0)
    return b"".join(parts)


def _pack(value: Any, encode: Callable[[Any], Any], parts: list[bytes], depth: int) -> None:
    if depth > _DEPTH_MAX:
        raise ValueError(f"values nested more than {_DEPTH_MAX} times")
    kind = cast("type[Any]", type(value))
    if kind not in _PLAIN:
        value = encode(value)
        kind = cast("type[Any]", type(value))
        if kind not in _PLAIN:
            raise TypeError(f"a value of type {kind.__name__} is not plain")
    if kind is list:
        parts.append(head("list", len(value)))
        for item in value:
            _pack(item, encode, parts, depth + 1)
    elif kind is dict:
        parts.append(head("dict", len(value)))
        for key, item in value.items():
            _pack(key, encode, parts, depth + 1)
            _pack(item, encode, parts, depth + 1)
    else:
        parts.append(_leaf(value))


_PLAIN = frozenset({type(None), bool, int, float, str, bytes, list, dict, Ext})


def _leaf(value: Any) -> bytes:
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return _integer(value)
        case float():
            return b"\xcb" + pack_numbers(">d", value)
        case str():
            content = value.encode()
            return head("str", len(content)) + content
        case bytes():
            return head("bytes", len(value)) + value
        case _:
            return _ext_head(value) + value.data


def _integer(value: int) -> bytes:
    if -32 <= value < 128:
        return pack_numbers(">b", value)
    forms = (0xCC, 0xCD, 0xCE, 0xCF) if value >= 0 else (0xD0, 0xD1, 0xD2, 0xD3)
    for mark in forms:
        form, width = _NUMBERS[mark]
        bits = 8 * width - (value < 0)
        if -(1 << bits) <= value < 1 << bits:
            return bytes([mark]) + pack_numbers(form, value)
    raise OverflowError(f"the integer {value} has more than 64 bits")


#: The first byte of what is short, and how many are short, by kind.
_SHORT = {"str": (0xA0, 32), "list": (0x90, 16), "dict": (0x80, 16)}


def head(kind: str, length: int) -> bytes:
    """Return what stands before a "str", "bytes", "list" or "dict" of so many bytes or items, or an "ext"."""
    first, limit = _SHORT.get(kind, (0, 0))
    if length < limit:
        return bytes([first + length])
    for mark, (name, form) in _SIZED.items():
        if name == kind and length < 1 << 8 * _WIDTHS[form]:
            return bytes([mark]) + pack_numbers(form, length)
    raise ValueError(f"{length} items or bytes are more than 32 bits count")


def _ext_head(value: Ext) -> bytes:
    length = len(value.data)
    if length in (1, 2, 4, 8, 16):
        return pack_numbers(">Bb", 0xD4 + length.bit_length() - 1, value.code)
    return head("ext", length) + pack_numbers(">b", value.code)


def unpack(
    content: bytes, decode: Callable[[int, bytes], Any], of_list: Callable[[list[Any]], Any] = list[Any]
) -> Any:
    """Return the value of bytes.

    decode: makes a value of an extension's code and bytes. of_list: makes a value of a list.

    Raises ValueError for bytes that are no value, or more than one; TypeError for keys that cannot be keys.
    """
    reader = _Reader(content, decode, of_list)
    value = reader.value(0)
    if reader.at != len(content):
        raise ValueError(f"{len(content) - reader.at} bytes after the value")
    return value


def unpack_all(
    content: bytes, decode: Callable[[int, bytes], Any], of_list: Callable[[list[Any]], Any] = list[Any]
) -> list[Any]:
    """Return the values that stand one behind the other; see `unpack`."""
    reader = _Reader(content, decode, of_list)
    values: list[Any] = []
    while reader.at < len(content):
        values.append(reader.value(0))
    return values


class _Reader:
    def __init__(
        self, content: bytes, decode: Callable[[int, bytes], Any], of_list: Callable[[list[Any]], Any]
    ) -> None:
        self.content = content
        self.at = 0
        self.decode = decode
        self.of_list = of_list

    def value(self, depth: int) -> Any:
        """Read a value, and stand behind it."""
        if depth > _DEPTH_MAX:
            raise ValueError(f"values nested more than {_DEPTH_MAX} times")
        mark = self._number(">B", 1)
        if mark < 0x80:
            return mark
        if mark >= 0xE0:
            return mark - 256
        if mark in _CONSTANTS:
            return _CONSTANTS[mark]
        if mark in _NUMBERS:
            return self._number(*_NUMBERS[mark])
        kind, length = self._sized(mark)
        if kind == "list":
            self._check(length)
            return self.of_list([self.value(depth + 1) for _ in range(length)])
        if kind == "dict":
            self._check(2 * length)
            return {self.value(depth + 1): self.value(depth + 1) for _ in range(length)}
        if kind == "ext":
            return self.decode(self._number(">b", 1), self._bytes(length))
        content = self._bytes(length)
        return content if kind == "bytes" else content.decode()

    def _sized(self, mark: int) -> tuple[str, int]:
        """Return what begins with a mark, and its length."""
        if mark in _SIZED:
            kind, form = _SIZED[mark]
            return kind, self._number(form, _WIDTHS[form])
        if 0xD4 <= mark <= 0xD8:
            return "ext", 1 << (mark - 0xD4)
        for kind, (first, count) in _SHORT.items():
            if first <= mark < first + count:
                return kind, mark - first
        raise ValueError(f"the byte 0x{mark:02x} begins no value")

    def _number(self, form: str, width: int) -> Any:
        self._check(width)
        self.at += width
        return unpack_from(form, self.content, self.at - width)[0]

    def _bytes(self, length: int) -> bytes:
        self._check(length)
        self.at += length
        return self.content[self.at - length : self.at]

    def _check(self, length: int) -> None:
        if length > len(self.content) - self.at:
            raise ValueError(f"{length} bytes at {self.at} of {len(self.content)}")
