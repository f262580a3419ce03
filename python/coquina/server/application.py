"""The application of ASGI: routes, who asks, and answers; blocking work goes to a few threads.

In: requests of HTTP. Out: answers, errors as JSON.
Invariant: the event loop never waits for a file or for the engine.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import tempfile
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from coquina._core import num_threads
from coquina.server import array_requests, h5grove, raw_files, table_requests, writing
from coquina.server.failures import RequestError, failure_of, not_found
from coquina.server.gate import Gate
from coquina.server.json_values import json_bytes
from coquina.server.objects import find
from coquina.server.page import RUNNING, Page
from coquina.server.page import folder as page_folder
from coquina.server.parameters import Parameters
from coquina.server.receiving import receive
from coquina.server.sending import send_bytes, send_file

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from coquina.server.encodings import Encoded
    from coquina.server.gate import Answer
    from coquina.server.presence import Presence
    from coquina.server.service import Service
    from coquina.server.users import User

#: What is asked of one object of a file, by its route.
OBJECTS: dict[str, Callable[..., Encoded]] = {
    "tree": array_requests.tree,
    "info": array_requests.info,
    "slice": array_requests.slice_of,
    "histogram": array_requests.histogram_of,
    "storage": array_requests.storage_of,
    "schema": table_requests.schema,
    "rows": table_requests.rows,
    "column": table_requests.column,
    "points": table_requests.points,
    "meta": h5grove.meta,
    "attr": h5grove.attr,
    "data": h5grove.data,
    "stats": h5grove.stats,
    "paths": h5grove.paths,
}
#: What is asked of a file.
FILES: dict[str, Callable[..., Encoded]] = {"expr": array_requests.expression_of}
#: What is asked of the server itself.
OTHERS: dict[str, Callable[..., Encoded]] = {"version": array_requests.version, "files": array_requests.files}
_COOKIE = "coquina-token"
_IDLE_CHECK_SECONDS = 2.0
_SECURITY = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_LOG = logging.getLogger("coquina.server")


class Application:
    """A server's answers, without its sockets. app: for ASGI.

    origins: of pages elsewhere that may read answers, none by default. hosts: by which clients may call the
    server, None for any. presence: of pages, for a server that ends with the last of them.
    """

    def __init__(
        self,
        service: Service,
        *,
        origins: tuple[str, ...] = (),
        hosts: frozenset[str] | None = None,
        presence: Presence | None = None,
    ) -> None:
        """Make the routes; nothing is opened yet."""
        self.service = service
        self.gate = Gate(service.limits)
        self._origins = origins
        self._hosts = hosts
        self._presence = presence
        self._page = Page(page_folder())
        self._threads: CapacityLimiter | None = None
        routes = [
            Route("/", self._answered(self._index)),
            Route("/raw/{file:path}", self._answered(self._raw)),
        ]
        routes.append(Route("/assets/{name:path}", self._answered(self._asset)))
        append = self._answered(self._append, "POST")
        routes += [Route("/append/", append), Route("/append", append)]
        routes.append(Route("/upload/{file:path}", self._answered(self._upload, "PUT")))
        for name in (*OBJECTS, *FILES, *OTHERS):
            endpoint = self._answered(self._asked)
            routes += [Route(f"/{name}/", endpoint), Route(f"/{name}", endpoint)]
        # Pages do not know whether their server ends with them.
        heard = self._answered(self._heard, "POST")
        routes += [Route(f"/{name}/", heard) for name in ("alive", "closed")]
        self.app = Starlette(routes=routes, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None]:
        del app
        task = asyncio.create_task(self._close_idle())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            self.service.files.close_idle(forever=True)

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(_IDLE_CHECK_SECONDS)
            await to_thread.run_sync(self.service.files.close_idle)

    async def in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return what blocking work gives; so many run at the same time, others wait."""
        if self._threads is None:
            self._threads = CapacityLimiter(self.service.limits.threads or max(4, num_threads() + 2))
        return await to_thread.run_sync(work, *arguments, limiter=self._threads)

    def _answered(self, handler: Callable[[Request, Any], Any], *methods: str) -> Any:
        """Return an application of ASGI for a handler, whose errors are answers too."""
        methods = methods or ("GET", "HEAD")

        async def endpoint(scope: Any, receive: Any, send: Any) -> None:
            request = Request(scope, receive)
            try:
                self._check_host(request)
                if request.method == "OPTIONS":
                    await send_bytes(send, 204, self._headers(request, {}), b"")
                    return
                if request.method not in methods:
                    raise RequestError(405, "method", f"takes {methods[0]}")
                with self.gate.working(request.client.host if request.client else "local"):
                    await handler(request, send)
            except asyncio.CancelledError:
                raise
            except TimeoutError:
                raise
            except Exception as error:
                failure = failure_of(error, self.service.root.path)
                if failure.kind == "internal":
                    _LOG.exception("%s %s", request.method, request.url.path)
                await send_bytes(
                    send, failure.status, self._headers(request, _errors(failure)), _body(failure)
                )

        return _Endpoint(endpoint)

    def _check_host(self, request: Request) -> None:
        if self._hosts is not None and (request.url.hostname or "") not in self._hosts:
            raise RequestError(403, "host", "the server is not called so")

    def user(self, request: Request) -> User:
        """Return who asks, and count the request. Raises RequestError: 401, 429."""
        users = self.service.users
        header = request.headers.get("authorization", "")
        token = header[7:].strip() if header[:7].lower() == "bearer " else None
        token = token or request.query_params.get("token") or request.cookies.get(_COOKIE)
        named = request.headers.get(users.header) if users.header else None
        client = request.client.host if request.client else "local"
        try:
            user = users.user(token, named)
        except RequestError:
            self.gate.admit(client)
            raise
        self.gate.admit(user.name or client)
        return user

    def _headers(self, request: Request, headers: dict[str, str]) -> dict[str, str]:
        """Return the headers of an answer: what pages elsewhere may do, and a cookie for our own page."""
        made = {**_SECURITY, **headers}
        origin = request.headers.get("origin")
        if self._origins:
            made["Vary"] = "Origin"
        if origin is not None and (origin in self._origins or "*" in self._origins):
            made["Access-Control-Allow-Origin"] = origin
            made["Access-Control-Allow-Headers"] = "Authorization, Content-Type, Range, If-None-Match"
            made["Access-Control-Allow-Methods"] = "GET, HEAD, POST, PUT, OPTIONS"
            made["Access-Control-Expose-Headers"] = (
                "X-Shape, X-Dtype, X-Step, X-Count, X-Total, X-State, ETag, Content-Range, Accept-Ranges"
            )
        token = request.query_params.get("token")
        if token is not None and "Set-Cookie" not in made and not self.service.users.is_open:
            with suppress(RequestError):
                self.service.users.user(token, None)
                secure = "; Secure" if request.url.scheme == "https" else ""
                made["Set-Cookie"] = f"{_COOKIE}={_quoted(token)}; HttpOnly; SameSite=Strict; Path=/{secure}"
        return made

    async def _asked(self, request: Request, send: Any) -> None:
        """Answer what is asked of an object, or of the server."""
        user = self.user(request)
        name = request.url.path.strip("/")
        parameters = Parameters(request.query_params.multi_items())
        asked = Asked(name, user, parameters, request.headers.get("if-none-match"))
        with self.gate.holding() as held:
            made, known = await self.in_thread(self._made, asked, held)
            headers = {"Cache-Control": "private, no-cache", **known}
            if made is None:
                await send_bytes(send, 304, self._headers(request, headers), b"")
            else:
                await self._send(request, send, made, headers)

    def _made(self, asked: Asked, held: Answer) -> tuple[Encoded | None, dict[str, str]]:
        """Return an answer, whose bytes are counted as soon as they exist."""
        held.check()
        if asked.route in OTHERS:
            made, known = OTHERS[asked.route](self.service, asked.user, asked.parameters), {}
        else:
            made, known = self._object(asked)
        if made is not None:
            held.count(len(made.content))
        return made, known

    def _object(self, asked: Asked) -> tuple[Encoded | None, dict[str, str]]:
        """Return the answer about an object and headers of its state; no answer where the client has it."""
        name, parameters = asked.route, asked.parameters
        with self.service.opened(asked.user, parameters) as file:
            tag = f'"{_hash(f"{name} {file.tag} {sorted(parameters.pairs)}")}"'
            headers = {"ETag": tag, "X-State": _hash(file.tag)}
            if asked.known is not None and file.is_settled and raw_files.is_matched(asked.known, tag):
                return None, headers
            if name in FILES:
                return FILES[name](self.service, file, parameters), headers
            return OBJECTS[name](self.service, find(file, parameters.text("path")), parameters), headers

    async def _send(self, request: Request, send: Any, made: Encoded, headers: dict[str, str]) -> None:
        headers = {**headers, **made.headers, "Content-Type": made.media_type}
        if made.filename is not None:
            headers["Content-Disposition"] = f'attachment; filename="{made.filename}"'
        if request.method == "HEAD":
            headers["Content-Length"] = str(len(made.content))
            await send_bytes(send, 200, self._headers(request, headers), b"")
            return
        await send_bytes(send, 200, self._headers(request, headers), made.content)

    async def _raw(self, request: Request, send: Any) -> None:
        """Answer with bytes of a file."""
        user = self.user(request)
        name = request.path_params["file"]

        def answer() -> raw_files.RawAnswer:
            place = self.service.readable(user, name)
            return raw_files.answer(place, request.headers, is_head=request.method == "HEAD")

        made = await self.in_thread(answer)
        await send_file(send, raw_files.with_headers(made, self._headers(request, made.headers)))

    async def _append(self, request: Request, send: Any) -> None:
        """Append a body to a table or an array."""
        user = self.writer(request)
        parameters = Parameters(request.query_params.multi_items())
        asked = writing.Target(parameters.text("file") or "", parameters.text("path"))
        await self.in_thread(writing.check, self.service, user, asked)
        with tempfile.TemporaryFile() as body:
            await receive(request, body, self.service.limits.upload_bytes)
            made = await self.in_thread(writing.append, self.service, user, asked, body)
        await self._send(request, send, array_requests.as_json(made), {"Cache-Control": "no-store"})

    async def _upload(self, request: Request, send: Any) -> None:
        """Take a file."""
        user = self.writer(request)
        overwrite = Parameters(request.query_params.multi_items()).flag("overwrite")
        name = request.path_params["file"]
        place = await self.in_thread(writing.upload_target, self.service, user, name, overwrite)
        path = writing.temporary(place)
        try:
            with open(path, "xb") as body:
                await receive(request, body, self.service.limits.upload_bytes)
            made = await self.in_thread(writing.finish_upload, self.service, place, path, overwrite)
        finally:
            with suppress(OSError):
                os.unlink(path)
        await self._send(request, send, array_requests.as_json(made), {"Cache-Control": "no-store"})

    def writer(self, request: Request) -> User:
        """Return who asks to write. Raises RequestError, 403, for who may not, and for pages elsewhere."""
        user = self.user(request)
        origin = request.headers.get("origin")
        own = f"{request.url.scheme}://{request.url.netloc}"
        if origin is not None and origin != own and origin not in self._origins:
            raise RequestError(403, "origin", "pages elsewhere may not write")
        if not user.writes:
            raise RequestError(403, "forbidden", "nothing may be written by you")
        return user

    async def _heard(self, request: Request, send: Any) -> None:
        """Note that a page is open, or was closed."""
        self.user(request)
        page = request.query_params.get("page", "")[:80]
        if self._presence is not None:
            (self._presence.alive if "alive" in request.url.path else self._presence.closed)(page)
        await send_bytes(send, 204, self._headers(request, {}), b"")

    async def _index(self, request: Request, send: Any) -> None:
        """Answer with the page, and programs that take no pages that the server runs, as h5grove does."""
        self.user(request)
        if "text/html" not in request.headers.get("accept", ""):
            await self._send(request, send, RUNNING, {"Cache-Control": "no-store"})
            return
        made = await self.in_thread(self._page.file, "index.html")
        await self._send(request, send, made, {"Cache-Control": "no-cache"})

    async def _asset(self, request: Request, send: Any) -> None:
        """Answer with a file of the page, which is no secret: scripts are asked for without a token."""
        name = request.path_params["name"]
        if ".." in name.split("/"):
            raise not_found(f"{name!r}: there is no such file")
        made = await self.in_thread(self._page.file, f"assets/{name}")
        await self._send(request, send, made, {"Cache-Control": "max-age=3600"})


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of an object. known: ETags of what the client has."""

    route: str
    user: User
    parameters: Parameters
    known: str | None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class _Endpoint:
    """An application of ASGI; starlette takes functions for something else."""

    def __init__(self, endpoint: Any) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._endpoint(scope, receive, send)


def _errors(failure: RequestError) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    if failure.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if failure.status in (429, 503):
        headers["Retry-After"] = "1"
    return headers


def _body(failure: RequestError) -> bytes:
    return json_bytes(failure.to_dict())


def _quoted(token: str) -> str:
    """Return a token as cookies may have it; others are not kept."""
    return token if token.replace("-", "").replace("_", "").isalnum() and token.isascii() else ""
