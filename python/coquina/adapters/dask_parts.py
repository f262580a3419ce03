"""Parts of arrays that tasks encode, and how they come together: what is stored of a Dask array.

In: the items of a region of whole chunks. Out: their stored chunks, encoded once, in the task; put into the
    array by the task itself if it is in that process, else by whoever waits for the tasks.
Invariant: the chunks are those that the array's own writer would make.
"""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from coquina import _core
from coquina.arrays.creation import new_array
from coquina.arrays.opening import from_bytes
from coquina.arrays.regions import chunk_regions
from coquina.arrays.writes import wrote

if TYPE_CHECKING:
    from collections.abc import Generator

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.storage_options import Options
    from coquina.tuning_options import Terms

Shape = tuple[int, ...]
#: What a task hands over: nothing, stored chunks, or the path of a file with them.
Parcel = bytes | str | None


class Recipe(Protocol):
    """How regions of an array are encoded."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the items."""
        ...

    def encoded(self, items: npt.NDArray[Any], start: Shape) -> Any:
        """Return the stored chunks of a region."""
        ...

    def packed(self, part: Any) -> bytes:
        """Return what `encoded` gave as bytes."""
        ...

    def unpacked(self, content: bytes) -> Any:
        """Return what was packed."""
        ...

    def put(self, target: Any, part: Any, start: Shape) -> None:
        """Put the stored chunks into the array."""
        ...


@dataclass(frozen=True)
class ArrayRecipe:
    """How regions of an `Array` are encoded: each is an array in memory of the same cut."""

    dtype: np.dtype[Any]
    options: Options

    def encoded(self, items: npt.NDArray[Any], start: Shape) -> Array:
        """Return a region as an array of its own."""
        # There are other tasks for the other cores.
        return new_array(items.shape, self.dtype, self.options, items, threads=1)

    def packed(self, part: Array) -> bytes:
        """Return the bytes of its file."""
        return part.to_bytes()

    def unpacked(self, content: bytes) -> Array:
        """Return the array of a file."""
        return from_bytes(content)

    def put(self, target: Array, part: Array, start: Shape) -> None:
        """Let the array take the chunks over, and what is known of them."""
        try:
            target.handle.adopt(start, part.handle)
        finally:
            wrote(target)


@dataclass(frozen=True)
class DatasetRecipe:
    """How regions of a dataset of an HDF5 file are encoded: each chunk by the dataset's filters."""

    dtype: np.dtype[Any]
    shape: Shape
    chunks: Shape
    filters: list[tuple[int, bool, list[int]]]
    fill: bytes
    zones: list[tuple[int, str]]
    tuning: Terms | None = None
    checksums: bool = True
    encoding: Any = None

    def encoded(self, items: npt.NDArray[Any], start: Shape) -> list[tuple[Shape, bytes]]:
        """Return where each chunk begins, and its bytes."""
        made: list[tuple[Shape, bytes]] = []
        tuner = None if self.tuning is None else _core.ChunkTuner(self.tuning)
        for region in chunk_regions(items.shape, self.chunks):
            inside = items[region]
            chunk = inside
            if inside.shape != self.chunks:
                chunk = np.full(self.chunks, np.frombuffer(self.fill, self.dtype)[0], self.dtype)
                chunk[tuple(slice(length) for length in inside.shape)] = inside
            at = tuple(part.start + first for part, first in zip(region, start, strict=True))
            made.append((at, self._filtered(np.ascontiguousarray(chunk), len(inside), tuner)))
        return made

    def _filtered(self, chunk: npt.NDArray[Any], rows: int, tuner: _core.ChunkTuner | None) -> bytes:
        data: Any = chunk.reshape(-1).view(np.uint8)
        return _core.filter_encode(
            self.filters,
            self.chunks,
            self.dtype.itemsize,
            data,
            zones=self.zones,
            rows=rows,
            tuner=tuner,
            checksums=self.checksums,
            encoding=self.encoding,
        )

    def packed(self, part: list[tuple[Shape, bytes]]) -> bytes:
        """Return them as bytes: their number, coordinates, sizes, and what is stored."""
        numbers = [len(part), *(n for at, chunk in part for n in (*at, len(chunk)))]
        return b"".join([np.array(numbers, "<u8").tobytes(), *(chunk for _, chunk in part)])

    def unpacked(self, content: bytes) -> list[tuple[Shape, bytes]]:
        """Return what was packed."""
        count = int.from_bytes(content[:8], "little")
        width = len(self.shape) + 1
        rows = np.frombuffer(content, "<u8", count * width, 8).reshape(count, width).tolist()
        part: list[tuple[Shape, bytes]] = []
        place = 8 * (1 + count * width)
        for *at, size in rows:
            part.append((tuple(at), content[place : place + size]))
            place += size
        return part

    def put(self, target: Any, part: list[tuple[Shape, bytes]], start: Shape) -> None:
        """Write them as they are."""
        for at, chunk in part:
            target.write_chunk(at, chunk)


@dataclass(frozen=True)
class Delivery:
    """What a task does with a region. key: of the array in its process. folder: for parcels of other ones."""

    recipe: Recipe
    key: str
    folder: str | None

    def __call__(self, items: Any, start: Shape, shape: Shape) -> Parcel:
        """Encode a region, and put it into the array if that is in this process; else hand it over.

        Raises ValueError for items of another shape than the region's, which Dask does not look at.
        """
        values: npt.NDArray[Any] = np.asarray(items, self.recipe.dtype, order="C")
        if values.shape != tuple(shape):
            raise ValueError(
                f"from_dask: the chunk at {start} has shape {values.shape} where its array says {shape}"
            )
        part = self.recipe.encoded(values, start)
        target = _targets.get((os.getpid(), self.key))
        if target is not None:
            self.recipe.put(target, part, start)
            return None
        content = self.recipe.packed(part)
        if self.folder is None:
            return content
        path = os.path.join(self.folder, secrets.token_hex(16))
        with open(path, "xb") as file:
            file.write(content)
        return path

    def receive(self, target: Any, parcel: Parcel, start: Shape) -> None:
        """Put what a task handed over into the array."""
        if isinstance(parcel, str):
            with open(parcel, "rb") as file:
                content = file.read()
            os.unlink(parcel)
            self.recipe.put(target, self.recipe.unpacked(content), start)
        elif parcel is not None:
            self.recipe.put(target, self.recipe.unpacked(parcel), start)


#: The arrays that tasks of this process put their parts into, while somebody waits for them.
_targets: dict[tuple[int, str], Any] = {}


@contextmanager
def delivery_to(target: Any, recipe: Recipe) -> Generator[Delivery]:
    """Give the delivery for tasks that fill an array; parcels lie beside its file, and go when this ends."""
    key = secrets.token_hex(16)
    folder = None
    if target.path is not None:
        above, name = os.path.split(target.path)
        folder = os.path.join(above, f".{name[:100]}.{key}.parts")
        os.mkdir(folder)
    _targets[os.getpid(), key] = target
    try:
        yield Delivery(recipe, key, folder)
    finally:
        del _targets[os.getpid(), key]
        if folder is not None:
            _remove(folder)


def _remove(folder: str) -> None:
    """Remove a folder into which tasks that nobody waits for any more may still write."""
    # By its new name they do not find it.
    gone = f"{folder}.gone"
    os.rename(folder, gone)
    shutil.rmtree(gone)
