"""The part of the stub of `_core` that is about HDF5: datasets lent to the engine, filters, chunk indexes.

At run time there is `_core` alone.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, final

from ._core import ArrayHandle, Buffer, Path

_Filters: TypeAlias = Iterable[tuple[int, bool, Iterable[int]]]
_ChunkRows: TypeAlias = list[tuple[tuple[int, ...], int, int, int]]

@final
class Hdf5Library:
    """An h5py dataset, lent to the engine."""

    def __new__(cls, dataset: Any, /, *, raw: bool | None = None, memory_type: Any = None) -> Hdf5Library: ...
    @property
    def dataset(self) -> Any: ...
    @property
    def raw_symbols(self) -> bool: ...
    @property
    def filters_partial_edges(self) -> bool | None: ...
    def read_chunk(self, start: Iterable[int], /) -> tuple[bytes, int] | None: ...
    def read_chunk_into(self, start: Iterable[int], out: Buffer, /) -> tuple[int, int] | None: ...
    def write_chunk(self, start: Iterable[int], data: Buffer, /) -> None: ...
    def chunk_table(self, *, by_number: bool = False) -> _ChunkRows: ...
    def flush(self) -> None: ...

@final
class ChunkTuner:
    """Chooses how chunks are encoded that are handed over encoded."""

    def __new__(cls, goal: tuple[float, str, float | None, bool], /) -> ChunkTuner: ...

def open_dataset(
    library: Hdf5Library,
    /,
    *,
    shape: Iterable[int],
    chunks: Iterable[int],
    rank: int,
    dtype: str,
    typesize: int,
    fill: bytes,
    filters: _Filters,
    gear: str,
    writable: bool = False,
    blocks: Iterable[int] | None = None,
    place: str | None = None,
    path: Path | None = None,
    device: int | None = None,
    inode: int | None = None,
    header: int | None = None,
    contiguous: int | None = None,
    zones: Sequence[tuple[int, str]] = ...,
    terminated: Sequence[tuple[int, int, int]] = ...,
    remote: Any = None,
) -> ArrayHandle: ...
def read_index(path: Path, header: int, /) -> tuple[str, _ChunkRows]: ...
def count_index(path: Path, header: int, /) -> int: ...
def lookup3(data: Buffer, /) -> int: ...
def filter_encode(
    filters: _Filters,
    dims: Iterable[int],
    itemsize: int,
    data: Buffer,
    /,
    *,
    zones: Sequence[tuple[int, str]] = ...,
    rows: int = ...,
    tuner: ChunkTuner | None = None,
) -> bytes: ...
def filter_decode(
    filters: _Filters, dims: Iterable[int], itemsize: int, mask: int, data: Buffer, /
) -> bytes: ...
def hdf5_filters() -> list[tuple[int, str, bool, bool]]: ...
def hdf5_filter_is_there(code: int) -> bool: ...
