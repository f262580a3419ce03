"""recommend codec, filters and chunks for a goal, by a model of costs

Reads some blocks from all parts of the data and tries a few encodings. Times come from a table, so the
advice is the same on every machine and takes a second; `coquina bench` measures instead. Chunk and block
shapes are chosen by counting the blocks that each access pattern touches. For an HDF5 file or a table, each
array gets its own advice.

Access patterns (--access): any (default), whole, rows, columns, planes, planes:AXIS, series:AXIS, points,
and boxes such as 1,512,512. Several may be given, each with the number of reads.

Examples:
  coquina tune climate.npy
  coquina tune climate.npy --goal size --json
  coquina tune climate.npy --access planes:0 --access series:0=100 --apply series.b2nd
  coquina tune run.h5 --goal 0.25 --for read --bandwidth 2G
  coquina tune run.h5:/detector --apply tuned.h5 --quiet
  coquina tune trades.h5:/trades
  coquina tune floats.raw --dtype "<f4" --shape 100,200 --max-error 0.01
  coquina tune climate.npy --plot ways.png              ratio and speed of what was tried, as a picture
"""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import coquina
from coquina.cli import (
    arguments,
    bench_codecs,
    bench_report,
    convert_tables,
    hdf5_paths,
    inputs,
    lossy_options,
    sources,
    tables,
    tuning_options,
)
from coquina.cli.terminal import cell, show, show_json

if TYPE_CHECKING:
    from coquina.tuning.files import FileRecommendation
    from coquina.tuning.recommendation import Recommendation

_FOR = ("both", "read", "write")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina tune`."""
    parser.add_argument(
        "file",
        help="an array, a table, an HDF5 file, FILE.h5:/path, .npy, FILE.npz:NAME, images, or plain bytes "
        "with --dtype and --shape",
    )
    arguments.add_plain(parser)
    parser.add_argument(
        "--goal", type=tuning_options.goal, default="balanced",
        help="speed, balanced (default), size, or a number from 0 (speed) to 1 (size)",
    )  # fmt: skip
    parser.add_argument(
        "--for",
        dest="for_",
        choices=_FOR,
        default="both",
        help="optimise reading, writing or both (default: both)",
    )
    parser.add_argument(
        "--access", action="append", type=_use, metavar="WAY[=TIMES]",
        help="how the data will be read (default: any); repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--bandwidth", type=tuning_options.bandwidth, metavar="SIZE",
        help="bytes per second of the storage, such as 500M (default: 125 million)",
    )  # fmt: skip
    parser.add_argument("--calibrate", action="store_true", help="use the speed of this machine")
    parser.add_argument("--profile", metavar="FILE", help="choose by what `coquina train` learnt from files")
    arguments.add_cut(parser, "fixed: ")
    lossy_options.add_lossy(parser)
    parser.add_argument(
        "--apply", metavar="OUT", help="write a copy with the recommended settings to this file"
    )
    parser.add_argument("--plot", metavar="FILE", help="save a plot (.png, .svg, .pdf); needs matplotlib")
    arguments.add_threads(parser)
    arguments.add_force(parser)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Choose, say why, and apply it if that is wished."""
    if options.plot is not None:
        bench_report.check_plot(options.plot)
    _check_output(options)
    with ExitStack() as stack:
        advice = coquina.tune(
            _source(options, stack),
            options.goal,
            for_=options.for_,
            access=dict(options.access) if options.access else "any",
            bandwidth=options.bandwidth,
            calibrate=options.calibrate,
            profile=options.profile,
            lossy=lossy_options.bound_of(options),
            chunks=None if options.chunks == "auto" else options.chunks,
            blocks=None if options.blocks == "auto" else options.blocks,
            threads=options.threads,
        )
        result = {"file": options.file, **advice.to_dict(), "name": advice.name or options.file}
        if options.apply is not None:
            result["output"] = options.apply
            _apply(advice, options)
    if options.plot is not None:
        _plot(advice, options)
    text = str(advice) if advice.name else f"{cell(options.file)}: {advice}"
    if options.json:
        show_json(result)
    elif not options.quiet:
        show(text if options.apply is None else f"{text}\n\nwritten: {options.apply}")


def _source(options: argparse.Namespace, stack: ExitStack) -> Any:
    """Return what advice is asked for: a path where that is opened by itself, else what was opened."""
    place = hdf5_paths.place(options.file)
    if place is not None:
        with hdf5_paths.opened(place):
            return options.file  # It says what is there, if the path is not.
    if tables.is_directory(options.file):
        return options.file
    if convert_tables.rows_of(options, stack) is not None:
        raise ValueError(f"{options.file}: `coquina convert {options.file} FILE.h5` makes a table; tune that")
    return sources.load(options, stack)


def _check_output(options: argparse.Namespace) -> None:
    """Raise FileExistsError before anything is read, if there is something that is not to be replaced."""
    if options.apply is None:
        return
    inputs.check_output(options.apply)
    if os.path.lexists(options.apply) and not options.force:
        raise FileExistsError(f"{options.apply} exists; --force replaces it")


def _apply(advice: Recommendation | FileRecommendation, options: argparse.Namespace) -> None:
    made = advice.apply(options.apply, overwrite=options.force)
    if hasattr(made, "close"):
        made.close()


def _plot(advice: Recommendation | FileRecommendation, options: argparse.Namespace) -> None:
    """Save the ways that were tried as a picture, as `coquina bench` does."""
    if not hasattr(advice, "tried"):
        raise ValueError(f"--plot: takes one array, and {options.file} has several; name one")
    one: Any = advice
    facts = one.to_dict()
    ways = facts["tried"]
    points = [(way["ratio"], way["write_mbs"], way["read_mbs"]) for way in ways]
    for way, is_front in zip(ways, bench_codecs.front(points), strict=True):
        way["is_front"] = is_front
    goal = options.goal if isinstance(options.goal, str) else f"goal {options.goal:g}"
    title = f"{options.file}: {facts['sample']['nbytes'] / 1e6:.1f} MB, one core"
    bench_report.plot({"codecs": ways, "goal": goal, "title": title}, options.plot)


def _use(text: str) -> tuple[str, float]:
    """Return a way of reading, and how often it happens."""
    word, equals, times = text.partition("=")
    if word[:1].isdecimal():
        word = f"boxes:{word}"
    try:
        count = float(times) if equals else 1.0
    except ValueError:
        count = -1.0
    if not 0 < count < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: a weight is a number above 0, as in planes:0=10")
    return word, count
