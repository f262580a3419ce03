"""Compounds whose members do not stand in byte order keep h5py's order of fields and columns."""

import h5py
import numpy as np
import pytest

import coquina as cq

ROWS = 2000


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "order.h5"
    inner = h5py.h5t.create(h5py.h5t.COMPOUND, 8)
    inner.insert(b"late", 4, h5py.h5t.NATIVE_INT32)
    inner.insert(b"early", 0, h5py.h5t.NATIVE_FLOAT)
    tid = h5py.h5t.create(h5py.h5t.COMPOUND, 26)
    for name, offset, member in [
        (b"z", 18, h5py.h5t.NATIVE_INT32),
        (b"nest", 10, inner),
        (b"a", 0, h5py.h5t.NATIVE_DOUBLE),
        (b"m", 22, h5py.h5t.STD_I16BE),
    ]:
        tid.insert(name, offset, member)
    with h5py.File(path, "w") as file:
        h5py.h5d.create(file.id, b"x", tid, h5py.h5s.create_simple((ROWS,)))
        rows = np.zeros(ROWS, file["x"].dtype)
        rows["z"], rows["a"], rows["m"] = np.arange(ROWS), np.arange(ROWS) / 4, -np.arange(ROWS)
        rows["nest"]["late"], rows["nest"]["early"] = 7, 0.5
        file["x"][...] = rows
    return path


def test_fields_of_records_are_in_the_order_of_h5py(path, tmp_path):
    with h5py.File(path) as file, cq.open(path) as ours:
        theirs = file["x"][...]
        dataset = ours.dataset("x") if hasattr(ours, "dataset") else ours["x"]
        for found in (dataset[...], dataset.copy()[...], dataset.copy(path=tmp_path / "x.b2nd")[...]):
            assert found.dtype.names == theirs.dtype.names == ("z", "nest", "a", "m")
            assert found.tolist() == theirs.tolist()


def test_columns_of_tables_are_in_the_order_of_h5py(path, tmp_path):
    # They were in the order of their bytes.
    with h5py.File(path) as file, cq.open_table(path, "/x") as table:
        theirs = file["x"][...]
        assert [one.name for one in table.schema] == ["z", "nest", "a", "m"]
        assert table.dtype.names == theirs.dtype.names
        assert table[:].tolist() == theirs.tolist()
        assert table.where("z >= 1990").to_numpy().tolist() == theirs[1990:].tolist()
        assert table.to_arrow().schema.names == ["z", "nest", "a", "m"]
        assert table[5].item() == theirs[5].item()
    with cq.open_table(path, "/x", mode="a") as table:
        table[0] = (1, (2, 3.0), 4.0, 5)
        with table.copy(tmp_path / "copy.h5") as copy:
            assert copy[:1].tolist() == [(1, (2, 3.0), 4.0, 5)]
            assert copy.dtype.names == ("z", "nest", "a", "m")
    with h5py.File(path) as file:
        assert file["x"][0].item() == (1, (2, 3.0), 4.0, 5)
