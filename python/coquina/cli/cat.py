"""print a part of an array, in NumPy's notation

Only the blocks that hold the part are read. Long results are printed in part, unless --all or --json is
given.

Examples:
  coquina cat climate.b2nd "[3:5, ::-1]"
  coquina cat climate.b2nd "[..., 0]" --json
  coquina cat records.b2nd "['id']" --all
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

import coquina
from coquina.cli import arguments
from coquina.cli.keys import key

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina cat`."""
    parser.add_argument("file", help="an array: a .b2nd file or directory, or a Bloscpack file of an array")
    parser.add_argument("key", nargs="?", type=key, default=(), help="what to print; all of it by default")
    parser.add_argument("-a", "--all", action="store_true", help="print every item")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the part."""
    file = coquina.open(options.file)
    if isinstance(file, coquina.Frame) or (isinstance(file, coquina.PackFile) and file.array is None):
        raise ValueError(f"{options.file} holds no array")
    part: Any = file[options.key]
    if options.json:
        items = np.asarray(part)
        print(
            json.dumps(
                {"dtype": str(items.dtype), "shape": items.shape, "items": items.tolist()}, default=_text
            )
        )
        return
    threshold = sys.maxsize if options.all else 1000
    with np.printoptions(threshold=threshold):
        print(part)


def _text(item: Any) -> Any:
    """What JSON does not know, as text."""
    return item.decode("latin-1") if isinstance(item, bytes) else str(item)
