"""Each verb of the command on each kind of input, to each kind of output: right, or an error of one line."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
import tables as tb

import coquina as cq
from coquina.cli import main, parser
from coquina.cli.parsing import subparsers_of

ITEMS = np.arange(600, dtype="i4").reshape(20, 30)
ROWS = np.array([(k, k / 2, b"ab") for k in range(50)], [("k", "i4"), ("x", "f8"), ("s", "S2")])
ARRAYS = ("ours.b2nd", "h5py.h5", "netcdf.nc", "items.npy", "items.blp")
TABLES = ("table.h5", "pytables.h5", "rows.csv", "folder")
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
    cq.pack(ITEMS, folder / "items.blp")
    cq.create_table(folder / "table.h5", ROWS).close()
    cq.create_table(folder / "folder", ROWS).close()
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


def contents(folder):
    """Return what all files below have; of a table's lock there is nothing to tell."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".coquina.lock"]
    return {str(path): path.read_bytes() for path in files}


@pytest.fixture
def run(made, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        before = contents(made)
        code = main([str(made / word) if (made / word).exists() else word for word in words])
        err = capfd.readouterr().err
        assert contents(made) == before
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


HDF5 = ("h5py.h5", "netcdf.nc", "table.h5", "pytables.h5")
BLOSC = ("ours.b2nd", "items.blp", *HDF5, "folder")
MEASURED = (*ARRAYS, "table.h5", "pytables.h5", "folder")
FILES = (*ARRAYS, *TABLES[:-1], *NO_DATA)
QUICK = ["--sample", "2K", "-c", "lz4", "-l", "1"]
#: Each verb with its further words, and the inputs that it takes; the others are an error.
VERBS = {
    "info": ([], (*BLOSC, "items.npy")),
    "ls": ([], HDF5),
    "cat": ([], ("ours.b2nd", "items.blp", "items.npy", "folder", "table.h5", "pytables.h5")),
    "query": (["k < 3"], ("table.h5", "pytables.h5", "folder", "rows.csv")),
    "index": (["--create", "k"], ("table.h5", "pytables.h5", "folder")),
    "quality": (["items.npy"], ARRAYS),
    "bench": (QUICK, MEASURED),
    "tune": ([], MEASURED),
    "verify": ([], BLOSC),
    "repair": (["out"], ("ours.b2nd", "folder")),
    "repack": (["out"], HDF5),
    "recover": (["out"], HDF5),
    "compress": (["out"], FILES),
    "decompress": (["out"], ("items.blp",)),
    "append": (["items.npy"], ("items.blp",)),
}


def test_every_verb_about_files_is_in_the_table():
    others = {
        "browse",
        "convert",
        "diff",
        "codecs",
        "plugins",
        "plugin-path",
        "completion",
        "licenses",
        "serve",
        "train",
        "view",
    }
    assert set(subparsers_of(parser())) == {*VERBS, *others}


def is_right(verb, source, path, out, told):
    """Whether a verb has done what it is for, and left the rest as it is."""
    if verb == "index":
        with cq.open_table(path) as table:
            return list(table.indexes) == ["k"] and table.where("k == 7")["x"].tolist() == [3.5]
    if verb == "append":
        return cq.unpack(path).tolist() == np.concatenate([ITEMS, ITEMS]).tolist()
    if verb == "query":
        return told.count("ab") == 3
    if verb == "quality":
        return "max error   0\n" in told
    if verb == "compress":
        found = cq.unpack(out)
        return np.array_equal(found, ITEMS) if source == "items.npy" else found == path.read_bytes()
    if verb == "decompress":
        return out.read_bytes() == ITEMS.tobytes()
    if verb not in ("repair", "repack", "recover"):
        return bool(told) and not out.exists()
    if source in TABLES:
        return records(out) == list(range(50))
    with cq.open(out) as found:
        return np.array_equal(found[...] if source == "ours.b2nd" else found["items"][...], ITEMS)


@pytest.mark.parametrize("source", [*ARRAYS, *TABLES, *NO_DATA])
@pytest.mark.parametrize("verb", VERBS)
def test_verbs(made, tmp_path, monkeypatch, capfd, verb, source):
    monkeypatch.chdir(tmp_path)
    copied = shutil.copytree if (made / source).is_dir() else shutil.copy
    path, out = Path(copied(made / source, tmp_path / source)), tmp_path / "out"
    more, takes = VERBS[verb]
    before = contents(tmp_path)
    code = main([verb, source, *(str(made / word) if word == "items.npy" else word for word in more)])
    told, err = capfd.readouterr()
    assert code == (source not in takes), (err, told)
    assert err.count("\n") == code
    assert code == 0 or (err.startswith("coquina: ") and source in err)
    if code == 0:
        assert is_right(verb, source, path, out, told)
    changes = code == 0 and verb in ("index", "append")
    after = contents(tmp_path)
    assert changes or {name: after.get(name) for name in before} == before
    # What recover could save of a cut file is there, though it is an error that it is not all.
    is_made = (code == 0 and "out" in more) or (verb, source) == ("recover", "cut.h5")
    assert out.exists() == is_made
    left = {one.name for one in tmp_path.iterdir()} - {source, "out"}
    assert left == set()


@pytest.mark.parametrize("source", [*ARRAYS, *TABLES, *NO_DATA])
@pytest.mark.parametrize("verb", [verb for verb, (words, _) in VERBS.items() if "out" in words])
def test_an_output_that_is_there_stays_unless_it_is_made_anew(made, tmp_path, monkeypatch, verb, source):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "out"
    path.write_bytes(b"mine")
    assert main([verb, str(made / source), "out"]) == 1
    assert path.read_bytes() == b"mine"
    code = main([verb, str(made / source), "out", "--force"])
    is_made = code == 0 or (verb, source) == ("recover", "cut.h5")
    assert (path.is_dir() or path.read_bytes() != b"mine") == is_made
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_advice_is_about_the_input_and_can_be_followed(made, tmp_path, monkeypatch, capfd):
    # A frame that was cut was said to be saved by `repair`, which cannot.
    monkeypatch.chdir(tmp_path)
    assert main(["verify", str(made / "cut.b2nd")]) == 1
    err = capfd.readouterr().err
    assert "another copy" in err
    assert "repair" not in err
    assert main(["compress", str(made / "folder"), "out"]) == 1
    assert "a directory" in capfd.readouterr().err
