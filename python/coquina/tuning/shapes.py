"""How an array should be cut for what will be read of it: shapes of chunks and blocks, by counting.

In: shape, bytes of an item, ways of reading, what is decided already. Out: cuts with what each way of
reading touches and about how long it takes; the first one is advised.
Method: the rule of docs/partition.md for each way of reading, with blocks of several sizes; for each cut,
bytes that are decoded and chunks that are asked for.
Invariant: the result depends on the arguments alone. The cut that would be taken anyway stays where no other
one is `MIN_GAIN` better: sizes of blocks change ratios too, which nobody has counted here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

from coquina.arrays.constants import zeros
from coquina.tuning.counting import blocks_touched, chunks_touched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.tuning.patterns import Pattern, Shape, Use

#: What another cut must save of the time of the one that there is.
MIN_GAIN = 0.1
#: Blocks of about these sizes are tried.
BLOCK_SIZES = tuple(kib << 10 for kib in (16, 32, 64, 128, 256))
#: Bytes that a core decodes in a second; what is stored of a byte; a request takes as long as so many bytes.
#: They only weigh what is counted, and are the same on all machines.
DECODED_BYTES = 1e9
STORED_PART = 0.5
REQUEST_BYTES = 128 << 10
BANDWIDTH = 125e6  # of a gigabit network
_NEAR = 0.05  # cuts that take so little longer than the best one are as good
_SLACK = 1.125  # of sizes, so that a block that is a little larger need not be halved
#: Accesses that the rule itself knows.
_OF_RULE = ("any", "rows", "columns")


@dataclass(frozen=True, slots=True)
class Reading:
    """One way of reading, on the average over all places.

    blocks, chunks: touched. decoded_bytes: of these blocks. wanted_bytes: of the items. seconds: about how
    long it takes one core, by the constants of this module. often: how many times it is read.
    """

    pattern: Pattern
    blocks: float
    chunks: float
    decoded_bytes: float
    wanted_bytes: int
    seconds: float
    often: float = 1.0


@dataclass(frozen=True, slots=True)
class Cut:
    """A way to cut an array. name: where it comes from. seconds: of all that is read, as often as it is."""

    name: str
    chunks: Shape
    blocks: Shape
    readings: tuple[Reading, ...] = ()
    seconds: float = 0.0

    @property
    def key(self) -> tuple[Shape, Shape]:
        """What makes it another cut than others."""
        return self.chunks, self.blocks


def rule(shape: Shape, itemsize: int, access: Any = "any", **given: Shape | None) -> tuple[Shape, Shape]:
    """Return chunks and blocks by the rule for new arrays. given: `chunks` or `blocks` that stay."""
    wanted: dict[str, Any] = {name: lengths for name, lengths in given.items() if lengths is not None}
    # Chunks of zeros are not stored, so that the whole shape costs nothing.
    array = zeros(shape, f"V{itemsize}", access=access, codec="lz4", **wanted)
    return array.chunks, array.blocks


def cuts(
    shape: Shape,
    itemsize: int,
    uses: list[Use],
    *,
    given: tuple[Shape | None, Shape | None] = (None, None),
    current: tuple[Shape, Shape] | None = None,
    bandwidth: float | None = None,
) -> list[Cut]:
    """Return ways to cut an array: the one that is advised, then the others by what they take.

    given: chunks and blocks that are decided, or None. current: how it is cut now.
    Raises ValueError for what is given and cannot be.
    """
    found: dict[tuple[Shape, Shape], Cut] = {}
    for cut in _candidates(shape, itemsize, uses, given, current):
        found.setdefault(cut.key, cut)
    first, *others = found.values()
    speed = bandwidth or BANDWIDTH
    first = _read(first, shape, itemsize, uses, speed)
    often = _shares(first, uses)
    counted = [_weighed(_read(cut, shape, itemsize, uses, speed), often) for cut in (first, *others)]
    least = min(cut.seconds for cut in counted)
    best = counted[0]
    if least <= best.seconds * (1 - MIN_GAIN):
        # Long runs along the last axis are what codecs and copies like.
        near = [cut for cut in counted if cut.seconds <= least * (1 + _NEAR)]
        best = max(near, key=lambda cut: (cut.blocks[-1], -cut.seconds))
    return [best, *sorted((cut for cut in counted if cut is not best), key=lambda cut: cut.seconds)]


def _candidates(
    shape: Shape,
    itemsize: int,
    uses: list[Use],
    given: tuple[Shape | None, Shape | None],
    current: tuple[Shape, Shape] | None,
) -> Iterator[Cut]:
    """Yield cuts; the first one is what there would be without advice."""
    chunks, blocks = given
    if current is not None and given == (None, None):
        yield Cut("current", *current)
    name = "default" if given == (None, None) else "given"
    yield Cut(name, *rule(shape, itemsize, _own_access(shape, uses), chunks=chunks, blocks=blocks))
    if [use.word for use in uses] == ["any"] or None not in given or not shape:
        return
    wanted: dict[str, tuple[Any, Shape]] = {word: (word, _region(shape, word)) for word in _OF_RULE}
    for use in uses:
        for pattern in use.patterns:
            region = pattern.region(shape)
            wanted.setdefault(str(pattern), (region, region))
    for label, (access, region) in wanted.items():
        made = rule(shape, itemsize, access, chunks=chunks, blocks=blocks)
        yield Cut(label, *made)
        if blocks is None:
            most = chunks or shape
            for size in BLOCK_SIZES:
                resized = _resized(made[1], region, most, size // itemsize)
                yield Cut(label, *rule(shape, itemsize, access, chunks=chunks, blocks=resized))


def _own_access(shape: Shape, uses: list[Use]) -> Any:
    """Return what the rule would be told of the ways of reading."""
    if len(uses) != 1 or not shape:
        return "any"
    ((word, found),) = [(use.word, use.patterns) for use in uses]
    if word.startswith("boxes:"):
        return found[0].region(shape)
    return word if word in _OF_RULE else "any"


def _region(shape: Shape, word: str) -> Shape:
    """Return the proportions of blocks that an access of the rule goes for."""
    ones = (1,) * len(shape)
    return {"rows": (*ones[:1], *shape[1:]), "columns": (*shape[:-1], *ones[:1])}.get(word, ones)


def _resized(blocks: Shape, region: Shape, most: Shape, items: int) -> Shape:
    """Return blocks of at most so many items, made longer or shorter so that they become like the region."""
    found = list(blocks)

    def share(axis: int) -> float:
        return found[axis] / max(region[axis], 1)

    while prod(found) > max(items * _SLACK, 1):
        axis = max((axis for axis, extent in enumerate(found) if extent > 1), key=share)
        found[axis] = -(-found[axis] // 2)
    while growing := [axis for axis, extent in enumerate(found) if 2 * extent <= most[axis]]:
        if 2 * prod(found) > items * _SLACK:
            break
        found[min(growing, key=share)] *= 2
    return tuple(found)


def _read(cut: Cut, shape: Shape, itemsize: int, uses: list[Use], bandwidth: float) -> Cut:
    """Return a cut with what each pattern touches."""
    readings = tuple(
        _reading(pattern, cut, shape, itemsize, bandwidth) for use in uses for pattern in use.patterns
    )
    return replace(cut, readings=readings)


def _reading(pattern: Pattern, cut: Cut, shape: Shape, itemsize: int, bandwidth: float) -> Reading:
    blocks = blocks_touched(shape, cut.chunks, cut.blocks, pattern)
    chunks = chunks_touched(shape, cut.chunks, pattern)
    decoded = blocks * prod(cut.blocks) * itemsize
    asked = chunks * REQUEST_BYTES + decoded * STORED_PART
    wanted = prod(pattern.region(shape)) * itemsize if 0 not in shape else 0
    return Reading(pattern, blocks, chunks, decoded, wanted, decoded / DECODED_BYTES + asked / bandwidth)


def _shares(cut: Cut, uses: list[Use]) -> list[float]:
    """Return how often each pattern is read: of several in one word, each for the same time with this cut."""
    found: list[float] = []
    for use in uses:
        seconds = [one.seconds for one in cut.readings[len(found) : len(found) + len(use.patterns)]]
        mean = sum(seconds) / len(seconds)
        found += [use.weight * mean / (len(seconds) * one) if one else 0.0 for one in seconds]
    return found


def _weighed(cut: Cut, often: list[float]) -> Cut:
    """Return a cut with how often each of its readings happens, and the time of all."""
    readings = tuple(replace(one, often=count) for one, count in zip(cut.readings, often, strict=True))
    return replace(cut, readings=readings, seconds=sum(one.seconds * one.often for one in readings))
