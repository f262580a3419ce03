"""Cells of text as lines that line up: for tables that are shown on terminals."""

from __future__ import annotations


def aligned(lines: list[list[str]], *, right: int | None = None) -> list[str]:
    """Return lines of cells that line up; those from column `right` on to the right."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    texts: list[str] = []
    for line in lines:
        cells = [
            cell.rjust(width) if right is not None and number >= right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        texts.append("  ".join(cells).rstrip())
    return texts
