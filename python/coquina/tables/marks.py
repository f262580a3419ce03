"""Attributes that say how a table is stored, in HDF5: text of a fixed length, in the header of an object.

In: values of attributes. Out: values for h5py, whose text does not stand in HDF5's heaps of text.
Invariant: nothing that decides how items are read stands in these heaps, which have no checksums; headers
    have, in the format that files are made in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.hdf5.untyped import h5py

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A header takes attributes of less than 64 KiB; longer ones stay of variable length.
_BYTES_MAX = 60_000


def in_header(value: Any) -> Any:
    """Return text, or a list of text, as h5py writes it to a header, if it fits; others as they are."""
    is_one = isinstance(value, str)
    if not is_one and not isinstance(value, list):
        return value
    texts = [value] if is_one else cast("list[str]", value)
    encoded: Any = [one.encode("utf-8", "surrogateescape") for one in texts]
    width = max(map(len, encoded), default=0) or 1
    if width * len(encoded) > _BYTES_MAX or any(one.endswith(b"\0") for one in encoded):
        return value if is_one else text_array(texts)
    return np.array(encoded[0] if is_one else encoded, h5py.string_dtype("utf-8", width))


def text_array(texts: Sequence[str]) -> Any:
    """Return text of variable length as h5py writes it, also none at all."""
    return np.array([*texts, None], h5py.string_dtype())[:-1]
