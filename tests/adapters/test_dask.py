"""Dask arrays of ours: the same items, by slices that decode no more than they touch; names and pickles."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.adapters.dask_arrays import cuts_of, dask_chunks
from coquina.adapters.shared_handles import Shared, close_files, token_of
from tests.adapters.dask_cases import KINDS, NUMBERS, stored

dask = pytest.importorskip("dask")


@st.composite
def keys(draw):
    """Return a key of slices, integers and an index array at most, as Dask takes them."""
    key = []
    for length in NUMBERS.shape:
        # Dask takes a start before the first item for the last one where the step is negative.
        bound = st.none() | st.integers(-length, length + 3)
        step = st.none() | st.integers(1, 7) | st.integers(-7, -1)
        key.append(draw(st.builds(slice, bound, bound, step) | st.integers(-length, length - 1)))
    if draw(st.booleans()):
        key[0] = draw(st.lists(st.integers(-61, 60), max_size=6))
    return tuple(key)


wanted_chunks = (
    st.none() | st.integers(1, 70) | st.tuples(*[st.sampled_from([-1, "auto", 1, 9, 33, None])] * 2)
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys(), wanted_chunks, st.sampled_from([50, 3000, 10**6]))
@pytest.mark.parametrize("kind", ["memory", "frame"])
def test_slices_and_reductions_are_those_of_numpy(tmp_path, kind, key, chunks, limit):
    a = stored(kind, tmp_path)
    with dask.config.set({"array.chunk-size": limit, "scheduler": "sync"}):
        x = a.to_dask(chunks)
        np.testing.assert_array_equal(x[key].compute(), NUMBERS[key])
        assert x.dtype == NUMBERS.dtype
        assert x.shape == NUMBERS.shape
    for lengths, chunk, length in zip(x.chunks, a.chunks, a.shape, strict=True):
        assert all(edge % chunk == 0 or edge == length for edge in np.cumsum(lengths))


@given(st.integers(0, 90), st.integers(1, 20), st.integers(0, 19), st.integers(1, 200), st.integers(1, 200))
def test_chunks_are_whole_stored_chunks_and_as_large_as_allowed(length, step, first, wanted, limit):
    cut = (step - first % step, step)
    edges = {0, length, *range(cut[0], length, step)}
    for chunks in (wanted, "auto", -1):
        (lengths,) = dask_chunks((length,), [cut], chunks, limit)
        assert sum(lengths) == length
        assert min(lengths) > 0 or lengths == (0,)
        assert set(np.cumsum(lengths).tolist()) <= edges
        if chunks == "auto":
            assert max(lengths) <= max(limit, step)
            assert len(lengths) == 1 or 4 * (max(lengths) + step) > limit
        if chunks == -1:
            assert lengths == (length,)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_computed_in_threads(tmp_path, kind):
    x = stored(kind, tmp_path).to_dask(20)
    assert len(x.__dask_keys__()) > 1
    np.testing.assert_array_equal(x.compute(), NUMBERS)
    np.testing.assert_allclose(x.mean(axis=1).compute(), NUMBERS.mean(axis=1), rtol=1e-6)
    np.testing.assert_array_equal(x.rechunk((7, 40)).compute(), NUMBERS)
    np.testing.assert_array_equal(x[x[:, 3].compute() > 20, 2:5].compute(), NUMBERS[NUMBERS[:, 3] > 20, 2:5])
    np.testing.assert_array_equal((x.T @ x).compute(), NUMBERS.T @ NUMBERS)


def test_views_fields_and_expressions(tmp_path):
    a = stored("frame", tmp_path)
    view = a.view((slice(5, 50), [3, 1, 1, 40], None))
    x = view.to_dask(16)
    # Up to the edge of a chunk, then whole chunks.
    assert x.chunks == ((11, 16, 16, 2), (4,), (1,))
    np.testing.assert_array_equal(x.compute(), view[...])
    backward = a.view((slice(None, None, -3), 5))
    np.testing.assert_array_equal(backward.to_dask(3).compute(), NUMBERS[::-3, 5])
    big = cq.asarray(np.arange(200_000.0).reshape(400, 500), chunks=(64, 100))
    expression = cq.sin(big) + big.T.T
    assert type(expression) is cq.Expr
    y = expression.to_dask(64)
    assert y.chunks[0] == (64,) * 6 + (16,)
    np.testing.assert_array_equal(y[100:300, 7].compute(), expression[100:300, 7])
    records = np.zeros(30, [("n", "<i4"), ("x", "<f8", (2,))])
    records["n"] = np.arange(30)
    fields = cq.asarray(records, chunks=7)
    assert fields.fields["n"].to_dask(7).chunks == ((7, 7, 7, 7, 2),)
    assert fields.fields["n"].to_dask(7).sum().compute() == 435
    np.testing.assert_array_equal(fields.to_dask(7)["n"].compute(), records["n"])


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
def test_arrays_of_few_items(shape):
    numbers = np.full(shape, 3.5)
    x = cq.asarray(numbers).to_dask()
    np.testing.assert_array_equal(x.compute(), numbers)
    again = cq.from_dask(x)
    assert again.shape == shape
    np.testing.assert_array_equal(again[...], numbers)
    assert cuts_of(again) == [(max(n, 1),) * 2 for n in again.chunks]


def test_only_the_blocks_of_a_slice_are_decoded():
    numbers = np.arange(10_000).reshape(100, 100)
    a = cq.asarray(numbers, chunks=(50, 50), blocks=(10, 10))
    a.cache_bytes = 0

    def decoded():
        return a.handle.stats()["blocks_decoded"]

    before = decoded()
    x = a.to_dask(50)
    assert decoded() == before
    np.testing.assert_array_equal(x[3:5, 71:79].compute(), numbers[3:5, 71:79])
    assert decoded() - before == 1
    x.sum().compute()
    assert decoded() - before == 1 + 100


@pytest.mark.parametrize("wrong", [(1,), (1, 2, 3), 0, -2, "16MiB", (1, 2.5), ((3, 4), (5,))])
def test_chunks_that_mean_nothing(wrong):
    with pytest.raises(ValueError, match="chunks"):
        cq.asarray(NUMBERS).to_dask(wrong)


def test_names_are_those_of_other_processes(tmp_path):
    a = stored("frame", tmp_path)
    path = str(a.path)
    lazy = f"cq.sin(cq.asarray(cq.open({path!r})[...].repeat(70)))"
    sources = [
        f"cq.open({path!r})",
        f"cq.open({path!r}).view((slice(2, 9), [1, 2]))",
        "cq.asarray(np.arange(12), chunks=5)",
        f"cq.where({lazy} > 0, 1, 2).T",
    ]
    code = "import coquina as cq, numpy as np\nfor x in ({}): print(x.to_dask().name)".format(
        ", ".join(sources)
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [eval(source).to_dask().name for source in sources]


@pytest.mark.parametrize("kind", KINDS)
def test_names_change_with_the_items(tmp_path, kind):
    a = stored(kind, tmp_path)
    name = a.to_dask().name
    assert a.to_dask().name == name
    assert stored("memory", tmp_path, NUMBERS + 1).to_dask().name != name
    assert a.to_dask(16).name != name
    assert token_of(a.view((0,))) != token_of(a.view((1,)))
    if kind == "memory":
        assert stored(kind, tmp_path).to_dask().name == name
        a[3, 4] += 1
        assert a.to_dask().name != name
        return
    close = a.file.close if kind == "hdf5" else a.close
    path = a.path
    close()
    seen = {name}
    for value in range(4):
        with cq.open(path, "r+") as file:
            b = file["g/x"] if kind == "hdf5" else file
            for written in (value + 0.5, value + 0.25):
                b[3, 4] = written
                seen.add(b.to_dask().name)
        with cq.open(path) as file:
            b = file["g/x"] if kind == "hdf5" else file
            seen.add(b.to_dask().name)
    # Written twice, then closed: of HDF5 only what the file says is known again.
    assert len(seen) == 1 + (4 * 3 if kind == "hdf5" else 4 * 2)


@pytest.mark.parametrize("kind", ["frame", "hdf5"])
def test_names_of_what_is_far_away_change_with_its_content(tmp_path, kind):
    memory = pytest.importorskip("fsspec").filesystem("memory")
    names = []
    for added in (0, 0, 1):
        a = stored(kind, tmp_path, NUMBERS + added)
        path = a.path
        (a.file if kind == "hdf5" else a).close()
        with open(path, "rb") as file:
            content = file.read()
        if added or not names:
            memory.pipe_file("/coquina-names", content)
        found = cq.open("memory://coquina-names")
        names.append((found["g/x"] if kind == "hdf5" else found).to_dask().name)
    assert names[0] == names[1] != names[2]


@pytest.mark.parametrize("kind", KINDS)
def test_handles_are_pickled_and_files_opened_once(tmp_path, kind):
    a = stored(kind, tmp_path)
    shared = Shared(a)
    content = pickle.dumps(shared)
    assert kind == "memory" or len(content) < 700
    first, second = pickle.loads(content), pickle.loads(content)
    np.testing.assert_array_equal(first[3:5, [1, 2]], NUMBERS[3:5, [1, 2]])
    assert first.__dask_tokenize__() == shared.__dask_tokenize__()
    assert (first.shape, first.dtype, first.ndim) == (a.shape, a.dtype, 2)
    if kind != "memory":
        assert first.items is second.items
        assert first.items.mode == "r"
        path = a.path
        if kind == "hdf5":
            # libhdf5 has a file open for reading or for writing, not for both, in one process.
            first.items.file.close()
            close_files()
        (a.file if kind == "hdf5" else a).close()
        with cq.open(path, "r+") as file:
            (file["g/x"] if kind == "hdf5" else file)[0, 0] = -1
        # What arrives after a change shows it.
        assert pickle.loads(content)[0, 0] == -1
        os.rename(path, tmp_path / "elsewhere")
        with pytest.raises(FileNotFoundError):
            pickle.loads(content)[0, 0]


def test_a_dataset_that_is_being_written_does_not_travel(tmp_path):
    with cq.open(tmp_path / "a.h5", "w") as file:
        x = file.create_dataset("x", data=NUMBERS).to_dask()
        np.testing.assert_array_equal(x.compute(), NUMBERS)
        with pytest.raises(TypeError, match="open for writing"):
            pickle.dumps(Shared(file["x"]))
