"""The part of `_core` that is about directories of frames that are committed together."""

from typing import Self, final

from ._core import ArrayHandle, Path

@final
class DirectoryLock:
    """The lock of a directory, for its one writer."""

    def __new__(cls, path: Path, /) -> Self: ...
    def is_at(self, path: Path, /) -> bool: ...
    def release(self) -> None: ...

@final
class ManifestWriter:
    """A manifest that is written, by which arrays are committed together."""

    def __new__(cls, path: Path, /) -> Self: ...
    @property
    def takes_line(self) -> bool: ...
    def commit(
        self, handles: list[ArrayHandle], text: bytes, /, *, line: bool = False, durable: bool = False
    ) -> tuple[str, Exception | None]: ...

def read_manifest(path: Path, /) -> tuple[bytes, list[bytes], bool]: ...
def open_commit(path: Path, commit: tuple[int, int], /, *, writable: bool = False) -> ArrayHandle: ...
