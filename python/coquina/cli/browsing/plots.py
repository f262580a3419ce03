"""Small plots of characters: lines of Braille dots, planes of coloured half blocks, bars.

In: values and a size in characters. Out: text of rich.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

if TYPE_CHECKING:
    import numpy.typing as npt

#: The dots of a Braille character from U+2800 on: four rows of two.
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_BRAILLE = 0x2800
#: Anchors of the colour map viridis, from the least value to the largest.
_VIRIDIS = np.array(
    [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
     [170, 220, 50], [253, 231, 37]]
)  # fmt: skip
_GREY = (90, 90, 90)
#: What is said above the bars.
_NUMBERS = ("count", "nulls", "min", "max", "mean", "std", "distinct")
_ACCENT = "rgb(33,144,141)"
_BAR = " ▏▎▍▌▋▊▉█"


def line(values: npt.NDArray[Any], width: int, height: int) -> Text:
    """Return a line through values; of many, the least and the largest for each dot."""
    numbers = real(values).reshape(-1)
    good = numbers[np.isfinite(numbers)]
    if not good.size:
        return Text("no numbers to plot")
    low, high = float(good.min()), float(good.max())
    width, height = max(2, width - 12), max(2, height - 1)
    scale = (height * 4 - 1) / (high - low) if high > low else 0.0
    canvas = np.zeros((height * 4, width * 2), bool)
    count = numbers.size
    if 1 < count < width * 2:
        # Fewer values than dots: straight lines between them.
        numbers = np.interp(np.linspace(0, count - 1, width * 2), np.arange(count), numbers)
    edges = np.linspace(0, numbers.size, width * 2 + 1).astype(int)
    last: int | None = None
    for at in range(width * 2):
        part = numbers[edges[at] : max(edges[at + 1], edges[at] + 1)]
        part = part[np.isfinite(part)]
        if not part.size:
            last = None
            continue
        top, bottom = (round((high - float(one)) * scale) for one in (part.max(), part.min()))
        if last is not None:
            top, bottom = min(top, last), max(bottom, last)
        canvas[top : bottom + 1, at] = True
        last = round((high - float(part[-1])) * scale)
    codes = _BRAILLE + (canvas.reshape(height, 4, width, 2) * _DOTS[:, None, :]).sum(axis=(1, 3))
    labels = {0: f"{high:.4g}", height - 1: f"{low:.4g}"}
    rows = [f"{labels.get(row, ''):>11} " + "".join(map(chr, codes[row])) for row in range(height)]
    return Text("\n".join([*rows, f"{'':12}0{count - 1:>{width - 1}}"]))


def plane(values: npt.NDArray[Any], width: int, height: int) -> Text:
    """Return a plane as coloured half blocks; its last axis may be three or four channels."""
    is_image = values.ndim == 3
    rows, columns = values.shape[:2]
    if not values.size:
        return Text("no values to plot")
    scale = min(max(1, width) / columns, max(1, 2 * (height - 1)) / rows)
    across, down = max(1, int(columns * scale)), max(2, int(rows * scale))
    picked = values[np.ix_(np.arange(down) * rows // down, np.arange(across) * columns // across)]
    footer = ""
    if is_image:
        colours = picked[..., :3].astype(int)
    else:
        numbers = real(picked)
        good = numbers[np.isfinite(numbers)]
        low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 0.0)
        colours = _coloured(numbers, low, high)
        footer = f"{low:.4g} dark ... {high:.4g} bright"
    made = Text()
    for row in range(0, down - 1, 2):
        for column in range(across):
            upper, lower = (",".join(map(str, colours[row + one, column])) for one in (0, 1))
            made.append("▀", f"rgb({upper}) on rgb({lower})")
        made.append("\n")
    made.append(footer)
    return made


def _coloured(numbers: npt.NDArray[np.float64], low: float, high: float) -> npt.NDArray[np.int64]:
    place = (numbers - low) / (high - low) if high > low else np.zeros(numbers.shape)
    steps = np.linspace(0, 1, len(_VIRIDIS))
    made = np.stack([np.interp(place, steps, _VIRIDIS[:, channel]) for channel in range(3)], axis=-1)
    made[~np.isfinite(numbers)] = _GREY
    return made.round().astype(int)


def bars(known: dict[str, Any], width: int, height: int) -> Text:
    """Return the statistics of a column, and bars of its histogram or of its most frequent values."""
    head = ", ".join([f"{name} {_short(known[name])}" for name in _NUMBERS if known.get(name) is not None])
    found = known.get("histogram")
    pairs = _of_histogram(found) if found else [(str(value), count) for value, count in _top(known)]
    if len(pairs) > max(1, height - 2):
        size = -(-len(pairs) // max(1, height - 2))
        pairs = [
            (pairs[at][0], sum(one[1] for one in pairs[at : at + size])) for at in range(0, len(pairs), size)
        ]
    most = max((count for _, count in pairs), default=0) or 1
    wide = max(1, width - 24)
    made = Text(f"{head}\n")
    for name, count in pairs:
        made.append(f"\n{name[:14]:>14} ")
        made.append(_bar(count / most * wide), _ACCENT)
        made.append(f" {count}")
    return made


def _top(known: dict[str, Any]) -> list[tuple[Any, int]]:
    found: list[Any] = known.get("top") or []
    return [(one["value"], one["count"]) if "count" in one else tuple(one) for one in found]


def _of_histogram(found: dict[str, Any]) -> list[tuple[str, int]]:
    edges = found["edges"]
    names = [f"{one:.4g}" if isinstance(one, float | int) else str(one) for one in edges]
    return list(zip(names, found["counts"], strict=False))


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _bar(length: float) -> str:
    full = int(length)
    return "█" * full + _BAR[int((length - full) * 8)].strip()


def real(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return values as floating-point numbers: magnitudes of complex ones, NaN for what are no numbers."""
    if values.dtype.kind == "c":
        return np.abs(values).astype("f8")
    if values.dtype.kind in "biuf":
        return values.astype("f8")
    return np.full(values.shape, np.nan)
