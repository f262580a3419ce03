"""The same arrays, and the same table, in a file of each kind.

In: a folder. Out: by kind, where each array or the table is: the name of a file, and a path in it.
"""

import blosc2
import h5py
import netCDF4
import numpy as np
import tables

import coquina as cq

from .samples import field

FILL = -32767
ROWS = 3000
ATTRIBUTES = {
    "volume": {"units": "K", "title": "A wave that travels"},
    "packed": {"scale_factor": 0.01, "add_offset": 273.15, "_FillValue": np.int16(FILL)},
}


def make_values():
    """A volume, an image, complex values, and packed values of which some are missing."""
    photo = np.stack([np.abs(field(40, 56, phase)) for phase in (0, 1, 2)], axis=-1)
    packed = np.where(field(30, 40) > 0.9, FILL, field(30, 40) * 2000)
    return {
        "volume": np.stack([field(48, 64, 0.4 * step) for step in range(6)]) + 2,
        "photo": (photo / photo.max() * 255).astype("u1"),
        "spectrum": np.exp(1j * np.linspace(0, 20, 32))[:, None] * np.linspace(1, 3, 24),
        "packed": packed.astype("i2"),
    }


VALUES = make_values()
PLAIN = ("volume", "photo", "spectrum")
ALL = tuple(VALUES)


def chunks_of(values):
    """Several chunks along each axis, but for colours."""
    return tuple(length if length < 5 else -(-length // 3) for length in values.shape)


def plain(value):
    """A number of NumPy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value


def write_b2nd(path, name, values):
    with cq.asarray(values, path=path / f"{name}.b2nd", chunks=chunks_of(values)) as array:
        for key, value in ATTRIBUTES.get(name, {}).items():
            array.attrs[key] = plain(value)
    return f"{name}.b2nd", "/"


def write_frames(path, name, values):
    with cq.asarray(values, path=path / name, chunks=chunks_of(values), contiguous=False) as array:
        for key, value in ATTRIBUTES.get(name, {}).items():
            array.attrs[key] = plain(value)
    return name, "/"


def write_proxy(path, name, values):
    """A proxy of python-blosc2 that has fetched all of its source."""
    source = blosc2.asarray(values, urlpath=str(path / f"source-{name}.b2nd"), chunks=chunks_of(values))
    proxy = blosc2.Proxy(source, urlpath=str(path / f"{name}.b2nd"), mode="w")
    proxy.fetch()
    for key, value in ATTRIBUTES.get(name, {}).items():
        proxy.vlmeta[key] = plain(value)
    return f"{name}.b2nd", "/"


def write_expression(path, name, values):
    """An expression that is saved beside its operand."""
    with cq.asarray(values, path=path / f"operand-{name}.b2nd", chunks=chunks_of(values)) as operand:
        cq.expr("x + x - x", x=operand).save(path / f"{name}.b2nd")
    return f"{name}.b2nd", "/"


def write_pack(path, name, values):
    cq.pack(values, path / f"{name}.blp")
    return f"{name}.blp", "/"


def each(write, names=ALL):
    """A writer of a file for each array."""
    return lambda path: {name: write(path, name, VALUES[name]) for name in names}


def write_hdf5(path):
    with cq.hdf5.File(path / "all.h5", "w") as file:
        for name, values in VALUES.items():
            file.create_dataset(name, data=values, chunks=chunks_of(values)).attrs.update(
                ATTRIBUTES.get(name, {})
            )
    return {name: ("all.h5", f"/{name}") for name in ALL}


def write_h5py(path):
    with h5py.File(path / "all.h5", "w") as file:
        for name, values in VALUES.items():
            dataset = file.create_dataset(
                f"group/{name}", data=values, chunks=chunks_of(values), compression=4
            )
            dataset.attrs.update(ATTRIBUTES.get(name, {}))
    return {name: ("all.h5", f"/group/{name}") for name in ALL}


def write_netcdf(path):
    """Without complex values, which NetCDF has not."""
    names = ("volume", "photo", "packed")
    with netCDF4.Dataset(path / "all.nc", "w") as file:
        for name in names:
            values = VALUES[name]
            axes = [f"{name}-{at}" for at in range(values.ndim)]
            for axis, length in zip(axes, values.shape, strict=True):
                file.createDimension(axis, length)
            attributes = dict(ATTRIBUTES.get(name, {}))
            fill = attributes.pop("_FillValue", None)
            variable = file.createVariable(name, values.dtype, axes, fill_value=fill, zlib=True)
            variable.setncatts(attributes)
            variable.set_auto_maskandscale(False)
            variable[:] = values
    return {name: ("all.nc", f"/{name}") for name in names}


def write_pytables(path):
    with tables.open_file(str(path / "all.h5"), "w") as file:
        for name, values in VALUES.items():
            shape, filters = chunks_of(values), tables.Filters(5, "blosc2:zstd")
            array = file.create_carray("/", name, obj=values, filters=filters, chunkshape=shape)
            for key, value in ATTRIBUTES.get(name, {}).items():
                array.attrs[key] = value
    return {name: ("all.h5", f"/{name}") for name in ALL}


def write_embedded(path):
    store = blosc2.EmbedStore(str(path / "all.b2e"), mode="w")
    for name, values in VALUES.items():
        array = blosc2.asarray(values, chunks=chunks_of(values))
        for key, value in ATTRIBUTES.get(name, {}).items():
            array.schunk.vlmeta[key] = plain(value)
        store[f"/{name}"] = array
    return {name: ("all.b2e", f"/{name}") for name in ALL}


def write_stored(suffix):
    """A writer of a store of coquina: one file, or a directory."""

    def write(path):
        with cq.open(str(path / f"all.{suffix}"), "w") as store:
            for name, values in VALUES.items():
                store[f"group/{name}"] = cq.asarray(values, chunks=chunks_of(values))
                for key, value in ATTRIBUTES.get(name, {}).items():
                    store[f"group/{name}"].attrs[key] = plain(value)
        return {name: (f"all.{suffix}", f"/group/{name}") for name in ALL}

    return write


#: How a file of each kind is written, and the arrays that it can hold.
ARRAYS = {
    "b2nd": (each(write_b2nd), ALL),
    "frames": (each(write_frames), ALL),
    "proxy": (each(write_proxy), ALL),
    "expression": (each(write_expression, PLAIN), PLAIN),
    "bloscpack": (each(write_pack, PLAIN), PLAIN),
    "hdf5": (write_hdf5, ALL),
    "h5py": (write_h5py, ALL),
    "netcdf": (write_netcdf, ("volume", "photo", "packed")),
    "pytables": (write_pytables, ALL),
    "b2z": (write_stored("b2z"), ALL),
    "b2d": (write_stored("b2d"), ALL),
    "b2e": (write_embedded, ALL),
}
#: Objects of a process, which are in no file.
IN_MEMORY = {
    "numpy": lambda values: values,
    "lazy": lambda values: cq.expr("x + x - x", x=cq.asarray(values)),
}
KINDS = {kind: names for kind, (_, names) in ARRAYS.items()} | dict.fromkeys(IN_MEMORY, PLAIN)
#: What is computed, and stored nowhere.
EXPRESSIONS = ("expression", "lazy")
WITHOUT_ATTRIBUTES = ("bloscpack", "expression", "numpy", "lazy")


def write_arrays(folder):
    """Write all files, each kind in a folder of its own; return where arrays are, by kind and name."""
    found = {}
    for kind, (write, _) in ARRAYS.items():
        (folder / kind).mkdir()
        found[kind] = {name: (f"{kind}/{file}", path) for name, (file, path) in write(folder / kind).items()}
    return found


def table_columns(*, is_fixed=False):
    """Columns; is_fixed: of text with a width, as records have it, and without times."""
    rng = np.random.default_rng(11)
    price = rng.normal(10, 3, ROWS).round(3)
    price[::97] = np.nan
    names = [f"n{at % 7}" for at in range(ROWS)]
    columns = {
        "number": np.arange(ROWS),
        "price": price,
        "volume": rng.permutation(ROWS).astype("i4"),
        "name": np.array(names, "S4") if is_fixed else names,
        "flag": np.arange(ROWS) % 3 == 0,
    }
    return columns if is_fixed else {**columns, "when": np.arange(ROWS).astype("M8[s]")}


def records():
    """The rows of `table_columns`, as records."""
    columns = table_columns(is_fixed=True)
    made = np.empty(ROWS, [(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        made[name] = values
    return made


def write_tables(folder):
    """Write a table of each kind, and return where each is."""
    columns = table_columns()
    with cq.hdf5.File(folder / "columns.h5", "w") as file:
        file.create_table("group/t", columns)
    with cq.hdf5.File(folder / "rows.h5", "w") as file:
        file.create_table("group/t", records(), layout="rows")
    with tables.open_file(str(folder / "pytables.h5"), "w") as file:
        table = file.create_table("/", "t", obj=records(), filters=tables.Filters(5, "blosc2:lz4"))
        table.cols.volume.create_csindex()
    for name in ("table.b2z", "table.b2d", "directory"):
        cq.create_table(folder / name, columns).close()
    cq.create_table(folder / "indexed", columns, index=["volume", "name"]).close()
    return {
        "columns": ("columns.h5", "/group/t"),
        "rows": ("rows.h5", "/group/t"),
        "pytables": ("pytables.h5", "/t"),
        "b2z": ("table.b2z", "/"),
        "b2d": ("table.b2d", "/"),
        "directory": ("directory", "/"),
        "indexed": ("indexed", "/"),
    }


TABLES = ("columns", "rows", "pytables", "b2z", "b2d", "directory", "indexed", "memory")
