"""Columns tables in directories of frames: the same laws as in HDF5, and what a directory adds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coquina as cq
from coquina._core import CorruptError
from coquina.storage_options import Storage
from coquina.tables.column_storage import column_storage
from coquina.tables.columns_layout import ColumnsLayout
from coquina.tables.frames_home import JSON, FramesHome
from coquina.tables.layout import ColumnSpec
from coquina.tables.values import TEXT
from tests.tables.test_columns_layout import SCHEMA, SMALL, rows_of, shown

STORAGE = column_storage(Storage(chunks=(8,), blocks=(4,)))


def reopened(layout: ColumnsLayout, mode: Any = "r") -> ColumnsLayout:
    layout.close()
    return ColumnsLayout.open(FramesHome.open(str(layout.name), mode))


def made(path: Path, schema: Any = SMALL, count: int = 20) -> ColumnsLayout:
    layout = ColumnsLayout.create(FramesHome.make(path), schema, STORAGE, title="a title")
    if count:
        layout.append(rows_of(count))
        layout.flush()
    return layout


def test_rows_come_out_as_they_were_put_in(tmp_path: Path) -> None:
    layout = made(tmp_path / "t", SCHEMA, 0)
    wanted: dict[str, list[Any]] = {
        "number": [1, -2, 3],
        "big": [0, 2**64 - 1, 5],
        "truth": [True, False, True],
        "half": [0.5, 1.0, 65504.0],
        "complex": [1j, 2.0, -1.5j],
        "fixed": [b"", b"a", b"abc"],
        "enum": [7, -1, 7],
        "date": list(np.array([1, -5, 10**12], "M8[ms]")),
        "span": list(np.array([1, -5, 10**12], "m8[ns]")),
        "text": ["", "é€", "a"],
        "maybe text": ["", None, "a"],
        "maybe int": [255, None, 0],
        "maybe truth": [None, True, False],
        "maybe float": [0.5, None, -1.0],
        "kind": ["b", None, "a"],
        "größe": [None, 5, 7],
    }
    layout.append(wanted)
    layout.append(wanted)
    layout.flush()
    before = shown(layout)
    again = reopened(layout)
    assert shown(again) == {name: values * 2 for name, values in wanted.items()} == before
    assert {spec.name: spec.enum for spec in again.schema}["enum"] == {"low": -1, "high": 7}
    assert again.title == "a title"
    assert again.attrs["encoding-type"] == "dataframe"


def test_columns_and_rows_are_changed_as_in_hdf5(tmp_path: Path) -> None:
    layout = made(tmp_path / "t")
    layout.write(3, {"text": ["a longer text than before"], "kind": ["new"]})
    layout.write_at(np.array([7, 0]), {"maybe": [None, "zero"], "n": [70, -1]})
    layout.delete(np.arange(10, 15))
    layout.resize(12)
    layout.add_column(ColumnSpec("x", np.dtype("f8")), np.arange(12.0))
    layout.rename_column("n", "a/b".replace("/", "\u2044"))
    layout.drop_column("int")
    layout.append({**{name: values[:1] for name, values in shown(layout).items()}, "kind": ["more"]})
    again = reopened(layout)
    assert list(again.columns) == ["a\u2044b", "text", "maybe", "kind", "x"]
    found = shown(again)
    keep = [*range(10), 15, 16, 0]
    assert found["a\u2044b"] == [{0: -1, 7: 70}.get(n, n) for n in keep]
    assert found["text"] == ["a longer text than before" if n == 3 else rows_of(20)["text"][n] for n in keep]
    assert found["kind"][3] == "new"
    assert found["kind"][-1] == "more"
    assert found["x"] == [*range(12), 0.0]
    longer = reopened(again, "r+")
    longer.resize(15)
    last = {"a\u2044b": 0, "text": "", "maybe": None, "kind": None, "x": 0.0}
    assert shown(reopened(longer)) == {name: [*found[name], last[name], last[name]] for name in last}
    # No file is left of what was removed.
    assert len(os.listdir(tmp_path / "t")) == 1 + 1 + 2 + 3 + 1 + 1


def test_columns_of_unequal_lengths_show_what_is_there_of_all(tmp_path: Path) -> None:
    layout = made(tmp_path / "t")
    layout.columns["n"].stored[0].array.resize(13)
    for again in (reopened(layout), reopened(layout, "r+")):
        assert again.nrows == 13
        assert shown(again) == {name: values[:13] for name, values in rows_of(20).items()}
        again.close()
    again = reopened(layout, "r+")
    again.append(rows_of(2))
    wanted = {name: values[:13] + rows_of(2)[name] for name, values in rows_of(20).items()}
    assert shown(reopened(again)) == wanted


def test_each_array_is_a_file_that_opens_alone(tmp_path: Path) -> None:
    made(tmp_path / "t").close()
    with cq.open(tmp_path / "t" / "0001.b2nd") as array:
        assert array[...].tolist() == list(range(20))
    with pytest.raises(FileExistsError):
        FramesHome.make(tmp_path / "t")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "[" * 10000,
        '{"coquina table": 2, "nodes": {"": {"kind": "group", "attrs": {}}}}',
        '{"coquina table": 1, "nodes": {"": {"kind": "array", "attrs": {}, "number": "../../etc"}}}',
        '{"coquina table": 1, "nodes": {"": {"kind": "group", "attrs": {}}, "x": 1}}',
    ],
)
def test_a_file_that_describes_no_table_is_refused(tmp_path: Path, content: str) -> None:
    os.mkdir(tmp_path / "t")
    (tmp_path / "t" / JSON).write_text(content)
    with pytest.raises(CorruptError, match=JSON):
        FramesHome.open(tmp_path / "t")


def test_options_that_frames_do_not_have_are_refused(tmp_path: Path) -> None:
    storage = column_storage(Storage(filter="gzip"))
    with pytest.raises(ValueError, match="gzip"):
        ColumnsLayout.create(FramesHome.make(tmp_path / "t"), (ColumnSpec("x", TEXT),), storage)
