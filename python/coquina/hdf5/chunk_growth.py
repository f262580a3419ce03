"""Larger chunks for datasets whose chunks are too small to be compressed well.

In: the shape and the chunks of a dataset. Out: chunks that are whole multiples of these.
Why: a stored chunk of Blosc2 begins with some 200 bytes of headers, so small chunks would become larger.
"""

from __future__ import annotations

from math import prod

#: Chunks of fewer bytes grow, to at most so many. Both stay below the 1 MiB that h5py caches of a dataset.
SMALL_BYTES = 64 << 10
_GROWN_BYTES = 512 << 10

Shape = tuple[int, ...]


def grown(shape: Shape, chunks: Shape, itemsize: int) -> Shape:
    """Return larger chunks for small ones; large ones, and those that hold everything, stay as they are.

    The axis along which the most chunks lie is doubled first, so that chunks keep a shape that suits reads
    along any axis. Chunks never become longer than the dataset needs.
    """
    nbytes = prod(chunks) * itemsize
    if nbytes >= SMALL_BYTES:
        return chunks
    lengths = list(chunks)
    while nbytes * 2 <= _GROWN_BYTES:
        along = [-(-length // cut) for length, cut in zip(shape, lengths, strict=True)]
        most = max(along, default=1)
        if most <= 1:
            break
        lengths[along.index(most)] *= 2
        nbytes *= 2
    return tuple(lengths)
