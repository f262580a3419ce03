"""compress a file to a Bloscpack file

Examples:
  coquina compress climate.npy                          dtype and shape of an array are kept
  coquina compress floats.raw floats.blp --typesize 4 -c lz4 -l 9
  coquina compress run.dat -z 8M -k sha256              larger chunks, stronger checksum
  coquina compress climate.npy -c auto --goal size      for each chunk the codec that suits it
  coquina compress climate.npy --max-error 0.05         smaller, and no number further off than this
  coquina compress - - < run.dat > run.blp              of a pipe, and to one
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import coquina
from coquina.arrays.info import human
from coquina.cli import arguments, lossy_options, pipes, tuning_options
from coquina.tuning_options import PACK_CODEC, PACK_LEVEL

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina compress`."""
    parser.add_argument("file", help="the file to compress; .npy files as arrays; - is standard input")
    parser.add_argument(
        "output",
        nargs="?",
        help=f"default: FILE{arguments.EXTENSION}; - is standard output, the default of -",
    )
    arguments.add_encoding(parser, PACK_CODEC, PACK_LEVEL)
    parser.add_argument(
        "--typesize", type=arguments.count, metavar="N", help="bytes per item (default: the array's, or 8)"
    )
    parser.add_argument(
        "-z", "--chunk-size", type=arguments.size, default="1M", metavar="SIZE", help="default: 1M; or max"
    )
    parser.add_argument(
        "-k", "--checksum", type=arguments.checksum, default="adler32",
        help="none, adler32 (default), crc32, sha256, ...",
    )  # fmt: skip
    parser.add_argument("--no-offsets", action="store_true", help="omit the offsets of chunks")
    parser.add_argument(
        "-m", "--metadata", metavar="JSON", help="a JSON file to store as metadata of raw bytes"
    )
    tuning_options.add_tuning(parser)
    lossy_options.add_lossy(parser)
    arguments.add_threads(parser)
    arguments.add_force(parser)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Pack the file."""
    is_piped = pipes.is_pipe(options.file)
    output = options.output or (pipes.PIPE if is_piped else options.file + arguments.EXTENSION)
    with pipes.input_file(options.file) as options.file, pipes.output_file(output) as path:
        nbytes, written = _packed(options, path)
    ratio = nbytes / written
    sentence = f"{output}: {human(nbytes)} -> {human(written)}, {ratio:.2f}x"
    result = {"output": output, "nbytes": nbytes, "written": written, "ratio": ratio}
    if pipes.is_pipe(output):
        pipes.report(result, options)
    else:
        arguments.report(result, sentence, options)


def _packed(options: argparse.Namespace, output: str) -> tuple[int, int]:
    """Pack the file; return how many bytes it had, and has now."""
    if os.path.isdir(options.file):
        raise IsADirectoryError(f"{options.file}: a directory, and files are packed")
    nbytes = os.path.getsize(options.file)
    metadata = Path(options.metadata).read_bytes() if options.metadata else None
    with arguments.progress(nbytes, "compress", options) as progress:
        written = coquina.pack(
            _source(options),
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
            **tuning_options.words_of(options),
        )
    return nbytes, written


def _source(options: argparse.Namespace) -> Any:
    """Return what is packed: the file, or the array in it as near as a bound asks for."""
    bound = lossy_options.bound_of(options)
    if bound is None:
        return options.file
    if not options.file.endswith(".npy"):
        lossy_options.refuse(options, f"{options.file} is plain bytes; bounds are for .npy files")
    array = np.load(options.file, mmap_mode="r", allow_pickle=False)
    return lossy_options.rounded(array, bound, options)
