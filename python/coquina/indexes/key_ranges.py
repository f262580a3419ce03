"""Sets of keys, as ranges, and what conditions ask for.

In: ranges of keys. Out: sets that are combined.
Invariant: `Wanted.sure` holds keys of which all rows meet a condition, `maybe` those of which some can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Keys = npt.NDArray[np.uint64]

KEY_MAX = (1 << 64) - 1


class KeyRanges:
    """A set of keys: ranges with both ends within, ascending, disjoint and not adjacent."""

    __slots__ = ("high", "low")

    def __init__(self, low: Keys, high: Keys) -> None:
        """The set of these ranges."""
        self.low = low
        self.high = high

    @classmethod
    def of(cls, *pairs: tuple[int, int]) -> KeyRanges:
        """Return the set of ranges that are in order already; those without keys are left out."""
        kept = [(low, high) for low, high in pairs if low <= high]
        return cls(
            np.array([low for low, _ in kept], np.uint64), np.array([high for _, high in kept], np.uint64)
        )

    @classmethod
    def points(cls, keys: Keys) -> KeyRanges:
        """Return the set of single keys, in any order."""
        return _united(keys, keys)

    def __bool__(self) -> bool:
        """Whether there is a key."""
        return len(self.low) > 0

    def __eq__(self, other: object) -> bool:
        """Whether these are the same keys."""
        return (
            isinstance(other, KeyRanges)
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
        )

    __hash__ = None  # type: ignore[assignment]

    def pairs(self) -> list[tuple[int, int]]:
        """Return the ranges as numbers."""
        return list(zip(self.low.tolist(), self.high.tolist(), strict=True))

    def __or__(self, other: KeyRanges) -> KeyRanges:
        """Return the keys in any of both."""
        if self is other or not other:
            return self
        if not self:
            return other
        return _united(np.concatenate([self.low, other.low]), np.concatenate([self.high, other.high]))

    def __and__(self, other: KeyRanges) -> KeyRanges:
        """Return the keys in both."""
        if self is other:
            return self
        if len(self.low) == 1 == len(other.low):
            low = max(int(self.low[0]), int(other.low[0]))
            return KeyRanges.of((low, min(int(self.high[0]), int(other.high[0]))))
        return ~(~self | ~other)

    def __invert__(self) -> KeyRanges:
        """Return all other keys."""
        if not self:
            return EVERY
        lows, highs = self.low.tolist(), self.high.tolist()
        return KeyRanges.of(
            *zip([0, *[one + 1 for one in highs]], [*[one - 1 for one in lows], KEY_MAX], strict=True)
        )


def _united(low: Keys, high: Keys) -> KeyRanges:
    order = np.argsort(low, kind="stable")
    low, ends = low[order], np.maximum.accumulate(high[order])
    if not len(low):
        return NOTHING
    # Ranges that touch are one; what ends with the last key touches all behind it.
    is_first = np.append(True, low[1:] - np.uint64(1) > ends[:-1])
    is_first[1:] &= low[1:] > ends[:-1]
    return KeyRanges(low[is_first], ends[np.append(is_first[1:], True)])


NOTHING = KeyRanges.of()
EVERY = KeyRanges.of((0, KEY_MAX))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a condition asks of the values of one operand. See the module for `sure` and `maybe`.

    nan: whether rows whose value is NaN or NaT meet it; null: whether those without a value do. None: some.
    """

    sure: KeyRanges
    maybe: KeyRanges
    nan: bool | None = False
    null: bool | None = False

    def __and__(self, other: Wanted) -> Wanted:
        """Return what meets both."""
        sure = self.sure & other.sure
        is_one = self.sure is self.maybe and other.sure is other.maybe
        maybe = sure if is_one else self.maybe & other.maybe
        return Wanted(sure, maybe, _and(self.nan, other.nan), _and(self.null, other.null))

    def __or__(self, other: Wanted) -> Wanted:
        """Return what meets any of both."""
        sure = self.sure | other.sure
        is_one = self.sure is self.maybe and other.sure is other.maybe
        maybe = sure if is_one else self.maybe | other.maybe
        return Wanted(sure, maybe, _or(self.nan, other.nan), _or(self.null, other.null))

    def __invert__(self) -> Wanted:
        """Return what does not meet it."""
        sure = ~self.maybe
        maybe = sure if self.sure is self.maybe else ~self.sure
        return Wanted(sure, maybe, _not(self.nan), _not(self.null))

    def missing(self, *, can_be_nan: bool, can_be_null: bool) -> bool | None:
        """Whether all rows without a key meet it, or none; None: that is not known."""
        asked = {self.nan} if can_be_nan else set[bool | None]()
        asked |= {self.null} if can_be_null else set()
        return asked.pop() if len(asked) == 1 else None if asked else False


def _and(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _or(one: bool | None, other: bool | None) -> bool | None:
    if one or other:
        return True
    return None if one is None or other is None else False


def _not(one: bool | None) -> bool | None:
    return None if one is None else not one


def exactly(keys: KeyRanges, *, nan: bool | None = False, null: bool | None = None) -> Wanted:
    """Return what asks for these keys; where a value is missing, what stands in its place decides."""
    return Wanted(keys, keys, nan, null)
