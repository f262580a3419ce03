"""print the folder of coquina's HDF5 plugins, for HDF5_PLUGIN_PATH

Examples:
  coquina plugin-path
  export HDF5_PLUGIN_PATH=$(coquina plugin-path)        then h5dump, MATLAB and others read what we write
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coquina.cli import arguments
from coquina.cli.terminal import json_text, show
from coquina.plugins import plugin_path

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina plugin-path`."""
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the folder."""
    path = str(plugin_path())
    show(json_text({"path": path}) if options.json else path)
