"""Draws the pictures of the guide: `python docs/pictures/draw.py` writes them beside this file.

In: nothing. Out: SVG files, the same on every machine. They have a ground of their own, so that they can be
read on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
INK, PALE, STORED, TOUCHED, WANTED = "#2b2b2b", "#f4efe6", "#d9cdb8", "#e8a87c", "#c2543a"
GREEN, BLUE = "#8fb39a", "#8aa8c4"


def box(
    x: float, y: float, width: float, height: float, fill: str, stroke: str = INK, weight: float = 1
) -> str:
    """Return a rectangle."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{weight:g}"/>'
    )


def text(
    x: float, y: float, words: str, size: int = 13, anchor: str = "middle", weight: str = "normal"
) -> str:
    """Return a line of text whose baseline is at `y`."""
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="sans-serif" font-size="{size}" text-anchor="{anchor}" '
        f'font-weight="{weight}" fill="{INK}">{words}</text>'
    )


def heading(words: str) -> str:
    """Return the line above a picture."""
    return text(360, 24, words, 14, weight="bold")


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """Return a line with a head."""
    return (
        f'<line x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}" stroke="{INK}" stroke-width="1.5" '
        'marker-end="url(#head)"/>'
    )


def svg(width: int, height: int, title: str, parts: list[str]) -> str:
    """Return a picture."""
    head = (
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse"><path d="M 0 0 L 10 5 L 0 10 z" fill="{INK}"/></marker></defs>'
    )
    ground = box(0, 0, width, height, "#ffffff", "#ffffff")
    lines = [head, ground, *parts]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img">\n<title>{title}</title>\n' + "\n".join(lines) + "\n</svg>\n"
    )


def cells(columns: int, rows: int) -> Iterator[tuple[int, int]]:
    """Return the places of a grid."""
    return ((column, row) for row in range(rows) for column in range(columns))


def partition() -> str:
    """Return an array, cut in chunks of blocks, and a slice that touches some of them."""
    parts = [heading("An array of 3 x 3 chunks, each of 4 x 4 blocks")]
    left, top, size = 40, 40, 25
    x0, y0, x1, y1 = left + 70, top + 110, left + 235, top + 148
    touched = 0
    for column, row in cells(12, 12):
        x, y = left + column * size, top + row * size
        is_touched = x < x1 and x + size > x0 and y < y1 and y + size > y0
        touched += is_touched
        parts.append(box(x, y, size, size, TOUCHED if is_touched else PALE, "#b9ad98", 0.7))
    parts += [box(left + c * 100, top + r * 100, 100, 100, "none", INK, 2) for c, r in cells(3, 3)]
    parts.append(box(x0, y0, x1 - x0, y1 - y0, "none", WANTED, 3))
    notes = [
        (95, STORED, "chunk: the unit of storage and writing"),
        (140, PALE, "block: the unit of compression and decoding"),
        (185, TOUCHED, f"blocks that the slice touches: {touched} of 144"),
    ]
    for y, fill, words in notes:
        weight = 2.0 if fill == STORED else 0.7
        parts += [box(380, y - 15, 20, 20, "#ffffff" if fill == STORED else fill, INK, weight)]
        parts += [text(410, y, words, anchor="start")]
    parts += [box(380, 215, 20, 20, "none", WANTED, 3), text(410, 230, "the slice", anchor="start")]
    parts += [text(380, 290, "A slice decodes only the blocks that it", anchor="start")]
    parts += [text(380, 310, "touches, on all cores at once.", anchor="start")]
    return svg(720, 360, "An array of chunks and blocks, and the blocks that a slice touches", parts)


def starving() -> str:
    """Return the way of bytes to a core: plain ones, and compressed ones."""
    parts = [heading("The same values on their way from memory to a core")]
    for y, name, stored in ((60, "plain", 250), (200, "compressed", 80)):
        parts.append(text(70, y + 45, name, 14))
        parts += [box(130, y, 260, 75, "#ffffff", "#b9ad98"), text(260, y + 92, "memory or disk: slow", 12)]
        parts.append(box(135, y + 20, stored, 35, STORED))
        parts += [arrow(395, y + 37, 455, y + 37)]
        parts += [box(460, y, 110, 75, "#ffffff", "#b9ad98"), text(515, y + 92, "cache: fast", 12)]
        parts += [box(595, y, 95, 75, GREEN), text(642, y + 42, "core", 14)]
        parts += [arrow(570, y + 37, 593, y + 37)]
    parts += [text(425, 85, "all", 12), text(425, 225, "a third", 12)]
    parts += [box(465, 80, 26, 35, STORED), text(532, 102, "in pieces", 12)]
    parts += [box(465, 220, 12, 35, STORED), box(490, 220, 70, 35, BLUE), text(525, 242, "a block", 12)]
    parts.append(
        text(
            360,
            325,
            "The core waits for the transfer on the left; decoding uses time that it",
            13,
        )
    )
    parts.append(text(360, 345, "would otherwise spend waiting. The gain depends on codec and machine."))
    return svg(720, 360, "Compressed data move fewer bytes from memory; they are decoded in the cache", parts)


def walk() -> str:
    """Return the stations of a block, on two threads."""
    parts = [heading("One pipeline for reads, expressions, reductions and queries")]
    stations = ["which blocks?", "fetch", "verify", "decode", "unfilter", "compute", "sink"]
    for number, name in enumerate(stations):
        x = 15 + number * 100
        fill = (BLUE, STORED, STORED, TOUCHED, TOUCHED, GREEN, BLUE)[number]
        parts += [box(x, 50, 88, 46, fill), text(x + 44, 78, name, 12)]
        if number:
            parts.append(arrow(x - 12, 73, x - 1, 73))
    below = [
        "selection, bounds,",
        "runs that lie side",
        "by its checksum",
        "LZ4, Zstd, ...",
        "shuffle, ...",
        "a program, in",
        "result, new chunks,",
    ]
    further = ["indexes: skip some", "by side, at once", "", "", "", "batches for L1", "sums, a row mask"]
    for number, (first, second) in enumerate(zip(below, further, strict=True)):
        parts += [text(59 + number * 100, 114, first, 10), text(59 + number * 100, 128, second, 10)]
    for thread in range(2):
        y = 165 + thread * 50
        parts.append(text(50, y + 22, f"thread {thread + 1}", 12))
        for task in range(5):
            x, number = 105 + task * 118, task * 2 + thread
            parts += [
                box(x, y, 108, 34, PALE),
                text(x + 54, y + 22, f"blocks {number * 8} to {number * 8 + 7}", 11),
            ]
    parts.append(
        text(
            360,
            285,
            "A task is a run of blocks; its buffers stay in a core's cache. Results are combined",
            13,
        )
    )
    parts.append(text(360, 303, "in the order of blocks, so they do not depend on the number of threads."))
    return svg(720, 325, "The steps from a stored block to a result", parts)


def shuffle() -> str:
    """Return four items of four bytes, before and after a shuffle."""
    values = [0x3F80_12A7, 0x3F80_93C1, 0x3F81_0B54, 0x3F81_7E09]
    items = [[f"{value >> shift & 255:02x}" for shift in (0, 8, 16, 24)] for value in values]
    planes = [[item[byte] for item in items] for byte in range(4)]
    colours = [TOUCHED, STORED, BLUE, GREEN]
    parts = [heading("Four float32 values near 1: as in memory, and shuffled")]
    for y, rows, is_item in ((50, items, True), (140, planes, False)):
        for outer, row in enumerate(rows):
            for inner, byte in enumerate(row):
                x = 30 + (outer * 4 + inner) * 40 + outer * 8
                parts += [
                    box(x, y, 40, 34, colours[inner if is_item else outer]),
                    text(x + 20, y + 22, byte, 13),
                ]
            name = f"item {outer}" if is_item else f"byte {outer} of each"
            parts.append(text(30 + outer * 168 + 80, y + 52, name, 12))
    parts.append(
        text(360, 230, "Shuffle puts similar high bytes side by side, where a codec finds the repetition.")
    )
    return svg(720, 250, "The bytes of four items before and after a shuffle", parts)


def remote() -> str:
    """Return a server and a client, and what moves between them for three questions."""
    parts = [heading("What moves from the server, for three questions about the same file")]
    rows = [
        ("a[3:5]", "decodes its blocks", 70, WANTED, "the values"),
        ('compute("mean(a)")', "reads and computes", 8, GREEN, "the result"),
        ("open(url)[3:5]", "sends bytes by ranges", 30, STORED, "compressed blocks"),
    ]
    parts += [text(140, 62, "server, with the files", 13), text(600, 62, "your program", 13)]
    for at, (asked, done, size, fill, words) in enumerate(rows):
        y = 78 + at * 88
        parts += [box(30, y, 220, 66, "#ffffff", "#b9ad98"), box(45, y + 16, 70, 34, STORED)]
        parts += [text(180, y + 38, done, 12), box(490, y, 210, 66, PALE, "#b9ad98")]
        parts += [text(595, y + 38, asked, 13), arrow(256, y + 33, 484, y + 33)]
        parts += [box(370 - size / 2, y + 18, size, 30, fill), text(370, y + 64, words, 12)]
    return svg(720, 350, "A server and a program: what moves for a slice, an expression, and a file", parts)


PICTURES: dict[str, Callable[[], str]] = {
    "partition": partition,
    "starving": starving,
    "walk": walk,
    "shuffle": shuffle,
    "remote": remote,
}


def main() -> None:
    """Write all pictures."""
    for name, draw in PICTURES.items():
        (HERE / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
