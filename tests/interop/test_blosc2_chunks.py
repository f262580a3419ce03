"""Chunks of C-Blosc2 (package blosc2) read by coquina, and coquina's by C-Blosc2, over the whole matrix.

A cell is one choice of codec, filters, level, typesize, size, split mode and block size, in one direction.
Source of the peer's faults named here: chunk format text, section 11.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import blosc2
import numpy as np
import pytest

import coquina as cq
from tests.interop.interop_cells import LEVELS, SIZES, TYPESIZES, data, kind_for

CODECS = {
    "blosclz": blosc2.Codec.BLOSCLZ,
    "lz4": blosc2.Codec.LZ4,
    "lz4hc": blosc2.Codec.LZ4HC,
    "zlib": blosc2.Codec.ZLIB,
    "zstd": blosc2.Codec.ZSTD,
}
FILTERS = {
    "nofilter": blosc2.Filter.NOFILTER,
    "shuffle": blosc2.Filter.SHUFFLE,
    "bitshuffle": blosc2.Filter.BITSHUFFLE,
    "delta": blosc2.Filter.DELTA,
    "trunc_prec": blosc2.Filter.TRUNC_PREC,
    "bytedelta": blosc2.Filter.BYTEDELTA,
    "int_trunc": blosc2.Filter.INT_TRUNC,
}
SPLITS = {
    "auto": blosc2.SplitMode.AUTO_SPLIT,
    "always": blosc2.SplitMode.ALWAYS_SPLIT,
    "never": blosc2.SplitMode.NEVER_SPLIT,
}
KEEP = 7  # bits that the lossy filters keep

#: Pipelines, as both libraries take them: filters in the order of encoding.
PIPELINES = (
    (),
    ("shuffle",),
    ("bitshuffle",),
    ("delta",),
    ("bytedelta",),
    ("shuffle", "bytedelta"),
    ("bitshuffle", "bytedelta"),
    ("delta", "shuffle"),
    ("delta", "bitshuffle"),
    ("nofilter", "nofilter", "shuffle"),
    ("trunc_prec",),
    ("trunc_prec", "shuffle"),
    ("int_trunc",),
    ("int_trunc", "bitshuffle"),
    ("trunc_prec", "delta"),
    # Fault 3: with three filters or more C-Blosc2 encodes from a buffer that it has overwritten. What it
    # writes is judged by what it reads itself.
    ("delta", "shuffle", "bytedelta"),
    ("trunc_prec", "shuffle", "bytedelta"),
    ("delta", "bitshuffle", "bytedelta"),
    ("shuffle", "bytedelta", "delta", "bitshuffle"),
    ("int_trunc", "delta", "shuffle"),
)
LOSSY = {"trunc_prec", "int_trunc"}


@dataclass(frozen=True)
class Cell:
    """One choice of everything."""

    number: int
    codec: str
    pipeline: tuple[str, ...]
    level: int
    typesize: int
    nbytes: int
    split: str
    blocksize: int = 0

    def data(self) -> bytes:
        return data(kind_for(self.number), self.nbytes, self.typesize)

    def metas(self) -> list[int]:
        return [KEEP if name in LOSSY else 0 for name in self.pipeline]

    def ours(self, **options: object) -> bytes:
        filters = list(zip(self.pipeline, self.metas(), strict=True))
        # A parameter byte of 0 is bytedelta's typesize, as in the peer.
        given = [name if meta == 0 else (name, meta) for name, meta in filters]
        return cq.compress(
            self.data(),
            codec=self.codec,
            level=self.level,
            typesize=self.typesize,
            filters=given,
            split=self.split,
            blocksize=self.blocksize or None,
            **options,
        )

    def theirs(self, **options: object) -> bytes:
        # A copy: the peer may write into its input (fault 3).
        return blosc2.compress2(
            bytearray(self.data()),
            codec=CODECS[self.codec],
            clevel=self.level,
            typesize=self.typesize,
            filters=[FILTERS[name] for name in self.pipeline] or [blosc2.Filter.NOFILTER],
            filters_meta=self.metas() or [0],
            splitmode=SPLITS[self.split],
            blocksize=self.blocksize,
            nthreads=1,
            **options,
        )

    def decoded(self, chunk: bytes) -> bytes:
        """What a decoder must give: lossy filters have been at work, unless all is stored."""
        if cq.chunk_info(chunk).kind == "stored":
            return self.data()
        return truncated(self.data(), self.pipeline, self.typesize)


def truncated(raw: bytes, pipeline: tuple[str, ...], typesize: int) -> bytes:
    """The bytes with the low bits of all items but `KEEP` zeroed, where the pipeline does that."""
    if not LOSSY & set(pipeline):
        return raw
    bits = {4: 23, 8: 52}[typesize] if "trunc_prec" in pipeline else 8 * typesize
    whole = len(raw) // typesize * typesize
    items = np.frombuffer(raw[:whole], f"<u{typesize}")
    mask = (1 << 64) - (1 << (bits - KEEP)) & ((1 << 8 * typesize) - 1)
    return (items & items.dtype.type(mask)).tobytes() + raw[whole:]


def fits(pipeline: tuple[str, ...], typesize: int) -> bool:
    """Whether the pipeline is defined for items of that size."""
    if "trunc_prec" in pipeline:
        return typesize in (4, 8)
    if "int_trunc" in pipeline:
        return typesize in (1, 2, 4, 8)
    # Above 255 the width of bytedelta is the typesize of a frame, which a chunk alone does not have.
    return "bytedelta" not in pipeline or typesize <= 255


def small_cells(codec: str, pipeline: tuple[str, ...]) -> Iterator[Cell]:
    """Every level, typesize, small size and split mode."""
    axes = itertools.product(LEVELS, filter(lambda ts: fits(pipeline, ts), TYPESIZES), SIZES, SPLITS)
    for number, (level, typesize, nbytes, split) in enumerate(axes):
        yield Cell(number, codec, pipeline, level, typesize, nbytes, split)


def block_cells(codec: str, pipeline: tuple[str, ...]) -> Iterator[Cell]:
    """Explicit block sizes, and sizes at, just below and just above a multiple of the block."""
    axes = itertools.product((1, 2, 3, 4, 8, 12, 16, 100), (64, 1000, 4096), (1, 2, 5), (-1, 0, 1), SPLITS)
    for number, (typesize, items, blocks, off, split) in enumerate(axes):
        if fits(pipeline, typesize):
            # A multiple of the typesize: the peer cannot read its own chunks of others (fault 1).
            blocksize = max(items // typesize, 1) * typesize
            yield Cell(number, codec, pipeline, 5, typesize, blocks * blocksize + off, split, blocksize)


def large_cells(codec: str, pipeline: tuple[str, ...]) -> Iterator[Cell]:
    """About 100 kB and more, in blocks as the libraries choose them."""
    axes = itertools.product((1, 5, 9), (1, 3, 4, 8, 16, 32), (100_003, 99_840))
    for number, (level, typesize, nbytes) in enumerate(axes):
        # libzstd at its highest level takes half a second for these: once is enough.
        is_slow = codec == "zstd" and level == 9 and typesize != 4
        if fits(pipeline, typesize) and not is_slow:
            yield Cell(number, codec, pipeline, level, typesize, nbytes, "auto")


def cells(codec: str, pipeline: tuple[str, ...]) -> Iterator[Cell]:
    yield from small_cells(codec, pipeline)
    yield from block_cells(codec, pipeline)
    yield from large_cells(codec, pipeline)


def delta_bytes(typesize: int) -> int:
    """The width of delta's elements (filters text, section 5)."""
    capped = typesize if typesize <= 255 else 1
    return capped if capped in (1, 2, 4, 8) else 8 if capped % 8 == 0 else 1


def is_fault_3(pipeline: tuple[str, ...]) -> bool:
    """Whether C-Blosc2 has too few buffers for so many filters, and uses its input as one more."""
    return len(set(pipeline) - {"nofilter"}) >= 3


def peer_cannot_read_itself(cell: Cell) -> bool:
    """Fault 1: the header holds the block size of the caller, the blocks are of that less a remainder."""
    return cell.nbytes < cell.blocksize and cell.nbytes % cell.typesize != 0


def peer_spoils(cell: Cell, chunk: bytes) -> str | None:
    """Why C-Blosc2's own chunk may not hold the data that it was given, if so."""
    info = cq.chunk_info(chunk)
    if is_fault_3(cell.pipeline) and cell.level > 0 and cell.nbytes >= 32:
        return "fault 3: three or more filters write into the input, so also what is then stored as it is"
    if info.kind == "stored":
        return None
    block = info.blocksize or 1
    if "delta" in cell.pipeline:
        width = delta_bytes(cell.typesize)
        if block % width or cell.nbytes % block % width:
            return "delta leaves rubbish after the last whole element of a block"
        if LOSSY & set(cell.pipeline) and info.nblocks > 1:
            return "delta refers to a block 0 from before the truncation, which no decoder has"
    if LOSSY & set(cell.pipeline) and cell.nbytes % cell.typesize:
        return "truncation leaves rubbish after the last whole element"
    return None


matrix = pytest.mark.parametrize("codec", CODECS)
pipelines = pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: "+".join(p) or "none")


def count(cells: Iterator[Cell]) -> int:
    return sum(1 for _ in cells)


def test_the_matrix_does_not_shrink():
    by_pipeline = {p: count(cells("lz4", p)) for p in PIPELINES}
    zstd = sum(count(cells("zstd", p)) for p in PIPELINES)
    assert 4 * sum(by_pipeline.values()) + zstd == 166_920


@matrix
@pipelines
def test_c_blosc2_reads_what_coquina_writes(codec, pipeline):
    for cell in cells(codec, pipeline):
        chunk = cell.ours()
        assert cq.decompress(chunk) == cell.decoded(chunk), cell
        if cell.nbytes == 0:
            # The peer's Python function takes no chunk of nothing.
            assert len(chunk) == 32, cell
            continue
        assert blosc2.decompress2(chunk, nthreads=1) == cell.decoded(chunk), cell


@matrix
@pipelines
def test_coquina_reads_what_c_blosc2_writes(codec, pipeline):
    judged = Counter()
    for cell in cells(codec, pipeline):
        chunk = cell.theirs()
        decoded = cq.decompress(chunk)
        assert len(decoded) == cell.nbytes
        if cell.nbytes and not peer_cannot_read_itself(cell):
            assert decoded == blosc2.decompress2(chunk, nthreads=1), cell
            judged["as the peer reads it"] += 1
        if not peer_spoils(cell, chunk):
            assert decoded == cell.decoded(chunk), cell
            judged["as it was"] += 1
    everything = count(cells(codec, pipeline))
    assert judged["as the peer reads it"] > 0.8 * everything
    # Chunks of fault 3 are judged by the peer alone.
    assert judged["as it was"] > (0.25 if is_fault_3(pipeline) else 0.5) * everything


@matrix
@pipelines
def test_blocks_and_splits_are_cut_as_c_blosc2_cuts_them(codec, pipeline):
    for cell in cells(codec, pipeline):
        ours, theirs = cq.chunk_info(cell.ours()), cq.chunk_info(cell.theirs())
        # Of less than one item the peer makes blocks of one byte, which never pay; coquina makes one block.
        if ours.kind == theirs.kind == "blocks" and cell.nbytes >= cell.typesize:
            shape = (ours.blocksize, ours.is_split, ours.typesize)
            assert shape == (theirs.blocksize, theirs.is_split, theirs.typesize), cell
            # python-blosc2 leaves bytedelta out where items are single bytes.
            assert ours.filters == theirs.filters or cell.typesize == 1, cell
