"""What all tests share.

h5py uses the filters of hdf5plugin, in whichever order modules are imported: coquina registers its own where
there are none, and they would be their own judge.

Random tests draw the same cases on every run; `make test-long` draws others, and prints its seed. A test that
takes longer than its limit fails with its traceback and its seed. A loop in C, which no signal interrupts, is
ended by `faulthandler_timeout` of pytest, which prints where every thread was.
"""

from __future__ import annotations

import signal
from unittest import mock

import hdf5plugin
import pytest
from hypothesis import settings

from coquina.arrays import results

hdf5plugin.register()

settings.register_profile("repeated", derandomize=True, database=None, deadline=None)
# Said, as Hypothesis takes the same cases by itself where it sees a build machine.
settings.register_profile("fresh", derandomize=False, database=None, deadline=None, print_blob=True)
settings.load_profile("repeated")

#: Seconds. Less than `faulthandler_timeout` in pyproject.toml and the Makefile, which end the whole run.
LIMIT = 240
LIMIT_OF_LONG = 3600


class TookTooLong(BaseException):
    """A test took longer than its limit. No `Exception`: Hypothesis would run the same case again."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fail a test that takes too long, with the seeds of the case that it is at."""
    if not hasattr(signal, "SIGALRM"):
        return (yield)
    limit = LIMIT_OF_LONG if item.get_closest_marker("long") else LIMIT

    def stop(_number, frame):
        while frame is not None and "seed" not in frame.f_locals:
            frame = frame.f_back
        seed = "without a seed" if frame is None else f"seed {frame.f_locals['seed']!r}"
        raise TookTooLong(f"{item.nodeid}: no end after {limit} s, {seed}")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=["eager", "lazy"], scope="module")
def laziness(request):
    """Run the tests twice: small operands are computed at once, and then nothing is."""
    with mock.patch.object(results, "EAGER_BYTES", -1 if request.param == "lazy" else results.EAGER_BYTES):
        yield request.param
