"""Which pages are open, for a server that ends with the last of them.

In: words of pages, `/alive/` and `/closed/`, each with the page's own random name. Out: whether all are gone.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: A page that is loaded anew says that it closes before it says that it is there.
GRACE_SECONDS = 3.0
#: Browsers let hidden pages speak once a minute only.
SILENCE_SECONDS = 150.0
_PAGES_MAX = 1000


class Presence:
    """The pages that are open. Used by one event loop only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """clock: seconds. No page was seen yet."""
        self._clock = clock
        self._seen: dict[str, float] = {}
        self._last: float | None = None

    def alive(self, page: str) -> None:
        """Note that a page is open."""
        if len(self._seen) < _PAGES_MAX:
            self._seen[page] = self._last = self._clock()

    def closed(self, page: str) -> None:
        """Note that a page was closed."""
        self._seen.pop(page, None)
        self._last = self._clock()

    @property
    def was_seen(self) -> bool:
        """Whether there was a page."""
        return self._last is not None

    @property
    def is_over(self) -> bool:
        """Whether there were pages, and all are gone for some seconds."""
        now = self._clock()
        for page, seen in list(self._seen.items()):
            if now - seen > SILENCE_SECONDS:
                self.closed(page)
        return self._last is not None and not self._seen and now - self._last > GRACE_SECONDS
