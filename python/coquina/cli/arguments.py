"""Arguments that several subcommands share, and what their values mean.

Out: options with one spelling, one letter and one meaning everywhere. Values that cannot be are refused
here, so that the exit code says "wrong arguments".
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core, codecs, num_threads, set_num_threads, set_progress
from coquina import filters as known_filters
from coquina.cli.terminal import show, show_json
from coquina.foreign_words import codec_meant
from coquina.keyword_hints import near_word
from coquina.tuning_options import AUTO

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from coquina._core import Codec

EXTENSION = ".blp"
#: One filter, or several in order; each a name, or a name and its parameter.
Pipeline = str | list[str | tuple[str, int]]

#: Codecs with lower ids work on any bytes, those from here on along the axes of arrays.
_FIRST_OF_ARRAYS = 32
#: What `pip install coquina[images]` adds.
_CODECS_OF_PLUGINS = ("j2k", "htj2k")

_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_CHUNK_SIZE_MAX = 2147483631
_BAR_BYTES = 16 << 20  # less is done before anybody could read a bar


def size(text: str) -> int:
    """Return the bytes of a size such as `800`, `64K`, `1.5M` or `max`."""
    if text == "max":
        return _CHUNK_SIZE_MAX
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([BKMGT]?)", text.strip(), re.IGNORECASE)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: write 800, 64K, 1.5M or max")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def lengths(text: str) -> tuple[int, ...] | str:
    """Return the numbers of a text such as `100,200` or `100x200`, or "auto"."""
    if text == "auto":
        return text
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(",") if part.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write lengths such as 100,20, or auto") from None


def shape(text: str) -> tuple[int, ...]:
    """Return the shape that a text such as `100,200` is."""
    found = lengths(text)
    if isinstance(found, str):
        raise argparse.ArgumentTypeError(f"{text!r}: write lengths such as 100,20")
    return found


def access(text: str) -> str | tuple[int, ...]:
    """Return how an array will be read: any, rows, columns, or the shape of boxes."""
    if text in ACCESSES:
        return text
    try:
        return shape(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"{text!r}: takes {', '.join(ACCESSES)}, or the shape of boxes such as 1,512,512"
        ) from None


def dtype(text: str) -> np.dtype[Any]:
    """Return the dtype that a text such as `<f4` is."""
    try:
        found: np.dtype[Any] = np.dtype(text)
    except (TypeError, ValueError, SyntaxError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a dtype: write <f4, int16, |S8, ...") from None
    if found.hasobject:
        raise argparse.ArgumentTypeError(f"{text!r}: objects cannot be stored; elements need a fixed size")
    return found


def count(text: str) -> int:
    """Return a number of one or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: takes a number from 1 on")
    return int(text)


def one_of(names: Iterable[str], what: str, text: str) -> str:
    """Return `text` if it is one of the names; else say which there are, and which may be meant."""
    names = list(names)
    if text in names:
        return text
    raise argparse.ArgumentTypeError(
        f"no {what} {text!r}{similar(text, names)}; takes one of {', '.join(names)}"
    )


def similar(text: str, names: Iterable[str]) -> str:
    """Return a question that names what may be meant, or nothing."""
    near = near_word(text, names)
    return f" (did you mean {near!r}?)" if near else ""


def codec_name(text: str) -> str:
    """Return the name of a codec."""
    return _one_of_codecs(codecs(), text)


def _one_of_codecs(names: Iterable[str], text: str) -> str:
    """Return `text` if it is the name of a codec; else say which option other programs' names mean."""
    meant = codec_meant(text, has_filter=False)
    if text not in names and meant is not None:
        raise argparse.ArgumentTypeError(f"no codec {text!r} (did you mean --{meant[0]} {meant[1]}?)")
    return one_of(names, "codec", text)


def codecs_of_arrays() -> str:
    """Return what --help says of the codecs that only arrays can have, and of their parameters."""
    names = ", ".join(name for name, number in codecs().items() if number >= _FIRST_OF_ARRAYS)
    images = ", ".join(_CODECS_OF_PLUGINS)
    options = 'j2k:{"quality_mode": "dB", "quality": 60}'
    return f"; for .b2nd also {names} with a parameter (zfp_rate:25), and {images} ({options})"


def codec(text: str) -> Codec:
    """Return the codec of a text such as `zstd`, `zfp_rate:25` or `j2k:{"quality_mode": "dB"}`."""
    name, colon, parameter = text.partition(":")
    _one_of_codecs([*codecs(), *_CODECS_OF_PLUGINS, AUTO], name)
    if name == AUTO and colon:
        raise argparse.ArgumentTypeError(f"{text!r}: {AUTO} takes no parameter; see --goal")
    if not colon:
        return name
    if parameter.startswith("{"):
        try:
            options = json.loads(parameter)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r}: the options of a codec are JSON: {error}") from error
        return (name, options)
    if not re.fullmatch(r"-?\d+", parameter):
        raise argparse.ArgumentTypeError(
            f"{text!r}: a codec's parameter is a whole number, or options in JSON"
        )
    return (name, int(parameter))


def checksum(text: str) -> str:
    """Return the name of a checksum."""
    return one_of(_core.checksums(), "checksum", text)


def filters(text: str) -> Pipeline:
    """Return the filters of a text such as `shuffle`, `shuffle+bytedelta` or `trunc_prec:10+shuffle`."""
    found: list[str | tuple[str, int]] = []
    for part in text.split("+"):
        name, colon, parameter = part.strip().partition(":")
        one_of(known_filters(), "filter", name)
        if colon and not re.fullmatch(r"-?\d+", parameter):
            raise argparse.ArgumentTypeError(f"{part!r}: the parameter of a filter is a whole number")
        found.append((name, int(parameter)) if colon else name)
    return found[0] if len(found) == 1 and isinstance(found[0], str) else found


def level(most: int) -> Callable[[str], int]:
    """Return what reads a level from 0 to `most`."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) > most:
            raise argparse.ArgumentTypeError(f"level {text}: takes 0 to {most}")
        return int(text)

    return read


ACCESSES = ("any", "rows", "columns")

#: The words that the values of options are made of, where these are no choices of argparse's: for completion.
WORDS: dict[str, Callable[[], Iterable[str]]] = {
    "codec": lambda: (*codecs(), AUTO),
    "filters": known_filters,
    "checksum": _core.checksums,
    "access": lambda: ACCESSES,
    "goal": lambda: ("speed", "balanced", "size"),
}


def add_encoding(
    parser: argparse.ArgumentParser,
    codec_default: str | None,
    level_default: int | None,
    level_max: int = 9,
    *,
    arrays: str = "",
) -> None:
    """Add --codec, --level and --filters. Defaults of None leave the choice to the kind of file.

    arrays: what --help says of the codecs that only arrays can have.
    """
    known = ", ".join(name for name, number in codecs().items() if number < _FIRST_OF_ARRAYS)
    general = f"{known}, or {AUTO}, which chooses for each chunk"
    own = f"(default: {codec_default})" if codec_default else "(default: zstd; for .blp: blosclz)"
    parser.add_argument("-c", "--codec", type=codec, default=codec_default, help=f"{general}{arrays} {own}")
    deep = "" if level_max == 9 else f"; for zstd up to {level_max}"
    own = "" if level_default is None else f" (default: {level_default})"
    parser.add_argument(
        "-l", "--level", type=level(level_max), default=level_default, metavar="N",
        help=f"0 (store) to 9 (smallest){deep}{own}",
    )  # fmt: skip
    parser.add_argument(
        "-F", "--filters", type=filters, default=None if codec_default is None else "shuffle", metavar="NAME",
        help="shuffle (default), bitshuffle, nofilter, shuffle+bytedelta, ...",
    )  # fmt: skip


def add_cut(parser: argparse.ArgumentParser, where: str) -> None:
    """Add --chunks and --blocks."""
    for name in ("chunk", "block"):
        parser.add_argument(
            f"--{name}s",
            type=lengths,
            metavar="N,N,...",
            help=f"{where}shape of a {name}, or auto",
        )


def add_plain(parser: argparse.ArgumentParser) -> None:
    """Add --dtype and --shape, which say what plain bytes are."""
    parser.add_argument("--dtype", type=dtype, help="dtype of raw bytes, in NumPy's notation (default: |u1)")
    parser.add_argument(
        "--shape", type=shape, metavar="N,N,...", help="shape of raw bytes (default: one axis)"
    )


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add --threads."""
    parser.add_argument(
        "-t", "--threads", type=count, metavar="N", help="threads to use (default: all cores)"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print the result, and errors, as JSON")


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add --json and --quiet: what all have that do something and say so."""
    add_json(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add --force."""
    parser.add_argument("-f", "--force", action="store_true", help="replace the output if it exists")


def report(result: dict[str, Any], sentence: str, options: argparse.Namespace) -> None:
    """Print a result for a program, or its sentence for a person who wants to hear it."""
    if options.json:
        show_json(result, str)
    elif not options.quiet:
        show(sentence)


@contextmanager
def bars(options: argparse.Namespace) -> Generator[None]:
    """Show a bar on terminals while the engine works for over a second: how far it is, and for how long."""
    if options.quiet or options.json or not sys.stderr.isatty():
        yield
        return
    set_progress("always")
    try:
        yield
    finally:
        set_progress("auto")


@contextmanager
def threads_of(options: argparse.Namespace) -> Generator[None]:
    """Use as many threads as --threads says, and as before afterwards."""
    wanted = getattr(options, "threads", None)
    if wanted is None:
        yield
        return
    before = num_threads()
    set_num_threads(wanted)
    try:
        yield
    finally:
        set_num_threads(before)


@contextmanager
def progress(
    total: int, label: str, options: argparse.Namespace
) -> Generator[Callable[[int], object] | None]:
    """Give a callback that draws a progress bar, where that is a terminal and the work is long."""
    if total < _BAR_BYTES or options.quiet or not sys.stderr.isatty():
        yield None
        return
    bar = _core.ProgressBar(total, label)
    try:
        yield bar
    finally:
        bar.close()
