"""Ways of reading an array: planes, lines, points, boxes, all of it; and how often each happens.

In: words such as "planes:0", shapes of boxes, or a mapping from these to how often they are read.
Out: `Use`s, which are made of `Pattern`s: how many items are read at once along each axis.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

#: Words that take no axis and no lengths.
WORDS = ("any", "whole", "rows", "columns", "planes", "series", "points")
_TAKES = f"{', '.join(WORDS)}, planes:K, series:K, boxes:N,N,..., or the shape of boxes"
_PLACES = (0.03, 0.21, 0.37, 0.5, 0.68, 0.83, 0.96)
_RUN = 100  # of one axis: a hundredth of it at once

Shape = tuple[int, ...]
#: One word, one box, or a mapping from words and boxes to how often they are read.
AccessOption = str | Shape | Mapping[str | Shape, float]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A way of reading: along each axis how many items at once, None for all of them."""

    lengths: tuple[int | None, ...]

    def __str__(self) -> str:
        """Return the key, as NumPy has it."""
        parts = [":" if one is None else "i" if one == 1 else f"i:i+{one}" for one in self.lengths]
        return f"[{', '.join(parts)}]"

    def region(self, shape: Shape) -> Shape:
        """Return how many items it reads along each axis of a shape; at least one."""
        return tuple(
            max(1, total if one is None else min(one, total))
            for one, total in zip(self.lengths, shape, strict=True)
        )

    def keys(self, shape: Shape) -> list[tuple[Any, ...]]:
        """Return this pattern at several places of a shape; the same ones each time."""
        found: list[tuple[Any, ...]] = []
        for number in range(len(_PLACES)):
            key: list[Any] = []
            for axis, (length, total) in enumerate(zip(self.lengths, shape, strict=True)):
                if length is None:
                    key.append(slice(None))
                    continue
                # Another fraction for each axis, so that places are not on a diagonal.
                room = max(0, total - length)
                at = round(_PLACES[(number * (axis + 1) + axis) % len(_PLACES)] * room)
                key.append(at if length == 1 and total else slice(at, at + length))
            found.append(tuple(key))
        return found


@dataclass(frozen=True, slots=True)
class Use:
    """What is read, and how often. word: as it was asked for. patterns: the ways of reading that it means.

    Of several patterns none counts more than another: each is read so often that all take the same time where
    the array is cut by the rule.
    """

    word: str
    patterns: tuple[Pattern, ...]
    weight: float = 1.0


def uses(shape: Shape, access: AccessOption) -> list[Use]:
    """Return what is read of an array, and how often.

    Raises ValueError for words, axes, boxes and weights that are none, TypeError for what is no access.
    """
    if not isinstance(access, Mapping):
        return [Use(word_of(access), patterns(shape, access))]
    if not access:
        raise ValueError("access: a mapping of access patterns needs at least one")
    found: list[Use] = []
    for one, weight in cast("Mapping[Any, Any]", access).items():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise TypeError(f"access {one!r}: a weight is a number, not {type(weight).__name__}")
        if not 0 < weight < math.inf:
            raise ValueError(f"access {one!r}: {weight}: a weight is a number above 0")
        found.append(Use(word_of(one), patterns(shape, one), float(weight)))
    return found


def word_of(access: str | Shape) -> str:
    """Return a way of reading as a word. Raises TypeError for what is none."""
    if isinstance(access, str):
        return access
    if isinstance(access, tuple) and all(hasattr(one, "__index__") for one in access):  # pyright: ignore[reportUnnecessaryIsInstance]
        return f"boxes:{','.join(map(str, access))}"
    raise TypeError(f"access {access!r}: takes {_TAKES}, or a mapping of these to numbers")


def patterns(shape: Shape, access: str | Shape) -> tuple[Pattern, ...]:
    """Return the patterns that a word, or the shape of a box, stands for.

    Raises ValueError for no such word, axis or box.
    """
    word = word_of(access)
    name, colon, rest = word.partition(":")
    if name == "boxes" and colon:
        return (_box(shape, word, rest),)
    if name in ("planes", "series") and colon:
        return (_along(shape, name, _axis(shape, word, rest)),)
    if colon or name not in WORDS:
        raise ValueError(f"access {word!r}: takes {_TAKES}")
    return _named(shape, name)


def _named(shape: Shape, name: str) -> tuple[Pattern, ...]:
    ndim = len(shape)
    points = Pattern((1,) * ndim)
    if name == "whole" or not ndim:
        return (Pattern((None,) * ndim),)
    if name == "points":
        return (points,)
    if ndim == 1:
        # Rows and planes of one axis are runs along it.
        run = Pattern((max(2, shape[0] // _RUN),))
        return (run, points) if name == "any" else (Pattern((None,)),) if name == "series" else (run,)
    kind = "series" if name == "series" else "planes"
    every = tuple(_along(shape, kind, axis) for axis in range(ndim))
    return {"rows": every[:1], "columns": every[-1:], "any": (*every, points)}.get(name, every)


def _along(shape: Shape, kind: str, axis: int) -> Pattern:
    """Return the planes that are at an index of an axis, or the lines along it."""
    inside = kind == "series"
    return Pattern(tuple(None if (at == axis) is inside else 1 for at in range(len(shape))))


def _axis(shape: Shape, word: str, text: str) -> int:
    if not re.fullmatch(r"-?\d+", text) or not -len(shape) <= int(text) < len(shape):
        raise ValueError(f"access {word!r}: not an axis of an array of shape {shape}")
    return int(text) % len(shape)


def _box(shape: Shape, word: str, text: str) -> Pattern:
    parts = [part.strip() for part in text.replace("x", ",").split(",")]
    lengths = tuple(int(part) for part in parts if part.isdecimal())
    if len(lengths) != len(parts) or len(lengths) != len(shape):
        raise ValueError(f"access {word!r}: does not fit an array of shape {shape}")
    if any(not 0 < length <= total for length, total in zip(lengths, shape, strict=True)):
        raise ValueError(f"access {word!r}: does not fit an array of shape {shape}")
    return Pattern(lengths)
