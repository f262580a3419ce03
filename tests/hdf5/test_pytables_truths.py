"""PyTables' arrays of truth values, which HDF5 stores as bit fields."""

import h5py
import numpy as np
import tables

import coquina as cq

MASK = np.array([True, False, True, True])


def write(path):
    with tables.open_file(path, "w") as file:
        file.create_array("/", "array", MASK)
        file.create_carray("/", "carray", obj=MASK)
        file.create_earray("/", "earray", obj=MASK)
        file.create_carray("/", "rows", obj=np.stack([MASK, ~MASK]))


def test_truths_are_truths_and_pick_rows(tmp_path):
    write(tmp_path / "t.h5")
    x = np.arange(4)
    with cq.open(tmp_path / "t.h5") as file:
        for name in ("array", "carray", "earray"):
            assert file[name].dtype == np.bool_
            assert x[np.asarray(file[name])].tolist() == [0, 2, 3]
            assert cq.asarray(x)[file[name][...]].tolist() == [0, 2, 3]
            assert file[name].sum() == 3
        assert (~file["rows"])[...].tolist() == [(~MASK).tolist(), MASK.tolist()]


def test_what_is_written_pytables_reads(tmp_path):
    write(tmp_path / "t.h5")
    with cq.open(tmp_path / "t.h5", "a") as file:
        for name in ("array", "carray", "earray"):
            file[name][1:3] = [True, False]
        with file["earray"].appending() as session:
            session.append(np.array([False, True]))
    with tables.open_file(tmp_path / "t.h5") as file:
        assert file.root.array[:].tolist() == [True, True, False, True]
        assert file.root.carray[:].tolist() == [True, True, False, True]
        assert file.root.earray[:].tolist() == [True, True, False, True, False, True]
    cq.hdf5.repack(tmp_path / "t.h5", tmp_path / "u.h5")
    with tables.open_file(tmp_path / "u.h5") as file, cq.open(tmp_path / "u.h5") as ours:
        assert file.root.carray[:].dtype == ours["carray"].dtype == np.bool_
        assert file.root.carray[:].tolist() == ours["carray"][...].tolist()


def test_bits_of_other_files_stay_numbers(tmp_path):
    with h5py.File(tmp_path / "b.h5", "w") as file:
        made = h5py.h5d.create(file.id, b"x", h5py.h5t.STD_B8LE, h5py.h5s.create_simple((3,)))
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1, 2, 255], "u1"), h5py.h5t.STD_B8LE)
    with cq.open(tmp_path / "b.h5") as file:
        assert file["x"].dtype == np.uint8
        assert file["x"][...].tolist() == [1, 2, 255]
