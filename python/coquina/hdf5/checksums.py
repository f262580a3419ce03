"""Whether chunks of a dataset get checksums: they do, unless an attribute of the dataset says otherwise.

In: datasets of h5py. Out: what was asked for when they were made.
Source: docs/formats/hdf5-filters.md, "Checksums".
Invariant: chunks with and without may stand side by side; each says itself what it has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coquina.hdf5.untyped import h5a, h5s, h5t

#: A number of one byte, which is 0.
ATTRIBUTE = b"coquina_checksums"


def are_wanted(did: Any) -> bool:
    """Return whether chunks that are written get checksums."""
    return not h5a.exists(did, ATTRIBUTE)


def put(did: Any, wanted: bool) -> None:
    """Say whether chunks that are written get checksums."""
    if wanted and not are_wanted(did):
        h5a.delete(did, ATTRIBUTE)
    elif not wanted and are_wanted(did):
        forgo(did)


def forgo(did: Any) -> None:
    """Say that chunks of a new dataset get none."""
    h5a.create(did, ATTRIBUTE, h5t.STD_U8LE, h5s.create(h5s.SCALAR)).write(np.zeros((), np.uint8))
