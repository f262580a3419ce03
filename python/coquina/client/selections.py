"""Keys of NumPy as the text that servers take: integers, slices and `...`.

In: a key and a shape. Out: text, and the shape of what it selects.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from operator import index
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Selection:
    """A key for each axis. parts: integers and ranges. shape: of what is selected."""

    parts: tuple[int | range, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes that are kept."""
        return tuple([len(one) for one in self.parts if isinstance(one, range)])

    @property
    def size(self) -> int:
        """How many values it selects."""
        return prod(self.shape)

    @property
    def text(self) -> str:
        """The selection as servers take it."""
        return ",".join([str(one) if isinstance(one, int) else _text(one) for one in self.parts])

    def cut(self, most: int) -> list[Selection]:
        """Return the selection in parts along its first axis that is kept, each of at most `most` values."""
        at = next((at for at, one in enumerate(self.parts) if isinstance(one, range)), None)
        if self.size <= most or at is None:
            return [self]
        whole = cast("range", self.parts[at])
        rows = max(1, most // max(1, self.size // len(whole)))
        pieces = [whole[first : first + rows] for first in range(0, len(whole), rows)]
        return [Selection((*self.parts[:at], piece, *self.parts[at + 1 :])) for piece in pieces]


def _text(numbers: range) -> str:
    if not numbers:
        return "0:0"
    stop = numbers[-1] + numbers.step
    return f"{numbers[0]}:{stop if stop >= 0 else ''}:{numbers.step}"


def lowered(key: Any, shape: tuple[int, ...]) -> Selection:
    """Return what a key selects of a shape. Raises IndexError for other keys, and for what is not there."""
    members: list[Any] = list(cast("Any", key)) if isinstance(key, tuple) else [key]
    if any(one is Ellipsis for one in members):
        at = next(at for at, one in enumerate(members) if one is Ellipsis)
        missing = len(shape) - len(members) + 1
        members[at : at + 1] = [slice(None)] * max(0, missing)
    if len(members) > len(shape):
        raise IndexError(f"{len(members)} indices for {len(shape)} axes")
    members += [slice(None)] * (len(shape) - len(members))
    parts: list[int | range] = []
    for axis, (member, length) in enumerate(zip(members, shape, strict=True)):
        if isinstance(member, slice):
            parts.append(range(length)[member])
            continue
        try:
            number = index(member)
        except TypeError:
            raise IndexError("remote arrays take integers, slices and `...`") from None
        if isinstance(member, bool) or not -length <= number < length:
            raise IndexError(f"index {member} of {length} items along axis {axis}")
        parts.append(number % length)
    return Selection(tuple(parts))
