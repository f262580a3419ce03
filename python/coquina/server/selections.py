"""Selections as text: `0,:,2:5`, the syntax of h5grove, which is that of NumPy without names.

In: text of a request, and the shape of an array. Out: a key of integers and slices, one for each axis; and
the same key thinned out, so that at most so many values come.
Invariant: the key fits the shape; what it selects is counted before anything is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod

from coquina.server.failures import RequestError, bad_request

_MEMBER = re.compile(
    r"\s*(?:(-?\d{1,19})|(-?\d{1,19})?\s*:\s*(-?\d{1,19})?\s*(?::\s*(-?\d{1,19})?\s*)?)\s*\Z"
)
_TEXT_MAX = 4096


@dataclass(frozen=True, slots=True)
class Selected:
    """What a selection is of an array. key: for each axis. shape: of the result.

    kept: the axes that are kept, those with a slice. steps: of each of these.
    """

    key: tuple[int | slice, ...]
    shape: tuple[int, ...]
    kept: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many values it selects."""
        return prod(self.shape)


def selected(text: str | None, shape: tuple[int, ...]) -> Selected:
    """Return what a text selects. Raises RequestError for what is no selection of such an array.

    text: None or "" for all. Axes that it does not name are taken whole. An integer takes one item and drops
    the axis, as in NumPy; slices are cut to the shape.
    """
    members = _members(text)
    if len(members) > len(shape):
        raise bad_request(f"selection {text!r}: {len(members)} axes, and the array has {len(shape)}")
    members += [slice(None)] * (len(shape) - len(members))
    key: list[int | slice] = []
    lengths: list[int] = []
    kept: list[int] = []
    steps: list[int] = []
    for axis, (member, length) in enumerate(zip(members, shape, strict=True)):
        if isinstance(member, int):
            if not -length <= member < length:
                raise bad_request(
                    f"selection {text!r}: there is no item {member} of {length} along axis {axis}"
                )
            key.append(member % length)
            continue
        start, stop, step = member.indices(length)
        count = len(range(start, stop, step))
        # A stop before the first item has no number of its own.
        key.append(slice(start, None if stop < 0 else stop, step) if count else slice(0, 0))
        lengths.append(count)
        kept.append(axis)
        steps.append(step)
    return Selected(tuple(key), tuple(lengths), tuple(kept), tuple(steps))


def _members(text: str | None) -> list[int | slice]:
    if text is None or not text.strip():
        return []
    if len(text) > _TEXT_MAX:
        raise bad_request(f"a selection of {len(text)} characters")
    found: list[int | slice] = []
    at = 0
    for part in text.split(","):
        match = _MEMBER.match(part)
        if match is None:
            message = f"selection {text[:80]!r}: {part.strip()[:40]!r} is no integer and no slice"
            raise RequestError(400, "invalid", message, at)
        number, *ends = match.groups()
        if number is not None:
            found.append(int(number))
        else:
            start, stop, step = [None if end is None else int(end) for end in ends]
            if step == 0:
                raise RequestError(400, "invalid", f"selection {text[:80]!r}: a step of 0", at)
            found.append(slice(start, stop, step))
        at += len(part) + 1
    return found


def thinned(chosen: Selected, most: int) -> Selected:
    """Return the selection with larger steps, so that it has at most `most` values.

    The longest axes are thinned out first, so that short ones, such as the colours of an image, stay whole.
    """
    if most < 1:
        raise bad_request(f"most {most}: takes 1 and more")
    if chosen.size <= most:
        return chosen
    factors = _factors(chosen.shape, most)
    key, steps = list(chosen.key), list(chosen.steps)
    lengths: list[int] = []
    for at, (axis, factor) in enumerate(zip(chosen.kept, factors, strict=True)):
        whole = chosen.key[axis]
        if isinstance(whole, slice):
            key[axis] = slice(whole.start, whole.stop, (whole.step or 1) * factor)
        steps[at] *= factor
        lengths.append(_count(chosen.shape[at], factor))
    return Selected(tuple(key), tuple(lengths), chosen.kept, tuple(steps))


def _factors(lengths: tuple[int, ...], most: int) -> list[int]:
    """Return by how much each axis is thinned out: to the largest common length that fits."""

    def factors(longest: int) -> list[int]:
        return [-(-length // longest) if length else 1 for length in lengths]

    low, high = 1, max(lengths)
    while low < high:
        middle = (low + high + 1) // 2
        found = factors(middle)
        if prod(map(_count, lengths, found)) <= most:
            low = middle
        else:
            high = middle - 1
    return factors(low)


def _count(length: int, factor: int) -> int:
    return -(-length // factor)
