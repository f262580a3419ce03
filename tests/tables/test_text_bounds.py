"""Bounds of texts of a fixed width leave blocks out, and answers are those of NumPy through any change.

Texts have zeros inside, bytes above 127 and lengths up to their width; half of the tables are in order, so
that bounds decide. A peer overwrites texts and knows nothing of bounds.
"""

from __future__ import annotations

import h5py
import hdf5plugin  # noqa: F401 - its filters
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq

ROWS = 3000
COMPARED = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def texts(seed: int, count: int, width: int, has_order: bool) -> np.ndarray:
    """Return texts of few letters; by the seed, some have zeros inside."""
    rng = np.random.default_rng(seed)
    share = [0.4, 0.4, 0.02 * (seed % 2), 0.1, 0.1 - 0.02 * (seed % 2)]
    made = rng.choice(np.frombuffer(b"ab\0\xffc", np.uint8), (count, width), p=share)
    made[np.arange(width) >= rng.integers(0, width + 1, count)[:, None]] = 0
    made = made.view(f"S{width}")[:, 0]
    return np.sort(made) if has_order else made


def check(table, expected: np.ndarray, asked: list[bytes]) -> int:
    """Every comparison of the column is NumPy's; how many boxes were known without decoding."""
    known = 0
    for constant in asked:
        for name, ufunc in COMPARED.items():
            found = table.where(f"s {name} {constant!r}")
            wanted = np.flatnonzero(ufunc(expected, constant))
            assert np.array_equal(found.row_numbers(), wanted), (name, constant)
            scan = found.explain().scan
            known += scan["boxes_skipped"] + scan["boxes_whole"]
        found = table.where(f"s.startswith({constant!r})")
        wanted = np.flatnonzero(np.char.startswith(expected, constant))
        assert np.array_equal(found.row_numbers(), wanted), ("startswith", constant)
    among = table.where(f"s in ({', '.join(map(repr, asked))},)").row_numbers()
    assert np.array_equal(among, np.flatnonzero(np.isin(expected, asked)))
    return known


CASES = {
    "layout": st.sampled_from(["columns", "rows"]),
    "width": st.sampled_from([1, 3, 8, 9, 16, 40]),
    "seed": st.integers(0, 99),
    "has_order": st.booleans(),
    "steps": st.lists(st.sampled_from(["append", "modify", "delete"]), max_size=3),
}


@settings(max_examples=25, deadline=None)
@given(**CASES)
def test_answers_are_those_of_numpy_through_changes(tmp_path_factory, layout, width, seed, has_order, steps):
    path = tmp_path_factory.mktemp("bounds") / "t.h5"
    expected = texts(seed, ROWS, width, has_order)
    rng = np.random.default_rng(seed)
    constants = [bytes(expected[row]) for row in rng.integers(0, ROWS, 2)]
    asked = [*constants, b"", b"a", b"ab", b"b" * (width + 1), b"\x7f"]
    data = {"s": expected, "n": np.arange(ROWS)}
    with cq.create_table(path, data, layout=layout, mode="w", chunk_rows=1000) as table:
        check(table, expected, asked)
        for number, step in enumerate(steps):
            other = texts(seed + number + 1, 500, width, has_order)
            if step == "append":
                table.append({"s": other, "n": np.arange(500)})
                expected = np.concatenate([expected, other])
            elif step == "modify":
                rows = np.sort(rng.choice(len(expected), 500, replace=False))
                table.modify(rows, {"s": other})
                expected = expected.copy()
                expected[rows] = other
            else:
                table.delete(slice(100, 300))
                expected = np.delete(expected, slice(100, 300))
            check(table, expected, asked)
    with cq.open_table(path) as table:
        check(table, expected, asked)


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_boxes_are_left_out_by_bounds(tmp_path, layout):
    path, expected = tmp_path / "t.h5", np.sort(np.array([b"%07d" % n for n in range(40_000)], "S12"))
    data = {"s": expected, "n": np.arange(len(expected))}
    with cq.create_table(path, data, layout=layout, mode="w", chunk_rows=8000) as table:
        scan = table.where("s == '0012345'").explain().scan
        assert scan["boxes_skipped"] == scan["boxes"] - 1
        scan = table.where("s < '0009'").explain().scan
        assert scan["boxes_skipped"] + scan["boxes_whole"] >= scan["boxes"] - 2
        for absent in ("s == 'x'", "s in ('x', '/')", "s.startswith('x')", "s > '9'"):
            scan = table.where(absent).explain().scan
            assert scan["boxes_skipped"] == scan["boxes"], absent
            assert scan["rows_scanned"] == 0, absent


def test_what_a_peer_overwrites_is_found(tmp_path):
    path, expected = tmp_path / "t.h5", np.sort(np.array([b"%05d" % n for n in range(9000)], "S8"))
    cq.create_table(path, {"s": expected}, mode="w", chunk_rows=3000).close()
    with h5py.File(path, "r+") as file:
        file["table/s"][4000] = b"zzz"
    expected[4000] = b"zzz"
    with cq.open_table(path) as table:
        check(table, expected, [b"zzz", b"04001", b"x"])
