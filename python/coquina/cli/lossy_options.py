"""The options that say how far stored numbers may be from those that were given: one group for all commands.

In: --max-error and its like, of which one may be given. Out: the mapping that every writer takes as `lossy`,
and None where nothing was asked for.
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

import coquina
from coquina.lossy import BOUNDS
from coquina.tuning_options import AUTO, PACK_CODEC, PACK_LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt


def positive(what: str) -> Callable[[str], float]:
    """Return what reads a number above 0."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            raise argparse.ArgumentTypeError(f"{text!r}: {what}")
        return number

    return read


def _bits(text: str) -> int:
    """Return a number of bits."""
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"{text!r}: takes a number of bits, 1 to 64")
    return int(text)


def _similarity(text: str) -> float:
    """Return a number between 0 and 1."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: takes a similarity between 0 and 1, such as 0.99")
    return number


def add_lossy(parser: argparse.ArgumentParser) -> None:
    """Add --max-error, --relative-error, --psnr, --ssim, --keep-bits and --ratio: one may be given."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--max-error", type=positive("takes a distance above 0, such as 0.01"), metavar="E",
        help="lossy: greatest absolute error",
    )  # fmt: skip
    group.add_argument(
        "--relative-error", type=positive("takes a fraction above 0, such as 1e-3"), metavar="E",
        help="lossy: greatest relative error",
    )  # fmt: skip
    group.add_argument(
        "--psnr", type=positive("takes decibels above 0, such as 60"), metavar="DB",
        help="lossy: least peak signal-to-noise ratio, in decibels",
    )  # fmt: skip
    group.add_argument(
        "--ssim", type=_similarity, metavar="S",
        help="lossy: least structural similarity of each image (the last two axes), such as 0.99",
    )  # fmt: skip
    group.add_argument(
        "--keep-bits",
        type=_bits,
        metavar="N",
        help="lossy: number of mantissa bits (or integer bits) to keep",
    )
    group.add_argument(
        "--ratio", type=positive("takes a ratio above 1, such as 10"), metavar="X",
        help="lossy: compression ratio to reach with the least loss",
    )  # fmt: skip


def bound_of(options: argparse.Namespace) -> dict[str, Any] | None:
    """Return the bound that was asked for, as writers take it; None for none."""
    given = {name: value for name in BOUNDS if (value := getattr(options, name, None)) is not None}
    return given or None


def option_of(bound: dict[str, Any]) -> str:
    """Return the option that a bound came from, for errors."""
    (name,) = bound
    return f"--{name.replace('_', '-')}"


def refuse(options: argparse.Namespace, what: str) -> None:
    """Raise ValueError if a bound was asked for where it means nothing; `what` says where and what to do."""
    bound = bound_of(options)
    if bound is not None:
        raise ValueError(f"{option_of(bound)}: {what}")


def rounded(source: Any, bound: dict[str, Any], options: argparse.Namespace) -> npt.NDArray[Any]:
    """Return the numbers of an array as near as a bound asks for: for Bloscpack, which knows no bounds."""
    given: dict[str, Any] = {
        "codec": PACK_CODEC if options.codec in (None, AUTO) else options.codec,
        "level": PACK_LEVEL if options.level is None else options.level,
    }
    near = coquina.asarray(source, lossy={**bound, "method": "round"}, threads=options.threads, **given)
    return near[...]
