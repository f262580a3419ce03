"""`coquina.view`: data in a browser, or in a frame of a notebook, served by this process.

In: a path, or an object. Out: a running server for this machine alone, which takes a random token.
"""

from __future__ import annotations

import html
import os
import secrets
import sys
import threading
import time
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.creation import asarray
from coquina.expressions.expression import Expr
from coquina.hdf5.groups import Group
from coquina.server.held_objects import HeldObjects
from coquina.server.page import folder
from coquina.server.presence import Presence
from coquina.server.root import Root
from coquina.server.service import Service
from coquina.server.users import Users
from coquina.stores.tree import Group as StoreGroup
from coquina.tables.table import Table

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from coquina.server.application import Application

__all__ = ["Viewer", "view"]

_INSTALL = "needs packages that are not installed: pip install 'coquina[serve]' coquina-view"
_HOST = "127.0.0.1"
_START_SECONDS = 30.0
#: A script whose end waits for its page does not wait for a browser that never came.
_NO_PAGE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Site:
    """A server that is about to run: its application, its socket, and the address of its page."""

    application: Application
    socket: socket.socket
    url: str
    presence: Presence

    def run(self, *, on_start: Callable[[], object], is_over: Callable[[], bool]) -> None:
        """Serve until Ctrl-C, or until `is_over` says so."""
        from coquina.server import running

        with self.socket:
            running.run(self.application, self.socket, on_start=on_start, is_over=is_over)


def site_of(data: Any, *, port: int = 0, name: str | None = None) -> Site:
    """Return a site for a path or an object. port: 0 for a free one.

    Raises ImportError, which says what to install; FileNotFoundError, TypeError for what cannot be shown.
    """
    try:
        from coquina.server import running
        from coquina.server.application import Application
    except ImportError as error:
        raise ImportError(f"the viewer {_INSTALL} ({error})") from None
    if folder() is None:
        raise ImportError(f"the viewer {_INSTALL} (there is no coquina_view)")
    token = secrets.token_urlsafe(24)
    service, path = _service_of(data, token, name)
    presence = Presence()
    application = Application(service, hosts=frozenset(running.LOOPBACK), presence=presence)
    bound = running.bound(_HOST, port)
    address = f"{running.url_of(bound, _HOST)}?{urlencode({'token': token})}"
    if path is not None:
        address += f"#{urlencode({'file': service.root.single or '', 'path': path})}"
    return Site(application, bound, address, presence)


def _service_of(data: Any, token: str, name: str | None) -> tuple[Any, str | None]:
    """Return what serves the data to whoever has the token, and the path that is shown first."""
    users = Users.single(token)
    if isinstance(data, str | os.PathLike):
        return Service(Root(os.fspath(data)), users), None
    if isinstance(data, Mapping) and not isinstance(data, Group | StoreGroup):
        named = cast("Mapping[Any, Any]", data)
        objects = HeldObjects({str(key): _held(named[key]) for key in named}, name or "memory")
        return Service(objects, users, files=objects), None
    top, path = (data.file, data.name) if isinstance(data, Group) else (_held(data), None)
    objects = HeldObjects({name or _name_of(data): top}, name or "memory")
    return Service(objects, users, files=objects), path


def _held(data: Any) -> Any:
    """Return the object that is served."""
    if isinstance(data, Array | Expr | Table | Group | StoreGroup):
        return data
    if isinstance(data, np.ndarray | np.generic | list | tuple) or hasattr(data, "__array__"):
        return asarray(np.asarray(cast("Any", data)))
    raise TypeError(
        f"a {type(data).__name__} cannot be shown; it takes paths, arrays, expressions and tables"
    )


def _name_of(data: Any) -> str:
    """Return a name for an object: that of its file where it has one, else its kind."""
    name = getattr(data, "name", None)
    if isinstance(name, str) and name.strip("/"):
        return name.strip("/").replace("/", ".")
    if isinstance(data, Expr):
        return "expression"
    return "table" if isinstance(data, Table) else "array"


class _Server(threading.Thread):
    """The thread that serves a site. over: set to end it. started: once requests are answered."""

    def __init__(self, site: Site, *, is_daemon: bool) -> None:
        super().__init__(name="coquina-view", daemon=is_daemon)
        self.over, self.started = threading.Event(), threading.Event()
        self._site = site
        self._begun = time.monotonic()

    def run(self) -> None:
        """Serve until it is over."""
        try:
            self._site.run(on_start=self.started.set, is_over=self._is_over)
        finally:
            self.started.set()

    def _is_over(self) -> bool:
        presence = self._site.presence
        if self.over.is_set() or presence.is_over:
            return True
        is_ending = not threading.main_thread().is_alive()
        return is_ending and not presence.was_seen and time.monotonic() - self._begun > _NO_PAGE_SECONDS


@dataclass(eq=False)
class Viewer:
    """A page that shows data, and the server behind it. In a notebook it is shown as a frame.

    url: of the page, with its token. height: of the frame in a notebook, in pixels.
    """

    url: str
    _server: _Server = field(repr=False)
    height: int = 520

    def close(self) -> None:
        """End the server; the page stays, and shows nothing new."""
        self._server.over.set()
        self.wait()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the server has ended, as it does after its last page. Return whether it has."""
        self._server.join(seconds)
        return not self._server.is_alive()

    def __enter__(self) -> Viewer:
        """Return the viewer itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the server."""
        self.close()

    def _repr_html_(self) -> str:
        """Return a frame with the page."""
        source = html.escape(self.url, quote=True)
        return (
            f'<iframe src="{source}" title="coquina" width="100%" height="{self.height}" '
            'style="border: 1px solid #8884; border-radius: 6px"></iframe>'
        )


def view(data: Any, *, browser: bool | None = None, port: int = 0, name: str | None = None) -> Viewer:
    """Show data in a browser: files, folders, arrays, expressions, tables and open files.

    data: a path, or one of these objects; also NumPy arrays and what `numpy.asarray` takes, and a mapping of
        names to objects. Expressions are computed where they are looked at.
    browser: whether to open one; by default outside of notebooks.
    port: 0 for a free one.
    name: the title of an object.

    The server is a thread of this process. It listens on this machine only and answers only to the random
    token in `Viewer.url`. In a notebook the result is shown as a frame. In a script a browser opens, and the
    end of the script waits until its last page is closed, or for Ctrl-C; interactive sessions do not wait.
    Outside of notebooks a line of standard error tells the address and how to end it.

    Memory: that of the parts that are looked at. Raises ImportError, which says what to install, if the
    packages of the viewer are missing, FileNotFoundError for a path without a file, and TypeError for what
    cannot be shown.

    >>> import coquina as cq
    >>> import numpy as np
    >>> with cq.view(np.eye(3), browser=False) as viewer:  # doctest: +SKIP
    ...     viewer.url.startswith("http://127.0.0.1:")
    True
    """
    site = site_of(data, port=port, name=name)
    is_interactive = _in_notebook() or hasattr(sys, "ps1") or bool(sys.flags.interactive)
    server = _Server(site, is_daemon=is_interactive or browser is False)
    server.start()
    server.started.wait(_START_SECONDS)
    if browser if browser is not None else not _in_notebook():
        webbrowser.open(site.url)
    if not _in_notebook():
        ends = "viewer.close()" if is_interactive else "Ctrl-C"
        print(f"shown at {site.url} until its last page is closed; {ends} ends it too", file=sys.stderr)
    return Viewer(site.url, server)


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this, which shows results itself."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and hasattr(found, "kernel")
