"""Chunks that were never written are not asked for one by one, also where libhdf5 fetches chunks."""

import numpy as np
import pytest

import coquina as cq
from coquina.hdf5 import File

CHUNK = 100
COUNT = 20_000


# What libhdf5 filters may wait in its cache of chunks, and is listed all the same.
@pytest.mark.parametrize("storage", [{}, {"scaleoffset": True}], ids=["chunks", "items"])
def test_runs_of_missing_chunks_are_looked_at_once_in_writable_files(tmp_path, storage):
    rng = np.random.default_rng(11)
    with File(tmp_path / "x.h5", "w") as file:
        items = file.create_dataset("x", (CHUNK * COUNT,), "i4", chunks=(CHUNK,), maxshape=(None,), **storage)
        other = file["x"]
        written = {}
        assert int(items.sum()) == 0
        for _ in range(8):
            number = int(rng.integers(COUNT))
            written[number] = int(rng.integers(1, 9))
            # What a query knows must not outlive a change, by this handle or another.
            handle = items if rng.random() < 0.5 else other
            handle[number * CHUNK : (number + 1) * CHUNK] = written[number]
            before = items.info
            assert int(items.sum()) == CHUNK * sum(written.values())
            assert items.info.table_rows == len(written)
            assert items.info.chunks_fetched - before.chunks_fetched < COUNT / 10
            assert np.count_nonzero(items[...]) == CHUNK * len(written)
        items.resize((CHUNK * COUNT + 1,))
        items[-1] = 5
        assert int(items.sum()) == CHUNK * sum(written.values()) + 5


def test_queries_of_writable_tables_skip_what_was_never_written(tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"n": np.arange(10)}, chunk_rows=CHUNK) as table:
        table.resize(CHUNK * COUNT)
        for number in (7, COUNT // 2, COUNT - 1):
            assert table.where("n > 5").count() == 4
            table[number * CHUNK] = (6,)
            assert table.where("n > 5").row_numbers().tolist()[-1] == number * CHUNK
            table[number * CHUNK] = (0,)
