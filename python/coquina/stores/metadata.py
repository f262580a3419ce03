"""Metadata of frames as values: those that decide what a frame is.

In: an open frame, and the name of a layer. Out: its value, a map or nothing.
"""

from __future__ import annotations

from typing import Any, cast

from coquina.attrs import Layers
from coquina.msgpack_values import unpack


def map_of(value: Any) -> dict[Any, Any] | None:
    """Return a value that is a map; None for any other."""
    return cast("dict[Any, Any]", value) if isinstance(value, dict) else None


def list_of(value: Any) -> list[Any] | None:
    """Return a value that is a list or a tuple, as a list; None for any other."""
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else None


def variable(frame: Layers, name: str) -> Any:
    """Return the value of a layer that can be changed; None if there is none."""
    content = frame.layer(name)
    return None if content is None else unpack(content)


def fixed(frame: Layers, name: str) -> Any:
    """Return the value of a fixed layer; None if there is none."""
    content = dict(frame.metalayers()).get(name)
    return None if content is None else unpack(content)


def fixed_names(frame: Layers) -> set[str]:
    """Return the names of the fixed layers."""
    return {name for name, _ in frame.metalayers()}
