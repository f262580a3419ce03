"""Columns tables in directories of frames: the same laws as in HDF5, and what a directory adds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coquina as cq
from coquina._core import CorruptError
from coquina.folder_members import TABLE as JSON
from coquina.storage_options import Storage
from coquina.tables.column_storage import column_storage
from coquina.tables.columns_layout import ColumnsLayout
from coquina.tables.frames_home import FramesHome
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


def test_a_file_name_that_is_used_again_is_another_array(tmp_path: Path) -> None:
    home = FramesHome.make(tmp_path / "t")

    def fail() -> None:
        with home.transaction():
            known.append(home.create("x", "i8", STORAGE))
            raise ZeroDivisionError

    known = [home.create("x", "i8", STORAGE)]
    known[0].append([1, 2])
    assert home.array("x") is known[0]
    home.remove("x")
    with pytest.raises(ZeroDivisionError):
        fail()
    known.append(home.create("x", "i8", STORAGE))
    assert len({array.path for array in known}) == 1
    assert [array.is_closed for array in known] == [True, True, False]
    assert home.array("x") is known[2]
    assert known[2].shape == (0,)
    home.close()


def test_a_reader_changes_nothing_and_makes_no_file(tmp_path: Path) -> None:
    made(tmp_path / "t").close()
    files = {file.name: file.read_bytes() for file in (tmp_path / "t").iterdir()}
    home = FramesHome.open(tmp_path / "t")
    array = home.array("n")
    changes: list[Any] = [
        lambda: home.create("x", "i8", STORAGE),
        lambda: home.create_group("x"),
        lambda: home.put_texts("x", ["a"], STORAGE),
        lambda: home.attrs.update(x=1),
        lambda: home.remove("n"),
        lambda: home.move("n", "m"),
        lambda: array.append([1]),
    ]
    for change in changes:
        with pytest.raises(ValueError, match="reading only"):
            change()
        assert home.kind("x") is None
        assert home.kind("n") == "array"
        assert array[...].tolist() == list(range(20))
    home.close()
    assert {file.name: file.read_bytes() for file in (tmp_path / "t").iterdir()} == files


def test_attributes_are_what_json_has_before_and_after_the_directory_is_opened_again(tmp_path: Path) -> None:
    home = FramesHome.make(tmp_path / "t")
    values: dict[str, Any] = {
        "numbers": [0, -1, 2**63, -(2**200), 0.1, -0.0, 1e300, float("inf")],
        "texts": ["", 'é\n"\\', "\ud800", "\U0001f600"],
        "nested": {"a": [True, None, {"b": []}], "é": {}},
        "\udc80": 1,
    }
    home.attrs.update(values, array=np.arange(3), scalar=np.float32(0.5))
    home.create_group("\udc80 é")
    home.attrs_of("\udc80 é")["unit"] = "mm"
    for bad in ({1, 2}, b"bytes", 1j, [[[object()]]]):
        with pytest.raises(TypeError):
            home.attrs["bad"] = bad
    wanted = {**values, "array": [0, 1, 2], "scalar": 0.5}
    for again in (home, FramesHome.open(tmp_path / "t")):
        assert dict(again.attrs) == wanted
        assert list(again.attrs) == list(wanted)
        assert again.names("") == ["\udc80 é"]
        assert again.attrs_of("\udc80 é")["unit"] == "mm"
    del home.attrs["nested"]
    with pytest.raises(KeyError):
        del home.attrs["nested"]
    with pytest.raises(KeyError):
        home.attrs_of("nothing")["x"] = 1
    assert "nested" not in FramesHome.open(tmp_path / "t").attrs
    home.close()


@pytest.mark.parametrize(
    "terms", [{"filters": [("int_trunc", -4)]}, {"filters": ("trunc_prec", 10)}, {"codec": ("zfp_rate", 25)}]
)
def test_table_in_a_directory_is_not_made_with_what_loses_items(tmp_path, terms):
    # Places of text would be cut as the numbers are, and the text read as another one.
    with pytest.raises(ValueError, match="kept exactly"):
        cq.create_table(tmp_path / "t", {"s": ["abc", "d"], "x": [1.5, 2.5]}, **terms)
    assert not (tmp_path / "t").exists()


def test_open_gives_the_table_of_a_directory(tmp_path):
    cq.create_table(tmp_path / "t", {"x": [3, 1, 2]}).close()
    with cq.open(tmp_path / "t") as table:
        assert table["x"][:].tolist() == [3, 1, 2]
        with pytest.raises(ValueError, match="open for reading only"):
            table.append({"x": [4]})
    with cq.open(tmp_path / "t", "a") as table:
        table.append({"x": [4]})
    with cq.open_table(tmp_path / "t") as table:
        assert table.nrows == 4
    with pytest.raises(cq.UnsupportedError, match="opens without damaged=True"):
        cq.open(tmp_path / "t", damaged=True)
