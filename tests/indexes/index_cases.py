"""Tables with columns of every kind that has an index, and what NumPy says of ranges of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import coquina as cq
from coquina._core import KeyRanges
from tests.reference.indexes import values_of
from tests.reference.keys import keys_of

PLACES = ("columns", "rows", "folder")
KINDS = ("full", "partial", "light", "zones")


@dataclass
class Case:
    """values: what has keys, missing: where there is none; text is compared by `check`."""

    values: np.ndarray
    missing: np.ndarray


def columns_of(count: int, seed: int, *, layout: str) -> dict[str, Any]:
    """Return columns: numbers with many equal ones and extremes, NaN, NaT, text; of a columns table more."""
    rng = np.random.default_rng(seed)
    floats = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-320, *rng.normal(size=200)], count)
    times = rng.integers(0, 10**12, count).view("M8[us]")
    times[rng.random(count) < 0.01] = "NaT"
    words = np.array(["", "a", "prefix-a", "prefix-b", "prefix-bb", "zebra", "été", "prefixes"])
    found: dict[str, Any] = {
        "i8": rng.integers(-(2**63), 2**63 - 1, count),
        "i1": rng.integers(-128, 128, count).astype("i1"),
        "u8": rng.integers(0, 2**64, count, np.uint64),
        "i2": rng.integers(-9, 9, count).astype("i2"),
        "f8": floats,
        "f4": floats.astype("f4"),
        "b": rng.random(count) < 0.001,
        "S": np.strings.encode(rng.choice(words, count), "utf-8"),
    }
    if layout == "columns":
        found["t"] = times
        found["f2"] = rng.normal(size=count).astype("f2")
        found["U"] = rng.choice(words, count)
        found["text"] = rng.choice(words, count).astype(np.dtypes.StringDType())
        texts = rng.choice(words, count).astype(object)
        texts[rng.random(count) < 0.1] = None
        found["maybe"] = np.array([*texts, None], object)[:-1]
        found["null"] = np.ma.MaskedArray(rng.integers(-5, 500, count), rng.random(count) < 0.2)
        found["cat"] = pd.Categorical.from_codes(rng.integers(-1, 5, count), list("vwxyz"))
    return found


def make(folder: Any, place: str, data: dict[str, Any]) -> cq.Table:
    """Return a new table in small chunks."""
    path = folder / ("folder" if place == "folder" else f"{place}.h5")
    layout = "rows" if place == "rows" else "columns"
    given: Any = data
    if layout == "rows":
        dtype = [(name, one.dtype) for name, one in data.items()]
        given = np.empty(len(next(iter(data.values()))), dtype)
        for name, one in data.items():
            given[name] = one
    return cq.create_table(path, given, layout=layout, chunk_rows=8192)


def case_of(table: cq.Table, index: Any) -> Case:
    """Return what is in the table now, as the index sees it."""
    source = index.source
    values, missing = values_of(source)
    if source.kind in ("S", "U", "text"):
        raw = [one.encode() if isinstance(one, str) else one for one in values]
        return Case(np.array([*raw, None], object)[:-1], missing)
    if source.kind == "time":
        missing = missing | (values == np.iinfo(np.int64).min)
    if values.dtype.kind == "f":
        missing = missing | (values != values)
    return Case(values, missing)


def wanted(case: Case, low: Any, high: Any, missing: bool) -> np.ndarray:
    """Return which rows have a value from `low` to `high`."""
    with np.errstate(invalid="ignore"):
        flags = np.asarray((case.values >= low) & (case.values <= high), bool) & ~case.missing
    return flags | case.missing if missing else flags


def ends_of(case: Case, index: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return two values of the table, in order."""
    known = case.values[~case.missing]
    one, other = known[rng.integers(0, len(known), 2)]
    return (one, other) if one <= other else (other, one)


def check(table: cq.Table, index: Any, seed: int = 0, times: int = 8) -> None:
    """Check that answers are those of a filter: all of them, and, where nothing is open, no others."""
    rng = np.random.default_rng(seed)
    case = case_of(table, index)
    for turn in range(times):
        if case.missing.all():
            low = high = case.values[0] if len(case.values) else 0
        else:
            low, high = ends_of(case, index, rng)
        if turn % 2:
            high = low
        check_range(case, index, low, high, bool(turn & 2))


def check_range(case: Case, index: Any, low: Any, high: Any, missing: bool) -> None:
    """Check one range."""
    if index.source.kind in ("S", "U", "text"):
        keys = keys_of([low, high], "text")[0]
    else:
        keys = keys_of(np.array([low, high], case.values.dtype), index.key_kind)[0]
    ranges = KeyRanges(keys[:1], keys[1:])
    flags = wanted(case, low, high, missing)

    def settle(rows: np.ndarray) -> np.ndarray:
        assert (np.diff(rows) > 0).all()
        assert not case.missing[rows].any()
        return flags[rows]

    found = index.lookup(ranges, missing=missing, check=settle)
    is_open = np.zeros(len(flags), bool)
    assert (np.diff(found.open.reshape(-1)) > 0).all()
    for start, stop in found.open.tolist():
        is_open[start:stop] = True
    assert (np.diff(found.rows) > 0).all()
    is_found = np.zeros(len(flags), bool)
    is_found[found.rows] = True
    assert not (flags & ~is_found & ~is_open).any()
    assert found.is_exact
    assert not (is_found & ~flags & ~is_open).any()
    assert index.estimate(ranges, missing=missing) >= np.count_nonzero(flags & ~open_flags(index, len(flags)))
    count = index.count(ranges, missing=missing, check=settle)
    assert count is None or count == np.count_nonzero(flags)
    unchecked = index.lookup(ranges, missing=missing)
    assert set(np.flatnonzero(flags & ~is_open)) <= set(unchecked.rows.tolist())


def open_flags(index: Any, count: int) -> np.ndarray:
    """Return which rows an index knows nothing of."""
    flags = np.zeros(count, bool)
    for start, stop in index.open_ranges().tolist():
        flags[start:stop] = True
    return flags
