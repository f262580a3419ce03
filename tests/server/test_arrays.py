"""What the server says of files and arrays is what coquina says of them."""

import csv
import io
import itertools

import h5py
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.server.application import Application
from coquina.server.encodings import encoded
from coquina.server.failures import RequestError
from coquina.server.held_objects import HeldObjects
from coquina.server.selections import selected, thinned
from coquina.server.service import Service
from coquina.server.users import Users

from .asgi_client import Client
from .conftest import served


def served_objects(objects):
    """The application of a server of arrays in memory."""
    held = HeldObjects({name: cq.asarray(one) for name, one in objects.items()}, "memory")
    return Application(Service.of_objects(held, Users()))


def test_a_folder_lists_files_that_coquina_opens(client, folder):
    found = client.get("/files/").json()
    kinds = {one["name"]: (one["kind"], one["format"]) for one in found["entries"]}
    assert kinds == {
        "all.h5": ("file", "hdf5"),
        "below": ("folder", None),
        "directory": ("file", "table"),
        "grid.b2nd": ("file", "b2nd"),
        "packed.blp": ("file", "bloscpack"),
        "store.b2z": ("file", "store"),
    }
    below = client.get("/files/", path="below").json()["entries"]
    names = sorted(path.name for path in (folder / "below").iterdir())
    assert [one["path"] for one in below] == [f"below/{name}" for name in names]


def test_a_tree_shows_one_level_and_links(client):
    found = client.get("/tree/", file="all.h5").json()
    kinds = {one["path"]: one["kind"] for one in found["children"]}
    assert found["kind"] == "group"
    assert kinds == {
        "/away": "link",
        "/broken": "link",
        "/group": "group",
        "/one": "array",
        "/packed": "array",
        "/table": "table",
        "/text": "array",
    }
    (table,) = [one for one in found["children"] if one["kind"] == "table"]
    assert table["rows"] == 1000
    assert table["columns"][0] == "number"


def test_damage_and_links_in_circles_leave_the_rest_of_a_tree_visible(tmp_path):
    """A link in a circle was taken for damage, and one damaged object made its group an error."""
    with h5py.File(tmp_path / "x.h5", "w", libver="latest") as file:
        for name in ("a", "b", "c"):
            file[name] = np.arange(4)
        file["self"], file["there"] = h5py.SoftLink("/self"), h5py.SoftLink("/back")
        file["back"], file["file"] = h5py.SoftLink("/there"), h5py.ExternalLink("x.h5", "/file")
        at = h5py.h5o.get_info(file["b"].id).addr
    with open(tmp_path / "x.h5", "r+b") as file:
        file.seek(at + 4)
        file.write(b"\xff" * 8)
    with Client(served(tmp_path).app) as client:
        kinds = {one["name"]: one["kind"] for one in client.get("/tree/", file="x.h5").json()["children"]}
        links = dict.fromkeys(("self", "there", "back", "file"), "link")
        assert kinds == {"a": "array", "b": "damaged", "c": "array", **links}
        assert client.get("/info/", file="x.h5", path="/self").json()["to"] == "/self"
        assert client.get("/slice/", file="x.h5", path="/c").array().tolist() == [0, 1, 2, 3]
        answer = client.get("/info/", file="x.h5", path="/b")
        assert (answer.status, answer.json()["error"]) == (500, "corrupt")
        assert str(tmp_path) not in answer.json()["message"]
        for route in ("slice", "data", "stats", "paths", "schema", "storage", "histogram"):
            assert client.get(f"/{route}/", file="x.h5", path="/self").status == 400, route


PLACES = [("grid.b2nd", "/"), ("all.h5", "/group/grid"), ("store.b2z", "group/grid"), ("packed.blp", "/")]


@pytest.mark.parametrize(("file", "path"), PLACES)
def test_slices_are_those_of_numpy(client, grid, file, path):
    for selection, key in [("", ...), ("3", 3), ("-1,::-2", np.s_[-1, ::-2]), ("5:2", np.s_[5:2])]:
        answer = client.get("/slice/", file=file, path=path, selection=selection)
        assert answer.status == 200, answer.content
        assert np.array_equal(answer.array(), grid[key])


@pytest.mark.parametrize(("file", "path"), PLACES)
def test_facts_of_an_array_are_its_own(client, grid, file, path):
    found = client.get("/info/", file=file, path=path).json()
    assert (found["shape"], found["dtype"], found["nbytes"]) == ([60, 50], "float32", grid.nbytes)
    assert found["kind"] == "array"


def member():
    number = st.integers(-12, 12)
    end = st.none() | number
    return number | st.builds(slice, end, end, st.none() | st.integers(1, 5) | st.integers(-5, -1))


def text_of(key):
    def one(part):
        if isinstance(part, int):
            return str(part)
        ends = [part.start, part.stop, *([] if part.step is None else [part.step])]
        return ":".join("" if end is None else str(end) for end in ends)

    return ",".join(map(one, key))


@settings(max_examples=300, deadline=None)
@given(st.lists(member(), max_size=3), st.tuples(*[st.integers(0, 9)] * 3))
def test_every_selection_is_numpys(key, shape):
    values = np.arange(int(np.prod(shape))).reshape(shape)
    try:
        wanted = values[tuple(key)]
    except IndexError:
        with pytest.raises(RequestError):
            selected(text_of(key), shape)
        return
    found = selected(text_of(key), shape)
    assert found.shape == wanted.shape
    assert np.array_equal(values[found.key], wanted)


@settings(max_examples=300, deadline=None)
@given(st.lists(member(), max_size=3), st.tuples(*[st.integers(1, 12)] * 3), st.integers(1, 50))
def test_thinned_selections_are_every_nth_value_of_what_was_selected(key, shape, most):
    values = np.arange(int(np.prod(shape))).reshape(shape)
    try:
        whole = selected(text_of(key), shape)
    except RequestError:
        return
    found = thinned(whole, most)
    assert found.size <= max(most, 0) or not whole.size
    factors = [b // a for a, b in zip(whole.steps, found.steps, strict=True)]
    wanted = values[whole.key][tuple(slice(None, None, one) for one in factors)]
    assert np.array_equal(values[found.key], wanted)


@pytest.mark.parametrize(
    "text", ["a", "1.5", "1;2", "0:1:0", "1,2,3", "60", "::::", "9" * 30, "," * 5000, "[0]"]
)
def test_what_is_no_selection_is_an_error(client, text):
    answer = client.get("/slice/", file="grid.b2nd", selection=text)
    assert answer.status == 400
    assert answer.json()["error"] == "invalid"


def test_most_thins_out_and_says_by_what(client, grid):
    answer = client.get("/slice/", file="grid.b2nd", most=100)
    steps = [int(one) for one in answer.headers["x-step"].split(",")]
    assert answer.array().size <= 100
    assert np.array_equal(answer.array(), grid[:: steps[0], :: steps[1]])


def test_decoded_values_are_scaled_and_masked(client, grid):
    answer = client.get("/slice/", file="all.h5", path="/group/grid", decode=1)
    assert np.allclose(answer.array(), grid * 0.5 + 1)
    answer = client.get("/slice/", file="all.h5", path="/packed", decode=1)
    wanted = grid.astype("f8")
    wanted[3, 4] = np.nan
    assert np.array_equal(answer.array(), wanted, equal_nan=True)


def test_formats_hold_the_same_values(client, grid):
    import tifffile
    from PIL import Image

    def ask(kind):
        return client.get("/slice/", file="grid.b2nd", selection=":10", format=kind)

    assert np.array_equal(ask("json").json(), grid[:10])
    assert np.array_equal(np.load(io.BytesIO(ask("npy").content)), grid[:10])
    assert np.array_equal(np.loadtxt(io.BytesIO(ask("csv").content), delimiter=","), grid[:10])
    assert np.array_equal(tifffile.imread(io.BytesIO(ask("tiff").content)), grid[:10])
    picture = Image.open(io.BytesIO(ask("png").content))
    assert picture.size == (50, 10)
    assert ask("exe").status == 400


OBJECTS = {
    "int64": np.array([[2**53 + 1, -1], [0, 7]]),
    "float32": np.array([0.1, np.nan, -np.inf], "f4"),
    "complex": np.array([1 + 2j, -0.5j]),
    "text": np.array([["a,b", "ü"], ['"', ""]], object),
    "bytes": np.array([b"x", b"yz"]),
    "times": np.array(["2024-01-01T00:00:00", "NaT"], "M8[s]"),
    "bool": np.array([[True], [False]]),
    "none": np.zeros((0, 3)),
    "one": np.float64(2.5),
    "records": np.array([(1, b"x"), (2, b"y,z")], [("n", "i4"), ("s", "S3")]),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_csv_and_npy_hold_values_of_any_kind(name):
    values = np.asarray(OBJECTS[name])
    rows = list(csv.reader(io.StringIO(encoded(values, "csv").content.decode())))
    wanted = np.atleast_1d(values)
    assert len(rows) == len(wanted)
    for row, value in zip(rows, wanted, strict=True):
        cells = value.tolist() if values.dtype.names else np.atleast_1d(value)
        texts = [one.decode() if isinstance(one, bytes) else str(one) for one in cells]
        assert row == texts
    kept = np.load(io.BytesIO(encoded(values, "npy").content))
    assert np.array_equal(kept, values, equal_nan=values.dtype.kind in "fcM")


def pixels(values, **parameters):
    """The picture of values as the server draws it."""
    from PIL import Image

    with Client(served_objects({"x": values}).app) as client:
        answer = client.get("/slice/", file="x", path="/", format="png", **parameters)
    assert answer.status == 200, answer.content
    return np.asarray(Image.open(io.BytesIO(answer.content)))


def test_pictures_have_the_colours_and_directions_that_are_asked_for():
    values = np.array([[0.0, 1, 10], [100, np.nan, 1000]])
    grey = {"stops": "000000-ffffff"}
    plain = pixels(values, **grey)
    assert plain[..., 3].tolist() == [[255] * 3, [255, 0, 255]]
    assert plain[..., 0].tolist() == [[0, 0, 3], [26, 0, 255]]
    assert np.array_equal(pixels(values, flip="xy", **grey), plain[::-1, ::-1])
    assert np.array_equal(pixels(values, turn=1, **grey), plain.swapaxes(0, 1))
    assert np.array_equal(pixels(values, turn=1, flip="y", **grey), plain.swapaxes(0, 1)[::-1])
    assert pixels(values, scale="log", **grey)[..., 0].tolist() == [[0, 0, 85], [170, 0, 255]]
    assert pixels(values, scale="sqrt", max=100, **grey)[..., 0].tolist() == [[0, 26, 81], [255, 0, 255]]
    symlog = pixels(np.array([[-9.0, 0, 9]]), scale="symlog", **grey)
    assert symlog[0, :, 0].tolist() == [0, 128, 255]
    assert np.array_equal(pixels(values, stops="ffffff-000000")[0, :, 0], 255 - plain[0, :, 0])
    with Client(served_objects({"x": values}).app) as client:
        for wrong in ({"stops": "0000"}, {"stops": "000000"}, {"scale": "cubic"}, {"part": "half"}):
            assert client.get("/slice/", file="x", path="/", format="png", **wrong).status == 400


def test_pictures_of_complex_values_and_of_colours():
    values = np.array([[1 + 1j, -2, 3j]])
    for part, of in (("abs", np.abs), ("phase", np.angle), ("real", np.real), ("imag", np.imag)):
        assert np.array_equal(pixels(values, part=part), pixels(of(values)))
    colours = np.linspace(0, 255, 24).astype("u1").reshape(2, 4, 3)
    assert np.array_equal(pixels(colours), colours)
    assert np.array_equal(pixels(colours / 255), colours)
    assert np.array_equal(pixels(colours.astype("f4") * 4), colours)


@pytest.mark.parametrize(
    ("part", "of"), [("abs", np.abs), ("phase", np.angle), ("real", np.real), ("imag", np.imag)]
)
def test_histograms_of_complex_values_are_of_a_part(part, of):
    values = np.exp(1j * np.arange(50.0)) * np.arange(50)
    with Client(served_objects({"x": values}).app) as client:
        found = client.get("/histogram/", file="x", path="/", part=part).json()
    assert np.isclose(found["min"], of(values).min())
    assert np.isclose(found["std"], of(values).std())
    assert sum(found["counts"]) == found["count"] == 50


@pytest.mark.parametrize("log", [0, 1])
def test_histograms_count_every_value(client, grid, log):
    found = client.get("/histogram/", file="all.h5", path="/packed", bins=7, log=log).json()
    values = grid.astype("i2")
    values[3, 4] = -1
    values = values[values != -1]
    wanted = np.histogram(values[values > 0] if log else values, found["edges"])[0]
    assert found["counts"] == wanted.tolist()
    assert found["fills"] == 1
    assert found["nans"] == 0
    assert found["count"] == values.size
    assert np.isclose(found["mean"], values.mean())
    assert np.isclose(found["std"], values.std())


ENDS = {
    "whole range": [-1.7e308, 0, 1.7e308],
    "one large value": [1.5e308],
    "large values": [1.7e308, 1.75e308],
    "one small value": [5e-324],
    "small values": [5e-324, 1e-323, 0],
    "float16": np.array([65504, -65504, 1], "f2"),
    "unsigned": np.array([2**64 - 1, 0, 2**63], "u8"),
    "signed": np.array([-(2**63), 2**63 - 1]),
    "complex": [1e308 + 1e308j],
    "none": [np.nan, np.inf, -np.inf],
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ENDS)
def test_histograms_of_the_ends_of_a_type_have_edges_and_count_every_value(name):
    """The width of all bins was an infinity, and the edges null, which the page drew."""
    values = np.asarray(ENDS[name])
    finite = np.abs(values[np.isfinite(values)])
    with Client(served_objects({"x": values}).app) as client:
        for parameters in ({}, {"log": 1}, {"bins": 1}, {"bins": 4096}):
            found = client.get("/histogram/", **parameters).json()
            edges = found["edges"]
            assert all(low < high for low, high in itertools.pairwise(edges))
            wanted = np.count_nonzero(values > 0) if "log" in parameters else len(finite)
            wanted = len(finite) if values.dtype.kind == "c" else wanted
            assert sum(found["counts"]) == min(wanted, len(finite)), parameters


def test_histograms_of_stored_values_count_fills_too(client, grid):
    found = client.get("/histogram/", file="all.h5", path="/packed", decode=0).json()
    assert (found["fills"], found["min"], found["count"]) == (0, -1, grid.size)


def test_histograms_read_in_parts_what_is_large(client, monkeypatch, grid):
    from coquina.server import values

    whole = client.get("/histogram/", file="grid.b2nd").json()
    monkeypatch.setattr(values, "_PART_BYTES", 400)
    parts = client.get("/histogram/", file="grid.b2nd").json()
    assert parts["counts"] == whole["counts"]
    assert np.isclose(parts["std"], grid.std())


def test_storage_of_columns_that_have_several_arrays_is_that_of_the_largest(tmp_path):
    """Of text, times and columns with nulls the page showed an error."""
    columns = {
        "text": [f"row {number}" for number in range(1000)],
        "when": np.arange(1000).astype("M8[s]"),
        "maybe": [None, *range(999)],
        "flag": np.arange(1000) % 2 == 0,
        "group": pd.Categorical(["a", "b"] * 500),
    }
    cq.create_table(tmp_path / "t", columns).close()
    cq.create_table(tmp_path / "t.h5", columns, name="/t").close()
    with Client(served(tmp_path).app) as client:
        for file, path in (("t", "/"), ("t.h5", "/t")):
            for name in columns:
                found = client.get("/storage/", file=file, path=path, column=name).json()
                assert found["chunks"], (file, name, found)
                assert found["total"] == len(found["chunks"])


@pytest.mark.parametrize(("file", "path"), PLACES[:3])
def test_storage_lists_each_chunk_with_its_place(client, folder, file, path):
    found = client.get("/storage/", file=file, path=path, selection="0:20,3").json()
    assert len(found["chunks"]) == found["total"] == np.prod(found["grid"])
    content = (folder / file).read_bytes()
    for chunk in found["chunks"]:
        stored = content[chunk["offset"] : chunk["offset"] + chunk["stored"]]
        assert len(stored) == chunk["stored"]
        # Chunks of HDF5 files are frames of their own.
        assert file.endswith("h5") or cq.chunk_info(stored).nbytes == chunk["nbytes"]
    assert found["touched"]["values"] == 20
    assert 1 <= found["touched"]["chunks"] <= found["total"]


def test_chunks_of_one_value_store_nothing(client, folder):
    cq.asarray(
        np.zeros((40, 40)), path=folder / "below" / "zeros.b2nd", chunks=(10, 10), overwrite=True
    ).close()
    found = client.get("/storage/", file="below/zeros.b2nd", offset=3, most=2).json()
    assert [one["index"] for one in found["chunks"]] == [3, 4]
    assert {one["special"] for one in found["chunks"]} == {"zeros"}


def test_what_does_not_exist_is_not_found(client):
    for answer in (
        client.get("/info/", file="nothing.b2nd"),
        client.get("/info/", file="notes.txt"),
        client.get("/info/", file="all.h5", path="/nothing"),
        client.get("/info/", file="grid.b2nd", path="/x"),
        client.get("/raw/below"),
    ):
        assert answer.status == 404
        assert answer.json()["error"] == "not_found"


def test_answers_are_not_sent_twice(client):
    first = client.get("/info/", file="grid.b2nd")
    again = client.get("/info/", {"If-None-Match": first.headers["etag"]}, file="grid.b2nd")
    assert again.status == 304
    assert not again.content
    other = client.get("/info/", {"If-None-Match": first.headers["etag"]}, file="all.h5")
    assert other.status == 200
