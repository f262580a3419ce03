"""Files that a stranger's HDF5 file names: read beside it, elsewhere only if that is allowed."""

from __future__ import annotations

import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main
from coquina.hdf5 import File

NAMES = ("raw", "virtual", "nested", "link", "inside")


def made(folder, outside):
    """Make a file that names a secret in another folder, by every way that HDF5 has."""
    secret = outside / "secret.bin"
    secret.write_bytes(np.arange(10, dtype="<i4").tobytes())
    with h5py.File(outside / "secret.h5", "w") as file:
        file["d"] = np.arange(10, dtype="<i4")
        file["g/d"] = np.arange(10, dtype="<i4")
    path = folder / "stranger.h5"
    with h5py.File(folder / "between.h5", "w") as file:
        file.create_dataset("d", (10,), "<i4", external=[(str(secret), 0, 40)])
    with h5py.File(path, "w") as file:
        file.create_dataset("raw", (10,), "<i4", external=[(str(secret), 0, 40)])
        file["raw"].attrs["units"] = "m"
        for name, source in (("virtual", outside / "secret.h5"), ("nested", folder / "between.h5")):
            layout = h5py.VirtualLayout((10,), "<i4")
            layout[:] = h5py.VirtualSource(str(source), "d", (10,))
            file.create_virtual_dataset(name, layout)
        file["link"] = h5py.ExternalLink(str(outside / "secret.h5"), "/d")
        file["group"] = h5py.ExternalLink(str(outside / "secret.h5"), "/g")
        file["soft"] = h5py.SoftLink("/link")
        file["inside"] = np.arange(10, dtype="<i4")
    return path


@pytest.fixture
def places(tmp_path):
    """Two folders beside each other."""
    folders = tmp_path / "here", tmp_path / "elsewhere"
    for folder in folders:
        folder.mkdir()
    return folders


@pytest.mark.parametrize("name", ["raw", "virtual", "nested", "link", "soft", "group/d"])
def test_no_item_of_a_file_elsewhere_is_read_unless_that_is_allowed(places, name):
    path = made(*places)
    with cq.open(path) as file:
        with pytest.raises(cq.UnsupportedError, match="allow_external=True"):
            file[name][:]
        with pytest.raises(cq.UnsupportedError, match="allow_external=True"):
            np.asarray(file[name])
        with pytest.raises(cq.UnsupportedError, match="allow_external=True"):
            file.get(name)[:]
        assert file["inside"][3] == 3
        # What is in the file itself can be read.
        assert file["raw"].attrs["units"] == "m"
        assert file["raw"].shape == (10,)
        assert "not read" in repr(file["raw"])
    for opened in (cq.open(path, allow_external=True), File(path, allow_external=True)):
        with opened as file:
            assert list(file[name][:]) == list(range(10))


def test_walks_over_a_file_give_nothing_of_files_elsewhere(places):
    with cq.open(made(*places)) as file, pytest.raises(cq.UnsupportedError, match="allow_external=True"):
        dict(file.items())


def test_what_lies_beside_the_file_or_below_is_read(places, monkeypatch):
    here, elsewhere = places
    (here / "below").mkdir()
    monkeypatch.chdir(here)
    path = made(here, here / "below")
    with cq.open(path) as file:
        for name in ("raw", "virtual", "nested", "link", "soft", "group/d"):
            assert list(file[name][:]) == list(range(10)), name
    # A link of the file system that leads out of the folder is resolved first.
    (elsewhere / "x.bin").write_bytes(bytes(40))
    os.symlink(elsewhere / "x.bin", here / "innocent.bin")
    with h5py.File(path, "r+") as file:
        file.create_dataset("sly", (10,), "<i4", external=[("innocent.bin", 0, 40)])
    with cq.open(path) as file, pytest.raises(cq.UnsupportedError, match="allow_external=True"):
        file["sly"][:]


def test_the_command_reads_elsewhere_only_if_told(places, capsys):
    path = made(*places)
    for name in ("raw", "virtual", "nested", "link"):
        assert main(["cat", f"{path}:/{name}"]) == 1
        assert "--allow-external" in capsys.readouterr().err
        assert main(["cat", f"{path}:/{name}", "--allow-external"]) == 0
        assert "9" in capsys.readouterr().out
    assert main(["ls", str(path)]) == 0
    assert main(["info", f"{path}:/raw"]) == 0
    assert main(["verify", str(path)]) == 0


@pytest.mark.parametrize("verb", ["repack", "recover"])
def test_copies_hold_nothing_of_files_elsewhere(places, verb, tmp_path):
    path = made(*places)
    out = tmp_path / "out.h5"
    main([verb, str(path), str(out)])
    secret = np.arange(10, dtype="<i4").tobytes()
    content = out.read_bytes() if out.exists() else b""
    # The one that is in the file itself may be in the copy.
    assert content.count(secret) <= 1
    with cq.open(out) as file:
        assert file["inside"][3] == 3


KILLED = """
import os, sys, coquina as cq
f = cq.hdf5.File(sys.argv[1], "a", durable=True)
f["g/d"][0] = 77
f.flush()
os._exit(0)
"""


@pytest.mark.parametrize("name", ["link", "group/d", "virtual"])
def test_what_a_kill_left_in_the_journal_of_another_file_is_read(tmp_path, name):
    source, path = tmp_path / "source.h5", tmp_path / "names.h5"
    with h5py.File(source, "w") as file:
        file["g/d"] = np.arange(10, dtype="<i4")
    with h5py.File(path, "w") as file:
        layout = h5py.VirtualLayout((10,), "<i4")
        layout[:] = h5py.VirtualSource("source.h5", "g/d", (10,))
        file.create_virtual_dataset("virtual", layout)
        file["link"] = h5py.ExternalLink("source.h5", "/g/d")
        file["group"] = h5py.ExternalLink("source.h5", "/g")
    # While it is read, the commit stays in the journal.
    with h5py.File(source):
        subprocess.run([sys.executable, "-c", KILLED, str(source)], check=True)
    journal = tmp_path / "source.h5.journal"
    assert journal.exists()
    with File(path) as file:
        assert file[name][:3].tolist() == [77, 1, 2]
    assert not journal.exists()
    with h5py.File(source) as file:
        assert file["g/d"][0] == 77


def test_a_journal_that_is_not_of_a_linked_file_is_told(tmp_path):
    source, path = tmp_path / "source.h5", tmp_path / "names.h5"
    with h5py.File(source, "w") as file:
        file["g/d"] = np.arange(10, dtype="<i4")
    with h5py.File(path, "w") as file:
        file["link"] = h5py.ExternalLink("source.h5", "/g/d")
    with h5py.File(source):
        subprocess.run([sys.executable, "-c", KILLED, str(source)], check=True)
    with h5py.File(source, "r+") as file:
        file["g/d"][:] = 5
        file["more"] = np.arange(9000)
    with File(path) as file, pytest.raises(cq.CorruptError, match="Move the journal away"):
        file["link"]


def test_a_dataset_that_is_open_with_a_prefix_of_its_own_is_found(tmp_path):
    """`tree`, and every look at the dataset: libhdf5 does not open it again with another prefix."""
    (tmp_path / "raw").mkdir()
    np.arange(5).tofile(tmp_path / "raw" / "items.bin")
    with File(tmp_path / "f.h5", "w") as file:
        where = {"external": [("items.bin", 0, 40)], "efile_prefix": str(tmp_path / "raw")}
        held = file.h5.create_dataset("group/x", (5,), "i8", **where)
        assert "x  (5,) int64" in str(file.tree())
        assert file["group/x"][:].tolist() == file["group"]["x"][:].tolist() == held[:].tolist()
