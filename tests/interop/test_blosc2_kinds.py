"""Chunks of C-Blosc2 other than plain blocks: dictionaries, special values, stored, variable blocks."""

from __future__ import annotations

import itertools

import blosc2
import numpy as np
import pytest

import coquina as cq
from tests.interop.interop_cells import data

DICTIONARY_CODECS = {"lz4": blosc2.Codec.LZ4, "lz4hc": blosc2.Codec.LZ4HC, "zstd": blosc2.Codec.ZSTD}
FILTERS = {
    (): [blosc2.Filter.NOFILTER],
    ("shuffle",): [blosc2.Filter.SHUFFLE],
    ("bitshuffle",): [blosc2.Filter.BITSHUFFLE],
    ("delta",): [blosc2.Filter.DELTA],
    ("delta", "shuffle"): [blosc2.Filter.DELTA, blosc2.Filter.SHUFFLE],
}


def records(nbytes: int) -> bytes:
    """Many small texts that resemble each other: what dictionaries are for."""
    rows = (b"station %05d temperature %06d;" % (i % 977, i * i % 100_003) for i in range(nbytes // 32 + 1))
    return b"".join(rows)[:nbytes]


def dictionary_cells():
    yield from itertools.product((1000, 5119, 20_000), (1, 4, 8, 12), (0, 2048, 6000), (1, 5), FILTERS)
    # libzstd at its highest level, and in training with many samples, takes its time.
    yield from itertools.product((6000,), (1, 4, 8, 12), (0, 2048), (9,), FILTERS)
    yield from itertools.product((200_000,), (1, 4), (0, 6000), (1, 5), list(FILTERS)[:3])


@pytest.mark.parametrize("codec", DICTIONARY_CODECS)
def test_dictionary_chunks_are_read_both_ways(codec):
    with_dictionary, seen = {"ours": 0, "theirs": 0}, 0
    for nbytes, typesize, blocksize, level, filters in dictionary_cells():
        # Whole items in whole blocks: what the peer loses otherwise is tested in the matrix.
        raw = records(nbytes - nbytes % (typesize * 8))
        blocksize -= blocksize % typesize
        ours = cq.compress(
            raw,
            codec=codec,
            level=level,
            typesize=typesize,
            filters=list(filters),
            blocksize=blocksize or None,
            dictionary=True,
        )
        theirs = blosc2.compress2(
            bytearray(raw),
            codec=DICTIONARY_CODECS[codec],
            clevel=level,
            typesize=typesize,
            filters=FILTERS[filters],
            filters_meta=[0] * len(FILTERS[filters]),
            blocksize=blocksize,
            use_dict=True,
            nthreads=1,
        )
        cell = (codec, nbytes, typesize, blocksize, level, filters)
        assert cq.decompress(ours) == raw, cell
        assert cq.decompress(theirs) == raw, cell
        assert blosc2.decompress2(ours, nthreads=1) == raw, cell
        with_dictionary["ours"] += cq.chunk_info(ours).has_dictionary
        with_dictionary["theirs"] += cq.chunk_info(theirs).has_dictionary
        seen += 1
    assert seen == 424
    assert min(with_dictionary.values()) > 60, with_dictionary


@pytest.mark.parametrize("codec", DICTIONARY_CODECS)
def test_noise_with_a_dictionary_is_stored_and_read_both_ways(codec):
    # C-Blosc2 leaves the dictionary's bit in such a chunk and then cannot read it (fault 2).
    raw = data("noise", 50_000, 1)
    theirs = blosc2.compress2(
        raw, codec=DICTIONARY_CODECS[codec], clevel=5, typesize=1, use_dict=True, nthreads=1
    )
    assert theirs[31] & 1
    assert cq.decompress(theirs) == raw
    ours = cq.compress(raw, codec=codec, dictionary=True)
    assert not ours[31] & 1
    assert blosc2.decompress2(ours) == raw


@pytest.mark.parametrize("typesize", [1, 2, 3, 4, 7, 8, 12, 255])
def test_block_sizes_that_the_peer_misstates_are_read(typesize):
    # Fault 1: the header holds the caller's block size, while blocks were cut by whole items.
    seen = 0
    for nbytes, blocksize in itertools.product((33, 1000, 4101, 20_000), (37, 1000, 1023, 4099)):
        raw = data("walk", nbytes, typesize)
        theirs = blosc2.compress2(
            raw, codec=blosc2.Codec.LZ4, clevel=5, typesize=typesize, blocksize=blocksize, nthreads=1
        )
        assert cq.decompress(theirs) == raw, (nbytes, typesize, blocksize)
        ours = cq.compress(raw, codec="lz4", typesize=typesize, blocksize=blocksize)
        assert blosc2.decompress2(ours, nthreads=1) == raw, (nbytes, typesize, blocksize)
        seen += 1
    assert seen == 16


def special_chunks(typesize: int, value: blosc2.SpecialValue, repeated: object = None):
    """Each chunk of an array of one value, and what the peer reads in it."""
    array = blosc2.SChunk(chunksize=1000 * typesize, cparams=blosc2.CParams(typesize=typesize))
    array.fill_special(2500, value, repeated)
    return [(array.get_chunk(i), array.decompress_chunk(i)) for i in range(array.nchunks)]


@pytest.mark.parametrize("typesize", [1, 2, 3, 4, 8, 16, 255])
def test_chunks_of_zeros_are_read(typesize):
    for chunk, decoded in special_chunks(typesize, blosc2.SpecialValue.ZERO):
        assert cq.chunk_info(chunk).kind == "zeros"
        assert cq.decompress(chunk) == decoded == bytes(len(decoded))


@pytest.mark.parametrize("typesize", [4, 8])
def test_chunks_of_nans_are_read(typesize):
    for chunk, decoded in special_chunks(typesize, blosc2.SpecialValue.NAN):
        assert cq.chunk_info(chunk).kind == "nans"
        assert cq.decompress(chunk) == decoded
        assert np.isnan(np.frombuffer(decoded, f"<f{typesize}")).all()


@pytest.mark.parametrize("typesize", [1, 2, 4, 8])
def test_uninitialised_chunks_are_read_as_zeros(typesize):
    for chunk, decoded in special_chunks(typesize, blosc2.SpecialValue.UNINIT):
        assert cq.chunk_info(chunk).kind == "uninit"
        assert cq.decompress(chunk) == bytes(len(decoded))


@pytest.mark.parametrize(
    "item",
    [
        np.uint8(7),
        np.int16(-2),
        np.float32(1.5),
        np.float64(np.pi),
        np.bytes_(b"abc"),
        np.bytes_(b"abcdefghijkl" * 30),
    ],
    ids=lambda item: item.dtype.str,
)
def test_chunks_of_a_repeated_value_are_read(item):
    array = blosc2.full((2500,), item, dtype=item.dtype, chunks=(1000,))
    for number in range(3):
        chunk = array.schunk.get_chunk(number)
        assert cq.chunk_info(chunk).kind == "value"
        assert cq.decompress(chunk) == array.schunk.decompress_chunk(number)
        assert cq.decompress(chunk) == item.tobytes() * 1000
        whole = cq.chunk_info(chunk).typesize
        assert cq.decompress_items(chunk, 3, 500) == (item.tobytes() * 1000)[3 * whole : 500 * whole]


@pytest.mark.parametrize("codec", [name for name, number in cq.codecs().items() if number < 32])
def test_zeros_are_written_as_a_header_alone(codec):
    for nbytes, typesize in itertools.product((32, 1000, 100_003), (1, 3, 8, 300)):
        chunk = cq.compress(bytes(nbytes), codec=codec, typesize=typesize)
        assert cq.chunk_info(chunk).kind == "zeros"
        assert len(chunk) == 32
        assert blosc2.decompress2(chunk) == cq.decompress(chunk) == bytes(nbytes)


def test_stored_chunks_are_read_both_ways():
    for nbytes, level in itertools.product((1, 31, 32, 1000, 100_000, 3_000_001), (0, 5)):
        raw = data("noise", nbytes, 8)
        ours = cq.compress(raw, typesize=8, level=level)
        theirs = blosc2.compress2(raw, typesize=8, clevel=level, nthreads=1)
        assert cq.chunk_info(ours).kind == cq.chunk_info(theirs).kind == "stored"
        assert len(ours) == len(theirs) == nbytes + 32
        assert cq.decompress(theirs) == blosc2.decompress2(ours) == raw


@pytest.mark.parametrize("codec", list(blosc2.Codec)[:5], ids=lambda codec: codec.name)
@pytest.mark.parametrize("filters", list(FILTERS)[:3], ids=lambda f: "+".join(f) or "none")
@pytest.mark.parametrize("use_dict", [False, True], ids=["plain", "dictionary"])
def test_chunks_of_variable_blocks_are_read(codec, filters, use_dict):
    if use_dict and codec not in DICTIONARY_CODECS.values():
        return  # C-Blosc2 has no dictionaries for it.
    rng = np.random.default_rng(5)
    seen = 0
    for level, items_per_block in itertools.product((1, 5, 9), (1, 3, 100)):
        params = blosc2.CParams(codec=codec, clevel=level, typesize=1, use_dict=use_dict, nthreads=1)
        params.filters = FILTERS[filters]
        params.filters_meta = [0]
        batches = blosc2.BatchArray(items_per_block=items_per_block, cparams=params)
        batches.append([records(n) for n in (10, 3000, 1, 400, 7000, 90, 90, 5)])
        batches.append([rng.bytes(n) for n in (5, 300, 4000)])
        batches.append([records(20_000)])
        store = batches.schunk
        for number in range(store.nchunks):
            chunk = store.get_chunk(number)
            info = cq.chunk_info(chunk)
            assert (info.version, info.kind, info.blocksize) == (6, "variable blocks", None)
            blocks = [store.get_vlblock(number, i) for i in range(info.nblocks)]
            decoded = cq.decompress(chunk)
            assert decoded == b"".join(blocks)
            for start, stop in ((0, 1), (5, 9), (info.nbytes // 3, info.nbytes - 1)):
                assert cq.decompress_items(chunk, start, stop) == decoded[start:stop]
            seen += 1
    assert seen == 27


@pytest.mark.parametrize("codec", ["BLOSCLZ", "LZ4", "ZLIB", "ZSTD"])
def test_chunks_that_are_split_as_old_versions_read_them_are_read(codec):
    raw = np.arange(20_000, dtype="i4").tobytes()
    for typesize in (1, 4, 8):
        chunk = blosc2.compress2(
            raw,
            codec=blosc2.Codec[codec],
            typesize=typesize,
            splitmode=blosc2.SplitMode.FORWARD_COMPAT_SPLIT,
        )
        assert cq.decompress(chunk) == raw
