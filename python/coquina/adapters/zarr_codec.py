"""A codec of Zarr 3 that stores chunks as frames of Blosc2, of which parts are read.

In: a chunk of a Zarr array (or an inner chunk of a shard), or the bytes of one. Out: a `b2nd` frame with one
    chunk, cut into blocks of as many axes; back, the items, or those of a selection.
Source: Zarr v3's array-to-bytes codecs; docs/formats/b2nd.md.
Invariant: of a selection only the blocks are decoded that it touches, and only their bytes are fetched from a
    store that knows ranges. Items that do not pass their checksum are an error.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from coquina import _core
from coquina._core import CorruptError
from coquina.arrays.array import Array
from coquina.arrays.creation import asarray
from coquina.arrays.opening import from_bytes
from coquina.arrays.opening import open as open_frame
from coquina.dtypes import dtype_text
from coquina.remote import RangeReader
from coquina.tuning_options import AUTO, DATASETS, DEFAULT_CODEC, DEFAULT_LEVEL, tuned, words_of

try:
    from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin
    from zarr.core.common import parse_named_configuration
    from zarr.registry import register_codec

    from coquina.adapters.zarr_bytes import StoredChunk
except ImportError as error:
    raise ImportError("the Zarr codec needs Zarr from 3.0 on: pip install zarr") from error

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    import numpy.typing as npt
    from zarr.abc.store import ByteGetter
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer

    from coquina.tuning_options import Terms, Tuning

#: The name of the codec in the metadata of Zarr arrays.
NAME = "coquina.blosc2"
_LEVEL_MAX = 22
#: Chunks whose parts are read at the same time; each waits for the store.
_READERS = 16


@dataclass(frozen=True)
class Blosc2Codec(ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin):
    """The serializer "coquina.blosc2": `zarr.create_array(..., serializer=Blosc2Codec(), compressors=None)`.

    codec, level, filters: as `coquina.compress` takes them; the codec "auto", with the keywords of
    `coquina.Tuning`, gives each chunk what suits it. blocks: items along each axis of a block, the unit that
    is decoded; by the default rule if None.

    Every chunk is the content of a `.b2nd` file of its own, with a checksum; the dtype is stored in the byte
    order little. Items of variable length are refused. Raises ValueError for options out of range.
    """

    is_fixed_size = False

    codec: str | tuple[str, int]
    level: int
    filters: tuple[str | tuple[str, int], ...]
    blocks: tuple[int, ...] | None
    tuning: Terms | None

    def __init__(
        self,
        *,
        codec: Any = DEFAULT_CODEC,
        level: int = DEFAULT_LEVEL,
        filters: Any = ("shuffle",),
        blocks: Any = None,
        **tuning: Unpack[Tuning],
    ) -> None:
        """Check the options."""
        given: Any = "shuffle" if filters in ("shuffle", ("shuffle",), ["shuffle"]) else filters
        codec, level, filters, terms = tuned(codec, level, given, tuning, DATASETS)
        # JSON has lists for pairs.
        chosen: str | tuple[str, int] = codec if isinstance(codec, str) else tuple(codec)
        name = chosen if isinstance(chosen, str) else chosen[0]
        if name not in _core.codecs():
            raise ValueError(f"codec {codec!r}: one of {', '.join(_core.codecs())}, or a pair with a number")
        if type(level) is not int or not 0 <= level <= _LEVEL_MAX:
            raise ValueError(f"level {level!r}: takes 0 to {_LEVEL_MAX}")
        object.__setattr__(self, "codec", chosen)
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "filters", _filters(filters))
        object.__setattr__(self, "blocks", None if blocks is None else _blocks(blocks))
        object.__setattr__(self, "tuning", terms)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the codec of its metadata."""
        _, configuration = parse_named_configuration(data, NAME, require_configuration=False)
        return cls(**cast("dict[str, Any]", configuration or {}))

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata, as JSON has it."""
        filters = [one if isinstance(one, str) else list(one) for one in self.filters]
        chosen = self.codec if isinstance(self.codec, str) else list(self.codec)
        configuration: dict[str, Any] = {"codec": chosen, "level": self.level, "filters": filters}
        if self.tuning is not None:
            configuration = {"codec": AUTO, **words_of(self.tuning)}
        if self.blocks is not None:
            configuration["blocks"] = list(self.blocks)
        return {"name": NAME, "configuration": configuration}

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Raise TypeError for items of variable length, ValueError for blocks of another number of axes."""
        del chunk_grid
        self._check(len(shape), dtype.to_native_dtype())

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the codec for chunks of a shape and dtype: itself. Raises as `validate` does."""
        self._check(len(array_spec.shape), array_spec.dtype.to_native_dtype())
        return self

    def _check(self, axes: int, dtype: np.dtype[Any]) -> None:
        if dtype.hasobject or dtype.kind == "T":
            raise TypeError(f"{NAME}: items of {dtype} are of variable length; its items are of a fixed size")
        dtype_text(dtype)
        if self.blocks is not None and len(self.blocks) != axes:
            raise ValueError(f"{NAME}: blocks {self.blocks} for chunks of {axes} axes")

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Raise NotImplementedError: the size depends on the items."""
        raise NotImplementedError(f"{NAME}: the size of a compressed chunk depends on its items")

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer | None:
        return await asyncio.to_thread(self._encode_sync, chunk_data, chunk_spec)

    def _encode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer | None:
        items = np.asarray(chunk_data.as_numpy_array())
        encoded = self._encoded(items.astype(items.dtype.newbyteorder("<"), copy=False))
        return chunk_spec.prototype.buffer.from_bytes(encoded)

    def _encoded(self, items: npt.NDArray[Any]) -> bytes:
        shape = items.shape
        # A chunk has an item at least along each axis.
        array = asarray(
            np.ascontiguousarray(items).reshape(shape),
            chunks=tuple([max(1, length) for length in shape]),
            blocks=None if self.blocks is None else _fitting(self.blocks, shape),
            **self._encoding(),
        )
        return array.to_bytes()

    def _encoding(self) -> dict[str, Any]:
        """Return codec, level and filters as `asarray` takes them."""
        if self.tuning is not None:
            return {"codec": AUTO, **words_of(self.tuning)}
        return {"codec": self.codec, "level": self.level, "filters": self.filters}

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_data, chunk_spec)

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return _read(from_bytes(cast("Any", chunk_data.as_numpy_array())), ..., chunk_spec)

    async def _decode_partial_single(
        self, byte_getter: ByteGetter, selection: Any, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        loop = asyncio.get_running_loop()
        # The inner chunks of a shard are in memory already.
        if hasattr(byte_getter, "shard_dict") or _is_whole(selection, chunk_spec.shape):
            found = await byte_getter.get(chunk_spec.prototype)
            if found is None:
                return None
            opener, source = from_bytes, found.as_numpy_array()
        else:
            stored = StoredChunk(byte_getter, chunk_spec.prototype, loop)
            if not await stored.begin():
                return None
            content = stored.content
            opener = open_frame if content is None else from_bytes
            source: Any = RangeReader(stored) if content is None else content
        # Not the loop's own executor: stores fetch in that one, and those who wait would leave no room.
        return await loop.run_in_executor(
            _readers(os.getpid()), _read_from, opener, source, selection, chunk_spec
        )


def _read_from(opener: Callable[[Any], Any], source: Any, selection: Any, spec: ArraySpec) -> NDBuffer:
    return _read(opener(source), selection, spec)


def _is_whole(selection: Any, shape: tuple[int, ...]) -> bool:
    """Whether a selection is all of a chunk."""
    whole = [(0, length, 1) for length in shape]
    return (
        isinstance(selection, tuple)
        and [
            one.indices(length) if isinstance(one, slice) else None
            for one, length in zip(cast("tuple[Any, ...]", selection), shape, strict=False)
        ]
        == whole
    )


def _read(frame: Any, selection: Any, spec: ArraySpec) -> NDBuffer:
    """Return items of a stored chunk, once it is sure that they are those of the Zarr array."""
    dtype = spec.dtype.to_native_dtype()
    if not isinstance(frame, Array):
        raise CorruptError(f"{NAME}: a chunk that holds no array, but a {type(frame).__name__}")
    if frame.shape != spec.shape or frame.dtype != dtype.newbyteorder("<"):
        raise CorruptError(
            f"{NAME}: a chunk of shape {frame.shape} and dtype {frame.dtype}, where the array has chunks of "
            f"shape {spec.shape} and dtype {dtype}"
        )
    items = np.asarray(frame[selection]).astype(dtype, copy=False)
    return spec.prototype.nd_buffer.from_ndarray_like(cast("Any", items))


def _fitting(blocks: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return blocks that are no longer than the chunk."""
    return tuple([max(1, min(block, length)) for block, length in zip(blocks, shape, strict=True)])


def _filters(filters: Any) -> tuple[str | tuple[str, int], ...]:
    """Return filters as Python has them: names, or pairs of a name and a parameter."""
    listed: list[Any] = [filters] if isinstance(filters, str) else list(filters)
    found: list[str | tuple[str, int]] = []
    for one in listed:
        parts: list[Any] = [one] if isinstance(one, str) else list(one)
        name, parameters = parts[0], parts[1:]
        if name not in _core.filters() or len(parameters) > 1 or any(type(p) is not int for p in parameters):
            raise ValueError(f"filter {one!r}: one of {', '.join(_core.filters())}, or a pair with a number")
        found.append((name, parameters[0]) if parameters else name)
    return tuple(found)


def _blocks(blocks: Any) -> tuple[int, ...]:
    found = tuple([blocks] if isinstance(blocks, int) else blocks)
    if any(type(block) is not int or block < 1 for block in found):
        raise ValueError(f"blocks {blocks!r}: items along each axis, at least 1")
    return found


@cache
def _readers(process: int) -> ThreadPoolExecutor:
    """Return the threads that read parts of chunks; a process that was forked off has none of the others."""
    del process
    return ThreadPoolExecutor(_READERS, thread_name_prefix="coquina-zarr")


register_codec(NAME, Blosc2Codec)

__all__ = ["NAME", "Blosc2Codec"]
