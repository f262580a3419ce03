"""Arrays of ours from Dask's: what one writer makes, encoded once, by threads, processes and a cluster."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager

import h5py
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from tests.adapters.dask_cases import NUMBERS, stored

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _threads():
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture(scope="module")
def processes():
    """Two worker processes, in a pool of Dask's own scheduler for processes."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield {"scheduler": "processes", "pool": pool}


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two processes."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as one,
        distributed.Client(one) as client,
    ):
        yield client


@contextmanager
def nothing_left(folder):
    """Expect that nothing hidden is left in a folder."""
    yield
    assert [name for name in os.listdir(folder) if name.startswith(".")] == []


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=4),
    st.lists(st.integers(1, 30), min_size=1, max_size=4),
    st.none() | st.just("auto") | st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.sampled_from(["<i2", ">f8", "S3", "?", "c8"]),
)
def test_arrays_are_those_that_one_writer_makes(rows, columns, chunks, dtype):
    numbers = (np.arange(sum(rows) * sum(columns)).reshape(sum(rows), sum(columns)) % 91).astype(dtype)
    x = da.from_array(numbers, chunks=(tuple(rows), tuple(columns)))
    a = cq.from_dask(x, chunks=chunks)
    wanted = cq.asarray(numbers, chunks=a.chunks, blocks=a.blocks)
    assert a.dtype == numbers.dtype
    assert a.to_bytes() == wanted.to_bytes()
    if isinstance(chunks, tuple):
        assert a.chunks == chunks
    elif chunks is None:
        assert a.chunks == (max(rows), max(columns))


@pytest.mark.parametrize("contiguous", [True, False])
def test_files_hold_what_one_writer_writes_once(tmp_path, contiguous):
    x = da.from_array(NUMBERS, chunks=(10, 20))
    path = tmp_path / "a.b2nd"
    with nothing_left(tmp_path):
        a = cq.from_dask(x, path, chunks=(20, 10), level=3, contiguous=contiguous)
    assert a.mode == "a"
    assert a.info.dead_bytes == 0
    a.close()
    b = cq.open(path)
    assert b.verify() == []
    assert b.info.level == 3
    assert b.to_bytes() == cq.asarray(NUMBERS, chunks=(20, 10), blocks=b.blocks, level=3).to_bytes()
    with pytest.raises(FileExistsError):
        cq.from_dask(x, path, contiguous=contiguous)
    cq.from_dask(x + 1, path, overwrite=True, contiguous=contiguous).close()
    np.testing.assert_array_equal(cq.open(path)[...], NUMBERS + 1)


def test_each_chunk_is_computed_and_encoded_once(monkeypatch, tmp_path):
    from coquina.adapters import dask_parts

    encoded, computed, lock = [], [], threading.Lock()
    encode = dask_parts.ArrayRecipe.encoded

    def counted(self, items, start):
        with lock:
            encoded.append((start, items.shape))
        return encode(self, items, start)

    def noted(block, block_info=None):
        with lock:
            computed.append(block_info[0]["chunk-location"])
        return block + 1

    monkeypatch.setattr(dask_parts.ArrayRecipe, "encoded", counted)
    x = da.from_array(NUMBERS, chunks=(20, 10)).map_blocks(noted, dtype=NUMBERS.dtype, meta=NUMBERS[:0, :0])
    mean = x.mean()
    cq.from_dask(x - mean, tmp_path / "a.b2nd", chunks=(20, 10)).close()
    assert sorted(computed) == sorted(np.ndindex(4, 5))
    starts = [(20 * row, 10 * column) for row, column in np.ndindex(4, 5)]
    assert sorted(start for start, _ in encoded) == starts


@pytest.mark.parametrize("to", ["memory", "frame", "folder", "hdf5"])
@pytest.mark.parametrize("where", ["processes", "cluster"])
def test_several_processes(tmp_path, request, where, to):
    settings = request.getfixturevalue(where)
    settings = settings if where == "processes" else {"scheduler": settings}
    source = stored("hdf5" if to == "frame" else "frame", tmp_path)
    with dask.config.set(settings), nothing_left(tmp_path):
        x = source.to_dask(16)
        pids = x.map_blocks(lambda block: np.array([[os.getpid()]]), chunks=(1, 1), dtype=int)
        y = x * 2 + (pids.max().persist() if where == "cluster" else pids.max()) * 0
        if to == "hdf5":
            with cq.open(tmp_path / "new.h5", "w") as file:
                file.create_dataset("y", data=y, chunks=(20, 20), dtype="f4")
        else:
            path = None if to == "memory" else tmp_path / "new.b2nd"
            a = cq.from_dask(y.astype("f4"), path, chunks=(20, 20), contiguous=to != "folder")
        assert os.getpid() not in pids.compute()
    if to == "hdf5":
        with h5py.File(tmp_path / "new.h5") as file:
            np.testing.assert_array_equal(file["y"][...], 2 * NUMBERS)
    else:
        assert a.to_bytes() == cq.asarray(2 * NUMBERS, chunks=(20, 20), blocks=a.blocks).to_bytes()
        assert a.info.dead_bytes == 0


def test_sources_of_all_kinds_in_a_cluster(tmp_path, cluster):
    a = stored("frame", tmp_path)
    big = cq.asarray(np.arange(200_000.0).reshape(400, 500), chunks=(64, 100))
    cases = [
        big,
        a.view((slice(3, 50), [1, 2])),
        cq.sin(big) + 1,
        cq.asarray(np.zeros(5, "i2,f4")).fields["f1"],
    ]
    for items in cases:
        np.testing.assert_array_equal(cluster.compute(items.to_dask(64)).result(), items[...])


def test_delayed(tmp_path, processes):
    x = da.from_array(NUMBERS, chunks=(20, 20))
    path = tmp_path / "a.b2nd"
    later = cq.from_dask(x, path, codec="lz4", compute=False)
    assert not path.exists()
    a = later.compute(**processes)
    assert a.mode == "r"
    assert a.info.codec == "lz4"
    assert a.to_bytes() == cq.asarray(NUMBERS, chunks=(20, 20), blocks=a.blocks, codec="lz4").to_bytes()
    np.testing.assert_array_equal(cq.from_dask(x, compute=False).compute()[...], NUMBERS)


class Failure(Exception):
    pass


def failing(block, block_info=None):
    """Fail for one of the last blocks."""
    if block_info is not None and block_info[0]["chunk-location"] == (3, 1):
        raise Failure("on purpose")
    return block


@pytest.mark.parametrize("compute", [True, False])
def test_chunks_of_another_shape_than_announced_are_an_error(tmp_path, compute):
    x = da.from_array(NUMBERS, chunks=(16, 50)).map_blocks(lambda block: block[:8], dtype="f4")
    with pytest.raises(ValueError, match=r"at \(\d+, 0\) has shape \(8, 47\)"):
        dask.compute(cq.from_dask(x, tmp_path / "a.b2nd", chunks=(8, 50), compute=compute))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("where", ["threads", "processes"])
@pytest.mark.parametrize("contiguous", [True, False])
def test_a_failure_leaves_no_file_or_the_old_one(tmp_path, request, where, contiguous):
    settings = request.getfixturevalue(where) if where == "processes" else {"scheduler": where}
    path = tmp_path / "a.b2nd"
    x = da.from_array(NUMBERS, chunks=(16, 16)).map_blocks(failing, dtype="f4", meta=NUMBERS[:0, :0])
    with dask.config.set(settings):
        with pytest.raises(Failure):
            cq.from_dask(x, path, contiguous=contiguous)
        assert os.listdir(tmp_path) == []
        cq.asarray(NUMBERS[:3], path=path, contiguous=contiguous).close()
        with pytest.raises(Failure):
            cq.from_dask(x, path, overwrite=True, contiguous=contiguous)
        assert os.listdir(tmp_path) == ["a.b2nd"]
        np.testing.assert_array_equal(cq.open(path)[...], NUMBERS[:3])
        with cq.open(tmp_path / "a.h5", "w") as file:
            with pytest.raises(Failure):
                file.create_dataset("x", data=x)
            assert list(file) == []
    assert sorted(os.listdir(tmp_path)) == ["a.b2nd", "a.h5"]


def test_what_is_no_dask_array_of_known_shape():
    with pytest.raises(TypeError, match="asarray"):
        cq.from_dask(NUMBERS)
    x = da.from_array(NUMBERS, chunks=10)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        cq.from_dask(x[x[:, 0] > 3])
    with pytest.raises(TypeError):
        cq.from_dask(da.from_array(np.array([{}, None]), chunks=1))


@pytest.mark.parametrize("filter", ["blosc2", "gzip", "none", "bitshuffle"])
@pytest.mark.parametrize("dtype", ["<f4", ">i2"])
def test_datasets_are_filled_by_tasks(tmp_path, filter, dtype):
    numbers = NUMBERS.astype(dtype)
    x = da.from_array(numbers, chunks=(10, 30))
    with nothing_left(tmp_path), cq.open(tmp_path / "a.h5", "w") as file:
        made = {"chunks": (16, 20), "filter": filter, "fillvalue": 9, "fletcher32": filter == "gzip"}
        d = file.create_dataset("x", data=x, maxshape=(None, 50), **made)
        np.testing.assert_array_equal(d[...], numbers)
        d.resize((70, 50))
        assert (d[61:] == 9).all()
        assert (d[:, 47:] == 9).all()
        # Without chunks there is nothing for tasks to encode.
        np.testing.assert_array_equal(file.create_dataset("scalar", data=x.sum())[()], numbers.sum())
    with h5py.File(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["x"][:61, :47], numbers)


@pytest.mark.parametrize("kind", ["memory", "frame", "hdf5"])
def test_dask_stores_into_open_arrays(tmp_path, kind):
    a = stored(kind, tmp_path, np.zeros_like(NUMBERS))
    if kind != "memory":
        path = a.path
        (a.file if kind == "hdf5" else a).close()
        opened = cq.open(path, "r+")
        a = opened["g/x"] if kind == "hdf5" else opened
    # Some regions share chunks: one writer at a time keeps both.
    da.store(da.from_array(NUMBERS, chunks=(10, 13)), a, lock=False)
    np.testing.assert_array_equal(a[...], NUMBERS)
    (a.file if kind == "hdf5" else a).close()


@pytest.mark.parametrize("compute", [True, False])
def test_from_dask_takes_arrays_of_xarray(tmp_path, compute):
    # They have Dask's methods also where they have none of its arrays.
    x = xr.DataArray(
        np.arange(24.0).reshape(6, 4), {"t": np.arange(6)}, ("t", "x"), "v", attrs={"units": "K"}
    )
    made = cq.from_dask(x.chunk({"t": 2}), tmp_path / "v.b2nd", compute=compute)
    made = made if compute else made.compute()
    assert made.chunks == (2, 4)
    made.close()
    xr.testing.assert_identical(xr.open_dataset(tmp_path / "v.b2nd", engine="coquina")["v"].load(), x)
    with pytest.raises(TypeError, match="a DataArray of one"):
        cq.from_dask(x)


@pytest.mark.parametrize("is_chunked", [True, False])
def test_datasets_are_made_of_arrays_of_xarray(tmp_path, is_chunked):
    x = xr.DataArray(np.arange(24.0).reshape(6, 4), dims=("t", "x"))
    with cq.open(tmp_path / "v.h5", "w") as file:
        made = file.create_dataset("v", data=x.chunk({"t": 4}) if is_chunked else x, chunks=(3, 2))
        assert np.array_equal(made[...], x.values)
        file["w"] = x.chunk({"t": 4}) if is_chunked else x
        assert np.array_equal(file["w"][...], x.values)
        made[...] = x * 2
        assert np.array_equal(made[...], x.values * 2)
