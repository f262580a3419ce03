"""A page of a user's code: what type checkers take its values for; pyright reads it, nothing runs it."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl

import coquina as cq

a = cq.asarray(np.arange(10), codec="zstd", level=5)
assert_type(a, cq.Array)
assert_type(a[2:5], npt.NDArray[Any])
assert_type(a[...], npt.NDArray[Any])
assert_type(a[[1, 2]], npt.NDArray[Any])
assert_type(a.to_numpy(), npt.NDArray[Any])
assert_type(a.shape, tuple[int, ...])
assert_type(a.view(np.s_[1:3]), cq.View)
assert_type(cq.zeros((2, 3)), cq.Array)
assert_type(cq.expr("a + 1", a=a), cq.Expr)
assert_type(cq.sin(a), cq.Array | cq.Expr)

with cq.open("f.h5", "w") as file:
    assert_type(file, cq.hdf5.File)
    made = file.create_dataset("x", data=[1, 2], maxshape=(None,), filter="gzip", level=4)
    assert_type(made, cq.hdf5.Dataset)
    made.append([3])
    with file.transaction(), made.appending() as session:
        session.append([4])
with cq.open("s.b2d", "w") as store:
    store.create_dataset("raw/x", data=[1, 2], codec="lz4")
    store.move("raw", "first")

with cq.hdf5.File("f.h5", "r+") as f:
    assert_type(f, cq.hdf5.File)
    assert_type(f.create_group("g"), cq.hdf5.Group)
    assert_type(f.table("t"), cq.Table)
    assert_type(f.dataset("x"), cq.hdf5.Dataset)
    assert_type(f.dataset("x")[2:5], npt.NDArray[Any])
    assert_type(f.require_group("g"), cq.hdf5.Group)
    assert_type(f.require_dataset("y", (3,), "f8"), cq.hdf5.Dataset)
    assert_type(f.name, str | None)
    f["x"][3:5].mean()

with cq.create_table("t.h5", {"x": [1, 2]}, index=["x"]) as t:
    assert_type(t, cq.Table)
    assert_type(t[0], np.void)
    assert_type(t[2:5], npt.NDArray[Any])
    assert_type(t[["x"]], npt.NDArray[Any])
    t["x"].sum()
    rows = t.where("x > 1").order_by("x").head(3)
    assert_type(rows, cq.Selection)
    assert_type(rows.count(), int)
    assert_type(rows.to_pandas(), pd.DataFrame)
    assert_type(rows.to_polars(), pl.DataFrame)
    assert_type(t.scan_polars(), pl.LazyFrame)
    assert_type(rows["x"], npt.NDArray[Any])

assert_type(cq.open_table("t.h5"), cq.Table)
cq.open("a.b2nd")[1:3]

cq.sqrt(a).explain()
(a + 1).explain()
assert_type(cq.view("f.h5", browser=False), cq.Viewer)

# Type checkers do not read the suffix of a path: the content of a file has any type until it is declared,
# without a cast. `dataset`, `table` and `require_group` above have types of their own.
stored: cq.Array = cq.open("a.b2nd")
assert_type(stored, cq.Array)
hdf5_file: cq.hdf5.File = cq.open("f.h5")
dataset: cq.hdf5.Dataset = hdf5_file["g/x"]
assert_type(dataset, cq.hdf5.Dataset)
assert_type(dataset[2:5], npt.NDArray[Any])
assert_type(cq.open_table("t.h5").group_by("s").mean("x"), npt.NDArray[Any])
