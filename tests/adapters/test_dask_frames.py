"""Tables as Dask DataFrames: rows and index are those of pandas, and unused columns are not read."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import coquina as cq
from coquina.adapters.dask_frames import Part

dask = pytest.importorskip("dask")
pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

ROWS = 10_000
FRAME = pd.DataFrame(
    {
        "x": np.arange(ROWS),
        "y": np.random.default_rng(1).normal(size=ROWS),
        "s": np.where(np.arange(ROWS) % 3 == 0, "a", "bb"),
    }
)


@pytest.fixture(params=["t.h5", "t", None])
def table(request, tmp_path):
    if request.param is None:
        with cq.hdf5.File.in_memory() as file:
            yield file.create_table("t", FRAME)
        return
    with cq.create_table(tmp_path / request.param, FRAME) as made:
        yield made


def computed(frame):
    return frame.compute(scheduler="synchronous")


def test_partitions_together_are_the_rows(table):
    frame = table.to_dask(partition_rows=3000)
    assert frame.npartitions == 4
    assert frame.divisions == (0, 3000, 6000, 9000, ROWS - 1)
    pd.testing.assert_frame_equal(computed(frame), FRAME, check_dtype=False, check_index_type=False)
    assert computed(frame.loc[10:12])["x"].tolist() == [10, 11, 12]


def test_conditions_columns_and_head_hold(table):
    rows = table.where("(x > 100) & (s == 'a')").select(["s", "x"])
    expected = FRAME[(FRAME.x > 100) & (FRAME.s == "a")][["s", "x"]]
    for found, wanted in ((rows, expected), (rows.head(7), expected.head(7))):
        frame = computed(found.to_dask(2500))
        assert frame.index.tolist() == wanted.index.tolist()
        assert frame["x"].tolist() == wanted["x"].tolist()
        assert list(frame.columns) == ["s", "x"]


def test_columns_that_are_not_used_are_not_read(table, monkeypatch):
    asked = []
    to_pandas = cq.Selection.to_pandas
    frame = table.to_dask(5000)
    monkeypatch.setattr(
        cq.Selection,
        "to_pandas",
        lambda rows, columns=None: asked.append(columns) or to_pandas(rows, columns),
    )
    assert frame["x"].sum().compute(scheduler="synchronous") == FRAME["x"].sum()
    assert asked == [["x"], ["x"]]


def test_tasks_reopen_a_table_by_its_path(tmp_path):
    cq.create_table(tmp_path / "t.h5", FRAME).close()
    with cq.open_table(tmp_path / "t.h5") as table:
        first = Part(table.where("x < 50").plan, "one")
        other = pickle.loads(pickle.dumps(first))
        assert dask.base.tokenize(first) == dask.base.tokenize(other)
        assert other(0, 5000, ["y"])["y"].tolist() == FRAME["y"][:50].tolist()
    with cq.open_table(tmp_path / "t.h5", mode="r+") as table:
        table.append(FRAME[:3])
        table.flush()
        assert dask.base.tokenize(Part(table.where("x < 50").plan, "one")) != dask.base.tokenize(first)


def test_no_rows_and_wrong_requests(tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"x": "i4"}) as table:
        assert len(computed(table.to_dask())) == 0
        with pytest.raises(ValueError, match="at least 1"):
            table.to_dask(-3)
        with pytest.raises(ValueError, match="sort the DataFrame"):
            table.order_by("x").to_dask()
