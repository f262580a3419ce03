"""Servers on sockets, in a thread of the test's own process."""

import contextlib
import threading

from coquina.server import running

WAIT_SECONDS = 60


@contextlib.contextmanager
def listening(application):
    """Run an application; gives its URL."""
    is_over, started = threading.Event(), threading.Event()
    with running.bound("127.0.0.1", 0) as bound:
        url = running.url_of(bound, "127.0.0.1")
        serving = threading.Thread(
            target=running.run,
            args=(application, bound),
            kwargs={"on_start": started.set, "is_over": is_over.is_set},
        )
        serving.start()
        try:
            assert started.wait(WAIT_SECONDS)
            yield url
        finally:
            is_over.set()
            serving.join(WAIT_SECONDS)
    assert not serving.is_alive()
