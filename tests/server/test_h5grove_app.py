"""Our server beside h5grove's own application, which runs in a process of its own: equal answers."""

import itertools
import json
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

import h5py
import numpy as np
import pytest

from coquina.server.json_values import json_bytes
from tests.view.samples import make_hdf5, make_netcdf, make_pytables

from .conftest import served
from .servers import listening

pytest.importorskip("tornado", reason="h5grove's application here is that for tornado")

APPLICATION = """
import logging, sys, hdf5plugin, tornado.httpserver, tornado.ioloop, tornado.netutil, tornado.web
from h5grove.tornado_utils import get_handlers
logging.disable()
sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
routes = [(path.rstrip("/") + "/", handler, given) for path, handler, given in get_handlers(sys.argv[1])]
server = tornado.httpserver.HTTPServer(tornado.web.Application(routes))
server.add_sockets(sockets)
print(sockets[0].getsockname()[1], flush=True)
tornado.ioloop.IOLoop.current().start()
"""
FILES = ("run.h5", "climate.nc", "pytables.h5", "tricky.h5")


def make_tricky(path):
    """Write what clients stumble over: links, empty things, text, references, names with blanks."""
    with h5py.File(path, "w") as file:
        file["a b/ü"] = np.arange(6, dtype=">i2").reshape(2, 3)
        file["empty"] = h5py.Empty("f4")
        file["none"] = np.zeros((0, 3))
        file["text"] = ["x", "äöü", ""]
        file["soft"] = h5py.SoftLink("/a b/ü")
        file["dangling"] = h5py.SoftLink("/nowhere")
        file["hard"] = file["text"]
        file["bool"] = np.array([True, False])
        file["nan"] = np.array([np.nan, np.inf, -np.inf, 1])
        file["complex"] = np.array([[1 + 2j, -3j], [0, 2.5 - 1j]])
        file["largest"] = np.clongdouble(1j) * np.finfo(np.longdouble).max
        file["opaque"] = np.array([np.void(b"ab"), np.void(b"\0c")])
        file["compound"] = np.array([(1, 2.5), (3, np.nan)], [("n", "i4"), ("v", "f8")])
        file.attrs["list"] = [1, 2, 3]
        file.attrs["text"] = "words"
        file.attrs["empty"] = h5py.Empty("i4")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("h5grove")
    make_hdf5(folder / "run.h5")
    make_netcdf(folder / "climate.nc")
    make_pytables(folder / "pytables.h5")
    make_tricky(folder / "tricky.h5")
    return folder


@pytest.fixture(scope="module")
def servers(world):
    """Addresses: ours, and that of h5grove."""
    command = [sys.executable, "-W", "ignore", "-c", APPLICATION, str(world)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as theirs:
        port = int(theirs.stdout.readline())
        with listening(served(world)) as url:
            yield url, f"http://127.0.0.1:{port}/"
        theirs.kill()


def get(base, route, **parameters):
    """Status, type and body of an answer."""
    url = f"{base}{route}/?{urllib.parse.urlencode(parameters)}"
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, answer.headers.get_content_type(), answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, "", error.read()


def is_plain(dataset):
    """Whether a dataset has numbers, and some axes."""
    return (
        isinstance(dataset, h5py.Dataset) and dataset.shape not in (None, ()) and dataset.dtype.kind in "iufb"
    )


def paths_of(path):
    """All paths of a file, and which are numbers."""
    found = {"/": False}
    with h5py.File(path) as file:
        file.visititems(lambda name, node: found.update({f"/{name}": is_plain(node)}))
    return {path: is_numbers for path, is_numbers in found.items() if not path.startswith("/_i_")}


@pytest.mark.parametrize("name", FILES)
def test_answers_about_every_object_are_those_of_h5groves_application(servers, world, name):
    ours, theirs = servers
    compared = 0
    for path, route in itertools.product(paths_of(world / name), ("meta", "attr", "data", "stats", "paths")):
        wanted = get(theirs, route, file=name, path=path)
        found = get(ours, route, file=name, path=path)
        if wanted[0] != 200:
            continue  # h5grove fails on some dtypes where we have an answer.
        if found[0] == 413:
            assert route == "data"  # As JSON we send no more than some millions of values.
            continue
        assert found[0] == 200, (path, route, found[2][:200])
        there = without_indexes(json.loads(wanted[2]))
        assert near(json.loads(found[2]), there), (path, route, found[2][:200], wanted[2][:200])
        compared += 1
    assert compared > 5


def without_indexes(value):
    """An answer without the groups of PyTables' indexes, which are no objects of their own here."""
    if isinstance(value, dict) and "children" in value:
        kept = [one for one in value["children"] if not one["name"].startswith("_i_")]
        return {**value, "children": list(map(without_indexes, kept))}
    return value


def near(found, wanted):
    """Whether two values of JSON are equal, numbers but for their last digits."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(near(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(near, found, wanted))
    if isinstance(wanted, float) and isinstance(found, float | int):
        return abs(found - wanted) <= 1e-6 * max(1.0, abs(wanted))
    return found == wanted


@pytest.mark.parametrize("kind", ["bin", "npy", "csv", "json"])
@pytest.mark.parametrize("name", FILES)
def test_slices_in_each_format_are_those_of_h5groves_application(servers, world, name, kind):
    ours, theirs = servers
    for path, is_numbers in paths_of(world / name).items():
        if not is_numbers:
            continue
        for selection in ("0", "0:2", "::2"):
            asked = {"file": name, "path": path, "selection": selection, "format": kind}
            wanted, found = get(theirs, "data", **asked), get(ours, "data", **asked)
            if wanted[0] != 200:
                assert found[0] in (200, 400, 404, 422), (path, selection, found)
            elif kind == "json":
                assert near(json.loads(found[2]), json.loads(wanted[2])), (path, selection)
            else:
                assert found == wanted, (path, selection, found[2][:80], wanted[2][:80])


def test_long_numbers_beyond_those_of_json_are_null():
    assert json_bytes(np.array([1, np.finfo(np.longdouble).max])) == b"[1.0,null]"


def test_what_is_not_there_is_an_error_of_both(servers):
    for asked in (
        {"file": "no.h5", "path": "/"},
        {"file": "run.h5", "path": "/no"},
        {"file": "../run.h5", "path": "/"},
    ):
        for route in ("meta", "data", "attr", "stats"):
            statuses = [get(base, route, **asked)[0] for base in servers]
            assert statuses[0] in (400, 404), (asked, route, statuses)
            assert statuses[1] >= 400, (asked, route, statuses)
