"""Files that other programs made and coquina changes: commits of ours, and files of theirs all the while."""

import os
import re
import shutil
import subprocess
import warnings

import h5py
import netCDF4
import numpy as np
import pytest
import tables as tb
import xarray as xr

import coquina as cq
from coquina.plugins import plugin_path

ITEMS = np.arange(6000.0).reshape(60, 100)
RECORDS = np.array([(k, k / 2, b"ab") for k in range(500)], [("k", "i4"), ("x", "f8"), ("s", "S2")])


def by_h5py(libver):
    def make(path):
        with h5py.File(path, "w", libver=libver) as file:
            file.create_dataset(
                "items", data=ITEMS, chunks=(10, 100), maxshape=(None, 100), compression="gzip"
            )
            file["items"].attrs["units"] = "K"

    return make


def by_netcdf(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 100)
        file.createVariable("items", "f8", ("time", "x"), zlib=True, chunksizes=(10, 100))[:] = ITEMS
        file["items"].units = "K"


def by_pytables(path):
    with tb.open_file(path, "w") as file:
        made = file.create_earray(
            "/", "items", obj=ITEMS, chunkshape=(10, 100), filters=tb.Filters(1, "blosc2:zstd")
        )
        made.attrs.units = "K"
        file.create_table("/", "rows", RECORDS).cols.k.create_index()


def by_coquina(path):
    with cq.open(path, mode="w") as file:
        file.create_dataset("items", data=ITEMS, chunks=(10, 100), maxshape=(None, 100)).attrs["units"] = "K"
        file.create_table("rows", RECORDS, layout="rows").close()


MAKERS = {
    "h5py, earliest": by_h5py("earliest"),
    "h5py, v110": by_h5py(("v110", "v114")),
    "netCDF4": by_netcdf,
    "PyTables": by_pytables,
    "coquina": by_coquina,
}


def read_by_h5py(path):
    with h5py.File(path) as file:
        return file["items"][...], file["items"].attrs["units"]


def read_by_netcdf(path):
    with netCDF4.Dataset(path) as file:
        return np.asarray(file["items"][...]), file["items"].units


def read_by_pytables(path):
    with warnings.catch_warnings():
        # PyTables does not know the references of NetCDF's dimensions.
        warnings.simplefilter("ignore")
        with tb.open_file(path) as file:
            return file.root.items[...], file.root.items.attrs.units


def read_by_xarray(path):
    with xr.open_dataset(path, engine="netcdf4") as file:
        return file["items"].values, file["items"].attrs["units"]


def read_by_h5dump(path):
    """By another libhdf5 than h5py's, which finds our filter as a plugin."""
    command = ["h5dump", "-y", "-w", "1", "-m", "%.17g", "-d", "/items", str(path)]
    plugins = os.environ | {"HDF5_PLUGIN_PATH": plugin_path()}
    told = subprocess.run(command, env=plugins, capture_output=True, text=True, check=True).stdout
    items = told.split("DATA {")[1].split("}")[0].replace(",", " ").split()
    units = re.search(r'ATTRIBUTE "units".*?DATA \{\s*"([^"]*)"', told, re.DOTALL)
    return np.array(items, "f8").reshape(-1, 100), units.group(1).removesuffix("\\000")


READERS = {
    "h5py": read_by_h5py,
    "PyTables": read_by_pytables,
    "netCDF4": read_by_netcdf,
    "xarray": read_by_xarray,
}
if shutil.which("h5dump") is not None:
    READERS["h5dump"] = read_by_h5dump


@pytest.fixture(params=MAKERS)
def path(request, tmp_path):
    made = tmp_path / "x.h5"
    MAKERS[request.param](made)
    return made


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def check(path, items, units):
    for name, read in READERS.items():
        # netCDF4 has no filter of Blosc2 here, and takes files with dimensions of its own kind.
        with h5py.File(path) as file:
            codes = set(file["items"]._filters)
        if name in ("netCDF4", "xarray") and "32026" in codes:
            continue
        found = read(path)
        assert np.array_equal(found[0], items), name
        assert text(found[1]) == units, name


def test_what_others_made_is_changed_by_commits(path):
    changed = ITEMS.copy()
    changed[7] = -1
    with cq.open(path, mode="r+") as file:
        with file.transaction():
            file["items"][7] = -1
            # Nobody sees a part of it.
            with cq.open(path) as beside:
                assert np.array_equal(beside["items"][...], ITEMS)
            file["items"].attrs["units"] = "degC"
        assert np.array_equal(cq.open(path)["items"][...], changed)
        file["items"].append(np.full((3, 100), 5.0))
        file.attrs["title"] = "changed"
    grown = np.concatenate([changed, np.full((3, 100), 5.0)])
    check(path, grown, "degC")
    assert sorted(one.name for one in path.parent.iterdir()) == [path.name]


def _fail(file):
    with file.transaction():
        file["items"][:] = 0
        file["items"].append(np.zeros((500, 100)))
        file.attrs["x"] = "y" * 1000
        raise KeyError("no")


def test_what_is_rolled_back_leaves_the_file_as_it_was(path):
    before = path.read_bytes()
    with cq.open(path, mode="r+") as file:
        with pytest.raises(KeyError, match="no"):
            _fail(file)
        assert np.array_equal(file["items"][...], ITEMS)
    check(path, ITEMS, "K")
    assert path.read_bytes()[: len(before)] == before


@pytest.mark.parametrize("maker", ["PyTables", "coquina"])
def test_tables_of_rows_that_commit_are_read_by_pytables_with_their_indexes(tmp_path, maker):
    path = tmp_path / "x.h5"
    MAKERS[maker](path)
    with cq.open(path, mode="r+") as file, file.transaction():
        table = file.table("rows")
        table.append(RECORDS[:10])
        table.modify("k == 7", {"x": -1.0})
    wanted = np.concatenate([RECORDS, RECORDS[:10]])
    wanted["x"][wanted["k"] == 7] = -1.0
    with tb.open_file(path) as file:
        assert file.root.rows[:].tolist() == wanted.tolist()
        assert file.root.rows.read_where("k == 7")["x"].tolist() == [-1.0, -1.0]


@pytest.mark.skipif(shutil.which("h5dump") is None, reason="needs h5dump, of HDF5's own tools")
@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_h5dump_prints_tables_that_were_committed(tmp_path, layout):
    path = tmp_path / "x.h5"
    with cq.create_table(path, RECORDS, name="/t", layout=layout, index=["k"]) as table:
        table.append(RECORDS[:10])
        table.flush()
        table.modify("k == 7", {"x": -1.0})
    plugins = os.environ | {"HDF5_PLUGIN_PATH": plugin_path()}
    done = subprocess.run(["h5dump", str(path)], env=plugins, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "249.5" in done.stdout
