"""copy an HDF5 file without unused space, optionally with other filters or chunks

The copy has the same groups, links, attributes and values, and gets its name once it has been compared with
the file. Without options all chunks are copied verbatim. A bound such as --max-error applies to
floating-point datasets that are not dimensions of others; the copy is compared within it.

Examples:
  coquina repack run.h5 small.h5
  coquina repack run.h5 smaller.h5 --filter blosc2 --codec zstd --level 7 --threads 2
  coquina repack run.h5 other.h5 --filter gzip --chunks 4,50,50 --path /detector --path /mask
  coquina repack run.h5:/detector detector.h5 --filter blosc2 --chunks auto
  coquina repack run.h5 loose.h5 --filter blosc2 --max-error 0.1
  coquina repack run.h5 tuned.h5 --auto --goal size     for each chunk the codec and filters that suit it
  coquina repack climate.b2nd tuned.b2nd --auto         also an array, a table, or a Bloscpack file
  coquina repack trades.h5:/trades sorted.h5 --sort-by sym,price    a table, its rows in another order
  coquina repack run.h5 --in-place --json
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from coquina.arrays.info import human
from coquina.cli import arguments, hdf5_paths, lossy_options, repack_others, tuning_options
from coquina.cli.parsing import UsageError
from coquina.hdf5.copying import repack, work_bytes
from coquina.tuning_options import AUTO

if TYPE_CHECKING:
    from coquina.hdf5.copying import Repacked


_LARGE = 64 << 10


FILTERS = ("blosc2", "blosc", "gzip", "lz4", "zstd", "bitshuffle", "htj2k", "none")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina repack`."""
    parser.add_argument(
        "file",
        help="an HDF5 file, or FILE.h5:/path to copy one group; with --auto or "
        "--codec also an array, the directory of a table, or a Bloscpack file",
    )
    parser.add_argument("output", nargs="?", help="the new file")
    parser.add_argument("--in-place", action="store_true", help="replace the file with its copy")
    parser.add_argument(
        "--filter", choices=FILTERS, metavar="FILTER",
        help=f"HDF5 filter: {', '.join(FILTERS)} (default: unchanged)",
    )  # fmt: skip
    arguments.add_encoding(parser, None, None, 22)
    parser.add_argument(
        "--auto", action="store_true",
        help="choose the encoding of each chunk: --codec auto, with the filter blosc2 in HDF5 files",
    )  # fmt: skip
    tuning_options.add_tuning(parser)
    arguments.add_cut(parser, "")
    parser.add_argument(
        "--fletcher32",
        action=argparse.BooleanOptionalAction,
        help="add or remove HDF5's checksums (default: unchanged)",
    )
    parser.add_argument(
        "--checksums", action=argparse.BooleanOptionalAction,
        help="add or remove checksums of blocks, for arrays and Blosc2 datasets (default: unchanged)",
    )  # fmt: skip
    parser.add_argument(
        "--path",
        action="append",
        default=[],
        metavar="/PATH",
        help="apply the options to this group or dataset (default: all); repeatable",
    )
    parser.add_argument(
        "--sort-by",
        type=_columns,
        metavar="COLUMNS",
        help="for tables: sort the rows by these columns, a,b,c",
    )
    parser.add_argument(
        "--no-compare", action="store_true", help="skip the comparison of the copy with the file"
    )
    lossy_options.add_lossy(parser)
    arguments.add_threads(parser)
    arguments.add_force(parser)
    arguments.add_report(parser)


def _columns(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def run(options: argparse.Namespace) -> None:
    """Repack the file."""
    _take_auto(options)
    words = tuning_options.words_of(options)
    if options.sort_by:
        said = repack_others.sort_table(options, words)
        arguments.report(said, repack_others.sentence(said), options)
        return
    place = hdf5_paths.place(options.file)
    if place is None:
        said = repack_others.repack(options, words)
        arguments.report(said, repack_others.sentence(said), options)
        return
    if not options.output and not options.in_place:
        raise UsageError("coquina repack", "give an OUTPUT, or --in-place")
    if options.in_place and place.path != "/":
        raise ValueError(f"{options.file}: --in-place takes a whole file")
    with hdf5_paths.opened(place):
        pass  # Says what is there, if the path is not.
    verify = not options.no_compare
    total = work_bytes(place.file, place.path, verify=verify)
    with arguments.progress(total, "repack", options) as progress:
        result = repack(
            place.file,
            options.output,
            group=place.path,
            filter=options.filter,
            codec=options.codec,
            level=options.level,
            filters=options.filters,
            blocks=None if options.blocks == "auto" else options.blocks,
            fletcher32=options.fletcher32,
            checksums=options.checksums,
            chunks=options.chunks,
            lossy=lossy_options.bound_of(options),
            only=tuple(options.path),
            in_place=options.in_place,
            overwrite=options.force,
            verify=verify,
            threads=options.threads,
            progress=progress,
            **words,
        )
    arguments.report(facts(result), sentence(result), options)


def _take_auto(options: argparse.Namespace) -> None:
    """Let --auto be --codec auto. Raises ValueError where another codec or filter was asked for."""
    if not options.auto:
        return
    if options.codec not in (None, AUTO):
        raise ValueError(f"--auto: means --codec auto, and --codec {options.codec} was given too")
    options.codec = AUTO


def facts(result: Repacked) -> dict[str, object]:
    """Return what was done, as JSON knows it."""
    return {
        "file": result.path,
        "output": result.out,
        "before": result.before,
        "after": result.after,
        "is_compared": result.is_compared,
        "datasets": [asdict(one) for one in result.datasets],
    }


def sentence(result: Repacked) -> str:
    """Return what was done, for people."""
    encoded = sum(one.how != "copied" for one in result.datasets)
    before, after = human(result.before), human(result.after)
    compared = "compared with the file" if result.is_compared else "not compared"
    counts = f"{encoded} of {len(result.datasets)} datasets encoded again"
    head = f"{result.out}: {before} -> {after}, {counts}, {compared}"
    # That small ones stay as they are goes without saying.
    kept = [f"  {one.name}: {one.reason}" for one in result.datasets if one.reason and one.nbytes >= _LARGE]
    return "\n".join([head, *kept])
