"""What an index of PyTables stores beside its values, as rows: rows themselves, or buckets of rows.

In: places in slices. Out: rows, ascending; or ranges of rows.
Source: docs/formats/pytables-indexes.md.
Invariant: the row that a value came from is among them, also where PyTables takes a bucket for the one
    before. Numbers that no row can have raise `UnusableError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.tables.pytables_index_shape import UnusableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from coquina.tables.pytables_index_shape import Shape

    Rows = npt.NDArray[np.int64]
    Places = list[tuple[Rows, Rows]]

_READ_ITEMS = 1 << 22


def rows_at(arrays: Mapping[str, Any], shape: Shape, places: Places) -> Rows:
    """Return the rows that stand at places of a "full" index, ascending."""
    parts = [np.empty(0, np.int64)]
    for _, items in _items(arrays, shape, places):
        if len(items) and items.max() >= shape.rows:
            raise UnusableError(f"row {items.max()} of {shape.rows}")
        parts.append(items.astype(np.int64))
    rows = np.sort(np.concatenate(parts))
    if (rows[1:] == rows[:-1]).any():
        raise UnusableError("a row has two values")
    return rows


def ranges_at(arrays: Mapping[str, Any], shape: Shape, places: Places) -> Rows:
    """Return the rows of the buckets that stand at places: pairs, ascending, not adjacent."""
    rows = shape.bucket_rows
    is_in = np.zeros(-(-shape.rows // rows), np.bool_)
    for number, items in _items(arrays, shape, places):
        first, last, beyond = _buckets_of(shape, number)
        for found in _candidates(np.unique(items).astype(np.int64), last - first, beyond, shape.item_bytes):
            is_in[first + found] = True
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_in, [False]]).astype(np.int8)))
    return np.minimum(edges.reshape(-1, 2) * rows, shape.rows)


def _items(arrays: Mapping[str, Any], shape: Shape, places: Places) -> Iterator[tuple[int, Any]]:
    """Yield what is stored at places: the slice, and numbers, some millions at a time."""
    for number, (starts, stops) in enumerate(places):
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            for first in range(start, stop, _READ_ITEMS):
                last = min(first + _READ_ITEMS, stop)
                is_full = number < shape.slices
                found = arrays["indices"][number, first:last] if is_full else arrays["indicesLR"][first:last]
                yield number, found


def _buckets_of(shape: Shape, number: int) -> tuple[int, int, int]:
    """Return the first and the last bucket that a slice's numbers may stand for, which count from the first;
    and by how many a number may be less than what it stands for.
    """
    rows, cut = shape.bucket_rows, shape.cut
    if shape.item_bytes == 1:
        start, end, beyond = number * cut.slice, (number + 1) * cut.slice, 0
    elif shape.item_bytes == 2:
        # Slices of a block exchange their chunks. The sum of two parts is stored, each of them rounded down.
        per_block = cut.block // cut.slice
        start = number // per_block * cut.block
        end, beyond = start + cut.block, int(cut.block % rows > 0)
    else:
        start, end, beyond = 0, shape.rows, 0
    return start // rows, (min(end, shape.rows) - 1) // rows, beyond


def _candidates(items: Rows, most: int, beyond: int, item_bytes: int) -> Iterator[Rows]:
    """Yield what numbers may stand for: from 0 to `most`, of which the item has the lowest bits."""
    if len(items) and items[-1] > most:
        raise UnusableError(f"bucket {items[-1]} of {most + 1}")
    for turn in range(0, most + 1, 1 << 8 * item_bytes):
        for more in range(beyond + 1):
            found = items + (turn + more)
            yield found[found <= most]
