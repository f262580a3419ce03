"""Who replaces what a symbolic link points to leaves the link, and keeps who may read it."""

import os

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

COLUMN = {"k": np.arange(3)}


def make_hdf5(path, mode):
    with cq.hdf5.File(path, mode) as f:
        f.create_dataset("x", data=np.arange(3))


def make_plain_hdf5(path, mode):
    with cq.hdf5.File(path, mode, journal=False) as f:
        f.create_dataset("x", data=np.arange(3))


def recover(path, mode):
    source = path.parent.parent / f"source-{mode}.h5"
    with h5py.File(source, "w") as f:
        f["x"] = np.arange(3)
    cq.hdf5.recover(source, path, overwrite=mode == "w")


def make_frame(path, mode):
    cq.asarray(np.arange(3), path=path, overwrite=mode == "w").close()


def make_folder(path, mode):
    cq.asarray(np.arange(3), path=path, contiguous=False, overwrite=mode == "w").close()


def make_table_file(path, mode):
    cq.create_table(path, COLUMN, mode=mode).close()


def make_table_folder(path, mode):
    cq.create_table(path, COLUMN, mode=mode).close()


def pack(path, mode):
    cq.pack(np.arange(3), path, overwrite=mode == "w")


def convert(path, mode):
    source = path.parent.parent / f"source-{mode}.b2nd"
    cq.asarray(np.arange(3), path=source).close()
    assert main(["convert", str(source), str(path), *(["--force"] if mode == "w" else [])]) == 0


def write_parquet(path, mode):
    with cq.create_table(path.parent.parent / f"source-{mode}.h5", COLUMN) as table:
        table.to_parquet(path)


MAKING = {
    "lab.h5": [make_hdf5, make_plain_hdf5, recover, make_table_file],
    "lab.b2nd": [make_frame, make_folder],
    "lab": [make_table_folder],
    "lab.blp": [pack],
    "lab.npy": [convert],
    "lab.parquet": [write_parquet],
}
CASES = [pytest.param(name, make, id=make.__name__) for name, many in MAKING.items() for make in many]


@pytest.fixture
def folders(tmp_path):
    for name in ("real", "links"):
        (tmp_path / name).mkdir()
    return tmp_path / "real", tmp_path / "links"


@pytest.mark.parametrize(("name", "make"), CASES)
def test_a_link_goes_on_to_point_where_it_does(folders, name, make):
    real, links = folders
    make(real / name, "x")
    before = (real / name).stat()
    (links / name).symlink_to(f"../real/{name}")
    make(links / name, "w")
    assert (links / name).is_symlink()
    assert (real / name).stat().st_ino != before.st_ino
    assert os.listdir(real) == os.listdir(links) == [name]


@pytest.mark.parametrize(("name", "make"), CASES)
def test_what_replaces_a_private_file_is_private(folders, name, make):
    path = folders[0] / name
    make(path, "x")
    private = 0o700 if path.is_dir() else 0o600
    assert path.stat().st_mode & 0o077
    path.chmod(private)
    make(path, "w")
    assert path.stat().st_mode & 0o777 == private


def test_the_journal_of_a_private_file_is_private(folders):
    path = folders[0] / "lab.h5"
    make_hdf5(path, "x")
    for mode in (0o600, 0o640, 0o644):
        path.chmod(mode)
        with cq.hdf5.File(path, "a") as f:
            f["x"][0] = 5
            f.flush()
            assert (folders[0] / "lab.h5.journal").stat().st_mode & 0o777 == mode
