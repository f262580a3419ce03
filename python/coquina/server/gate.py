"""Who is let in: limits on how many requests are at work, and how many one client sends.

In: clients by name. Out: leave to go on, or errors with status 429 and 503.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from coquina.server.failures import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from coquina.server.limits import Limits

_CLIENTS_MAX = 10_000


class Gate:
    """Counts requests. Used by one event loop only, but for what is held."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        """clock: seconds."""
        self._limits = limits
        self._clock = clock
        #: What each client may still send, and as of when.
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self.active = 0
        self.held = 0
        self._lock = Lock()
        self._at_work: Counter[str] = Counter()

    def admit(self, client: str) -> None:
        """Count a request of a client. Raises RequestError with status 429 for one too many."""
        rate = self._limits.rate
        if rate <= 0:
            return
        now = self._clock()
        left, since = self._left.get(client, (float(self._limits.burst), now))
        left = min(float(self._limits.burst), left + (now - since) * rate)
        is_in = left >= 1
        self._left[client] = (left - 1 if is_in else left, now)
        self._left.move_to_end(client)
        while len(self._left) > _CLIENTS_MAX:
            self._left.popitem(last=False)
        if not is_in:
            raise RequestError(429, "rate", f"more than {rate:g} requests a second: wait a little")

    @contextmanager
    def working(self, client: str = "") -> Generator[None]:
        """Count a request that is at work. Raises RequestError with status 503 for one too many.

        One client has half of all at most, so that others are answered too.
        """
        self.check_held()
        if self.active >= self._limits.concurrent:
            raise RequestError(503, "busy", f"{self.active} requests are at work: try again")
        if self._at_work[client] >= max(1, self._limits.concurrent // 2):
            raise RequestError(503, "busy", f"{self._at_work[client]} requests of yours are at work")
        self.active += 1
        self._at_work[client] += 1
        try:
            yield
        finally:
            self.active -= 1
            self._at_work[client] -= 1
            if not self._at_work[client]:
                del self._at_work[client]

    @contextmanager
    def holding(self) -> Generator[Answer]:
        """Count the bytes of an answer from when it is made for as long as it is sent."""
        answer = Answer(self)
        try:
            yield answer
        finally:
            self.count(-answer.nbytes)

    def count(self, nbytes: int) -> None:
        """Count bytes that are held, from any thread."""
        with self._lock:
            self.held += nbytes

    def check_held(self) -> None:
        """Raise RequestError with status 503 where too much is held."""
        if self.held > self._limits.held_bytes:
            raise RequestError(503, "busy", "others have not taken their answers yet: try again")


class Answer:
    """An answer that is made in a thread and sent by the event loop. nbytes: how many were counted."""

    def __init__(self, gate: Gate) -> None:
        """Nothing is counted yet."""
        self._gate = gate
        self.nbytes = 0

    def check(self) -> None:
        """Raise RequestError with status 503: while it waited for a thread, others may have taken it all."""
        self._gate.check_held()

    def count(self, nbytes: int) -> None:
        """Count bytes of the answer."""
        self.nbytes += nbytes
        self._gate.count(nbytes)
