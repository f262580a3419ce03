"""list the codecs, filters and checksums of this build

Examples:
  coquina codecs
  coquina codecs --json
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import coquina
from coquina import _core
from coquina.cli import arguments
from coquina.cli.terminal import show, show_json

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina codecs`."""
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the tables."""
    tables = {"codecs": coquina.codecs(), "filters": coquina.filters(), "checksums": _core.checksums()}
    if options.json:
        show_json(tables)
        return
    for title, table in tables.items():
        show(f"{title}:")
        for name, number in table.items():
            show(f"  {number:3}  {name}")
