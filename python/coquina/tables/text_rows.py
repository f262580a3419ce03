"""Rows of text of any length, as offsets, the bytes of all, and a mask where there is one.

In: such rows, offsets from 0. Out: some of them, several lots as one, or rows in the place of others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.intp]

#: Offsets, bytes, and a mask; of other columns the items of each array.
Items = list["npt.NDArray[Any]"]


def cut_rows(items: Items, start: int, stop: int) -> Items:
    """Return the text of some rows."""
    offsets, data, *mask = items
    if stop - start == len(offsets) - 1:
        return items
    part = offsets[start : stop + 1]
    return [part - part[0], data[int(part[0]) : int(part[-1])], *(one[start:stop] for one in mask)]


def joined(parts: list[Items]) -> Items:
    """Return the text of one after the other."""
    columns: list[list[Any]] = [list(one) for one in zip(*parts, strict=True)]
    ends = np.cumsum([0, *(len(data) for data in columns[1])])
    offsets = [one[1:] + end for one, end in zip(columns[0], ends, strict=False)]
    return [np.concatenate([np.zeros(1, np.int64), *offsets]), *map(np.concatenate, columns[1:])]


def taken(items: Items, order: Integers) -> Items:
    """Return the text of rows in another order."""
    offsets, data, *mask = items
    starts, lengths = offsets[:-1][order], np.diff(offsets)[order]
    ends = np.cumsum(lengths)
    # Byte b of the result, in row r, is byte b - (where r begins) + (where r's text began).
    shifts = np.repeat(starts - (ends - lengths), lengths)
    taken = data[np.arange(int(ends[-1]) if len(ends) else 0) + shifts]
    return [np.concatenate([np.zeros(1, np.int64), ends]), taken, *(one[order] for one in mask)]


def replaced(old: Items, places: Integers, new: Items, at: Integers) -> Items:
    """Return rows with those of `new` at `at` in the places `places`, which are different ones."""
    count = len(old[0]) - 1
    order = np.arange(count)
    order[places] = count + at
    return taken(joined([old, new]), order)


def last_of_each(rows: Integers) -> tuple[Integers, Integers]:
    """Return the different rows, in order, and where each is named last: what is written last stays."""
    places, at = np.unique(rows[::-1], return_index=True)
    return places, len(rows) - 1 - at
