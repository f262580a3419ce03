"""`coquina info` and `coquina diff` of files of NumPy, and of files that hold one table or array alone."""

import json

import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

BOX = np.arange(12.0).reshape(3, 4)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def info(name, capfd):
    assert main(["info", "--json", name]) == 0
    return json.loads(capfd.readouterr().out)


@pytest.mark.parametrize(
    ("values", "dtype", "order"),
    [
        (BOX, "float64", "C"),
        (np.asfortranarray(BOX), "float64", "F"),
        (np.zeros(3, [("a", "i4"), ("b", "f8")]), "[('a', '<i4'), ('b', '<f8')]", "C"),
        (np.array(5), "int64", "C"),
        (np.zeros((0, 3), ">i2"), ">i2", "C"),
    ],
)
def test_info_tells_the_header_of_a_numpy_file(values, dtype, order, here, capfd):
    np.save("x.npy", values)
    found = info("x.npy", capfd)
    assert found["format"] == "NumPy array"
    assert (found["shape"], found["dtype"], found["order"]) == (list(values.shape), dtype, order)
    assert found["nbytes"] == values.nbytes


def test_info_loads_no_pickle(here, capfd):
    np.save("o.npy", np.array([1, "a"], object))
    assert info("o.npy", capfd)["stored"] == "pickled objects"


def test_info_lists_the_arrays_of_an_archive(here, capfd):
    np.savez_compressed("z.npz", a=np.zeros(100_000), b=BOX)
    found = info("z.npz", capfd)
    assert {name: one["shape"] for name, one in found["arrays"].items()} == {"a": [100_000], "b": [3, 4]}
    assert found["cbytes"] < 2000 < found["nbytes"] == 800_096
    assert main(["info", "z.npz"]) == 0
    assert "  b  (3, 4)     float64  96 B" in capfd.readouterr().out


@pytest.mark.parametrize("cut", [8, 30, 60, 100])
@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_a_cut_file_of_numpy_is_named_as_damaged(name, cut, here, capfd):
    (np.save if name == "x.npy" else np.savez)(name, BOX)
    (here / name).write_bytes((here / name).read_bytes()[:cut])
    assert main(["info", name]) == 1
    assert f"{name}: a damaged file" in capfd.readouterr().err


def test_a_long_header_takes_no_memory(here, capfd):
    (here / "x.npy").write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b" " * 100_000)
    (here / "y.npy").write_bytes(b"\x93NUMPY\x09\x00\x10\x00{}")
    for name, text in (("x.npy", "EOF: reading array header"), ("y.npy", "version")):
        assert main(["info", name]) == 1
        assert text in capfd.readouterr().err


def test_diff_compares_the_only_table_or_array_of_a_file(here, capfd):
    table = {"a": [1, 2, 3], "s": ["x", "y", "z"]}
    with cq.create_table("t.h5", table, name="/deep/t", index=["a"]) as t:
        t.to_parquet("t.parquet")
    cq.create_table("t.b2z", table).close()
    with cq.open("x.h5", "w") as f:
        f.create_dataset("g/x", data=BOX)
    np.save("x.npy", BOX)
    for one, other in (("t.h5", "t.parquet"), ("t.parquet", "t.h5"), ("t.h5", "t.b2z"), ("x.h5", "x.npy")):
        assert main(["diff", one, other]) == 0, (one, other)
    np.save("y.npy", BOX + 1)
    assert main(["diff", "x.h5", "y.npy"]) == 1
    assert "12 of 12 values differ" in capfd.readouterr().out
    with cq.open("t.h5", "a") as f:
        f.create_dataset("more", data=BOX)
    assert main(["diff", "t.h5", "t.parquet"]) == 1
    assert "kind 'group' and 'table'" in capfd.readouterr().out


def test_explain_of_a_query_shows_no_program(here, capfd):
    cq.create_table("t.h5", {"a": np.arange(100)}).close()
    assert main(["query", "t.h5:/table", "a > 90", "--explain"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["condition", "rows", "access", "boxes", "columns"]
    with cq.open_table("t.h5") as t:
        assert "registers" in str(t.where("a > 90").explain().program)
