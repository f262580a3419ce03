"""Metadata of arrays and frames: mappings from names to values.

In: an array's handle. Out: `Attrs`, which can be changed (each change is a commit), and `Meta`, the fixed
one. Values are those of `msgpack_values`; python-blosc2 reads and writes the same as `vlmeta` and
`schunk.meta`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Protocol

from coquina._core import CoquinaError, CorruptError, UnsupportedError
from coquina.keyword_hints import no_key
from coquina.msgpack_values import pack, unpack


class Layers(Protocol):
    """What holds named pieces of metadata."""

    def layer(self, name: str, /) -> bytes | None:
        """Return the content of a layer."""
        ...

    def set_layer(self, name: str, content: bytes | None, /) -> None:
        """Set or remove a layer."""
        ...

    def layer_names(self) -> list[str]:
        """Return the names of the layers."""
        ...

    def metalayers(self) -> list[tuple[str, bytes]]:
        """Return names and contents of the fixed layers."""
        ...


class Attrs(MutableMapping[str, Any]):
    """Metadata by name. `a.attrs["unit"] = "m"` is written at once, and read as it is asked for.

    Values: None, bool, int, float, complex, str, bytes, NumPy arrays, and lists, tuples, sets and dicts of
        these.
    """

    __slots__ = ("_layers",)

    def __init__(self, layers: Layers) -> None:
        """Made by an array."""
        self._layers = layers

    def __getitem__(self, name: str) -> Any:
        """Return a value. Raises KeyError, CorruptError, UnsupportedError for values that are not read.

        What is no msgpack, as other programs may store it, is its bytes.
        """
        content = self._layers.layer(name)
        if content is None:
            raise no_key(name, self)
        return _value(content)

    def __setitem__(self, name: str, value: Any) -> None:
        """Set a value. Raises TypeError if it cannot be stored, ValueError for a name of over 31 bytes."""
        self._layers.set_layer(name, pack(value))

    def __delitem__(self, name: str) -> None:
        """Remove a value. Raises KeyError."""
        if name not in self:
            raise no_key(name, self)
        self._layers.set_layer(name, None)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a value of that name."""
        return name in self._layers.layer_names()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._layers.layer_names())

    def __len__(self) -> int:
        """Return how many values there are."""
        return len(self._layers.layer_names())

    def __repr__(self) -> str:
        """Show the values that can be read."""
        return f"<Attrs {_shown(self)}>"


class Meta(Mapping[str, Any]):
    """The fixed metadata by name; a piece that is no msgpack value is its bytes."""

    __slots__ = ("_layers",)

    def __init__(self, layers: Layers) -> None:
        """Made by an array."""
        self._layers = layers

    def __getitem__(self, name: str) -> Any:
        """Return a value. Raises KeyError."""
        content = dict(self._layers.metalayers())[name]
        try:
            return _value(content)
        except UnsupportedError:
            return content

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return (name for name, _ in self._layers.metalayers())

    def __len__(self) -> int:
        """Return how many values there are."""
        return len(self._layers.metalayers())

    def __repr__(self) -> str:
        """Show the values."""
        return f"<Meta {_shown(self)}>"


def _value(content: bytes) -> Any:
    """Return the value that msgpack is, and anything else as it is: damage was found before."""
    try:
        return unpack(content)
    except CorruptError:
        return content


def _shown(mapping: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for name in mapping:
        try:
            shown[name] = mapping[name]
        except CoquinaError as error:
            shown[name] = error
    return shown
