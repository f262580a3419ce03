"""Holds our server against h5grove: its own tests of the API, and its answers about files.

    python tools/h5grove_suite.py tests FOLDER   the folder src/tests of h5grove's repository
    python tools/h5grove_suite.py files FILE...  files of HDF5, such as those that h5web's scripts make

The first runs h5grove's tests on `coquina serve`, and tells which of them fail: for root, who may read
everything, `test_403_on_file_without_read_permission`. The second asks both servers for `meta`, `attr`,
`stats`, `paths` and `data` of every object, the last as h5web asks for it too, and tells where the answers
differ.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

# The tests write to a file just after it was asked for, which a server that keeps files open does not let
# HDF5's own writers do for some seconds.
os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"

ROUTES = ("meta", "attr", "data", "stats", "paths")
#: How values are asked for: as JSON, and as h5web does it by their type.
FORMATS = (
    {},
    {"flatten": "true"},
    {"format": "bin"},
    {"format": "bin", "dtype": "safe"},
    {"format": "npy"},
    {"format": "csv"},
)
#: h5grove's application for tornado, with the slash that our routes end with.
THEIRS = """
import logging, sys, hdf5plugin, tornado.httpserver, tornado.ioloop, tornado.netutil, tornado.web
from h5grove.tornado_utils import get_handlers
logging.disable()
sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
routes = [(path.rstrip("/") + "/", handler, given) for path, handler, given in get_handlers(sys.argv[1])]
server = tornado.httpserver.HTTPServer(tornado.web.Application(routes))
server.add_sockets(sockets)
print(f"http://127.0.0.1:{sockets[0].getsockname()[1]}/", flush=True)
tornado.ioloop.IOLoop.current().start()
"""


@contextlib.contextmanager
def running(*command: str) -> Iterator[str]:
    """A server in a process of its own; gives the address that it prints."""
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        try:
            yield "http://" + line.split("http://")[1].split()[0]
        finally:
            server.kill()


def ours(folder: str) -> contextlib.AbstractContextManager[str]:
    """Our server of a folder."""
    return running("-m", "coquina.cli", "serve", folder, "--port", "0", "--limit-rate", "0")


def run_tests(folder: pathlib.Path) -> int:
    """Run h5grove's tests on our server, and return pytest's exit code."""
    sys.path.insert(0, str(folder.resolve()))
    import base_test  # pyright: ignore[reportMissingImports]
    from conftest import SubprocessServer  # pyright: ignore[reportMissingImports]

    with tempfile.TemporaryDirectory() as name:
        served = pathlib.Path(name, "served")
        served.mkdir()
        with ours(str(served)) as url:

            class TestCoquina(base_test.BaseTestEndpoints):
                """h5grove's tests of its endpoints."""

                @pytest.fixture
                def server(self) -> Any:
                    return SubprocessServer(served, url.rstrip("/"))

            class Module:
                """Gives the tests to pytest, which finds them in files only."""

                def pytest_pycollect_makemodule(self, module_path: pathlib.Path, parent: Any) -> Any:
                    made = pytest.Module.from_parent(parent, path=module_path)
                    made.obj.TestCoquina = TestCoquina
                    return made

            file = pathlib.Path(name, "test_coquina.py")
            file.write_text("")
            settings = ["-q", "-c", "/dev/null", "--no-header", "--tb=line", "-p", "no:cacheprovider"]
            return int(pytest.main([*settings, str(file)], plugins=[Module()]))


def get(base: str, route: str, **parameters: str) -> tuple[int, bytes]:
    """Status and body of an answer."""
    try:
        with urllib.request.urlopen(f"{base}{route}/?{urllib.parse.urlencode(parameters)}") as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def paths_of(path: pathlib.Path) -> list[str]:
    """All paths of a file."""
    import h5py

    found = ["/"]
    with h5py.File(path) as file:
        file.visit(lambda name: found.append(f"/{name}"))
    return found


def is_same(found: Any, wanted: Any) -> bool:
    """Whether two values of JSON are equal, numbers but for their last digits."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(is_same(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(is_same, found, wanted))
    if isinstance(wanted, float) and isinstance(found, float | int):
        return abs(found - wanted) <= 1e-6 * max(1.0, abs(wanted))
    return found == wanted


def read(content: bytes, more: dict[str, str]) -> Any:
    """What an answer says: JSON is read, other formats are compared byte by byte."""
    return content if "format" in more else json.loads(content)


def compare(path: pathlib.Path) -> int:
    """Ask both about a file, tell what differs, and return how often."""
    same = different = without = 0
    folder = str(path.resolve().parent)
    with running("-W", "ignore", "-c", THEIRS, folder) as theirs, ours(folder) as url:
        for place in paths_of(path):
            for route, more in (
                (one, more) for one in ROUTES for more in FORMATS[: 6 if one == "data" else 1]
            ):
                wanted = get(theirs, route, file=path.name, path=place, **more)
                found = get(url, route, file=path.name, path=place, **more)
                if wanted[0] != 200:
                    # Errors of h5grove's own, where we may have an answer.
                    without += 1
                elif found[0] == 200 and is_same(*(read(one, more) for one in (found[1], wanted[1]))):
                    same += 1
                else:
                    different += 1
                    print(f"{place} {route} {more or ''}: {found[1][:150]!r}, h5grove {wanted[1][:150]!r}")
    print(f"{path.name}: {same} equal answers, {different} others; h5grove has no answer to {without}")
    return different


def main(arguments: list[str]) -> int:
    """Run what is asked for."""
    if len(arguments) < 2 or arguments[0] not in ("tests", "files"):
        print(__doc__)
        return 2
    if arguments[0] == "tests":
        return run_tests(pathlib.Path(arguments[1]))
    return sum(compare(pathlib.Path(one)) for one in arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
