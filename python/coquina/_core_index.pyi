"""The part of the stub of `_core` that is about indexes: sets of rows, fingerprints, sorted runs.

At run time there is `_core` alone.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, final

import numpy as np

from ._core_lazy import Lazy

_Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
_Keys: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
_Blocks: TypeAlias = tuple[
    np.ndarray[Any, np.dtype[np.uint16]],
    np.ndarray[Any, np.dtype[np.uint32]] | np.ndarray[Any, np.dtype[np.uint64]],
    _Keys,
    np.ndarray[Any, np.dtype[np.uint8]],
]
_Column: TypeAlias = Lazy | tuple[Lazy, Lazy]

def lazy_rows(rows: _Numbers, open: _Numbers, count: int, chunk_rows: int, block_rows: int) -> Lazy: ...
def rows_and(a: _Numbers, b: _Numbers) -> _Numbers: ...
def rows_or(a: _Numbers, b: _Numbers) -> _Numbers: ...
def rows_minus(a: _Numbers, b: _Numbers) -> _Numbers: ...
def rows_within(rows: _Numbers, ranges: _Numbers) -> _Numbers: ...
def row_fingerprints(
    sources: Iterable[_Column], starts: _Numbers, stops: _Numbers, *, threads: int | None = None
) -> _Keys: ...
def survey(condition: Lazy, start: int, stop: int, *, threads: int | None = None) -> tuple[int, int]: ...

@final
class IndexSort:
    def __init__(
        self,
        source: _Column,
        kind: str,
        missing: Lazy | None,
        ranges: Iterable[tuple[int, int]],
        *,
        memory_limit: int,
        folder: str,
        bucket_rows: int = 1,
        block_entries: int = 4096,
        progress: Callable[[int, int], object] | None = None,
        threads: int | None = None,
    ) -> None: ...
    @property
    def entries(self) -> int: ...
    @property
    def missing(self) -> _Numbers: ...
    @property
    def row_bytes(self) -> int: ...
    def next(self) -> _Blocks | None: ...

@final
class IndexRun:
    def __init__(
        self,
        offsets: Lazy,
        rows: Lazy,
        first: _Keys,
        shifts: np.ndarray[Any, np.dtype[np.uint8]],
        entries: int,
        missing: int,
        block_entries: int = 4096,
    ) -> None: ...
    def estimate(self, low: _Keys, high: _Keys) -> int: ...
    def count(self, low: _Keys, high: _Keys) -> tuple[int, int]: ...
    def find(self, low: _Keys, high: _Keys, *, threads: int | None = None) -> tuple[_Numbers, _Numbers]: ...
    def rows_at(self, start: int, stop: int, *, threads: int | None = None) -> _Numbers: ...

def pytables_sizes(rows: int, item_bytes: int) -> dict[str, int]: ...

@final
class PyTablesSearch:
    def __init__(
        self,
        arrays: Mapping[str, Lazy],
        sizes: Mapping[str, int],
        kind: str,
        *,
        rest: int,
        rest_kept: int,
        table_chunk_rows: int,
        is_rounded: bool = False,
    ) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def bucket_rows(self) -> int: ...
    @property
    def item_bytes(self) -> int: ...
    def find(self, low: _Keys, high: _Keys, *, missing: bool = False) -> tuple[_Numbers, _Numbers] | None: ...
    def estimate(self, low: _Keys, high: _Keys, *, missing: bool = False) -> int: ...

@final
class PyTablesSort:
    def __init__(
        self,
        values: Lazy,
        kind: str,
        sizes: Mapping[str, int],
        *,
        window_rows: int,
        memory_limit: int,
        folder: str,
        progress: Callable[[int], object] | None = None,
    ) -> None: ...
    def next(self) -> tuple[int, int, np.ndarray[Any, np.dtype[np.uint8]], _Keys] | None: ...
    def finish(self) -> dict[str, np.ndarray[Any, np.dtype[np.uint8]]]: ...
