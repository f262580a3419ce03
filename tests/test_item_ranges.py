"""Ranges of items against slices of the whole; bytes that do not depend on the number of threads."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest

import coquina as cq
from tests.interop.interop_cells import data

PIPELINES = (
    (),
    ("shuffle",),
    ("bitshuffle",),
    ("delta",),
    ("delta", "shuffle"),
    ("shuffle", "delta", "bitshuffle"),
    ("shuffle", "bytedelta"),
    (("trunc_prec", 9), "delta", "shuffle"),
    (("int_trunc", -3), "bitshuffle", "bytedelta"),
)
CODECS = tuple(name for name, number in cq.codecs().items() if number < 32)
by_codec = pytest.mark.parametrize("codec", CODECS)
by_pipeline = pytest.mark.parametrize("pipeline", PIPELINES, ids=str)


def item_ranges(items: int, block_items: int, rng: np.random.Generator):
    """Nothing, everything, single items, the borders of blocks, and random ranges."""
    marks = {0, 1, items - 1, items, items // 2}
    for block in (1, 2, items // max(block_items, 1)):
        marks.update((block * block_items - 1, block * block_items, block * block_items + 1))
    marks = sorted(mark for mark in marks if 0 <= mark <= items)
    yield from itertools.combinations_with_replacement(marks, 2)
    yield from (sorted(pair) for pair in rng.integers(0, items + 1, (30, 2)).tolist())


def assert_ranges_are_slices(chunk: bytes, threads: tuple[int, ...] = (1, 2)) -> int:
    whole, info = cq.decompress(chunk), cq.chunk_info(chunk)
    block_items = (info.blocksize or 100) // info.typesize
    seen = 0
    for start, stop in item_ranges(info.nbytes // info.typesize, block_items, np.random.default_rng(3)):
        expected = whole[start * info.typesize : stop * info.typesize]
        for count in threads:
            assert cq.decompress_items(chunk, start, stop, threads=count) == expected, (
                start,
                stop,
                count,
                info,
            )
            seen += 1
    return seen


@by_codec
@by_pipeline
def test_a_range_of_items_is_the_slice_of_the_whole(codec, pipeline):
    # C-Blosc2 gives wrong bytes for ranges of delta chunks outside block 0, and none for dictionary chunks.
    seen = 0
    typesizes = (4, 8) if "trunc_prec" in str(pipeline) else (1, 4, 8) if pipeline else (1, 3, 4, 8, 12, 300)
    for typesize, nbytes, blocksize in itertools.product(typesizes, (600, 20_011), (None, 600, 4800)):
        raw = data("halves", nbytes, typesize)
        chunk = cq.compress(
            raw, codec=codec, level=3, typesize=typesize, filters=list(pipeline), blocksize=blocksize
        )
        seen += assert_ranges_are_slices(chunk, (1,))
    assert seen > 500


@pytest.mark.parametrize("codec", ["lz4", "lz4hc", "zstd"])
def test_a_range_of_items_of_a_dictionary_chunk_is_the_slice_of_the_whole(codec):
    raw = b"".join(b"station %05d temperature %06d;" % (i % 977, i * i % 100_003) for i in range(3000))
    for filters in ([], ["shuffle"], ["delta", "shuffle"]):
        chunk = cq.compress(raw, codec=codec, typesize=4, filters=filters, blocksize=4096, dictionary=True)
        assert cq.chunk_info(chunk).has_dictionary
        assert assert_ranges_are_slices(chunk) > 100


def test_a_range_of_items_of_a_large_chunk_is_the_slice_of_the_whole_on_many_threads():
    raw = data("walk", 3_000_000, 8)
    for filters in (["shuffle"], ["delta", "bitshuffle"]):
        chunk = cq.compress(raw, codec="lz4", typesize=8, filters=filters, blocksize=65_536)
        assert assert_ranges_are_slices(chunk, (1, 2, 7)) > 100


def test_a_range_of_items_of_a_chunk_without_blocks_is_the_slice_of_the_whole():
    for raw in (data("noise", 5003, 1), bytes(5003), b"short"):
        for typesize in (1, 4, 7):
            assert_ranges_are_slices(cq.compress(raw, typesize=typesize))


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 26), (26, 26), (5, 4), (sys.maxsize, sys.maxsize), (0, sys.maxsize)]
)
def test_a_range_outside_of_the_chunk_is_an_index_error_that_names_it(start, stop):
    chunk = cq.compress(bytes(range(100)), typesize=4)
    with pytest.raises(IndexError, match=f"items {start}..{stop} of a chunk of 25"):
        cq.decompress_items(chunk, start, stop)


def test_negative_items_are_refused():
    with pytest.raises(IndexError, match=r"items -1\.\.5"):
        cq.decompress_items(cq.compress(bytes(range(100))), -1, 5)


@by_codec
def test_chunks_are_the_same_bytes_for_any_number_of_threads_and_every_run(codec):
    raw = data("halves", 700_001, 4)
    for filters, blocksize, dictionary in itertools.product(
        (["shuffle"], ["delta", "bitshuffle"], []), (None, 5000), (False, True)
    ):
        if dictionary and codec in ("blosclz", "zlib"):
            continue
        made = {
            cq.compress(
                raw,
                codec=codec,
                level=4,
                typesize=4,
                filters=filters,
                blocksize=blocksize,
                dictionary=dictionary,
                threads=threads,
            )
            for threads in (1, 2, 7, None, 2)
        }
        assert len(made) == 1
        (chunk,) = made
        for threads in (1, 2, 7, None):
            assert cq.decompress(chunk, threads=threads) == raw


def test_the_size_of_the_pool_changes_no_byte():
    raw = data("halves", 1_000_003, 8)
    before = cq.num_threads()
    try:
        made = set()
        for threads in (1, 2, 7, 3):
            cq.set_num_threads(threads)
            made.add(
                cq.compress(raw, typesize=8, codec="lz4", filters=["delta", "shuffle"], blocksize=40_000)
            )
        assert len(made) == 1
    finally:
        cq.set_num_threads(before)


@by_codec
def test_a_chunk_does_not_depend_on_what_was_compressed_before_it(codec):
    # libzstd's contexts once stayed stuck after noise, and all later chunks of that thread were stored.
    rng = np.random.default_rng(9)
    raws = [
        data("halves", 200_001, 4),
        data("walk", 90_000, 4),
        data("noise", 70_000, 4),
        data("text", 5003, 4),
    ]
    first = {}
    for _ in range(250):
        raw, level, block = (int(rng.integers(0, n)) for n in (4, 7, 3))
        filters = (["shuffle"], ["delta", "bitshuffle"])[level % 2]
        blocksize, threads = (None, 600, 5000)[block], (1, 2, None)[rng.integers(0, 3)]
        options = {
            "codec": codec,
            "level": level + 1,
            "typesize": 4,
            "filters": filters,
            "blocksize": blocksize,
        }
        chunk = cq.compress(raws[raw], threads=threads, **options)
        assert first.setdefault((raw, level, block), chunk) == chunk, (options, raw, threads)
