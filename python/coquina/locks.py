"""A lock that is never waited for with h5py's lock held.

In: nothing. Out: `NodeLock`, a reentrant lock for `with`; `leave_h5py` and `enter_h5py`, for other locks.
Threads take it before h5py's lock, which each call of libhdf5 needs. But a loop over `values()` or `items()`
of h5py keeps h5py's lock from one turn to the next. If a turn waited for a `NodeLock` with it, it could wait
for a thread that waits for h5py's lock: so it gives h5py's lock back while it waits. A visitor of
`visititems` cannot, because libhdf5 is in the middle of a call: it waits for some seconds, and raises an
error.
"""

from __future__ import annotations

import sys
from _thread import RLock
from inspect import currentframe

import numpy as np

# NumPy imports masked arrays when they are first used. A thread that has h5py's lock would wait for the one
# that imports them, which waits for h5py's lock if the collector frees an object of h5py meanwhile.
_IMPORTED = np.ma

#: How long a visitor of h5py waits, in seconds.
VISITOR_WAIT_S = 10.0


class NodeLock(RLock):  # pyright: ignore[reportGeneralTypeIssues]
    """A reentrant lock of tables, their indexes, and files.

    `with` raises RuntimeError if a visitor of h5py has waited for `VISITOR_WAIT_S`.
    """

    __slots__ = ()

    def __enter__(self) -> bool:
        """Take the lock, and wait for it if another thread has it."""
        return self.acquire(False) or self._wait()

    def _wait(self) -> bool:
        times, limit = leave_h5py()
        is_free = limit is None
        try:
            is_free = self.acquire(timeout=-1 if limit is None else limit)
        finally:
            enter_h5py(times, is_free)
        return is_free


def leave_h5py() -> tuple[int, float | None]:
    """Release h5py's lock before this thread waits for another one.

    Returns how often this thread had it, and None; in a visitor 0, and for how many seconds to wait.
    """
    # Whoever has h5py's lock has imported it.
    h5py = sys.modules.get("h5py._objects")
    times = 0
    if h5py is not None and h5py.phil._is_owned():
        if _is_in_visitor():
            return 0, VISITOR_WAIT_S
        while h5py.phil._is_owned():
            h5py.phil.release()
            times += 1
    return times, None


def enter_h5py(times: int, is_free: bool) -> None:
    """Take h5py's lock again, after the wait. Raises RuntimeError if what was waited for is not free."""
    for _ in range(times):
        sys.modules["h5py._objects"].phil.acquire()
    if not is_free:
        raise RuntimeError(
            "a visitor of h5py, which holds h5py's lock, waits for a thread that needs it to change a file; "
            "collect the names in the visitor, and use what they name afterwards"
        )


def _is_in_visitor() -> bool:
    """Whether this thread is in a function that h5py calls while libhdf5 walks through groups."""
    frame = currentframe()
    while frame is not None:
        code = frame.f_code
        if code.co_name.startswith("visit") and frame.f_globals.get("__name__", "").startswith("h5py."):
            return True
        frame = frame.f_back
    return False
