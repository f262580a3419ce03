"""serve a folder, or one file, over HTTP: slices, tables, bytes by ranges, and a page for browsers

Clients name files below the folder, and nothing else. Without --tokens everybody who reaches the server may
read, so it is only reached from this machine then. Encryption is a proxy's work; see the guide.

Examples:
  coquina serve .
  coquina serve run.h5 --port 8000
  coquina serve . --host 0.0.0.0 --tokens tokens.txt
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from coquina.cli import arguments
from coquina.cli.terminal import show

if TYPE_CHECKING:
    import argparse

_PORT = 8765
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_INSTALL = "`coquina serve` needs starlette and uvicorn: pip install 'coquina[serve]'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina serve`."""
    parser.add_argument("folder", help="the folder, or the one file, that is served")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at; 127.0.0.1 by default")
    parser.add_argument("--port", type=_port, default=_PORT, help=f"{_PORT} by default; 0 for a free one")
    parser.add_argument(
        "--tokens", metavar="FILE", help="who may read and write: lines TOKEN RIGHTS FOLDER, rights r or rw"
    )
    parser.add_argument(
        "--user-header",
        metavar="NAME",
        help="trust this header of a reverse proxy for who asks; --tokens has names then",
    )
    parser.add_argument(
        "--cors", metavar="ORIGIN", action="append", default=[], help="let pages of this origin ask"
    )
    parser.add_argument(
        "--limit-result", metavar="SIZE", type=arguments.size, help="bytes of one answer; 256M by default"
    )
    parser.add_argument("--limit-rate", metavar="N", type=float, help="requests a second of one client; 200")
    parser.add_argument("--limit-concurrent", metavar="N", type=int, help="requests at work at once; 128")
    parser.add_argument("--limit-seconds", metavar="N", type=float, help="seconds of one expression; 30")
    parser.add_argument(
        "--limit-upload", metavar="SIZE", type=arguments.size, help="bytes of one upload; 4G by default"
    )


def run(options: argparse.Namespace) -> None:
    """Serve until Ctrl-C. Raises ValueError for a server that anybody could reach without a token."""
    if options.host not in _LOOPBACK and not (options.tokens or options.user_header):
        raise ValueError(
            f"--host {options.host}: others could reach it, so it takes --tokens FILE, or --user-header NAME"
        )
    try:
        from coquina.server import commanding
    except ImportError as error:
        raise ImportError(f"{_INSTALL} ({error})") from None
    settings = commanding.Settings(
        options.folder,
        options.host,
        options.port,
        options.tokens,
        options.user_header,
        tuple(options.cors),
        commanding.Limits(**_limits(options)),
    )
    commanding.serve(settings, lambda url: _say(f"serving {options.folder} at {url} (Ctrl-C ends it)"))


def _say(text: str) -> None:
    show(text)
    # Whoever waits for the server reads this from a pipe.
    sys.stdout.flush()


def _limits(options: argparse.Namespace) -> dict[str, Any]:
    given = {
        "result_bytes": options.limit_result,
        "rate": options.limit_rate,
        "concurrent": options.limit_concurrent,
        "seconds": options.limit_seconds,
        "upload_bytes": options.limit_upload,
    }
    return {name: value for name, value in given.items() if value is not None}


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number < 1 << 16:
        raise ValueError
    return number
