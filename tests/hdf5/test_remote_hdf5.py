"""HDF5 files that are far away: h5py's values, chunks read past libhdf5, and counts of what is asked."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys

import fsspec
import h5py
import hdf5plugin
import numpy as np
import obstore
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from obstore.store import MemoryStore

import coquina as cq
from coquina.hdf5 import File

from ..remote_cases import Counted, Seeking, noise, put

ITEMS = noise((300, 500))
KINDS = {
    "gzip": {"chunks": (70, 90), "compression": "gzip", "compression_opts": 1, "shuffle": True},
    "fletcher": {"chunks": (100, 500), "fletcher32": True},
    "lzf": {"chunks": (300, 100), "compression": "lzf"},
    "blosc2": {"chunks": (300, 500), "compression": hdf5plugin.Blosc2(cname="lz4", clevel=1)},
    "blosc": {"chunks": (100, 500), "compression": hdf5plugin.Blosc(clevel=1)},
    "zstd": {"chunks": (100, 100), "compression": hdf5plugin.Zstd(clevel=1)},
    "plain": {"chunks": (40, 500)},
    "contiguous": {"chunks": None},
}


@pytest.fixture(scope="module", params=["earliest", "latest"])
def content(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("remote") / "x.h5"
    with h5py.File(path, "w", libver=request.param) as h5:
        for name, options in KINDS.items():
            h5.create_dataset(name, data=ITEMS, **options)
        h5.create_dataset("growing", data=ITEMS, maxshape=(None, 500), **KINDS["gzip"])
        h5.create_dataset("sparse", ITEMS.shape, "i4", chunks=(50, 50), fillvalue=7)[60:70, 60:70] = 1
        h5["scalar"] = np.float32(2.5)
        h5["a/group/text"] = "some text"
        h5["a"].attrs["units"] = "K"
        h5.create_dataset("words", data=["one", "two", "three"])
    with cq.open(path, "r+") as file:
        file.create_dataset("ours", data=ITEMS, chunks=(300, 500), blocks=(20, 50), filter="blosc2")
    return path.read_bytes()


@pytest.mark.parametrize("name", [*KINDS, "growing", "ours"])
def test_every_kind_of_chunk_is_read_directly(content, name):
    url = put(content, ".h5")

    @settings(max_examples=12, deadline=None)
    @given(data=st.data())
    def check(data):
        with cq.open(url) as file:
            dataset = file[name]
            assert (dataset.access, dataset.access_reason) == ("direct", None)
            for _ in range(2):
                bounds = [sorted(data.draw(st.tuples(*2 * [st.integers(0, n)]))) for n in ITEMS.shape]
                step = data.draw(st.sampled_from([1, 3, 40]))
                key = tuple(slice(start, stop, step) for start, stop in bounds)
                np.testing.assert_array_equal(dataset[key], ITEMS[key])
            assert dataset.info.fallbacks == dataset.info.chunks_fetched == 0
            assert dataset.info.requests == file.remote.requests > 0

    check()


def test_what_is_no_chunk_is_read_by_h5py(content):
    with cq.open(put(content, ".h5")) as file:
        assert file["scalar"][()] == 2.5
        assert file["scalar"].remote is file.remote
        assert file["a"].attrs["units"] == "K"
        assert file["a/group/text"][()] == b"some text"
        assert list(file["words"][:]) == [b"one", b"two", b"three"]
        assert file["sparse"][65, 65] == 1
        assert file["sparse"][5, 5] == 7
        assert set(KINDS) < set(file)
        assert file.filename.startswith("memory://")
        assert file.path is None
        assert file.mode == "r"


@pytest.mark.parametrize("name", ["ours", "blosc2"])
def test_only_blocks_that_are_wanted_are_fetched(tmp_path, name):
    items = np.random.default_rng(1).integers(0, 1 << 60, (2000, 2000))
    with h5py.File(tmp_path / "x.h5", "w") as h5:
        options = {"chunks": (1000, 1000), "compression": hdf5plugin.Blosc2(cname="lz4", clevel=1)}
        h5.create_dataset("blosc2", data=items, **options)
    with cq.open(tmp_path / "x.h5", "r+") as file:
        cut = {"chunks": (1000, 1000), "blocks": (50, 200)}
        file.create_dataset("ours", data=items, filter="blosc2", **cut)
    with cq.open(put((tmp_path / "x.h5").read_bytes(), ".h5")) as file:
        assert file.remote.requests <= 3
        dataset = file[name]
        np.testing.assert_array_equal(dataset.shape, items.shape)
        counted = Counted(file.remote)
        block = int(np.prod(dataset.blocks)) * 8
        np.testing.assert_array_equal(dataset[3, 5:9], items[3, 5:9])
        rounds, requests, fetched = counted.since()
        # The index of chunks may be in pages that are not here yet: 1 MiB.
        assert (rounds <= 3, requests <= 6) == (True, True)
        assert fetched <= block + (1 << 20) + 4 * (16 << 10)
        np.testing.assert_array_equal(dataset[:, 700], items[:, 700])
        rounds, requests, fetched = counted.since()
        assert rounds <= 2
        assert fetched <= (2000 // dataset.blocks[0] + 1) * (block + (64 << 10))


def test_files_are_opened_by_all_that_opens_frames(content):
    url = put(content, ".h5")
    store = MemoryStore()
    obstore.put(store, "x.h5", content)
    ways = [
        lambda: cq.open(url),
        lambda: File(url),
        lambda: cq.open(fsspec.open(url)),
        lambda: cq.open("x.h5", store=store),
        lambda: cq.open(Seeking(content)),
        lambda: File(Seeking(content)),
    ]
    for open_it in ways:
        with open_it() as file:
            np.testing.assert_array_equal(file["gzip"][70:80], ITEMS[70:80])
            assert file.remote.requests > 0
    with cq.open(io.BytesIO(content)) as file:
        assert file.remote is None
        np.testing.assert_array_equal(file["gzip"][70:80], ITEMS[70:80])
    with pytest.raises(ValueError, match="only be read"):
        File(url, "r+")
    # h5py takes the file object itself; libhdf5 then reads all chunks.
    with h5py.File(cq.open(url).remote.file()) as h5:
        np.testing.assert_array_equal(h5["zstd"][5:9], ITEMS[5:9])


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_tables_far_away_answer_conditions(tmp_path, layout):
    rng = np.random.default_rng(4)
    data = {"time": np.arange(300_000), "value": rng.random(300_000), "name": np.arange(300_000) % 7}
    path = tmp_path / "t.h5"
    cq.create_table(path, data, layout=layout, index=["value"]).close()
    url = put(path.read_bytes(), ".h5")
    table = cq.open_table(url)
    assert table.remote.url == url
    counted = Counted(table.remote)
    found = table.where("(time >= 1000) & (time < 1100) & (name == 3)").to_numpy()
    expected = np.flatnonzero(data["name"][1000:1100] == 3) + 1000
    np.testing.assert_array_equal(found["time"], expected)
    fetched = counted.since()[2]
    assert fetched < path.stat().st_size / 2
    value = float(data["value"][123_456])
    for _ in range(2):
        found = table.where(f"value == {value!r}").to_numpy()
        np.testing.assert_array_equal(found["time"], [123_456])
    assert counted.since()[2] < 2 * path.stat().st_size
    assert table.where(f"value == {value!r}").to_numpy()["time"] == 123_456
    assert counted.since()[0] <= 2
    again = pickle.loads(pickle.dumps(table))
    assert again[77] == table[77]


def test_pickles_of_nodes_say_where_they_are(content):
    with cq.open(put(content, ".h5")) as file:
        dataset, group = (pickle.loads(pickle.dumps(file[name])) for name in ("gzip", "a"))
        np.testing.assert_array_equal(dataset[7], ITEMS[7])
        assert group.attrs["units"] == "K"
        assert dataset.remote.url == file.remote.url


def test_a_source_that_fails_is_named_and_may_recover(content):
    source = Seeking(content)
    with cq.open(source) as file:
        dataset = file["zstd"]
        np.testing.assert_array_equal(dataset[5], ITEMS[5])
        source.fails = ConnectionResetError("gone")
        with pytest.raises(OSError, match=r"a plain file object: bytes .*gone"):
            dataset[150:200]
        with pytest.raises(OSError, match="gone"):
            file["contiguous"][100:200]
        source.fails = None
        np.testing.assert_array_equal(dataset[150:200], ITEMS[150:200])
        assert (dataset.access, dataset.info.fallbacks) == ("direct", 0)


def test_damage_is_found_as_in_local_files(content):
    with cq.open(io.BytesIO(content)) as file:
        at = file["fletcher"].h5.id.get_chunk_info(1).byte_offset
    damaged = bytearray(content)
    damaged[at + 1000] ^= 1
    with cq.open(put(bytes(damaged), ".h5")) as file:
        np.testing.assert_array_equal(file["fletcher"][:100], ITEMS[:100])
        with pytest.raises(cq.CorruptError):
            file["fletcher"][150]
        np.testing.assert_array_equal(file["fletcher"][200:], ITEMS[200:])


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.floats(0, 0.999))
def test_a_cut_file_is_an_error(content, cut):
    with pytest.raises((cq.CoquinaError, OSError)):
        cq.open(put(content[: int(cut * len(content))], ".h5"))


def test_a_program_may_end_while_a_thread_holds_a_remote_file(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = np.arange(10)
    program = f"""
import fsspec, threading
import coquina as cq
with open({str(tmp_path / "x.h5")!r}, "rb") as file:
    fsspec.filesystem("memory").pipe("/x.h5", file.read())
dataset = cq.open("memory://x.h5")["x"]
assert dataset[3] == 3
threading.Thread(target=lambda held: threading.Event().wait(), args=(dataset,), daemon=True).start()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=100)
    assert (ended.returncode, ended.stderr) == (0, b"")
