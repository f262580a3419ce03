"""Which fields of the items of a dataset get zone maps: the least and the greatest of each run of items.

In: the dtype of the items. Out: where each field begins, and what the engine calls its type.
Source: docs/formats/hdf5-filters.md, "Zone maps".
Invariant: they are single numbers in the order of little-endian bytes, or bytes of a fixed width; all else
has no zone maps.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

_KINDS = ["?", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"]
_TYPES = {np.dtype(kind): np.dtype(kind).name for kind in _KINDS}


def zone_fields(dtype: np.dtype[Any], start: int = 0) -> list[tuple[int, str]]:
    """Return offset and type name of each field in items of a dtype, in records within records too."""
    if dtype.names is None:
        if dtype.kind == "S":
            return [(start, f"S{dtype.itemsize}")] if dtype.itemsize else []
        # Dates and spans are ordered as the integers that they are, and NaT is the least of these.
        plain = np.dtype(f"{dtype.str[0]}i8") if dtype.kind in "mM" else dtype
        return [(start, _TYPES[plain])] if plain in _TYPES else []
    found: list[tuple[int, str]] = []
    for name in dtype.names:
        part, offset = cast("Any", dtype.fields)[name][:2]
        found += zone_fields(part, start + offset)
    return found
