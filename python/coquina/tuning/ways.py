"""Which codec, level and filters suit an array: one way for all of it, chosen from what its places say.

In: blocks from places all over the array, and the terms of what is wanted. Out: a `Choice`: ways that were
tried, the cheapest first, and what it would be worth to choose for each chunk anew.
Method: the engine's tuner tries a short list of ways at each place and tells what each costs. The way with
the least sum is advised; where a way was not on the list it counts as the worst that was.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coquina import _core
from coquina.dtypes import dtype_text

if TYPE_CHECKING:
    from coquina.tuning.patterns import Shape
    from coquina.tuning.samples import Place
    from coquina.tuning_options import Terms

#: One filter, or several in order; each a name, or a name and its parameter.
Pipeline = str | list[str | tuple[str, int]]
_TIE = 0.001


@dataclass(frozen=True, slots=True)
class Way:
    """How to encode: codec, level, filters."""

    codec: str
    level: int
    filters: Pipeline

    @property
    def pipeline(self) -> str:
        """The filters as the command line has them."""
        parts = [self.filters] if isinstance(self.filters, str) else self.filters
        return "+".join(part if isinstance(part, str) else f"{part[0]}:{part[1]}" for part in parts)

    @property
    def is_stored(self) -> bool:
        """Whether items are stored as they are."""
        return self.level == 0 and self.filters == "nofilter"

    @property
    def is_plain(self) -> bool:
        """Whether HDF5's filter for Blosc2 can be told of it: one filter at most, without a parameter."""
        return isinstance(self.filters, str)

    def __str__(self) -> str:
        """Return such as `zstd-1 + shuffle`."""
        return "stored" if self.is_stored else f"{self.codec}-{self.level} + {self.pipeline}"


@dataclass(frozen=True, slots=True)
class Trial:
    """What a way came to. Speeds are those of one core, in millions of bytes a second.

    cost: nanoseconds for a byte that is written, read, or both, and stored; at goal "size" the part stored.
    places: where it was tried.
    """

    way: Way
    ratio: float
    write_mbs: float
    read_mbs: float
    cost: float
    places: int = 1


@dataclass(frozen=True, slots=True)
class Automatic:
    """What `codec="auto"` comes to, which chooses for each chunk. ways: how many places chose what.

    saves: the part of the best single way's cost that it does not have.
    """

    ratio: float
    write_mbs: float
    read_mbs: float
    cost: float
    saves: float
    ways: dict[str, int]


@dataclass(frozen=True, slots=True)
class Features:
    """What the items look like, on the average over all places.

    entropies: bits of information in each byte of an item, 0 to 8. delta_entropies: the same of the
    differences to the item before. repeats: the part of items that are like one before. zeros: the part of
    bytes that are 0. uniform: the part of places where all items are the same.
    """

    entropies: tuple[float, ...]
    delta_entropies: tuple[float, ...]
    repeats: float
    zeros: float
    uniform: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The ways that were tried, the cheapest first; and what the items look like."""

    tried: tuple[Trial, ...]
    automatic: Automatic
    features: Features

    @property
    def best(self) -> Trial:
        """The cheapest."""
        return self.tried[0]


def choose(
    places: list[Place], dtype: Any, blocks: Shape, terms: Terms, *, is_plain: bool, threads: int | None
) -> Choice:
    """Return what suits these places. is_plain: only ways that HDF5's filter for Blosc2 can be told of."""
    weights = [float(place.items.nbytes) for place in places]
    # Padding is encoded too, but nobody counts it when an array is said to be so many times smaller.
    real = sum(place.count * place.items.itemsize for place in places) / sum(weights)

    def asked(place: Place, generation: Literal["blosc1", "blosc2"]) -> dict[str, Any]:
        return _core.explain_tuning(
            place.items.reshape(-1).view(np.uint8),
            place.items[:1].nbytes,
            dtype.itemsize,
            dtype_text(dtype),
            blocks,
            terms,
            format=generation,
            threads=threads,
        )

    reports = [asked(place, "blosc2") for place in places]
    chosen = [_trial(report["chosen"], dtype.itemsize) for report in reports]
    tried = [[_trial(one, dtype.itemsize) for one in report["tried"]] for report in reports]
    if is_plain:
        # The first library's chunks have just the filters that HDF5 can be told of.
        more = [[_trial(one, dtype.itemsize) for one in asked(place, "blosc1")["tried"]] for place in places]
        tried = [_plain(own, others) for own, others in zip(tried, more, strict=True)]
    ways = {str(one.way): one.way for row in tried for one in row}
    found = [_total(way, tried, weights) for way in ways.values()]
    found = [replace(one, ratio=one.ratio * real) for one in found]
    found.sort(key=lambda one: (one.cost, -one.read_mbs, str(one.way)))
    if terms[0] >= 1:
        # Where bytes alone count, a byte in a thousand is worth no time.
        near = [one for one in found if one.cost <= found[0].cost * (1 + _TIE)]
        fastest = min(near, key=lambda one: _seconds(one, terms[1]))
        found = [fastest, *[one for one in found if one is not fastest]]
    automatic = _automatic(chosen, weights, found[0].cost)
    automatic = replace(automatic, ratio=automatic.ratio * real)
    return Choice(tuple(found), automatic, _features(reports, weights))


def _plain(own: list[Trial], others: list[Trial]) -> list[Trial]:
    """Return the ways of a list that HDF5 can be told of, and those of another that it does not have."""
    found = [one for one in own if one.way.is_plain]
    known = {str(one.way) for one in found}
    return found + [one for one in others if str(one.way) not in known]


def _seconds(one: Trial, wants: str) -> float:
    """Return the time of a million bytes that are written, read, or both."""
    return (wants != "read") / one.write_mbs + (wants != "write") / one.read_mbs


def _automatic(chosen: list[Trial], weights: list[float], best: float) -> Automatic:
    """Return what it comes to that each place has its own way. best: the cost of the best one for all."""
    counted = Counter(str(one.way) for one in chosen)
    together = _sum(chosen[0].way, list(zip(chosen, weights, strict=True)))
    return Automatic(
        together.ratio,
        together.write_mbs,
        together.read_mbs,
        together.cost,
        1 - together.cost / best if best else 0.0,
        dict(counted.most_common()),
    )


def _features(reports: list[dict[str, Any]], weights: list[float]) -> Features:
    """Return the features of all places together."""
    told = [report["features"] for report in reports]

    def mean(name: str) -> Any:
        return np.average([np.asarray(one[name], float) for one in told], axis=0, weights=weights)

    return Features(
        entropies=tuple(float(one) for one in mean("entropies")),
        delta_entropies=tuple(float(one) for one in mean("delta_entropies")),
        repeats=float(mean("repeats")),
        zeros=float(mean("zeros")),
        uniform=float(mean("is_uniform")),
    )


def _trial(said: dict[str, Any], itemsize: int) -> Trial:
    """Return a trial as the engine tells of it."""
    way = Way(str(said["codec"]), int(said["level"]), option_of(said["filters"], itemsize))
    ratio, write, read, cost = [float(said[name]) for name in ("ratio", "write_mbs", "read_mbs", "cost")]
    return Trial(way, ratio, write, read, cost)


def option_of(filters: Any, itemsize: int) -> Pipeline:
    """Return filters as `filters=` takes them, without parameters that they have anyway."""
    found: list[str | tuple[str, int]] = [
        name if meta in (0, itemsize) else (name, meta) for name, meta in filters if name != "nofilter"
    ]
    if not found:
        return "nofilter"
    return found[0] if len(found) == 1 and isinstance(found[0], str) else found


def _total(way: Way, tried: list[list[Trial]], weights: list[float]) -> Trial:
    """Return what a way comes to at all places."""
    there: list[tuple[Trial, float]] = []
    missing = 0.0
    for row, weight in zip(tried, weights, strict=True):
        found = next((one for one in row if str(one.way) == str(way)), None)
        if found is not None:
            there.append((found, weight))
        else:
            missing += weight * max(one.cost for one in row)
    total = _sum(way, there)
    measured = sum(weight for _, weight in there)
    cost = (total.cost * measured + missing) / sum(weights)
    return Trial(way, total.ratio, total.write_mbs, total.read_mbs, cost, len(there))


def _sum(way: Way, there: list[tuple[Trial, float]]) -> Trial:
    """Return trials together: bytes and seconds add up, ratios and speeds do not."""
    nbytes = sum(weight for _, weight in there)

    def mean(name: str) -> float:
        return nbytes / sum(weight / max(getattr(one, name), 1e-12) for one, weight in there)

    cost = sum(one.cost * weight for one, weight in there) / nbytes
    return Trial(way, mean("ratio"), mean("write_mbs"), mean("read_mbs"), cost, len(there))
