"""serve a folder or a file over HTTP: slices, tables, byte ranges, and a web page

Clients can access files below the folder only. Without --tokens the server listens on this machine only, and
every local user can read. Use a proxy for encryption; see the guide.

Examples:
  coquina serve .
  coquina serve run.h5 --port 8000
  coquina serve . --host 0.0.0.0 --tokens tokens.txt
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from coquina.cli import arguments
from coquina.cli.inputs import check
from coquina.cli.terminal import show, show_json

if TYPE_CHECKING:
    import argparse

_PORT = 8765
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_INSTALL = "`coquina serve` needs starlette and uvicorn: pip install 'coquina[serve]'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina serve`."""
    parser.add_argument("file", metavar="folder", help="the folder or file to serve")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=_port, default=_PORT, help=f"port (default: {_PORT}; 0 chooses a free one)"
    )
    parser.add_argument(
        "--tokens", metavar="FILE", help="who may read and write: lines TOKEN RIGHTS FOLDER, rights r or rw"
    )
    parser.add_argument(
        "--user-header",
        metavar="NAME",
        help="header of a reverse proxy that names the user; --tokens then lists names",
    )
    parser.add_argument(
        "--cors",
        metavar="ORIGIN",
        action="append",
        default=[],
        help="allow requests from pages of this origin",
    )
    parser.add_argument(
        "--limit-result", metavar="SIZE", type=arguments.size, help="bytes per response (default: 256M)"
    )
    parser.add_argument(
        "--limit-rate", metavar="N", type=float, help="requests per second and client (default: 200)"
    )
    parser.add_argument(
        "--limit-concurrent", metavar="N", type=int, help="concurrent requests (default: 128)"
    )
    parser.add_argument(
        "--limit-seconds", metavar="N", type=float, help="seconds per expression (default: 30)"
    )
    parser.add_argument(
        "--limit-upload", metavar="SIZE", type=arguments.size, help="bytes per upload (default: 4G)"
    )
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Serve until Ctrl-C. Raises ValueError for a server that anybody could reach without a token."""
    if options.host not in _LOOPBACK and not (options.tokens or options.user_header):
        raise ValueError(
            f"--host {options.host}: other machines could reach it; add --tokens FILE or --user-header NAME"
        )
    check(options.file)
    try:
        from coquina.server import commanding
    except ImportError as error:
        raise ImportError(f"{_INSTALL} ({error})") from None
    settings = commanding.Settings(
        options.file,
        options.host,
        options.port,
        options.tokens,
        options.user_header,
        tuple(options.cors),
        commanding.Limits(**_limits(options)),
    )
    commanding.serve(settings, lambda url: _say(options, url))


def _say(options: argparse.Namespace, url: str) -> None:
    if options.json:
        show_json({"file": options.file, "url": url}, str)
    else:
        show(f"serving {options.file} at {url} (Ctrl-C ends it)")
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
