"""Columns of times: NumPy's datetime64 and timedelta64, and PyTables' seconds with microseconds.

In: stored int64. Out: columns of dates, of spans, or of float64 seconds.
Source: NumPy's datetime64; PyTables' "time64", two int32 of which the higher one is the seconds.
Invariant: comparisons with constants are exact, whatever the units: integers are compared.
"""

from __future__ import annotations

import re
import warnings
from datetime import UTC, date, datetime, timedelta
from functools import partial
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.casting import cast_values, is_array, is_listed, is_masked, is_of_pandas
from coquina.expressions.functions import FUNCTIONS, call, cast_node
from coquina.expressions.nodes import Node
from coquina.hdf5.times import shown_seconds, stored_seconds
from coquina.tables.column import Column
from coquina.tables.listed_values import listed, uniform
from coquina.tables.number_columns import OnePart, compared_numbers, representable
from coquina.tables.predicates import among_numbers, both, by_values, filled, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from coquina.tables.column import Part, QueryColumn
    from coquina.tables.stored import Stored

#: Values that seconds are compared with one by one, which indexes know.
_EQUALS_MAX = 16
_INT64 = np.dtype(np.int64)
_NAT = np.iinfo(np.int64).min
#: Names of the IANA time zone database, and offsets.
_ZONE = re.compile(r"[A-Za-z0-9_+:/-]{1,64}")
#: Units of one length, in attoseconds.
_LENGTHS = {
    "W": 7 * 86400 * 10**18,
    "D": 86400 * 10**18,
    "h": 3600 * 10**18,
    "m": 60 * 10**18,
    "s": 10**18,
    "ms": 10**15,
    "us": 10**12,
    "ns": 10**9,
    "ps": 10**6,
    "fs": 10**3,
    "as": 1,
}
#: What `t < c` is for a constant that lies between two values of `t`, the lower of which is taken for it.
_BETWEEN = {
    "less": "less_equal",
    "less_equal": "less_equal",
    "greater": "greater",
    "greater_equal": "greater",
}


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

    def element(self, index: tuple[int, ...]) -> Column:
        """Return one of the values of each row."""
        if not self.shape:
            return super().element(index)
        return TimeColumn(f"{self.name}[{', '.join(map(str, index))}]", self._part.element(index))

    def _compared(self, op: str, value: Any) -> Node:
        if isinstance(value, str | bytes | datetime | date | np.datetime64):
            value = _seconds_of(value, self)
        return compared_numbers(self, op, value)

    def among(self, values: Iterable[Any]) -> Node:
        """Return where the seconds are one of these."""
        values = list(values)
        if len(values) > _EQUALS_MAX:
            dates = (str, bytes, datetime, date, np.datetime64)
            seconds = [_seconds_of(one, self) if isinstance(one, dates) else one for one in values]
            wanted = partial(np.isin, test_elements=representable(seconds, self.dtype, self.refused))
            node = self.node()
            return by_values("isin", wanted, (partial(read_rows, node),), len(self), (node,))
        node = filled(False, len(self))
        for value in values:
            node = call(FUNCTIONS["logical_or"], node, self.compared("equal", value))
        return node


class DatetimeColumn(OnePart):
    """Dates and times, or spans of time, stored as int64."""

    kind = "datetime"

    def __init__(self, name: str, stored: Stored, dtype: npt.DTypeLike, zone: str | None = None) -> None:
        """The column of a part of 8 bytes. dtype: datetime64 or timedelta64 with a unit. zone: of dates."""
        dtype = np.dtype(dtype).newbyteorder("=")
        if dtype.kind not in "mM" or np.datetime_data(dtype)[0] == "generic":
            raise ValueError(f"column {name!r}: {dtype} is not a datetime64 or timedelta64 with a unit")
        shape = stored.dtype.shape
        self._ints = stored.viewed((np.int64, shape))
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
                values = [
                    constant_of(one, self) if isinstance(one, str | datetime) else one for one in listed
                ]
        times = cast_values(values, self.dtype, self.shape, self.described())
        given: Any = values.data if is_masked(values) else np.asarray(values)
        if given.dtype.kind == self.dtype.kind and given.shape == times.shape:
            wrong = (times.astype(given.dtype) != given) & ~np.isnat(given)
            if wrong.any():
                raise ValueError(f"{self.described()}: {given[wrong].flat[0]} does not fit its unit")
        return [times.view(_INT64)]

    def element(self, index: tuple[int, ...]) -> Column:
        """Return one of the values of each row."""
        if not self.shape:
            return super().element(index)
        name = f"{self.name}[{', '.join(map(str, index))}]"
        return DatetimeColumn(name, self._part.element(index), self.dtype, self.zone)

    def nulls(self) -> Node | None:
        """Return nothing: NaT compares as in NumPy."""
        return None

    def is_null(self) -> Node:
        """Return where the time is NaT."""
        self.check_scalar()
        return call(FUNCTIONS["equal"], self._ints.leaf(), _NAT)

    def _compared(self, op: str, value: Any) -> Node:
        if isinstance(value, Node) or (is_array(value) and value.ndim):
            return call(FUNCTIONS[op], self.node(), value)
        constant = constant_of(value, self)
        if np.isnat(constant):
            return filled(op == "not_equal", len(self))
        count, is_exact = counted(constant, self.dtype)
        if not is_exact:
            if op in ("equal", "not_equal"):
                return filled(op == "not_equal", len(self))
            op = _BETWEEN[op]
        node = call(FUNCTIONS[op], self._ints.leaf(), count)
        if op in ("less", "less_equal"):
            return both(node, call(FUNCTIONS["not_equal"], self._ints.leaf(), _NAT))
        return node

    def among(self, values: Iterable[Any]) -> Node:
        """Return where the time is one of these."""
        self.check_scalar()
        values = listed(values)
        given = uniform(values)
        counts = None if given is None else _whole_counts(given, self.dtype)
        if counts is not None:
            return among_numbers(self._ints, counts)
        found: list[int] = []
        for value in values:
            constant = constant_of(value, self)
            if not np.isnat(constant):
                count, is_exact = counted(constant, self.dtype)
                found += [count] if is_exact and _NAT < count <= -(_NAT + 1) else []
        return among_numbers(self._ints, np.array(found, _INT64))


def constant_of(value: Any, column: Column) -> Any:
    """Return a constant as NumPy's time. Raises TypeError or ValueError. Times with a zone become UTC."""
    kind = column.dtype.kind
    if is_array(value) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bytes):
        value = value.decode()
    if is_of_pandas(value):
        value = value.to_numpy()
    if _is_time(value):
        if (value.dtype.kind == kind and np.datetime_data(value.dtype)[0] != "generic") or np.isnat(value):
            return value if value.dtype.kind == kind else np.array("NaT", column.dtype)[()]
    elif kind == "M" and isinstance(value, str):
        return _parsed(value, column)
    elif kind == "M" and isinstance(value, datetime):
        return np.datetime64(_utc(value), "us")
    elif kind == "M" and isinstance(value, date):
        return np.datetime64(value, "D")
    elif kind == "m" and isinstance(value, timedelta):
        return np.timedelta64(value, "us")
    wanted = "a date (text as in 2024-05-31T12:00)" if kind == "M" else "a timedelta"
    raise TypeError(f"{column.described()} is compared with {wanted}, not with {value!r}")


def counted(constant: Any, dtype: np.dtype[Any]) -> tuple[int, bool]:
    """Return how many units of `dtype` the constant is, rounded down, and whether that is exact."""
    unit, step = np.datetime_data(dtype)
    its_unit, its_step = np.datetime_data(constant.dtype)
    if unit in _LENGTHS and its_unit not in _LENGTHS and dtype.kind == "M":
        constant, its_unit, its_step = constant.astype("M8[D]"), "D", 1
    if unit in _LENGTHS and its_unit in _LENGTHS:
        length = _LENGTHS[unit] * step
        count, rest = divmod(int(constant.astype(np.int64)) * its_step * _LENGTHS[its_unit], length)
        return count, rest == 0
    if dtype.kind == "m" and (unit in _LENGTHS) != (its_unit in _LENGTHS):
        raise TypeError(f"months have no length: {constant.dtype} is not compared with {dtype}")
    months = constant.astype(f"{dtype.kind}8[M]")
    is_exact = bool(months.astype(constant.dtype) == constant)
    count, rest = divmod(int(months.astype(np.int64)), (12 if unit == "Y" else 1) * step)
    return count, is_exact and rest == 0


def _whole_counts(times: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[np.int64] | None:
    """Return how many units of `dtype` times are, of those that are whole; None if units have no length."""
    if times.dtype.kind != dtype.kind:
        return None
    (unit, step), (its_unit, its_step) = np.datetime_data(dtype), np.datetime_data(times.dtype)
    if unit not in _LENGTHS or its_unit not in _LENGTHS:
        return None
    factor, length = its_step * _LENGTHS[its_unit], step * _LENGTHS[unit]
    divisor = gcd(factor, length)
    factor, length = factor // divisor, length // divisor
    most = -(_NAT + 1)
    if max(factor, length) > most:
        return None
    counts = times.astype(np.int64)
    counts = counts[(counts != _NAT) & (counts % length == 0)] // length
    return counts[(counts >= -(most // factor)) & (counts <= most // factor)] * factor


def _is_time(value: Any) -> bool:
    return isinstance(value, np.datetime64 | np.timedelta64)


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


def instant_of(text: str) -> Any:
    """Return a date that text spells, in UTC if it has an offset. Raises ValueError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return np.datetime64(text)
    except (ValueError, UserWarning, DeprecationWarning):
        return np.datetime64(_utc(datetime.fromisoformat(text)), "us")


def _parsed(text: str, column: Column) -> Any:
    try:
        found = instant_of(text)
    except ValueError:
        found = None
    if found is None or (np.datetime_data(found.dtype)[0] == "generic" and not np.isnat(found)):
        raise ValueError(f"{column.described()}: {text!r} is no date, as 2024-05-31T12:00 is")
    return found


def _seconds_of(value: Any, column: TimeColumn) -> float:
    """Return a date as seconds since 1970."""
    made: Any = DatetimeColumn.__new__(DatetimeColumn)
    Column.__init__(made, column.name, np.dtype("M8[us]"))
    constant = constant_of(value, made)
    count, _ = counted(constant, np.dtype("M8[us]"))
    return count / 1e6
