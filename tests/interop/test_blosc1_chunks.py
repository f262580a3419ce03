"""Chunks of C-Blosc (package blosc) read by coquina, and coquina's Blosc1 chunks by C-Blosc and by C-Blosc2.

A cell is one choice of codec, filter, level, typesize, size and block size, in one direction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import blosc
import blosc2
import imagecodecs
import pyarrow as pa
import pytest

import coquina as cq
from tests.interop.interop_cells import LEVELS, SIZES, data, kind_for

CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
FILTERS = {"nofilter": blosc.NOSHUFFLE, "shuffle": blosc.SHUFFLE, "bitshuffle": blosc.BITSHUFFLE}
#: C-Blosc's Python package takes no item above 255 bytes.
TYPESIZES = (1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 32, 100, 255)


@dataclass(frozen=True)
class Cell:
    """One choice of everything."""

    number: int
    codec: str
    filter: str
    level: int
    typesize: int
    nbytes: int
    blocksize: int = 0

    def data(self) -> bytes:
        return data(kind_for(self.number), self.nbytes, self.typesize)

    def ours(self) -> bytes:
        return cq.compress(
            self.data(),
            codec=self.codec,
            level=self.level,
            typesize=self.typesize,
            filters=[self.filter],
            blocksize=self.blocksize or None,
            format="blosc1",
        )

    def theirs(self) -> bytes:
        # `blosc.set_blocksize` takes effect only now and then, so the peer's blocks are its own choice.
        return blosc.compress(self.data(), self.typesize, self.level, FILTERS[self.filter], self.codec)


def cells(codec: str, name: str) -> Iterator[Cell]:
    small = itertools.product(LEVELS, TYPESIZES, SIZES)
    for number, (level, typesize, nbytes) in enumerate(small):
        yield Cell(number, codec, name, level, typesize, nbytes)
    blocks = itertools.product(
        (1, 2, 3, 4, 8, 12, 16, 100), (128, 1000, 4096), (1, 2, 5), (-1, 0, 1), (1, 5, 9)
    )
    for number, (typesize, items, count, off, level) in enumerate(blocks):
        blocksize = items // typesize * typesize
        yield Cell(number, codec, name, level, typesize, count * blocksize + off, blocksize)
    large = itertools.product((1, 5, 9), (1, 3, 4, 8, 16, 32), (99_840, 100_003, 262_145))
    for number, (level, typesize, nbytes) in enumerate(large):
        # libzstd at its highest level takes half a second for these: once is enough.
        if codec != "zstd" or level < 9 or typesize == 4:
            yield Cell(number, codec, name, level, typesize, nbytes)


@pytest.fixture(autouse=True)
def _one_thread():
    before = blosc.set_nthreads(1)
    yield
    blosc.set_nthreads(before)


matrix = pytest.mark.parametrize(("codec", "name"), list(itertools.product(CODECS, FILTERS)))


def test_the_matrix_does_not_shrink():
    assert sum(1 for codec, name in itertools.product(CODECS, FILTERS) for _ in cells(codec, name)) == 18_285


def second_library_loses_the_tail(cell: Cell, chunk: bytes) -> bool:
    """Fault 7: C-Blosc2 forgets the bytes after the last whole item of a bit-shuffled Blosc1 block."""
    if cell.filter != "bitshuffle" or cq.chunk_info(chunk).kind == "stored":
        return False
    last = cell.nbytes % cq.chunk_info(chunk).blocksize
    return last % cell.typesize != 0


@matrix
def test_c_blosc_and_c_blosc2_read_what_coquina_writes(codec, name):
    by_second = 0
    for cell in cells(codec, name):
        chunk = cell.ours()
        assert cq.decompress(chunk) == cell.data(), cell
        if cell.nbytes == 0:
            # The peers' Python functions take no chunk of nothing.
            assert len(chunk) == 16, cell
            continue
        assert blosc.decompress(chunk) == cell.data(), cell
        if not second_library_loses_the_tail(cell, chunk):
            assert blosc2.decompress2(chunk, nthreads=1) == cell.data(), cell
            by_second += 1
    assert by_second > 500


@matrix
def test_coquina_reads_what_c_blosc_writes(codec, name):
    for cell in cells(codec, name):
        assert cq.decompress(cell.theirs()) == cell.data(), cell


@matrix
def test_blocks_and_splits_are_cut_as_c_blosc_cuts_them(codec, name):
    for cell in cells(codec, name):
        ours, theirs = cq.chunk_info(cell.ours()), cq.chunk_info(cell.theirs())
        if ours.kind == theirs.kind == "blocks" and cell.blocksize == 0:
            shape = (ours.blocksize, ours.is_split, ours.typesize)
            assert shape == (theirs.blocksize, theirs.is_split, theirs.typesize), cell
            # C-Blosc sets the flag of a shuffle of single bytes, which changes nothing.
            assert ours.filters == theirs.filters or cell.typesize == 1, cell


def test_python_arrays_packed_by_blosc_are_chunks():
    packed = blosc.compress(bytes(range(256)) * 40, typesize=8)
    info = cq.chunk_info(packed)
    assert (info.version, info.nbytes, info.typesize, info.filters) == (2, 10240, 8, [("shuffle", 0)])


# Of the packages that have C-Blosc, only imagecodecs builds it with Snappy.


@pytest.mark.parametrize("name", ["nofilter", "shuffle", "bitshuffle"])
def test_snappy_chunks_go_both_ways(name):
    count = 0
    for cell in cells("snappy", name):
        if not cell.nbytes:
            continue
        ours = cell.ours()
        assert imagecodecs.blosc_decode(ours) == cq.decompress(ours) == cell.data(), cell
        theirs = imagecodecs.blosc_encode(
            cell.data(),
            level=cell.level,
            compressor="snappy",
            shuffle=FILTERS[name],
            typesize=cell.typesize,
            blocksize=cell.blocksize or None,
        )
        assert cq.decompress(theirs) == cell.data(), cell
        count += 1
    assert count > 500


@pytest.mark.parametrize("nbytes", [128, 5000, 65_536, 65_537, 300_000])
@pytest.mark.parametrize("kind", range(4))
def test_snappy_streams_are_read_by_arrow(kind, nbytes):
    content = data(kind_for(kind), nbytes, 4)
    chunk = cq.compress(
        content, codec="snappy", format="blosc1", typesize=1, filters=[], blocksize=nbytes, split="never"
    )
    if cq.chunk_info(chunk).kind == "blocks":
        # Header, the start of the block, the length of its stream.
        stream = chunk[16 + 4 + 4 :]
        assert pa.Codec("snappy").decompress(stream, nbytes).to_pybytes() == content
        # It is about as small as what the library makes.
        assert len(stream) < 1.05 * len(imagecodecs.snappy_encode(content)) + 20


def test_snappy_is_not_written_for_c_blosc2():
    with pytest.raises(cq.UnsupportedError, match="Blosc1 chunks only"):
        cq.compress(bytes(1000), codec="snappy")
