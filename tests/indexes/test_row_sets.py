"""Sets of rows as conditions and as lists, and fingerprints of rows, with NumPy as the judge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina
from coquina import _core
from coquina._core import RowSet
from tests.reference.scanning import reader_of

ROWS = 3000
NONE = np.empty((0, 2), np.int64)


def of(rows: object) -> np.ndarray:
    return np.array(sorted(rows), dtype=np.int64)


def pairs(ends: list[int]) -> np.ndarray:
    return np.array(sorted(ends)[: len(ends) // 2 * 2], dtype=np.int64).reshape(-1, 2)


rows_of = st.sets(st.integers(0, ROWS - 1), max_size=200).map(of)
ranges_of = st.sets(st.integers(0, ROWS), max_size=8).map(list).map(pairs)
cuts = st.sampled_from([(ROWS, 500), (700, 70), (1, 1), (10**6, 10**6)])


def mask_of(rows: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    mask = np.zeros(ROWS, bool)
    mask[rows] = True
    for start, stop in ranges:
        mask[start:stop] = True
    return mask


@given(rows_of, rows_of, ranges_of)
def test_lists_are_sets(a: np.ndarray, b: np.ndarray, ranges: np.ndarray) -> None:
    one, other = RowSet(a, NONE), RowSet(b, NONE)
    np.testing.assert_array_equal((one & other).rows, np.intersect1d(a, b))
    np.testing.assert_array_equal((one | other).rows, np.union1d(a, b))
    assert (one & other).is_exact
    assert (one | other).is_exact
    inside = mask_of(of([]), ranges)
    np.testing.assert_array_equal(RowSet(a, ranges).known(), a[~inside[a]])
    # Of a row that only one has nothing is known where the other one is open.
    np.testing.assert_array_equal((one & RowSet(of([]), ranges)).rows, a[inside[a]])


@settings(max_examples=60)
@given(rows_of, ranges_of, cuts, st.integers(0, ROWS), st.integers(1, 50), st.none() | st.integers(0, 40))
def test_a_scan_finds_the_rows_of_a_set(
    rows: np.ndarray, ranges: np.ndarray, cut: tuple[int, int], start: int, step: int, limit: int | None
) -> None:
    condition = RowSet(rows, ranges).lazy(ROWS, *cut)
    values = np.arange(ROWS) * 3
    column = _core.lazy_memory(values)
    mask = mask_of(rows, ranges)
    wanted = np.arange(start, ROWS, step)[mask[start::step]][:limit]
    found = reader_of(column).scan(condition, range(start, ROWS, step), numbers=True, limit=limit)
    assert found.matched == len(wanted)
    np.testing.assert_array_equal(found.numbers, wanted)
    np.testing.assert_array_equal(found.values["0"].view(np.int64), values[wanted])
    if found.report:
        assert found.report["boxes_skipped"] + found.report["boxes_whole"] <= found.report["boxes"]
    boxes, unknown = _core.survey(condition, start, ROWS)
    assert unknown <= boxes
    if mask[start:].all() or not mask[start:].any():
        assert unknown == 0


@settings(max_examples=40)
@given(rows_of, ranges_of, st.sampled_from(["logical_and", "logical_or"]))
def test_a_set_is_an_operand(rows: np.ndarray, ranges: np.ndarray, name: str) -> None:
    other = np.random.default_rng(len(rows)).integers(0, 2, ROWS).astype(bool)
    nodes = [("load", 0, "bool"), ("load", 1, "bool"), ("call", name, [0, 1])]
    sources = [RowSet(rows, ranges).lazy(ROWS, 700, 70), _core.lazy_memory(other)]
    condition = _core.lazy_program(nodes, sources, (ROWS,))
    wanted = np.flatnonzero(getattr(np, name)(mask_of(rows, ranges), other))
    found = reader_of().scan(condition, range(ROWS), numbers=True)
    np.testing.assert_array_equal(found.numbers, wanted)


def test_of_a_billion_rows_only_those_are_come_to_that_may_match() -> None:
    count = 10**9
    rows = of(np.random.default_rng(0).integers(0, count, 100))
    rows = np.unique(rows)
    ranges = np.array([[5, 8], [count - 3, count]])
    condition = RowSet(rows, ranges).lazy(count, 4096, 4096)
    few = reader_of().scan(condition, range(count), numbers=True)
    numbers, report = few.numbers, few.report
    np.testing.assert_array_equal(numbers, np.union1d(rows, np.r_[5:8, count - 3 : count]))
    # More boxes than could be come to in the time of a test, if it were not for leaps.
    tiny = RowSet(rows, ranges).lazy(count, 1, 1)
    found = reader_of().scan(tiny, range(count), numbers=True)
    np.testing.assert_array_equal(found.numbers, numbers)
    assert found.report["boxes"] == count
    assert found.report["boxes_skipped"] == count - len(numbers)
    assert report["rows_scanned"] < 100 * 4096


def fingerprints(
    source: object, starts: list[int], stops: list[int], threads: int | None = None
) -> list[int]:
    found = _core.row_fingerprints(
        [source], np.array(starts, np.int64), np.array(stops, np.int64), threads=threads
    )
    return found.tolist()


@pytest.mark.parametrize("dtype", ["<i4", "<f8", "|u1", "S7", "M8[us]"])
def test_a_fingerprint_is_of_the_items_alone(dtype: str) -> None:
    random = np.random.default_rng(1)
    values = random.integers(0, 9, ROWS).astype("i4").astype("i8" if dtype[0] == "M" else dtype).astype(dtype)
    values[1000:2000] = values[0]
    starts, stops = [0, 1024, 2048, 5, 17], [1024, 2048, ROWS, 5, 2500]
    wanted = fingerprints(_core.lazy_memory(values), starts, stops)
    for chunk, block, codec in [(ROWS, ROWS, "zstd"), (1000, 100, "lz4"), (77, 11, "zstd")]:
        array = coquina.asarray(values, chunks=(chunk,), blocks=(block,), codec=codec)
        source = _core.lazy_array(array, 0, values.itemsize)
        for threads in (1, 2, None):
            assert fingerprints(source, starts, stops, threads) == wanted
    assert len(set(wanted)) == len(wanted)
    for row in (0, 1023, 1024, ROWS - 1):
        changed = values.copy()
        changed[row] = random.permutation(np.setdiff1d(values, values[row : row + 1]))[0]
        found = fingerprints(_core.lazy_memory(changed), starts, stops)
        inside = [start <= row < stop for start, stop in zip(starts, stops, strict=True)]
        assert [a != b for a, b in zip(found, wanted, strict=True)] == inside


@settings(max_examples=30)
@given(st.lists(st.text(max_size=5), min_size=3, max_size=30), st.integers(0, 40))
def test_fingerprints_of_texts_do_not_tell_where_they_lie(texts: list[str], before: int) -> None:
    def source(texts: list[str], before: int) -> tuple[_core.Lazy, _core.Lazy]:
        parts = [text.encode() for text in texts]
        places = before + np.cumsum([0, *map(len, parts)])
        data = np.frombuffer(bytes(before) + b"".join(parts) + b"?", np.uint8)
        return _core.lazy_memory(places.astype(np.int64)), _core.lazy_memory(data)

    stops = [1, len(texts)]
    wanted = fingerprints(source(texts, 0), [0, 1], stops)
    assert fingerprints(source(texts, before), [0, 1], stops) == wanted
    # The same bytes as other texts are others.
    moved = [*texts[:-2], texts[-2] + texts[-1], ""]
    is_same = moved == texts
    assert (
        fingerprints(source(moved, before), [0], [len(texts)])
        == fingerprints(source(texts, 0), [0], [len(texts)])
    ) == is_same


def test_what_is_no_set_is_refused() -> None:
    good = of([1, 2])
    for rows in ([2, 1], [1, 1], [-1], [ROWS]):
        with pytest.raises(ValueError, match="rows: "):
            RowSet(np.array(rows), NONE).lazy(ROWS, 10, 10)
    for ranges in ([[2, 1]], [[0, 3], [2, 4]], [[0, ROWS + 1]], [[-1, 2]]):
        with pytest.raises(ValueError, match="takes ranges"):
            RowSet(good, np.array(ranges)).lazy(ROWS, 10, 10)
    with pytest.raises(ValueError, match="shape"):
        RowSet(good, np.empty((2, 3), np.int64))
    with pytest.raises(ValueError, match="chunks of 0"):
        RowSet(good, NONE).lazy(ROWS, 0, 10)
    with pytest.raises(TypeError):
        RowSet(good.astype("f8"), NONE)
    with pytest.raises(ValueError, match="ascending"):
        RowSet(np.array([3, 2]), NONE)
    with pytest.raises(IndexError):
        fingerprints(_core.lazy_memory(good), [0], [3])
    with pytest.raises(ValueError, match="row -1"):
        fingerprints(_core.lazy_memory(good), [-1], [1])
    with pytest.raises(IndexError):
        _core.survey(RowSet(good, NONE).lazy(ROWS, 10, 10), 0, ROWS + 1)
