"""The command `coquina`: one file per subcommand, listed in `COMMANDS`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from coquina import CoquinaError, __version__
from coquina.cli import (
    append,
    cat,
    codecs,
    compress,
    convert,
    decompress,
    index,
    info,
    ls,
    plugin_path,
    query,
    recover,
    repack,
    repair,
    verify,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    info,
    ls,
    cat,
    query,
    index,
    convert,
    verify,
    repair,
    repack,
    recover,
    compress,
    decompress,
    append,
    codecs,
    plugin_path,
)

EPILOG = """\
examples:
  coquina convert climate.npy climate.b2nd          an array whose parts are read alone
  coquina cat climate.b2nd "[3:5, ::-1]"
  coquina compress climate.npy                      writes climate.npy.blp
  coquina compress -c zstd -l 5 -F bitshuffle run.dat run.blp
  coquina info climate.npy.blp
  coquina decompress climate.npy.blp copy.npy
  coquina append run.blp more.dat
  coquina ls run.h5
  coquina repack --filter blosc2 run.h5 small.h5
  coquina convert trades.csv trades.h5              a table
  coquina query trades.h5 "price > 10 and sym == 'ABC'" --agg "count,mean(price)"

exit codes: 0 done, 1 it failed (the reason is on standard error), 2 wrong arguments, 130 interrupted
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command with all subcommands."""
    top = argparse.ArgumentParser(
        prog="coquina",
        description="Pack numbers into small files, quickly, and get them back.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"coquina {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        name = command.__name__.rpartition(".")[2].replace("_", "-")
        doc, _, examples = (command.__doc__ or "").partition("\n\n")
        sub = commands.add_parser(
            name,
            help=doc,
            description=doc,
            epilog=examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except KeyError as error:
        # Its text would have quotes around the sentence.
        print(f"coquina: {error.args[0] if error.args else error}", file=sys.stderr)
        return 1
    except (CoquinaError, ValueError, TypeError, IndexError, MemoryError, OSError, ImportError) as error:
        print(f"coquina: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("coquina: interrupted", file=sys.stderr)
        return 130
    return 0
