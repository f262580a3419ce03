"""Names in archives that mean something on some systems: they stay names, and lead nowhere."""

from __future__ import annotations

import os
import zipfile

import blosc2
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

VALUES = np.arange(10)


def archive(path, *names):
    """Write an archive with an array under each of these names of files."""
    first = path.with_name("first.b2z")
    with cq.open(first, "w") as store:
        store["a"] = VALUES
    with zipfile.ZipFile(first) as old, zipfile.ZipFile(path, "w") as made:
        for info in old.infolist():
            if info.filename != "a.b2nd":
                made.writestr(info.filename, old.read(info))
        for at, name in enumerate(names):
            made.writestr(name, blosc2.asarray(VALUES + at).to_cframe())
    first.unlink()
    return path


@pytest.mark.parametrize(
    "name", ["..\\out.b2nd", "C:\\out.b2nd", "C:out.b2nd", "a\\..\\..\\out.b2nd", "\\\\host\\out.b2nd"]
)
def test_names_of_other_systems_stay_names_and_nothing_leaves_the_folder(name, tmp_path, capsys):
    folder = tmp_path / "in"
    folder.mkdir()
    path = archive(folder / "x.b2z", name)
    key = name.removesuffix(".b2nd")
    with cq.open(path) as store:
        assert list(store) == [key]
        np.testing.assert_array_equal(store[key][...], VALUES)
    with cq.open(path, "r+") as store:
        store[key][0] = 5
        with pytest.raises(ValueError, match="no name"):
            store[f"{key}2"] = VALUES
    with cq.open(path) as store:
        assert store[key][0] == 5
    # A directory would have a file of this name, so it is refused there.
    assert main(["convert", str(path), str(folder / "y.b2d")]) == 1
    assert "no name" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["in"]
    assert not [one for one in os.listdir(folder) if "out" in one]


def test_names_that_differ_by_case_are_two(tmp_path, capsys):
    path = archive(tmp_path / "x.b2z", "a.b2nd", "A.b2nd")
    with cq.open(path) as store:
        assert sorted(store) == ["A", "a"]
        np.testing.assert_array_equal(store["A"][...], VALUES + 1)
        np.testing.assert_array_equal(store["a"][...], VALUES)


def test_a_table_in_an_archive_grows_by_rows_that_are_given(tmp_path):
    with cq.create_table(tmp_path / "t.b2z", {"n": VALUES}) as table:
        pass
    with cq.open(tmp_path / "t.b2z", "r+") as table:
        table.append({"n": VALUES})
        assert len(table) == 20
    assert blosc2.open(str(tmp_path / "t.b2z"))["n"][:].tolist() == [*VALUES, *VALUES]


@pytest.mark.parametrize("maker", ["proxy", "blosc2", "bloscpack"])
def test_changed_bytes_are_errors_of_ours_or_values(maker, tmp_path):
    path = tmp_path / ("x.blp" if maker == "bloscpack" else "x.b2nd")
    if maker == "bloscpack":
        cq.pack(np.arange(3000), path, chunk_size=4096, checksum="crc32")
    else:
        array = blosc2.asarray(
            np.arange(3000), urlpath=str(tmp_path / "source.b2nd"), chunks=(500,), blocks=(100,)
        )
        if maker == "proxy":
            blosc2.Proxy(array, urlpath=str(path), mode="w").fetch()
        else:
            array.save(str(path))
    content = path.read_bytes()
    wanted = np.arange(3000)
    wrong = errors = 0
    for at in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[at] ^= 1 << (at % 8)
        path.write_bytes(damaged)
        try:
            found = cq.open(path)
            values = np.asarray(found[...]) if not isinstance(found, cq.Frame) else np.zeros(0)
        except (cq.CoquinaError, OSError, ValueError):
            errors += 1
            continue
        wrong += values.dtype != wanted.dtype or not np.array_equal(values, wanted)
    assert errors
    # A checksum of Bloscpack is of all bytes of a chunk; frames of python-blosc2 have none.
    assert maker != "bloscpack" or wrong == 0
