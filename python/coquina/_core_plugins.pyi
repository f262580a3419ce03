"""The part of the stub of `_core` that is about codecs and filters from outside.

At run time there is `_core` alone.
"""

from collections.abc import Callable
from typing import Literal, final

from ._core import Buffer, Path

@final
class BlockInfo:
    """What is known of a block besides its bytes."""

    @property
    def nbytes(self) -> int: ...
    @property
    def typesize(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...] | None: ...
    @property
    def kind(self) -> str | None: ...
    @property
    def meta(self) -> int: ...
    @property
    def level(self) -> int: ...
    @property
    def options(self) -> str: ...

def register_codec(
    id: int,
    name: str,
    encode: Callable[[memoryview, BlockInfo], Buffer | None],
    decode: Callable[[memoryview, BlockInfo], Buffer],
    /,
    *,
    lossy: bool,
    needs_items: bool,
) -> None: ...
def register_filter(
    id: int,
    name: str,
    encode: Callable[[memoryview, BlockInfo], Buffer],
    decode: Callable[[memoryview, BlockInfo], Buffer],
    /,
    lossy: bool,
) -> None: ...
def load_plugin(path: Path, /) -> list[tuple[Literal["codec", "filter"], int, str]]: ...
def loaded_plugins() -> list[tuple[Literal["codec", "filter"], int, str]]: ...
def load_blosc2_plugin(what: Literal["codec", "filter"], id: int, name: str, path: str, /) -> None: ...
