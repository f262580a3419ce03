"""pandas DataFrames as schemas and batches.

In: a DataFrame. Out: what `incoming` gives: its columns as NumPy arrays, masked where pandas' own dtypes have
    nulls. Levels of the index that have names are columns too, in front; others are left out.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.casting import is_null
from coquina.tables.layout import ColumnSpec
from coquina.tables.specs import column_spec
from coquina.tables.time_values import as_times
from coquina.tables.values import TEXT, Coded, Utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.tables.layout import Batch, Schema


def frame_batches(frame: Any, rows: int) -> tuple[Schema, Iterator[Batch]]:
    """Return schema and batches of a DataFrame. Raises TypeError for what tables do not store."""
    named = [name for name in frame.index.names if name is not None]
    if named:
        frame = frame.reset_index(named)
    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise TypeError(
            f"the names of columns must be text, each another: {names}; frame.columns = [...] renames them"
        )
    made = {name: _column(name, frame[name]) for name in names}
    specs = tuple(spec for spec, _ in made.values())

    def part(start: int) -> Batch:
        return {name: values[start : start + rows] for name, (_, values) in made.items()}

    return specs, (part(start) for start in range(0, len(frame), rows))


def series_column(name: str, values: Any) -> tuple[ColumnSpec, Any]:
    """Return column and values of a Series, an Index or an array of pandas."""
    return _column(name, import_module("pandas").Series(values))


def _column(name: str, series: Any) -> tuple[ColumnSpec, Any]:
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        categories = dtype.categories.to_numpy()
        if getattr(dtype.categories, "tz", None) is not None:
            raise TypeError(f"column {name!r}: categories with a time zone are not stored; see Series.astype")
        text = categories.dtype.kind in "OTU"
        shown: Any = TEXT if text else categories.dtype
        codes = series.cat.codes.to_numpy().astype(np.int64)
        values = Coded(codes, categories.astype(shown))
        return ColumnSpec(name, shown, categories=(), ordered=bool(dtype.ordered)), values
    if getattr(dtype, "tz", None) is not None:
        values = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return replace(column_spec(name, values), zone=_zone_of(name, dtype.tz)), values
    if isinstance(dtype, np.dtype):
        values = series.to_numpy(copy=series.dtype.kind == "O")
        if values.dtype.kind != "O":
            return column_spec(name, values), values
        # NaT stays: it tells that there are times.
        missing = [is_null(one) or (isinstance(one, float) and one != one) for one in values]
        values[np.array(missing, bool)] = None
        spec = column_spec(name, values)
        if spec.dtype.kind in "mM":
            values = as_times(values, spec.dtype.kind, f"column {name!r}")
        return spec, values
    null = series.isna().to_numpy()
    if getattr(dtype, "name", "") in ("string", "str") or str(dtype).startswith(("string", "large_string")):
        values = Utf8.of([None if is_null else one for one, is_null in zip(series, null, strict=True)])
        # Without rows nothing is known of nulls: rows that are appended may have some.
        return ColumnSpec(name, TEXT, nullable=values.mask is not None or not len(values)), values
    plain = np.dtype(getattr(dtype, "numpy_dtype", "O"))
    if plain.kind not in "biufMm":
        raise TypeError(f"column {name!r}: pandas' {dtype} is not stored in tables")
    if not null.any() and (len(null) or plain.kind in "fMm"):
        return ColumnSpec(name, plain), series.to_numpy(plain)
    if plain.kind in "fMm":
        missing = np.nan if plain.kind == "f" else np.datetime64("NaT")
        return ColumnSpec(name, plain), series.to_numpy(plain, na_value=missing)
    values = np.ma.MaskedArray(series.fillna(False if plain.kind == "b" else 0).to_numpy(plain), null)
    return ColumnSpec(name, plain, nullable=True), values


def _zone_of(name: str, zone: Any) -> str:
    """Return a time zone as Arrow spells it: by its name, or by its offset."""
    offset = zone.utcoffset(None)
    key = getattr(zone, "key", None) or getattr(zone, "zone", None) or ("UTC" if zone is UTC else None)
    if key is None and offset is not None:
        minutes = round(offset.total_seconds() / 60)
        key = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    if key is None:
        raise TypeError(f"column {name!r}: {zone!r} has no name; see Series.dt.tz_convert")
    return str(key)
