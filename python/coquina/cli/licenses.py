"""print the licences of coquina and of the libraries in it

Examples:
  coquina licenses
  coquina licenses --json
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coquina.cli import arguments
from coquina.cli.terminal import json_text, show

if TYPE_CHECKING:
    import argparse

_NAMES = ("LICENSE", "LICENSES-third-party.txt")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina licenses`."""
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the texts."""
    texts = {name: _text(name) for name in _NAMES}
    if options.json:
        show(json_text(texts))
        return
    for text in texts.values():
        show(text.rstrip() + "\n")


def _text(name: str) -> str:
    """Return a file of licences: of the installed package, or of the sources that Python runs from."""
    packages = Path(__file__).parents[2]
    for path in (*packages.glob(f"coquina-*.dist-info/licenses/{name}"), packages.parent / name):
        if path.is_file():
            return path.read_text("utf-8")
    raise FileNotFoundError(f"{name}: not in this installation")
