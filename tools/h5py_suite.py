"""Runs the tests that h5py installs with `coquina.hdf5.File` in place of `h5py.File`.

    python tools/h5py_suite.py [-v] [arguments of pytest]

Says how many pass, and the first line of what each other one meets; docs/internals/hdf5.md says why these do.
Ours stands where tests look for `h5py.File`, `Group` and `Dataset`; below, coquina goes on using h5py's own.
"""

from __future__ import annotations

import collections
import functools
import os
import sys
import tempfile
import types
from contextlib import AbstractContextManager

import pytest


def replace_h5py() -> None:
    """Have `h5py.File`, `Group` and `Dataset` be ours for whoever imports h5py from now on."""
    import h5py

    # What our own modules know as h5py stays what it is.
    own = types.ModuleType("h5py")
    own.__dict__.update(h5py.__dict__)
    sys.modules["h5py"] = own
    from coquina import hdf5

    sys.modules["h5py"] = h5py
    h5py.File, h5py.Group, h5py.Dataset = hdf5.File, hdf5.Group, hdf5.Dataset
    from h5py.tests import common

    # What reads fast inside of h5py is none of its users' business.
    alike = common.TestCase.assertNumpyBehavior
    common.TestCase.assertNumpyBehavior = functools.partialmethod(alike, skip_fast_reader=True)


def allowing_external() -> AbstractContextManager[None]:
    """Have files follow links to files elsewhere, as h5py does and we do when we are told."""
    from coquina.following import allowing

    return allowing(True)


class Results:
    """What tests have passed, and what the others met."""

    def __init__(self) -> None:
        """Begin with none."""
        self.passed: set[str] = set()
        self.failed: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the result of a test."""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.failed[report.nodeid] = str(crash.message if crash else report.longrepr).partition("\n")[0]
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)


def main(arguments: list[str]) -> None:
    """Run the suite, and tell."""
    is_verbose = "-v" in arguments
    replace_h5py()
    results = Results()
    # Our settings of pytest are not those of h5py's tests, which have marks of their own.
    quiet = ["-q", "-c", "/dev/null", "--no-header", "--tb=no", "--pyargs"]
    quiet += ["-p", "no:cacheprovider", "-p", "no:warnings"]
    wanted = [one for one in arguments if one != "-v"] or ["h5py.tests"]
    # Tests that run pytest in a process of its own must not find our settings either, and trust their files.
    os.chdir(tempfile.mkdtemp())
    os.environ["PYTEST_ADDOPTS"] = "-c /dev/null"
    with allowing_external():
        pytest.main([*quiet, *wanted], plugins=[results])
    passed = results.passed - results.failed.keys()
    print(f"{len(passed)} passed, {len(results.failed)} failed")
    kinds = collections.Counter(results.failed.values())
    for what, count in kinds.most_common(None if is_verbose else 40):
        print(f"{count:5d}  {what}")
    if is_verbose:
        for name, what in sorted(results.failed.items()):
            print(f"{name}: {what}")


if __name__ == "__main__":
    main(sys.argv[1:])
