"""The part of the stub of `_core` that is about what is computed: lazies, reductions, queries.

At run time there is `_core` alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, final

import numpy as np

from ._core import ArrayBase

_Items: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
_Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
_Ints: TypeAlias = Iterable[int]
_Read: TypeAlias = Callable[[tuple[int, ...], tuple[int, ...]], _Items]
#: Path, kind, type, sources, mask and detail of a column.
_QueryColumn: TypeAlias = tuple[str, str, str, list["Lazy"], "Lazy | None", Any]

@final
class Lazy:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def walk(self) -> tuple[list[int], list[int]]: ...
    def read(self, start: _Ints, shape: _Ints, out: _Items, threads: int | None = None) -> None: ...
    def write_to(self, array: ArrayBase, threads: int | None = None) -> None: ...
    def report(self) -> dict[str, int]: ...

def lazy_array(array: ArrayBase, offset: int, item_bytes: int, swapped_bytes: int = 1) -> Lazy: ...
def lazy_memory(values: _Items) -> Lazy: ...
def lazy_function(
    read: _Read, shape: _Ints, item_bytes: int, chunks: _Ints, blocks: _Ints, *, is_stored: bool = True
) -> Lazy: ...
def lazy_program(
    nodes: list[tuple[Any, ...]], inputs: Iterable[Lazy], shape: Iterable[int], *, grows: bool = False
) -> Lazy: ...
def has_kernel(name: str, types: Iterable[str]) -> str | None: ...
def default_walk(shape: Iterable[int], item_bytes: int) -> tuple[list[int], list[int]]: ...
def reduce(
    lazy: Lazy, type_name: str, fold_name: str, axes: Iterable[bool], /, threads: int | None = None
) -> tuple[bytes, int, int]: ...
def scan_fold(
    condition: Lazy | None,
    column: Lazy,
    type_name: str,
    fold_name: str,
    start: int,
    stop: int,
    step: int = 1,
    *,
    threads: int | None = None,
) -> tuple[bytes, int, dict[str, int]]: ...
def group_by(
    condition: Lazy | None,
    span: range,
    keys: list[_QueryColumn],
    wanted: list[tuple[str, str, _QueryColumn | None]],
    rows: _Numbers | None = None,
) -> tuple[list[tuple[str | None, Any, _Bytes | None]], list[tuple[str | None, Any, _Bytes | None]]]: ...
def lazy_elements(
    array: ArrayBase, offset: int, item_bytes: int, swapped_bytes: int, axes: _Ints
) -> Lazy: ...

@final
class QueryColumns:
    def __init__(
        self,
        columns: list[_QueryColumn],
        elsewhere: Callable[[str, list[Any]], tuple[str, Lazy]],
    ) -> None: ...
    @property
    def rows(self) -> int: ...
    def condition(self, text: str, params: dict[str, Any] | None = None) -> Lazy: ...
    def expression(self, text: str, params: dict[str, Any] | None = None) -> ReadText: ...

@final
class ReadText:
    @property
    def type_name(self) -> str: ...
    def lazy(self) -> Lazy: ...
    def nulls(self) -> Lazy | None: ...
    @property
    def column(self) -> tuple[int, list[int]] | None: ...

def all_of(conditions: list[Lazy], rows: int) -> Lazy: ...
def text_ranks(offsets: _Numbers, bytes: Any, /) -> Any: ...

@final
class Found:
    def __init__(self, matched: int, values: dict[str, Any], numbers: Any = None) -> None: ...
    @property
    def matched(self) -> int: ...
    @property
    def values(self) -> dict[str, Any]: ...
    @property
    def numbers(self) -> _Numbers | None: ...
    @property
    def report(self) -> dict[str, int]: ...

@final
class ColumnReader:
    def __init__(self, columns: Mapping[str, Any]) -> None: ...
    def scan(
        self, condition: Lazy | None, span: range, *, numbers: bool = False, limit: int | None = None
    ) -> Found: ...
    def nothing(self, *, numbers: bool = False) -> Found: ...

@final
class SortedRows:
    def __init__(
        self,
        reader: ColumnReader,
        condition: Lazy | None,
        span: range,
        keys: Sequence[tuple[Any, bool]],
        *,
        numbers: bool = False,
        memory_limit: int,
        folder: str,
    ) -> None: ...
    @property
    def is_in_file(self) -> bool: ...
    def next(self, most: int) -> Found | None: ...
