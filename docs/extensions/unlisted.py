"""Pages that the sidebar does not list: guides need neither byte layouts nor the reasons for choices.

In: `UNLISTED`, pages with lists of pages below them. Out: no warning that no list names them. Other pages
link to them, and search finds them.
"""

from __future__ import annotations

from typing import Any

UNLISTED = ("formats/index", "decisions/index")


def mark(app: Any, doctree: Any) -> None:
    """Mark a page as one that need not be in a list."""
    if app.env.docname in UNLISTED:
        app.env.metadata[app.env.docname]["orphan"] = True


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("doctree-read", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
