"""An array for notebooks: a table of facts and a picture of how it is cut.

In: an array. Out: HTML with an inline SVG, nothing else: no scripts, no styles of the page. The picture
has the last two axes as a sheet, and the axis before them as its depth; chunks in strong lines, blocks of
the first chunk in thin ones. What is too small to be seen is not drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coquina.html import caption_html, escaped, facts_html

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coquina.arrays.array import Array

_SHEET = 160.0  # pixels of the longest axis
_THIN = 10.0  # of an axis that is much shorter
_DEPTH = 0.35  # of a step into the picture, along each direction of the sheet
_LINES_MAX = 40  # more lines along an axis would be one grey area


def array_html(array: Array) -> str:
    """Return what a notebook shows of an array."""
    if array.is_closed:
        return caption_html(array)
    info = array.info
    facts = [(name, value) for name, value in (line.split(None, 1) for line in str(info).splitlines())]
    picture = partition_svg(info.shape, info.chunks, info.blocks)
    return f'<table><tr><td>{facts_html(facts)}</td><td style="padding-left:2em">{picture}</td></tr></table>'


def partition_svg(shape: Sequence[int], chunks: Sequence[int], blocks: Sequence[int]) -> str:
    """Return a picture of the last three axes, or nothing for an array without items or axes."""
    if not shape or 0 in shape:
        return ""
    axes = [(1, 1, 1)] * (2 - len(shape)) + list(zip(shape, chunks, blocks, strict=True))[-3:]
    lengths = _lengths([size for size, _, _ in axes])
    height, width = lengths[-2:]
    depth = lengths[0] * _DEPTH if len(axes) == 3 else 0.0
    lines: list[str] = []
    sheet = (depth, depth)  # where the corner of the front sheet is
    for (size, chunk, block), length, is_column in zip(
        axes[-2:], (height, width), (False, True), strict=True
    ):
        scale = length / size
        other = width if not is_column else height
        first = min(chunk, size)
        extent = min(axes[-2 if is_column else -1][1], axes[-2 if is_column else -1][0])
        other_scale = other / axes[-2 if is_column else -1][0]
        lines += [
            _line(sheet, place * scale, extent * other_scale, is_column, thin=True)
            for place in _cuts(first, block)
        ]
        lines += [
            _line(sheet, place * scale, other, is_column, thin=False)
            for place in (0, *_cuts(size, chunk), size)
        ]
    if depth:
        lines += _depth_lines(axes[0], depth, height, width)
    total = (width + depth + 2, height + depth + 22)
    label = " x ".join(str(size) for size, _, _ in axes[-min(len(shape), 3) :])
    if len(shape) > 3:
        label = f"last axes: {label}"
    return (
        f'<svg width="{total[0]:.0f}" height="{total[1]:.0f}" viewBox="-1 -1 {total[0]:.0f} {total[1]:.0f}" '
        f'xmlns="http://www.w3.org/2000/svg" stroke="currentColor">{"".join(lines)}'
        f'<text x="0" y="{height + depth + 16:.1f}" font-size="12" stroke="none" fill="currentColor">'
        f"{escaped(label)}</text></svg>"
    )


def _lengths(sizes: Sequence[int]) -> list[float]:
    """Return pixels for each axis: to scale, but for axes that would be a line."""
    longest = max(sizes)
    return [
        max(_SHEET * size / longest, min(_THIN + size, _SHEET) if size < longest else _THIN) for size in sizes
    ]


def _cuts(size: int, unit: int) -> Iterator[int]:
    """Yield the places inside `size` where `unit`s meet, or only some of them where there are many."""
    unit = max(unit, 1)
    count = -(-size // unit)
    step = unit * max(1, -(-count // _LINES_MAX))
    return iter(range(step, size, step))


def _line(corner: tuple[float, float], place: float, length: float, is_column: bool, *, thin: bool) -> str:
    x, y = corner
    ends = (x + place, y, x + place, y + length) if is_column else (x, y + place, x + length, y + place)
    return _svg_line(*ends, thin=thin)


def _depth_lines(axis: tuple[int, int, int], depth: float, height: float, width: float) -> list[str]:
    """Return the sheets behind the front one: their upper and left edges, and the edges between them."""
    size, chunk, _ = axis
    edges = [_svg_line(0, 0, depth, depth, thin=False), _svg_line(width, 0, width + depth, depth, thin=False)]
    edges.append(_svg_line(0, height, depth, height + depth, thin=False))
    for place in (0, *_cuts(size, chunk)):
        at = depth * place / size
        edges.append(_svg_line(at, at, width + at, at, thin=False))
        edges.append(_svg_line(at, at, at, height + at, thin=False))
    return edges


def _svg_line(x1: float, y1: float, x2: float, y2: float, *, thin: bool) -> str:
    width, opacity = (0.5, 0.4) if thin else (1.0, 1.0)
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke-width="{width}" stroke-opacity="{opacity}"/>'
    )
