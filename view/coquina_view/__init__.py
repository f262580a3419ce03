"""The page that `coquina view` and `coquina serve` show in a browser: files for the server to send.

There is nothing to run here: the package holds the bundle that npm builds from `src`.
"""

from __future__ import annotations

from pathlib import Path

__version__ = "0.1.0"
__all__ = ["folder"]


def folder() -> Path:
    """Return the folder with `index.html` and `assets/`.

    Raises `FileNotFoundError` in a checkout where `make view` has not built the page yet.
    """
    static = Path(__file__).parent / "static"
    if not (static / "index.html").is_file():
        raise FileNotFoundError(f"{static / 'index.html'} is missing; `make view` builds it")
    return static
