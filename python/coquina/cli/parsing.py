"""The parser of the command: argparse's, whose errors are one line with a hint, and raised.

Options are not taken by their first letters alone: scripts would break with each new option.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import Any, NoReturn, cast

from coquina.cli.arguments import similar

#: What other programs call what a subcommand does.
SYNONYMS = {
    **dict.fromkeys(("where", "select", "filter", "sql", "find"), 'query FILE "price > 10"'),
    **dict.fromkeys(("sum", "mean", "min", "max", "count", "describe"), 'query FILE --agg "mean(price)"'),
    **dict.fromkeys(("head", "show", "print", "dump", "read"), "cat FILE"),
    **dict.fromkeys(("list", "dir", "tree", "tables"), "ls FILE"),
    **dict.fromkeys(("stat", "inspect", "schema", "file"), "info FILE"),
    **dict.fromkeys(("compare", "cmp"), "diff FILE OTHER"),
    **dict.fromkeys(("copy", "cp", "export", "import", "write"), "convert FILE OUTPUT"),
    **dict.fromkeys(("optimize", "recommend"), "tune FILE"),
    **dict.fromkeys(("check", "validate", "test"), "verify FILE"),
    "fix": "repair FILE OUTPUT",
    "sort": "repack FILE OUTPUT --sort-by COLUMN",
}

#: What other programs call options of a subcommand that has them.
OPTIONS = {
    **dict.fromkeys(("-n", "--limit", "--rows", "--nrows"), "--head"),
    **dict.fromkeys(("--sort", "--sort-by", "--orderby"), "--order-by"),
    **dict.fromkeys(("--group-by", "--groupby", "--group"), "--by"),
    **dict.fromkeys(("--select", "--cols", "--fields"), "--columns"),
    **dict.fromkeys(("-l", "--long"), "--verbose"),
    **dict.fromkeys(("--overwrite", "-y", "--yes"), "--force"),
    **dict.fromkeys(("--complevel", "--compression-level"), "--level"),
    **dict.fromkeys(("--complib", "--compression", "--compressor"), "--codec"),
    **dict.fromkeys(("-j", "--jobs"), "--threads"),
    "--count": "--agg count",
    "--desc": "--descending",
}
_NUMBER = re.compile(r"-\d+")
#: Arguments that name files.
_FILES = ("file", "new", "other", "output")


class UsageError(Exception):
    """Wrong arguments. Its text is one line; `command` is what was called, such as `coquina info`."""

    def __init__(self, command: str, message: str) -> None:
        """Say which command, and what is wrong."""
        super().__init__(message)
        self.command = command


class Parser(argparse.ArgumentParser):
    """argparse's parser, with errors for people and programs."""

    def __init__(self, **options: Any) -> None:
        """Take what argparse's takes; the text of descriptions stays as it is."""
        given: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, **options}
        super().__init__(allow_abbrev=False, **given)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(self.prog, message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End, once what was printed is out: a pipe that nobody reads is known of here."""
        sys.stdout.flush()
        super().exit(status, message)

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse's says nothing where nobody reads.
        (file or sys.stderr).write(message)

    def parsed(self, words: list[str]) -> argparse.Namespace:
        """Parse, and say of options that there are none of what may be meant."""
        found, left = self.parse_known_args(words)
        parser: argparse.ArgumentParser = getattr(found, "parser", self)
        # To argparse, numbers are no options.
        left = [one for name in _FILES if _NUMBER.fullmatch(one := str(getattr(found, name, "")))] or left
        _take_late(parser, found, left)
        if left:
            first = left[0].partition("=")[0]
            if not first.startswith("-"):
                parser.error(f"one argument too many: {first!r}{self._advice(found, left)}")
            parser.error(f"no option {first!r}{_option_meant(parser, first)}")
        return found

    @staticmethod
    def _advice(found: argparse.Namespace, left: list[str]) -> str:
        """Return what a subcommand says of words that it has no place for; see `meant` of its module."""
        meant = getattr(found, "meant", None)
        if meant is not None:
            return f"; write `{meant(found, left)}`"
        file = str(getattr(found, "file", ""))
        if not os.path.isfile(file) or os.path.lexists(left[0]):
            return ""
        return f"; what is in a file is written {file}:{left[0]}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = list(map(str, cast("list[Any]", action.choices)))
            if action.dest == "command":
                meant = SYNONYMS.get(str(value))
                hint = similar(str(value), names) if meant is None else f"; use `coquina {meant}`"
                self.error(f"there is no command {value!r}{hint}")
            listed = ", ".join(names)
            raise argparse.ArgumentError(
                action, f"invalid choice {value!r}{similar(str(value), names)}: takes one of {listed}"
            )


def _take_late(parser: argparse.ArgumentParser, found: argparse.Namespace, left: list[str]) -> None:
    """Give words behind options to arguments that may be left out: argparse has closed them then."""
    for action in actions_of(parser):
        is_open = not action.option_strings and action.nargs == "?"
        if left and is_open and not left[0].startswith("-") and getattr(found, action.dest) is action.default:
            read = cast("Any", action.type or str)
            setattr(found, action.dest, read(left.pop(0)))


def _option_meant(parser: argparse.ArgumentParser, word: str) -> str:
    """Return which option of a subcommand may be meant by one that it does not have."""
    options = [text for action in actions_of(parser) for text in action.option_strings]
    meant = f"--level {word[1:]}" if _NUMBER.fullmatch(word) else OPTIONS.get(word, "")
    return f"; use {meant}" if meant.partition(" ")[0] in options else similar(word, options)


def actions_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return all arguments of a parser."""
    return list(parser._actions)  # pyright: ignore[reportPrivateUsage]  (argparse gives no other way)


def subparsers_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the subcommands of a parser by name."""
    for action in actions_of(parser):
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            return dict(cast("Any", action).choices)
    return {}
