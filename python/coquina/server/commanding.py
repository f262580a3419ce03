"""What `coquina serve` starts: a server for a folder, with users and limits as the command was told.

In: settings. Out: a running server; nothing is returned before it ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coquina.server import running
from coquina.server.application import Application
from coquina.server.limits import Limits as Limits
from coquina.server.root import Root
from coquina.server.service import Service
from coquina.server.users import Users

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Settings:
    """What is served, and to whom. path: a folder, or a file. tokens: a file; None for everybody.

    user_header: that a reverse proxy sets. origins: of pages elsewhere that may ask.
    """

    path: str
    host: str = "127.0.0.1"
    port: int = 8765
    tokens: str | None = None
    user_header: str | None = None
    origins: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


def application_of(settings: Settings) -> Application:
    """Return the application of a server. Raises OSError, ValueError."""
    users = Users(header=settings.user_header)
    if settings.tokens is not None:
        users = Users.read(settings.tokens, settings.user_header)
    service = Service(Root(settings.path), users, settings.limits)
    # A page elsewhere could have its own name lead here; it cannot have the name of this machine.
    hosts = frozenset(running.LOOPBACK) if users.is_open else None
    return Application(service, origins=settings.origins, hosts=hosts)


def serve(settings: Settings, on_start: Callable[[str], object]) -> None:
    """Serve until Ctrl-C. on_start: told the address once requests are answered."""
    application = application_of(settings)
    running.allow_connections()
    with running.bound(settings.host, settings.port) as bound_socket:
        url = running.url_of(bound_socket, settings.host)
        running.run(application, bound_socket, on_start=lambda: on_start(url))
