"""Old addresses of pages that were renamed: each leads to the page's address of today.

In: `RENAMED`, names of pages without a suffix. Out: an HTML page at each old name that opens the new one.
Invariant: no old name is a page, and each new name is one; otherwise the build warns.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sphinx.util import logging

RENAMED = {
    "guide/choosing-nothing": "guide/automatic-tuning",
    "guide/choosing": "guide/compression-and-chunking",
    "guide/chunks": "guide/direct-chunk-access",
    "what-is-read-and-written": "supported-formats",
}
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Moved</title>
<meta http-equiv="refresh" content="0; url={address}"><link rel="canonical" href="{address}"></head>
<body><p>This page has moved: <a href="{address}">{address}</a>.</p></body></html>
"""


def write_redirects(app: Any, failure: Exception | None) -> None:
    """Write a page for each old name."""
    if failure is not None or app.builder.name != "html":
        return
    for old, new in RENAMED.items():
        if old in app.env.found_docs or new not in app.env.found_docs:
            logging.getLogger(__name__).warning("redirects: %s to %s", old, new)
            continue
        path = Path(app.outdir, f"{old}.html")
        path.parent.mkdir(exist_ok=True)
        path.write_text(PAGE.format(address=f"{os.path.relpath(new, Path(old).parent)}.html"))


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("build-finished", write_redirects)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
