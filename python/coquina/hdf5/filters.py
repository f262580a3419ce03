"""The filter pipelines that new datasets get: names to ids and parameters.

In: names and levels, as a user gives them, and what is known of the chunks. Out: for each filter its id,
whether it may be skipped where there is no plugin for it, and its parameters, as its own set-up would make
them.
Source: docs/formats/hdf5-filters.md, a section for each filter.
Invariant: parameters are complete: libhdf5 lets a filter complete them only where its plugin is present.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from coquina._core import UnsupportedError
from coquina.hdf5.chunk_encoding import CODECS, FILTERS, ChunkEncoding, plain_filter
from coquina.hdf5.untyped import h5z
from coquina.storage_options import Storage
from coquina.tuning_options import DEFAULT_CODEC, DEFAULT_LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np

#: Id, whether it may be skipped, and parameters.
Slot = tuple[int, bool, tuple[int, ...]]

DEFLATE, SHUFFLE, FLETCHER32 = 1, 2, 3
BLOSC, LZ4, BITSHUFFLE, ZSTD, BLOSC2, HTJ2K = 32001, 32004, 32008, 32015, 32026, 32033
SZIP, NBIT, SCALEOFFSET, BZIP2, LZF = 4, 5, 6, 307, 32000
#: Of SZIP, as `H5Pset_szip` makes them: neighbours, the third selection of codes, bits without a header.
_SZIP_OPTIONS, _SZIP_PIXELS = 32 | 1 | 128, 16
#: Of scale-offset: integers, with as many bits as a chunk needs.
_SCALEOFFSET_INTEGERS = 2


def is_blosc2_alone(codes: Iterable[int]) -> bool:
    """Whether chunks with these filters are Blosc2's own bytes, which say themselves how they are encoded.

    Only such chunks have checksums, and are tuned.
    """
    return list(codes) == [BLOSC2]


_BLOSC_CODECS = CODECS | {"snappy": 3}
_BLOSC_FILTERS = {name: code for name, code in FILTERS.items() if name != "delta"}
_BITSHUFFLE_CODECS = {"none": 0, "lz4": 2, "zstd": 3}
_U32_MAX = (1 << 32) - 1
#: Of compressors other than Blosc2, where nobody names one.
_LEVEL = 5


@dataclass(frozen=True, slots=True)
class ChunkShape:
    """What the parameters of filters tell of chunks.

    chunks: of the file's axes. itemsize: bytes of an element, typesize: of an innermost item. block_bytes:
    of Blosc2's blocks. dtype: of the elements, for images.
    """

    chunks: tuple[int, ...]
    itemsize: int
    typesize: int
    block_bytes: int
    dtype: np.dtype[Any] | None = None

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk, as far as a parameter can tell."""
        nbytes = self.itemsize
        for extent in self.chunks:
            nbytes *= extent
        return nbytes & _U32_MAX


def pipeline(storage: Storage, shape: ChunkShape) -> list[Slot]:
    """Return the filters of a new dataset, in the order of writing.

    Raises ValueError for a name, a level or a combination that the compressor does not know.
    """
    if storage.compressor != "blosc2":
        if storage.filters is not None:
            # Also where the compressor does not look at it.
            _filters_name(storage.filters)
        if storage.dictionary:
            raise ValueError(f"dictionary: is for the filter 'blosc2', not {storage.filter!r}")
    slots = _choice("filter", storage.compressor, COMPRESSORS)(storage, shape)
    # The checksum is of the stored bytes. It is never skipped: no plugin is needed for it.
    return [*slots, (FLETCHER32, False, ())] if storage.fletcher32 else slots


def check_is_used(storage: Storage) -> None:
    """Raise ValueError for options that the filter would ignore."""
    name = storage.compressor
    has_levels = name not in _WITHOUT_LEVEL and (name != "bitshuffle" or storage.codec not in (None, "lz4"))
    if storage.level and not has_levels and storage.tuning is None:
        raise ValueError(f"level {storage.level}: the filter {name!r} has no levels; leave it out")
    if name == "blosc2":
        return
    if storage.blocks is not None:
        raise ValueError(f"blocks {storage.blocks}: for the filter 'blosc2', not {name!r}; leave it out")
    if storage.checksums:
        raise ValueError(f"checksums with filter {name!r}: needs 'blosc2', or fletcher32=True")


def encoding_of(storage: Storage, shape: ChunkShape) -> ChunkEncoding | None:
    """Return how chunks of Blosc2 are to be encoded; None where the filter's parameters say it.

    Raises ValueError for what is not to be had beside other filters, nor where chunks are tuned.
    """
    if storage.compressor != "blosc2":
        return None
    encoding = ChunkEncoding.of(storage, shape.dtype, shape.typesize)
    if encoding is not None and storage.fletcher32:
        raise ValueError(
            f"fletcher32: {encoding} needs 'blosc2' as the only filter, whose chunks have checksums"
        )
    if encoding is not None and storage.tuning is not None:
        raise ValueError(f"{encoding}: codec='auto' chooses codec and filters")
    if encoding is not None and encoding.is_lossy and storage.lossy is not None:
        raise ValueError(f"lossy: {encoding} is lossy itself; leave out one of the two")
    return encoding


def refitted(slot: Slot, shape: ChunkShape) -> Slot:
    """Return a filter for other chunks: all else is as it was.

    Raises ValueError for a codec or a filter of Blosc without a name here.
    """
    code, may_skip, values = slot
    if code == HTJ2K:
        return _htj2k(Storage(), shape)[0]
    if code not in (BLOSC, BLOSC2):
        return slot
    level, shuffle, codec = values[4:7] if len(values) >= 7 else (5, 1, 0)
    names = {number: name for name, number in _BLOSC_CODECS.items()}
    kinds = {number: name for name, number in FILTERS.items()}
    if codec not in names or shuffle not in kinds:
        raise ValueError(f"codec {codec}, filter {shuffle}")
    like = Storage(names[codec], level, kinds[shuffle])
    ((_, _, new),) = _blosc2(like, shape) if code == BLOSC2 else _blosc(like, shape)
    return code, may_skip, new


def as_set(slot: Slot) -> tuple[int, ...]:
    """Return the parameters to give to libhdf5, which may let a plugin add others."""
    code, _, values = slot
    # This one puts its version and the element size in front of whatever it is given.
    return values[3:] if code == BITSHUFFLE and h5z.filter_avail(BITSHUFFLE) else values


def _filters(storage: Storage, known: dict[str, Any]) -> Any:
    """Return what a compressor knows the one filter as that rearranges bytes before it."""
    return _choice("filters", _filters_name(storage.filters), known)


def _filters_name(filters: Any) -> str:
    if filters is None:
        return "shuffle"
    names: list[Any] = [filters] if isinstance(filters, str) else list(filters)
    if not names:
        return "nofilter"
    if len(names) > 1 or not isinstance(names[0], str):
        raise ValueError(f"filters {filters!r}: HDF5's compressors take one name")
    return names[0]


def _codec(storage: Storage, default: str, known: dict[str, Any]) -> Any:
    if storage.codec is not None and not isinstance(storage.codec, str):
        raise ValueError(
            f"codec {storage.codec!r}: HDF5 filters store no codec parameter; array files (.b2nd) do"
        )
    return _choice("codec", storage.codec or default, known)


def _choice(what: str, name: str, known: dict[str, Any]) -> Any:
    if name not in known:
        raise ValueError(f"{what} {name!r}: takes one of {', '.join(known)}")
    return known[name]


def usual_level(compressor: str) -> int:
    """Return the level of a compressor where nobody names one."""
    return DEFAULT_LEVEL if compressor == "blosc2" else _LEVEL


def _level(storage: Storage, lowest: int, highest: int, usual: int = _LEVEL) -> int:
    level = usual if storage.level is None else storage.level
    if not lowest <= level <= highest:
        raise ValueError(f"level {level}: takes {lowest} to {highest}")
    return level


def _no_codec(compressor: str, storage: Storage) -> None:
    if storage.codec is not None:
        raise ValueError(f"codec {storage.codec!r}: the filter {compressor!r} has its own codec")


def _shuffled(storage: Storage, shape: ChunkShape) -> list[Slot]:
    """Return HDF5's own shuffle, if it is asked for and does something."""
    is_shuffled = _filters(storage, {"nofilter": False, "shuffle": True})
    return [(SHUFFLE, True, (shape.itemsize,))] if is_shuffled and shape.itemsize > 1 else []


def _blosc2(storage: Storage, shape: ChunkShape) -> list[Slot]:
    encoding = encoding_of(storage, shape)
    if encoding is None:
        codec, filters = CODECS[cast("str", storage.codec or DEFAULT_CODEC)], plain_filter(storage.filters)
    else:
        filters, codec = encoding.nearest
    rank = len(shape.chunks)
    dims = (rank, *(extent & _U32_MAX for extent in shape.chunks)) if 2 <= rank <= 8 else ()
    sizes = (1, shape.block_bytes & _U32_MAX, shape.typesize, shape.chunk_bytes)
    level = _level(storage, 0, 9, DEFAULT_LEVEL)
    return [(BLOSC2, True, (*sizes, level, filters, codec, *dims))]


def _blosc(storage: Storage, shape: ChunkShape) -> list[Slot]:
    codec = _codec(storage, DEFAULT_CODEC, _BLOSC_CODECS)
    filters = _filters(storage, _BLOSC_FILTERS)
    typesize = shape.typesize if shape.typesize <= 255 else 1
    return [(BLOSC, True, (2, 2, typesize, shape.chunk_bytes, _level(storage, 0, 9), filters, codec))]


def _gzip(storage: Storage, shape: ChunkShape) -> list[Slot]:
    _no_codec("gzip", storage)
    return [*_shuffled(storage, shape), (DEFLATE, True, (_level(storage, 0, 9),))]


def _lz4(storage: Storage, shape: ChunkShape) -> list[Slot]:
    _no_codec("lz4", storage)
    return [*_shuffled(storage, shape), (LZ4, True, (0,))]


def _zstd(storage: Storage, shape: ChunkShape) -> list[Slot]:
    _no_codec("zstd", storage)
    return [*_shuffled(storage, shape), (ZSTD, True, (_level(storage, 1, 22),))]


def _bitshuffle(storage: Storage, shape: ChunkShape) -> list[Slot]:
    codec = _codec(storage, "lz4", _BITSHUFFLE_CODECS)
    level = (_level(storage, 1, 22),) if codec == _BITSHUFFLE_CODECS["zstd"] else ()
    return [(BITSHUFFLE, True, (0, 4, shape.itemsize, 0, codec, *level))]


def _htj2k(storage: Storage, shape: ChunkShape) -> list[Slot]:
    _no_codec("htj2k", storage)
    if shape.dtype is None:
        return []
    if shape.dtype.kind not in "iu" or shape.itemsize > 2:
        raise ValueError(f"dtype {shape.dtype}: the filter 'htj2k' takes integers of 8 and 16 bits")
    *grid, last = [extent for extent in shape.chunks if extent != 1] or [1]
    components = 3 if len(grid) == 2 and last == 3 else 1
    height, width = (grid if components == 3 else [*(grid or [1]), last])[-2:]
    if len(grid) > 2 or (len(grid) == 2 and components == 1):
        raise ValueError(
            f"chunks {shape.chunks}: the filter 'htj2k' takes images, of two axes longer than 1, or three "
            "of which the last has 3"
        )
    if not shape.dtype.isnative:
        raise ValueError(f"dtype {shape.dtype}: the filter 'htj2k' takes the byte order of this machine only")
    big_endian = 0x100 if shape.itemsize == 2 and sys.byteorder == "big" else 0
    signed = 0x80 if shape.dtype.kind == "i" else 0
    return [(HTJ2K, True, (1, big_endian | signed | shape.itemsize, width, height, components))]


def _by_libhdf5(code: int, name: str, values: tuple[int, ...]) -> list[Slot]:
    """Return a filter that is run by libhdf5, when items are written: it must be there.

    Its own set-up completes the parameters when the dataset is made.
    """
    if not h5z.filter_avail(code) or not h5z.get_filter_info(code) & h5z.FILTER_CONFIG_ENCODE_ENABLED:
        raise UnsupportedError(f"filter {name!r}: this libhdf5 cannot write it; load its plugin")
    return [(code, True, values)]


def _lzf(storage: Storage, shape: ChunkShape) -> list[Slot]:
    _no_codec("lzf", storage)
    return [*_shuffled(storage, shape), *_by_libhdf5(LZF, "lzf", (4, 0x105, shape.chunk_bytes))]


def _bzip2(storage: Storage, shape: ChunkShape) -> list[Slot]:
    _no_codec("bzip2", storage)
    return [*_shuffled(storage, shape), *_by_libhdf5(BZIP2, "bzip2", (_level(storage, 1, 9),))]


def _szip(storage: Storage, shape: ChunkShape) -> list[Slot]:
    _no_codec("szip", storage)
    return [*_shuffled(storage, shape), *_by_libhdf5(SZIP, "szip", (_SZIP_OPTIONS, _SZIP_PIXELS))]


def _nbit(storage: Storage, shape: ChunkShape) -> list[Slot]:
    _no_codec("nbit", storage)
    return _by_libhdf5(NBIT, "nbit", ())


def _scaleoffset(storage: Storage, shape: ChunkShape) -> list[Slot]:
    _no_codec("scaleoffset", storage)
    if shape.dtype is not None and shape.dtype.kind not in "iu":
        raise ValueError(f"dtype {shape.dtype}: the filter 'scaleoffset' takes integers")
    return _by_libhdf5(SCALEOFFSET, "scaleoffset", (_SCALEOFFSET_INTEGERS, 0))


def _none(storage: Storage, shape: ChunkShape) -> list[Slot]:
    _no_codec("none", storage)
    return []


_WITHOUT_LEVEL = frozenset({"lz4", "htj2k", "lzf", "szip", "nbit", "scaleoffset", "none"})
COMPRESSORS: dict[str, Callable[[Storage, ChunkShape], list[Slot]]] = {
    "blosc2": _blosc2,
    "blosc": _blosc,
    "gzip": _gzip,
    "lz4": _lz4,
    "zstd": _zstd,
    "bitshuffle": _bitshuffle,
    "htj2k": _htj2k,
    "lzf": _lzf,
    "bzip2": _bzip2,
    "szip": _szip,
    "nbit": _nbit,
    "scaleoffset": _scaleoffset,
    "none": _none,
}
