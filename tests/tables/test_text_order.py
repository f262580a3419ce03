"""Rows in the order of text: that of Python's strings, of each layout and home, and of few and many rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import coquina as cq
from coquina._core import text_ranks
from coquina.tables import ordering

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 3000
LETTERS = ["a", "b\0c", "é", "日", "\U0001f41a", ""]
PLACES: dict[str, tuple[str, dict[str, Any]]] = {
    "columns": ("t.h5", {}),
    "records": ("t.h5", {"layout": "rows"}),
    "directory": ("t", {}),
}


def texts(rng: np.random.Generator, longest: int) -> list[str]:
    """Return texts with much in common: the same beginning, or all of it but how many zeros stand behind."""
    begin = rng.choice(["", "the same beginning of both ", "日" * 50], ROWS)
    rest = ["".join(rng.choice(LETTERS, length)) for length in rng.integers(0, longest, ROWS)]
    return [str(a) + b for a, b in zip(begin, rest, strict=True)]


def in_order(values: list[Any], *, is_descending: bool) -> list[int]:
    """Return the places of values in order; equal ones keep theirs, and None comes last."""
    there = [at for at, value in enumerate(values) if value is not None]
    there.sort(key=lambda at: values[at], reverse=is_descending)
    return there + [at for at, value in enumerate(values) if value is None]


@pytest.mark.parametrize("is_descending", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_rows_are_in_the_order_of_text(tmp_path: Path, place: str, is_descending: bool) -> None:
    name, options = PLACES[place]
    rng = np.random.default_rng(7)
    found = texts(rng, 9)
    data: dict[str, Any] = {
        "i": rng.integers(0, 4, ROWS),
        "u": np.array([text.rstrip("\0") for text in found], "U200"),
        "s": np.array([text.encode().rstrip(b"\0") for text in found], "S200"),
    }
    if place != "records":
        data["t"] = found
        data["null"] = [None if at % 7 == 0 else text for at, text in enumerate(found)]
    with cq.create_table(tmp_path / name, data, **options) as table:
        for key in [key for key in data if key != "i"]:
            values = data[key] if isinstance(data[key], list) else data[key].tolist()
            wanted = in_order(values, is_descending=is_descending)
            rows = table.order_by(key, is_descending)
            assert rows.row_numbers().tolist() == wanted
            assert rows.to_numpy("i").tolist() == data["i"][wanted].tolist()
            assert rows.to_arrow()["i"].to_pylist() == data["i"][wanted].tolist()
            assert rows.head(5)["i"].tolist() == data["i"][wanted[:5]].tolist()
            both = sorted(wanted, key=lambda at: data["i"][at])
            assert table.order_by(["i", key], [False, is_descending]).row_numbers().tolist() == both
            some = [row for row in wanted if data["i"][row] > 1]
            assert table.where("i > 1").order_by(key, is_descending).row_numbers().tolist() == some


@pytest.mark.parametrize("kind", ["U30", ">U30", "S30"])
def test_texts_of_one_length_are_ranked_as_numpy_sorts_them(kind: str) -> None:
    rng = np.random.default_rng(3)
    values = np.array([text[-8:].encode() if "S" in kind else text[-8:] for text in texts(rng, 6)], kind)
    ranks = ordering._ranks_of(values)
    assert ranks.dtype == np.uint32
    assert np.array_equal(ranks, np.unique(values, return_inverse=True)[1])
    assert ordering._ranks_of(values[:10]) is not None
    masked = ordering._ranks_of(np.ma.MaskedArray(values, np.arange(ROWS) % 3 == 0))
    assert np.array_equal(masked.data, ranks)
    assert np.array_equal(np.ma.getmaskarray(masked), np.arange(ROWS) % 3 == 0)


def test_ranks_of_texts_take_offsets_that_fit() -> None:
    letters = np.frombuffer(b"abcabc", np.uint8)
    assert text_ranks(np.array([0, 3, 3, 6, 6]), letters).tolist() == [1, 0, 1, 0]
    for offsets in ([0, 7], [3, 2], [-1, 2]):
        with pytest.raises(ValueError, match="offsets of texts in 6 bytes"):
            text_ranks(np.array(offsets), letters)
