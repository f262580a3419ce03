"""Reductions over very many chunks of one value are arithmetic, not loops."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import coquina as cq

FOLDS = (
    "sum", "prod", "mean", "std", "var", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero",
    "nansum", "nanprod", "nanmean", "nanstd", "nanvar", "nanmin", "nanmax", "nanargmin", "nanargmax",
)  # fmt: skip
SECONDS = 5.0  # far more than any needs, and far less than a loop over chunks


def timed(fold, array, **options):
    began = time.monotonic()
    with np.errstate(all="ignore"):
        found = np.asarray(getattr(cq, fold)(array, **options))
    assert time.monotonic() - began < SECONDS, fold
    return found


@pytest.mark.parametrize("fold", FOLDS)
def test_files_of_a_few_hundred_bytes_are_folded_at_once(tmp_path, fold):
    # 10^8 chunks took two minutes, one by one.
    small = np.zeros(10)
    for shape, chunks in (((10**14,), (2**27,)), ((10**8,), (1,)), ((10**4, 10**4), (1, 1))):
        path = tmp_path / "zeros.b2nd"
        with cq.zeros(shape, dtype="f8", chunks=chunks, path=path, overwrite=True) as array:
            assert path.stat().st_size < 1000
            assert timed(fold, array) == getattr(np, fold)(small)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_chunks_of_nan_are_folded_at_once():
    nans = cq.nans((10**4, 10**4), dtype="f8", chunks=(1, 1))
    for fold in ("sum", "mean", "min", "max", "nanmean", "std"):
        assert np.isnan(timed(fold, nans)), fold
    assert timed("nansum", nans) == 0
    assert timed("count_nonzero", nans) == 10**8
    assert timed("argmax", nans) == 0


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("fold", ["sum", "max", "argmax", "mean", "std", "any", "count_nonzero", "nanmin"])
def test_a_few_stored_chunks_among_very_many_count(tmp_path, fold, axis):
    # The law is NumPy's on the same items; the grid is the largest that NumPy can judge in a test.
    shape, chunks = (600, 500), (1, 1)
    values = np.zeros(shape)
    array = cq.zeros(shape, dtype="f8", chunks=chunks, path=tmp_path / "a.b2nd")
    for row, column, value in ((0, 0, 3.0), (77, 88, -5.0), (599, 3, 7.0), (599, 499, 2.0)):
        values[row, column] = array[row, column] = value
    np.testing.assert_allclose(
        timed(fold, array, axis=axis), getattr(np, fold)(values, axis=axis), rtol=1e-12
    )


def test_expressions_of_runs_are_folded_at_once():
    array = cq.zeros((10**8,), dtype="f8", chunks=(1,))
    assert timed("sum", array * 2 + 1) == 10**8
    assert timed("all", array == 0)
    assert not timed("any", array > 0)


def test_small_grids_keep_the_bits_of_their_sums():
    # 1,000 chunks of 0.1 are summed chunk by chunk, as ever.
    array = cq.full((1000, 100), 0.1, chunks=(1, 100))
    assert cq.sum(array) == sum([0.1 * 100] * 1000)


def test_a_write_means_what_its_key_says_in_the_shape_that_it_finds():
    # A write took the shape before the lock, and so made the array as it had been: a resize was undone.
    array = cq.zeros(1000, dtype="i4", chunks=(100,))
    stop, errors = threading.Event(), []

    def write():
        try:
            while not stop.is_set():
                array[...] = 1
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for size in [1000 + 7 * n for n in range(150)] + [500, 2000]:
        array.resize(size)
        assert array.shape == (size,), "a write has undone the resize"
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    array[...] = 2
    assert (array[:] == 2).all()


def test_appends_of_threads_all_stay():
    array = cq.zeros(0, dtype="i4", chunks=(50,))

    def append(number):
        for _ in range(50):
            array.append(np.full(3, number))

    threads = [threading.Thread(target=append, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert array.shape == (600,)
    assert np.bincount(array[:]).tolist() == [150] * 4


def test_a_key_is_resolved_again_where_the_shape_has_changed():
    array = cq.zeros(10, dtype="i4", chunks=(5,))
    shapes = []

    def resolve(key, shape):
        from coquina.indexing import lower

        shapes.append(shape)
        if len(shapes) == 1:
            array.resize(20)  # as another thread might, between the two
        return lower(key, shape)

    array.assign(resolve, ..., 4)
    assert shapes == [(10,), (20,)]
    assert (array[:] == 4).all()


def test_repair_of_very_many_chunks_is_ended_by_ctrl_c(tmp_path):
    cq.zeros((10**8,), dtype="f8", chunks=(1,), path=tmp_path / "a.b2nd").close()
    code = (
        "import coquina as cq, os, signal, sys, threading\n"
        "array = cq.open(sys.argv[1])\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "array.repair(sys.argv[2])\n"
    )
    out = tmp_path / "out.b2nd"
    words = [sys.executable, "-c", code, str(tmp_path / "a.b2nd"), str(out)]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert "KeyboardInterrupt" in ended.stderr
    assert not out.exists()


def test_results_over_equal_chunks_are_equal_chunks(tmp_path):
    # Each item was computed and encoded, and a plan of all blocks took the memory.
    source = cq.zeros((10**12,), dtype="i1")
    for path in (None, tmp_path / "x.b2nd"):
        with (source + 1).compute(path=path) as result:
            assert result.shape == source.shape
            assert result[[0, result.shape[0] // 2, -1]].tolist() == [1] * 3
            assert result.cbytes < 64 * -(-result.shape[0] // result.chunks[0])
            assert int(result[: 1 << 22].sum()) == 1 << 22
        with (source * 0).compute(path=path, overwrite=True) as result:
            assert result.cbytes == 0
            assert not result[-5:].any()


def test_chunks_that_differ_stand_among_equal_ones():
    source = cq.zeros((64, 3000), dtype="f4", chunks=(8, 100), blocks=(4, 50))
    source[13, 250], source[60:, 2990:] = 5, 2
    plain = source[...]
    for expression, wanted in ((source + 1, plain + 1), (source > 0, plain > 0), (source * 0, plain * 0)):
        for options in ({}, {"chunks": (16, 70), "blocks": (3, 7)}, {"lossy": {"max_error": 0.25}}):
            if options.get("lossy") and wanted.dtype != np.float32:
                continue
            result = expression.compute(**options)
            assert result.dtype == wanted.dtype
            assert np.abs(result[...].astype("f8") - wanted.astype("f8")).max() <= (
                0.25 if "lossy" in options else 0
            )
