"""Attributes that say how a table is stored, in HDF5: text of a fixed length, in the header of an object.

In: attributes of an object. Out: the same, whose text is written so, and read as text.
Invariant: nothing that decides how items are read stands in HDF5's heaps of text, which have no checksums;
    headers have, in the format that files are made in.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, cast

import numpy as np

from coquina.hdf5.untyped import h5py

#: A header takes attributes of less than 64 KiB; longer ones stay of variable length.
_BYTES_MAX = 60_000
_TEXT = h5py.string_dtype()


class Marks(MutableMapping[str, Any]):
    """Attributes of an object, for what stores tables and indexes."""

    def __init__(self, attrs: MutableMapping[str, Any]) -> None:
        """Those of h5py."""
        self._attrs = attrs

    def __getitem__(self, name: str) -> Any:
        """Return an attribute, text as `str`."""
        value = self._attrs[name]
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def __setitem__(self, name: str, value: Any) -> None:
        """Set an attribute: text, a list of text, or what h5py takes."""
        is_one = isinstance(value, str)
        if not is_one and not isinstance(value, list):
            self._attrs[name] = value
            return
        texts = [value] if is_one else cast("list[str]", value)
        encoded: Any = [one.encode("utf-8", "surrogateescape") for one in texts]
        width = max(map(len, encoded), default=0) or 1
        if width * len(encoded) > _BYTES_MAX or any(one.endswith(b"\0") for one in encoded):
            self._attrs[name] = value if is_one else np.array([*texts, None], _TEXT)[:-1]
        else:
            dtype = h5py.string_dtype("utf-8", width)
            self._attrs[name] = np.array(encoded[0] if is_one else encoded, dtype)

    def __delitem__(self, name: str) -> None:
        """Remove an attribute."""
        del self._attrs[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._attrs)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._attrs)
