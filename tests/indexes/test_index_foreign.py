"""Tables with indexes that other libraries write to: no answer comes from what an index knew before."""

import os
import shutil

import blosc2
import h5py
import numpy as np
import pytest
import tables

import coquina as cq
from tests.indexes.freshness_cases import LAYOUTS, ROWS, check, known, make, place

# PyTables


def append_rows(path):
    with tables.open_file(str(path), "a") as file:
        file.root.table.append([(777, 0.5), (5, 0.999999), (-1, 0.1)] * 100)


def modify_rows(path):
    with tables.open_file(str(path), "a") as file:
        file.root.table.modify_column(70_000, 70_500, colname="x", column=np.arange(500) + 400)


def remove_rows(path):
    with tables.open_file(str(path), "a") as file:
        file.root.table.remove_rows(10, 900)


def update_rows(path):
    with tables.open_file(str(path), "a") as file:
        for row in file.root.table.where("x < 3"):
            row["x"] = 777
            row.update()
        file.root.table.flush()


# h5py


def grow(path):
    with h5py.File(path, "r+") as file:
        for name in ("x", "y"):
            column = file["table"][name]
            column.resize((ROWS + 100,))
            column[ROWS:] = 777 if name == "x" else 0.5


def shrink_and_grow(path):
    with h5py.File(path, "r+") as file:
        for name in ("x", "y"):
            column = file["table"][name]
            column.resize((ROWS // 2,))
            column.resize((ROWS,))


def assign(path):
    with h5py.File(path, "r+") as file:
        file["table/x"][1000:1010] = 777


def assign_one(path):
    with h5py.File(path, "r+") as file:
        file["table/x"][ROWS - 1] = 777


def replace(path):
    with h5py.File(path, "r+") as file:
        values = file["table/x"][:][::-1]
        attrs = dict(file["table/x"].attrs)
        del file["table/x"]
        made = file.create_dataset("table/x", data=values, chunks=(1 << 14,), maxshape=(None,))
        made.attrs.update(attrs)


def relink(path):
    with h5py.File(path, "r+") as file:
        file.move("table/x", "kept")
        file["table/x"] = file.create_dataset("new", data=np.arange(ROWS), chunks=True, maxshape=(None,))
        file["table/x"].attrs.update(dict(file["kept"].attrs))


def assign_records(path):
    with h5py.File(path, "r+") as file:
        file["table"][5:9] = np.array([(777, 0.5)] * 4, file["table"].dtype)


# python-blosc2


def overwrite_frame(path):
    found = blosc2.open(str(path / "0001.b2nd"), mode="a")
    found[1000:1010] = 777


def replace_frame(path):
    found = blosc2.open(str(path / "0001.b2nd"))
    values = np.ascontiguousarray(found[:][::-1])
    os.remove(path / "0001.b2nd")
    blosc2.asarray(values, urlpath=str(path / "0001.b2nd"), chunks=found.chunks, blocks=found.blocks)


WRITERS = {
    "rows": [append_rows, modify_rows, remove_rows, update_rows, assign_records],
    "columns": [grow, shrink_and_grow, assign, assign_one, replace, relink],
}
EACH_WRITER = pytest.mark.parametrize(
    ("layout", "write"), [(layout, one) for layout, writers in WRITERS.items() for one in writers]
)


@EACH_WRITER
def test_what_others_write_is_found(layout, write, tmp_path):
    path = place(tmp_path, layout)
    make(path, layout)
    assert known(path) == (ROWS, True)
    write(path)
    with cq.open_table(path) as table:
        check(table)
        check(table)
    with cq.open_table(path, mode="r+") as table:
        check(table)
        table.append({"x": [777], "y": [0.999995]})
        check(table)
    with cq.open_table(path) as table:
        check(table, used=True)
    # Who closed it last knew what is open, so that nobody has to look again.
    assert known(path)[1]


@EACH_WRITER
def test_what_others_write_is_found_when_it_is_refreshed(layout, write, tmp_path):
    path = place(tmp_path, layout)
    make(path, layout)
    write(path)
    with cq.open_table(path, mode="r+") as table:
        table.refresh_index()
        assert table.indexes["x"].unindexed_rows == 0
        check(table, used=True)
    with cq.open_table(path) as table:
        assert table.indexes["x"].unindexed_rows == 0
        check(table, used=True)


@pytest.mark.parametrize("write", [overwrite_frame, replace_frame])
def test_files_of_a_directory_that_others_write_are_refused(write, tmp_path):
    make(tmp_path / "t", "directory")
    with cq.open_table(tmp_path / "t") as table:
        write(tmp_path / "t")
        if write is replace_frame:
            # It has the old file open.
            check(table)
    for mode in ("r", "r+"):
        with pytest.raises(cq.CorruptError, match=r"0001\.b2nd"):
            cq.open_table(tmp_path / "t", mode=mode)


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_values_of_the_same_size_are_written_in_place(layout, tmp_path):
    path = tmp_path / "t.h5"
    make(path, layout, filter="none")
    before = path.stat().st_size
    with h5py.File(path, "r+") as file:
        if layout == "columns":
            file["table/x"][70_000] = 777
        else:
            record = file["table"][70_000]
            record["x"] = 777
            file["table"][70_000] = record
    assert path.stat().st_size == before
    with cq.open_table(path) as table:
        check(table, used=True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_writer_while_it_is_open_for_reading(layout, tmp_path):
    path = place(tmp_path, layout)
    make(path, layout)
    with cq.open_table(path) as table:
        check(table, used=True)
        # As another program would: libhdf5 does not let this one.
        files = [path] if layout != "directory" else sorted(path.glob("*.b2nd"))
        for file in files:
            os.utime(file)
        check(table, used=True)
        for file in files:
            os.utime(file, ns=(5, 7))
        check(table)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_file_that_is_copied_with_its_time_is_fresh(layout, tmp_path):
    path = place(tmp_path, layout)
    make(path, layout)
    if layout == "directory":
        copied = shutil.copytree(path, tmp_path / "other")
    else:
        copied = shutil.copy2(path, tmp_path / "other.h5")
    assert known(copied) == (ROWS, True)
    (copied if layout != "directory" else copied / "0001.b2nd").touch()
    assert known(copied) == (ROWS, False)
