"""Arrays and frames that are far away: the values are those of NumPy, and what is asked for is counted."""

from __future__ import annotations

import io
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import fsspec
import numpy as np
import obstore
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from obstore.store import HTTPStore, LocalStore, MemoryStore

import coquina as cq
from coquina.remote import PAGE_BYTES, RangeReader

from .remote_cases import MEMORY, Counted, Seeking, noise, opened, put, web_server

ITEMS = noise((96, 80, 96))
#: Chunks of 1.2 MB or so, which are not fetched as a whole for a few of their blocks.
CUT = {"chunks": (48, 80, 80), "blocks": (8, 20, 40)}
WAYS = {
    "zstd": {"codec": "zstd", "level": 1},
    "stored": {"level": 0},
    "delta": {"codec": "lz4", "filters": ["delta", "shuffle"]},
    "without sums": {"codec": "blosclz", "checksums": False},
}
ARRAYS = {name: cq.asarray(ITEMS, **CUT, **options).to_bytes() for name, options in WAYS.items()}
SMALL = cq.asarray(ITEMS[:, :9], chunks=(10, 9, 30), blocks=(4, 3, 11)).to_bytes()


def keys(shape):
    """Return keys of all kinds."""

    def of_axis(length):
        bound = st.one_of(st.none(), st.integers(-length, length))
        steps = st.sampled_from([None, 1, 2, 7, -1, -3])
        return st.one_of(st.builds(slice, bound, bound, steps), st.integers(-length, length - 1))

    lists = st.lists(st.integers(-shape[0], shape[0] - 1), max_size=6)
    basic = st.tuples(*[of_axis(length) for length in shape])
    return st.one_of(basic, lists, st.tuples(lists, of_axis(shape[1])))


@pytest.mark.parametrize("name", [*ARRAYS, "small"])
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_what_is_read_is_what_numpy_reads(name, data):
    items = ITEMS[:, :9] if name == "small" else ITEMS
    array = opened(SMALL if name == "small" else ARRAYS[name])
    array.cache_bytes = data.draw(st.sampled_from([0, 1 << 20]))
    for _ in range(3):
        key = data.draw(keys(items.shape))
        found = array[key]
        np.testing.assert_array_equal(found, items[key])
        assert found.shape == items[key].shape


@pytest.mark.parametrize("name", ARRAYS)
def test_only_blocks_that_are_wanted_are_fetched_in_two_questions(name):
    array = opened(ARRAYS[name])
    block = 8 * 20 * 40 * 4
    counted = Counted(array.remote)
    assert (array.remote.rounds, array.remote.requests) == (1, 2)
    assert array.remote.bytes_read <= 6 << 10
    array[3, 4, 5]
    rounds, requests, fetched = counted.since()
    assert rounds <= 2
    assert requests <= 3
    # What is asked of a chunk first stands before its blocks and behind them.
    assert fetched <= block + 100 + 2000
    assert (array[3, 4, 5], counted.since()) == (ITEMS[3, 4, 5], (0, 0, 0))
    array[:, 4, 5]
    rounds, requests, fetched = counted.since()
    assert rounds <= 2
    # 12 blocks, two of them alone in a chunk's half; blocks of a chunk stand at a distance from each other.
    assert requests <= 14
    assert fetched <= 12 * (block + 100) + 16 * (1 << 10) + 14 * PAGE_BYTES


def test_what_is_wanted_of_many_chunks_is_asked_for_together():
    array = opened(ARRAYS["zstd"])
    counted = Counted(array.remote)
    np.testing.assert_array_equal(array[::13, ::11, ::17], ITEMS[::13, ::11, ::17])
    rounds, requests, _ = counted.since()
    assert (rounds <= 2, requests <= 20) == (True, True)
    np.testing.assert_array_equal(array[...], ITEMS)
    assert counted.since()[0] <= 2
    whole = opened(ARRAYS["zstd"])
    np.testing.assert_array_equal(whole[...], ITEMS)
    assert whole.remote.rounds == 2
    assert whole.remote.bytes_read <= len(ARRAYS["zstd"]) + 3 * PAGE_BYTES
    assert whole.remote.requests <= 2 + 2


def test_small_chunks_are_asked_for_once():
    array = opened(SMALL)
    assert len(SMALL) > 2 * PAGE_BYTES
    np.testing.assert_array_equal(array[5:70:3, 2], ITEMS[5:70:3, 2])
    assert array.remote.rounds == 2


def test_more_than_is_held_at_once_comes_in_turns():
    items = np.random.default_rng(1).integers(0, 1 << 62, 40 << 17)
    array = opened(cq.asarray(items, level=0, chunks=(1 << 18,), blocks=(1 << 15,)))
    assert array.cbytes >= 40 << 20
    np.testing.assert_array_equal(array[...], items)
    assert array.remote.rounds == 3


def test_few_blocks_of_many_small_chunks_come_in_turns_too(monkeypatch):
    """Such chunks are fetched as a whole, so that is what counts."""
    items = np.random.default_rng(1).integers(0, 256, (720, 60_000)).astype("u1")
    array = opened(cq.asarray(items, level=0, chunks=(1, 60_000), blocks=(1, 4000)))
    asked, read = [], RangeReader.read_ranges

    def noted(self, ranges):
        asked.append(sum(stop - start for start, stop in ranges))
        return read(self, ranges)

    monkeypatch.setattr(RangeReader, "read_ranges", noted)
    np.testing.assert_array_equal(array[:, 5], items[:, 5])
    assert sum(asked) > 40 << 20
    assert max(asked) < 33 << 20


def sources(content, folder):
    """Return the ways to the same bytes."""
    url = put(content)
    (folder / "x").write_bytes(content)
    store = MemoryStore()
    obstore.put(store, "a/x", content)
    yield "url", lambda: cq.open(url)
    yield "options", lambda: cq.open(url, storage_options={"skip_instance_cache": True})
    yield "open file", lambda: cq.open(fsspec.open(url))
    yield "opened file", lambda: cq.open(fsspec.open(url).open())
    cache = {"simplecache": {"cache_storage": str(folder / "cache")}}
    yield "cached", lambda: cq.open("simplecache::" + url, storage_options=cache)
    yield "store", lambda: cq.open("a/x", store=store)
    yield "folder", lambda: cq.open("x", store=LocalStore(folder))
    yield "reader", lambda: cq.open(obstore.open_reader(store, "a/x"))
    yield "file object", lambda: cq.open(Seeking(content))


@pytest.mark.parametrize("number", range(9))
def test_every_source_gives_the_same(tmp_path, number):
    way, open_it = list(sources(ARRAYS["zstd"], tmp_path))[number]
    array = open_it()
    np.testing.assert_array_equal(array[40:60, 7:9], ITEMS[40:60, 7:9], way)
    assert 0 < array.remote.bytes_read < len(ARRAYS["zstd"])
    assert array.remote.requests == array.info.requests > 0
    assert array.remote.url in repr(array)
    assert array.path is None
    assert array.mode == "r"


def test_a_web_server_is_asked_for_what_is_counted():
    with web_server({"/data/x.b2nd": ARRAYS["zstd"]}) as server:
        array = cq.open(f"{server.url}/data/x.b2nd")
        np.testing.assert_array_equal(array[3:5, ::40, 90:], ITEMS[3:5, ::40, 90:])
        ranges = [one for one in server.asked if one]
        assert len(ranges) == array.remote.requests
        sizes = [[int(end) for end in one.removeprefix("bytes=").split("-")] for one in ranges]
        assert sum(last + 1 - first for first, last in sizes) == array.remote.bytes_read
        store = HTTPStore.from_url(server.url, client_options={"allow_http": True})
        np.testing.assert_array_equal(cq.open("data/x.b2nd", store=store)[50], ITEMS[50])
        with pytest.raises(FileNotFoundError):
            cq.open(f"{server.url}/data/none.b2nd")
        server.knows_ranges = False
        with pytest.raises(OSError, match=r"data/x\.b2nd"):
            array[60]


def test_local_files_are_read_as_such(tmp_path):
    path = tmp_path / "x y.b2nd"
    path.write_bytes(SMALL)
    for source in (path, path.as_uri().replace("%20", " "), path.as_uri(), io.BytesIO(SMALL)):
        array = cq.open(source)
        assert array.remote is None
        np.testing.assert_array_equal(array[3], ITEMS[3, :9])
    with path.open("rb") as file:
        assert cq.open(file).remote is None
    with pytest.raises(TypeError, match="not a URL"):
        cq.open(path, storage_options={"a": 1})


def test_arrays_far_away_are_computed_with_copied_and_verified(tmp_path):
    array = opened(ARRAYS["zstd"])
    assert float((array + 1).sum()) == float((ITEMS + 1).sum(dtype="f8"))
    np.testing.assert_array_equal(array.max(axis=0), ITEMS.max(axis=0))
    assert array.verify() == []
    np.testing.assert_array_equal(array.copy()[...], ITEMS)
    array.save(tmp_path / "x.b2nd")
    np.testing.assert_array_equal(cq.open(tmp_path / "x.b2nd")[7], ITEMS[7])
    assert array.refresh() is False
    assert "memory://" in str(array.info)
    with pytest.raises(ValueError, match="read"):
        array[0] = 1


def test_frames_and_packed_files_may_be_far_away(tmp_path):
    frame = cq.Frame.create(tmp_path / "x.b2frame", typesize=4)
    chunks = [ITEMS[n].tobytes() for n in range(9)]
    for chunk in chunks:
        frame.append(chunk)
    frame.close()
    far = cq.open(put((tmp_path / "x.b2frame").read_bytes(), ".b2frame"))
    assert list(far) == chunks
    assert far.remote.requests > 0
    cq.pack(ITEMS, tmp_path / "x.blp")
    packed = cq.open(put((tmp_path / "x.blp").read_bytes(), ".blp"))
    np.testing.assert_array_equal(packed[50:52], ITEMS[50:52])
    assert 0 < packed.remote.bytes_read < len(ARRAYS["stored"])


def test_threads_share_an_array():
    array = opened(ARRAYS["delta"])
    array.cache_bytes = 0

    def read(n):
        np.testing.assert_array_equal(array[n % 96, :, n % 7], ITEMS[n % 96, :, n % 7])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(read, range(60)))


def test_pickles_say_where_it_is(tmp_path):
    array = opened(ARRAYS["zstd"], storage_options={"skip_instance_cache": True})
    content = pickle.dumps(array)
    assert len(content) < 1000
    again = pickle.loads(content)
    np.testing.assert_array_equal(again[5], ITEMS[5])
    assert again.remote.url == array.remote.url
    (tmp_path / "x").write_bytes(SMALL)
    local = pickle.loads(pickle.dumps(cq.open("x", store=LocalStore(tmp_path))))
    np.testing.assert_array_equal(local[5], ITEMS[5, :9])
    by_file = pickle.loads(pickle.dumps(cq.open(fsspec.open(put(SMALL)).open())))
    np.testing.assert_array_equal(by_file[5], ITEMS[5, :9])
    with pytest.raises(TypeError, match="file object"):
        pickle.dumps(cq.open(Seeking(SMALL)))


@pytest.mark.parametrize("mode", ["r+", "a", "w"])
def test_what_is_far_away_is_only_read(mode):
    with pytest.raises(ValueError, match=r"memory://.*only be read"):
        cq.open(put(SMALL), mode)


def test_missing_files_and_libraries_are_named(monkeypatch):
    with pytest.raises(FileNotFoundError, match="none"):
        cq.open("memory://none.b2nd")
    with pytest.raises(ValueError, match="nothing"):
        cq.open("nothing://x.b2nd")
    MEMORY.makedirs("/coquina-folder", exist_ok=True)
    with pytest.raises(OSError, match=r"coquina-folder.*directory"):
        cq.open("memory://coquina-folder")
    for name in ("fsspec", "fsspec.core", "obstore"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"needs fsspec: pip install 'coquina\[remote\]'"):
        cq.open("memory://x.b2nd")
    with pytest.raises(ImportError, match=r"needs obstore"):
        cq.open("x", store=object())


def test_a_source_that_fails_is_named_and_may_recover():
    file = Seeking(ARRAYS["zstd"])
    array = cq.open(file)
    for error in (ConnectionResetError("gone"), TimeoutError("too slow"), RuntimeError("strange")):
        file.fails = error
        with pytest.raises(OSError, match=f"a plain file object: bytes .*{type(error).__name__}: {error}"):
            array[30:60]
    file.fails = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        array[30:60]
    file.fails = None
    np.testing.assert_array_equal(array[30:60], ITEMS[30:60])
    file.fails = OSError("gone")
    with pytest.raises(OSError, match="a plain file object"):
        cq.open(file)


@settings(max_examples=30, deadline=None)
@given(cut=st.integers(0, len(SMALL) - 1))
def test_a_cut_file_is_an_error_that_names_it(cut):
    with pytest.raises(cq.CoquinaError, match="memory://"):
        opened(SMALL[:cut])


def test_a_file_that_gets_shorter_is_an_error_that_names_it():
    url = put(ARRAYS["zstd"])
    array = cq.open(url)
    MEMORY.pipe_file(url.removeprefix("memory:/"), ARRAYS["zstd"][:500_000])
    with pytest.raises(cq.TruncatedError, match=rf"{url}.*changed"):
        array[...]


def test_damage_is_found_as_in_local_files():
    content = bytearray(ARRAYS["zstd"])
    content[700_000] ^= 1
    array = opened(bytes(content))
    with pytest.raises(cq.CorruptError, match="checksum"):
        array[...]
    (damage,) = array.verify()
    good = np.ones(ITEMS.shape, bool)
    good[damage.region] = False
    rows = np.flatnonzero(good.all(axis=(1, 2)))
    np.testing.assert_array_equal(array[rows[:5]], ITEMS[rows[:5]])


@settings(max_examples=60, deadline=None)
@given(
    size=st.integers(1, 5 * PAGE_BYTES),
    parts=st.lists(st.tuples(st.integers(0, 5 * PAGE_BYTES), st.integers(0, 3 * PAGE_BYTES)), max_size=8),
    ahead=st.integers(0, 3),
)
def test_a_reader_is_a_file(size, parts, ahead):
    content = np.random.default_rng(size).bytes(size)
    reader = cq.remote.RangeReader(cq.remote_sources.FileSource(io.BytesIO(content)))
    reader.ahead = ahead
    file, plain = reader.file(), io.BytesIO(content)
    for at, count in parts:
        assert file.seek(at) == plain.seek(at)
        assert file.read(count) == plain.read(count)
        assert file.tell() == plain.tell()
    assert file.seek(-1, 2) == plain.seek(-1, 2)
    assert file.read() == plain.read()
    assert isinstance(reader, RangeReader)
