"""Writes past a table's own methods, in the session that has its indexes: they are noticed."""

import os
import time

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.indexes.access import forced
from tests.indexes.freshness_cases import LAYOUTS, ROWS, check, is_fresh, known, make, place


def of_column(write):
    """Return a change of a dataset or array, as one of a table's file and its column."""

    def change(file, table):
        write(table["x"] if file is None else file["t/table/x"])

    return change


def assign(x):
    x[1000:1010] = 777


def assign_points(x):
    x[[5, 100_000]] = 777


def assign_computed(x):
    x[...] = x + 500


def append_and_cut(x):
    x.append(np.full(10, 777))
    x.resize((ROWS,))


def cut_and_grow(x):
    x.resize((10,))
    x.resize((ROWS,))


def write_chunk(x):
    x.write_chunk((0,), x.read_chunk((x.chunks[0],)))


def other_object(file, table):
    with cq.open(file.path, "r+") as other:
        other["t/table/x"][1000:1010] = 777


def append_session(file, table):
    with file["t/table/x"].appending() as x, file["t/table/y"].appending() as y:
        for _ in range(3):
            x.append(np.full(100, 777))
            y.append(np.full(100, 0.5))


def swapped_columns(file, table):
    t = file["t"]["table"].file["t"]
    t.move("table/x", "kept")
    t.move("table/y", "table/x")
    t.move("kept", "table/y")


HDF5 = [
    *map(of_column, (assign, assign_points, assign_computed, append_and_cut, cut_and_grow, write_chunk)),
    other_object,
]


@pytest.mark.parametrize("change", HDF5)
def test_what_is_written_to_a_dataset_is_noticed(change, tmp_path):
    path = tmp_path / "t.h5"
    make(path, "columns", name="/t/table")
    with cq.open(path, "r+") as file:
        table = file["t/table"]
        check(table, used=True)
        change(file, table)
        check(table)
        change(file, table)
    with cq.open_table(path) as table:
        check(table)


@pytest.mark.parametrize("change", [*HDF5, append_session])
def test_what_is_written_without_the_table_is_noticed(change, tmp_path):
    path = tmp_path / "t.h5"
    make(path, "columns", name="/t/table")
    with cq.open(path, "r+") as file:
        change(file, None)
    assert not known(path, "/t/table")[1]
    with cq.open_table(path) as table:
        check(table)


def test_columns_that_change_places_are_noticed(tmp_path):
    path = tmp_path / "t.h5"
    make(path, "columns", name="/t/table", index=("x",))
    with cq.open(path, "r+") as file:
        group = file["t"]
        for old, new in (("table/x", "kept"), ("table/y", "table/x"), ("kept", "table/y")):
            group.move(old, new)
        group["table/x"][...] = np.arange(ROWS)
    with cq.open_table(path) as table:
        check(table)


@pytest.mark.parametrize("write", [assign, assign_points, assign_computed])
def test_what_is_written_past_a_directory_is_refused(write, tmp_path):
    path = tmp_path / "t"
    make(path, "directory")
    with cq.open_table(path) as table:
        check(table, used=True)
        with cq.open(path / "0001.b2nd", "a") as x:
            write(x)
        # It shows the commit that was there, until it is told to go on.
        check(table, used=True)
        assert not table.refresh()
        check(table, used=True)
    # The table did not commit it.
    with pytest.raises(cq.CorruptError, match=r"0001\.b2nd"):
        cq.open_table(path)


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_h5py_objects_that_are_handed_out_end_the_use_of_indexes(layout, tmp_path):
    path = tmp_path / "t.h5"
    make(path, layout)
    with cq.open(path, "r+") as file:
        table = file["table"]
        check(table, used=True)
        raw = file.h5["table/x" if layout == "columns" else "table"]
        check(table, used=False)
        assert "h5" in table.indexes["x"].reason
        raw[5] = 777 if layout == "columns" else np.array((777, 0.5), raw.dtype)
        check(table, used=False)
    assert not known(path)[1]
    with cq.open(path) as file:
        assert file.h5 is not None
        check(file["table"], used=True)


def test_a_file_that_h5py_has_open_has_no_use_of_indexes(tmp_path):
    path = tmp_path / "t.h5"
    make(path, "columns")
    with h5py.File(path, "r+") as h5:
        table = cq.hdf5.fast(h5["table"])
        check(table, used=False)
        h5["table/x"][5] = 777
        check(table, used=False)
    # With a journal h5py gets no second handle for writing.
    with cq.open(path, "r+"), pytest.raises(BlockingIOError):
        h5py.File(path, "r+")
    with cq.hdf5.File(path, "r+", journal=False) as file:
        check(file["table"], used=True)
        with h5py.File(path, "r+") as h5:
            check(file["table"], used=False)
            h5["table/x"][7] = 777
        check(file["table"], used=False)
    with h5py.File(path, "r+") as h5, cq.open(path) as file:
        check(file["table"], used=False)
        h5["table/x"][9] = 777
        check(file["table"], used=False)
    with cq.open_table(path) as table:
        check(table, used=True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_changes_of_a_table_leave_its_indexes_fresh(layout, tmp_path):
    path = place(tmp_path, layout)
    make(path, layout)
    for step in range(8):
        with cq.open_table(path, mode="r+") as table:
            index = table.indexes["x"]
            assert is_fresh(index), step
            if step == 0:
                table.append({"x": [777], "y": [0.5]})
            elif step == 1:
                table.modify("x == 777", {"y": 0.999999})
            elif step == 2:
                table[70_000:70_010] = {"x": 777, "y": 0.5}
            elif step == 3:
                table.delete("x < 3")
            elif step == 4:
                table.truncate(table.nrows - 10)
            elif step == 5:
                table.resize(table.nrows + 100)
            elif step == 6:
                table["x"] = np.arange(table.nrows)
            table.flush()
            assert is_fresh(index), step
            check(table)
            assert is_fresh(index), step
        with cq.open_table(path) as table:
            assert is_fresh(table.indexes["x"]), step
            check(table, used=True)


@pytest.mark.parametrize("layout", ["columns", "directory"])
def test_columns_come_and_go_with_their_indexes(layout, tmp_path):
    path = place(tmp_path, layout)
    make(path, layout)
    with cq.open_table(path, mode="r+") as table:
        table.create_index("x + y")
        table.rename_column("y", "why")
        assert set(table.indexes) == {"x", "why"}
        table.rename_column("why", "y")
        table.add_column("z", np.arange(ROWS))
        table.create_index("z")
        table.create_index("z * 2")
        check(table, used=True)
        table.drop_column("z")
        assert set(table.indexes) == {"x", "y"}
    with cq.open_table(path, mode="r+") as table:
        assert set(table.indexes) == {"x", "y"}
        assert is_fresh(table.indexes["x"])
        check(table, used=True)
        table.drop_column("x")
        table.add_column("x", np.arange(ROWS)[::-1])
        assert set(table.indexes) == {"y"}
        check(table)


def test_text_that_is_written_anew_is_watched_where_it_is_then(tmp_path, monkeypatch):
    monkeypatch.setattr("coquina.tables.stored_columns._TEXT_BYTES_MAX", 1 << 10)
    words = np.array(["ab", "cd", "ef", "gh"] * 1000, object)
    with cq.create_table(tmp_path / "t.h5", {"w": words.tolist()}) as table:
        table.create_index("w")
        table.modify(np.arange(0, 4000, 3), {"w": "something longer"})
        words[::3] = "something longer"
        check_words(table, words)
        text = table.file["table/w/node1-data"]
        text[-6:] = np.frombuffer(b"cdcdcd", "u1")
        words[-3:] = table["w"][-3:]
        assert words[-1] == "something cdcdcd"
        check_words(table, words)


def check_words(table, words):
    for value in ("ab", "cd", "something longer", "something cdcdcd", "nothing"):
        with forced():
            found = table.where(f"w == '{value}'").row_numbers()
        np.testing.assert_array_equal(found, np.flatnonzero(words == value))


def test_a_table_that_is_moved_keeps_its_indexes_and_one_that_is_removed_has_none(tmp_path):
    path = tmp_path / "t.h5"
    make(path, "columns")
    make_second(path)
    with cq.open(path, "r+") as file:
        file.move("table", "group/moved")
        check(file["group/moved"], used=True)
        del file["second"]
        with cq.create_table(tmp_path / "x.h5", {"x": [1]}) as other:
            other.copy(file, "second")
        assert not file["second"].indexes
    with cq.open(path) as file:
        assert set(file["group/moved"].indexes) == {"x", "y"}
        check(file["group/moved"], used=True)
        assert not [name for name in file if name.startswith("_p_coquina_")]


def make_second(path):
    with cq.open(path, "r+") as file:
        second = file.create_table("second", {"x": np.arange(100)})
        second.create_index("x")


def test_a_copy_of_a_table_has_no_use_for_what_is_known_of_another(tmp_path):
    path = tmp_path / "t.h5"
    make(path, "columns", name="/a/table")
    with cq.open(path, "r+") as file:
        check(file["a/table"], used=True)
        file.copy("a", "b")
        file["b/table/x"][100:200] = 777
        check(file["b/table"])
        check(file["a/table"], used=True)
    with cq.open(path) as file:
        check(file["b/table"])
        check(file["a/table"], used=True)


def test_a_place_in_the_file_that_is_used_again_is_not_taken_for_what_was_there(tmp_path):
    path = tmp_path / "t.h5"
    make(path, "columns", index=("x",), filter="none")
    values = np.arange(ROWS)[::-1]
    with cq.open(path, "r+") as file:
        attrs = dict(file["table"].layout.home.attrs_of("x"))
        chunks = file["table/x"].chunks
        del file["table/x"]
        made = file.create_dataset("table/x", data=values, chunks=chunks, maxshape=(None,), filter="none")
        for name, value in attrs.items():
            made.attrs[name] = value
    with cq.open_table(path) as table:
        check(table)


def test_only_tables_with_indexes_have_files_stamped(tmp_path):
    path = tmp_path / "t.h5"
    make(path, "columns", index=())
    with h5py.File(path) as file:
        assert set(file) == {"table"}
        assert not file.attrs
    before = time.time_ns()
    make(path, "columns")
    with h5py.File(path) as file:
        stamp = int(file.attrs["_p_coquina_stamp"])
    assert before - 10**9 < stamp == os.stat(path).st_mtime_ns


def test_categories_that_need_wider_codes_keep_an_index_right(tmp_path):
    for path in (tmp_path / "t.h5", tmp_path / "t"):
        few = np.array([f"k{n}" for n in range(100)], object)
        schema = {"k": few.tolist()}
        with cq.create_table(path, schema_of(schema)) as table:
            table.create_index("k")
            words = few
            for count in (140, 40_000):
                more = np.array([f"k{n}" for n in range(count)], object)
                check_keys(table, words)
                table.append({"k": more.tolist()})
                words = np.concatenate([words, more])
                check_keys(table, words)
        with cq.open_table(path) as table:
            check_keys(table, words)


def schema_of(columns):
    pd = pytest.importorskip("pandas")
    return {name: pd.Categorical(values) for name, values in columns.items()}


def check_keys(table, words):
    for value in ("k5", "k99", "k139", "k39999", "nothing"):
        with forced():
            found = table.where(f"k == '{value}'").row_numbers()
        np.testing.assert_array_equal(found, np.flatnonzero(words == value), value)


def test_a_dataset_that_only_h5py_has_ends_the_use_of_indexes_where_it_can_be_written(tmp_path):
    path = tmp_path / "t.h5"
    make(path, "columns")
    with h5py.File(path, "r+") as file:
        file["words"] = ["a", "b"]
    with cq.open(path, "r+") as file:
        check(file["table"], used=True)
        assert file["words"][0] == b"a"
        check(file["table"], used=False)
    with cq.open(path) as file:
        assert file["words"][0] == b"a"
        check(file["table"], used=True)


def test_anndata_reads_a_file_whose_tables_have_indexes(tmp_path):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    path = tmp_path / "a.h5ad"
    names = [f"cell{n}" for n in range(500)]
    anndata.AnnData(np.ones((500, 3), "f4"), pd.DataFrame({"n": np.arange(500)}, index=names)).write_h5ad(
        path
    )
    with cq.open(path, "r+") as file:
        file["obs"].create_index("n")
    found = anndata.read_h5ad(path)
    assert found.obs["n"].tolist() == list(range(500))
    with cq.open(path) as file:
        assert is_fresh(file["obs"].indexes["n"])
        with forced():
            assert file["obs"].where("n == 77").row_numbers().tolist() == [77]
    found.write_h5ad(path)
    assert anndata.read_h5ad(path).n_obs == 500
