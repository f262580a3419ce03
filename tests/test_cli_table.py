"""Each verb of the command on each kind of input, to each kind of output: right, or an error of one line."""

from __future__ import annotations

import zipfile

import h5py
import netCDF4
import numpy as np
import pytest
import tables as tb

import coquina as cq
from coquina.cli import main

ITEMS = np.arange(600, dtype="i4").reshape(20, 30)
ROWS = np.array([(k, k / 2, b"ab") for k in range(50)], [("k", "i4"), ("x", "f8"), ("s", "S2")])
ARRAYS = ("ours.b2nd", "h5py.h5", "netcdf.nc", "items.npy")
TABLES = ("table.h5", "pytables.h5", "rows.csv")
NO_DATA = ("store.zip", "notes.txt", "empty", "cut.b2nd", "cut.h5")
OUTPUTS = (
    "o.b2nd",
    "o.blp",
    "o.npy",
    "o.h5",
    "o.nc",
    "o.csv",
    "o.parquet",
    "o.feather",
    "o.raw",
    "o.json",
    "o.zarr",
    "o",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    cq.asarray(ITEMS, path=folder / "ours.b2nd").close()
    with h5py.File(folder / "h5py.h5", "w") as file:
        file.create_dataset("items", data=ITEMS, chunks=(5, 30), compression="gzip")
    with netCDF4.Dataset(folder / "netcdf.nc", "w") as file:
        file.createDimension("y", 20)
        file.createDimension("x", 30)
        file.createVariable("items", "i4", ("y", "x"))[:] = ITEMS
    np.save(folder / "items.npy", ITEMS)
    cq.create_table(folder / "table.h5", ROWS).close()
    with tb.open_file(folder / "pytables.h5", "w") as file:
        file.create_table("/", "table", ROWS)
    (folder / "rows.csv").write_text("k,x,s\n" + "".join(f"{k},{k / 2},ab\n" for k in range(50)))
    with zipfile.ZipFile(folder / "store.zip", "w") as file:
        file.writestr("zarr.json", "{}")
    (folder / "notes.txt").write_text("no array\n")
    (folder / "empty").touch()
    for whole, cut in (("ours.b2nd", "cut.b2nd"), ("h5py.h5", "cut.h5")):
        content = (folder / whole).read_bytes()
        (folder / cut).write_bytes(content[: len(content) // 2])
    return folder


@pytest.fixture
def run(made, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        before = {path.name: path.read_bytes() for path in made.iterdir()}
        code = main([str(made / word) if (made / word).exists() else word for word in words])
        err = capfd.readouterr().err
        assert {path.name: path.read_bytes() for path in made.iterdir()} == before
        assert code in (0, 1), words
        assert (code == 1) == err.startswith("coquina: "), (words, err)
        assert err.count("\n") == code, (words, err)
        return code

    return run


def records(path):
    if path.suffix == ".csv":
        return np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8")["k"].tolist()
    if path.suffix in (".parquet", ".feather"):
        import pyarrow.feather
        import pyarrow.parquet

        reads = {".parquet": pyarrow.parquet.read_table, ".feather": pyarrow.feather.read_table}
        return reads[path.suffix](path)["k"].to_pylist()
    if path.suffix in (".npy", ".blp"):
        found = np.load(path) if path.suffix == ".npy" else cq.unpack(path)
        return found["k"].tolist()
    if path.suffix == ".b2nd":
        with cq.open(path) as found:
            return found[:]["k"].tolist()
    if path.suffix == ".raw":
        return np.fromfile(path, ROWS.dtype)["k"].tolist()
    with cq.open_table(path) as found:
        return found[:]["k"].tolist()


def items(path):
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".raw":
        return np.fromfile(path, "i4").reshape(ITEMS.shape)
    if path.suffix == ".blp":
        return cq.unpack(path)
    if path.suffix == ".b2nd":
        with cq.open(path) as found:
            return found[...]
    with cq.open(path) as found:
        return found["data"][...]


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("source", [*ARRAYS, *TABLES, *NO_DATA])
def test_convert(run, tmp_path, source, output):
    path = tmp_path / output
    code = run("convert", source, output)
    assert path.exists() == (code == 0)
    if source in ARRAYS:
        wanted = 0 if output in ("o.b2nd", "o.blp", "o.npy", "o.h5", "o.nc", "o.raw") else 1
        assert code == wanted
        if code == 0:
            assert np.array_equal(items(path), ITEMS)
    elif source in TABLES:
        is_text = source == "rows.csv"
        refused = ("o.json", "o.zarr", *(("o.b2nd", "o.blp", "o.npy", "o.raw") if is_text else ()))
        assert code == (output in refused)
        if code == 0:
            assert records(path) == list(range(50))
    else:
        assert code == 1
    assert [one for one in tmp_path.iterdir() if one != path] == []


@pytest.mark.parametrize("output", ["o.b2nd", "o.npy", "o.csv", "o.parquet"])
@pytest.mark.parametrize("source", [*ARRAYS, *TABLES, *NO_DATA])
def test_an_output_that_is_there_is_replaced_only_by_a_whole_one(run, tmp_path, source, output):
    path = tmp_path / output
    path.write_bytes(b"mine")
    assert run("convert", source, output) == 1
    assert path.read_bytes() == b"mine"
    code = run("convert", source, output, "--force")
    assert (path.read_bytes() == b"mine") == (code == 1)


@pytest.mark.parametrize("source", [*ARRAYS, *TABLES, *NO_DATA])
@pytest.mark.parametrize(
    "verb", ["info", "ls", "cat", "verify", "tune", "repack", "recover", "repair", "decompress"]
)
def test_other_verbs(run, tmp_path, verb, source):
    words = [verb, source, *(["out"] if verb in ("repack", "recover", "repair", "decompress") else [])]
    code = run(*words)
    # What could be saved is there, though it is not all.
    is_saved = code == 0 or (verb, source) == ("recover", "cut.h5")
    assert (tmp_path / "out").exists() == (is_saved and len(words) == 3)
    if source in NO_DATA and verb in ("verify", "tune", "repack", "decompress"):
        assert code == 1
    if verb == "verify" and source in ("ours.b2nd", "h5py.h5", "netcdf.nc", "table.h5", "pytables.h5"):
        assert code == 0
    if verb in ("repack", "recover") and source in ("h5py.h5", "netcdf.nc", "table.h5", "pytables.h5"):
        assert code == 0
