"""Python's dates, datetimes and timedeltas, and those of pandas, as values of tables."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest

import coquina as cq

DAY, NOON = date(2024, 1, 2), datetime(2024, 1, 2, 12, 0, 0, 1)
KINDS: dict[str, tuple[list[Any], str]] = {
    "dates": ([DAY, None], "M8[D]"),
    "datetimes": ([NOON, None], "M8[us]"),
    "both": ([DAY, NOON], "M8[us]"),
    "pandas": ([pd.Timestamp(NOON), pd.NaT], "M8[us]"),
    "nanoseconds": ([pd.Timestamp(1), pd.NaT], "M8[ns]"),
    "missing": ([pd.NaT, None], "M8[us]"),
    "timedeltas": ([timedelta(days=1, microseconds=1), None], "m8[us]"),
    "pandas timedeltas": ([pd.Timedelta(1), pd.NaT], "m8[ns]"),
}


def forms(values: list[Any]) -> dict[str, Any]:
    """Return the same column by name, as rows, and as a DataFrame of objects."""
    return {
        "columns": {"t": values},
        "mappings": [{"t": one} for one in values],
        "frame": pd.DataFrame({"t": pd.Series(values, dtype=object)}),
    }


@pytest.mark.parametrize("layout", ["columns", "rows"])
@pytest.mark.parametrize("name", KINDS)
def test_objects_of_datetime_are_times(tmp_path: Any, layout: Any, name: str) -> None:
    # They were "objects, which are not stored in tables", in lists, rows and columns of DataFrames.
    values, dtype = KINDS[name]
    given = [one.to_numpy() if hasattr(one, "to_numpy") else one for one in values]
    expected = [None if one is None or one is pd.NaT else np.array([one]).astype(dtype)[0] for one in given]
    expected = [None if one is None or np.isnat(one) else one for one in expected]
    for form, data in forms(values).items():
        with cq.create_table(tmp_path / f"{form}.h5", data, layout=layout) as t:
            assert t.dtype["t"] == np.dtype(dtype), form
            t.append(data)
            t.append([(values[0],)])
            found = t.to_numpy()["t"]
        assert [None if np.isnat(one) else one for one in found] == [*expected, *expected, expected[0]], form


def test_times_with_zones_are_stored_in_utc(tmp_path: Any) -> None:
    there = [NOON.replace(tzinfo=timezone(timedelta(hours=2))), NOON.replace(tzinfo=UTC)]
    for form, data in forms(there).items():
        with cq.create_table(tmp_path / f"{form}.h5", data) as t:
            assert t["t"][:].tolist() == [NOON - timedelta(hours=2), NOON], form
            assert str(t.to_pandas()["t"].dtype) == "datetime64[us, UTC]"
    with pytest.raises(TypeError, match="'t': some times have a time zone and others have none"):
        cq.create_table(tmp_path / "mixed.h5", {"t": [NOON, there[0]]})


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_times_that_a_unit_cannot_hold_are_refused(tmp_path: Any, layout: Any) -> None:
    # Rows as tuples, and text, were cut off: 12 o'clock became midnight.
    with cq.create_table(tmp_path / "t.h5", {"t": np.array(["2024-01-01"], "M8[D]")}, layout=layout) as t:
        for wrong in (NOON, "2024-01-02T12:00", pd.Timestamp(NOON)):
            for data in (*forms([wrong]).values(), [(wrong,)]):
                with pytest.raises(ValueError, match="does not fit its unit"):
                    t.append(data)
        with pytest.raises(TypeError, match=r"cannot be cast|takes dates"):
            t.append([(timedelta(1),)])
        assert len(t) == 1
        t["t"][0] = DAY
        t.modify(0, {"t": DAY})
        t.where("t is not null").modify({"t": datetime(2024, 1, 3)})
        assert t[0].item() == (date(2024, 1, 3),)


def test_dates_survive_pandas(tmp_path: Any) -> None:
    # They came as objects, which could not be appended again.
    with cq.create_table(tmp_path / "t.h5", {"t": np.array(["2024-01-01", "NaT"], "M8[D]")}) as t:
        frame = t.to_pandas()
        assert frame["t"].dtype.kind == "M"
        t.append(frame)
        assert np.array_equal(t["t"][2:], t["t"][:2], equal_nan=True)


def test_what_pandas_has_for_no_value_is_none_in_lists(tmp_path: Any) -> None:
    with cq.create_table(
        tmp_path / "t.h5", {"n": [1, pd.NA], "s": ["a", float("nan")], "u": [pd.NA, "b"]}
    ) as t:
        assert t[:].tolist() == [(1, "a", None), (None, None, "b")]
        assert t.dtype["n"] == np.int64
        t.append([{"n": pd.NA, "s": pd.NA, "u": "c"}])
        assert t[-1].tolist() == (None, None, "c")


@pytest.mark.parametrize("path", ["t.h5", "folder"])
def test_a_row_with_nulls_is_assigned_and_appended(tmp_path: Any, path: str) -> None:
    # NumPy's single masked records were taken for arrays without an axis: IndexError.
    columns = {"n": np.ma.MaskedArray([1, 2, 3], [0, 1, 0]), "s": ["x", None, "y"], "t": [DAY, DAY, None]}
    with cq.create_table(tmp_path / path, columns) as t:
        rows = [one.tolist() for one in t]
        t[0] = t[1]
        assert t[0].tolist() == rows[1]
        t.append(t[1])
        t.append([t[2], t[1]])
        assert [one.tolist() for one in t[3:]] == [rows[1], rows[2], rows[1]]
        with cq.create_table(tmp_path / f"copy {path}", [t[1], t[2]]) as copied:
            assert [one.tolist() for one in copied] == [rows[1], rows[2]]


def test_what_stands_behind_a_mask_of_dates_is_of_no_account(tmp_path):
    """It was compared with the NaT that is stored for it: "does not fit its unit"."""
    when = np.ma.array(["2024-01-05", "2024-01-09", "2024-01-07"], "M8[D]", mask=[0, 1, 0])
    with cq.create_table(tmp_path / "t.h5", {"when": when}) as table:
        assert np.isnat(table["when"][:]).tolist() == [False, True, False]
        with pytest.raises(ValueError, match="does not fit its unit"):
            table.append({"when": np.array(["2024-01-05T01"], "M8[h]")})
