"""PyTables' times are H5T_TIME, which h5py has not: files with them are recovered, repacked and tuned."""

from __future__ import annotations

import numpy as np
import pytest
import tables as tb

import coquina as cq
from coquina.cli import main
from coquina.hdf5.recovery import recover


class Row(tb.IsDescription):
    k = tb.Int32Col(pos=0)
    t = tb.Time64Col(pos=1)
    u = tb.Time32Col(pos=2)
    s = tb.StringCol(5, pos=3)
    many = tb.Time64Col(shape=(2,), pos=4)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "times.h5"
    with tb.open_file(path, "w") as file:
        rows = np.zeros(1000, tb.dtype_from_descr(Row))
        rows["k"], rows["u"], rows["s"] = np.arange(1000), np.arange(1000), b"ab"
        rows["t"] = np.arange(1000) + 0.25
        rows["many"] = np.arange(2000).reshape(1000, 2) / 4
        table = file.create_table("/", "table", rows, chunkshape=(100,), filters=tb.Filters(5, "zlib"))
        table.attrs.note = "mine"
        file.create_array("/", "plain", np.arange(5000))
        file.create_carray("/", "chunked", tb.Time64Atom(), (100,))[:] = np.arange(100) + 0.5
        file.create_array("/", "contiguous", obj=np.arange(10) + 0.5, atom=tb.Time64Atom())
        file.create_earray("/", "growing", tb.Time32Atom(), (0,)).append(np.arange(7))
    return path


def contents(path):
    with tb.open_file(path) as file:
        nodes = {node._v_pathname: node.read().tobytes() for node in file.walk_nodes("/", "Leaf")}
        return nodes, file.root.table.attrs.note, {len(file.root.table), len(file.root.growing)}


@pytest.mark.parametrize(
    "command",
    [
        ["recover"],
        ["repack"],
        ["repack", "--filter", "blosc2"],
        ["repack", "--filter", "gzip", "--chunks", "50"],
        ["repack", "--auto"],
        ["tune", "--apply"],
    ],
    ids=" ".join,
)
def test_times_are_kept(source, tmp_path, command):
    # `recover` of an intact file lost each such table, and one column failed `tune` and `repack`.
    out = tmp_path / "out.h5"
    name, *options = command
    assert (
        main(
            [name, str(source), *options, str(out)]
            if name == "tune"
            else [name, str(source), str(out), *options]
        )
        == 0
    )
    assert contents(out) == contents(source)


def test_recover_loses_only_the_chunk_that_is_damaged(source, tmp_path):
    with cq.hdf5.File(source) as file:
        at = file.dataset("table").h5.id.get_chunk_info(3)
    content = bytearray(source.read_bytes())
    content[at.byte_offset + 20 : at.byte_offset + 60] = bytes(40)
    source.write_bytes(content)
    assert main(["verify", str(source)]) == 1
    report = recover(source, tmp_path / "saved.h5")
    (table,) = [one for one in report.datasets if not one.is_whole]
    assert (table.name, table.rows_lost) == ("/table", [(300, 400)])
    assert not report.lost
    with tb.open_file(tmp_path / "saved.h5") as saved:
        assert saved.root.table.cols.t[:300].tolist() == (np.arange(300) + 0.25).tolist()
        assert saved.root.contiguous[:].tolist() == (np.arange(10) + 0.5).tolist()


def test_lists_of_times_are_recovered(tmp_path):
    with tb.open_file(tmp_path / "lists.h5", "w") as file:
        lists = file.create_vlarray("/", "lists", tb.Time64Atom())
        lists.append([1.5, 2.5])
        lists.append([3.25])
    assert recover(tmp_path / "lists.h5", tmp_path / "saved.h5").is_whole
    with tb.open_file(tmp_path / "saved.h5") as saved:
        assert [one.tolist() for one in saved.root.lists] == [[1.5, 2.5], [3.25]]
