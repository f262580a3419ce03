"""A client of an application of ASGI, without sockets: one event loop in a thread, and one call a request."""

import asyncio
import json
import threading
from dataclasses import dataclass
from urllib.parse import quote, urlencode

import numpy as np

SECONDS = 60


@dataclass
class Response:
    """An answer. headers: with names in small letters."""

    status: int
    headers: dict
    content: bytes

    def json(self):
        return json.loads(self.content)

    def array(self):
        """The values of an answer in binary, by its own headers."""
        shape = tuple(int(one) for one in self.headers["x-shape"].split(",") if one)
        return np.frombuffer(self.content, np.dtype(self.headers["x-dtype"])).reshape(shape)


class Client:
    """Asks an application; used in a `with` block."""

    def __init__(self, app, headers=None):
        self.app, self.headers = app, headers or {}

    def __enter__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._words, started = asyncio.Queue(), asyncio.Queue()

        async def lifespan():
            await self.app(
                {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, self._words.get, started.put
            )

        self._lifespan = asyncio.run_coroutine_threadsafe(lifespan(), self._loop)
        self._words.put_nowait({"type": "lifespan.startup"})
        found = asyncio.run_coroutine_threadsafe(started.get(), self._loop).result(SECONDS)
        assert found["type"] == "lifespan.startup.complete", found
        return self

    def __exit__(self, *exception):
        self._loop.call_soon_threadsafe(self._words.put_nowait, {"type": "lifespan.shutdown"})
        self._lifespan.result(SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        self._loop.close()

    def get(self, path, headers=None, /, **parameters):
        return self.ask("GET", path, headers, parameters=parameters)

    def ask(self, method, path, headers=None, *, body=b"", parameters=None, query=None):
        """Return the answer to a request. query: text as it is, in place of parameters."""
        return self.later(method, path, headers, body=body, parameters=parameters, query=query).result(
            SECONDS
        )

    def later(self, method, path, headers=None, *, body=b"", parameters=None, query=None):
        """Return a future of the answer."""
        query = urlencode(parameters or {}, doseq=True) if query is None else query
        given = {"host": "localhost", **self.headers, **(headers or {})}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": quote(path).encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
            "state": {},
        }
        return asyncio.run_coroutine_threadsafe(self._answer(scope, body), self._loop)

    async def _answer(self, scope, body):
        pieces = [body[at : at + (1 << 16)] for at in range(0, len(body), 1 << 16)] or [b""]
        status, headers, content = None, {}, []

        async def receive():
            piece = pieces.pop(0) if pieces else None
            if piece is None:
                await asyncio.sleep(SECONDS)
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

        async def send(message):
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers.update((name.decode(), value.decode()) for name, value in message["headers"])
            else:
                content.append(message.get("body", b""))

        await self.app(scope, receive, send)
        return Response(status, headers, b"".join(content))
