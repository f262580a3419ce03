"""How an index of PyTables is cut: slices, chunks, buckets; and what one that is found says of that.

In: the group of an index; or how many rows are to be indexed. Out: `Cut`, and `Shape`, all of it checked.
Source: docs/formats/pytables-indexes.md.
Invariant: no size is used in arithmetic or for memory before it was checked; what does not fit raises
    `UnusableError`, which says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.hdf5.fixed_attributes import raw_of, text_of
from coquina.hdf5.places import inside

if TYPE_CHECKING:
    from collections.abc import Mapping

#: By the bytes of a stored row or bucket.
KINDS = {1: "ultralight", 2: "light", 4: "medium", 8: "full"}
#: The arrays of an index. "EARRAY" ones are not read by queries.
ARRAYS = (
    ("sorted", "INDEXARRAY", "Sorted Values"),
    ("indices", "INDEXARRAY", "Number of chunk in table"),
    ("ranges", "CACHEARRAY", "Range Values"),
    ("mranges", "EARRAY", "Median ranges"),
    ("bounds", "CACHEARRAY", "Boundary Values"),
    ("abounds", "EARRAY", "Start bounds"),
    ("zbounds", "EARRAY", "End bounds"),
    ("mbounds", "EARRAY", "Median bounds"),
    ("sortedLR", "LASTROWARRAY", "Last Row sorted values + bounds"),
    ("indicesLR", "LASTROWARRAY", "Last Row indices"),
)
READ = ("sorted", "indices", "ranges", "bounds", "sortedLR", "indicesLR")
VERSION = "2.1"
#: First values of chunks are kept in memory; buckets have a byte each while a query is answered.
_CHUNKS_MAX, _BUCKETS_MAX = 1 << 24, 1 << 28
_SLICE_MAX, _SLICE_BYTES_MAX = 1 << 30, 1600 << 20


class UnusableError(Exception):
    """An index that cannot be used; says why."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Rows of a superblock, block, slice and chunk; every how manieth value is kept; and the effort."""

    superblock: int
    block: int
    slice: int
    chunk: int
    reduction: int
    optlevel: int

    @property
    def chunks(self) -> int:
        """Chunks of a slice."""
        return self.slice // self.chunk

    @property
    def kept(self) -> int:
        """Values that are kept of a chunk."""
        return self.chunk // self.reduction

    def check(self) -> Cut:
        """Return itself. Raises UnusableError if one of the sizes is no multiple of the one below."""
        for what, size, part in (
            ("slicesize", self.slice, self.chunk),
            ("blocksize", self.block, self.slice),
            ("chunksize", self.chunk, self.reduction),
        ):
            if part < 1 or size < part or size % part or size >= 1 << 62:
                raise UnusableError(f"{what} {size} of parts of {part}")
        return self


@dataclass(frozen=True, slots=True)
class Shape:
    """An index as it is found.

    item_bytes: of a stored row or bucket. slices: that are full; rest: rows behind them, of which
    `kept_rest` values are kept. bucket_rows: rows that one stored number stands for.
    """

    cut: Cut
    item_bytes: int
    slices: int
    rest: int
    kept_rest: int
    bucket_rows: int

    @property
    def kind(self) -> str:
        """PyTables' name for it."""
        return KINDS[self.item_bytes]

    @property
    def rows(self) -> int:
        """How many rows are indexed."""
        return self.slices * self.cut.slice + self.rest

    @property
    def rest_chunks(self) -> int:
        """Chunks of values of the rest, the last of which may be partly filled."""
        return -(-self.kept_rest // self.cut.kept)


def cut_for(rows: int, item_bytes: int) -> Cut:
    """Return how a complete index of so many rows is cut, as PyTables does at its highest effort."""
    rows = min(max(rows, 10**5), 10**12)
    chunk = 64 << floor(log10(rows))
    size = int(64 * 2 ** log10(rows) * 16) // chunk * chunk * 4
    while size > _SLICE_MAX or size * item_bytes > _SLICE_BYTES_MAX:
        size //= 2
    chunk //= 2
    size = max(size // chunk, 2) * chunk * 2
    block = _whole(chunk * min(rows // chunk + 1, 1 << 20), size)
    return Cut(_whole(size * min(rows // size + 1, 1 << 20), block), block, size, chunk, 1, 9)


def _whole(size: int, part: int) -> int:
    return (size // part + 1) * part


def bucket_rows_of(item_bytes: int, cut: Cut, chunk_rows: int) -> int:
    """Return how many rows a stored number stands for. chunk_rows: of the table."""
    rows = min(chunk_rows, cut.chunk)
    if item_bytes == 1:
        return max(rows, ceil(cut.slice / (1 << 8)))
    return max(rows, ceil(cut.block / (1 << 16))) if item_bytes == 2 else rows


def read_shape(group: Any, arrays: Mapping[str, Any], dtype: np.dtype[Any], chunk_rows: int) -> Shape:
    """Return how the index of a group is cut.

    group: h5py's. arrays: those that are read, by name. dtype: of the values. chunk_rows: of the table.
    Raises UnusableError if it is out of date, or not as it must be.
    """
    if text_of(group, "CLASS") != "INDEX" or text_of(group, "VERSION") != VERSION:
        raise UnusableError(f"it says {text_of(group, 'CLASS')!r} of version {text_of(group, 'VERSION')!r}")
    check_clean(group)
    cut = Cut(
        _number(group, "superblocksize"),
        _number(group, "blocksize"),
        _number(group, "slicesize"),
        _number(group, "chunksize"),
        _number(group, "reduction"),
        _number(group, "optlevel"),
    ).check()
    item_bytes = _item_bytes(arrays, dtype)
    slices = arrays["indices"].shape[0] if arrays["indices"].ndim == 2 else -1
    rest = _number(arrays["indicesLR"], "nelements")
    kept = _number(arrays["sortedLR"], "nelements")
    if not 0 <= rest <= cut.slice or kept != -(-rest // cut.reduction):
        raise UnusableError(f"{rest} rows behind the last slice, and {kept} values of them")
    shape = Shape(cut, item_bytes, slices, rest, kept, bucket_rows_of(item_bytes, cut, chunk_rows))
    _check_shapes(arrays, shape)
    return shape


def check_clean(group: Any) -> None:
    """Raise UnusableError if PyTables, or who else changed rows, marked the index as out of date."""
    if "DIRTY" in group.attrs:
        mark = raw_of(group, "DIRTY")
        if not isinstance(mark, np.integer) or mark != 0:
            raise UnusableError("rows changed after it was made")


def _number(node: Any, name: str) -> int:
    value: Any = raw_of(inside(node), name)
    number = int(cast("Any", value)) if isinstance(value, np.integer) else -1
    if number < 0:
        raise UnusableError(f"{name} is {value!r}")
    return number


def _item_bytes(arrays: Mapping[str, Any], dtype: np.dtype[Any]) -> int:
    for name in READ:
        found = arrays[name].dtype.newbyteorder("=")
        if name.startswith("indices"):
            if found.kind != "u" or found != arrays["indices"].dtype.newbyteorder("="):
                raise UnusableError(f"{name}: numbers of rows as {found}")
        elif (np.dtype(np.uint8) if found == np.bool_ else found) != dtype.newbyteorder("="):
            raise UnusableError(f"{name}: values of {found}, and the column has {dtype}")
    return arrays["indices"].dtype.itemsize


def _check_shapes(arrays: Mapping[str, Any], shape: Shape) -> None:
    cut, slices = shape.cut, shape.slices
    wanted = {
        "sorted": (slices, cut.slice // cut.reduction),
        "indices": (slices, cut.slice),
        "ranges": (slices, 2),
        "bounds": (slices, cut.chunks - 1),
    }
    for name, wants in wanted.items():
        if slices < 0 or arrays[name].shape != wants:
            raise UnusableError(f"{name} is {arrays[name].shape}, and not {wants}")
    # Behind the values stand the first of each chunk, and the last of all.
    least = {"sortedLR": shape.kept_rest + shape.rest_chunks + 1, "indicesLR": shape.rest}
    for name, length in least.items():
        if arrays[name].ndim != 1 or (shape.rest and len(arrays[name]) < length):
            raise UnusableError(f"{name} is {arrays[name].shape}, and needs {length}")
    chunks = slices * cut.chunks + shape.rest_chunks
    is_wide = shape.item_bytes < 8 and shape.rows // shape.bucket_rows > _BUCKETS_MAX
    if chunks > _CHUNKS_MAX or is_wide:
        raise UnusableError(f"{chunks} chunks, and buckets of {shape.bucket_rows} rows: too many to keep")
