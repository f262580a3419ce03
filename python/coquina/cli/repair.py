"""write what is good of an array to a new file; damaged chunks become NaN or zeros there

Examples:
  coquina repair climate.b2nd good.b2nd
  coquina repair climate.b2nd good.b2nd --force --json
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import coquina
from coquina.cli import arguments
from coquina.cli.terminal import cell
from coquina.cli.verify import facts, open_or_salvage
from coquina.quoting import quoted

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina repair`."""
    parser.add_argument("file", help="the array")
    parser.add_argument("output", help="the new file")
    arguments.add_threads(parser)
    arguments.add_force(parser)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Repair the array."""
    array, error = open_or_salvage(options.file)
    if error and not options.json:
        print(quoted(f"{error}; going on with what is left"), file=sys.stderr)
    if not isinstance(array, coquina.Array):
        raise ValueError(f"{options.file} holds no array of Blosc2: only those can be repaired")
    nchunks = array.info.nchunks
    with arguments.bars(options):
        damage = array.repair(options.output, overwrite=options.force, threads=options.threads)
    sentence = f"{cell(options.output)}: {nchunks - len(damage)} of {nchunks} chunks saved"
    lines = [sentence, *(f"  lost: {cell(one)}" for one in damage)]
    result = {"output": options.output, "nchunks": nchunks, "damage": [facts(one) for one in damage]}
    result["error"] = str(error) if error else None
    arguments.report(result, "\n".join(lines), options)
