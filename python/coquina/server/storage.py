"""How an array is stored, chunk by chunk: where each is, its bytes, its codec, and what a selection touches.

In: arrays in frames and in HDF5 files. Out: dicts for JSON.
Invariant: of chunks only heads are read, nothing is decoded.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any

from coquina._core import CoquinaError
from coquina.arrays.array import Array
from coquina.arrays.frames import Frame
from coquina.chunks import chunk_info
from coquina.hdf5.datasets import Dataset
from coquina.server.describing import encoding_of
from coquina.server.failures import bad_request
from coquina.server.frame_index import FrameIndex
from coquina.server.selections import selected
from coquina.server.values import itemsize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.server.objects import Found

CHUNKS_MAX = 100_000
#: Arrays in memory whose chunks are listed have at most so many compressed bytes.
_COPIED_BYTES_MAX = 64 << 20
_SPECIAL = {"zeros": "zeros", "nans": "nan", "value": "fill", "uninit": "unwritten"}


@dataclass(frozen=True, slots=True)
class StorageRequest:
    """Which chunks are listed, and of which selection it is asked what it touches."""

    offset: int = 0
    most: int = 5000
    selection: str | None = None


def storage(found: Found, wanted: StorageRequest) -> dict[str, Any]:
    """Return codec, grid and chunks of an array. Raises RequestError for other objects."""
    node = found.node
    if not isinstance(node, Array | Frame):
        raise bad_request(f"{found.path}: chunks of this {found.kind} are not listed")
    if not (wanted.offset >= 0 and 0 <= wanted.most <= CHUNKS_MAX):
        raise bad_request(f"chunks from {wanted.offset} on, {wanted.most} of them")
    if isinstance(node, Frame):
        return _frame_storage(found, wanted)
    info = node.info
    chunks = tuple(info.chunks)
    is_chunked = not isinstance(node, Dataset) or node.layout == "chunked"
    grid = [-(-length // chunk) if chunk else 0 for length, chunk in zip(node.shape, chunks, strict=True)]
    total = prod(grid) if is_chunked else 0
    listed = _listed(node, range(wanted.offset, min(total, wanted.offset + wanted.most)))
    encoding = encoding_of(node)
    facts: dict[str, Any] = {
        "codec": encoding["codec"],
        "filters": encoding["filters"],
        "chunk_shape": chunks,
        "block_shape": tuple(info.blocks),
        "grid": grid,
        "nbytes": info.nbytes,
        "stored": node.cbytes,
        "chunks": list(listed),
        "total": total,
    }
    if wanted.selection is not None:
        facts["touched"] = touched(found, wanted.selection)
    return facts


def _frame_storage(found: Found, wanted: StorageRequest) -> dict[str, Any]:
    """Return codec and chunks of a frame, in the words of an array of bytes."""
    node: Frame = found.node
    info = node.info()
    total = info["nchunks"]
    numbers = range(wanted.offset, min(total, wanted.offset + wanted.most))
    # Where the frames of a store begin in its file is not known here.
    is_file = found.path == "/" and node.path is not None
    listed = _of_frame(FrameIndex(node.path or ""), numbers) if is_file else ()
    return {
        "codec": info["codec"],
        "filters": [name for name, _ in info["filters"]],
        "chunk_shape": (info["chunk_size"],) if info["chunk_size"] else (),
        "block_shape": (),
        "grid": [total],
        "nbytes": info["nbytes"],
        "stored": info["cbytes"],
        "chunks": list(listed),
        "total": total,
    }


def touched(found: Found, selection: str) -> dict[str, int]:
    """Return how many chunks, blocks and decoded bytes a selection touches, and how many values it has."""
    node: Array = found.node
    picked = selected(selection, node.shape)
    chunks = 1
    for axis, chunk in enumerate(node.chunks):
        one = picked.key[axis]
        if isinstance(one, slice):
            numbers = range(node.shape[axis])[one]
            first, last = (numbers[0], numbers[-1]) if numbers else (0, -1)
            low, high = min(first, last), max(first, last)
            step = abs(numbers.step)
            chunks *= min(len(numbers), high // chunk - low // chunk + 1) if step < chunk else len(numbers)
    blocks = node.blocks_touched(picked.key) if picked.size else 0
    nbytes = blocks * prod(node.blocks or (1,)) * node.itemsize
    return {
        "chunks": chunks if picked.size else 0,
        "blocks": blocks,
        "bytes": nbytes,
        "values": picked.size,
        "value_bytes": picked.size * itemsize(found),
    }


def _listed(node: Array, numbers: range) -> Iterator[dict[str, Any]]:
    if isinstance(node, Dataset):
        return _of_dataset(node, numbers) if len(numbers) else iter(())
    if node.path is not None:
        return _of_frame(FrameIndex(node.path, node.handle.offset), numbers)
    # The bytes of an array in memory are copied to be looked at.
    is_small = node.cbytes <= _COPIED_BYTES_MAX
    return _of_frame(FrameIndex("memory", content=node.to_bytes()), numbers) if is_small else iter(())


def _of_dataset(node: Dataset, numbers: range) -> Iterator[dict[str, Any]]:
    """Iterate over the stored chunks of a dataset; those that were never written are not listed."""
    grid = [-(-length // chunk) for length, chunk in zip(node.shape, node.chunks, strict=True)]
    pipeline = "+".join(name for _, name, _ in node.filters) or None
    for chunk in islice(node.chunk_iter(), numbers.start, numbers.stop):
        at = 0
        for axis, count in enumerate(grid):
            first = chunk.start[axis] if axis < len(chunk.start) else 0
            at = at * count + first // node.chunks[axis]
        yield {
            "index": at,
            "offset": chunk.offset,
            "stored": chunk.size or 0,
            "codec": pipeline,
            "nbytes": prod(node.chunks) * node.itemsize,
            "special": None if chunk.size else "unwritten",
        }


def _of_frame(index: FrameIndex, numbers: range) -> Iterator[dict[str, Any]]:
    with index:
        for at in numbers[: max(0, len(index) - numbers.start)]:
            entry = index.entry(at)
            facts: dict[str, Any] = {"index": at, "offset": entry.offset, "stored": 0, "codec": None}
            facts |= {"nbytes": index.chunk_bytes, "special": entry.special}
            if entry.head is not None:
                try:
                    info = chunk_info(entry.head)
                except CoquinaError:
                    facts["special"] = "damaged"
                else:
                    facts |= {"stored": info.cbytes, "codec": info.codec, "nbytes": info.nbytes}
                    facts["special"] = _SPECIAL.get(info.kind)
            yield facts
