"""Standard input and output as files: `-` on the command line.

In: the name of a file, or `-`. Out: a file at a path, which is gone when the block ends.
Invariant: nothing is written to a terminal, nor to standard output before the output is complete.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coquina.cli.terminal import json_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator

#: The name of standard input and of standard output.
PIPE = "-"


def is_pipe(name: str | None) -> bool:
    """Whether a name stands for standard input or output."""
    return name == PIPE


@contextmanager
def input_file(name: str) -> Generator[str]:
    """Give the path of a file, or of one with all that standard input has."""
    if not is_pipe(name):
        yield name
        return
    with tempfile.TemporaryDirectory(prefix="coquina-") as folder:
        path = os.path.join(folder, "input")
        with open(path, "xb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path


@contextmanager
def output_file(name: str) -> Generator[str]:
    """Give the path of a file to write, which goes to standard output when the block ends, if it is one.

    Raises ValueError if that is a terminal.
    """
    if not is_pipe(name):
        yield name
        return
    if sys.stdout.isatty():
        raise ValueError("standard output is a terminal; redirect it (> FILE), or name the output")
    with tempfile.TemporaryDirectory(prefix="coquina-") as folder:
        path = os.path.join(folder, "output")
        yield path
        with open(path, "rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def report(result: dict[str, Any], options: argparse.Namespace) -> None:
    """Tell of a result on standard error, where that is asked for: standard output has the bytes."""
    if options.json:
        print(json_text(result, str), file=sys.stderr)
