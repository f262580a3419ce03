"""The options that go with `--codec auto`: one group for all commands that encode something.

In: --goal, --for, --bandwidth, --calibrate, --profile. Out: the keywords of `coquina.Tuning`.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from coquina.cli import arguments
from coquina.tuning_options import AUTO

if TYPE_CHECKING:
    from coquina.tuning_options import Goal, Tuning

_GOALS = ("speed", "balanced", "size")
_OPTIONS = {
    "goal": "--goal",
    "for_": "--for",
    "bandwidth": "--bandwidth",
    "calibrate": "--calibrate",
    "profile": "--profile",
}


def goal(text: str) -> Goal:
    """Return the goal of a text: one of the words, or a number from 0 to 1."""
    if text in _GOALS:
        return text  # pyright: ignore[reportReturnType]
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(
            f"goal {text!r}: takes {', '.join(_GOALS)}, or a number from 0 (speed) to 1 (size)"
        )
    return number


def bandwidth(text: str) -> float:
    """Return the bytes per second of a text such as `500M`."""
    number = arguments.size(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: takes bytes per second, such as 500M")
    return float(number)


def add_tuning(parser: argparse.ArgumentParser) -> None:
    """Add --goal, --for, --bandwidth, --calibrate and --profile, for --codec auto."""
    parser.add_argument(
        "--goal", type=goal, help="for --codec auto: speed, balanced (default), size, or a number from 0 to 1"
    )
    parser.add_argument(
        "--for", dest="for_", choices=("both", "read", "write"),
        help="for --codec auto: optimise reading, writing or both (default: both)",
    )  # fmt: skip
    parser.add_argument(
        "--bandwidth", type=bandwidth, metavar="SIZE",
        help="for --codec auto: bytes per second of the storage, such as 500M (default: 125 million)",
    )  # fmt: skip
    parser.add_argument(
        "--calibrate",
        action="store_const",
        const=True,
        help="for --codec auto: use the speed of this machine; the choice may differ between machines",
    )
    parser.add_argument(
        "--profile", metavar="FILE", help="for --codec auto: choose by what `coquina train` learnt from files"
    )


def words_of(options: argparse.Namespace) -> Tuning:
    """Return what was asked for. Raises ValueError for options of --codec auto without it."""
    words: Tuning = {}
    for name in _OPTIONS:
        if (value := getattr(options, name)) is not None:
            words[name] = value
    if words and options.codec != AUTO:
        raise ValueError(f"{_OPTIONS[next(iter(words))]}: is for --codec auto, which chooses codecs")
    return words
