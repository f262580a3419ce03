"""Categories in Arrow, pandas and orders: all of them, in their own order, whichever rows are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import coquina as cq


@pytest.fixture(params=["t.h5", "folder"])
def table(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    """Ordered categories of text, integers and floats, others that have no order, and rows without."""
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(["mid", "low", "high", "low", None], ["low", "mid", "high", "huge"], True),
            "n": pd.Categorical([3, 10, 3, 1, None], [10, 3, 1], True),
            "x": pd.Categorical([3.0, 10.0, 3.0, 1.0, None], [10.0, 3.0, 1.0], True),
            "sym": pd.Categorical(["b", "a", "b", "a", None], ["c", "b", "a"]),
            "v": [2, 3, 1, 5, 4],
        }
    )
    with cq.create_table(tmp_path / request.param, frame) as made:
        yield made, frame


def test_every_selection_keeps_all_categories_and_their_order(table: Any) -> None:
    # Sorted rows had the categories that occurred, in the order of the alphabet, and were still called
    # ordered; selections without rows had none.
    made, frame = table
    selections = {
        "sorted": made.order_by("v"),
        "first": made.order_by("v").head(1),
        "some": made.where("v > 3"),
        "none": made.where("v > 99"),
        "none sorted": made.where("v > 99").order_by("v"),
    }
    for name, selection in selections.items():
        found = selection.to_pandas()
        assert found.dtypes.to_dict() == frame.dtypes.to_dict(), name
    expected = frame.sort_values("v", ignore_index=True)
    pd.testing.assert_frame_equal(made.order_by("v").to_pandas(), expected)


@pytest.mark.parametrize("name", ["size", "n", "x"])
def test_ordered_categories_sort_and_have_extremes_as_conditions_compare_them(table: Any, name: str) -> None:
    # `x > 'low'` compared places, while orders and extremes compared the text itself.
    made, frame = table
    for is_descending in (False, True):
        expected = frame.sort_values(name, ascending=not is_descending, kind="stable", ignore_index=True)
        for found in (
            made.order_by(name, descending=is_descending),
            made.where("v > 0").order_by(name, descending=is_descending),
        ):
            pd.testing.assert_frame_equal(found.to_pandas(), expected)
            pd.testing.assert_frame_equal(found.head(3).to_pandas(), expected.head(3))
    assert (made.min(name), made.max(name)) == (frame[name].min(), frame[name].max())
    groups = made.group_by("sym").agg({name: ["min", "max"]})
    for key, least, greatest in groups.tolist():
        rows = frame[frame["sym"] == key] if key is not None else frame[frame["sym"].isna()]
        expected = (None, None) if key is None else (rows[name].min(), rows[name].max())
        assert (least, greatest) == expected
    with pytest.raises(ValueError, match="no values"):
        made.where("sym is null").min(name)


def test_rows_sorted_on_disk_follow_the_order_of_categories(tmp_path: Any) -> None:
    names = ["low", "mid", "high"]
    places = np.random.default_rng(0).integers(-1, 3, 20_000)
    frame = pd.DataFrame(
        {"size": pd.Categorical.from_codes(places, names, ordered=True), "v": np.arange(20_000)}
    )
    with (
        cq.create_table(tmp_path / "t.h5", frame) as made,
        made.copy(tmp_path / "sorted.h5", sort_by="size", memory_limit=1) as copied,
    ):
        found = copied.to_pandas()
    pd.testing.assert_frame_equal(found, frame.sort_values("size", kind="stable", ignore_index=True))
