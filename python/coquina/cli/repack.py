"""write a copy of an HDF5 file without gaps, and with other filters or chunks if they are wished

The copy has the same groups, links, attributes and items, and gets its name once it has been compared with
the file. Chunks that are to be stored as they are, are not encoded anew. Without options all are.

Examples:
  coquina repack run.h5 small.h5
  coquina repack --filter blosc2 --codec zstd --level 7 run.h5 small.h5
  coquina repack --filter gzip --chunks 100x100x20 --path /detector --path /mask run.h5 other.h5
  coquina repack --filter blosc2 --chunks auto run.h5:/detector detector.h5
  coquina repack --in-place run.h5
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from coquina.cli import arguments, hdf5_paths

if TYPE_CHECKING:
    from coquina.hdf5.copying import Repacked


_LARGE = 64 << 10


def chunks(text: str) -> tuple[int, ...] | str:
    """Return the chunks that a text such as `100x20` names, or "auto"."""
    if text == "auto":
        return text
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write auto, or lengths such as 100x20") from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina repack`."""
    parser.add_argument(
        "file", help="an HDF5 file, or FILE.h5:/path of a group in it, which is all that is copied"
    )
    parser.add_argument("output", nargs="?", help="the new file")
    parser.add_argument("--in-place", action="store_true", help="replace the file by its copy")
    parser.add_argument(
        "--filter", help="blosc2, blosc, gzip, lz4, zstd, bitshuffle or none (default: what there is)"
    )
    parser.add_argument(
        "-c", "--codec", help="of blosc2 and blosc (default: zstd), bitshuffle (default: lz4)"
    )
    parser.add_argument("-l", "--level", type=int, default=5, help="0 to 9, of zstd 1 to 22; default 5")
    parser.add_argument(
        "-F", "--filters", default="shuffle", metavar="NAME", help="shuffle (default), bitshuffle or nofilter"
    )
    parser.add_argument("--chunks", type=chunks, help="auto, or items along each axis: 100x20")
    parser.add_argument("--blocks", type=chunks, help="of blosc2: items of a block along each axis")
    parser.add_argument(
        "--fletcher32", action=argparse.BooleanOptionalAction, help="checksums, or none (default: as it is)"
    )
    parser.add_argument(
        "--path",
        action="append",
        default=[],
        metavar="/PATH",
        help="a group or dataset that the options are for (default: all); may be given several times",
    )
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help="threads to use (default: all cores)")
    parser.add_argument("--no-compare", action="store_true", help="do not compare the copy with the file")
    arguments.add_force(parser)
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Repack the file."""
    place = hdf5_paths.place(options.file)
    if place is None:
        raise ValueError(f"{options.file} is no HDF5 file, and has no such names in it")
    if options.in_place and place.path != "/":
        raise ValueError(f"{options.file}: only whole files are replaced by their copies")
    from coquina.hdf5.copying import repack, work_bytes

    with hdf5_paths.opened(place):
        pass  # Says what is there, if the path is not.
    verify = not options.no_compare
    total = work_bytes(place.file, place.path, verify=verify)
    with arguments.progress(total, "repack") as progress:
        result = repack(
            place.file,
            options.output,
            group=place.path,
            filter=options.filter,
            codec=options.codec,
            level=options.level,
            filters=options.filters,
            blocks=options.blocks,
            fletcher32=options.fletcher32,
            chunks=options.chunks,
            only=tuple(options.path),
            in_place=options.in_place,
            overwrite=options.force,
            verify=verify,
            threads=options.jobs,
            progress=progress,
        )
    arguments.report(facts(result), sentence(result), as_json=options.json)


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
    before, after = arguments.human(result.before), arguments.human(result.after)
    compared = "compared with the file" if result.is_compared else "not compared"
    counts = f"{encoded} of {len(result.datasets)} datasets encoded anew"
    head = f"{result.out}: {before} -> {after}, {counts}, {compared}"
    # That small ones stay as they are goes without saying.
    kept = [f"  {one.name}: {one.reason}" for one in result.datasets if one.reason and one.nbytes >= _LARGE]
    return "\n".join([head, *kept])
