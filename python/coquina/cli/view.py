"""show a file or a folder in a browser

The page is available on this machine only, at a free port and with a random token. The command ends with
Ctrl-C, or after the last page is closed.

Examples:
  coquina view run.h5
  coquina view .
  coquina view run.h5 --no-browser
"""

from __future__ import annotations

import sys
import webbrowser
from typing import TYPE_CHECKING

from coquina.cli import arguments
from coquina.cli.inputs import check
from coquina.cli.terminal import show, show_json

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina view`."""
    parser.add_argument("file", metavar="PATH", help="a file, or a folder")
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address without opening a browser"
    )
    parser.add_argument("--keep", action="store_true", help="keep running after the last page is closed")
    parser.add_argument("--port", type=_port, default=0, help="port (default: a free one)")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Serve the page until it is closed. Raises ImportError, which says what to install."""
    from coquina.server import viewer

    check(options.file)
    site = viewer.site_of(options.file, port=options.port)

    def on_start() -> None:
        if options.json:
            show_json({"file": options.file, "url": site.url}, str)
        else:
            ends = "Ctrl-C ends it" if options.keep else "Ctrl-C ends it, or closing its last page"
            show(f"{options.file} at {site.url} ({ends})")
        # Whoever waits for the address reads it from a pipe.
        sys.stdout.flush()
        if not options.no_browser:
            webbrowser.open(site.url)

    site.run(on_start=on_start, is_over=lambda: not options.keep and site.presence.is_over)


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number < 1 << 16:
        raise ValueError
    return number
