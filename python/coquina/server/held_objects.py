"""Objects in memory, served as if each were a file: arrays, expressions, tables and open files.

In: objects by name. Out: what `Root` and `OpenedFiles` give of a folder.
Invariant: there is nothing but these objects; the objects are whoever's gave them, and stay open.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from secrets import token_hex
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.creation import asarray
from coquina.server.failures import bad_request, not_found
from coquina.server.opened_files import OpenedFile
from coquina.server.root import Place

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping


class HeldObjects:
    """Objects by name. single: the name of the only one, None for several."""

    def __init__(self, objects: Mapping[str, Any], name: str = "memory") -> None:
        """objects: arrays of NumPy are compressed, all others are served as they are."""
        stamp = int(token_hex(6), 16)
        self.name, self.path = name, name
        self.opened = 0
        self.single = next(iter(objects)) if len(objects) == 1 else None
        self._files: dict[str, OpenedFile] = {}
        for number, (key, value) in enumerate(objects.items()):
            if not key or re.search(r"[/\\\0]", key):
                raise ValueError(f"{key!r}: no name of an object")
            # Objects in memory change at any time, so that no client may keep answers.
            top: Any = asarray(cast("Any", value)) if isinstance(value, np.ndarray) else value
            state = ((stamp, number, 0, 0),)
            self._files[key] = OpenedFile(Place(key, key, key), "memory", top, state, is_settled=False)

    def find(self, name: str) -> Place:
        """Return the place of an object, or of all for no name. Raises RequestError if there is none."""
        if not name:
            return Place("", "", "")
        if name not in self._files:
            raise not_found(f"{name[:80]!r}: there is no such object")
        return self._files[name].place

    def file(self, name: str) -> Place:
        """Return the place of an object; of the only one for an empty name."""
        name = name or self.single or ""
        if not name:
            raise not_found("there are several objects, each with a name")
        return self.find(name)

    named = file

    def target(self, name: str) -> Place:
        """Raise RequestError: nothing is made here."""
        raise bad_request(f"{name[:80]!r}: objects in memory are not written")

    def entries(self, name: str) -> list[dict[str, Any]]:
        """Return the objects."""
        if name:
            raise not_found(f"{name[:80]!r}: there is no such folder")
        common: dict[str, Any] = {"kind": "file", "size": None, "modified": None, "format": "memory"}
        return [{"name": key, "path": key, **common} for key in self._files]

    @contextmanager
    def using(self, place: Place) -> Generator[OpenedFile]:
        """Return an object as an open file."""
        yield self._files[place.name]

    def close_idle(self, *, forever: bool = False) -> None:
        """Do nothing: the objects are not ours."""

    def forget(self, path: str) -> None:
        """Do nothing: the objects do not change here."""
