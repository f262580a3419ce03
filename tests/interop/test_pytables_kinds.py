"""Every atom, link and option of PyTables, written by it and read here, and the other way round."""

import contextlib

import h5py
import numpy as np
import pytest
import tables

import coquina as cq
from tests.interop import coverage

RNG = np.random.default_rng(0)
ROWS = 50
ATOMS = {
    "StringAtom": tables.StringAtom(5),
    "EnumAtom": tables.EnumAtom({"red": 0, "blue": 1}, "red", "int8"),
    "Complex64Atom": tables.ComplexAtom(8),
    "Complex128Atom": tables.ComplexAtom(16),
    **{name: getattr(tables, name)() for name in ("BoolAtom", "Time32Atom", "Time64Atom")},
    **{f"Int{bits}Atom": getattr(tables, f"Int{bits}Atom")() for bits in (8, 16, 32, 64)},
    **{f"UInt{bits}Atom": getattr(tables, f"UInt{bits}Atom")() for bits in (8, 16, 32, 64)},
    **{f"Float{bits}Atom": getattr(tables, f"Float{bits}Atom")() for bits in (16, 32, 64)},
}
with contextlib.suppress(AttributeError):  # where the machine has no such numbers
    ATOMS |= {"Float128Atom": tables.Float128Atom(), "Complex256Atom": tables.ComplexAtom(32)}


def values_of(atom):
    """Return values of an atom: whole numbers where any can be stored, quarters else."""
    dtype = atom.dtype
    if dtype.kind == "S":
        return RNG.choice([b"a", b"bcd", b""], ROWS).astype(dtype)
    if dtype.kind in "biu":
        return RNG.integers(0, 2, ROWS).astype(dtype)
    quarters = RNG.integers(-50, 50, ROWS) / 4
    return (quarters + 1j if dtype.kind == "c" else quarters).astype(dtype)


def records_of(atom, values):
    records = np.zeros(ROWS, [("k", "i4"), ("v", atom.dtype)])
    records["k"], records["v"] = np.arange(ROWS), values
    return records


@pytest.mark.parametrize("name", ATOMS)
def test_arrays_and_columns_of_every_atom_are_read(name, tmp_path):
    atom = ATOMS[name]
    values = values_of(atom)
    with tables.open_file(tmp_path / "a.h5", "w") as file:
        file.create_carray("/", "c", atom, (ROWS,))[:] = values
        file.create_earray("/", "e", atom, (0,)).append(values)
        columns = {"k": tables.Int32Col(pos=0), "v": tables.Col.from_atom(atom, pos=1)}
        # PyTables changes the times of the records that it appends.
        file.create_table("/", "t", columns).append(records_of(atom, values))
    with cq.open(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["c"][...], values)
        np.testing.assert_array_equal(file["e"][...], values)
        table = file["t"]
        np.testing.assert_array_equal(table.to_numpy()["v"], values)
        assert table.where("k >= 10").count() == ROWS - 10


@pytest.mark.parametrize("name", ATOMS)
def test_arrays_and_columns_of_every_atom_are_written(name, tmp_path):
    atom = ATOMS[name]
    values = values_of(atom)
    with cq.open(tmp_path / "a.h5", "w") as file:
        file.create_dataset("c", data=values, chunks=(20,))
        file.create_table("t", records_of(atom, values), layout="rows")
    with tables.open_file(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file.root.c[:], values)
        np.testing.assert_array_equal(file.root.t.read()["v"], values)


def test_all_atoms_have_a_row():
    """Those of PyTables that are no dtype, or a parent of others, have their own rows, or none."""
    parents = {"Atom", *(f"{kind}Atom" for kind in ("Int", "UInt", "Float", "Complex", "Time", "Pseudo"))}
    theirs = {name for name in tables.__all__ if name.endswith("Atom")} - parents - {"Complex32Atom"}
    assert {row.name for row in coverage.ROWS if row.kind == "atom"} == theirs


FILTERS = {
    "complevel": {"complevel": 9, "complib": "zlib"},
    "complib": {"complevel": 5, "complib": "blosc2:lz4"},
    "shuffle": {"complevel": 1, "complib": "zlib", "shuffle": True},
    "bitshuffle": {"complevel": 1, "complib": "blosc:lz4", "bitshuffle": True},
    "fletcher32": {"complevel": 1, "complib": "zlib", "fletcher32": True},
    "least_significant_digit": {"complevel": 1, "least_significant_digit": 2},
}
OURS = {
    "complevel": {"filter": "gzip", "level": 9, "filters": ()},
    "complib": {"codec": "lz4", "level": 5},
    "shuffle": {"filter": "gzip", "filters": "shuffle"},
    "bitshuffle": {"filter": "blosc", "codec": "lz4", "filters": "bitshuffle"},
    "fletcher32": {"filter": "gzip", "fletcher32": True},
}


@pytest.mark.parametrize("option", FILTERS)
def test_arrays_of_every_option_of_filters_are_read(option, tmp_path):
    values = np.cumsum(RNG.normal(size=2000))
    with tables.open_file(tmp_path / "a.h5", "w") as file:
        array = file.create_carray("/", "c", obj=values, filters=tables.Filters(**FILTERS[option]))
        theirs = array[:]
    with cq.open(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["c"][...], theirs)
        assert np.abs(theirs - values).max() < (0.005 if option == "least_significant_digit" else 1e-300)


@pytest.mark.parametrize("option", OURS)
def test_arrays_of_every_option_of_filters_are_written(option, tmp_path):
    values = np.cumsum(RNG.normal(size=2000))
    with cq.open(tmp_path / "a.h5", "w") as file:
        file.create_dataset("c", data=values, chunks=(500,), **OURS[option])
    with tables.open_file(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file.root.c[:], values)
        filters = file.root.c.filters
        wanted = FILTERS[option][option]
        assert getattr(filters, option) == wanted or (option, filters.complib) == ("complib", "blosc2")


def test_links_are_followed_both_ways(tmp_path):
    values = np.arange(100)
    for maker in ("theirs", "ours"):
        path = tmp_path / f"{maker}.h5"
        with h5py.File(tmp_path / f"other_{maker}.h5", "w") as other:
            other["x"] = values * 2
        if maker == "theirs":
            with tables.open_file(path, "w") as file:
                file.create_array("/", "a", values)
                file.create_hard_link("/", "hard", "/a")
                file.create_soft_link("/", "soft", "/a")
                file.create_external_link("/", "external", f"other_{maker}.h5:/x")
        else:
            with cq.open(path, "w") as file:
                file["a"] = values
                file["hard"] = file["a"]
                file["soft"] = h5py.SoftLink("/a")
                file["external"] = h5py.ExternalLink(f"other_{maker}.h5", "/x")
        with cq.open(path) as file:
            for name in ("a", "hard", "soft"):
                np.testing.assert_array_equal(file[name][...], values)
            np.testing.assert_array_equal(file["external"][...], values * 2)
        with tables.open_file(path) as file:
            np.testing.assert_array_equal(file.root.hard[:], values)
            np.testing.assert_array_equal(file.root.soft()[:], values)
            np.testing.assert_array_equal(file.root.external()[:], values * 2)


def test_titles_byte_orders_and_nested_columns_go_both_ways(tmp_path):
    # PyTables takes the bytes of records of a foreign order as they are, so it gets native ones.
    dtype = np.dtype([("k", "i4"), ("at", [("x", "f8"), ("y", "i2", (3,))])])
    records = np.zeros(ROWS, dtype)
    records["k"], records["at"]["x"] = np.arange(ROWS), np.arange(ROWS) / 4
    records["at"]["y"] = np.arange(ROWS)[:, None] + np.arange(3)
    with tables.open_file(tmp_path / "theirs.h5", "w", title="of all") as file:
        file.create_table("/deep/er", "t", obj=records, title="of one", byteorder="big", createparents=True)
    with cq.open(tmp_path / "ours.h5", "w") as file:
        file.create_table("deep/er/t", records.astype(dtype.newbyteorder(">")), layout="rows", title="of one")
    for name in ("theirs", "ours"):
        with cq.open(tmp_path / f"{name}.h5") as file:
            table = file["deep/er/t"]
            np.testing.assert_array_equal(table.to_numpy()["at"], records["at"])
            assert table.attrs["TITLE"] in ("of one", b"of one")
        with tables.open_file(tmp_path / f"{name}.h5") as file:
            np.testing.assert_array_equal(file.root.deep.er.t.read()["at"]["y"], records["at"]["y"])
            assert (file.root.deep.er.t.title, file.root.deep.er.t.byteorder) == ("of one", "big")


def test_user_blocks_and_files_made_in_memory_go_both_ways(tmp_path):
    values = np.arange(5000)
    with tables.open_file(tmp_path / "theirs.h5", "w", user_block_size=512, driver="H5FD_CORE") as file:
        file.create_carray("/", "x", obj=values)
    with cq.hdf5.File(tmp_path / "ours.h5", "w", userblock_size=512) as file:
        file["x"] = values
    for name in ("theirs", "ours"):
        with cq.open(tmp_path / f"{name}.h5") as file:
            np.testing.assert_array_equal(file["x"][...], values)
            assert file.userblock_size == 512
        with tables.open_file(tmp_path / f"{name}.h5") as file:
            np.testing.assert_array_equal(file.root.x[:], values)
