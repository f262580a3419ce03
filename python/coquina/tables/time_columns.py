"""Columns of times: NumPy's datetime64 and timedelta64, and PyTables' seconds with microseconds.

In: stored int64. Out: columns of dates, of spans, or of float64 seconds.
Source: NumPy's datetime64; PyTables' "time64", two int32 of which the higher one is the seconds.
Invariant: a time that the unit cannot hold exactly is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.casting import cast_values, is_array, is_listed, is_masked
from coquina.expressions.functions import FUNCTIONS, call, cast_node
from coquina.hdf5.times import shown_seconds, stored_seconds
from coquina.tables.column import Column
from coquina.tables.number_columns import OnePart
from coquina.tables.time_values import instant

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.expressions.nodes import Node
    from coquina.tables.column import Part, QueryColumn
    from coquina.tables.stored import Stored

_INT64 = np.dtype(np.int64)
#: Names of the IANA time zone database, and offsets.
_ZONE = re.compile(r"[A-Za-z0-9_+:/-]{1,64}")


def known_zone(text: str | None, dtype: np.dtype[Any]) -> str | None:
    """Return the zone that stored text names; None for what cannot be one, and for spans of time."""
    if text is None or dtype.kind != "M" or not _ZONE.fullmatch(text):
        return None
    return text


class TimeColumn(OnePart):
    """PyTables' time64: seconds and microseconds, shown as float64 seconds."""

    kind = "time"

    def __init__(self, name: str, stored: Stored) -> None:
        """The column of a part of int64 or any 8 bytes."""
        shape = stored.dtype.shape
        super().__init__(name, stored.viewed((np.int64, shape)), np.dtype(np.float64), shape)

    def _shown(self, items: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return shown_seconds(items)

    def encode(self, values: Any) -> list[Part]:
        """Return seconds as they are stored. Raises ValueError for what 32 bits cannot count."""
        seconds = cast_values(values, self.dtype, self.shape, self.described())
        return [stored_seconds(seconds, self.described())]

    def query_column(self) -> QueryColumn:
        """Return what the engine's conditions know of it."""
        return self._queried("seconds", "")

    def node(self) -> Node:
        """Return the seconds as an operand."""
        raw = self._scalars().leaf()
        f8 = np.dtype(np.float64)
        seconds = cast_node(call(FUNCTIONS["right_shift"], raw, 32), f8)
        micros = cast_node(cast_node(raw, np.dtype(np.int32)), f8)
        return call(FUNCTIONS["add"], seconds, call(FUNCTIONS["multiply"], 1e-6, micros))


class DatetimeColumn(OnePart):
    """Dates and times, or spans of time, stored as int64."""

    kind = "datetime"

    def __init__(self, name: str, stored: Stored, dtype: npt.DTypeLike, zone: str | None = None) -> None:
        """The column of a part of 8 bytes. dtype: datetime64 or timedelta64 with a unit. zone: of dates."""
        dtype = np.dtype(dtype).newbyteorder("=")
        if dtype.kind not in "mM" or np.datetime_data(dtype)[0] == "generic":
            raise ValueError(f"column {name!r}: {dtype} is not a datetime64 or timedelta64 with a unit")
        shape = stored.dtype.shape
        super().__init__(name, stored.viewed((dtype, shape)), dtype, shape)
        #: Where dates are shown with a zone. NumPy's have none: they are UTC.
        self.zone = zone

    def query_column(self) -> QueryColumn:
        """Return what the engine's conditions know of it."""
        return self._queried("times", self.dtype.name)

    def node(self) -> Node:
        """Return the times as an operand, which NumPy computes with."""
        return self._scalars().leaf()

    def encode(self, values: Any) -> list[Part]:
        """Return times as int64 of our unit. Raises ValueError for what the unit cannot hold exactly."""
        if not is_array(values) or values.dtype.kind == "O":
            listed = values.tolist() if is_array(values) else values
            if is_listed(listed):
                values = [instant(one, self.dtype.kind, self.described()) for one in listed]
        times = cast_values(values, self.dtype, self.shape, self.described())
        given: Any = values.data if is_masked(values) else np.asarray(values)
        if given.dtype.kind == self.dtype.kind and given.shape == times.shape:
            wrong = (times.astype(given.dtype) != given) & ~np.isnat(given)
            if is_masked(values):
                wrong &= ~np.ma.getmaskarray(values)
            if wrong.any():
                raise ValueError(f"{self.described()}: {given[wrong].flat[0]} does not fit its unit")
        return [times.view(_INT64)]

    def _of_part(self, name: str, part: Stored) -> Column:
        return DatetimeColumn(name, part, self.dtype, self.zone)
