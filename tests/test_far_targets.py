"""Nothing is written under the name of a URL: remote files can only be read."""

import os

import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

pa = pytest.importorskip("pyarrow")

VALUES = np.arange(30.0).reshape(5, 6)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Stand in a folder with a table."""
    monkeypatch.chdir(tmp_path)
    cq.create_table("here.h5", {"x": np.arange(3)}).close()


def with_table(act):
    with cq.open_table("here.h5") as table:
        return act(table)


WRITERS = {
    "asarray": lambda url: cq.asarray(VALUES, path=url),
    "zeros": lambda url: cq.zeros(3, path=url),
    "full_like": lambda url: cq.full_like(VALUES, 2, path=url),
    "from_slabs": lambda url: cq.from_slabs([VALUES], path=url),
    "save": lambda url: cq.asarray(VALUES).save(url),
    "copy": lambda url: cq.asarray(VALUES).copy(path=url),
    "frame": lambda url: cq.Frame.create(url, chunk_size=100),
    "pack": lambda url: cq.pack(VALUES, url),
    "open w": lambda url: cq.open(url, "w"),
    "open r+": lambda url: cq.open(url, "r+"),
    "open a": lambda url: cq.open(url, "a"),
    "File w": lambda url: cq.hdf5.File(url, "w"),
    "File a": lambda url: cq.hdf5.File(url, "a"),
    "create_table": lambda url: cq.create_table(url, {"x": np.arange(3)}),
    "table copy": lambda url: with_table(lambda table: table.copy(url)),
    "to_csv": lambda url: with_table(lambda table: table.to_csv(url)),
    "to_parquet": lambda url: with_table(lambda table: table.to_parquet(url)),
    "repack": lambda url: cq.hdf5.repack("here.h5", url),
}


@pytest.mark.parametrize("url", ["s3://bucket/x.b2nd", "memory://x.h5", "https://host/x", "gs://b/t.parquet"])
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("writer", WRITERS)
def test_writers_refuse_urls(writer, url):
    with pytest.raises(ValueError, match="remote files can only be read"):
        WRITERS[writer](url)
    assert set(os.listdir()) == {"here.h5"}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("url", ["s3://bucket/x.b2nd", "memory://x.h5", "memory://x.npy", "s3://b/x.parquet"])
def test_the_command_refuses_urls_as_outputs(capsys, url):
    np.save("a.npy", VALUES)
    for arguments in (["convert", "a.npy", url], ["convert", "here.h5", url], ["repack", "here.h5", url]):
        assert main(arguments) != 0, arguments
        assert "coquina: " in capsys.readouterr().err
    assert set(os.listdir()) == {"here.h5", "a.npy"}


def test_file_urls_are_local(tmp_path):
    cq.asarray(VALUES, path=f"file://{tmp_path}/x.b2nd").close()
    np.testing.assert_array_equal(cq.open(tmp_path / "x.b2nd"), VALUES)
