"""`compress`, which makes a chunk of any bytes, and what a chunk says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coquina import _core
from coquina.storage_options import encoding_of
from coquina.tuning_options import AUTO, DEFAULT_CODEC, DEFAULT_LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, Unpack

    from coquina._core import Buffer, Codec, Filters
    from coquina.tuning_options import Tuning


def compress(
    data: Buffer,
    /,
    *,
    typesize: int | None = None,
    codec: Codec = DEFAULT_CODEC,
    level: int = DEFAULT_LEVEL,
    filters: Filters | None = None,
    blocksize: int | None = None,
    split: Literal["auto", "always", "never"] = "auto",
    dictionary: bool = False,
    format: Literal["blosc1", "blosc2"] = "blosc2",
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    **tuning: Unpack[Tuning],
) -> bytes:
    """Compress a buffer to a single chunk.

    data: a contiguous buffer (bytes, NumPy array of any dtype without objects, mmap, ...) of at most 2 GiB -
        33 bytes. Its bytes are taken in memory order; shape and dtype are not stored.
    typesize: bytes of an element, for the filters; by default that of the buffer.
    codec, level: a name of `codecs()`, and 0 (store) to 9 (smallest); by default "zstd" and 1. A codec with a
        parameter is a pair, such as ("zfp_rate", 25); a codec of a plugin may have a mapping of options, of
        which "meta" is the parameter. "auto" chooses by goal, for_, bandwidth and calibrate of `Tuning`.
    filters: names of `filters()` in order, or pairs of a name and a parameter, such as ("trunc_prec", 10),
        which keeps 10 bits of a mantissa. By default "shuffle"; none for codecs that need unfiltered
        elements.
    blocksize: bytes of a block, the unit of decoding; None: the rule of the format.
    split: "auto", "always" or "never": divide shuffled blocks into one stream for each byte of an element.
    dictionary: share a dictionary between all streams ("lz4", "lz4hc", "zstd").
    format: "blosc2", or "blosc1", which C-Blosc 1 reads.
    threads: the maximal number of threads; by default `num_threads()`.
    progress: a function that is called with the number of bytes done, about 20 times a second and at the end.

    Returns bytes, at most 32 more than the data has, equal for any number of threads. Raises ValueError for
    options out of range, LimitError for too many bytes. Memory: the chunk and some blocks for each thread.

    >>> import numpy as np
    >>> import coquina as cq
    >>> chunk = cq.compress(np.arange(1000), codec="lz4", filters=["bitshuffle"])
    >>> np.frombuffer(cq.decompress(chunk), "i8")[-1]
    np.int64(999)
    """
    terms: Any = None
    # Chunks may be small, and many: what the engine takes as it is goes there at once.
    if tuning or codec == AUTO:
        wished = {"codec": codec, "level": level, "filters": filters, **tuning}
        encoding = encoding_of(compress, wished)
        codec, level, filters = encoding["codec"], encoding["level"], encoding["filters"]
        terms = encoding.get("tuning")
    if terms is not None and (split != "auto" or dictionary):
        named = "a dictionary" if dictionary else f"split {split!r}"
        raise ValueError(f"{named} needs a codec by name; codec='auto' chooses it")
    return _core.compress(
        data,
        typesize=typesize,
        codec=codec,
        level=level,
        filters=filters,
        blocksize=blocksize,
        split=split,
        dictionary=dictionary,
        format=format,
        threads=threads,
        progress=progress,
        tuning=terms,
    )


@dataclass(frozen=True, slots=True)
class ChunkInfo:
    """The header of a chunk, read without decoding anything.

    version: of the chunk format; 2 is C-Blosc, 3 and above C-Blosc2.
    nbytes, cbytes: bytes decoded and as stored, header included.
    typesize: bytes of an item.
    blocksize, nblocks: bytes of a block (None where blocks differ in size) and how many there are.
    codec: its name, or its number if this build does not have it. codec_parameter: of one that has one.
    filters: pairs of a name and the parameter byte, in the order of encoding.
    kind: "blocks", "variable blocks", "stored" (not compressed), or a special value without data:
        "zeros", "nans", "value" (repeated), "uninit".
    is_split: blocks are cut into one stream per byte of an item.
    has_dictionary: the streams share a dictionary.

    >>> import coquina as cq
    >>> info = cq.chunk_info(cq.compress(bytes(1000)))
    >>> info.nbytes, info.cbytes, info.kind
    (1000, 32, 'zeros')
    """

    version: int
    nbytes: int
    cbytes: int
    typesize: int
    blocksize: int | None
    nblocks: int
    codec: str
    filters: list[tuple[str, int]]
    kind: str
    is_split: bool
    has_dictionary: bool
    codec_parameter: int | None = None

    @property
    def cratio(self) -> float:
        """Decoded bytes for each stored one."""
        return self.nbytes / self.cbytes


def chunk_info(chunk: Buffer, /) -> ChunkInfo:
    """Parse the header of a chunk, without decoding; the first 32 bytes are sufficient.

    chunk: a Blosc or Blosc2 chunk. Raises CorruptError, TruncatedError or UnsupportedError for other bytes.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.chunk_info(cq.compress(np.arange(1000))).typesize
    8
    """
    return ChunkInfo(**_core.chunk_info(chunk))
