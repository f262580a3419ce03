"""Files of netCDF4 and PyTables stay theirs when they are repacked: they read them, and write on."""

from __future__ import annotations

import netCDF4
import numpy as np
import pytest
import tables

from coquina.hdf5.copying import repack
from tests.hdf5 import everything

# netCDF4 reads the filters that it was built with.
NETCDF_OPTIONS = {
    "as it is": {},
    "gzip": {"filter": "gzip", "level": 1, "fletcher32": True},
    "default chunks": {"filter": "gzip", "chunks": "auto"},
    "other chunks": {"chunks": (1, 50, 70)},
}
TABLES_OPTIONS = {
    "as it is": {},
    "blosc2": {"filter": "blosc2", "codec": "lz4"},
    "gzip": {"filter": "gzip", "chunks": "auto"},
}


def make_netcdf(path):
    rng = np.random.default_rng(3)
    with netCDF4.Dataset(path, "w") as f:
        for name, length in {"t": None, "y": 50, "x": 70, "bare": 3}.items():
            f.createDimension(name, length)
        t = f.createVariable("t", "f8", ("t",))
        t[:] = np.arange(10)
        t.units = "days since 2000-01-01"
        f.createVariable("y", "f4", ("y",))[:] = np.arange(50)
        v = f.createVariable("v", "f4", ("t", "y", "x"), zlib=True, chunksizes=(2, 25, 70), fill_value=-9.0)
        v.units = "K"
        v[:] = rng.random((10, 50, 70))
        v.setncattr("list", ["a", "b"])
        g = f.createGroup("g")
        g.createDimension("z", 4)
        cloud = g.createEnumType("u1", "cloud", {"clear": 0, "fog": 1})
        g.createVariable("sky", cloud, ("z",))[:] = np.array([0, 1, 0, 1], "u1")
        pair = f.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair")
        f.createVariable("pairs", pair, ("bare",))[:] = np.array([(1, 2.0), (3, 4.0), (5, 6.0)], pair.dtype)
        ragged = f.createVariable("ragged", f.createVLType("i4", "row"), ("bare",))
        for at, row in enumerate(([1, 2, 3], [7], [])):
            ragged[at] = np.array(row, "i4")
        names = f.createVariable("names", str, ("bare",))
        for at, name in enumerate(("a", "übel", "")):
            names[at] = name
        f.title = "all kinds"


def told_by_netcdf(group):
    """Return all that netCDF4 says of a group."""
    facts = {
        "dimensions": [(name, len(d), d.isunlimited()) for name, d in group.dimensions.items()],
        "attributes": [(name, str(group.getncattr(name))) for name in group.ncattrs()],
        "types": [list(group.cmptypes), list(group.enumtypes), list(group.vltypes)],
    }
    for name, variable in group.variables.items():
        items = np.ma.asarray(variable[...])
        plain = np.ma.getdata(items)
        values = [np.asarray(one).tolist() for one in plain] if plain.dtype == object else plain.tobytes()
        attributes = [(key, str(variable.getncattr(key))) for key in variable.ncattrs()]
        facts[name] = variable.dimensions, str(variable.dtype), attributes, values
        facts[f"{name} mask"] = np.ma.getmaskarray(items).tobytes()
    return facts | {name: told_by_netcdf(inner) for name, inner in group.groups.items()}


@pytest.mark.parametrize("name", NETCDF_OPTIONS)
def test_netcdf_files_stay_netcdf_files(name, tmp_path):
    old, new = tmp_path / "a.nc", tmp_path / "b.nc"
    make_netcdf(old)
    options = NETCDF_OPTIONS[name]
    repack(old, new, **options)
    assert everything.differences(old, new, only_values=bool(options)) == []
    with netCDF4.Dataset(old) as a, netCDF4.Dataset(new) as b:
        assert told_by_netcdf(a) == told_by_netcdf(b)
    with netCDF4.Dataset(new, "a") as f:
        f["t"][10:12] = [10, 11]
        f.createVariable("more", "f4", ("t", "y"))
    with netCDF4.Dataset(new) as f:
        assert f["v"].shape == (12, 50, 70)
        assert f["v"][11].mask.all()


def make_tables(path):
    class Row(tables.IsDescription):
        a = tables.Int32Col()
        b = tables.Float64Col(shape=(2,))
        c = tables.StringCol(5)

    rng = np.random.default_rng(3)
    with tables.open_file(path, "w") as f:
        filters = tables.Filters(5, "blosc2:zstd")
        t = f.create_table("/g", "t", Row, createparents=True, filters=filters)
        t.append([(i, (i, i + 0.5), b"x%d" % i) for i in range(3000)])
        t.flush()
        t.cols.a.create_index()
        zlib = tables.Filters(3, "zlib", shuffle=True, fletcher32=True)
        f.create_carray("/", "c", obj=rng.random((100, 50)), filters=zlib)
        e = f.create_earray("/", "e", atom=tables.Int64Atom(), shape=(0, 8))
        e.append(rng.integers(0, 9, (1000, 8)))
        for row in ([1, 2], [3]):
            (f.root.v if "v" in f.root else f.create_vlarray("/", "v", tables.Float32Atom())).append(row)
        f.create_vlarray("/", "objects", atom=tables.ObjectAtom()).append({"a": 1})
        f.create_array("/", "plain", np.arange(20_000)).attrs.note = {"a": [1, 2]}
        f.create_soft_link("/", "soft", "/c")
        f.create_hard_link("/", "hard", "/c")


@pytest.mark.parametrize("name", TABLES_OPTIONS)
def test_files_of_pytables_stay_files_of_pytables(name, tmp_path):
    old, new = tmp_path / "a.h5", tmp_path / "b.h5"
    make_tables(old)
    options = TABLES_OPTIONS[name]
    repack(old, new, **options)
    assert everything.differences(old, new, only_values=bool(options)) == []
    with tables.open_file(old) as a, tables.open_file(new, "a") as b:
        assert [n._v_pathname for n in a.walk_nodes("/")] == [n._v_pathname for n in b.walk_nodes("/")]
        for node in a.walk_nodes("/"):
            other = b.get_node(node._v_pathname)
            assert type(node) is type(other)
            if isinstance(node, tables.Array | tables.Table):
                assert node[:].tobytes() == other[:].tobytes()
            elif isinstance(node, tables.VLArray):
                assert str(node[:]) == str(other[:])
        t = b.root.g.t
        assert t.cols.a.is_indexed
        assert t.get_where_list("a == 77").tolist() == [77]
        t.append([(9, (1, 2), b"q")])
        t.flush()
        assert len(t) == 3001
        assert b.root.plain.attrs.note == {"a": [1, 2]}
        if "filter" in options:
            names = {"blosc2": "blosc2:lz4", "gzip": "zlib"}
            assert b.root.c.filters.complib == names[options["filter"]]
