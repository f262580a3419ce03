"""append a file to a Bloscpack file

The old file stays until the new one is complete.

Examples:
  coquina append run.blp more.dat                       bytes behind bytes
  coquina append climate.npy.blp next.npy --json        an array along the first axis
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import coquina
from coquina.arrays.info import human
from coquina.cli import arguments, inputs, tuning_options
from coquina.tuning_options import PACK_CODEC, PACK_LEVEL

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina append`."""
    parser.add_argument("file", help="the Bloscpack file to append to")
    parser.add_argument("new", help="the data to append; .npy if the file holds an array")
    arguments.add_encoding(parser, PACK_CODEC, PACK_LEVEL)
    tuning_options.add_tuning(parser)
    arguments.add_threads(parser)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Append the file."""
    inputs.check_packed(options.file)
    added = os.path.getsize(options.new)
    with arguments.progress(added, "append", options) as progress:
        written = coquina.append(
            options.file,
            options.new,
            codec=options.codec,
            level=options.level,
            filters=options.filters,
            threads=options.threads,
            progress=progress,
            **tuning_options.words_of(options),
        )
    sentence = f"{options.file}: {human(added)} added, now {human(written)}"
    result = {"output": options.file, "added": added, "written": written}
    arguments.report(result, sentence, options)
