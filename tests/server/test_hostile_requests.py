"""Requests of people who mean harm: errors, bounded work, and nothing outside of the folder."""

import asyncio
import itertools
import time

import blosc2
import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
import coquina.server.objects as objects_module
import coquina.server.root as root_module
from coquina.server.failures import RequestError
from coquina.server.gate import Gate
from coquina.server.limits import Limits
from coquina.server.parameters import Parameters
from coquina.server.root import Root

from .asgi_client import Client
from .conftest import served

SECRET = b"a secret beside the folder"
PARTS = (
    "..",
    ".",
    "",
    "secret.b2nd",
    "inside.b2nd",
    "%2e%2e",
    "..\\",
    "C:",
    "~",
    "\0",
    "link",
    "x" * 300,
    "…",
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A folder with a secret beside it, and links that lead there."""
    above = tmp_path_factory.mktemp("world")
    root = above / "root"
    (root / "folder").mkdir(parents=True)
    secret = np.frombuffer(SECRET, "u1")
    cq.asarray(secret, path=above / "secret.b2nd").close()
    cq.asarray(np.zeros(5, "u1"), path=root / "inside.b2nd").close()
    (root / "link.b2nd").symlink_to(above / "secret.b2nd")
    (root / "out").symlink_to(above)
    (root / "loop").symlink_to(root / "loop")
    with h5py.File(root / "external.h5", "w") as file:
        file["away"] = h5py.ExternalLink("../secret.h5", "/x")
        file["link"] = h5py.ExternalLink(str(above / "secret.h5"), "/x")
        file.create_dataset("raw", (4,), "u1", external=[(str(above / "secret.bin"), 0, 4)])
        layout = h5py.VirtualLayout((4,), "u1")
        layout[:] = h5py.VirtualSource(str(above / "secret.h5"), "x", (4,))
        file.create_virtual_dataset("virtual", layout)
    with h5py.File(above / "secret.h5", "w") as file:
        file["x"] = secret[:4]
    (above / "secret.bin").write_bytes(SECRET)
    return above


@pytest.fixture(scope="module")
def client(world):
    with Client(served(world / "root").app) as client:
        yield client


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=6).map("/".join))
def test_no_name_leads_out_of_the_folder(world, name):
    root = Root(str(world / "root"))
    for find in (root.find, root.file, root.target):
        place, error = outcome(find, name)
        if error is None:
            assert place.path == root.path or place.path.startswith(root.path + "/")
        else:
            assert str(world) not in error.message
            assert error.status in (400, 404)


def outcome(call, *arguments):
    """What a call gives, and the error of a request that it ends with."""
    try:
        return call(*arguments), None
    except RequestError as error:
        return None, error


def test_links_out_of_the_folder_are_nothing(client):
    for name in (
        "link.b2nd",
        "out/secret.b2nd",
        "out/root/../secret.b2nd",
        "loop",
        "/etc/passwd",
        "../secret.b2nd",
    ):
        for answer in (
            client.get("/info/", file=name),
            client.get("/slice/", file=name),
            client.get(f"/raw/{name}"),
            client.get("/files/", path=name),
        ):
            assert answer.status in (400, 404), name
            assert SECRET not in answer.content
    assert [one["name"] for one in client.get("/files/").json()["entries"]] == [
        "external.h5",
        "folder",
        "inside.b2nd",
    ]


def test_files_do_not_lead_elsewhere(client):
    for path in ("/away", "/link", "/raw", "/virtual"):
        for route in ("slice", "data", "info", "meta", "stats", "histogram"):
            answer = client.get(f"/{route}/", file="external.h5", path=path, format="json")
            assert b"115" not in answer.content  # the first byte of the secret
            if route in ("slice", "data"):
                assert answer.status in (400, 403, 404, 422), (route, path, answer.content)


def test_a_single_file_is_all_there_is(world):
    with Client(served(world / "root" / "inside.b2nd").app) as client:
        assert client.get("/slice/").status == 200
        assert client.get("/slice/", file="inside.b2nd").status == 200
        for name in ("external.h5", "../secret.b2nd", "inside.b2nd/../external.h5"):
            assert client.get("/slice/", file=name).status in (400, 404)
        assert [one["name"] for one in client.get("/files/", path="folder").json()["entries"]] == [
            "inside.b2nd"
        ]


ROUTES = (
    "tree", "info", "slice", "histogram", "storage", "schema", "rows", "column", "points", "meta", "attr",
    "data", "stats", "paths", "expr", "files", "version",
)  # fmt: skip
WORDS = (
    "png", "csv", "arrow", "json", "number", "-value", "number > 5", "sum(a)", "a:/packed", "0:3", "5", "",
    "0", "-1", "1e999", "nan", "9" * 40, "\0", "…", "/", "..", "a" * 5000, "[]", "{}", "'; --",
    "%00", "x:y",
)  # fmt: skip
NAMES = (
    "file", "path", "selection", "format", "most", "bins", "start", "stop", "where", "sort", "columns",
    "name", "x", "y", "offset", "decode", "log", "flatten", "dtype", "attr_keys", "resolve_links",
    "expression", "operands", "cmap", "min", "max", "column",
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(ROUTES),
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(WORDS), max_size=5),
    st.data(),
)
def test_any_parameters_give_an_answer_or_an_error(folder, shared_client, route, parameters, data):
    file, path = data.draw(
        st.sampled_from([("all.h5", "/"), ("all.h5", "/table"), ("all.h5", "/packed"), ("grid.b2nd", "/")])
    )
    answer = shared_client.get(f"/{route}/", **{"file": file, "path": path, **parameters})
    assert answer.status in (200, 400, 404, 413, 422), (answer.status, answer.content)
    assert str(folder).encode() not in answer.content


@pytest.fixture(scope="module")
def shared_client(folder):
    with Client(served(folder).app) as client:
        yield client


def test_large_answers_are_refused_before_anything_is_read(tmp_path):
    with cq.hdf5.File(tmp_path / "large.h5", "w") as file:
        file.create_dataset("x", (1 << 20, 1 << 20), "f8", chunks=(1 << 10, 1 << 10))
        file.create_table("t", {"x": np.arange(10)})
    cq.zeros((1 << 18, 1 << 18), path=tmp_path / "large.b2nd").close()
    with Client(served(tmp_path).app) as client:
        for file, path in (("large.h5", "/x"), ("large.b2nd", "/")):
            for route in ("slice", "data"):
                answer = client.get(f"/{route}/", file=file, path=path, format="bin")
                assert answer.status == 413, answer.content
                assert "bytes" in answer.json()["message"]
            for route in ("stats", "histogram"):
                assert client.get(f"/{route}/", file=file, path=path).status == 413
            assert client.get("/slice/", file=file, path=path, selection="5,:100").status == 200
            assert client.get("/info/", file=file, path=path).status == 200
            assert client.get("/storage/", file=file, path=path, most=10).status == 200
            # One value of each chunk: few values, and all of the array is decoded.
            assert client.get("/slice/", file=file, path=path, selection="::64,::64").status == 413
        assert client.get("/rows/", file="large.h5", path="/t", start=0, stop=10**9).status == 413


def test_very_large_files_open_within_a_second(tmp_path):
    """A table of a billion rows, and arrays of 100 GB without values: by the time of the processor."""
    with cq.hdf5.File(tmp_path / "large.h5", "w") as file:
        file.create_table("t", {"n": np.arange(10), "v": np.arange(10.0), "flag": np.arange(10) > 5}).resize(
            10**9
        )
        file.create_dataset("x", (160_000, 160_000), "f4", chunks=(1000, 1000))
    cq.zeros((160_000, 160_000), "f4", path=tmp_path / "large.b2nd", chunks=(1000, 1000)).close()
    with Client(served(tmp_path).app) as client:
        for file, path, asked in (
            ("large.h5", "/t", {"schema": {}, "rows": {"start": 999_999_900, "stop": 10**9}}),
            ("large.h5", "/x", {"slice": {"selection": ":512,:512"}, "storage": {}}),
            ("large.b2nd", "/", {"slice": {"selection": "-512:,-512:"}, "storage": {}}),
        ):
            began = time.process_time()
            for route, more in {"tree": {}, "info": {}, **asked}.items():
                where = "/" if route == "tree" else path
                answer = client.get(f"/{route}/", file=file, path=where, **more)
                assert answer.status == 200, answer.content
            assert time.process_time() - began < 1, (file, path)
        last = client.get("/rows/", file="large.h5", path="/t", start=10**9 - 3, stop=10**9).json()
        assert (last["total"], last["values"]["n"]) == (10**9, [0, 0, 0])


def test_packed_files_are_unpacked_some_rows_at_a_time(tmp_path, monkeypatch):
    """Each slice, of one value too, unpacked the whole file."""
    values = np.arange(600 * 700, dtype="f4").reshape(600, 700)
    cq.pack(values, tmp_path / "x.blp", chunk_size=28_000)
    cq.pack(np.asfortranarray(values), tmp_path / "scattered.blp")
    cq.pack(values.tobytes(), tmp_path / "bytes.blp")
    monkeypatch.setattr(objects_module, "_UNPACKED_BYTES", 100_000)
    with Client(
        served(tmp_path, limits=Limits(rate=0, result_bytes=1 << 20, decoded_bytes=1 << 20)).app
    ) as client:
        for text, key in (
            ("5:9", np.s_[5:9]),
            ("5:300,7:9", np.s_[5:300, 7:9]),
            ("300:5:-3,::2", np.s_[300:5:-3, ::2]),
            ("100::-1,0", np.s_[100::-1, 0]),
            ("7,8", np.s_[7, 8]),
            ("3:3", np.s_[3:3]),
        ):
            answer = client.get("/slice/", file="x.blp", selection=text)
            assert np.array_equal(answer.array(), values[key]), text
        # All rows, and one value of each: few values, and all of the file is unpacked.
        assert client.get("/slice/", file="x.blp", selection=":,0").status == 413
        assert client.get("/slice/", file="scattered.blp", selection="0,0").status == 413
        raw = np.frombuffer(values.tobytes(), "u1")
        assert client.get("/info/", file="bytes.blp").json()["dtype"] == "uint8"
        for text, key in (("5:9", np.s_[5:9]), ("900:100:-7", np.s_[900:100:-7]), ("3", 3)):
            found = client.get("/slice/", file="bytes.blp", selection=text)
            assert np.array_equal(found.array(), raw[key]), text
    packed = cq.open(str(tmp_path / "x.blp"))
    assert objects_module._unpacked(packed, (17, 5)) == values[17, 5]
    assert packed.chunks_read == 1


def test_values_of_any_length_are_read_one_by_one(tmp_path):
    """One of them decoded all; lists of equal lengths were an error."""
    frame = blosc2.ObjectArray(urlpath=str(tmp_path / "x.b2frame"), mode="w")
    for number in range(50):
        frame.append([number, number + 1, "x" * 1000])
    with Client(served(tmp_path, limits=Limits(rate=0, result_bytes=20_000)).app) as client:
        found = client.get("/slice/", file="x.b2frame", selection="3:5", format="json").json()
        assert found == [[3, 4, "x" * 1000], [4, 5, "x" * 1000]]
        assert client.get("/slice/", file="x.b2frame", format="json").status == 413


def test_frames_without_an_array_have_no_values_but_chunks(tmp_path):
    """A few chunks of zeros stand for gigabytes, which an answer had as text."""
    with cq.Frame.create(tmp_path / "x.b2frame") as frame:
        for _ in range(3):
            frame.append(bytes(1 << 20))
    with Client(served(tmp_path).app) as client:
        assert client.get("/info/", file="x.b2frame").json()["kind"] == "frame"
        for kind in ("json", "bin"):
            assert client.get("/slice/", file="x.b2frame", format=kind).status == 400
        found = client.get("/storage/", file="x.b2frame", offset=1, most=5).json()
        assert (found["total"], [chunk["index"] for chunk in found["chunks"]]) == (3, [1, 2])
        assert all(chunk["nbytes"] == 1 << 20 for chunk in found["chunks"])


def test_text_has_a_limit_of_its_own(tmp_path):
    cq.zeros((1 << 12, 1 << 11), "i1", path=tmp_path / "bytes.b2nd").close()
    with Client(served(tmp_path).app) as client:
        for kind, status in (("json", 413), ("csv", 413), ("bin", 200), ("npy", 200)):
            for route in ("slice", "data"):
                assert client.get(f"/{route}/", file="bytes.b2nd", format=kind).status == status, kind
        ask = {"file": "bytes.b2nd", "expression": "a + 1", "operands": "a:/"}
        assert client.get("/expr/", **ask, format="json").status == 413


def test_pictures_and_decoded_values_are_counted_as_what_they_become(tmp_path):
    """A byte becomes eight of float64, and some more on the way to colours: a request took gigabytes."""
    with cq.hdf5.File(tmp_path / "x.h5", "w") as file:
        x = file.create_dataset("x", (1 << 13, 1 << 13), "u1", chunks=(1 << 10, 1 << 10))
        x.attrs["scale_factor"] = 0.5
    with Client(served(tmp_path).app) as client:
        ask = {"file": "x.h5", "path": "/x"}
        for more, status in (
            ({"format": "png"}, 413),
            ({"format": "png", "most": 1000}, 200),
            ({"decode": 1}, 413),
            ({"decode": 1, "selection": ":1000"}, 200),
            ({}, 200),
        ):
            assert client.get("/slice/", **ask, **more).status == status, more
        more = {"file": "x.h5", "expression": "x + 1", "operands": "x:/x", "format": "png"}
        assert client.get("/expr/", **more).status == 413


def test_files_that_the_server_may_not_read_are_forbidden(world, monkeypatch):
    """As h5grove has it. Tests run as root too, who may read everything."""
    (world / "root" / "closed.h5").write_bytes(b"")
    monkeypatch.setattr(root_module.os, "access", lambda path, mode: not path.endswith("closed.h5"))
    with Client(served(world / "root").app) as client:
        for route in ("meta", "data", "info", "slice"):
            answer = client.get(f"/{route}/", file="closed.h5")
            assert (answer.status, answer.json()["error"]) == (403, "forbidden")
    (world / "root" / "closed.h5").unlink()


def test_damaged_files_are_errors(folder, tmp_path):
    good = (folder / "all.h5").read_bytes()
    frame = (folder / "grid.b2nd").read_bytes()
    rng = np.random.default_rng(7)
    for number in range(40):
        for name, content in ((f"{number}.h5", good), (f"{number}.b2nd", frame)):
            raw = bytearray(content)
            for at in rng.integers(0, len(raw), 12):
                raw[at] ^= int(rng.integers(1, 256))
            (tmp_path / name).write_bytes(raw[: int(rng.integers(len(raw) // 2, len(raw) + 1))])
    with Client(served(tmp_path).app) as client:
        for number, kind in itertools.product(range(40), ("h5", "b2nd")):
            for route in ("tree", "info", "storage", "slice"):
                path = "/group/grid" if kind == "h5" and route != "tree" else "/"
                answer = client.get(f"/{route}/", file=f"{number}.{kind}", path=path)
                assert answer.status in (200, 400, 404, 413, 500)
                assert answer.status != 500 or answer.json()["error"] != "internal", answer.content


def test_one_client_cannot_take_all():
    now = [0.0]
    gate = Gate(Limits(rate=10, burst=5), lambda: now[0])
    for _ in range(5):
        gate.admit("a")
    with pytest.raises(RequestError, match="requests a second"):
        gate.admit("a")
    gate.admit("b")
    now[0] += 0.1
    gate.admit("a")
    with pytest.raises(RequestError):
        gate.admit("a")


def test_the_gate_forgets_clients_and_counts_what_works():
    gate = Gate(Limits(rate=10, burst=5, concurrent=4), lambda: 0.0)
    for number in range(30_000):
        gate.admit(str(number))
    assert len(gate._left) <= 10_000
    with gate.working("a"), gate.working("a"):
        with pytest.raises(RequestError, match="of yours") as error, gate.working("a"):
            pass
        assert error.value.status == 503
        with (
            gate.working("b"),
            gate.working("b"),
            pytest.raises(RequestError, match="at work"),
            gate.working("c"),
        ):
            pass
    assert gate.active == 0
    assert not gate._at_work
    gate = Gate(Limits(held_bytes=100), lambda: 0.0)
    with gate.holding() as answer:
        answer.count(101)
        with pytest.raises(RequestError, match="taken"), gate.working():
            pass
    with gate.working():
        assert gate.held == 0


def test_answers_that_are_not_taken_are_few_however_many_wait(tmp_path):
    """The limit was looked at when a request came, and not when its turn to be answered did."""
    cq.zeros((1 << 20,), "u1", path=tmp_path / "x.b2nd").close()
    limits = Limits(rate=0, held_bytes=3 << 20, concurrent=100, threads=2)
    application = served(tmp_path, limits=limits)
    most, statuses = [], []

    async def ask(taken):
        async def send(message):
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            most.append(application.gate.held)
            await taken.wait()

        scope = {"type": "http", "method": "GET", "path": "/slice/", "query_string": b"file=x.b2nd"}
        scope |= {"headers": [], "client": ("127.0.0.1", 1), "server": ("localhost", 80), "scheme": "http"}
        await application.app({**scope, "root_path": ""}, None, send)

    async def ask_all():
        taken = asyncio.Event()
        requests = [asyncio.create_task(ask(taken)) for _ in range(40)]
        while len(statuses) < len(requests):
            await asyncio.sleep(0.01)
        taken.set()
        await asyncio.gather(*requests)

    asyncio.run(asyncio.wait_for(ask_all(), 60))
    assert max(most) <= limits.held_bytes + limits.threads * (1 << 20)
    assert set(statuses) == {200, 503}
    assert statuses.count(200) >= 3
    assert application.gate.held == 0


def test_too_many_requests_are_told_to_wait(folder):
    with Client(served(folder, limits=Limits(rate=1, burst=3)).app) as client:
        statuses = [client.get("/version/").status for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        assert client.get("/version/").headers["retry-after"] == "1"


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_parameters_are_numbers_and_switches_or_errors(name, text):
    parameters = Parameters([(name, text)])
    for read in (parameters.integer, parameters.number, parameters.flag):
        _, error = outcome(read, name, *([0] if read == parameters.integer else []))
        assert error is None or error.status == 400


def test_other_methods_and_routes_are_errors(shared_client):
    assert shared_client.ask("POST", "/info/", body=b"x").status == 405
    assert shared_client.ask("DELETE", "/raw/grid.b2nd").status == 405
    assert shared_client.ask("GET", "/nothing/").status == 404
    assert shared_client.ask("GET", "/assets/../../pyproject.toml").status == 404
    assert shared_client.ask("HEAD", "/info/", parameters={"file": "grid.b2nd"}).content == b""
