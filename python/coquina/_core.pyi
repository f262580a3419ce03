"""The compiled engine. Users import these names from `coquina`."""

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, BinaryIO, Literal, TypeAlias, final

import numpy as np
import typing_extensions

__version__: str

# NumPy says that its arrays lend buffers from Python 3.12 on only.
Buffer: TypeAlias = typing_extensions.Buffer | np.ndarray[Any, np.dtype[Any]]
Path: TypeAlias = str | PathLike[str]
Filters: TypeAlias = str | tuple[str, int] | Iterable[str | tuple[str, int]]

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
    codec: str = "zstd",
    level: int = 5,
    filters: Filters | None = None,
    blocksize: int | None = None,
    split: Literal["auto", "always", "never"] = "auto",
    dictionary: bool = False,
    format: Literal["blosc1", "blosc2"] = "blosc2",
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
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
    codec: str = "blosclz",
    level: int = 7,
    filters: Filters | None = None,
    chunk_size: int = 1048576,
    checksum: str = "adler32",
    offsets: bool = True,
    metadata: bytes | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> bytes | int: ...
def pack_append(
    path: Path,
    data: Buffer | Path | BinaryIO,
    /,
    *,
    codec: str = "blosclz",
    level: int = 7,
    filters: Filters | None = None,
    metadata: bytes | None = None,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
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

@final
class ProgressBar:
    """A bar on standard error that fills as bytes are done; nothing where that is not a terminal."""

    def __new__(cls, total: int, label: str, /) -> ProgressBar: ...
    def __call__(self, done: int, /) -> None: ...
    def close(self) -> None: ...
