"""Answers on disk are used while the server says that they hold; asynchronous reads are the plain ones."""

import asyncio
import threading
import time

import numpy as np
import pytest

import coquina as cq
from coquina.client.disk_cache import DiskCache
from coquina.server import opened_files
from coquina.server.users import Users

from .conftest import served, table_columns
from .servers import listening


@pytest.fixture
def place(tmp_path, grid):
    (tmp_path / "served").mkdir()
    cq.asarray(grid, path=tmp_path / "served" / "x.b2nd", chunks=(20, 25)).close()
    cq.create_table(tmp_path / "served" / "t.h5", table_columns(), name="/t").close()
    # The server confirms no answer about a file that is younger than a tick of the clock of files.
    until = max(path.stat().st_ctime_ns for path in (tmp_path / "served").iterdir()) + opened_files._TICK_NS
    while time.time_ns() <= until:
        time.sleep(0.001)
    return tmp_path


def test_answers_are_read_from_disk_while_they_hold_and_anew_after_a_commit(place, grid):
    with listening(served(place / "served")) as url:
        first = cq.connect(url, cache=place / "cache")["x.b2nd"]
        assert np.array_equal(first[3:9], grid[3:9])
        again = cq.connect(url, cache=place / "cache")["x.b2nd"]
        before = again.requests.bytes_read
        assert np.array_equal(again[3:9], grid[3:9])
        assert again.requests.bytes_read == before
        assert again.requests._cache.hits > 0
        with cq.open(str(place / "served" / "x.b2nd"), "r+") as array:
            array[4] = 77
        assert np.array_equal(again[4], np.full(50, 77, grid.dtype))
        assert (first[3:9] == again[3:9]).all()


def test_ranges_of_a_state_need_no_request_and_other_states_are_not_mixed_in(place, grid):
    with listening(served(place / "served")) as url:
        with cq.connect(url, cache=place / "cache").open("x.b2nd") as array:
            assert np.array_equal(array[:20, :25], grid[:20, :25])
        remote = cq.connect(url, cache=place / "cache")
        with remote.open("x.b2nd") as array:
            before = remote.requests.bytes_read
            assert np.array_equal(array[:20, :25], grid[:20, :25])
            assert remote.requests.bytes_read == before
        with cq.open(str(place / "served" / "x.b2nd"), "r+") as array:
            array[:20, :25] = 5
        with cq.connect(url, cache=place / "cache").open("x.b2nd") as array:
            assert (array[:20, :25] == 5).all()


def test_what_is_kept_belongs_to_a_token(place, grid):
    users = Users.single("token-long")
    with listening(served(place / "served", users=users)) as url:
        assert np.array_equal(cq.connect(url, token="token-long", cache=place / "cache")["x.b2nd"][...], grid)
        with pytest.raises(PermissionError):
            cq.connect(url, token="another-long", cache=place / "cache")["x.b2nd"]
    names = b"".join(path.read_bytes() for path in (place / "cache").iterdir())
    assert b"token-long" not in names


def test_damaged_files_are_no_answers_and_the_limit_holds(tmp_path):
    cache = DiskCache(tmp_path / "c", 10_000)
    cache.keep("a", {"etag": '"1"'}, b"some values")
    assert cache.find("a") == ({"etag": '"1"'}, b"some values")
    (path,) = (tmp_path / "c").iterdir()
    raw = path.read_bytes()
    for at in range(len(raw)):
        path.write_bytes(raw[:at])
        assert cache.find("a") is None
    path.write_bytes(raw[:-1] + b"x")
    assert cache.find("a") is None
    cache.keep("large", {"etag": '"1"'}, bytes(5000))
    assert cache.find("large") is None
    for number in range(40):
        cache.keep(str(number), {"etag": '"1"'}, bytes(1000))
        assert sum(one.stat().st_size for one in (tmp_path / "c").iterdir()) <= 10_000
    assert cache.find("39") is not None
    assert cache.find("0") is None
    assert (tmp_path / "c").stat().st_mode & 0o077 == 0


def test_asynchronous_reads_are_the_plain_ones_and_run_at_once(place, grid):
    columns = table_columns()

    async def reads(remote):
        table, array = await asyncio.gather(remote.get_async("t.h5/t"), remote.get_async("x.b2nd"))
        found = await asyncio.gather(*[array.read_async(np.s_[row]) for row in range(60)])
        assert np.array_equal(np.stack(found), grid)
        assert await table.where("number > 990").count_async() == 9
        assert (await table["number"].read_async(slice(3, 5))).tolist() == [3, 4]
        assert (await table.head(3).to_dict_async())["number"].tolist() == [0, 1, 2]
        assert len(await table.to_pandas_async()) == len(columns["number"])
        assert (await table.to_arrow_async()).num_rows == len(columns["number"])
        assert (await table.head(2).to_numpy_async("number")).tolist() == [0, 1]
        file = await remote.get_async("t.h5")
        assert (await file.compute_async("a + 1", a="t/number"))[0] == 1
        assert (await file.expr("a + 1", a="t/number").read_async(slice(2)))[1] == 2
        with pytest.raises(KeyError):
            await remote.get_async("nothing")

    with listening(served(place / "served")) as url:
        asyncio.run(reads(cq.connect(url)))
    assert threading.active_count() < 40
