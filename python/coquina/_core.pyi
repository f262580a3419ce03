"""The compiled engine. Users import these names from `coquina`."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, BinaryIO, Literal, Self, TypeAlias, final

import numpy as np
import typing_extensions

from ._core_hdf5 import *  # noqa: F403 - the other files of this stub
from ._core_index import *  # noqa: F403
from ._core_lazy import *  # noqa: F403
from ._core_plugins import *  # noqa: F403

__version__: str

# NumPy says that its arrays lend buffers from Python 3.12 on only.
Buffer: TypeAlias = typing_extensions.Buffer | np.ndarray[Any, np.dtype[Any]]
Path: TypeAlias = str | PathLike[str]
_Items: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Filters: TypeAlias = str | tuple[str, int] | Iterable[str | tuple[str, int]]
Codec: TypeAlias = str | tuple[str, int] | tuple[str, Mapping[str, Any]]

class CoquinaError(Exception):
    """Base of the exceptions that only coquina raises."""

class CorruptError(CoquinaError):
    """The bytes contradict their format, or are damaged."""

class TruncatedError(CorruptError):
    """The bytes end before what they announce."""

class UnsupportedError(CoquinaError):
    """Well formed, but this build lacks what it needs."""

class LimitError(CoquinaError):
    """More bytes than the format or a given limit allows."""

def compress(
    data: Buffer,
    /,
    *,
    typesize: int | None = None,
    codec: Codec = "zstd",
    level: int = 1,
    filters: Filters | None = None,
    blocksize: int | None = None,
    split: Literal["auto", "always", "never"] = "auto",
    dictionary: bool = False,
    format: Literal["blosc1", "blosc2"] = "blosc2",
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    tuning: _Goal | None = None,
) -> bytes: ...
def decompress(
    chunk: Buffer,
    /,
    *,
    max_bytes: int | None = None,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> bytes: ...
def decompress_into(
    chunk: Buffer,
    out: Buffer,
    /,
    *,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> int: ...
def decompress_items(
    chunk: Buffer,
    start: int,
    stop: int,
    /,
    *,
    max_bytes: int | None = None,
    threads: int | None = None,
) -> bytes: ...
def chunk_info(chunk: Buffer, /) -> dict[str, Any]: ...
def codecs() -> dict[str, int]: ...
def filters() -> dict[str, int]: ...
def checksums() -> dict[str, int]: ...
def num_threads() -> int: ...
def set_num_threads(threads: int, /) -> int: ...
def pack(
    data: Buffer | Path | BinaryIO,
    target: Path | BinaryIO | None = None,
    /,
    *,
    typesize: int = 8,
    codec: Codec = "blosclz",
    level: int = 7,
    filters: Filters | None = None,
    chunk_size: int = 1048576,
    checksum: str = "adler32",
    offsets: bool = True,
    metadata: bytes | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    tuning: _Goal | None = None,
) -> bytes | int: ...
def pack_append(
    path: Path,
    data: Buffer | Path | BinaryIO,
    /,
    *,
    codec: Codec = "blosclz",
    level: int = 7,
    filters: Filters | None = None,
    metadata: bytes | None = None,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    tuning: _Goal | None = None,
) -> int: ...

@final
class PackReader:
    """An open Bloscpack file."""

    def __new__(cls, source: Buffer | Path | BinaryIO, /) -> PackReader: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def cbytes(self) -> int: ...
    @property
    def nchunks(self) -> int: ...
    @property
    def chunk_size(self) -> int | None: ...
    @property
    def typesize(self) -> int: ...
    @property
    def checksum(self) -> str: ...
    @property
    def has_offsets(self) -> bool: ...
    @property
    def spare_chunks(self) -> int: ...
    @property
    def chunks_read(self) -> int: ...
    @property
    def offsets(self) -> list[int]: ...
    @property
    def metadata(self) -> bytes | None: ...
    def read(
        self,
        start: int,
        stop: int,
        /,
        *,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> bytes: ...
    def read_into(
        self,
        start: int,
        out: Buffer,
        /,
        *,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> None: ...
    def write_to(
        self,
        path: Path,
        header: bytes,
        /,
        *,
        overwrite: bool = False,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> None: ...

def set_progress_bars(make: Callable[[int], object] | None, /) -> None: ...

@final
class ProgressBar:
    """A bar on standard error that fills as bytes are done; nothing where that is not a terminal."""

    def __new__(cls, total: int, label: str, /) -> ProgressBar: ...
    def __call__(self, done: int, /) -> None: ...
    def close(self) -> None: ...

def create_array(
    shape: Iterable[int],
    dtype: str,
    typesize: int,
    values: _Items | None = None,
    *,
    fill: str | bytes | None = None,
    chunks: Iterable[int] | None = None,
    blocks: Iterable[int] | None = None,
    access: str | Iterable[int] | None = None,
    codec: Codec = "zstd",
    level: int = 1,
    filters: Filters | None = None,
    split: str = "auto",
    path: Path | None = None,
    contiguous: bool = True,
    overwrite: bool = False,
    checksums: bool = True,
    threads: int | None = None,
    tuning: _Goal | None = None,
) -> ArrayHandle: ...
def check_tuning(goal: _Goal, /) -> None: ...
def tuning_text(goal: _Goal, /) -> str: ...
def tuning_of_text(text: str, /) -> _Goal: ...
def explain_tuning(
    blocks: Buffer,
    /,
    block_bytes: int,
    typesize: int,
    dtype: str,
    block_shape: Iterable[int],
    tuning: _Goal,
    *,
    format: Literal["blosc2", "blosc1"] = "blosc2",
    threads: int | None = None,
) -> dict[str, Any]: ...
def lz4_sequences(chunk: Buffer, /) -> tuple[float, float]: ...
def codec_times() -> str: ...
def check_lossy(terms: _Terms, /) -> None: ...
def create_frame(
    path: Path,
    /,
    *,
    typesize: int = 1,
    chunk_size: int = 0,
    codec: Codec = "zstd",
    level: int = 1,
    filters: Filters | None = None,
    contiguous: bool = True,
    overwrite: bool = False,
    checksums: bool = True,
    metalayers: Iterable[tuple[str, bytes]] | None = None,
    tuning: _Goal | None = None,
) -> FrameHandle: ...
def open_content(
    source: Buffer | Path | BinaryIO,
    /,
    *,
    writable: bool = False,
    offset: int = 0,
    verify: bool = True,
    damaged: bool = False,
) -> ArrayHandle | FrameHandle | PackReader: ...

_Array: TypeAlias = _Items
_Axes: TypeAlias = list[tuple[int, int, int] | np.ndarray[Any, np.dtype[np.int64]] | None]
_Points: TypeAlias = list[tuple[int, np.ndarray[Any, np.dtype[np.int64]]]] | None
_Damage: TypeAlias = tuple[int, list[tuple[int, int]], Exception]
_Terms: TypeAlias = tuple[str, float, str | None]
_Goal: TypeAlias = tuple[float, str, float | None, bool]
_Reached: TypeAlias = tuple[float, float, float, list[int]]

@final
class ArrayHandle:
    """An array of the engine, without a dtype."""

    @property
    def dtype_text(self) -> str | None: ...
    @property
    def typesize(self) -> int: ...
    @property
    def is_writable(self) -> bool: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def path(self) -> str | None: ...
    @property
    def remote(self) -> Any: ...
    @property
    def offset(self) -> int: ...
    @property
    def state_sum(self) -> int | None: ...
    @property
    def durable(self) -> bool: ...
    @property
    def cache_bytes(self) -> int: ...
    def adopt(self, start: Iterable[int], other: ArrayHandle, /) -> None: ...
    def publish(self) -> None: ...
    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def compact(self) -> None: ...
    def refresh(self) -> bool: ...
    def close(self) -> None: ...
    def set_durable(self, durable: bool, /) -> None: ...
    def set_cache_bytes(self, cache_bytes: int, /) -> None: ...
    def save(self, path: Path, /, *, overwrite: bool = False) -> None: ...
    def to_bytes(self) -> bytes: ...
    def verify(self, *, threads: int | None = None) -> list[_Damage]: ...
    def repair(
        self, path: Path, /, *, overwrite: bool = False, nans: bool = False, threads: int | None = None
    ) -> list[_Damage]: ...
    def bounds(self, number: int, /) -> tuple[bytes, bytes, bool, bool] | None: ...
    def layer(self, name: str, /) -> bytes | None: ...
    def set_layer(self, name: str, content: bytes | None, /) -> None: ...
    def layer_names(self) -> list[str]: ...
    def metalayers(self) -> list[tuple[str, bytes]]: ...
    def stats(self) -> dict[str, Any]: ...
    def lossy(self) -> tuple[str, float, str | None, _Reached] | None: ...
    def set_lossy(self, terms: _Terms, reached: _Reached | None = None, /) -> None: ...
    def set_exact(self) -> None: ...
    def tuning(self) -> _Goal | None: ...
    def set_tuning(self, goal: _Goal | None, /) -> None: ...
    def encodings(self) -> dict[str, int]: ...
    def tuner_counters(self) -> dict[str, int]: ...

class ArrayBase:
    """An array of the engine with its NumPy dtype."""

    def __new__(cls, handle: ArrayHandle, dtype: np.dtype[Any], /) -> Self: ...
    @property
    def handle(self) -> ArrayHandle: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def typesize(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def chunks(self) -> tuple[int, ...]: ...
    @property
    def blocks(self) -> tuple[int, ...]: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def read_selection(
        self,
        axes: _Axes,
        points: _Points,
        points_at: int,
        out: _Array,
        offset: int = 0,
        threads: int | None = None,
    ) -> None: ...
    def write_selection(
        self,
        axes: _Axes,
        points: _Points,
        points_at: int,
        values: _Array,
        offset: int = 0,
        threads: int | None = None,
        *,
        uniform: bool = False,
        shape: Iterable[int] | None = None,
    ) -> bool: ...
    def blocks_of_selection(self, axes: _Axes, points: _Points, points_at: int = 0) -> int: ...
    def append_items(self, axis: int, len: int, values: _Array, threads: int | None = None) -> None: ...
    def resize_axes(self, shape: Iterable[int], threads: int | None = None) -> None: ...

@final
class FrameHandle:
    """An open frame of plain chunks."""

    @property
    def is_closed(self) -> bool: ...
    @property
    def path(self) -> str | None: ...
    def stats(self) -> dict[str, Any]: ...
    def chunk(self, number: int, /) -> bytes: ...
    def stored_chunk(self, number: int, /) -> bytes: ...
    def put_chunk(self, number: int, chunk: Buffer, /, *, insert: bool = False) -> None: ...
    def tuned_chunk(self, data: Buffer, /) -> bytes | None: ...
    def tuning(self) -> _Goal | None: ...
    def set_tuning(self, goal: _Goal | None, /) -> None: ...
    def remove_chunk(self, number: int, /) -> None: ...
    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def publish(self) -> None: ...
    def compact(self) -> None: ...
    def refresh(self) -> bool: ...
    def close(self) -> None: ...
    def layer(self, name: str, /) -> bytes | None: ...
    def set_layer(self, name: str, content: bytes | None, /) -> None: ...
    def layer_names(self) -> list[str]: ...
    def metalayers(self) -> list[tuple[str, bytes]]: ...

def is_strict() -> bool: ...
def small_array(values: _Items, dtype: str) -> ArrayHandle: ...
