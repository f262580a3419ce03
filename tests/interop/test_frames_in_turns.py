"""Records in turns: python-blosc2 reads each commit, and goes on from what a kill left."""

from __future__ import annotations

import shutil
from pathlib import Path

import blosc2
import numpy as np

import coquina as cq

ITEMS = 16


def rows(number: int, count: int = 1) -> np.ndarray:
    """Some chunks, all different."""
    return np.arange(number * ITEMS, (number + count) * ITEMS, dtype="f4") ** 2


def made(path: Path, nchunks: int) -> np.ndarray:
    """A file of so many chunks."""
    x = rows(0, nchunks)
    cq.asarray(x, path=path, chunks=(ITEMS,), blocks=(ITEMS,)).close()
    return x


def steps(a: cq.Array, x: np.ndarray, number: int) -> np.ndarray:
    """Change an array, and return what it holds then."""
    if number % 5 == 3:
        a[ITEMS : 3 * ITEMS] = number
        x = x.copy()
        x[ITEMS : 3 * ITEMS] = number
        return x
    if number % 5 == 4:
        a.resize((len(x) - 3,))
        return x[:-3]
    piece = rows(number, number % 3 + 1)
    a.append(piece)
    return np.concatenate([x, piece])


def test_python_blosc2_reads_every_commit(tmp_path: Path) -> None:
    path, copy = tmp_path / "x.b2nd", tmp_path / "copy.b2nd"
    x = made(path, 300)
    with cq.open(path, "r+") as a:
        for number in range(20):
            x = steps(a, x, number)
            np.testing.assert_array_equal(blosc2.open(str(path), mode="r")[...], x)
            np.testing.assert_array_equal(cq.open(path)[...], x)
            # What a kill leaves now, others change.
            shutil.copyfile(path, copy)
            theirs = blosc2.open(str(copy), mode="a")
            theirs.resize((len(x) + 2 * ITEMS,))
            theirs[len(x) :] = 7
            del theirs
            expected = np.concatenate([x, np.full(2 * ITEMS, 7, "f4")])
            np.testing.assert_array_equal(cq.open(copy)[...], expected)
            with cq.open(copy, "r+") as again:
                again.append(rows(5))
            np.testing.assert_array_equal(
                blosc2.open(str(copy), mode="r")[...], np.concatenate([expected, rows(5)])
            )
    np.testing.assert_array_equal(cq.open(path)[...], x)
    np.testing.assert_array_equal(blosc2.open(str(path), mode="r")[...], x)
    assert cq.open(path).verify() == []


def test_commits_after_the_second_one_leave_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "x.b2nd"
    x = made(path, 5000)
    with cq.open(path, "r+") as a:
        a.append(rows(1))
        a.append(rows(2))
        a.append(rows(3))
        before = path.stat().st_size
        for number in range(50):
            a.append(rows(number))
        assert path.stat().st_size == before
    assert path.stat().st_size < before
    pieces = [rows(number) for number in (1, 2, 3, *range(50))]
    np.testing.assert_array_equal(cq.open(path)[...], np.concatenate([x, *pieces]))


def test_readers_keep_what_they_have_and_find_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "x.b2nd"
    x = made(path, 600)
    reader = cq.open(path)
    with cq.open(path, "r+") as a:
        for number in range(12):
            old = x
            x = steps(a, x, number)
            np.testing.assert_array_equal(reader[...], old)
            reader.refresh()
            np.testing.assert_array_equal(reader[...], x)
            a.attrs["note"] = number
            x = steps(a, x, number + 100)
            reader.refresh()
            assert reader.attrs["note"] == number
            np.testing.assert_array_equal(reader[...], x)
