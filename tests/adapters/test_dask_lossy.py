"""Arrays of Dask stored with a bound: what the tasks encode is under it, and so is what was reached."""

import numpy as np
import pytest

import coquina as cq
from tests.lossy_cases import check, raw, smooth

da = pytest.importorskip("dask.array")

FIELD = smooth("<f4", (40, 50, 30))


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_tasks_keep_the_bound(scheduler, tmp_path):
    import dask

    with dask.config.set(scheduler=scheduler):
        x = da.from_array(FIELD, chunks=(20, 50, 30))
        a = cq.from_dask(x, tmp_path / "a.b2nd", lossy={"max_error": 0.1})
        check({"max_error": 0.1}, FIELD, a[...])
        assert 0 < a.lossy.max_error <= 0.1
        assert sum(a.lossy.chunks.values()) == 2
        whole = cq.asarray(FIELD, chunks=a.chunks, blocks=a.blocks, lossy={"max_error": 0.1})
        np.testing.assert_array_equal(raw(a[...]), raw(whole[...]))
