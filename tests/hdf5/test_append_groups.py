"""Groups of appends: several datasets grow, and a kill leaves all of them as the same flush did."""

import os
import shutil

import h5py
import numpy as np
import pytest

from coquina.hdf5 import fast
from coquina.hdf5.appending import AppendGroup
from coquina.hdf5.recovery import recover
from tests.test_crash import disk_of

SEED = 20261122
GZIP = {"compression": "gzip", "shuffle": True}
#: Rows of a chunk, dtype, options: unequal chunks, with filters and without.
KINDS = [(16, "i8", GZIP), (5, "(2,)f4", GZIP), (33, "u2", {}), (1, ">i4", GZIP)]
NOISE = np.random.default_rng(SEED).integers(0, 1 << 62, 10_000)


def rows_of(dtype, start, count):
    """Return rows that tell which ones they are, and that no filter can shrink."""
    dtype = np.dtype(dtype)
    numbers = NOISE[start : start + count].reshape(-1, *(1,) * len(dtype.shape)).astype(dtype.base)
    return np.broadcast_to(numbers, (count, *dtype.shape))


def made(file, lengths=(0, 0, 0, 0)):
    """Return new datasets, one of each kind."""
    datasets = []
    for number, ((chunk, dtype, options), rows) in enumerate(zip(KINDS, lengths, strict=True)):
        x = file.create_dataset(f"x{number}", (rows,), dtype, chunks=(chunk,), maxshape=(None,), **options)
        if rows:
            x[...] = rows_of(dtype, 0, rows)
        datasets.append(fast(x))
    return datasets


def parts_of(group, counts):
    """Return the rows that come next."""
    return [
        rows_of(dtype, start, count)
        for (_, dtype, _), start, count in zip(KINDS, group.lengths, counts, strict=True)
    ]


def check_left_by_a_kill(path, tmp_path, lengths):
    """Check what a program would find if this one was killed now."""
    copy, saved = tmp_path / "copy.h5", tmp_path / "saved.h5"
    shutil.copy(path, copy)
    report = recover(copy, saved, overwrite=True)
    assert report.is_whole, report
    check_items(saved, lengths)


def check_items(path, lengths):
    with h5py.File(path, "r") as file:
        assert tuple(len(file[f"x{number}"]) for number in range(len(KINDS))) == tuple(lengths)
        for number, ((_, dtype, _), rows) in enumerate(zip(KINDS, lengths, strict=True)):
            np.testing.assert_array_equal(file[f"x{number}"][...], rows_of(dtype, 0, rows))


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("buffer_bytes", [None, 0, 700, 5000])
def test_between_two_flushes_all_datasets_are_as_the_last_one_left_them(buffer_bytes, libver, tmp_path):
    rng = np.random.default_rng(SEED)
    path = tmp_path / "x.h5"
    with h5py.File(path, "w", libver=libver) as file:
        with AppendGroup(made(file, (3, 0, 40, 2)), buffer_bytes) as group:
            for step in range(60):
                group.append(parts_of(group, rng.integers(0, 50, len(KINDS)) * rng.integers(0, 2)))
                if rng.random() < 0.15:
                    group.flush()
                    assert group.flushed == group.lengths
                if step % 5 == 0:
                    check_left_by_a_kill(path, tmp_path, group.flushed)
            lengths = group.lengths
            assert repr(lengths) in repr(group)
        assert repr(group) == "<AppendGroup, closed>"
    check_items(path, lengths)


def test_a_flush_happens_when_more_than_the_buffer_has_gathered(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file, AppendGroup(made(file), 220) as group:
        flushed = []
        for _ in range(24):
            # 8 + 8 + 2 + 4 bytes, so that the eleventh comes after 220.
            group.append(parts_of(group, (1, 1, 1, 1)))
            flushed.append(group.flushed[0])
        assert flushed == [0] * 10 + [11] * 11 + [22] * 3


@pytest.mark.parametrize(
    ("wrong", "error"),
    [(np.ones((1, 3), "f4"), ValueError), (np.ones((1, 2), "c8"), TypeError), (None, ValueError)],
)
def test_parts_that_do_not_fit_change_nothing(wrong, error, tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        datasets = made(file)
        with AppendGroup(datasets) as group:
            good = parts_of(group, (20, 20, 50, 3))
            parts = good[:3] if wrong is None else [good[0], wrong, *good[2:]]
            with pytest.raises(error, match="append"):
                group.append(parts)
            assert group.lengths == (0, 0, 0, 0)
            group.append(good)
        np.testing.assert_array_equal(datasets[2][...], good[2])


def test_groups_that_make_no_sense_are_refused(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file, h5py.File(tmp_path / "y.h5", "w") as other:
        first, second = made(file), made(other)
        for datasets, match in [
            ([], "no datasets"),
            ([first[0], second[1]], "in one file"),
            ([first[0], fast(file["x0"])], "twice"),
        ]:
            with pytest.raises(ValueError, match=match):
                AppendGroup(datasets)


def test_a_group_that_is_over_takes_nothing(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = AppendGroup(made(file), durable=True)
        group.append(parts_of(group, (2, 1, 1, 1)))
        group.close()
        group.close()
        with pytest.raises(ValueError, match="closed"):
            group.append(parts_of(group, (1, 1, 1, 1)))
        lost = AppendGroup([fast(file["x0"]), fast(file["x2"])])
        lost.append([[1, 2], np.ones(1, "u2")])
    with pytest.raises(ValueError, match="3 rows are lost"):
        lost.close()


def test_a_dataset_that_somebody_resizes_stops_all(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        datasets = made(file)
        group = AppendGroup(datasets)
        group.append(parts_of(group, (2, 2, 2, 2)))
        datasets[2].append(np.ones(2, "u2"))
        for use in (lambda: group.append(parts_of(group, (1, 1, 1, 1))), group.flush):
            with pytest.raises(ValueError, match="resized"):
                use()
        assert [len(x) for x in datasets] == [0, 0, 2, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs limits of files")
@pytest.mark.parametrize("room", range(0, 10_000, 1000))
def test_a_full_disk_takes_no_rows_and_the_group_goes_on(room, tmp_path):
    path, counts = tmp_path / "x.h5", (900, 300, 800, 3)
    with h5py.File(path, "w") as file, AppendGroup(made(file), None) as group:
        group.append(parts_of(group, (20, 7, 40, 4)))
        group.flush()
        before = group.flushed
        group.append(parts_of(group, counts))
        lengths = group.lengths
        with disk_of(path.stat().st_size + room), pytest.raises(OSError, match="too large"):
            group.flush()
        assert (group.flushed, group.lengths) == (before, lengths)
        # The last one has whole chunks, which were written before the flush.
        check_left_by_a_kill(path, tmp_path, (*before[:3], lengths[3]))
        group.flush()
        check_left_by_a_kill(path, tmp_path, lengths)
    check_items(path, lengths)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs limits of files")
@pytest.mark.parametrize("room", [0, 3000, 8000])
def test_chunks_that_find_no_room_are_in_no_dataset(room, tmp_path):
    path, counts = tmp_path / "x.h5", (900, 300, 800, 3)
    with h5py.File(path, "w") as file, AppendGroup(made(file), None) as group:
        group.append(parts_of(group, (16, 5, 33, 4)))
        group.flush()
        before = group.flushed
        with disk_of(path.stat().st_size + room), pytest.raises(OSError, match="too large"):
            group.append(parts_of(group, counts))
        assert group.flushed == group.lengths == before
        assert [len(file[f"x{number}"]) for number in range(4)] == list(before)
        check_left_by_a_kill(path, tmp_path, before)
        group.append(parts_of(group, counts))
        lengths = group.lengths
    check_items(path, lengths)


@pytest.mark.parametrize(("chunk", "options"), [(16, GZIP), (16, {}), (400, GZIP)])
def test_one_dataset_is_flushed_by_itself_where_chunks_end(chunk, options, tmp_path):
    path, rng = tmp_path / "x.h5", np.random.default_rng(SEED)
    buffer_bytes, wait = 800, max(800, chunk * 8 // 2)
    with h5py.File(path, "w") as file:
        x = fast(file.create_dataset("x", (3,), "i8", chunks=(chunk,), maxshape=(None,), **options))
        x[...] = NOISE[:3]
        with AppendGroup([x], buffer_bytes) as group:
            for step in range(60):
                (rows,), (before,) = group.lengths, group.flushed
                count = int(rng.integers(1, 200))
                group.append([NOISE[rows : rows + count]])
                (rows,), (flushed,) = group.lengths, group.flushed
                if flushed != before:
                    # All of it only where there was no end of a chunk.
                    assert flushed == rows // chunk * chunk or flushed == rows < (before // chunk + 1) * chunk
                assert 8 * (rows - flushed) <= wait or rows - flushed < chunk
                if step % 7 == 0:
                    group.flush()
                if step % 5 == 0:
                    copy, saved = tmp_path / "copy.h5", tmp_path / "saved.h5"
                    shutil.copy(path, copy)
                    assert recover(copy, saved, overwrite=True).is_whole
                    with h5py.File(saved, "r") as left:
                        np.testing.assert_array_equal(left["x"][...], NOISE[: group.flushed[0]])
        np.testing.assert_array_equal(x[...], NOISE[: len(x)])
