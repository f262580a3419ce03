"""Tables of columns and AnnData's dataframes: each is read as what the other wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from anndata.io import read_elem, write_elem

import coquina as cq
from coquina import UnsupportedError
from coquina.storage_options import Storage
from coquina.tables.columns_layout import ColumnsLayout, create_columns
from coquina.tables.layout import ColumnSpec
from coquina.tables.values import TEXT

pytestmark = pytest.mark.filterwarnings("ignore:.*:FutureWarning", "ignore:.*:DeprecationWarning")


@pytest.fixture
def nullable_strings() -> Any:
    before = anndata.settings.allow_write_nullable_strings
    anndata.settings.allow_write_nullable_strings = True
    yield
    anndata.settings.allow_write_nullable_strings = before


def frame() -> pd.DataFrame:
    """A frame with all that AnnData stores in columns."""
    return pd.DataFrame(
        {
            "i": np.arange(6, dtype="i2"),
            "x": [0.5, 1, 2, np.nan, 4, 5],
            "truth": [True, False] * 3,
            "text": ["a", "é", "", "abc", "d", "€"],
            "maybe": pd.array(["a", None, "", "c", None, "f"], dtype="string"),
            "kind": pd.Categorical(["u", "v", None, "u", "w", "v"], categories=["w", "v", "u", "unused"]),
            "order": pd.Categorical([3, 5, None, 3, 3, 5], categories=[5, 3], ordered=True),
            "Int64": pd.array([1, None, 3, 4, None, -(2**62)], dtype="Int64"),
            "UInt8": pd.array([1, None, 3, 4, None, 255], dtype="UInt8"),
            "boolean": pd.array([True, None, False, None, True, True], dtype="boolean"),
        },
        index=pd.Index([f"row{n}" for n in range(6)], name="id"),
    )


def shown(layout: ColumnsLayout) -> dict[str, list[Any]]:
    return {name: column.read(slice(None)).tolist() for name, column in layout.columns.items()}


def listed(values: Any) -> list[Any]:
    return [None if one is pd.NA or one is None or one != one else one for one in values.tolist()]


def plain(frame: pd.DataFrame) -> dict[str, list[Any]]:
    return {name: listed(frame[name]) for name in frame}


def without_nans(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: [None if one != one else one for one in values] for name, values in columns.items()}


def test_frames_that_anndata_wrote_are_tables(tmp_path: Path, nullable_strings: None) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as h5:
        write_elem(h5, "obs", frame())
    wanted = {"id": frame().index.tolist(), **plain(frame())}
    with cq.open(tmp_path / "a.h5") as file:
        layout = file.table("obs").layout
        assert layout.nrows == 6
        assert not layout.skipped
        assert without_nans(shown(layout)) == wanted
        specs = {spec.name: spec for spec in layout.schema}
        assert specs["kind"].categories == ("w", "v", "u", "unused")
        assert not specs["kind"].ordered
        assert specs["order"].categories == (5, 3)
        assert specs["order"].ordered
        assert [name for name, one in specs.items() if one.nullable] == [
            *("maybe", "kind", "order", "Int64", "UInt8", "boolean")
        ]


@pytest.mark.parametrize("index", [None, "id"])
def test_what_can_be_changed_of_them_is_read_by_anndata(tmp_path: Path, index: str | None) -> None:
    data = frame().drop(columns="maybe")
    data.index.name = index
    with h5py.File(tmp_path / "a.h5", "w") as h5:
        write_elem(h5, "obs", data)
    with cq.open(tmp_path / "a.h5", "r+") as file:
        layout = file.table("obs").layout
        layout.write(2, {"x": [7.5, 8.5], "kind": ["w", None], "Int64": [None, 9]})
        layout.write_at(np.array([5, 0]), {"i": [50, 0], "boolean": [None, False]})
        layout.write(1, {"kind": ["a category that is new"]})
        layout.add_column(ColumnSpec("new", TEXT), [f"n{n}" for n in range(6)])
        layout.rename_column("truth", "fact")
        layout.drop_column("text")
        with pytest.raises(UnsupportedError, match="copy the table"):
            layout.append({name: values[:1] for name, values in shown(layout).items()})
        with pytest.raises(UnsupportedError, match="copy the table"):
            layout.write(0, {index or "_index": ["other"]})
    wanted = data.rename(columns={"truth": "fact"}).drop(columns="text")
    wanted["new"] = [f"n{n}" for n in range(6)]
    at = list(wanted.columns).index
    wanted["kind"] = wanted["kind"].cat.add_categories("a category that is new")
    wanted.iloc[1, at("kind")] = "a category that is new"
    wanted.iloc[2:4, at("x")] = [7.5, 8.5]
    wanted.iloc[2:4, at("kind")] = ["w", None]
    wanted.iloc[2:4, at("Int64")] = [None, 9]
    wanted["i"] = np.array([0, 1, 2, 3, 4, 50], "i2")
    wanted.iloc[[5, 0], at("boolean")] = [None, False]
    with h5py.File(tmp_path / "a.h5") as h5:
        pd.testing.assert_frame_equal(read_elem(h5["obs"]), wanted)


SCHEMA = (
    ColumnSpec("id", TEXT),
    ColumnSpec("i", np.dtype("i4")),
    ColumnSpec("big-endian", np.dtype(">f8")),
    ColumnSpec("truth", np.dtype("?")),
    ColumnSpec("kind", TEXT, categories=("b",)),
    ColumnSpec("order", np.dtype("f8"), categories=(2.5, 1.5), ordered=True),
    ColumnSpec("Int", np.dtype("i8"), nullable=True),
    ColumnSpec("Bool", np.dtype("?"), nullable=True),
)


def test_anndata_reads_our_tables_as_frames(tmp_path: Path) -> None:
    batch: dict[str, Any] = {
        "id": [f"é{n}" * (n % 3) for n in range(100)],
        "i": np.arange(100),
        "big-endian": np.arange(100) / 3,
        "truth": np.arange(100) % 3 == 0,
        "kind": [None if n % 7 == 0 else "abc"[n % 3] for n in range(100)],
        "order": [None if n % 5 == 0 else 1.5 + n % 2 for n in range(100)],
        "Int": [None if n % 4 == 0 else n for n in range(100)],
        "Bool": [None if n % 4 == 1 else n % 2 == 0 for n in range(100)],
    }
    with cq.open(tmp_path / "t.h5", "w") as file:
        layout = create_columns(file, "a/t", SCHEMA, Storage(chunks=(64,)))
        for start in (0, 30, 60, 90):
            layout.append({name: values[start : start + 30] for name, values in batch.items()})
        layout.flush()
        assert without_nans(shown(layout)) == {name: list(values) for name, values in batch.items()}
    with h5py.File(tmp_path / "t.h5") as h5:
        found = read_elem(h5["a/t"])
    assert list(found) == [spec.name for spec in SCHEMA]
    assert found.index.tolist() == batch["id"]
    assert found.index.name == "id"
    assert plain(found) == {name: list(values) for name, values in batch.items()}
    assert str(found["Int"].dtype) == "Int64"
    assert str(found["Bool"].dtype) == "boolean"
    assert found["kind"].cat.categories.tolist() == ["b", "c", "a"]
    assert found["order"].cat.categories.tolist() == [2.5, 1.5]
    assert found["order"].cat.ordered


def test_columns_that_frames_cannot_have_are_read_alone(tmp_path: Path) -> None:
    """AnnData makes no frame of missing text and missing floats; it reads them, and h5py the rest."""
    schema = (
        ColumnSpec("text", TEXT, nullable=True),
        ColumnSpec("float", np.dtype("f4"), nullable=True),
        ColumnSpec("when", np.dtype("M8[s]")),
        ColumnSpec("enum", np.dtype("u1"), enum={"low": 0, "high": 9}),
    )
    when = np.array(["2020-02-29", "NaT"], "M8[s]")
    with cq.open(tmp_path / "t.h5", "w") as file:
        layout = create_columns(file, "t", schema)
        layout.append({"text": ["é", None], "float": [None, 0.5], "when": when, "enum": [9, 0]})
        layout.close()
    with h5py.File(tmp_path / "t.h5") as h5:
        assert read_elem(h5["t/text"]).to_list() == ["é", None]
        assert read_elem(h5["t/float"]).to_list() == [None, 0.5]
        assert h5["t/when"][0] == 1582934400
        assert h5["t/when"].attrs["units"] == "seconds since 1970-01-01 00:00:00"
        assert h5py.check_enum_dtype(h5["t/enum"].dtype) == {"low": 0, "high": 9}


def test_what_is_no_column_is_skipped_and_named(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as h5:
        write_elem(h5, "obs", frame().drop(columns="maybe"))
        h5["obs/x"].attrs["encoding-type"] = "unknown"  # Datasets are read for what they are.
        h5["obs/kind"].attrs["encoding-type"] = "unknown"
        del h5["obs/Int64"], h5["obs/order/codes"]
    with cq.open(tmp_path / "a.h5", "r+") as file:
        layout = file.table("obs").layout
        assert set(layout.skipped) == {"kind", "order", "Int64"}
        assert list(layout.columns) == ["id", "i", "x", "truth", "text", "UInt8", "boolean"]
        layout.drop_column("kind")
        with pytest.raises(UnsupportedError, match=r"Int64|fixed"):
            layout.resize(2)
    with h5py.File(tmp_path / "a.h5") as h5:
        assert "kind" not in h5["obs"]
        assert "kind" not in list(h5["obs"].attrs["column-order"])
