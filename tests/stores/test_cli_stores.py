"""The command on stores of python-blosc2: info, ls, cat and convert."""

import json

import blosc2
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

from . import peer_stores, peer_tables
from .peer_stores import STORES, arrays

COLUMNS = ("n", "text_mask", "kind")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    for name in ("tree directory", "tree archive", "embedded"):
        _, suffix, write = STORES[name]
        write(folder / f"s{suffix}")
    peer_tables.write(folder / "t.b2z", names=COLUMNS)
    objects = blosc2.ListArray(item_spec=blosc2.int64(), nullable=True)
    objects.extend([[1], None])
    with blosc2.TreeStore(str(folder / "o.b2d"), mode="w") as store:
        store["/g/lists"] = objects
    return folder


def said(capsys, *command):
    assert main([str(one) for one in command]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("suffix", [".b2d", ".b2z", ".b2e"])
def test_info_and_ls_tell_of_all_that_is_there(written, capsys, suffix):
    store = written / f"s{suffix}"
    facts = said(capsys, "info", store, "--json")
    assert facts["format"] == ("EmbedStore" if suffix == ".b2e" else "TreeStore")
    assert facts["groups"] == 2
    assert facts["nbytes"] >= sum(array.nbytes for array in arrays().values())
    listed = {row["path"]: row for row in said(capsys, "ls", store, "--json")["objects"]}
    for key, array in arrays().items():
        assert tuple(listed[f"/{key}"]["shape"]) == array.shape
    assert listed["/g"]["kind"] == "group"
    assert said(capsys, "info", f"{store}:/g/b", "--json")["shape"] == [10, 100]
    assert {row["path"] for row in said(capsys, "ls", f"{store}:/g/deeper", "--json")["objects"]} == {
        "/c",
        "/text",
    }
    assert main(["ls", str(store)]) == main(["info", str(store)]) == 0


@pytest.mark.parametrize("suffix", [".b2d", ".b2z", ".b2e"])
def test_cat_and_convert_take_arrays(written, capsys, tmp_path, suffix):
    store = written / f"s{suffix}"
    wanted = arrays()["g/b"]
    for command in ((f"{store}:/g/b[2,3:8]",), (f"{store}:/g/b", "[2,3:8]")):
        assert said(capsys, "cat", *command, "--json")["items"] == wanted[2, 3:8].tolist()
    assert main(["convert", f"{store}:/g/b", str(tmp_path / "x.npy")]) == 0
    assert np.array_equal(np.load(tmp_path / "x.npy"), wanted)
    assert main(["convert", f"{store}:/g/b", str(tmp_path / "x.b2nd")]) == 0
    assert np.array_equal(cq.open(tmp_path / "x.b2nd")[...], wanted)


def test_tables_are_shown_and_converted(written, capsys, tmp_path):
    table = written / "t.b2z"
    wanted = {name: column for name, column in peer_tables.wanted().items() if name in COLUMNS}
    facts = said(capsys, "info", table, "--json")
    assert facts["rows"] == len(wanted["n"])
    assert set(facts["columns"]) == set(COLUMNS)
    assert said(capsys, "cat", f"{table}", "['n']", "--json")["items"] == wanted["n"]
    assert main(["convert", str(table), str(tmp_path / "x.h5")]) == 0
    with cq.open_table(tmp_path / "x.h5") as copy:
        assert copy["n"][:].tolist() == wanted["n"]
        assert copy["text_mask"][:].tolist() == wanted["text_mask"]


def test_values_are_printed(written, capsys):
    assert main(["cat", f"{written / 'o.b2d'}:/g/lists"]) == 0
    assert "[1]\nNone\n" in capsys.readouterr().out
    assert main(["info", f"{written / 'o.b2d'}:/g/lists"]) == 0


@pytest.mark.parametrize("command", ["info", "ls", "cat", "convert"])
def test_what_is_not_there_is_one_sentence(written, capsys, tmp_path, command):
    output = [str(tmp_path / "x.npy")] if command == "convert" else []
    for path in ("s.b2z:/nothing", "s.b2d:/g/nothing", "t.b2z:/n"):
        assert main([command, f"{written / path}", *output]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert "there is no" in error or "nothing below" in error
    if command in ("cat", "convert"):
        assert main([command, f"{written / 's.b2z:/g'}", *output]) == 1
        assert "coquina ls" in capsys.readouterr().err


def test_damage_is_one_sentence(tmp_path, capsys):
    path = tmp_path / "x.b2z"
    peer_stores.tree(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    for command in ("info", "ls", "cat"):
        assert main([command, str(path)]) == 1
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("suffix", [".b2d", ".b2z"])
def test_verify_reads_every_leaf(tmp_path, suffix, capsys):
    path = tmp_path / f"x{suffix}"
    with cq.open(path, "w") as store:
        store.create_dataset("g/noise", data=np.random.default_rng(1).random(50_000), chunks=(10_000,))
        store["b"] = 1
    assert main(["verify", str(path)]) == 0
    assert "2 leaves, 6 chunks, 0 damaged" in capsys.readouterr().out
    file = path / "g" / "noise.b2nd" if suffix == ".b2d" else path
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert main(["verify", str(path)]) == 1
    said = capsys.readouterr()
    assert "/g/noise" in said.out
    assert f"`coquina repair {path}:/PATH OUTPUT`" in said.err
    good = tmp_path / "good.b2nd"
    assert main(["repair", f"{path}:/g/noise", str(good)]) == 0
    assert "4 of 5 chunks saved" in capsys.readouterr().out
    saved = cq.open(good)[:]
    assert np.isnan(saved).sum() == 10_000
    assert main(["repair", str(path), str(tmp_path / "x")]) == 1
    assert "takes one .b2nd file at a time" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".b2d", ".b2z"])
def test_convert_takes_whole_trees_there_and_back(tmp_path, suffix, capsys):
    first, store, back = tmp_path / "a.h5", tmp_path / f"b{suffix}", tmp_path / "c.h5"
    long_name = "an attribute whose name is longer than a metalayer's"
    with cq.open(first, "w") as file:
        file["g/a"] = np.arange(12).reshape(3, 4)
        file["g/a"].attrs["unit"] = "K"
        file["g"].attrs.update({"title": "é", long_name: 5, "vector": np.arange(3)})
        file.create_group("g/empty")
        file.create_table("t", {"n": np.arange(5), "s": ["a", "é", "", "b", "c"]}).attrs["of"] = "rows"
        file.attrs["version"] = 2
    assert main(["convert", str(first), str(store)]) == 0
    assert "2 groups, 1 arrays, 1 tables" in capsys.readouterr().out
    assert main(["convert", str(first), str(store)]) != 0
    with blosc2.TreeStore(str(store), mode="r") as peer:
        assert peer["/g/a"][:].tolist() == np.arange(12).reshape(3, 4).tolist()
        assert peer["/t"]["s"][:].tolist() == ["a", "é", "", "b", "c"]
    assert main(["convert", str(store), str(back)]) == 0
    with cq.open(back) as file, cq.open(first) as wanted:
        names = []
        wanted.visit(names.append)
        for name in ("g", "g/a", "g/empty", "t"):
            assert name in file
        assert np.array_equal(file["g/a"][...], wanted["g/a"][...])
        assert file["g/a"].attrs["unit"] == "K"
        assert file["g"].attrs["title"] == "é"
        assert file["g"].attrs["vector"].tolist() == [0, 1, 2]
        assert file["g"].attrs[long_name] == 5
        assert file["t"]["s"][...].tolist() == wanted["t"]["s"][...].tolist()
        assert file["t"].attrs["of"] == "rows"
        assert file.attrs["version"] == 2


def test_convert_writes_rows_as_a_table_of_python_blosc2(tmp_path):
    (tmp_path / "x.csv").write_text("n,s\n1,a\n2,b\n")
    assert main(["convert", str(tmp_path / "x.csv"), str(tmp_path / "x.b2z")]) == 0
    assert blosc2.open(str(tmp_path / "x.b2z"), mode="r")["n"][:].tolist() == [1, 2]


def test_convert_keeps_dimensions_and_coordinates_of_netcdf_files(tmp_path):
    import xarray as xr

    first, store, back = (str(tmp_path / name) for name in ("a.nc", "b.b2z", "c.nc"))
    y = ("y", [1.0, 2, 3], {"long_name": "northing"})
    data = {"t": (("y", "x"), np.arange(12.0).reshape(3, 4), {"units": "K"})}
    xr.Dataset(data, {"x": np.arange(4), "y": y}, {"title": "é"}).to_netcdf(first, engine="netcdf4")
    assert main(["convert", first, store]) == 0
    assert main(["convert", store, back]) == 0
    with xr.open_dataset(first, engine="coquina") as wanted, xr.open_dataset(back, engine="coquina") as found:
        xr.testing.assert_identical(found, wanted)


def test_repack_copies_a_store_with_another_codec(tmp_path):
    with cq.open(tmp_path / "a.b2d", "w") as store:
        store["g/a"] = np.arange(1000)
        store["g"].attrs["unit"] = "K"
        store.create_table("t", {"n": np.arange(5)})
    args = ["repack", str(tmp_path / "a.b2d"), str(tmp_path / "b.b2z"), "--codec", "lz4", "--level", "5"]
    assert main(args) == 0
    with cq.open(tmp_path / "b.b2z") as store:
        assert store["g/a"].info.codec == "lz4"
        assert np.array_equal(store["g/a"][...], np.arange(1000))
        assert store["g"].attrs["unit"] == "K"
        assert store["t"]["n"][...].tolist() == [0, 1, 2, 3, 4]
