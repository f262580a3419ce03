"""Datasets whose chunks are tuned: an attribute keeps the goal, and everybody who reads Blosc2 reads them."""

import io

import blosc2
import h5py
import hdf5plugin  # noqa: F401  (h5py reads Blosc2 by it)
import numpy as np
import pytest
import tables
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.hdf5 import File, copying, tuning_attribute
from tests.tuning_cases import KINDS, TERMS, data, same

X = data("mixed", 12_000).reshape(120, 100)
TEXT = "goal=1 for=both bandwidth=any times=table"


def of_h5py(path, name="d"):
    with h5py.File(path) as file:
        return file[name][...]


def made(path, x=X, **options):
    """Return a file with a tuned dataset."""
    # Small chunks that are tuned for size are Blosc2's where it is named.
    options = {"filter": "blosc2", "codec": "auto", "goal": "size", "chunks": (30, x.shape[-1]), **options}
    with cq.open(path, "w") as file:
        file.create_dataset("d", data=x, maxshape=(None, *x.shape[1:]), **options)
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(4000,), (50, 80), (20, 10, 20)])
def test_h5py_and_pytables_read_what_is_tuned(kind, shape, tmp_path):
    x = data(kind).reshape(shape)
    made(tmp_path / "x.h5", x, chunks=tuple(max(1, length // 3) for length in shape))
    same(of_h5py(tmp_path / "x.h5"), x)
    with tables.open_file(str(tmp_path / "x.h5")) as file:
        same(file.root.d[...], x)
    with cq.open(tmp_path / "x.h5") as file:
        same(file["d"][...], x)
        assert sum(file["d"].encodings().values()) == len(list(file["d"].chunk_iter()))


@pytest.mark.parametrize("shape", [(4000,), (50, 80)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_stored_chunk_is_a_frame_of_blosc2(kind, shape, tmp_path):
    x = data(kind).reshape(shape)
    chunks = (500,) if len(shape) == 1 else (20, 40)
    made(tmp_path / "x.h5", x, chunks=chunks)
    with cq.open(tmp_path / "x.h5") as file:
        dataset = file["d"]
        for row in dataset.chunk_iter():
            stored = bytes(dataset.read_chunk(row.start))
            region = tuple(slice(at, at + length) for at, length in zip(row.start, chunks, strict=True))
            expected = np.zeros(chunks, x.dtype)
            part = x[region]
            expected[tuple(map(slice, part.shape))] = part
            if len(shape) == 1:
                assert blosc2.schunk_from_cframe(stored)[:] == expected.tobytes()
            else:
                assert blosc2.ndarray_from_cframe(stored)[...].tobytes() == expected.tobytes()


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.sampled_from(TERMS),
    st.sampled_from([(1000,), (20, 50), (10, 10, 10)]),
    st.integers(0, 99),
    st.data(),
)
def test_writes_anywhere_are_those_of_numpy(kind, words, shape, seed, draws):
    x = data(kind, 1000, seed).reshape(shape)
    chunks = tuple(draws.draw(st.integers(1, length)) for length in shape)
    with File(io.BytesIO(), "w") as file:
        d = file.create_dataset(
            "d", data=x, chunks=chunks, maxshape=(None, *shape[1:]), codec="auto", **words
        )
        for turn in range(draws.draw(st.integers(1, 4))):
            start = draws.draw(st.integers(0, len(x) - 1))
            stop = draws.draw(st.integers(start, len(x)))
            values = np.nan_to_num(data(draws.draw(st.sampled_from(KINDS)), 1000, turn)).astype(x.dtype)
            values = values.reshape(shape)
            x = x.copy()
            x[start:stop] = values[0]
            d[start:stop] = values[0]
            if draws.draw(st.booleans()):
                d.append(values[:3])
                x = np.concatenate([x, values[:3]])
        same(d[...], x)
        d.flush()
        same(file.h5["d"][...], x)
        assert sum(d.encodings().values()) == np.prod(
            [-(-a // b) for a, b in zip(x.shape, chunks, strict=True)]
        )


@pytest.mark.parametrize("words", TERMS)
def test_the_attribute_keeps_the_goal(words, tmp_path):
    expected = cq.asarray([1], codec="auto", **words).tuning
    with cq.open(tmp_path / "x.h5", "w") as file:
        for dataset in (
            file.create_dataset("d", data=X, codec="auto", **words),
            file.create_array("a", X, codec="auto", **words),
            file.create_dataset("e", (5, 5), codec="auto", **words),
        ):
            assert dataset.tuning == expected
    with h5py.File(tmp_path / "x.h5") as file:
        assert file["d"].attrs["coquina_tuning"].startswith(f"goal={expected.terms[0]:g} for=")
        assert [code for code, *_ in cq.hdf5.fast(file["d"]).filters] == [32026]
    with cq.open(tmp_path / "x.h5") as file:
        assert [file[name].tuning for name in "dae"] == [expected] * 3


def test_what_is_written_later_is_tuned_too(tmp_path):
    x = data("integers", 3000).reshape(300, 10)
    made(tmp_path / "x.h5", x)
    with cq.open(tmp_path / "x.h5", "a") as file:
        file.create_dataset("plain", data=x, chunks=(30, 10), maxshape=(None, 10))
        for name in ("d", "plain"):
            file[name].append(x)
            file[name][5:100] = 7
            file[name].resize(590, axis=0)
        assert file["d"].handle.tuning() == (1.0, "both", None, False)
        assert file["plain"].tuning is None
        tuned, plain = (file[name].encodings() for name in ("d", "plain"))
        assert set(plain) == {"zstd + shuffle"}
        assert tuned != plain
        assert file["d"].cbytes < file["plain"].cbytes
    expected = np.concatenate([x, x])[:590]
    expected[5:100] = 7
    same(of_h5py(tmp_path / "x.h5"), expected)


def test_rows_that_are_appended_and_flushed_are_tuned(tmp_path):
    rows = data("integers", 7000).reshape(700, 10)
    made(tmp_path / "x.h5", rows[:0], chunks=(100, 10))
    with cq.open(tmp_path / "x.h5", "a") as file:
        dataset = file["d"]
        with dataset.appending() as session:
            for at in range(0, 700, 35):
                session.append(rows[at : at + 35])
                session.flush()
        assert "zstd + shuffle" not in dataset.encodings() or len(dataset.encodings()) > 1
    same(of_h5py(tmp_path / "x.h5"), rows)
    with cq.open(tmp_path / "x.h5") as file:
        appended = file["d"].encodings()
    made(tmp_path / "y.h5", rows, chunks=(100, 10))
    with cq.open(tmp_path / "y.h5") as file:
        assert file["d"].encodings() == appended


def test_other_filters_are_refused_with_a_goal(tmp_path):
    with File(tmp_path / "x.h5", "w") as file:
        for filter in ("gzip", "blosc", "zstd", "lz4", "bitshuffle", "none"):
            with pytest.raises(ValueError, match=f"filter '{filter}': codec='auto' is for"):
                file.create_dataset("d", data=X, codec="auto", filter=filter)
        with pytest.raises(ValueError, match="fletcher32: codec='auto' is for"):
            file.create_dataset("d", data=X, codec="auto", fletcher32=True)
        with pytest.raises(ValueError, match="goal: for codec='auto'"):
            file.create_dataset("d", data=X, goal="size")
        with pytest.raises(TypeError, match="unexpected keyword argument 'codek'"):
            file.create_dataset("d", data=X, codek="auto")
        assert list(file) == []
        # What has no chunks has nothing to tune.
        assert file.create_dataset("s", data=5, codec="auto").tuning is None


def test_a_bound_and_a_goal_go_together(tmp_path):
    x = data("smooth", 6000).reshape(60, 100)
    made(tmp_path / "x.h5", x, lossy={"max_error": 0.01})
    with cq.open(tmp_path / "x.h5", "a") as file:
        file["d"].append(x)
        found = file["d"][...]
        assert np.abs(found - np.concatenate([x, x])).max() <= 0.01
        assert (file["d"].tuning.goal, file["d"].lossy.error_bound.max_error) == ("size", 0.01)
    same(of_h5py(tmp_path / "x.h5"), found)


@pytest.mark.parametrize("value", ["goal=7 for=both bandwidth=any times=table", "", b"\xff", 5, ["a", "b"]])
def test_a_damaged_goal_can_be_read_past_and_not_written_over(value, tmp_path):
    made(tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5", "a") as file:
        file["d"].attrs["coquina_tuning"] = np.bytes_(value) if isinstance(value, bytes) else value
    with cq.open(tmp_path / "x.h5", "a") as file:
        dataset = file["d"]
        same(dataset[...], X)
        with pytest.raises(cq.CorruptError, match="/d: the attribute coquina_tuning"):
            _ = dataset.tuning
        for _ in range(2):
            with pytest.raises(cq.CorruptError, match="coquina_tuning"):
                dataset[0] = 1
        with pytest.raises(cq.CorruptError, match="coquina_tuning"), dataset.appending():
            pass
        assert "coquina_tuning" in dataset.info.tuning
        assert dataset.copy().tuning is None
        assert " auto (damaged), " in repr(dataset)
        same(dataset[...], X)
    report = copying.repack(tmp_path / "x.h5", tmp_path / "y.h5", filter="blosc2", codec="auto")
    assert [one.how for one in report.datasets] == ["encoded"]
    with cq.open(tmp_path / "y.h5") as file:
        assert file["d"].tuning.goal == "balanced"


def test_a_goal_beside_another_filter_means_nothing(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("d", data=X, compression="gzip").attrs["coquina_tuning"] = TEXT
        file.create_dataset("plain", data=X).attrs["coquina_tuning"] = TEXT
    with cq.open(tmp_path / "x.h5", "a") as file:
        for name in ("d", "plain"):
            assert file[name].tuning is None
            file[name][0] = 1
            assert file[name][0].tolist() == [1] * 100


def test_copies_keep_the_goal_and_other_filters_drop_it(tmp_path):
    made(tmp_path / "x.h5")
    with cq.open(tmp_path / "x.h5", "a") as file:
        file.copy("d", "whole")
        wanted = file["d"].tuning
        again = copying.copy(file["d"], file, "again", codec="auto", goal="speed")
        assert again.tuning.goal == "speed"
        assert copying.copy(file["d"], file, "gzip", filter="gzip").tuning is None
        assert copying.copy(file["d"], file, "lz4", codec="lz4").tuning is None
        assert copying.copy(file["d"], file, "cut", filter=None, chunks=(40, 50)).tuning == wanted
        assert file["whole"].tuning == wanted
        for name in ("gzip", "lz4"):
            assert "coquina_tuning" not in file[name].attrs
        for name in ("whole", "again", "gzip", "lz4", "cut"):
            same(file[name][...], X)
        array = file["d"].copy()
        assert array.tuning == wanted
        assert file["d"].copy(codec="lz4").tuning is None
        assert file["gzip"].copy(codec="auto").tuning.goal == "balanced"


def test_repack_tunes_whole_files(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as file:
        file.create_dataset("gzip", data=X, filter="gzip", level=1, chunks=(30, 100))
        file.create_dataset("summed", data=X, chunks=(30, 100), fletcher32=True)
        file.create_dataset("plain", data=X, chunks=(30, 100))
        tuning = {"filter": "blosc2", "codec": "auto", "goal": "size"}
        file.create_dataset("tuned", data=X, chunks=(30, 100), **tuning)
        file.h5.create_dataset("far", data=X)
        file.h5["text"] = "x"
    report = copying.repack(tmp_path / "x.h5", tmp_path / "y.h5", **tuning)
    rows = {one.name: one for one in report.datasets}
    assert {name: one.how for name, one in rows.items()} == {
        "/gzip": "encoded", "/summed": "copied", "/plain": "encoded", "/tuned": "copied", "/far": "encoded",
        "/text": "copied",
    }  # fmt: skip
    assert "checksums" in rows["/summed"].reason
    with cq.open(tmp_path / "y.h5") as file:
        for name in ("gzip", "plain", "tuned", "far"):
            assert file[name].tuning.goal == "size", name
        for name in ("gzip", "summed", "plain", "tuned", "far"):
            same(file[name][...], X)
    copying.repack(tmp_path / "y.h5", tmp_path / "z.h5", filter="blosc2", codec="lz4")
    with cq.open(tmp_path / "z.h5") as file:
        assert [file[name].tuning for name in ("gzip", "plain", "tuned", "far")] == [None] * 4
        assert "coquina_tuning" not in file["tuned"].attrs
    copying.repack(tmp_path / "y.h5", tmp_path / "w.h5")
    with cq.open(tmp_path / "w.h5") as file:
        assert file["gzip"].tuning.goal == "size"
    with pytest.raises(ValueError, match="codec='auto' is for the filter 'blosc2'"):
        copying.repack(tmp_path / "x.h5", tmp_path / "v.h5", filter="gzip", codec="auto")


def test_dask_arrays_are_stored_by_the_goal(tmp_path):
    dask_array = pytest.importorskip("dask.array")
    with File(io.BytesIO(), "w") as file:
        d = file.create_dataset(
            "d", data=dask_array.from_array(X, (30, 100)), codec="auto", goal="size", chunks=(30, 100)
        )
        same(d[...], X)
        assert d.tuning.goal == "size"
        assert len(d.encodings()) > 1


def test_info_and_attributes_of_other_programs_stay(tmp_path):
    made(tmp_path / "x.h5")
    with cq.open(tmp_path / "x.h5", "a") as file:
        dataset = file["d"]
        dataset.attrs["unit"] = "K"
        assert set(dataset.attrs) == {"coquina_tuning", "unit"}
        line = next(line for line in str(dataset.info).splitlines() if line.startswith("tuning"))
        assert line.split(None, 1)[1].startswith("auto (size): ")
        assert sum(dataset.info.encodings.values()) == 4
        assert ", blosc2 " in repr(dataset)
        assert " auto (size), " in repr(dataset)
        tuning_attribute.put(dataset.h5, None)
        assert dataset.tuning is None
