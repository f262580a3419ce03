"""Integers of 64 bits that float64 cannot tell apart: every kind of column compares them exactly."""

from __future__ import annotations

import operator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import coquina as cq

if TYPE_CHECKING:
    from pathlib import Path

SIGNED = [0, 1, -1, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 2, 2**63 - 1, -(2**63), -(2**63) + 1]
UNSIGNED = [0, 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1]
#: Kinds of columns: the values that they are given, and whether one can be missing.
KINDS: dict[str, tuple[list[int], bool]] = {
    "int64": (SIGNED, False),
    "uint64": (UNSIGNED, False),
    "nullable int64": (SIGNED, True),
    "nullable uint64": (UNSIGNED, True),
    "categories of int64": (SIGNED, True),
    "categories of uint64": (UNSIGNED, True),
}
OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LISTED = sorted({*SIGNED, *UNSIGNED, 2**64, -(2**63) - 1})


def pool(kind: str) -> list[int | None]:
    """Return the values of a kind."""
    values, can_miss = KINDS[kind]
    return [*values, None] if can_miss else [*values]


def column(kind: str, values: list[int | None]) -> Any:
    """Return values as what a table makes a column of that kind of."""
    dtype = np.dtype(np.uint64 if "uint64" in kind else np.int64)
    if kind.startswith("nullable"):
        return pd.array(values, dtype=dtype.name.replace("i", "I").replace("uI", "UI"))
    if kind.startswith("categories"):
        known = sorted({one for one in values if one is not None})
        codes = [-1 if one is None else known.index(one) for one in values]
        return pd.Categorical.from_codes(codes, pd.Index(np.array(known, dtype)))
    return np.array(values, dtype)


def layouts(*kinds: str) -> list[str]:
    """Return the layouts that have these kinds."""
    return ["rows", "columns"] if not any(KINDS[kind][1] for kind in kinds) else ["columns"]


@pytest.mark.parametrize(
    ("left", "right", "layout"),
    [(left, right, layout) for left, right in product(KINDS, KINDS) for layout in layouts(left, right)],
)
def test_two_integer_columns_compare_as_pythons_integers(
    left: str, right: str, layout: str, tmp_path: Path
) -> None:
    # A nullable column, or categories, on the right was compared as float64: `a == m` held for 2**53 and
    # 2**53 + 1, and `m == a` did not.
    rows = list(product(pool(left), pool(right)))
    data = {"a": column(left, [one for one, _ in rows]), "b": column(right, [one for _, one in rows])}
    with cq.create_table(tmp_path / "t.h5", data, layout=layout) as t:
        for sign, compare in OPERATORS.items():
            wanted = [a is not None and b is not None and compare(a, b) for a, b in rows]
            numbers = np.flatnonzero(wanted).tolist()
            for text in (f"a {sign} b", f"(a + 0) {sign} b", f"a {sign} (b + 0)"):
                assert t.where(text).row_numbers().tolist() == numbers, text
            found = compare(t["a"], t["b"])
            assert np.asarray(found[...]).tolist() == wanted, sign


@pytest.mark.parametrize("indexed", [False, True], ids=["scan", "index"])
@pytest.mark.parametrize("kind", KINDS)
def test_integers_are_among_exactly_the_listed_ones(kind: str, indexed: bool, tmp_path: Path) -> None:
    # An expression was looked for among many values by NumPy, which joins int64 and uint64 to float64.
    values = pool(kind) * 3
    with cq.create_table(tmp_path / "t.h5", {"a": column(kind, values)}, layout="columns") as t:
        if indexed:
            t.create_index("a")
        arrays = [
            np.array([one for one in LISTED if 0 <= one < 2**64], np.uint64),
            np.array([one for one in LISTED if -(2**63) <= one < 2**63], np.int64),
        ]
        many: list[Any] = [LISTED, LISTED[::2], LISTED[1::2], LISTED[:3], LISTED[-3:]]
        many += [one[at::2] for one in arrays for at in (0, 1)] + [np.repeat(one[::2], 3) for one in arrays]
        for chosen in many:
            known = {int(one) for one in chosen}
            wanted = [at for at, one in enumerate(values) if one in known]
            for text in ("a in c", "a + 0 in c"):
                assert t.where(text, {"c": chosen}).row_numbers().tolist() == wanted, (text, chosen)


@pytest.mark.parametrize("kind", KINDS)
def test_means_and_extremes_of_wide_integers_do_not_wrap_around(kind: str, tmp_path: Path) -> None:
    # Windows of rows were summed in 64 bits for a mean, and the sum wrapped around.
    given, _ = KINDS[kind]
    values: list[int | None] = sorted(given)[-4:] + ([None] if KINDS[kind][1] else [])
    there = [one for one in values if one is not None]
    data = {"a": column(kind, values), "at": np.arange(len(values))}
    with cq.create_table(tmp_path / "t.h5", data, layout="columns") as t:
        for selection in (t, t.order_by("at").head(10)):
            assert selection.min("a") == min(there)
            assert selection.max("a") == max(there)
            assert selection.mean("a") == sum(there) / len(there)


def test_functions_of_arrays_read_missing_integers_as_nan(tmp_path: Path) -> None:
    # They read the number that happens to stand behind the mask: isnan was false, the median that of zeros.
    data = {"m": pd.array([3, None, 5], dtype="Int64"), "c": pd.Categorical([3, None, 5])}
    with cq.create_table(tmp_path / "t.h5", data, layout="columns") as t:
        for name in data:
            one, plain = t[name], np.array([3, np.nan, 5])
            assert cq.isnan(one)[...].tolist() == [False, True, False]
            np.testing.assert_array_equal(cq.add(one, 1)[...], plain + 1)
            np.testing.assert_array_equal(cq.sort(one)[...], [3, 5, np.nan])
            np.testing.assert_array_equal(cq.concat([one, one])[...], [*plain, *plain])
            np.testing.assert_array_equal(cq.cumulative_sum(one)[...], np.cumsum(plain))
            assert np.isnan(cq.median(one))
            assert cq.nansum(one) == 8
            with pytest.raises(ValueError, match="values are missing"):
                cq.asarray(one)
            with pytest.raises(ValueError, match="values are missing"):
                np.asarray(one)
