"""Statistics of the values of a selection: least, greatest, mean, deviation, and how they are spread.

In: objects and selections, read in parts. Out: dicts for JSON.
Invariant: values that are no finite numbers, and those that stand for no value, are counted and left out.
Memory: some parts, however large the selection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.server.failures import bad_request
from coquina.server.values import decoded, fill_number, is_fill, part_of, parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coquina.server.limits import Limits
    from coquina.server.objects import Found
    from coquina.server.selections import Selected

BINS_MAX = 4096
_MAX = float(np.finfo(np.float64).max)


@dataclass(slots=True)
class Moments:
    """Count, mean and sum of squared differences of what came so far, as Chan, Golub and LeVeque add them."""

    count: int = 0
    mean: Any = 0.0
    squares: Any = 0.0
    least: float | int | None = None
    greatest: float | int | None = None

    def add(self, values: npt.NDArray[Any]) -> None:
        """Take more values, all finite."""
        if not values.size:
            return
        least, greatest = values.min().item(), values.max().item()
        self.least = least if self.least is None else min(self.least, least)
        self.greatest = greatest if self.greatest is None else max(self.greatest, greatest)
        # Long doubles stay what they are: those beyond float64 have moments too.
        wide = np.promote_types(values.dtype, "f8")
        count, total = values.size, self.count + values.size
        with np.errstate(over="ignore", invalid="ignore"):
            mean: Any = values.mean(dtype=wide)
            squares: Any = np.square(values.astype(wide) - mean).sum()
            apart = mean - self.mean
            self.mean += apart * count / total
            self.squares += squares + apart * self.count * count / total * apart
        self.count = total

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics; all None without values."""
        std = float(np.sqrt(self.squares / self.count)) if self.count else None
        mean = float(self.mean) if self.count else None
        return {"count": self.count, "min": self.least, "max": self.greatest, "mean": mean, "std": std}


@dataclass(frozen=True, slots=True)
class HistogramRequest:
    """What is asked for: so many bins, on a logarithmic scale or not, of decoded values or of stored ones.

    part: of complex numbers, one of `values.PARTS`.
    """

    bins: int = 64
    is_log: bool = False
    is_decoded: bool = True
    part: str = "abs"


def histogram(found: Found, picked: Selected, wanted: HistogramRequest, limits: Limits) -> dict[str, Any]:
    """Return how the values of a selection are spread; of complex numbers, a part of them.

    With a logarithmic scale, values of 0 and less are in no bin. Raises RequestError for what is no number.
    """
    if not 1 <= wanted.bins <= BINS_MAX:
        raise bad_request(f"bins {wanted.bins}: takes 1 to {BINS_MAX}")
    if found.dtype is None or found.dtype.kind not in "biufc":
        raise bad_request(f"{found.path}: a histogram is of numbers")
    tally = _Tally(wanted.is_log)
    kept: list[npt.NDArray[Any]] | None = []
    for values in _good_parts(found, picked, limits, wanted, tally):
        tally.moments.add(values)
        if kept is not None:
            kept.append(values)
            # Few values are not read twice.
            kept = kept if len(kept) == 1 else None
    edges = tally.edges(wanted)
    counts = np.zeros(max(len(edges) - 1, 0), np.int64)
    if len(edges):
        again = _good_parts(found, picked, limits, wanted, None) if kept is None else iter(kept)
        for values in again:
            counts += _counts(values, edges, wanted)
    facts = {**tally.moments.to_dict(), "nans": tally.nans, "fills": tally.fills}
    return {"edges": edges, "counts": counts, **facts}


def _counts(values: npt.NDArray[Any], edges: npt.NDArray[Any], wanted: HistogramRequest) -> npt.NDArray[Any]:
    is_even = len(edges) == wanted.bins + 1 and not _is_wide(edges[0], edges[-1])
    if wanted.is_log or not is_even:
        return np.histogram(values, edges)[0]
    # Bins of one width are found without a search.
    return np.histogram(values, wanted.bins, (edges[0], edges[-1]))[0]


class _Tally:
    """What was met in a first pass."""

    def __init__(self, is_log: bool) -> None:
        self.moments = Moments()
        self.nans = self.fills = 0
        self.least_positive: float | None = None
        self._is_log = is_log

    def note_positive(self, values: npt.NDArray[Any]) -> None:
        if self._is_log and (positive := values[values > 0]).size:
            least = float(positive.min())
            self.least_positive = least if self.least_positive is None else min(self.least_positive, least)

    def edges(self, wanted: HistogramRequest) -> npt.NDArray[np.float64]:
        least, greatest = self.moments.least, self.moments.greatest
        if wanted.is_log:
            least = self.least_positive
        if least is None or greatest is None:
            return np.zeros(0)
        low, high = float(least), float(greatest)
        if wanted.is_log:
            if high == low:
                low, high = (low, low * 2) if low < _MAX / 2 else (low / 2, low)
            with np.errstate(over="ignore"):
                edges = np.geomspace(low, high, wanted.bins + 1)
        else:
            edges = _even(low, high, wanted.bins) if high > low else _around(low, wanted.bins)
        if not (edges[1:] > edges[:-1]).all():
            # Bins narrower than numbers are apart.
            edges = np.unique(edges)
            edges = edges if len(edges) > 1 else _around(low, 1)
        return edges


def _even(low: float, high: float, bins: int) -> npt.NDArray[np.float64]:
    """Return the edges of bins of one width, also where the width of all is beyond float64."""
    if _is_wide(low, high):
        return np.clip(2 * np.linspace(low / 2, high / 2, bins + 1), low, high)
    return np.linspace(low, high, bins + 1)


def _is_wide(low: float, high: float) -> bool:
    """Whether the distance of two numbers is none that float64 has."""
    return high / 2 - low / 2 > _MAX / 2


def _around(value: float, bins: int) -> npt.NDArray[np.float64]:
    half = max(0.5, abs(value) * 1e-3)
    return np.linspace(max(-_MAX, value - half), min(_MAX, value + half), bins + 1)


def _good_parts(
    found: Found, picked: Selected, limits: Limits, wanted: HistogramRequest, tally: _Tally | None
) -> Iterator[npt.NDArray[Any]]:
    """Iterate over values that are numbers, one axis each; tally: counts the others."""
    fill = fill_number(found) if wanted.is_decoded else None
    for stored in parts(found, picked, limits):
        values = (decoded(found, stored) if wanted.is_decoded else stored).reshape(-1)
        if values.dtype.kind == "b":
            values = values.astype("u1")
        if values.dtype.kind == "c":
            values = part_of(values, wanted.part)
        if values.dtype.kind == "f":
            fills = 0
            if fill is not None:
                fills = int(np.count_nonzero(is_fill(stored, fill)))
            finite = np.isfinite(values)
            good = values[finite]
            if tally is not None:
                tally.fills += fills
                tally.nans += values.size - good.size - fills
            values = good
        if tally is not None:
            tally.note_positive(values)
        yield values
