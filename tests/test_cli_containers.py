"""`coquina convert` between all kinds of files: all stays as it was, or an error says why not.

Arrays, tables and groups go from each kind of file that holds them to each other one.
"""

from __future__ import annotations

import blosc2
import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

ATTRS = {"unit": "K", "number": 3}
#: Kinds of files that keep attributes of arrays.
DESCRIBED = (".b2nd", "", ".b2z", ".b2d", ".h5", ".nc")
ARRAYS = {
    "float32": np.random.default_rng(0).normal(size=(5, 7)).astype("f4"),
    "big int16": np.arange(24, dtype=">i2").reshape(2, 3, 4),
    "bool": np.arange(20) % 3 == 0,
    "complex": np.arange(4) + 1j,
    "bytes": np.array([b"a", b"bcd", b""], "S5"),
    "text": np.array(["ä", "xyz", ""]),
    "time": np.arange(5).astype("M8[ns]"),
    "scalar": np.array(3.5),
    "empty": np.zeros((0, 3), "i8"),
    "opaque": np.array([b"abc", b"def"], "V3"),
}
#: What HDF5 has no datatype for, and what no array of ours is made of there.
NOT_IN_HDF5 = ("text", "time")


def made(values, path, suffix):
    """Make a file of an array; return its name."""
    name = f"{path}{suffix}"
    if suffix in (".npy", ".npz"):
        np.save(name, values) if suffix == ".npy" else np.savez(name, data=values)
    elif suffix == ".blp":
        cq.pack(values, name)
    elif suffix in (".b2nd", ""):
        array = cq.asarray(values, path=name, contiguous=suffix == ".b2nd")
        array.attrs.update(ATTRS)
        array.close()
    else:
        with cq.open(name, "w") as file:
            dataset = file.create_dataset("data", data=values)
            dataset.attrs.update(ATTRS)
    return name


def read(name):
    """Return the array of a file, and its attributes."""
    if name.endswith((".npy", ".npz")):
        found = np.load(name)
        return (found if name.endswith(".npy") else found["data"]), {}
    found = cq.open(name)
    if not hasattr(found, "visititems"):
        return np.asarray(found[...]), dict(getattr(found, "attrs", {}))
    with found as file:
        (only,) = file
        return np.asarray(file[only][...]), dict(file[only].attrs)


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("source", [".b2nd", "", ".b2z", ".b2d", ".h5", ".nc", ".blp", ".npy", ".npz"])
def test_an_array_of_each_kind_of_file_becomes_one_of_each_other(source, kind, tmp_path, capsys):
    values = ARRAYS[kind]
    if source in (".h5", ".nc") and kind in (*NOT_IN_HDF5, "opaque"):
        return
    name = made(values, tmp_path / "source", source)
    for suffix in (".b2nd", ".b2z", ".b2d", ".h5", ".nc", ".blp", ".npy", ".npz"):
        target = str(tmp_path / f"target{suffix}")
        code = main(["convert", name, target])
        if suffix in (".h5", ".nc") and kind in NOT_IN_HDF5:
            assert code == 1
            assert f"dtype {values.dtype}: HDF5 has no datatype for it" in capsys.readouterr().err
            continue
        assert code == 0, (suffix, capsys.readouterr().err)
        if suffix in (".h5", ".nc") and kind == "opaque":
            with h5py.File(target) as file:
                assert file["data"][...].tobytes() == values.tobytes()
            continue
        found, attrs = read(target)
        assert (found.dtype, found.shape) == (values.dtype, values.shape), suffix
        np.testing.assert_array_equal(found, values)
        if source in DESCRIBED and suffix in DESCRIBED:
            assert attrs == ATTRS, suffix


ROWS = 12
TIMES = np.datetime64("2024-01-01", "us") + np.arange(ROWS) * 3_600_000_000
TABLE = {
    "n": np.arange(ROWS, dtype="i4"),
    "x": np.arange(ROWS) / 4,
    "flag": np.arange(ROWS) % 3 == 0,
    "time": TIMES,
}
TEXTS = {
    "s": [f"ä{row}" for row in range(ROWS)],
    "none": [None if row % 4 == 0 else row for row in range(ROWS)],
}
TABLES = (".h5", "", ".b2z", ".b2d", ".parquet", ".feather", ".csv", ".jsonl", ".npy")


def rows_of(name, tmp_path):
    """Return the rows of a file of a table, by column."""
    if not name.endswith((".h5", ".b2z", ".b2d", "target", "source")):
        assert main(["convert", name, str(tmp_path / "read.h5"), "--layout", "columns", "--force"]) == 0
        name = str(tmp_path / "read.h5")
    with cq.open_table(name) as table:
        found = {path: table[path][:] for path in table.columns}
    # Files of text have times as text, or count another unit.
    found["time"] = np.array(
        found["time"].tolist() if found["time"].dtype.kind in "OTU" else found["time"], "M8[us]"
    )
    return {path: values.tolist() for path, values in found.items()}


@pytest.mark.parametrize("source", TABLES)
def test_a_table_of_each_kind_of_file_becomes_one_of_each_other(source, tmp_path, capsys):
    # Records of NumPy have no text of any length, and no values that can be missing.
    columns = TABLE if source == ".npy" else TABLE | TEXTS
    with cq.create_table(tmp_path / "first.h5", columns) as table:
        wanted = {path: table[path][:].tolist() for path in table.columns}
        table.attrs["unit"] = "K"
    name = str(tmp_path / f"source{source}")
    assert main(["convert", str(tmp_path / "first.h5"), name]) == 0
    for suffix in TABLES:
        target = str(tmp_path / f"target{suffix}")
        words = ["--layout", "columns"] if source == ".npy" and suffix in (".h5", "") else []
        code = main(["convert", name, target, *words])
        if source != ".npy" and suffix == ".npy":
            assert code == 1
            assert "which .npy cannot record" in capsys.readouterr().err
            continue
        assert code == 0, (suffix, capsys.readouterr().err)
        assert rows_of(target, tmp_path) == wanted, suffix
        if source in (".h5", "", ".b2z", ".b2d") and suffix in (".h5", "", ".b2z", ".b2d"):
            with cq.open_table(target) as table:
                assert table.attrs["unit"] == "K"


@pytest.mark.parametrize("source", [".h5", "", ".b2z", ".parquet", ".csv"])
@pytest.mark.parametrize("suffix", [".npy", ".blp", ".b2nd"])
def test_rows_of_numbers_become_arrays_of_records(source, suffix, tmp_path, capsys):
    with cq.create_table(tmp_path / "first.h5", {name: TABLE[name] for name in ("n", "x", "flag")}) as table:
        wanted = table.to_numpy()
    name, target = str(tmp_path / f"source{source}"), str(tmp_path / f"target{suffix}")
    assert main(["convert", str(tmp_path / "first.h5"), name]) == 0
    assert main(["convert", name, target]) == 0, capsys.readouterr().err
    found = read(target)[0]
    assert found.dtype.names == wanted.dtype.names
    assert found.dtype["flag"] == np.bool_
    assert found.tolist() == wanted.tolist()


pa = pytest.importorskip("pyarrow")
NESTED = {
    "list": [[row] * (row % 3) for row in range(ROWS)],
    "struct": [{"a": row, "b": str(row)} for row in range(ROWS)],
    "bytes": [bytes([row, 0]) for row in range(ROWS)],
    "category": pa.array([["x", "y"][row % 2] for row in range(ROWS)]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", NESTED)
def test_nested_values_go_through_stores_and_files_of_arrow(kind, tmp_path, capsys):
    from pyarrow import parquet

    values = NESTED[kind]
    parquet.write_table(pa.table({"v": values}), tmp_path / "first.parquet")
    name = str(tmp_path / "first.parquet")
    found = []
    for at, suffix in enumerate((".b2z", ".b2d", ".b2z", ".feather", ".parquet", ".b2d")):
        target = str(tmp_path / f"{at}{suffix}")
        if suffix == ".b2d" and kind == "struct" and at == 5:
            # Columns of structs come back as columns with dots, which are names of their own elsewhere.
            assert main(["convert", name, target]) == 1
            assert "'v.a'" in capsys.readouterr().err
            break
        assert main(["convert", name, target]) == 0, (suffix, capsys.readouterr().err)
        name = target
        if suffix.startswith(".b2"):
            with cq.open_table(name) as table:
                found.append(table.to_arrow().to_pylist())
    assert found
    assert all(one == found[0] for one in found)
    if kind != "struct":
        assert [row["v"] for row in found[0]] == (values if isinstance(values, list) else values.to_pylist())
        assert parquet.read_table(str(tmp_path / "4.parquet")).to_pylist() == found[0]


def filled(file):
    file.attrs["title"] = "of all"
    file["x"] = np.arange(24, dtype=">i2").reshape(4, 6)
    file["x"].attrs["unit"] = "K"
    file.create_group("a/b").attrs["n"] = 3
    file["a/b/y"] = np.float64(2.5)
    file["a/z"] = np.zeros((0, 3), "f4")
    file.create_group("empty")
    file.create_table("a/t", TABLE | TEXTS).attrs["k"] = "w"


def contents(file, at=""):
    """Return all nodes of a group by their paths."""
    found = {at or "/": dict(file.attrs)}
    for name in file:
        node = file[name]
        if hasattr(node, "visititems"):
            found |= contents(node, f"{at}/{name}")
        elif isinstance(node, cq.Table):
            columns = {path: node[path][:].tolist() for path in node.columns}
            found[f"{at}/{name}"] = (columns, dict(node.attrs))
        else:
            values = node[...].tolist()
            found[f"{at}/{name}"] = (node.dtype, node.shape, values, dict(node.attrs))
    return found


GROUPS = (".h5", ".nc", ".b2z", ".b2d")


@pytest.mark.parametrize("source", GROUPS)
def test_a_group_of_each_kind_of_file_becomes_one_of_each_other(source, tmp_path, capsys):
    name = str(tmp_path / f"source{source}")
    with cq.open(name, "w") as file:
        filled(file)
    with cq.open(name) as file:
        wanted = contents(file)
    for suffix in GROUPS:
        target = str(tmp_path / f"target{suffix}")
        assert main(["convert", name, target]) == 0, (suffix, capsys.readouterr().err)
        with cq.open(target) as file:
            assert contents(file) == wanted, suffix


def test_embedded_stores_become_all_kinds_of_groups(tmp_path, capsys):
    store = blosc2.EmbedStore(urlpath=str(tmp_path / "e.b2e"), mode="w")
    store["/a/x"], store["/y"] = np.arange(5), np.ones((2, 3))
    del store
    for suffix in GROUPS:
        assert main(["convert", str(tmp_path / "e.b2e"), str(tmp_path / f"o{suffix}")]) == 0, suffix
        with cq.open(tmp_path / f"o{suffix}") as file:
            np.testing.assert_array_equal(file["a/x"][...], np.arange(5))
            np.testing.assert_array_equal(file["y"][...], np.ones((2, 3)))
    assert main(["convert", str(tmp_path / "e.b2e"), str(tmp_path / "o.npy")]) == 1
    assert "e.b2e:/path" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".b2z", ".b2d"])
def test_arrays_and_tables_are_added_to_a_store_and_replaced_when_told(suffix, tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.arange(5))
    np.save(tmp_path / "y.npy", np.arange(7))
    with cq.create_table(tmp_path / "t.h5", TABLE):
        pass
    store = f"{tmp_path / 'run'}{suffix}"
    for source, path in (("x.npy", "/x"), ("x.npy", "/deep/er/x"), ("t.h5", "/deep/t")):
        assert main(["convert", str(tmp_path / source), f"{store}:{path}"]) == 0, capsys.readouterr().err
    assert main(["convert", str(tmp_path / "y.npy"), f"{store}:/x"]) == 1
    assert "--force replaces it" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "y.npy"), f"{store}:/deep", "--force"]) == 1
    assert "group" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "y.npy"), f"{store}:/x", "--force"]) == 0
    theirs = blosc2.TreeStore(store, mode="r")
    np.testing.assert_array_equal(theirs["/x"][:], np.arange(7))
    np.testing.assert_array_equal(theirs["/deep/er/x"][:], np.arange(5))
    np.testing.assert_array_equal(theirs["/deep/t"]["n"][:], TABLE["n"])
    assert main(["convert", str(tmp_path / "y.npy"), store]) == 1
    assert main(["convert", str(tmp_path / "y.npy"), store, "--force"]) == 0
    with cq.open(store) as found:
        assert list(found) == ["data"]
