"""Links from pages to files of the repository that are not part of the site, such as `../bench/README.md`.

On the site these are names of files, not links: nobody who reads it has the repository beside it. In the
repository they are links, and `tests/test_guide.py` looks whether they lead anywhere.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1].resolve()
LINK = re.compile(r"\[([^\]\[]+)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def _named(match: re.Match[str], folder: Path) -> str:
    text, target, _ = match.groups()
    path = (folder / target).resolve()
    if path.is_relative_to(DOCS) and not path.is_dir():
        return match.group()
    name = path.relative_to(DOCS.parent).as_posix()
    return f"`{name}`" if text.strip("`") in (name, target, path.name) else f"{text} (`{name}`)"


def without_links_to_the_repository(app: Any, docname: str, source: list[str]) -> None:
    """Put names in the place of links that lead out of `docs`."""
    folder = Path(app.env.doc2path(docname)).parent
    source[0] = re.sub(r"(?<!!)" + LINK.pattern, lambda match: _named(match, folder.resolve()), source[0])


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", without_links_to_the_repository)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
