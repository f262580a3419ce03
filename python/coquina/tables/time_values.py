"""Times as people have them, objects of Python's datetime and pandas, and text, as times of NumPy's.

In: objects. Out: datetime64 and timedelta64, in UTC.
Invariant: nothing is cut off: a time comes in the unit that holds all of it.
"""

from __future__ import annotations

import warnings
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.casting import is_missing, is_of_pandas

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt


def kind_of_times(kinds: Iterable[type]) -> str | None:
    """Return "M" for types of dates and times, "m" for spans of time, None for others and for none."""
    known = list(kinds)
    for base, letter in ((date, "M"), (timedelta, "m")):
        if known and all(issubclass(one, base) for one in known):
            return letter
    return None


def zone_of_times(values: Iterable[Any], what: str) -> str | None:
    """Return "UTC" if all times have a zone, None if none has one. Raises TypeError if only some have."""
    zoned = {isinstance(one, datetime) and one.tzinfo is not None for one in values if not is_missing(one)}
    if len(zoned) > 1:
        raise TypeError(f"{what}: some times have a time zone and others have none")
    return "UTC" if True in zoned else None


def as_times(values: Iterable[Any], kind: str, what: str) -> npt.NDArray[Any]:
    """Return objects and text as times, NaT for what is missing; kind: "M" or "m". what: for errors."""
    missing = np.datetime64("NaT") if kind == "M" else np.timedelta64("NaT")
    made = [missing if is_missing(one) else instant(one, kind, what) for one in values]
    found = np.asarray(made, None if made else f"{kind}8[us]")
    return found.astype(f"{kind}8[us]") if found.dtype == f"{kind}8" else found


def instant(value: Any, kind: str, what: str) -> Any:
    """Return text, a date, a datetime or a timedelta as NumPy's, in UTC; anything else as it is.

    Raises TypeError for a date where spans of time are wanted, or the other way round, ValueError for text
    that is no date.
    """
    if not isinstance(value, str | date | timedelta):
        return value
    if isinstance(value, timedelta) == (kind == "M"):
        raise TypeError(f"{what} takes {'dates' if kind == 'M' else 'spans of time'}, not {value!r}")
    if isinstance(value, str):
        return _parsed(value, what)
    if is_of_pandas(value):
        return cast("Any", value).to_numpy()
    if isinstance(value, timedelta):
        return np.timedelta64(value, "us")
    return np.datetime64(_utc(value), "us") if isinstance(value, datetime) else np.datetime64(value, "D")


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


def _parsed(text: str, what: str) -> Any:
    """Return a date that text spells, in UTC if it has an offset."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found: Any = np.datetime64(text)
    except (ValueError, UserWarning, DeprecationWarning):
        try:
            return np.datetime64(_utc(datetime.fromisoformat(text)), "us")
        except ValueError:
            found = None
    if found is None or (np.datetime_data(found.dtype)[0] == "generic" and not np.isnat(found)):
        raise ValueError(f"{what}: {text!r} is no date, as 2024-05-31T12:00 is")
    return found
