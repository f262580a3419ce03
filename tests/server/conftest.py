"""A folder of files of each kind, and a client of a server of it."""

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.server.application import Application
from coquina.server.limits import Limits
from coquina.server.root import Root
from coquina.server.service import Service

from .asgi_client import Client


def served(path, **options):
    """The application of a server of a folder or a file."""
    service = {"limits": Limits(rate=0)}
    service |= {name: options.pop(name) for name in ("users", "limits") if name in options}
    return Application(Service(Root(str(path)), **service), **options)


@pytest.fixture(scope="session")
def grid():
    return np.arange(60 * 50, dtype="f4").reshape(60, 50)


def table_columns():
    rng = np.random.default_rng(3)
    return {
        "number": np.arange(1000),
        "value": rng.random(1000).round(6),
        "name": [f"n{i % 7}" for i in range(1000)],
        "when": np.datetime64("2020-01-01T00:00:00") + np.arange(1000).astype("m8[m]"),
        "flag": np.arange(1000) % 3 == 0,
    }


@pytest.fixture(scope="session")
def folder(tmp_path_factory, grid):
    """A folder with an array, an HDF5 file, a store, a packed file, a table, and what is not opened."""
    path = tmp_path_factory.mktemp("served")
    with cq.asarray(grid, path=path / "grid.b2nd", chunks=(20, 25), blocks=(10, 25)) as array:
        array.attrs["units"] = "K"
    with cq.hdf5.File(path / "all.h5", "w") as file:
        data = file.create_dataset("group/grid", data=grid, chunks=(20, 25))
        data.attrs["scale_factor"], data.attrs["add_offset"] = 0.5, np.float32(1)
        packed = grid.astype("i2")
        packed[3, 4] = -1
        file.create_dataset("packed", data=packed, filter="gzip", chunks=(20, 25)).attrs["_FillValue"] = -1
        file["one"], file["text"] = np.float64(2.5), "text"
        file["broken"], file["away"] = h5py.SoftLink("/nothing"), h5py.ExternalLink("/etc/passwd", "/")
        file.create_table("table", table_columns())
    with cq.open(str(path / "store.b2z"), "w") as store:
        store["group/grid"] = grid
    cq.pack(grid, path / "packed.blp")
    cq.create_table(path / "directory", {"x": np.arange(5)}).close()
    (path / "notes.txt").write_text("none of ours")
    (path / "below").mkdir()
    cq.asarray(grid, path=path / "below" / "grid.b2nd").close()
    (path / ".hidden.b2nd").write_bytes((path / "grid.b2nd").read_bytes())
    return path


@pytest.fixture(scope="session")
def client(folder):
    with Client(served(folder).app) as client:
        client.folder = folder
        yield client
