"""The part of the stub of `_core` that is about automatic tuning: goals, profiles, and what is measured.

At run time there is `_core` alone.
"""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, final

from ._core import Buffer

_Goal: TypeAlias = tuple[float, str, float | None, bool | Profile]

def check_tuning(goal: _Goal, /) -> None: ...

@final
class Profile:
    def __new__(cls, text: str, /) -> Profile: ...
    @property
    def text(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[type[Profile], tuple[str]]: ...

@final
class TrainerHandle:
    def __new__(cls) -> TrainerHandle: ...
    def observe(
        self,
        group: int,
        blocks: Buffer,
        /,
        block_bytes: int,
        typesize: int,
        dtype: str,
        block_shape: Iterable[int],
    ) -> None: ...
    def profile(self) -> Profile: ...
    def judge(self, goal: _Goal, /) -> tuple[float, float]: ...
    def __len__(self) -> int: ...

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
def coder_work(chunk: Buffer, /) -> list[float] | None: ...
def codec_times() -> str: ...
