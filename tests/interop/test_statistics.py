"""Statistics of chunks: python-blosc2 reads files that have them, and what it has changed has none."""

from __future__ import annotations

import blosc2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import coquina as cq
from coquina.arrays.statistics import chunk_statistics

DTYPES = ["?", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"]
places = pytest.mark.parametrize("contiguous", [True, False], ids=["file", "directory"])


def boxes(array: cq.Array) -> list[tuple[slice, ...]]:
    """The region of each chunk."""
    counts = [-(-n // c) for n, c in zip(array.shape, array.chunks, strict=True)]
    ends = list(zip(array.chunks, array.shape, strict=True))
    return [
        tuple(slice(i * c, min((i + 1) * c, n)) for i, (c, n) in zip(at, ends, strict=True))
        for at in np.ndindex(*counts)
    ]


def check(array: cq.Array, items: np.ndarray) -> np.ndarray:
    """Hold what is known against NumPy."""
    rows = chunk_statistics(array)
    assert array.info.known_chunks == rows["known"].sum()
    for row, box in zip(rows, boxes(array), strict=True):
        part = items[box]
        nans = part != part
        numbers = part[~nans]
        if not row["known"]:
            assert not row["has_nan"]
            assert not row["exact"]
            continue
        assert (row["min"] <= numbers).all()
        assert (numbers <= row["max"]).all()
        assert row["has_nan"] or not nans.any()
        if row["exact"]:
            assert row["has_nan"] == nans.any()
            np.testing.assert_array_equal(row["min"], numbers.min() if numbers.size else np.nan)
            np.testing.assert_array_equal(row["max"], numbers.max() if numbers.size else np.nan)
    return rows


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_dtype_has_what_numpy_finds(data):
    dtype = np.dtype(data.draw(st.sampled_from(DTYPES)))
    shape = data.draw(hnp.array_shapes(max_dims=3, max_side=9))
    chunks = tuple(data.draw(st.integers(1, n)) for n in shape)
    blocks = tuple(data.draw(st.integers(1, n)) for n in chunks)
    items = data.draw(hnp.arrays(dtype, shape))
    array = cq.asarray(items, chunks=chunks, blocks=blocks)
    rows = check(array, items)
    assert rows["known"].all()
    assert rows["exact"].all()
    key = tuple(data.draw(st.slices(n)) for n in shape)
    items[key] = array[key] = data.draw(hnp.from_dtype(dtype))
    assert check(array, items)["known"].all()


@places
def test_files_with_statistics_are_plain_arrays_to_the_peer(contiguous, tmp_path):
    for number, dtype in enumerate(DTYPES):
        items = (np.arange(700).reshape(20, 35) % 13 - 3).astype(dtype)
        path = tmp_path / str(number)
        ours = cq.asarray(items, chunks=(6, 10), blocks=(3, 4), path=path, contiguous=contiguous)
        assert check(ours, items)["exact"].all()
        ours.close()
        peer = blosc2.open(str(path), mode="r")
        assert (peer.shape, peer.dtype) == (items.shape, items.dtype)
        assert np.array_equal(peer[...], items)
        assert isinstance(peer.schunk.vlmeta["coquina"], bytes)


def change(peer: blosc2.NDArray, items: np.ndarray, how: str) -> np.ndarray:
    """Let the peer change a chunk, the shape or what it says of itself."""
    match how:
        case "items":
            peer[:7, :5] = items[:7, :5] = 1000
        case "grow":
            peer.resize((22, 35))
            items = np.concatenate([items, np.zeros((2, 35), items.dtype)])
        case "grow within the chunk":
            peer.resize((20, 38))
            items = np.concatenate([items, np.zeros((20, 3), items.dtype)], axis=1)
        case "shrink":
            peer.resize((11, 35))
            items = items[:11]
        case _:
            peer.schunk.vlmeta["note"] = "changed"
    return items


@places
@pytest.mark.parametrize("how", ["items", "grow", "grow within the chunk", "shrink", "metadata"])
def test_what_the_peer_has_changed_is_not_believed(how, contiguous, tmp_path):
    items = np.arange(5.0, 705.0).reshape(20, 35)
    path = tmp_path / "a"
    ours = cq.asarray(items, chunks=(6, 10), blocks=(3, 4), path=path, contiguous=contiguous)
    ours.close()
    items = change(blosc2.open(str(path), mode="a"), items.copy(), how)
    again = cq.open(path)
    assert again.info.checksums == "stale"
    assert not chunk_statistics(again)["known"].any()
    check(again, items)
    again.close()
    # What is written from here on is known again, and the rest is not.
    again = cq.open(path, mode="r+")
    items[6:12, :10] = again[6:12, :10] = -3.5
    number = -(-items.shape[1] // 10)
    rows = check(again, items)
    assert rows["known"].sum() == again.info.special_chunks + 1
    assert rows[number]["known"]
    assert rows[number]["min"] == rows[number]["max"] == -3.5
    again.close()
    assert np.array_equal(check(cq.open(path), items), rows)
    assert np.array_equal(blosc2.open(str(path), mode="r")[...], items)


def test_arrays_of_the_peer_have_none_until_we_write(tmp_path):
    items = np.arange(100, dtype="i2")
    path = tmp_path / "a.b2nd"
    blosc2.asarray(items, chunks=(30,), blocks=(10,), urlpath=str(path))
    array = cq.open(path, mode="r+")
    assert not check(array, items)["known"].any()
    items[30:60] = array[30:60] = 7 - items[30:60]
    assert list(check(array, items)["known"]) == [False, True, False, False]
    array.close()
    assert list(check(cq.open(path), items)["known"]) == [False, True, False, False]


def test_other_dtypes_have_none():
    for dtype in ["S3", "M8[s]", "c16"]:
        with pytest.raises(TypeError, match="order"):
            chunk_statistics(cq.asarray(np.zeros(5, dtype)))
    for dtype in [">i4", "f2"]:
        assert not chunk_statistics(cq.asarray(np.ones(5, dtype)))["known"].any()
