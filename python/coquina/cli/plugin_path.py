"""print the folder of our HDF5 plugins, for HDF5_PLUGIN_PATH

Examples:
  HDF5_PLUGIN_PATH=$(coquina plugin-path) h5dump run.h5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coquina.plugins import plugin_path

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments: `coquina plugin-path` has none."""


def run(options: argparse.Namespace) -> None:
    """Print the folder."""
    print(plugin_path())
