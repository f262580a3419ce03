"""Files stay open between requests, are opened again when they change, and are closed when nobody asks."""

import threading

import numpy as np
import pytest

import coquina as cq
from coquina.server import opened_files
from coquina.server.objects import children, find
from coquina.server.opened_files import CACHE_BYTES, OpenedFiles
from coquina.server.root import Root


@pytest.fixture
def world(tmp_path, monkeypatch):
    # The clock of the file system need not tick between two commits of a test.
    monkeypatch.setattr(opened_files, "_TICK_NS", -(10**9))
    for number in range(5):
        cq.asarray(np.arange(6.0) + number, path=tmp_path / f"{number}.b2nd").close()
    root, files = Root(str(tmp_path)), OpenedFiles()
    yield tmp_path, root, files
    files.close_idle(forever=True)


def test_a_file_is_opened_once_for_many_requests(world):
    _, root, files = world

    def read():
        for _ in range(20):
            with files.using(root.file("0.b2nd")) as found:
                assert found.top[3] == 3

    threads = [threading.Thread(target=read) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert files.opened == 1


def test_what_was_decoded_is_not_decoded_again(tmp_path, monkeypatch):
    # Arrays in files of their own kept a quarter of what datasets of HDF5 keep, and took twice the time.
    monkeypatch.setattr(opened_files, "_TICK_NS", -(10**9))
    values = np.arange(1 << 21, dtype="f4").reshape(1024, 2048)
    cq.asarray(values, path=tmp_path / "x.b2nd", chunks=(256, 256)).close()
    files, place = OpenedFiles(), Root(str(tmp_path)).file("x.b2nd")
    with files.using(place) as file:
        assert CACHE_BYTES >= find(file, "/").node.cache_bytes >= values.nbytes
        assert np.array_equal(file.top[...], values)
    with files.using(place) as file:
        before = file.top.info.blocks_decoded
        for row in range(0, 1024, 128):
            assert np.array_equal(file.top[row : row + 128, 100:600], values[row : row + 128, 100:600])
        assert file.top.info.blocks_decoded == before
    files.close_idle(forever=True)


def test_few_arrays_keep_decoded_blocks(tmp_path, monkeypatch):
    """Who asks for one after another takes no more memory than who asks for the last ones."""
    each = 1 << 16
    monkeypatch.setattr(opened_files, "CACHES_BYTES", 4 * each)
    with cq.hdf5.File(tmp_path / "x.h5", "w") as file:
        for number in range(10):
            file.create_dataset(f"{number}", data=np.arange(50.0), chunks=(10,))
    files, place = OpenedFiles(), Root(str(tmp_path)).file("x.h5")
    with files.using(place) as file:
        nodes = [find(file, f"/{number}").node for number in (*range(10), 3, 9)]
        assert [node.cache_bytes for node in nodes[:10]] == [
            2 * each if number in (3, 7, 8, 9) else 0 for number in range(10)
        ]
        assert np.array_equal(find(file, "/0").node[:], np.arange(50.0))
        assert find(file, "/0").node.cache_bytes == 2 * each
    # Files may be closed whose arrays come first.
    for _ in range(2):
        files.close_idle(forever=True)
        with files.using(place) as file:
            for number in range(10):
                find(file, f"/{number}")
    files.close_idle(forever=True)


def test_large_arrays_keep_a_part_of_their_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(opened_files, "CACHE_BYTES", 1 << 18)
    monkeypatch.setattr(opened_files, "CACHES_BYTES", 1 << 19)
    for number in range(4):
        cq.zeros((1000, 1000), "f8", path=tmp_path / f"{number}.b2nd", chunks=(100, 100)).close()
    root, files = Root(str(tmp_path)), OpenedFiles()
    nodes = []
    for number in range(4):
        with files.using(root.file(f"{number}.b2nd")) as file:
            nodes.append(find(file, "/").node)
    assert [node.cache_bytes for node in nodes] == [0, 0, 1 << 18, 1 << 18]
    files.close_idle(forever=True)


@pytest.mark.parametrize("name", ["s.b2z", "s.b2d", "s.h5"])
def test_objects_in_files_stay_open_until_the_file_changes(tmp_path, monkeypatch, name):
    """Arrays in stores were opened anew for each request, so that no decoded block was ever of use."""
    monkeypatch.setattr(opened_files, "_TICK_NS", -(10**9))
    path, values = tmp_path / name, np.arange(1 << 16, dtype="f4").reshape(256, 256)
    with cq.open(str(path), "w") as store:
        store["g/x"] = values
    files, place = OpenedFiles(), Root(str(tmp_path)).file(name)
    with files.using(place) as file:
        old = find(file, "/g/x").node
        assert np.array_equal(old[...], values)
    with files.using(place) as file:
        assert find(file, "g//x").node is old
        decoded = old.info.blocks_decoded
        assert np.array_equal(find(file, "/g/x").read((slice(3, 9), 5)), values[3:9, 5])
        assert old.info.blocks_decoded == decoded
    with cq.open(str(path), "r+") as store:
        del store["g/x"]
        store["g/x"] = values + 1
    with files.using(place) as file:
        new = find(file, "/g/x").node
        assert np.array_equal(new[...], values + 1)
    assert old.cache_bytes == 0
    assert new.cache_bytes >= values.nbytes
    files.close_idle(forever=True)
    assert new.cache_bytes == 0


def test_few_objects_of_a_file_stay_open(tmp_path, monkeypatch):
    monkeypatch.setattr(opened_files, "OBJECTS_MAX", 3)
    with cq.open(str(tmp_path / "s.b2d"), "w") as store:
        for number in range(6):
            store[f"g/{number}"] = np.arange(5.0) + number
    files, place = OpenedFiles(), Root(str(tmp_path)).file("s.b2d")
    with files.using(place) as file:
        nodes = [find(file, f"/g/{number}").node for number in (0, 1, 2, 0, 3, 4, 5)]
        assert list(file.objects) == ["/g/3", "/g/4", "/g/5"]
        assert [node.cache_bytes > 0 for node in nodes[-3:]] == [True] * 3
        assert nodes[0].cache_bytes == 0
        assert nodes[0][1] == 1
        # A list of names opens nothing for later.
        assert len(list(children(find(file, "/g")))) == 6
        assert "/g/0" not in file.objects
    files.close_idle(forever=True)


def test_a_change_is_seen_and_who_reads_keeps_what_was_there(world):
    path, root, files = world
    with files.using(root.file("0.b2nd")) as old:
        with cq.open(str(path / "0.b2nd"), "r+") as writer:
            writer[3] = 77.0
            with files.using(root.file("0.b2nd")) as new:
                assert new.top[3] == 77
            writer[3] = 78.0
        assert old.top[3] == 3
        assert old.is_stale
        with files.using(root.file("0.b2nd")) as new:
            assert new.top[3] == 78
        assert not old.top.is_closed
    assert old.top.is_closed


def test_a_change_within_a_tick_of_the_clock_is_seen(world, monkeypatch):
    path, root, files = world
    monkeypatch.setattr(opened_files, "_TICK_NS", 10**18)
    for number in range(3):
        cq.asarray(np.full(6, float(number)), path=path / "0.b2nd", overwrite=True).close()
        with files.using(root.file("0.b2nd")) as found:
            assert found.top[0] == number
            assert not found.is_settled


def test_what_nobody_asks_for_is_closed(world, monkeypatch):
    _, root, files = world
    with files.using(root.file("0.b2nd")) as used:
        with files.using(root.file("1.b2nd")) as idle:
            pass
        files.close_idle()
        assert not idle.top.is_closed
        monkeypatch.setattr(opened_files, "IDLE_SECONDS", -1.0)
        files.close_idle()
        assert idle.top.is_closed
        assert not used.top.is_closed
    assert files.opened == 2


def test_no_more_than_so_many_files_are_open(world, monkeypatch):
    _, root, files = world
    monkeypatch.setattr(opened_files, "FILES_MAX", 2)
    found = []
    for number in range(5):
        with files.using(root.file(f"{number}.b2nd")) as one:
            found.append(one)
    files.close_idle()
    assert [one.top.is_closed for one in found] == [True, True, True, False, False]


def test_a_file_that_was_written_here_is_opened_again(world):
    _path, root, files = world
    place = root.file("0.b2nd")
    with files.using(place) as first:
        files.forget(place.path)
        assert first.is_stale
    with files.using(place) as again:
        assert again is not first


def test_a_change_of_any_file_of_a_directory_is_another_state(world):
    path, root, files = world
    with cq.open(str(path / "s.b2d"), "w") as store:
        for name in "abc":
            store[name] = np.arange(5.0)
    tags = set()
    for number in range(3):
        with files.using(root.file("s.b2d")) as found:
            assert found.top["c"][0] == number
            tags.add(found.tag)
        with cq.open(str(path / "s.b2d"), "r+") as store:
            store["c"][0] = number + 1.0
    assert len(tags) == 3
