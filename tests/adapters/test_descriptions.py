"""What is said of arrays goes with their items: packing, units, dimensions, coordinates, each way."""

from __future__ import annotations

import json

import h5py
import netCDF4
import numpy as np
import pandas as pd
import pytest
import xarray as xr
import zarr

import coquina as cq
from coquina.cli import main
from coquina.hdf5.copying import repack

LONG = "GRIB_longitudeOfFirstGridPointInDegrees"


@pytest.fixture
def packed(tmp_path):
    path = tmp_path / "packed.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", 2)
        file.createDimension("lat", 3)
        found = file.createVariable("t2m", "i2", ("time", "lat"), fill_value=np.int16(-32767), zlib=True)
        found.setncatts({"scale_factor": np.float32(0.01), "add_offset": np.float32(273.15), "units": "K"})
        found.setncatts({LONG: 1.5, "flags": np.array([1, 2], "i1"), "dims": "a name that frames have"})
        found[:] = np.ma.array([[308.26, 300, 290], [280, 270, 260]], mask=[[0, 0, 0], [0, 0, 1]])
        lat = file.createVariable("lat", "f4", ("lat",))
        lat[:], lat.units = [10, 20, 30], "degrees_north"
    return path


def variable(path, name):
    path, engine = str(path), "coquina" if str(path).endswith(".b2nd") else "netcdf4"
    if engine == "netcdf4":
        # The NetCDF library has no filter of Blosc2.
        repack(path, f"{path}.gz.nc", filter="gzip", overwrite=True)
        path = f"{path}.gz.nc"
    with xr.open_dataset(path, engine=engine) as dataset:
        return dataset[name].load()


def check(found, wanted):
    """Check values, missing ones, attributes with their types, the names of axes, and the packing."""
    assert found.dims == wanted.dims
    assert found.dtype == wanted.dtype
    assert np.array_equal(found.values, wanted.values, equal_nan=True)
    assert set(found.attrs) == set(wanted.attrs)
    for name, value in wanted.attrs.items():
        assert np.array_equal(found.attrs[name], value), name
        assert np.asarray(found.attrs[name]).dtype == np.asarray(value).dtype, name
    for name in ("scale_factor", "add_offset", "_FillValue"):
        assert found.encoding[name] == wanted.encoding[name]
        assert np.asarray(found.encoding[name]).dtype == np.asarray(wanted.encoding[name]).dtype


WAYS = [
    ["a.b2nd"],
    ["a.h5"],
    ["a.nc"],
    ["a.b2nd", "b.h5"],
    ["a.b2nd", "b.nc"],
    ["a.nc", "b.b2nd"],
    ["a.b2nd", "b.b2nd"],
]


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_packed_variables_go_from_file_to_file(packed, tmp_path, monkeypatch, way):
    # xarray read 3511.0 where it was 308.26 K.
    monkeypatch.chdir(tmp_path)
    source = f"{packed}:/t2m"
    for output in way:
        place = output if output.endswith(".b2nd") else f"{output}:/t2m"
        assert main(["convert", source, place]) == 0
        source = place
    name = "t2m" if ":" in source else source.removesuffix(".b2nd")
    check(variable(way[-1], name), variable(packed, "t2m"))


def test_packed_variables_go_through_python(packed, tmp_path):
    wanted = variable(packed, "t2m")
    with cq.open(packed) as file, h5py.File(packed) as h5, netCDF4.Dataset(packed) as nc:
        sources = {
            "asarray": lambda path: cq.asarray(file["t2m"], path=path),
            "copy": lambda path: file["t2m"].copy(path=path),
            "h5py": lambda path: cq.asarray(h5["t2m"], path=path),
            "netcdf4": lambda path: cq.asarray(nc["t2m"], path=path),
            "raw": lambda path: cq.asarray(xr.open_dataset(packed, mask_and_scale=False)["t2m"], path=path),
            "again": lambda path: cq.asarray(cq.open(tmp_path / "copy.b2nd"), path=path, chunks=(1, 3)),
            "cut": lambda path: cq.open(tmp_path / "copy.b2nd").copy(path=path, chunks=(1, 2)),
        }
        for name, make in sources.items():
            make(tmp_path / f"{name}.b2nd").close()
            check(variable(tmp_path / f"{name}.b2nd", name), wanted)
        # What netCDF4 unpacked was cut down to integers; and the variable is as it was.
        assert nc["t2m"].scale
        assert nc["t2m"].mask


def test_files_that_cannot_say_it_get_no_packed_items(packed, tmp_path, capfd):
    for extension in ("npy", "npz", "raw", "blp", "tif"):
        assert main(["convert", f"{packed}:/t2m", str(tmp_path / f"o.{extension}")]) == 1
        assert "packed" in capfd.readouterr().err
        assert not (tmp_path / f"o.{extension}").exists()
    assert main(["convert", f"{packed}:/lat", str(tmp_path / "o.npy"), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["dropped"] == ["units", "names of axes"]


def array_of_xarray():
    return xr.DataArray(
        np.arange(24.0).reshape(2, 3, 4),
        dims=("time", "lat", "lon"),
        coords={
            "time": np.array(["2024-01-01", "2024-01-02T03:04:05.000000006"], "M8[ns]"),
            "lat": ("lat", [1.0, 2.0, 3.0], {"units": "degrees_north"}),
            "name": ("lat", ["a", "bé", "c"]),
            "height": 2.5,
            "area": (("lat", "lon"), np.arange(12).reshape(3, 4)),
        },
        attrs={"units": "K", "valid_range": np.array([0, 99], "i2"), "tags": ["x", "y"]},
    )


def test_arrays_of_xarray_keep_dims_coordinates_and_attributes(tmp_path):
    array = array_of_xarray()
    cq.asarray(array, path=tmp_path / "a.b2nd").close()
    assert main(["convert", str(tmp_path / "a.b2nd"), f"{tmp_path / 'a.nc'}:/a"]) == 0
    assert main(["convert", str(tmp_path / "a.b2nd"), str(tmp_path / "again.b2nd")]) == 0
    for path, name in (
        (tmp_path / "a.b2nd", "a"),
        (tmp_path / "again.b2nd", "again"),
        (tmp_path / "a.nc", "a"),
    ):
        found = variable(path, name)
        assert found.dims == array.dims
        assert set(found.coords) == set(array.coords)
        for coordinate, wanted in array.coords.items():
            assert np.array_equal(found[coordinate].values, wanted.values), coordinate
            assert found[coordinate].dims == wanted.dims
            assert found[coordinate].attrs == wanted.attrs
        assert found.attrs["units"] == "K"
        assert found.attrs["valid_range"].tolist() == [0, 99]
        assert list(found.attrs["tags"]) == ["x", "y"]
        assert np.array_equal(found.values, array.values)


def test_coordinates_that_cannot_be_stored_are_named(tmp_path):
    array = array_of_xarray().assign_coords(thing=("lat", np.array([object(), 1, None], object)))
    with pytest.raises(ValueError, match=r"coordinate 'thing'.*drop_vars"):
        cq.asarray(array, path=tmp_path / "a.b2nd")
    assert not (tmp_path / "a.b2nd").exists()


def test_arrays_of_zarr_keep_their_attributes():
    array = zarr.create_array({}, shape=(4,), dtype="i4", dimension_names=["x"])
    array.attrs["units"] = "m"
    found = cq.asarray(array)
    assert dict(found.attrs) == {"units": "m", "_ARRAY_DIMENSIONS": ["x"]}


def test_axes_of_a_file_that_is_there_are_used_and_nothing_in_it_is_changed(packed, tmp_path):
    with h5py.File(tmp_path / "lab.h5", "w") as file:
        file["time"] = np.arange(7)
        file["lat"] = [1.0, 2.0, 3.0]
        file["lat"].make_scale("lat")
    assert main(["convert", f"{packed}:/t2m", f"{tmp_path / 'lab.h5'}:/t2m"]) == 0
    with h5py.File(tmp_path / "lab.h5") as file:
        assert file["time"].shape == (7,)
        assert [axis.label for axis in file["t2m"].dims] == ["time", "lat"]
    assert main(["convert", f"{tmp_path / 'lab.h5'}:/t2m", str(tmp_path / "o.b2nd")]) == 0
    with cq.open(tmp_path / "o.b2nd") as found:
        assert found.attrs["_ARRAY_DIMENSIONS"] == ["time", "lat"]


@pytest.fixture
def variables(tmp_path):
    """A NetCDF file whose variable has coordinates of times, of text, of two axes and of none."""
    path = tmp_path / "run.nc"
    times = pd.date_range("2024-01-01", periods=6, freq="h")
    values = np.arange(6 * 4, dtype="f4").reshape(6, 4)
    made = xr.Dataset(
        {"t": (("time", "x"), values, {"units": "K"}), "other": ("time", np.arange(6))},
        {"time": times, "x": list("abcd"), "lat": (("time", "x"), values * 2), "height": 2.0},
    )
    made.to_netcdf(path, engine="netcdf4", unlimited_dims=["time"])
    return path


@pytest.mark.parametrize("way", ["asarray", "copy", "convert", "back"])
def test_variables_of_netcdf_keep_their_coordinates(variables, tmp_path, way):
    # An array of a NetCDF variable had the names of its axes, and none of its coordinates.
    out = tmp_path / "one.b2nd"
    with cq.open(variables) as file:
        if way == "asarray":
            cq.asarray(file["t"], path=out).close()
        elif way == "copy":
            file["t"].copy(path=out).close()
        else:
            assert main(["convert", f"{variables}:/t", str(out), "-q"]) == 0
    if way == "back":
        assert main(["convert", str(out), str(tmp_path / "one.nc") + ":/t", "-q"]) == 0
        out = tmp_path / "one.nc"
    with (
        xr.open_dataset(out, engine="coquina") as found,
        xr.open_dataset(variables, engine="netcdf4") as known,
    ):
        (name,) = found.data_vars
        xr.testing.assert_identical(found[name].rename("t").load(), known["t"].load())


def test_arrays_of_a_whole_file_refer_to_each_other(variables, tmp_path):
    assert main(["convert", str(variables), str(tmp_path / "run.b2z"), "-q"]) == 0
    with cq.open(tmp_path / "run.b2z") as store:
        assert list(store["t"].attrs["_COORDS"]) == ["x"]  # of text there is no array
    assert main(["convert", str(tmp_path / "run.b2z"), str(tmp_path / "again.nc"), "-q"]) == 0
    known = xr.open_dataset(variables, engine="netcdf4").load()
    xr.testing.assert_identical(xr.open_dataset(tmp_path / "again.nc", engine="coquina").load(), known)
