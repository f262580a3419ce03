"""show a file or a folder in a terminal

A tree of groups, arrays and tables on the left; values as a grid or a small plot on the right. Only the
visible part is read. Needs textual: pip install 'coquina[browse]'.

Examples:
  coquina browse run.h5
  coquina browse .
  coquina browse run.h5 --json                          what the tree shows, without a terminal
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from coquina.cli import arguments
from coquina.cli.inputs import check
from coquina.cli.terminal import show_json

if TYPE_CHECKING:
    import argparse

    from coquina.cli.browsing.nodes import Library

_INSTALL = "`coquina browse` needs textual: pip install 'coquina[browse]'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina browse`."""
    parser.add_argument("file", metavar="PATH", help="a file, or a folder")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Browse until the user quits.

    Raises ImportError, which says what to install, and ValueError without a terminal.
    """
    check(options.file)
    try:
        from coquina.cli.browsing.app import Library
    except ImportError as error:
        raise ImportError(f"{_INSTALL} ({error})") from None
    with Library(options.file) as library:
        if options.json:
            show_json({"file": options.file, "objects": library.listed()}, str)
            return
        start(library)


def start(library: Library) -> None:
    """Browse in the terminal. Raises ValueError where there is none."""
    from coquina.cli.browsing.app import Browser

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ValueError("browse: needs a terminal; `coquina ls` and `coquina cat` print to pipes")
    Browser(library).run()
