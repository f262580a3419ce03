"""Keys that only h5py has (references to regions, `MultiBlockSlice`), and errors that its users catch.

In: a key, and the shape that it is for. Out: a key that NumPy has; whether it is a region, which h5py reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.hdf5.untyped import h5py

if TYPE_CHECKING:
    import numpy.typing as npt


class DatasetIndexError(IndexError, TypeError, ValueError):
    """A key that NumPy refuses with IndexError, where h5py raises TypeError or ValueError."""


class DatasetShapeError(ValueError, TypeError):
    """A shape that NumPy refuses with ValueError, where h5py raises TypeError."""


def is_region(key: Any) -> bool:
    """Whether a key is a reference to a region."""
    return isinstance(key, h5py.RegionReference)


def plain_key(key: Any, shape: tuple[int, ...]) -> Any:
    """Return a key without blocks at regular distances; any other key as it is."""
    parts = _parts(key)
    blocks = [axis for axis, part in enumerate(parts) if isinstance(part, h5py.MultiBlockSlice)]
    if not blocks:
        return key
    if len(blocks) > 1 or any(part is ... for part in parts[: blocks[0]]):
        raise TypeError("a key takes one MultiBlockSlice, after integers and slices only")
    axis = blocks[0]
    return (*parts[:axis], _items(parts[axis], shape[axis] if axis < len(shape) else 0), *parts[axis + 1 :])


def _parts(key: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)


def _items(blocks: Any, length: int) -> npt.NDArray[np.intp]:
    start, stride, count, block = blocks.indices(length)
    firsts = np.arange(count, dtype=np.intp)[:, None] * stride + start
    return np.reshape(firsts + np.arange(block, dtype=np.intp), -1)
