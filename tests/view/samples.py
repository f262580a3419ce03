"""A folder with a file of each kind, for tests and pictures of the page."""

import blosc2
import h5py
import netCDF4
import numpy as np
import tables

import coquina as cq

ROWS = 20_000


def field(rows, columns, phase=0.0):
    """A smooth plane with a few waves."""
    y, x = np.mgrid[0 : 2 * np.pi : rows * 1j, 0 : 4 * np.pi : columns * 1j]
    return (np.sin(x + phase) * np.cos(y) + 0.4 * np.sin(2 * y - x)).astype("f4")


def make_b2nd(path):
    """Write a volume; a third of its chunks is zero."""
    volume = np.stack([field(120, 160, 0.3 * i) for i in range(24)])
    volume[:8, :, 80:] = 0
    with cq.asarray(volume, path=path, chunks=(4, 40, 40), blocks=(2, 20, 20)) as array:
        array.attrs["units"] = "K"
        array.attrs["title"] = "A wave that travels"


def make_hdf5(path):
    """Write groups, arrays of several dtypes, an image, a table and a link."""
    rng = np.random.default_rng(5)
    with cq.hdf5.File(path, "w") as file:
        file.attrs["instrument"] = "beam 4"
        runs = file.create_group("entry/run 1")
        runs.create_dataset("detector", data=field(2400, 3000) * 50 + 60, chunks=(300, 300))
        runs["signal"] = np.cumsum(rng.normal(size=200_000))
        runs["spectrum"] = np.exp(1j * np.linspace(0, 20, 64))[:, None] * np.linspace(1, 3, 48)
        runs["mask"] = field(30, 40) > 0
        runs["counts"] = np.arange(2**53 - 2, 2**53 + 10, dtype="i8")
        file["label"] = "a text"
        file["temperature"] = np.float64(21.5)
        photo = np.stack([np.abs(field(90, 120, p)) for p in (0, 1, 2)], axis=-1)
        image = file.create_dataset("photo", data=(photo / photo.max() * 255).astype("u1"))
        image.attrs["CLASS"] = np.bytes_("IMAGE")
        file.create_table("events", table_columns(500))
        file["away"] = h5py.SoftLink("/nothing")
        file["empty"] = h5py.Empty("f4")
        file["circle"] = h5py.SoftLink("/circle")


def make_netcdf(path):
    """Write packed values with fill values, on coordinates."""
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", 6), ("lat", 73), ("lon", 144)):
            file.createDimension(name, length)
        for name, values in (("lat", np.linspace(-90, 90, 73)), ("lon", np.arange(144) * 2.5)):
            variable = file.createVariable(name, "f4", (name,))
            variable.units = {"lat": "degrees_north", "lon": "degrees_east"}[name]
            variable[:] = values
        packed = file.createVariable("t2m", "i2", ("time", "lat", "lon"), fill_value=-32767, zlib=True)
        packed.scale_factor, packed.add_offset = 0.01, 273.15
        packed.units, packed.long_name = "K", "temperature at two metres"
        for step in range(6):
            values = 273.15 + 25 * field(73, 144, step / 3)
            packed[step] = np.ma.masked_where(field(73, 144) > 0.9, values)


def make_pytables(path):
    """Write a table of records, and an index."""
    with tables.open_file(str(path), "w") as file:
        records = np.zeros(1000, [("id", "i4"), ("pressure", "f8"), ("site", "S8")])
        records["id"], records["pressure"] = np.arange(1000), 1000 + 10 * np.sin(np.arange(1000) / 30)
        records["site"] = [b"north", b"south", b"east", b"west"] * 250
        table = file.create_table("/", "readings", obj=records, title="Readings")
        table.cols.id.create_index()


def table_columns(rows):
    """Columns of several kinds."""
    rng = np.random.default_rng(7)
    value = rng.normal(10, 3, rows).round(3)
    value[::97] = np.nan
    return {
        "number": np.arange(rows),
        "price": value,
        "volume": rng.integers(1, 5000, rows),
        "name": [f"n{i % 7}" for i in range(rows)],
        "when": np.datetime64("2024-01-01T00:00:00") + np.arange(rows).astype("m8[m]"),
        "flag": np.arange(rows) % 3 == 0,
    }


def make_samples(folder):
    """Write all files, and return their folder."""
    (folder / "below").mkdir()
    make_b2nd(folder / "volume.b2nd")
    make_hdf5(folder / "run.h5")
    make_netcdf(folder / "climate.nc")
    make_pytables(folder / "pytables.h5")
    with cq.open(str(folder / "store.b2z"), "w") as store:
        store["day 1/grid"] = field(60, 80)
    with cq.open(str(folder / "tree.b2d"), "w") as store:
        store["day 2/grid"] = field(40, 60)
        store.attrs["station"] = "north"
    embedded = blosc2.EmbedStore(str(folder / "small.b2e"), mode="w")
    embedded["/grid"] = field(30, 50)
    cq.asarray(field(40, 50), path=folder / "frames", chunks=(20, 25), contiguous=False).close()
    cq.asarray(np.arange(6).astype("M8[D]"), path=folder / "below" / "times.b2nd").close()
    cq.create_table(folder / "rows.b2z", table_columns(300)).close()
    cq.create_table(folder / "trades", table_columns(ROWS), index=["price"]).close()
    cq.pack(field(50, 70), folder / "packed.blp")
    cq.asarray(np.arange(10.0), path=folder / "below" / "line.b2nd").close()
    return folder
