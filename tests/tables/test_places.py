"""Where new tables go: beside what a file has, and in place of a table only where that is asked for."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

import coquina as cq

OLD = {"k": np.arange(5), "s": ["a", "b", "c", "d", "e"]}
NEW = {"x": np.arange(3.0)}


def full_file(path: Path) -> Path:
    """Make a file with what a user has: a group of an instrument, and a table with an index."""
    with h5py.File(path, "w") as file:
        file["raw/images"] = np.arange(60).reshape(3, 4, 5)
        file["raw/images"].attrs["units"] = "counts"
        file.attrs["title"] = "a night's work"
    cq.create_table(path, OLD, name="/t1", index=["k"]).close()
    return path


def check_the_rest(path: Path) -> None:
    with h5py.File(path) as file:
        assert file["raw/images"][2, 3, 4] == 59
        assert file["raw/images"].attrs["units"] == "counts"
        assert file.attrs["title"] == "a night's work"


def rows_at(path: Path, name: str | None = None) -> list[object]:
    with cq.open_table(path, name) as table:
        return table.to_numpy()[table.columns[0]].tolist()


@pytest.fixture(params=["create", "csv", "parquet", "copy", "selection"])
def making(request, tmp_path):
    """Every function that makes a table at a path."""
    if request.param == "create":
        return lambda path, **how: cq.create_table(path, NEW, **how)
    if request.param == "csv":
        source = tmp_path / "new.csv"
        source.write_text("x\n0.0\n1.0\n2.0\n")
        return lambda path, **how: cq.read_csv(source, path, **how)
    home = cq.create_table(tmp_path / "new", NEW)
    if request.param == "parquet":
        home.to_parquet(tmp_path / "new.parquet")
        return lambda path, **how: cq.read_parquet(tmp_path / "new.parquet", path, **how)
    if request.param == "copy":
        return lambda path, **how: home.copy(path, **how)
    return lambda path, **how: cq.create_table(path, home.where("x >= 0"), **how)


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_a_new_table_goes_beside_what_a_file_has(tmp_path, making, layout):
    # A second `create_table` on a file deleted everything else in it.
    path = full_file(tmp_path / "lab.h5")
    making(path, name="/t2", layout=layout).close()
    assert rows_at(path, "/t1") == [0, 1, 2, 3, 4]
    assert rows_at(path, "/t2") == [0, 1, 2]
    check_the_rest(path)


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_only_overwrite_replaces_a_table_and_nothing_else(tmp_path, making, layout):
    path = full_file(tmp_path / "lab.h5")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"lab.h5:/t1 exists; overwrite=True"):
        making(path, name="/t1", layout=layout)
    assert path.read_bytes() == before
    with making(path, name="/t1", layout=layout, overwrite=True) as table:
        assert table.name == "/t1"
        assert not table.indexes
        table.append({"x": [9.0]})
    assert rows_at(path, "/t1") == [0, 1, 2, 9]
    check_the_rest(path)


def test_a_group_or_a_dataset_is_not_replaced_by_a_table(tmp_path, making):
    path = full_file(tmp_path / "lab.h5")
    for name in ("/raw", "/raw/images"):
        with pytest.raises(ValueError, match="is not a table"):
            making(path, name=name, overwrite=True)
    check_the_rest(path)


def test_a_file_that_is_no_hdf5_file_is_kept(tmp_path, making):
    path = tmp_path / "notes.h5"
    path.write_text("not to be lost")
    with pytest.raises(OSError, match="signature"):
        making(path)
    assert path.read_text() == "not to be lost"


def test_a_table_that_fails_leaves_the_old_one(tmp_path):
    path, folder = full_file(tmp_path / "lab.h5"), tmp_path / "folder"
    cq.create_table(folder, OLD).close()
    for place, name in ((path, "/t1"), (folder, "/table")):
        with pytest.raises((ValueError, KeyError)):
            cq.create_table(place, NEW, name=name, overwrite=True, index=["nothing"])
        assert rows_at(place, name if place is path else None) == [0, 1, 2, 3, 4]
    with h5py.File(path) as file:
        assert sorted(file) == ["raw", "t1"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "lab.h5"]


def test_mode_w_makes_a_whole_new_file(tmp_path):
    path = full_file(tmp_path / "lab.h5")
    cq.create_table(path, NEW, mode="w").close()
    with h5py.File(path) as file:
        assert list(file) == ["table"]


def test_a_directory_is_replaced_only_by_overwrite_and_only_if_it_is_a_table(tmp_path, making):
    path = tmp_path / "t"
    cq.create_table(path, OLD, index=["k"]).close()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        making(path)
    assert rows_at(path) == [0, 1, 2, 3, 4]
    with making(path, overwrite=True) as table:
        table.append({"x": [9.0]})
    assert rows_at(path) == [0, 1, 2, 9]
    for foreign in (tmp_path / "holiday", path):
        foreign.mkdir(exist_ok=True)
        (foreign / "picture.png").write_bytes(b"png")
        with pytest.raises(FileExistsError, match=r"not a table|picture\.png"):
            making(foreign, overwrite=True)
        assert (foreign / "picture.png").read_bytes() == b"png"
    assert rows_at(path) == [0, 1, 2, 9]


def test_a_table_can_be_copied_onto_itself(tmp_path):
    # The directory was emptied before its rows were read.
    path = tmp_path / "t"
    with cq.create_table(path, OLD) as table:
        table.copy(path, condition="k > 1", overwrite=True).close()
    assert rows_at(path) == [2, 3, 4]
