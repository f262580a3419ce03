"""Rows in the order of numbers: NumPy's stable order, of every type, of few rows and of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import coquina as cq
from coquina._core import order_of
from coquina.tables import ordering

if TYPE_CHECKING:
    from pathlib import Path

DTYPES = [
    *("?", "i1", "i2", "<i4", ">i4", "<i8", ">i8", "u1", "u2", "<u4", ">u4", "<u8"),
    *("f2", "<f4", ">f4", "<f8", ">f8", "M8[s]", "m8[ms]"),
]


def numbers(dtype: str, rows: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return numbers of which many are equal, with the greatest, the least, both zeros and what is none."""
    kind = np.dtype(dtype)
    x: np.ndarray[Any, Any] = rng.integers(-90, 90, rows).astype("i8")
    if kind.kind in "iu":
        info = np.iinfo(kind)
        x = np.abs(x) if kind.kind == "u" else x
        x = x.astype(kind)
        x[rng.integers(0, rows, 9)] = rng.choice(np.array([info.min, info.max], kind), 9)
    elif kind.kind == "f":
        x = (x / 4).astype(kind)
        x[rng.integers(0, rows, 40)] = rng.choice([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0], 40)
    else:
        x = (x > 0 if kind.kind == "b" else x).astype(kind)
        if kind.kind in "mM":
            x[rng.integers(0, rows, 9)] = "NaT"
    return x


def places(x: np.ndarray[Any, Any], *, is_descending: bool) -> np.ndarray[Any, Any]:
    """Return the places in order: equal ones keep theirs, and what is none comes last."""
    missing = np.isnat(x) if x.dtype.kind in "mM" else x != x
    there, rest = np.flatnonzero(~missing), np.flatnonzero(missing)
    if is_descending:
        back = there[::-1]
        there = back[np.argsort(x[back], kind="stable")][::-1]
    else:
        there = there[np.argsort(x[there], kind="stable")]
    return np.concatenate([there, rest])


@pytest.mark.parametrize("is_descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_in_the_order_of_numbers(tmp_path: Path, dtype: str, is_descending: bool) -> None:
    rng = np.random.default_rng(11)
    most = ordering._ORDERED_NUMBERS
    for rows in (1, 300, most - 1, most, 5 * most + 3):
        x = numbers(dtype, rows, rng)
        table = cq.create_table(tmp_path / f"{rows}.h5", {"x": x, "i": np.arange(rows)})
        found = table.order_by("x", descending=is_descending)["i"]
        np.testing.assert_array_equal(found, places(x, is_descending=is_descending))


def test_the_second_of_two_columns_decides_where_the_first_is_equal(tmp_path: Path) -> None:
    rng = np.random.default_rng(12)
    rows = 2 * ordering._ORDERED_NUMBERS
    a, b = rng.integers(0, 5, rows), rng.integers(-1000, 1000, rows).astype("f4")
    table = cq.create_table(tmp_path / f"{rows}.h5", {"a": a, "b": b, "i": np.arange(rows)})
    np.testing.assert_array_equal(table.order_by(["a", "b"])["i"], np.lexsort([b, a]))


def test_the_engine_orders_many_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(numbers: Any, kind: str, item_bytes: int) -> Any:
        calls.append(kind)
        return order_of(numbers, kind, item_bytes)

    monkeypatch.setattr(ordering, "order_of", counted)
    most = ordering._ORDERED_NUMBERS
    x = np.arange(2 * most, dtype="f4")[::-1]
    table = cq.create_table(tmp_path / "t.h5", {"x": x})
    np.testing.assert_array_equal(table.order_by("x").head(most)["x"], x[::-1][:most])
    assert calls == ["float32"]


def test_what_has_no_place_or_lies_across_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        order_of(np.array([1.0, np.nan]), "float64", 8)
    across = np.frombuffer(bytes(8 * 4 + 1), "u1")[1:].view("f8")
    with pytest.raises(ValueError, match="aligned"):
        order_of(across, "float64", 8)
