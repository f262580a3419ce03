"""What the group of a PyTables index says: its sizes, whether it is clean, and its arrays for the engine.

In: the group of an index. Out: sizes, and the engine's search of it.
Source: docs/formats/pytables-indexes.md.
Invariant: what does not fit raises `UnusableError`, which says why; sizes are checked by the engine before it
    uses them.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import PyTablesSearch, lazy_array
from coquina.hdf5.fixed_attributes import raw_of, text_of
from coquina.hdf5.places import inside

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from coquina._core import Lazy

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
#: The attributes with the rows of a superblock, block, slice and chunk, of how many values one is kept, and
#: the effort.
SIZES = ("superblocksize", "blocksize", "slicesize", "chunksize", "reduction", "optlevel")
#: What h5py raises for damaged objects and attributes; a TypeError is for a damaged datatype.
_H5PY_DAMAGE = (OSError, RuntimeError, KeyError, ValueError, TypeError)


class UnusableError(Exception):
    """An index that cannot be used; says why."""


@contextmanager
def reading_h5py() -> Generator[None]:
    """Let what h5py raises for damage be an UnusableError. Only calls of h5py stand inside."""
    try:
        yield
    except _H5PY_DAMAGE as error:
        raise UnusableError(told(error)) from error


def told(error: Exception) -> str:
    """Return what an error says; its kind if that is nothing."""
    return str(error) or type(error).__name__


def sizes_of(group: Any) -> dict[str, int]:
    """Return the sizes of the index of a group, as they are said. Raises UnusableError if one is no number.

    It does so too if the index is out of date, or of a version that is not known.
    """
    with reading_h5py():
        kind, version = text_of(group, "CLASS"), text_of(group, "VERSION")
    if kind != "INDEX" or version != VERSION:
        raise UnusableError(f"it says {kind!r} of version {version!r}")
    check_clean(group)
    return {name: _number(group, name) for name in SIZES}


def search_of(
    arrays: Mapping[str, Any],
    sizes: dict[str, int],
    dtype: np.dtype[Any],
    kind: str,
    *,
    chunk_rows: int,
    is_rounded: bool,
) -> PyTablesSearch:
    """Return the engine's search of an index.

    arrays: those that are read, by name. dtype: of the values; kind: how keys are made of them. chunk_rows:
    of the table. is_rounded: whether values were computed, here and by PyTables. Raises UnusableError or
    CoquinaError if it is not as it must be.
    """
    _check_dtypes(arrays, dtype)
    return PyTablesSearch(
        {name: _lazy(arrays[name]) for name in READ},
        sizes,
        kind,
        rest=_number(arrays["indicesLR"], "nelements"),
        rest_kept=_number(arrays["sortedLR"], "nelements"),
        table_chunk_rows=chunk_rows,
        is_rounded=is_rounded,
    )


def check_clean(group: Any) -> None:
    """Raise UnusableError if PyTables, or who else changed rows, marked the index as out of date."""
    with reading_h5py():
        mark = raw_of(group, "DIRTY") if "DIRTY" in group.attrs else np.int32(0)
    if not isinstance(mark, np.integer) or mark != 0:
        raise UnusableError("rows changed after it was made")


def _number(node: Any, name: str) -> int:
    with reading_h5py():
        value: Any = raw_of(inside(node), name)
    number = int(cast("Any", value)) if isinstance(value, np.integer) else -1
    if number < 0:
        raise UnusableError(f"{name} is {value!r}")
    return number


def _lazy(array: Any) -> Lazy:
    """Return the engine's source of an array, in the machine's byte order."""
    dtype = array.dtype
    is_swapped = dtype.kind in "iuf" and not dtype.isnative
    return lazy_array(array, 0, array.typesize, dtype.itemsize if is_swapped else 1)


def _check_dtypes(arrays: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
    for name in READ:
        found = arrays[name].dtype.newbyteorder("=")
        if name.startswith("indices"):
            if found.kind != "u":
                raise UnusableError(f"{name}: numbers of rows as {found}")
        elif (np.dtype(np.uint8) if found == np.bool_ else found) != dtype.newbyteorder("="):
            raise UnusableError(f"{name}: values of {found}, and the column has {dtype}")
