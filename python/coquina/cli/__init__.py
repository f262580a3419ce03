"""The command `coquina`: one file per subcommand, listed in `COMMANDS`.

Exit codes: 0 done, 1 it failed, 2 wrong arguments, 3 not all could be
checked, 130 interrupted, 141 nobody reads the output any more. Of diff
1 says that two files differ, and 2 that it failed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys
from typing import TYPE_CHECKING

from coquina import __version__
from coquina.cli import (
    append,
    bench,
    browse,
    cat,
    codecs,
    completion,
    compress,
    convert,
    decompress,
    diff,
    failures,
    index,
    info,
    inputs,
    licenses,
    ls,
    plugin_path,
    plugins,
    quality,
    query,
    recover,
    repack,
    repair,
    serve,
    train,
    tune,
    verify,
    view,
)
from coquina.cli.arguments import threads_of
from coquina.cli.parsing import Parser, UsageError, actions_of
from coquina.cli.pipes import is_pipe
from coquina.following import allowing

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    info,
    ls,
    cat,
    query,
    index,
    convert,
    diff,
    quality,
    bench,
    tune,
    train,
    verify,
    repair,
    repack,
    recover,
    compress,
    decompress,
    append,
    browse,
    view,
    serve,
    codecs,
    plugins,
    plugin_path,
    completion,
    licenses,
)

EPILOG = """\
Examples:
  coquina convert climate.npy climate.b2nd          a compressed array, of which parts can be read
  coquina convert climate.npy loose.b2nd --max-error 0.05
  coquina diff climate.npy climate.b2nd             compare two files
  coquina quality climate.npy climate.b2nd          greatest and mean error, PSNR
  coquina cat climate.b2nd "[3:5, ::-1]"
  coquina bench climate.npy                         measures codecs, filters and chunks
  coquina tune climate.npy --goal size              recommends them in a second, with reasons
  coquina ls run.h5
  coquina repack --filter blosc2 run.h5 small.h5
  coquina convert trades.csv prices.h5              a table
  coquina query trades.h5 "price > 10 and sym == 'ABC'" --agg "count,mean(price)"
  coquina info climate.npy.blp
  coquina verify climate.b2nd
  coquina browse run.h5                             in a terminal; view: in a browser
  coquina serve .                                   over HTTP

Inputs are recognized by content, outputs by extension. HDF5 datasets and tables are FILE.h5:/path.
Existing files are kept without --force. --json prints results and errors as JSON.
Exit codes: 0 success, 1 failure (the reason is on standard error), 2 wrong arguments, 3 some chunks not
checked (verify), 130 interrupted. diff: 0 equal, 1 different, 2 failure.
"""

FIRST_STEPS = """\
coquina info FILE                        describe a file (ls: list its contents, cat: print values)
coquina convert FILE OUTPUT              convert it to another format, by the extension
coquina query TABLE "price > 10"         rows that meet a condition, also in .parquet and .csv
coquina diff FILE OTHER                  compare two files
coquina --help                           all commands; coquina COMMAND --help: its options, with examples
"""

_BROKEN_PIPE = 141  # as shells say of a program that SIGPIPE ended


def name_of(command: object) -> str:
    """Return the name of a subcommand, which is a module."""
    return str(getattr(command, "__name__", "")).rpartition(".")[2].replace("_", "-")


def parser() -> Parser:
    """Return the parser of the command with all subcommands."""
    top = Parser(
        prog="coquina",
        description="Inspect, convert, query, compress and verify files of arrays and tables.",
        epilog=EPILOG,
    )
    top.add_argument("-V", "--version", action="version", version=f"coquina {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for command in COMMANDS:
        doc, _, examples = (command.__doc__ or "").partition("\n\n")
        sub = commands.add_parser(name_of(command), help=doc, description=doc, epilog=examples)
        command.add_arguments(sub)
        if any(action.dest == "file" for action in actions_of(sub)):
            sub.add_argument(
                "--allow-external",
                action="store_true",
                help="HDF5: allow files in other folders that the file names",
            )
        meant = getattr(command, "meant", None)
        sub.set_defaults(run=command.run, parser=sub, top=top, meant=meant)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options: argparse.Namespace | None = None
    try:
        if not words:
            print(FIRST_STEPS, end="", flush=True)
            return 0
        if words[0] == "help":
            words = [*words[1:2], "--help"]
        options = parser().parsed(words)
        return _run(options)
    except UsageError as error:
        message = f"{error}; `{error.command} --help` shows what it takes"
        failures.show(failures.Failure("arguments", message, None), as_json="--json" in words)
        return 2
    except argparse.ArgumentTypeError as error:
        # A key behind the name of a file, which is read late: only then is it known to be none of its name.
        failures.show(failures.Failure("arguments", str(error), None), as_json="--json" in words)
        return 2
    except BrokenPipeError:
        _drop_output()
        return _BROKEN_PIPE
    except KeyboardInterrupt as error:
        failures.show(failures.of(error), as_json="--json" in words)
        return 130
    except failures.EXPECTED as error:
        failures.show(failures.of(error, options), as_json="--json" in words)
        return 3 if isinstance(error, failures.UncheckedError) else getattr(options, "failed", 1)


def _run(options: argparse.Namespace) -> int:
    """Run a subcommand and return its exit code: 0, but where it compares."""
    is_piped = options.command in ("compress", "decompress")
    for name in ("file", "new", "other"):
        given = getattr(options, name, None)
        if given is not None and not (is_piped and is_pipe(given)):
            _check_order(options, given)
            inputs.check(given)
    if (output := getattr(options, "output", None)) is not None:
        if is_pipe(output) and not is_piped:
            raise ValueError("-: this command writes a file, whose extension says the format")
        inputs.check_output(output)
    with threads_of(options), _allowing(options):
        code = options.run(options)
    sys.stdout.flush()
    return code or 0


def _check_order(options: argparse.Namespace, given: str) -> None:
    """Raise UsageError for a condition before the file: `coquina query "price > 1" trades.h5`."""
    condition = getattr(options, "condition", None)
    if condition and os.path.exists(inputs.path_of(condition)) and not os.path.lexists(inputs.path_of(given)):
        call = shlex.join(["coquina", options.command, condition, given])
        raise UsageError(f"coquina {options.command}", f"the file comes first: write `{call}`")


def _allowing(options: argparse.Namespace) -> contextlib.AbstractContextManager[None]:
    """Have HDF5 files follow others, where that was asked for."""
    if not getattr(options, "allow_external", False):
        return contextlib.nullcontext()
    return allowing(is_allowed=True)


def _drop_output() -> None:
    """Let nobody's output go nowhere, so that Python does not fail once more where it ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
