"""Objects of every type and shape: each route gives an answer, in valid JSON, or an error of the request."""

import json

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq

from .asgi_client import Client
from .conftest import served

NAME = "ünï cøde/\"q'u<o>te&?#%/日本"
VALUES = {
    "big-endian": np.arange(12, dtype=">f8").reshape(3, 4),
    "big-endian integers": np.arange(12, dtype=">i2").reshape(3, 4),
    "nan": np.array([[np.nan, np.inf], [-np.inf, 1]]),
    "nothing but nan": np.full((4, 4), np.nan),
    "whole range": np.array([[-1.7e308, 1.7e308], [0, 1]]),
    "denormal": np.array([5e-324, 1e-323, 0]),
    "largest integers": np.array([2**64 - 1, 0, 2**63], "u8"),
    "no rows": np.zeros((0, 5)),
    "no columns": np.zeros((5, 0)),
    "bool": np.arange(12).reshape(3, 4) % 3 > 0,
    "complex": np.array([[1 + 2j, complex(np.nan, np.inf)]], "c8"),
    "half": np.ones((4, 5), "f2"),
    "long": np.ones((4, 5), "g"),
    "bytes": np.array([b"a", b"\xff\xfe", b""], "S3"),
    "opaque": np.array([b"abcd", b"ef"], "V4"),
    "records": np.array(
        [(1, 2.5, b"x", [1, 2])], [("a", ">i4"), ("b", "f8"), ("c", "S4"), ("d", "i2", (2,))]
    ),
    "nested records": np.zeros(4, [("a", [("x", "f4"), ("y", "c8")]), ("b", "?")]),
    "five axes": np.zeros((2, 3, 4, 2, 3), "u1"),
    "colours without numbers": np.full((3, 3, 3), np.nan),
    "one value": 3.5,
    "one record": np.zeros((), [("a", "i4"), ("b", "S3")]),
    "one text": "text",
    f"{NAME}/x": np.arange(3),
    "n" * 4000: 1,
}


def make_hdf5(path):
    """Write an object of each type, and return their paths."""
    with h5py.File(path, "w") as file:
        for name, values in VALUES.items():
            file[name] = values
        file.create_dataset("text", data=["é", "", "x"], dtype=h5py.string_dtype())
        file.create_dataset("lists", (3,), h5py.vlen_dtype("i4"))[0] = [1, 2]
        file.create_dataset("enum", data=[0, 1, 1], dtype=h5py.enum_dtype({"NO": 0, "YES": 1}))
        file.create_dataset("references", data=[file["nan"].ref], dtype=h5py.ref_dtype)
        file.create_dataset("times", data=np.arange(4).astype("M8[s]").astype(h5py.opaque_dtype("M8[s]")))
        file["empty"], file["type"] = h5py.Empty("f4"), np.dtype("f8")
        file.create_dataset("never written", (1000, 1000), "f4", chunks=(10, 10))
        file["circle"], file["top"], file["itself"] = h5py.SoftLink("/circle"), h5py.SoftLink("/"), file["/"]
        file["elsewhere"] = h5py.ExternalLink("/etc/passwd", "/x")
        scaled = file.create_dataset("scaled by nonsense", data=np.arange(10, dtype="i2"))
        scaled.attrs.update({"scale_factor": np.nan, "add_offset": "x", "_FillValue": [3, 4]})
        attrs = {
            "nan": np.nan,
            "complex": 1j,
            "bytes": b"\xff",
            "empty": h5py.Empty("f4"),
            "none": np.zeros(0),
        }
        file["nan"].attrs.update({**attrs, "ref": file["nan"].ref, "large": 2**64 - 1, "ünï": ["a", "b"]})
        group = file.create_group("deep")
        for _ in range(100):
            group = group.create_group("d")
        return ["/", *(f"/{name}" for name in file), f"/{NAME}/x", "/deep" + "/d" * 100, "/itself/itself/nan"]


def make_tables(path):
    """Write a table in an HDF5 file, one in a directory and one without rows; return files and paths."""
    count = np.arange(50)
    columns = {
        "i": count,
        "f": np.where(count % 7 == 0, np.nan, count.astype(float)),
        "s": [f"é{number}" for number in count],
        "when": count.astype("M8[s]"),
        "missing": [None, *map(int, count[1:])],
        "u": np.full(50, 2**64 - 1, "u8"),
        "inf": np.full(50, np.inf),
    }
    cq.create_table(path / "table.h5", columns, name="/t").close()
    cq.create_table(path / "directory", columns).close()
    cq.create_table(path / "none", {"i": count[:0], "s": []}).close()
    return [("table.h5", "/t"), ("directory", "/"), ("none", "/")]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    path = tmp_path_factory.mktemp("odd")
    places = [("all.h5", name) for name in make_hdf5(path / "all.h5")] + make_tables(path)
    for number, name in enumerate(("no rows", "complex", "big-endian", "records", "one value")):
        cq.asarray(np.asarray(VALUES[name]), path=path / f"{number} 日本 %20#.b2nd").close()
        places.append((f"{number} 日本 %20#.b2nd", "/"))
    with Client(served(path).app) as client:
        yield path, client, places


def is_answered(world, route, place, parameters):
    """Ask, and check what is said of every answer."""
    path, client, _ = world
    answer = client.get(f"/{route}/", file=place[0], path=place[1], **parameters)
    assert answer.status in (200, 400, 404, 413, 422, 501), (route, place, parameters, answer.content[:300])
    assert str(path).encode() not in answer.content
    if answer.headers["content-type"] == "application/json":
        json.loads(answer.content, parse_constant=lambda text: pytest.fail(f"{route} {place}: {text}"))
    return answer


ABOUT = (
    "tree",
    "info",
    "meta",
    "attr",
    "paths",
    "stats",
    "schema",
    "storage",
    "histogram",
    "data",
    "slice",
    "rows",
)


@pytest.mark.parametrize("route", ABOUT)
def test_every_object_is_answered_for(world, route):
    for place in world[2]:
        is_answered(world, route, place, {"format": "json"} if route in ("data", "slice") else {})


OPTIONS = {
    "selection": ["", "0", "0:1", "::2", ":,0", "0:0", "-1", "::-1", ":2,:2,0", "1,1"],
    "format": ["bin", "npy", "csv", "json", "png", "tiff", "arrow", "parquet"],
    "decode": ["0", "1"],
    "most": ["1", "3"],
    "dtype": ["safe", "origin"],
    "flatten": ["1"],
    "bins": ["1", "4096"],
    "log": ["1"],
    "part": ["phase", "real"],
    "scale": ["log", "symlog", "sqrt"],
    "min": ["nan", "1e308", "5"],
    "max": ["inf", "-1e308", "1"],
    "flip": ["xy"],
    "turn": ["1"],
    "where": ["i > 3", "s == 'é1'", "f != f", "u > 5", "missing == 2", "(i >"],
    "sort": ["i", "-f", "s", "-when", "missing", "-inf"],
    "name": ["i", "f", "s", "when", "missing", "u", "inf"],
    "x": ["i", "when"],
    "y": ["f", "inf"],
    "column": ["i", "s", "when", "missing"],
    "resolve_links": ["none", "all"],
}
READING = ("slice", "data", "stats", "histogram", "storage", "rows", "column", "points", "expr", "meta")


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(READING), st.data())
def test_every_option_is_answered_for_every_object(world, route, data):
    place = data.draw(st.sampled_from(world[2]))
    names = data.draw(st.lists(st.sampled_from(sorted(OPTIONS)), max_size=5, unique=True))
    parameters = {name: data.draw(st.sampled_from(OPTIONS[name])) for name in names}
    if route == "expr":
        texts = ["a", "a + 1", "sum(a)", "a.mean()", "sqrt(a)", "a / 0", "a ** a", "where(a > 1, a, 0)"]
        parameters |= {"operands": f"a:{place[1]}", "expression": data.draw(st.sampled_from(texts))}
    is_answered(world, route, place, parameters)
