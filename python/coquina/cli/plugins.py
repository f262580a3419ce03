"""list the codecs and filters of installed plugin packages

Examples:
  coquina plugins
  coquina plugins --json
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import coquina
from coquina.cli import arguments
from coquina.cli.terminal import cell, show, show_json

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina plugins`."""
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print a line for each."""
    found = coquina.list_plugins()
    if options.json:
        show_json({"plugins": [asdict(plugin) for plugin in found]})
        return
    if not found:
        show("no installed package offers codecs or filters")
    for plugin in found:
        show(f"{plugin.kind:6}  {plugin.id:3}  {cell(plugin.source)}")
