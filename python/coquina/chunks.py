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
    """Compress a buffer to one chunk, and return it.

    data: any contiguous bytes-like object (bytes, NumPy array of any dtype without objects, mmap, ...) of at
        most 2 GiB - 33 bytes. Its bytes are taken in memory order; shape and dtype are not kept.
    typesize: bytes of an item, which the filters work with; that of the buffer by default.
    codec, level: one of `codecs()`, at 0 (store) to 9 (smallest); "zstd" at 1 by default. Or a pair of its
        name and its parameter, such as ("zfp_rate", 25), or of its name and a mapping of options (of codecs
        from outside; "meta" is the parameter). "auto" takes what suits the bytes, by goal, for_, bandwidth
        and calibrate of `Tuning`.
    filters: names of `filters()` in the order of work, or pairs of a name and a parameter such as
        ("trunc_prec", 10), which keeps 10 bits of a mantissa. By default "shuffle", and none for codecs that
        need the items as they are.
    blocksize: bytes of a block, the unit that is decoded alone; by the rule of the format if None.
    split: "auto", "always" or "never" cut shuffled blocks into one stream per byte of an item.
    dictionary: share a dictionary between all streams (lz4, lz4hc, zstd).
    format: "blosc2", or "blosc1" for what the C-Blosc 1 library reads.
    threads: at most so many; all of `num_threads()` by default.
    progress: called with the bytes done so far, some 20 times a second and at the end.

    Raises ValueError for options out of range, LimitError for too many bytes. The chunk is never more than 32
    bytes longer than the data, and the same for any number of threads. Memory: the chunk and a few blocks a
    thread.

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
    """Return what the header of `chunk` says; the first 32 bytes are enough.

    Raises CorruptError, TruncatedError or UnsupportedError for bytes that are no chunk.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.chunk_info(cq.compress(np.arange(1000))).typesize
    8
    """
    return ChunkInfo(**_core.chunk_info(chunk))
