"""The page that browsers show: that of the package coquina_view, or one that says what to install.

In: names of files of the page. Out: their bytes and media types.
Invariant: nothing outside of the package's folder is read.
"""

from __future__ import annotations

import mimetypes
import os
from typing import Any, cast

from coquina.server.encodings import Encoded
from coquina.server.failures import not_found

_PLAIN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>coquina</title></head>
<body style="font-family: sans-serif; max-width: 40em; margin: 4em auto">
<h1>coquina</h1>
<p>This server answers programs. The page that shows files in a browser is a package of its own:</p>
<pre>pip install coquina-view</pre>
<p>Then start the server again.</p>
</body></html>
"""
#: What programs hear that ask whether the server runs.
RUNNING = Encoded(b"ok", "text/plain; charset=utf-8")
#: Module scripts run by these types only.
_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".wasm": "application/wasm",
}
_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; "
    "worker-src 'self' blob:; object-src 'none'; base-uri 'self'"
)


def folder() -> str | None:
    """Return the folder of the page; None where its package is not installed."""
    try:
        import coquina_view  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]
    except ImportError:
        return None
    found = coquina_view.folder()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return os.path.realpath(str(cast("Any", found)))


class Page:
    """The files of the page."""

    def __init__(self, path: str | None) -> None:
        """path: of the folder; None for the plain page."""
        self._path = path

    def file(self, name: str) -> Encoded:
        """Return a file of the page. Raises RequestError with status 404 if there is none."""
        headers = {"Content-Security-Policy": _POLICY}
        if self._path is None:
            if name != "index.html":
                raise not_found(f"{name!r}: there is no such file")
            return Encoded(_PLAIN.encode(), "text/html; charset=utf-8", None, headers)
        path = os.path.realpath(os.path.join(self._path, name))
        if "\0" in name or os.path.commonpath([self._path, path]) != self._path or not os.path.isfile(path):
            raise not_found(f"{name!r}: there is no such file")
        suffix = os.path.splitext(path)[1].lower()
        kind = _TYPES.get(suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"
        with open(path, "rb") as file:
            return Encoded(file.read(), kind + ("; charset=utf-8" * kind.startswith("text/")), None, headers)
