"""Objects in memory are served as files are."""

import numpy as np
import pytest

import coquina as cq
from coquina.server.application import Application
from coquina.server.held_objects import HeldObjects
from coquina.server.service import Service
from coquina.server.users import Users

from .asgi_client import Client

TOKEN = "a-secret-of-tests"


def test_arrays_expressions_and_tables_in_memory_are_served():
    values = np.arange(24.0).reshape(4, 6)
    array = cq.asarray(values)
    file = cq.hdf5.File.in_memory()
    table = file.create_table("t", {"x": np.arange(5)})
    objects = {
        "numpy": values,
        "array": array,
        "lazy": array * 2 + 1,
        "view": array.view(np.s_[1:3]),
        "t": table,
    }
    service = Service.of_objects(HeldObjects(objects), Users.single(TOKEN))
    with Client(Application(service).app, {"authorization": f"Bearer {TOKEN}"}) as client:
        names = [one["path"] for one in client.get("/files/").json()["entries"]]
        assert names == list(objects)
        for name, wanted in (
            ("numpy", values),
            ("array", values),
            ("lazy", values * 2 + 1),
            ("view", values[1:3]),
        ):
            assert np.array_equal(client.get("/slice/", file=name).array(), wanted)
            assert client.get("/info/", file=name).json()["shape"] == list(wanted.shape)
            assert sum(client.get("/histogram/", file=name).json()["counts"]) == wanted.size
        assert client.get("/rows/", file="t", where="x > 2").json()["values"] == {"x": [3, 4]}
        assert client.get("/info/", file="other").status == 404
        assert client.get("/raw/array").status == 404
    assert not table.is_closed
    file.close()


def test_answers_follow_objects_that_change():
    file = cq.hdf5.File.in_memory()
    table = file.create_table("t", {"x": np.arange(5)})
    array = cq.asarray(np.arange(3))
    service = Service.of_objects(HeldObjects({"t": table, "a": array}), Users())
    with Client(Application(service).app) as client:
        assert client.get("/rows/", file="t", where="x > 2").json()["rows"] == [3, 4]
        first = client.get("/slice/", file="a", format="json")
        table["x"] = np.arange(5)[::-1].copy()
        array[0] = 7
        assert client.get("/rows/", file="t", where="x > 2").json()["rows"] == [0, 1]
        again = client.get("/slice/", {"If-None-Match": first.headers["etag"]}, file="a", format="json")
        assert again.json() == [7, 1, 2]
    file.close()


def test_the_only_object_needs_no_name():
    service = Service.of_objects(HeldObjects({"x": np.arange(3)}), Users())
    with Client(Application(service).app) as client:
        assert client.get("/slice/", format="json").json() == [0, 1, 2]
        assert client.get("/version/").json()["single"] == "x"


def test_names_of_objects_are_names():
    with pytest.raises(ValueError, match="no name"):
        HeldObjects({"a/b": np.arange(3)})
