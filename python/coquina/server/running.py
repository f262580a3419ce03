"""A server on a socket: uvicorn, with a limit on how long a client may take to ask.

In: an application, an address. Out: answers, until Ctrl-C, or until what is asked says that it is over.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import resource
except ImportError:
    # Windows counts no files.
    resource = None

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina.server.application import Application

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_CHECK_SECONDS = 0.5
_KEEP_ALIVE_SECONDS = 15
_HEADER_BYTES = 64 << 10
#: Sockets and files of a process that serves.
_FILES = 8192


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address. port: 0 for a free one. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small pieces at once only where the socket says that it is TCP's: 40 ms an answer.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except BaseException:
        made.close()
        raise
    return made


def allow_connections() -> None:
    """Let this process have many sockets open, where the system counts them by hundreds at first."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def url_of(bound_socket: socket.socket, host: str) -> str:
    """Return the address of a server as browsers write it."""
    port = bound_socket.getsockname()[1]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def run(
    application: Application,
    bound_socket: socket.socket,
    *,
    on_start: Callable[[], object] | None = None,
    is_over: Callable[[], bool] | None = None,
) -> None:
    """Serve until Ctrl-C, or until `is_over` says so. on_start: called once requests are answered."""
    limits = application.service.limits
    config = uvicorn.Config(
        application.app,
        http=_protocol(limits.header_seconds),
        loop="asyncio",
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        limit_concurrency=max(1024, 2 * limits.concurrent),
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=_HEADER_BYTES,
    )
    asyncio.run(_serve(uvicorn.Server(config), bound_socket, on_start, is_over))


async def _serve(
    server: uvicorn.Server,
    bound_socket: socket.socket,
    on_start: Callable[[], object] | None,
    is_over: Callable[[], bool] | None,
) -> None:
    serving = asyncio.create_task(server.serve(sockets=[bound_socket]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if on_start is not None and not serving.done():
        on_start()
    while not serving.done():
        await asyncio.wait([serving], timeout=_CHECK_SECONDS)
        if is_over is not None and is_over():
            server.should_exit = True
    await serving


def _protocol(seconds: float) -> type[H11Protocol]:
    """Return the protocol of uvicorn that closes connections which do not ask within some time."""

    class TimedProtocol(H11Protocol):
        """A connection, which must have asked something after some seconds."""

        def connection_made(self, transport: Any) -> None:
            """Begin to wait."""
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, self._check)

        def _check(self) -> None:
            # The first request makes it something; its type does not say so.
            if cast("Any", self.cycle) is None and not self.transport.is_closing():
                self.transport.close()

        def connection_lost(self, exc: Exception | None) -> None:
            """Stop to wait."""
            self._timer.cancel()
            super().connection_lost(exc)

    return TimedProtocol
