"""Append sessions: rows arrive, and what is in the file between two flushes is what the last one left."""

import os
import shutil
import threading

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.hdf5 import File, fast
from coquina.hdf5.recovery import recover
from tests.test_crash import disk_of

SEED = 20261121
LIBVER = pytest.mark.parametrize("libver", ["earliest", "latest"])
GZIP = {"compression": "gzip", "shuffle": True}


def rows_of(start, count, columns=5, dtype="i4"):
    """Return rows that tell which ones they are."""
    return (
        (np.arange(start * columns, (start + count) * columns) * 7919 % 100_003)
        .reshape(-1, columns)
        .astype(dtype)
    )


def left_by_a_kill(path, tmp_path, name="x"):
    """Return what a program would find if this one was killed now."""
    copy, saved = tmp_path / "copy.h5", tmp_path / "saved.h5"
    shutil.copy(path, copy)
    report = recover(copy, saved, overwrite=True)
    assert report.is_whole, report
    with h5py.File(saved, "r") as file:
        return file[name][...]


@LIBVER
@pytest.mark.parametrize("maxshape", [(None, 5), (None, None), (5000, 5)], ids=str)
@pytest.mark.parametrize("options", [{}, GZIP], ids=["plain", "gzip"])
def test_between_two_flushes_the_file_holds_the_last_one(libver, maxshape, options, tmp_path):
    rng = np.random.default_rng(SEED)
    path = tmp_path / "x.h5"
    with h5py.File(path, "w", libver=libver) as file:
        made = file.create_dataset("x", (3, 5), "i4", chunks=(16, 2), maxshape=maxshape, **options)
        made[...] = rows_of(0, 3)
        with fast(made).appending() as session:
            for step in range(60):
                session.append(rows_of(session.rows, int(rng.integers(0, 50))))
                if rng.random() < 0.2:
                    session.flush()
                if step % 5 == 0:
                    np.testing.assert_array_equal(
                        left_by_a_kill(path, tmp_path), rows_of(0, session.flushed), err_msg=f"step {step}"
                    )
            rows = session.rows
    with h5py.File(path, "r") as file:
        np.testing.assert_array_equal(file["x"][...], rows_of(0, rows))


@pytest.mark.parametrize("batch", [1, 7, 16, 33, 500])
@pytest.mark.parametrize("flush_every", [None, 1, 16, 50])
def test_all_rows_arrive_however_they_are_cut(batch, flush_every, tmp_path):
    with File(tmp_path / "x.h5", "w") as file:
        x = file.create_dataset("x", (0, 5), "f8", chunks=(16, 5), maxshape=(None, 5), filter="gzip")
        with x.appending(flush_every) as session:
            for start in range(0, 500, batch):
                session.append(rows_of(start, min(batch, 500 - start)))
                assert flush_every is None or session.rows - session.flushed < flush_every
        np.testing.assert_array_equal(x[...], rows_of(0, 500))
    with h5py.File(tmp_path / "x.h5", "r") as file:
        np.testing.assert_array_equal(file["x"][...], rows_of(0, 500))


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        ("i4", (0,)),
        ("(3,)f4", (0, 2)),
        (">f8", (0, 3)),
        ([("a", "i2"), ("b", "f4", (2,))], (0,)),
        ("S3", (0, 2, 2)),
        ("i2", (0, 0)),
    ],
    ids=str,
)
def test_items_of_any_kind_are_appended(dtype, shape, tmp_path):
    dtype = np.dtype(dtype)
    count = int(np.prod((50, *shape[1:])))
    noise = np.random.default_rng(SEED).integers(65, 90, count * dtype.itemsize, "u1")
    rows = np.frombuffer(noise.tobytes(), dtype.base).reshape(50, *shape[1:], *dtype.shape)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        chunks = (8, *(max(length, 1) for length in shape[1:]))
        made = file.create_dataset("x", shape, dtype, chunks=chunks, maxshape=(None,) * len(shape), **GZIP)
        with fast(made).appending() as session:
            session.append(rows[:3])
            session.flush()
            session.append(rows[3])
            session.append(rows[4:])
        assert made[...].tobytes() == rows.tobytes()


def test_rows_are_cast_as_numpy_would_and_others_are_refused(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        x = fast(file.create_dataset("x", (0, 2), "f4", chunks=(4, 2), maxshape=(10, 2)))
        with x.appending() as session:
            session.append([[1, 2], [3, 4]])
            session.append([5.5, 6.5])
            for rows, error in [
                (np.ones((2, 3)), ValueError),
                (np.ones(3), ValueError),
                (np.float64(1), ValueError),
                (np.ones((1, 1, 2)), ValueError),
                (np.ones((2, 2), "c16"), TypeError),
                (np.ones((8, 2)), ValueError),
            ]:
                with pytest.raises(error, match="append"):
                    session.append(rows)
                assert session.rows == 3
        np.testing.assert_array_equal(x[...], np.asarray([[1, 2], [3, 4], [5.5, 6.5]], "f4"))


def test_what_cannot_grow_is_refused(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["contiguous"] = np.arange(5)
        file.create_dataset("full", (4,), "i4", chunks=(2,))
        growing = file.create_dataset("x", (0,), "i4", maxshape=(None,))
        for name in ("contiguous", "full"):
            with pytest.raises(ValueError, match="cannot grow"):
                fast(file[name]).appending()
        with pytest.raises(ValueError, match="flush_every"):
            fast(growing).appending(0)
    with h5py.File(path, "r") as file, pytest.raises(ValueError, match="reading only"):
        fast(file["x"]).appending()
    with h5py.File(tmp_path / "m.h5", "w", driver="core", backing_store=False) as file:
        x = fast(file.create_dataset("x", (0,), "i4", maxshape=(None,)))
        with pytest.raises(ValueError, match="driver 'core'"):
            x.appending(durable=True)
        with x.appending() as session:
            session.append([1, 2, 3])
        assert list(x[...]) == [1, 2, 3]


def test_a_session_that_is_over_takes_nothing(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        x = fast(file.create_dataset("x", (0,), "i4", maxshape=(None,), chunks=(4,)))
        with x.appending(durable=True) as session:
            session.append([1])
        session.close()
        for use in (session.flush, lambda: session.append([2])):
            with pytest.raises(ValueError, match="closed"):
                use()
        assert len(x) == 1
        lost = x.appending()
        lost.append([2])
    with pytest.raises(ValueError, match="1 rows are lost"):
        lost.close()


def test_an_exception_leaves_what_was_appended_before(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        x = fast(file.create_dataset("x", (0, 5), "i4", maxshape=(None, 5), chunks=(4, 5)))
        with pytest.raises(TypeError, match="append"), x.appending() as session:  # noqa: PT012
            session.append(rows_of(0, 6))
            session.append(["no rows"] * 5)
        np.testing.assert_array_equal(x[...], rows_of(0, 6))


def test_a_dataset_that_changes_within_a_session_is_noticed(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        x = fast(file.create_dataset("x", (0,), "i4", maxshape=(None,), chunks=(4,)))
        session = x.appending()
        x.append([1, 2])
        with pytest.raises(ValueError, match="resized"):
            session.append([3] * 4)


def test_libhdf5_keeps_metadata_only_while_a_session_lasts(tmp_path):
    def evictions(file):
        config = file.id.get_mdc_config()
        return config.evictions_enabled, config.incr_mode, config.decr_mode, config.flash_incr_mode

    with h5py.File(tmp_path / "x.h5", "w") as file:
        sessions = [
            fast(file.create_dataset(name, (0,), "i4", maxshape=(None,), chunks=(4,))).appending
            for name in "xyz"
        ]
        before = evictions(file)
        first, second = sessions[0](), sessions[1]()
        assert evictions(file) == (0, 0, 0, 0)
        first.close()
        assert evictions(file) == (0, 0, 0, 0)
        third = sessions[2]()
        second.close()
        third.close()
        assert evictions(file) == before


def test_a_new_file_gets_its_name_when_a_session_begins(tmp_path):
    path = tmp_path / "x.h5"
    with File(path, "w") as file:
        x = file.create_dataset("x", (0, 5), "i4", chunks=(4, 5), maxshape=(None, 5))
        assert not path.exists()
        with x.appending() as session:
            assert left_by_a_kill(path, tmp_path).shape == (0, 5)
            session.append(rows_of(0, 9))
    with cq.open(path) as file:
        np.testing.assert_array_equal(file["x"][...], rows_of(0, 9))


def test_threads_share_a_session(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        x = fast(file.create_dataset("x", (0,), "i8", maxshape=(None,), chunks=(64,), **GZIP))
        with x.appending(50) as session:
            parts = [range(k, 4000, 4) for k in range(4)]
            work = [threading.Thread(target=lambda p=p: [session.append([i]) for i in p]) for p in parts]
            for thread in work:
                thread.start()
            for thread in work:
                thread.join()
        assert sorted(x[...]) == list(range(4000))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs limits of files")
def test_a_session_goes_on_when_a_full_disk_has_room_again(tmp_path):
    path = tmp_path / "x.h5"
    noise = np.random.default_rng(SEED).integers(0, 1 << 30, (300, 50), "i4")
    with h5py.File(path, "w") as file:
        x = fast(file.create_dataset("x", (0, 50), "i4", maxshape=(None, 50), chunks=(16, 50), **GZIP))
        with x.appending() as session:
            session.append(noise[:20])
            session.flush()
            with disk_of(path.stat().st_size + 5000):
                # The first ones wait behind a chunk that is partly filled, the others are written at once.
                session.append(noise[20:30])
                session.flush()
                session.append(noise[30:100])
                with pytest.raises(OSError, match="too large"):
                    session.flush()
                assert 0 < session.flushed < session.rows == 100
                np.testing.assert_array_equal(left_by_a_kill(path, tmp_path), noise[: session.flushed])
            session.flush()
            np.testing.assert_array_equal(left_by_a_kill(path, tmp_path), noise[:100])
            session.append(noise[100:112])
            session.flush()
            with disk_of(path.stat().st_size + 5000), pytest.raises(OSError, match="too large"):
                session.append(noise[112:])
            assert 112 <= session.rows < 300
            np.testing.assert_array_equal(left_by_a_kill(path, tmp_path), noise[:112])
            session.append(noise[session.rows :])
            session.flush()
            np.testing.assert_array_equal(left_by_a_kill(path, tmp_path), noise)
        np.testing.assert_array_equal(x[...], noise)
