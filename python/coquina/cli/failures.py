"""What the command says where it fails: one line with what to do, or one JSON document for programs.

In: an exception, and what was asked for. Out: kind, sentence, place.
Invariant: no traceback for what users and files can do; the sentence has no line breaks. Names in it are
quoted wherever standard error goes, as git quotes paths: logs are read on terminals, too.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width

from coquina import CoquinaError, CorruptError, ExpressionError, LimitError, TruncatedError, UnsupportedError
from coquina.cli import store_paths
from coquina.cli.colours import painted
from coquina.cli.hdf5_paths import place
from coquina.cli.terminal import json_text
from coquina.quoting import quoted

if TYPE_CHECKING:
    import argparse

#: What a user or a file can make happen. Anything else is our mistake, and shows its traceback.
EXPECTED = (
    CoquinaError, ValueError, TypeError, LookupError, MemoryError, OSError, ImportError, RuntimeError,
    ArithmeticError,
)  # fmt: skip

_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (FileNotFoundError, "not_found"), (FileExistsError, "exists"), (PermissionError, "permission"),
    (BlockingIOError, "busy"), (TruncatedError, "truncated"), (CorruptError, "corrupt"),
    (UnsupportedError, "unsupported"), (LimitError, "limit"), (MemoryError, "memory"),
    (ImportError, "missing_package"), (LookupError, "not_there"), (OSError, "io"),
    (KeyboardInterrupt, "interrupted"),
)  # fmt: skip
_KEYWORDS = re.compile(r"""\b(codec|filter|layout)=["'](\w+)["']""")


class UncheckedError(UnsupportedError):
    """Nothing is damaged, but not all could be looked at: exit code 3."""


class Failure(NamedTuple):
    """Why a command failed. kind: a word for programs; place: the file, or None.

    excerpt: the text that is wrong, and below it a line of carets; for people.
    """

    kind: str
    message: str
    place: str | None
    excerpt: tuple[str, str] | None = None


def of(error: BaseException, options: argparse.Namespace | None = None) -> Failure:
    """Return the message of an exception."""
    kind = next((name for family, name in _KINDS if isinstance(error, family)), "invalid")
    file: str | None = getattr(options, "file", None)
    place = str(error.filename) if isinstance(error, OSError) and error.filename else file
    lines, excerpt = _cut(error)
    message = _sentence(error, lines)
    if kind == "io" and file and os.path.basename(file.partition(":")[0]) not in message:
        message = f"{file}: {message}"
    if advice := _advice(kind, message, options):
        message = f"{message}; {advice}"
    return Failure(kind, message, place, excerpt)


def show(failure: Failure, *, as_json: bool) -> None:
    """Print a failure to standard error."""
    if as_json:
        facts = {"kind": failure.kind, "message": failure.message, "place": failure.place}
        print(json_text({"error": facts}), file=sys.stderr)
        return
    print(f"{painted('coquina:', 'red', sys.stderr)} {quoted(failure.message)}", file=sys.stderr)
    for line in () if failure.excerpt is None else _below(*failure.excerpt):
        print(f"  {line}", file=sys.stderr)


def _cut(error: BaseException) -> tuple[list[str], tuple[str, str] | None]:
    """Return the lines of an error, and the last two of them apart if the last one is carets."""
    lines = str(error).splitlines()
    if len(lines) > 2 and re.fullmatch(r" *\^+", lines[-1]):
        return lines[:-2], (lines[-2], lines[-1])
    return lines, None


def _below(text: str, carets: str) -> tuple[str, str]:
    """Return a text as it is printed, and carets below the same signs of it."""
    start, stop = len(carets) - len(carets.lstrip()), len(carets)
    before, wrong = quoted(text[:start]), quoted(text[start:stop])
    width = max(_width(wrong), stop - start if stop > len(text) else 1)
    return quoted(text), " " * _width(before) + "^" * width


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(1 + (east_asian_width(sign) in "WF") for sign in text)


def _sentence(error: BaseException, lines: list[str]) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and error.strerror and "\n" not in error.strerror:
        # Without its number, which says less.
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    elif isinstance(error, KeyError) and error.args:
        text = str(error.args[0])  # Its text would have quotes around the sentence.
    else:
        text = "\n".join(lines)
    if isinstance(error, ExpressionError):
        text = text.replace(error.hint, "")  # It is about an argument of Python.
    if isinstance(error, FileNotFoundError) and " " not in text:
        text = f"{text or 'the file'}: there is no such file"  # some say no more than its name
    text = re.sub(r" \(os error \d+\)$", "", text)
    # Arguments of Python, as options.
    text = _KEYWORDS.sub(r"--\1 \2", text.replace("; overwrite must be set to replace it", ""))
    text = "; ".join(line.strip() for line in text.splitlines() if line.strip())
    return text or ("out of memory" if isinstance(error, MemoryError) else type(error).__name__)


def _advice(kind: str, message: str, options: argparse.Namespace | None) -> str | None:
    """Return what to do about it, where that is known and not said yet."""
    file = getattr(options, "file", None)
    command = getattr(options, "command", "")
    if kind == "exists" and getattr(options, "force", None) is False and "--force" not in message:
        return "--force replaces it"
    if "coquina recover" in message:
        return None
    if "choose the other columns" in message and command == "convert":
        return f"`coquina query {file} --columns NAME,... --output {getattr(options, 'output', 'OUTPUT')}`"
    if kind in ("corrupt", "truncated") and file and command not in ("verify", "repair", "recover"):
        return f"`coquina verify {file}` says what is damaged"
    if kind in ("corrupt", "truncated") and file and command == "verify":
        if place(file) is not None:
            return f"`coquina recover {file} OUTPUT` saves the rest"
        if kind == "truncated":
            return "the list of its chunks stood at the end, so take another copy of the file"
        if store_paths.place(file) is not None:
            return f"`coquina repair {file}:/PATH OUTPUT` saves the rest of an array"
        return f"`coquina repair {file} OUTPUT` saves the rest"
    if kind == "busy":
        return "try again when the other program is done"
    if kind == "memory":
        return "ask for less of it at once"
    if kind == "permission":
        return "look at who may read and write there"
    if "No space left" in message:
        return "nothing was replaced"
    return None
