"""list the codecs, filters and checksums of this build

Examples:
  coquina codecs
  coquina codecs --json
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import coquina
from coquina import _core
from coquina.cli import arguments

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina codecs`."""
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the tables."""
    tables = {"codecs": coquina.codecs(), "filters": coquina.filters(), "checksums": _core.checksums()}
    if options.json:
        print(json.dumps(tables))
        return
    for title, table in tables.items():
        print(f"{title}:")
        for name, number in table.items():
            print(f"  {number:3}  {name}")
