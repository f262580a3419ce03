"""Tables of the documents, which are rules: their rows and the names in them."""

from __future__ import annotations

import re


def table(page: str, heading: str) -> list[list[str]]:
    """The rows of the table under a heading of a page, as lists of cells; without its head."""
    body = re.split(r"^#+ ", page.split(f" {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    rows = [line.strip("|").split("|") for line in body.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def ticked(cell: str) -> list[str]:
    """The names in backticks."""
    return re.findall(r"`([^`]+)`", cell)
