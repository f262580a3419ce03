"""measure the differences between two files: errors, PSNR, SSIM

The first file is the original, the second the compressed version. Both hold arrays of one shape, in any
format that `convert` reads: files, datasets FILE.h5:/path, images. They are read in parts.

Examples:
  coquina quality climate.npy climate.b2nd
  coquina quality climate.b2nd climate.npy.blp --json --threads 2
  coquina quality scans/0000.png scans/0001.png --data-range 65535
"""

from __future__ import annotations

import argparse
import math
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import coquina
from coquina.arrays.aligning import aligned
from coquina.cli import arguments, sources
from coquina.cli.lossy_options import positive
from coquina.cli.terminal import cell, show, show_json

if TYPE_CHECKING:
    from coquina.arrays.comparison import Quality


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina quality`."""
    parser.add_argument("file", help="the original; FILE.npz:NAME or FILE.h5:/path for one array of several")
    parser.add_argument("other", help="what is compared with it")
    parser.add_argument(
        "--data-range", type=positive("takes a number above 0, such as 255"), metavar="X",
        help="the range of values, for PSNR and SSIM (default: greatest minus least value of the original)",
    )  # fmt: skip
    arguments.add_plain(parser)
    arguments.add_threads(parser)
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Compare the files."""
    names = (options.file, options.other)
    with ExitStack() as stack:
        original, other = (_loaded(name, options, stack) for name in names)
        _check(names, original, other)
        found = coquina.quality(original, other, data_range=options.data_range)
    if options.json:
        facts = dict(zip(("file", "other"), names, strict=True))
        facts |= {"dtype": str(original.dtype), "shape": list(original.shape)}
        show_json(facts | {name: _finite(value) for name, value in asdict(found).items()})
        return
    show(f"{cell(names[1])} against {cell(names[0])}: {original.dtype} {tuple(original.shape)}")
    show("\n".join(_lines(found)))


def _loaded(name: str, options: argparse.Namespace, stack: ExitStack) -> Any:
    """Return the array that a name stands for; errors are about this one from then on."""
    options.file = name
    return sources.load(options, stack)


def _check(names: tuple[str, str], original: Any, other: Any) -> None:
    """Raise ValueError for what cannot be compared."""
    if tuple(original.shape) != tuple(other.shape):
        shapes = f"{tuple(original.shape)} and {tuple(other.shape)}"
        raise ValueError(f"{' and '.join(names)}: shapes {shapes}; takes arrays of one shape")
    for name, one in zip(names, (original, other), strict=True):
        if one.dtype.kind not in "biufc":
            raise ValueError(f"{name}: items of {one.dtype}; takes numbers")


def _lines(found: Quality) -> list[str]:
    """Return the facts for people, a line each."""
    cells = [[name.replace("_", " "), _number(value)] for name, value in asdict(found).items()]
    return aligned(cells)


def _finite(value: Any) -> Any:
    """Return a number as JSON has it, which knows no infinity: the PSNR of equal arrays is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: Any) -> str:
    return "none" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
