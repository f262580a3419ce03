"""Answers to h5grove's requests are those of h5grove itself, over files that h5py made."""

import json
import warnings

import h5grove.content
import h5grove.encoders
import h5py
import numpy as np
import pytest

from coquina.server.padding import without_padding

from .asgi_client import Client
from .conftest import served

DTYPES = {
    **{name: np.dtype(name) for name in ("u1", "i1", "<i2", ">i2", "<u4", ">i4", "<i8", ">u8")},
    **{name: np.dtype(name) for name in ("<f2", "<f4", ">f4", "<f8", ">f8")},
    "longdouble": np.dtype(np.longdouble),
    "bool": np.dtype(bool),
    "<c8": np.dtype("<c8"),
    "<c16": np.dtype("<c16"),
    "S5": np.dtype("S5"),
    "compound": np.dtype([("a", "<i4"), ("b", ">f8"), ("c", "S3")]),
    "nested": np.dtype([("in", [("x", "<f4"), ("y", "<u2")]), ("v", "<i2")]),
    "array": np.dtype(("<i4", (3,))),
    "opaque": np.dtype("V4"),
    "enum": h5py.enum_dtype({"RED": 0, "GREEN": 1, "BLUE": 42}, basetype="i4"),
    "text": h5py.string_dtype(),
    "bytes": h5py.string_dtype("ascii"),
    "fixed text": h5py.string_dtype("utf-8", 6),
    "variable": h5py.vlen_dtype("i4"),
    "reference": h5py.ref_dtype,
    "region": h5py.regionref_dtype,
}


def values_of(file, name, shape):
    """Values of a dtype; numbers have a NaN and negative ones among them."""
    dtype = DTYPES[name]
    count = int(np.prod(shape))
    if name in ("text", "bytes", "fixed text"):
        return np.array([f"t{i}" for i in range(count)], object).reshape(shape)
    if name == "variable":
        made = np.empty(count, object)
        made[:] = [np.arange(i % 4, dtype="i4") for i in range(count)]
        return made.reshape(shape)
    if name in ("reference", "region"):
        pointed = file["numbers"]
        one = pointed.ref if name == "reference" else pointed.regionref[:2]
        made = np.empty(count, dtype)
        made[:] = [one] * count
        return made.reshape(shape)
    if name == "bool":
        return (np.arange(count) % 2 == 0).reshape(shape)
    base = dtype.base
    raw = (np.arange(count * int(np.prod(dtype.shape)) * base.itemsize) * 7 % 100).astype("u1")
    if base.kind in "iufc":
        made = (np.arange(count * int(np.prod(dtype.shape))) - 3).astype(base)
        if base.kind == "f" and made.size > 4:
            made[4] = np.nan
        return made.reshape((*shape, *dtype.shape))
    if base.kind == "S":
        return np.array([b"s%d" % i for i in range(count)], base).reshape(shape)
    return raw.view(base)[:count].reshape(shape)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("grove") / "sample.h5"
    with h5py.File(path, "w", track_order=True) as file:
        file["numbers"] = np.arange(10)
        for name in DTYPES:
            for shape in ((), (3, 4)):
                place = f"{name}/{len(shape)}"
                data = file.create_dataset(place, shape, DTYPES[name])
                if name not in ("compound", "nested", "opaque") or shape:
                    data[...] = values_of(file, name, shape)
                if name not in ("variable",):
                    data.attrs.create("own", values_of(file, name, (2,)), dtype=DTYPES[name])
        file.attrs["text"], file.attrs["number"], file.attrs["empty"] = "über", 3.5, h5py.Empty("f4")
        file["empty"] = h5py.Empty("f8")
        file["no items"] = np.zeros((0, 3))
        file["type"] = np.dtype("f4")
        file["soft"], file["dead"] = h5py.SoftLink("/numbers"), h5py.SoftLink("/nothing")
        file["away"] = h5py.ExternalLink("gone.h5", "/x")
        grid = np.arange(60 * 70, dtype="f4").reshape(60, 70)
        for name, options in FILTERS.items():
            file.create_dataset(f"filters/{name}", data=grid, chunks=(20, 30), **options)
    return path


FILTERS = {
    "plain": {},
    "gzip": {"compression": "gzip"},
    "shuffle": {"compression": "gzip", "shuffle": True, "fletcher32": True},
    "lzf": {"compression": "lzf"},
}


@pytest.fixture(scope="module")
def grove(sample):
    with Client(served(sample.parent).app) as client:
        yield lambda route, **parameters: client.get(f"/{route}/", file="sample.h5", **parameters)


def content_of(sample, path, links="only_valid"):
    return h5grove.content.get_content_from_file(
        sample, path, lambda code, text: ValueError(code, text), links
    )


def same(answer, wanted):
    assert answer.status == 200, answer.content
    assert answer.json() == json.loads(h5grove.encoders.encode(native(wanted), "json").content)


def native(value):
    """A value in the machine's order of bytes: h5grove's encoder takes no others."""
    if isinstance(value, dict):
        return {name: native(one) for name, one in value.items()}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "iufc":
        return np.asarray(value, value.dtype.newbyteorder("="))[()]
    return value


def all_paths(sample):
    with h5py.File(sample) as file:
        found = ["/"]
        file.visit(lambda name: found.append(f"/{name}"))
    return found


def test_metadata_are_those_of_h5grove(sample, grove):
    for path in [*all_paths(sample), "/soft", "/dead", "/away"]:
        with content_of(sample, path) as content:
            same(grove("meta", path=path), content.metadata())


@pytest.mark.parametrize("links", ["none", "only_valid", "all", "true", "false"])
def test_links_are_followed_as_h5grove_does(sample, grove, links):
    with content_of(sample, "/soft", links) as content:
        same(grove("meta", path="/soft", resolve_links=links), content.metadata())
    answer = grove("meta", path="/dead", resolve_links=links)
    if links in ("all", "true"):
        assert answer.status == 404
    else:
        with content_of(sample, "/dead", links) as content:
            same(answer, content.metadata())


def test_a_wrong_resolution_of_links_is_refused(grove):
    assert grove("meta", resolve_links="perhaps").status == 422


def test_attributes_are_those_of_h5grove(sample, grove):
    for path in all_paths(sample):
        with content_of(sample, path) as content:
            answer = grove("attr", path=path)
            assert answer.status == 200, (path, answer.content)
            same(answer, content.attributes())
    with content_of(sample, "/") as content:
        same(grove("attr", attr_keys=["text", "number"]), content.attributes(["text", "number"]))


@pytest.mark.parametrize("flatten", ["false", "true"])
@pytest.mark.parametrize("selection", [None, "0", "1,:", ":,1:3", "0:2,::2"])
def test_values_are_those_of_h5grove(sample, grove, selection, flatten):
    asked = {} if selection is None else {"selection": selection}
    for name in DTYPES:
        for axes in (0, 2) if selection is None else (2,):
            path = f"/{name}/{axes}"
            with content_of(sample, path) as content:
                wanted = content.data(selection, flatten == "true")
                same(grove("data", path=path, flatten=flatten, **asked), wanted)
    for name in FILTERS:
        with content_of(sample, f"/filters/{name}") as content:
            same(grove("data", path=f"/filters/{name}", **asked), content.data(selection))


@pytest.mark.parametrize("dtype", ["origin", "safe"])
@pytest.mark.parametrize("kind", ["bin", "npy", "csv", "tiff"])
def test_files_of_values_are_those_of_h5grove(sample, grove, kind, dtype):
    for name in DTYPES:
        for axes in (0, 2):
            path = f"/{name}/{axes}"
            try:
                with content_of(sample, path) as content:
                    values = content.data(None, dtype=dtype)
                    if isinstance(values, np.ndarray | np.generic):
                        # It sends what was in memory behind the bytes of a long double.
                        values = without_padding(np.asarray(values))
                    wanted = h5grove.encoders.encode(values, kind)
            except Exception:
                wanted = None
            answer = grove("data", path=path, format=kind, dtype=dtype)
            if wanted is None:
                assert answer.status in (200, 400, 422), (path, kind, answer.content[:80])
            elif kind == "bin" and DTYPES[name].hasobject:
                # h5grove sends pointers of its own process where there are axes.
                assert answer.status in (400, 422) or not axes
            else:
                assert answer.status == 200, (path, answer.content)
                assert answer.headers["content-type"] == wanted.headers["Content-Type"]
                if kind != "tiff":
                    assert answer.content == wanted.content, path


@pytest.mark.parametrize("selection", [None, "0:2", ":,1"])
def test_statistics_are_those_of_h5grove(sample, grove, selection):
    asked = {} if selection is None else {"selection": selection}
    for name in ("u1", "<i2", ">i4", "<f4", ">f8", "<f2", "<i8", "longdouble", "bool", "<c8", "<c16"):
        with content_of(sample, f"/{name}/2") as content, warnings.catch_warnings():
            # It takes the real parts of complex numbers, and NumPy warns.
            warnings.simplefilter("ignore")
            wanted = content.data_stats(selection)
        found = grove("stats", path=f"/{name}/2", **asked).json()
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            # A mean of few digits is added up in few digits there, and in float64 here.
            near = 1e-2 if name == "<f2" else 1e-6
            assert found[key] == value or abs(found[key] - value) <= near * abs(value) + near, (name, key)
    for path in ("/no items", "/variable/0"):
        with content_of(sample, path) as content:
            same(grove("stats", path=path), content.data_stats(None))
    for path in ("/variable/2", "/text/0", "/compound/2", "/empty"):
        assert grove("stats", path=path).status == 400


def test_paths_are_those_of_h5grove(sample, grove):
    for path in ("/", "/filters"):
        with h5grove.content.get_list_of_paths(
            sample, path, lambda code, text: ValueError(code, text)
        ) as wanted:
            same(grove("paths", path=path), wanted)


def test_what_is_wrong_is_an_error_in_both(sample, grove):
    assert grove("data", path="/nothing").status == 404
    assert grove("data", path="/filters").status == 400
    assert grove("data", path="/<i2/2", selection="1,2,3").status == 400
    assert grove("data", path="/<i2/2", format="exe").status == 422
    assert grove("data", path="/<i2/2", dtype="wide").status == 422
    assert grove("attr", path="/", attr_keys=["nothing"]).status == 404
    assert grove("paths", path="/numbers").status == 400
