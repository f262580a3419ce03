"""copy the readable part of a damaged HDF5 file, such as one whose writer was killed

The file is not changed. Readable chunks are copied verbatim to a new file, and losses are reported. The exit
code is 1 if data are lost; the new file is written in any case.

Examples:
  coquina recover killed.h5 saved.h5
  coquina recover killed.h5 saved.h5 --force --json
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import coquina
from coquina.arrays.opening import is_hdf5
from coquina.cli import arguments, inputs
from coquina.hdf5.recovery import recover

if TYPE_CHECKING:
    import argparse

    from coquina.hdf5.recovered import Recovered
    from coquina.hdf5.recovery import Recovery


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina recover`."""
    parser.add_argument("file", help="the damaged file")
    parser.add_argument("output", help="the new file")
    arguments.add_force(parser)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Recover the file. Raises CorruptError if something of it is lost."""
    if not is_hdf5(options.file):
        raise inputs.unknown(options.file, "HDF5 files; `coquina repair` is for arrays of Blosc2")

    report = recover(options.file, options.output, overwrite=options.force)
    arguments.report(facts(report), str(report), options)
    if not report.is_whole:
        raise coquina.CorruptError(f"{options.file}: some data could not be recovered")


def facts(report: Recovery) -> dict[str, Any]:
    """Return a report as JSON knows it."""
    return {
        "file": report.path,
        "output": report.out,
        "is_whole": report.is_whole,
        "notes": report.notes,
        "lost": [{"name": name, "error": reason} for name, reason in report.lost],
        "datasets": [_dataset_facts(one) for one in report.datasets],
    }


def _dataset_facts(one: Recovered) -> dict[str, Any]:
    lost = [
        {"region": [[part.start, part.stop] for part in each.region], "error": each.reason}
        for each in one.lost
    ]
    return {
        "name": one.name,
        "shape": one.shape,
        "nchunks": one.nchunks,
        "missing": one.missing,
        "empty_rows": one.empty_rows,
        "beyond": one.beyond,
        "unchecked": one.unchecked,
        "rows_lost": one.rows_lost,
        "lost": lost,
    }
