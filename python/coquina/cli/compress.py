"""pack a file into a small Bloscpack file

Examples:
  coquina compress climate.npy                 an array: dtype and shape are kept, items shuffled by size
  coquina compress -t 4 -c lz4 -l 9 floats.raw floats.blp
  coquina compress -z 8M -k sha256 big.dat     larger chunks, stronger checksum
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import coquina
from coquina.cli import arguments

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina compress`."""
    parser.add_argument("file", help="what to pack; a .npy file is packed as the array that it holds")
    parser.add_argument("output", nargs="?", help=f"default: FILE{arguments.EXTENSION}")
    arguments.add_codec(parser)
    parser.add_argument("-t", "--typesize", type=int, help="bytes of an item (default: the array's, or 8)")
    parser.add_argument("-z", "--chunk-size", type=arguments.size, default="1M", help="default 1M; or max")
    parser.add_argument(
        "-k", "--checksum", default="adler32", help="none, adler32 (default), crc32, sha256, ..."
    )
    parser.add_argument("-o", "--no-offsets", action="store_true", help="leave out the list of chunk places")
    parser.add_argument("-m", "--metadata", metavar="JSON", help="a file of JSON to keep with plain bytes")
    arguments.add_threads(parser)
    arguments.add_force(parser)
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Pack the file."""
    output = options.output or options.file + arguments.EXTENSION
    nbytes = os.path.getsize(options.file)
    metadata = Path(options.metadata).read_bytes() if options.metadata else None
    with arguments.progress(nbytes, "compress") as progress:
        written = coquina.pack(
            options.file,
            output,
            codec=options.codec,
            level=options.level,
            filters=options.filters,
            typesize=options.typesize,
            chunk_size=options.chunk_size,
            checksum=options.checksum,
            offsets=not options.no_offsets,
            metadata=metadata,
            overwrite=options.force,
            threads=options.threads,
            progress=progress,
        )
    ratio = nbytes / written
    sentence = f"{output}: {arguments.human(nbytes)} -> {arguments.human(written)}, {ratio:.2f}x"
    result = {"output": output, "nbytes": nbytes, "written": written, "ratio": ratio}
    arguments.report(result, sentence, as_json=options.json)
