"""print a part of an array, in NumPy's notation

Only the blocks that hold the part are read. Long results are printed in part, unless --all or --json is
given.

Examples:
  coquina cat climate.b2nd "[3:5, ::-1]"
  coquina cat climate.b2nd "[..., 0]" --json
  coquina cat records.b2nd "['id']" --all
  coquina cat "run.h5:/images/raw[0, ::100]"
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

import coquina
from coquina.cli import arguments, hdf5_paths
from coquina.cli.keys import key

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina cat`."""
    parser.add_argument(
        "file", help="a .b2nd file or directory, a Bloscpack file of an array, or FILE.h5:/path of a dataset"
    )
    parser.add_argument("key", nargs="?", type=key, help="what to print; all of it by default")
    parser.add_argument("-a", "--all", action="store_true", help="print every item")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the part."""
    place = hdf5_paths.place(options.file)
    part: Any = part_of_file(options.file, options.key) if place is None else part_of(place, options.key)
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


def part_of_file(path: str, key: Any) -> Any:
    """Return a part of the array that a file is; all of it for no key."""
    file = coquina.open(path)
    if isinstance(file, coquina.Frame) or (isinstance(file, coquina.PackFile) and file.array is None):
        raise ValueError(f"{path} holds no array")
    return file[() if key is None else key]


def part_of(place: hdf5_paths.Place, key: Any) -> Any:
    """Return a part of a dataset; the key may follow its name in brackets."""
    place, inner = hdf5_paths.with_key(place)
    if inner is not None and key is not None:
        raise ValueError(f"{place.file}:{place.path}: two keys, {inner!r} and {key!r}")
    key = inner if key is None else key
    with hdf5_paths.opened(place) as opened:
        found: Any = opened
        if not hasattr(found, "shape"):
            raise ValueError(f"{place.file}:{place.path} is no dataset; `coquina ls {place.file}` lists them")
        if found.shape is None:
            raise ValueError(f"{place.file}:{place.path} holds nothing")
        # Strings of variable length are h5py's, which has them as bytes.
        is_text = hasattr(found, "asstr") and found.dtype.metadata == {"vlen": str}
        return (found.asstr() if is_text else found)[() if key is None else key]


def _text(item: Any) -> Any:
    """What JSON does not know, as text."""
    return item.decode("latin-1") if isinstance(item, bytes) else str(item)
