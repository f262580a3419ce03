"""The items of given ranks among more items than fit in memory, exactly and without sorting them.

In: a source of pieces, which can be gone through several times. Out: for every rank the item that would
    stand there if all were sorted; NaN and NaT are counted, and left out.
How: items become unsigned integers in the same order. A pass counts those of each value of the highest bits,
    which leaves for each rank one value of these bits; the next pass looks at the next bits of what is left,
    until that fits in memory, or no bits are left. Items that are no numbers of 64 bits are sorted instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coquina.functions.runs import piece_items, sorted_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    Pieces = Callable[[], Iterator[npt.NDArray[Any]]]
    Ranks = npt.NDArray[np.int64]
    Keys = npt.NDArray[np.uint64]

#: How many bits a pass looks at, for all that is left together.
PASS_BITS = 16
_NAN_KINDS = "fcmM"


class Selected(NamedTuple):
    """How many items are no NaN, and the items of the ranks that were asked for."""

    valid: int
    items: npt.NDArray[Any]


def select(pieces: Pieces, dtype: np.dtype[Any], ranks: Callable[[int, int], Ranks], budget: int) -> Selected:
    """Return the items of the ranks that `ranks(count, nans)` gives, which have to be below `count`.

    Memory: `budget` bytes of items, and a piece.
    """
    if dtype.kind not in "biufmM" or dtype.itemsize > 8:
        return _by_sorting(pieces, dtype, ranks, budget)
    order = _Order(dtype)
    bits = min(order.bits, PASS_BITS)
    left, nans = order.bits - bits, 0
    counts = np.zeros(1 << bits, np.int64)
    for piece in pieces():
        valid = _valid(piece)
        nans += len(piece) - len(valid)
        counts += np.bincount((order.keys(valid) >> np.uint64(left)).view(np.int64), minlength=1 << bits)
    count = int(counts.sum())
    wanted = ranks(count, nans)
    if not len(wanted):
        return Selected(count, np.empty(0, dtype))
    found = _narrowed(_Found(np.zeros(len(wanted), np.uint64), wanted, wanted), counts, bits)
    while left:
        active, first = np.unique(found.highs, return_index=True)
        if int(found.sizes[first].sum()) * 16 <= budget:
            return Selected(count, order.items(_collected(pieces, order, found, active, left)))
        # So many counters as before, shared by all that is left.
        bits = max(1, min(left, PASS_BITS - len(active).bit_length() + 1))
        left -= bits
        counts = np.zeros(len(active) << bits, np.int64)
        for keys, places in _hits(pieces, order, active, left + bits):
            digits = ((keys >> np.uint64(left)) & np.uint64((1 << bits) - 1)).view(np.int64)
            counts += np.bincount((places << bits) | digits, minlength=len(counts))
        found = _narrowed(found, counts, bits)
    return Selected(count, order.items(found.highs))


class _Found(NamedTuple):
    """What is known of the item of each rank.

    highs: the highest bits of its key. rests: its rank among the items of the same highest bits.
    sizes: how many these are.
    """

    highs: Keys
    rests: Ranks
    sizes: Ranks


def _narrowed(found: _Found, counts: npt.NDArray[np.int64], bits: int) -> _Found:
    """Learn `bits` more bits from how many items have each value of them, for each of the highest bits."""
    _, row = np.unique(found.highs, return_inverse=True)
    ends = np.cumsum(counts)
    before = np.concatenate([np.zeros(1, np.int64), ends])[row << bits] + found.rests
    bins = np.searchsorted(ends, before, side="right")
    digits = (bins & ((1 << bits) - 1)).astype(np.uint64)
    return _Found((found.highs << np.uint64(bits)) | digits, before - (ends - counts)[bins], counts[bins])


def _hits(
    pieces: Pieces, order: _Order, active: Keys, left: int
) -> Iterator[tuple[Keys, npt.NDArray[np.int64]]]:
    """Yield the keys that have one of the `active` highest bits, and which of these it is."""
    for piece in pieces():
        keys = order.keys(_valid(piece))
        highs = keys >> np.uint64(left)
        if len(active) == 1:
            kept = keys[highs == active[0]]
            yield kept, np.zeros(len(kept), np.int64)
            continue
        places = np.minimum(np.searchsorted(active, highs), len(active) - 1)
        hit = active[places] == highs
        yield keys[hit], places[hit].astype(np.int64, copy=False)


def _collected(pieces: Pieces, order: _Order, found: _Found, active: Keys, left: int) -> Keys:
    """Return the keys of the ranks, out of all that may be them, which fit in memory."""
    keys = np.concatenate([kept for kept, _ in _hits(pieces, order, active, left)])
    keys.sort()
    return keys[np.searchsorted(keys, found.highs << np.uint64(left)) + found.rests]


class _Order:
    """Items as unsigned integers of the same order, and back."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.bits = 8 * dtype.itemsize
        self._native = dtype.newbyteorder("=")
        self._unsigned = np.dtype(f"u{dtype.itemsize}")
        self._sign: Any = self._unsigned.type(1 << (self.bits - 1))
        self._ones: Any = self._unsigned.type((1 << self.bits) - 1)

    def keys(self, items: npt.NDArray[Any]) -> Keys:
        raw: npt.NDArray[Any] = items.astype(self._native, copy=False).view(self._unsigned)
        if self.dtype.kind in "imM":
            raw = np.bitwise_xor(raw, self._sign)
        elif self.dtype.kind == "f":
            # The larger the magnitude of a negative number, the smaller it is.
            raw = self._flipped(raw, self._ones, self._sign)
        return raw.astype(np.uint64, copy=False)

    def items(self, keys: Keys) -> npt.NDArray[Any]:
        raw: npt.NDArray[Any] = keys.astype(self._unsigned)
        if self.dtype.kind in "imM":
            raw = np.bitwise_xor(raw, self._sign)
        elif self.dtype.kind == "f":
            raw = self._flipped(raw, self._sign, self._ones)
        return raw.view(self._native).astype(self.dtype, copy=False)

    def _flipped(self, raw: npt.NDArray[Any], signed: Any, unsigned: Any) -> npt.NDArray[Any]:
        """Flip the bits `signed` where the sign is set, else those of `unsigned`."""
        flips: npt.NDArray[Any] = np.full(raw.shape, unsigned)
        flips[np.bitwise_and(raw, self._sign) != 0] = signed
        return np.bitwise_xor(raw, flips)


def _valid(items: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the items that are not NaN."""
    if items.dtype.kind not in _NAN_KINDS:
        return items
    isnan = np.isnan(items)
    return items[~isnan] if isnan.any() else items


def _by_sorting(
    pieces: Pieces, dtype: np.dtype[Any], ranks: Callable[[int, int], Ranks], budget: int
) -> Selected:
    """Return what `select` does for items that have no keys."""
    length = nans = 0
    for piece in pieces():
        length += len(piece)
        nans += len(piece) - len(_valid(piece))
    wanted = ranks(length - nans, nans)
    found = np.empty(len(wanted), dtype)
    if not len(wanted):
        return Selected(length - nans, found)
    size = piece_items(dtype, budget, numbered=False)
    cut = (piece[at : at + size] for piece in pieces() for at in range(0, len(piece), size))
    start = 0
    for block, _ in sorted_blocks(cut, length, dtype, budget):
        here = (wanted >= start) & (wanted < start + len(block))
        found[here] = block[wanted[here] - start]
        start += len(block)
    return Selected(length - nans, found)
