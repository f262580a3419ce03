"""decompress a Bloscpack file

An array is written as .npy if the output has that extension, and as raw bytes otherwise.

Examples:
  coquina decompress wind.npy.blp                       writes wind.npy
  coquina decompress climate.npy.blp copy.npy --threads 2
  coquina decompress floats.blp floats.raw
  coquina decompress - - < run.blp > run.dat            of a pipe, and to one
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from coquina.arrays import bloscpack
from coquina.arrays.info import human
from coquina.cli import arguments, inputs, pipes

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina decompress`."""
    parser.add_argument("file", help="a Bloscpack file; - is standard input")
    parser.add_argument(
        "output",
        nargs="?",
        help=f"default: FILE without {arguments.EXTENSION}; - is standard output",
    )
    arguments.add_threads(parser)
    arguments.add_force(parser)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Unpack the file."""
    is_piped = pipes.is_pipe(options.file)
    output = options.output or (pipes.PIPE if is_piped else options.file.removesuffix(arguments.EXTENSION))
    if output == options.file and not is_piped:
        raise ValueError(f"{options.file} does not end in {arguments.EXTENSION}: name the output")
    with pipes.input_file(options.file) as source, pipes.output_file(output) as path:
        inputs.check_packed(source)
        file = bloscpack.open(source)
        with arguments.progress(file.nbytes, "decompress", options) as progress:
            header = npy_header(file) if output.endswith(".npy") else b""
            is_new = options.force or pipes.is_pipe(output)
            file.save(path, header=header, overwrite=is_new, threads=options.threads, progress=progress)
    sentence = f"{output}: {human(file.nbytes)}"
    result = {"output": output, "nbytes": file.nbytes}
    if pipes.is_pipe(output):
        pipes.report(result, options)
    else:
        arguments.report(result, sentence, options)


def npy_header(file: bloscpack.PackFile) -> bytes:
    """Return what stands before an array's bytes in a .npy file; nothing if the file holds no array."""
    if file.array is None:
        return b""
    out = io.BytesIO()
    is_fortran = file.array.order == "F"
    descr = np.lib.format.dtype_to_descr(file.array.dtype)
    header = {"descr": descr, "fortran_order": is_fortran, "shape": file.array.shape}
    try:
        np.lib.format.write_array_header_1_0(out, header)
    except ValueError:  # more fields than the first version can hold
        np.lib.format.write_array_header_2_0(out, header)
    return out.getvalue()
