"""1-d arrays as tables: queried, ordered and indexed where they are."""

import h5py
import numpy as np
import pytest

import coquina as cq

ROWS = 30_000


def values_of(dtype, seed=3):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        found = rng.normal(size=ROWS).astype(dtype)
        found[rng.random(ROWS) < 0.01] = np.nan
        return found
    if np.dtype(dtype).kind == "S":
        return rng.integers(0, 900, ROWS).astype(dtype)
    return rng.integers(0, 1000, ROWS).astype(dtype)


def opaque(dtype):
    """The dtype with its dates marked, as HDF5 has them."""
    if dtype.names is not None:
        return np.dtype([(name, opaque(dtype[name])) for name in dtype.names])
    return h5py.opaque_dtype(dtype) if dtype.kind == "M" else dtype


@pytest.fixture(params=["memory", "frame", "hdf5"])
def stored(request, tmp_path):
    """A function that stores an array, and gives it back opened again."""
    files = []

    def store(values):
        if request.param == "memory":
            return cq.asarray(values)
        if request.param == "frame":
            cq.asarray(values, path=tmp_path / "a.b2nd").close()
            return cq.open(tmp_path / "a.b2nd", mode="a")
        with cq.open(tmp_path / "a.h5", mode="w") as file:
            file.create_dataset(
                "g/a", data=values.astype(opaque(values.dtype)), chunks=(4096,), maxshape=(None,)
            )
        files.append(cq.open(tmp_path / "a.h5", mode="r+"))
        return files[-1]["g/a"]

    yield store
    for file in files:
        file.close()


@pytest.mark.parametrize("dtype", ["i4", "u8", "f4", "f8", ">i8", "S5", "M8[s]"])
def test_an_index_of_an_array_finds_what_numpy_finds(stored, dtype):
    values = values_of(dtype)
    with cq.as_table(stored(values)) as table:
        table.create_index("value")
        one = values[7]
        for op, wanted in (("==", values == one), ("<", values < one), (">=", values >= one)):
            condition = f"value {op} one"
            with np.errstate(invalid="ignore"):
                found = table.where(condition, params={"one": one}).row_numbers()
            assert found.tolist() == np.flatnonzero(wanted).tolist()
        assert table.will_use_index("value == one", params={"one": one}) == {"value"}
        first = table.order_by("value").head(50).row_numbers()
        assert first.tolist() == np.argsort(values, kind="stable")[:50].tolist()


def test_fields_of_records_are_columns(stored):
    records = np.zeros(ROWS, [("x", "<i4"), ("t", "<M8[s]"), ("v", "<f4", (3,))])
    records["x"], records["v"][:, 1] = values_of("i4"), values_of("f4")
    records["t"] = values_of("M8[s]")
    with cq.as_table(stored(records)) as table:
        assert table.columns == ("x", "t", "v")
        table.create_index("x")
        table.create_index("v[1]")
        assert table.will_use_index("x == 5") == {"x"}
        assert (
            table.where("v[1] > 2.5").row_numbers().tolist()
            == np.flatnonzero(records["v"][:, 1] > 2.5).tolist()
        )
        assert table.where("x == 5").to_numpy().tobytes() == records[records["x"] == 5].tobytes()


def test_an_index_follows_what_is_written_to_the_array_and_to_the_table(stored):
    values = values_of("i4")
    array = stored(values)
    with cq.as_table(array) as table:
        table.create_index("value")
        array[100:110] = -7
        values[100:110] = -7
        table.append({"value": np.full(20, -7)})
        values = np.append(values, np.full(20, -7, "i4"))
        table.modify("value == 5", {"value": -7})
        values[values == 5] = -7
        assert (array[:] == values).all()
        assert table.where("value == -7").row_numbers().tolist() == np.flatnonzero(values == -7).tolist()
        table.refresh_index()
        assert table.indexes["value"].unindexed_rows == 0
        assert table.where("value == -7").row_numbers().tolist() == np.flatnonzero(values == -7).tolist()


def test_an_index_beside_a_frame_is_there_when_it_is_opened_again(tmp_path):
    values = values_of("f8")
    cq.asarray(values, path=tmp_path / "a.b2nd").close()
    with cq.open(tmp_path / "a.b2nd", mode="a") as array, cq.as_table(array) as table:
        table.create_index("value", kind="light")
    with cq.open(tmp_path / "a.b2nd") as array, cq.as_table(array) as table:
        assert {name: one.kind for name, one in table.indexes.items()} == {"value": "light"}
        assert table.where("value > 3").row_numbers().tolist() == np.flatnonzero(values > 3).tolist()
        with pytest.raises(ValueError, match="reading only"):
            table.create_index("value", name="other")


def test_what_is_no_table_is_refused():
    with pytest.raises(ValueError, match="one axis"):
        cq.as_table(cq.zeros((3, 4)))
    with pytest.raises(cq.UnsupportedError, match="'n'"):
        cq.as_table(cq.asarray(np.zeros(3, [("n", [("x", "i4")])])))
    with pytest.raises(cq.UnsupportedError, match="column"):
        cq.as_table(cq.zeros(3)).add_column("y", [1, 2, 3])


def test_an_array_makes_its_own_index_and_keeps_it(tmp_path):
    values = np.random.default_rng(3).permutation(50_000)
    for path in (None, tmp_path / "a.b2nd"):
        a = cq.asarray(values, path=path)
        assert a.create_index(kind="full")["rows"] == len(values)
        with cq.as_table(a) as table:
            assert table.where("value < 5").will_use_index() == {"value"}
        a[7] = -1
        with cq.as_table(a) as table:
            assert table.where("value < 0").row_numbers().tolist() == [7]
        with pytest.raises(ValueError, match="has an index already"):
            a.create_index()
    with pytest.raises(ValueError, match="one axis of rows"):
        cq.zeros((2, 2)).create_index()
