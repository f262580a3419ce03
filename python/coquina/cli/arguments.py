"""Arguments that several subcommands share, and what their values mean."""

from __future__ import annotations

import argparse
import json
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coquina import _core, codecs

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

EXTENSION = ".blp"
_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_CHUNK_SIZE_MAX = 2147483631
_BAR_BYTES = 16 << 20  # less is done before anybody could read a bar


def size(text: str) -> int:
    """Return the bytes of a size such as `800`, `64K`, `1.5M` or `max`."""
    if text == "max":
        return _CHUNK_SIZE_MAX
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([BKMGT]?)", text.strip(), re.IGNORECASE)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: write 800, 64K, 1.5M or max")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def add_codec(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how chunks are written."""
    names = ", ".join(codecs())
    parser.add_argument("-c", "--codec", default="blosclz", help=f"{names} (default: blosclz)")
    parser.add_argument("-l", "--level", type=int, default=7, help="0 (store) to 9 (smallest); default 7")
    parser.add_argument(
        "-F", "--filters", default="shuffle", metavar="NAME", help="shuffle (default), bitshuffle or nofilter"
    )


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add --threads."""
    parser.add_argument("-n", "--threads", type=int, metavar="N", help="threads to use (default: all cores)")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add --force."""
    parser.add_argument("-f", "--force", action="store_true", help="replace the output if it exists")


def report(result: dict[str, Any], sentence: str, *, as_json: bool) -> None:
    """Print a result for a program, or its sentence for a person."""
    print(json.dumps(result) if as_json else sentence)


def human(nbytes: float) -> str:
    """Return a size as a person writes it."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(nbytes) < 1024:
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.1f} TiB"


@contextmanager
def progress(total: int, label: str) -> Generator[Callable[[int], object] | None]:
    """Give a callback that draws a progress bar, where that is a terminal and the work is long."""
    if total < _BAR_BYTES or not sys.stderr.isatty():
        yield None
        return
    bar = _core.ProgressBar(total, label)
    try:
        yield bar
    finally:
        bar.close()
