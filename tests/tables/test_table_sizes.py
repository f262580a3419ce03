"""Tables that are made longer and shorter, huge ones too, and what is remembered of them meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

import coquina as cq
from coquina.tables import gathering
from coquina.tables.layout import ColumnSpec
from coquina.tables.values import TEXT
from tests.tables.table_cases import FLAT, NESTED, both_layouts, make, records, same

HUGE = np.dtype([("lat", "<f4"), ("n", "<i8"), ("s", "S4")])


@both_layouts
def test_rows_are_added_and_cut_off(tmp_path, layout):
    data = records(700)
    with make(tmp_path, layout, data) as table:
        for rows in (1500, 600, 600, 601, 0, 3, 1100):
            table.resize(rows)
            data = np.concatenate([data[:rows], np.zeros(max(0, rows - len(data)), FLAT)])
            assert len(table) == rows
            same(table[:], data)
        table.append(data[:1])
        table.append(data[:2])
        table.resize(np.int64(1102))
        data = np.concatenate([data, data[:1], data[:1]])
        same(table[:], data)
        with pytest.raises(ValueError, match="-1"):
            table.resize(-1)
        with pytest.raises(TypeError):
            table.resize(2.5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="1103 of 1102"):
            table.truncate(1103)
    with cq.open_table(tmp_path / f"{layout}.h5") as table:
        same(table[:], data)
        with pytest.raises(ValueError, match="reading"):
            table.resize(5)
        assert len(table) == 1102


@both_layouts
def test_new_rows_have_the_defaults(tmp_path, layout):
    schema = (
        ColumnSpec("i", np.dtype("i4"), default=7),
        ColumnSpec("e", np.dtype("i1"), enum={"low": 2, "none": 5}),
        ColumnSpec("z", np.dtype("f8")),
    )
    with cq.create_table(tmp_path / "t.h5", schema, layout=layout, chunk_rows=64) as table:
        table.resize(200)
        assert set(table["i"][:].tolist()) == {7}
        assert set(table["e"][:].tolist()) == {2}
        assert set(table["z"][:].tolist()) == {0.0}
        assert table.where("i == 7").count() == 200


def test_nulls_and_texts_are_added(tmp_path):
    schema = (
        ColumnSpec("t", TEXT),
        ColumnSpec("maybe", TEXT, nullable=True),
        ColumnSpec("n", np.dtype("i8"), nullable=True),
        ColumnSpec("c", TEXT, categories=("x", "y")),
    )
    with cq.create_table(tmp_path / "t.h5", schema, chunk_rows=64) as table:
        table.append({"t": ["ab", "c"], "maybe": ["q", None], "n": [1, None], "c": ["y", None]})
        table.resize(150)
        assert table["t"][:].tolist() == ["ab", "c", *[""] * 148]
        assert table["maybe"][:].tolist() == ["q", *[None] * 149]
        assert table.where("n is null").count() == table.where("c is null").count() == 149
        assert table.where("t == ''").count() == 148
        table.append({"t": ["last"], "maybe": ["last"], "n": [9], "c": ["x"]})
        last = table[150]
        assert [last[name] for name in table.columns] == ["last", "last", 9, "x"]


@pytest.mark.parametrize("rows", [10**9, 10**12])
def test_a_huge_table_of_zeros(tmp_path, rows):
    """All of this would take hours, or no memory would be enough, if zeros were looked at one by one."""
    path = tmp_path / "t.h5"
    with cq.create_table(path, HUGE, layout="rows", chunk_rows=1 << 25) as table:
        table.resize(rows)
    assert path.stat().st_size < 1 << 20
    with cq.open_table(path) as table:
        assert len(table) == rows
        for place in (0, 5, rows // 2 + 3, -1):
            same(table[place], np.zeros((), HUGE))
        same(table[rows - 100 :], np.zeros(100, HUGE))
        few = table.where("lat > 10")
        explained = few.explain()
        assert explained.rows == rows
        assert explained.matched == 0
        assert explained.scan["boxes_decoded"] == 0
        assert explained.scan["boxes_skipped"] == explained.scan["boxes"]
        assert few.count() == 0
        assert table.explain().matched == table.where("lat == 0").explain().matched == rows
        assert few.to_numpy().shape == (0,)


def test_explain_tells_what_is_decoded(tmp_path):
    with make(tmp_path, "columns", records(3000)) as table:
        report = table.where("a > 0", start=100).head(50).explain()
        assert report.matched == 50
        assert 0 < report.scan["boxes_decoded"] <= report.scan["boxes"]


@both_layouts
def test_conditions_that_are_remembered_follow_the_table(tmp_path, layout):
    data = records(900)
    with make(tmp_path, layout, data) as table:
        texts = ["a > 3", "(a > 3) & f", "a in (1, 2)", "s == 'A'", "startswith(s, 'B')", "u > 5"]

        def check(data):
            wanted = [
                *(data["a"] > 3, (data["a"] > 3) & data["f"], np.isin(data["a"], [1, 2]), data["s"] == b"A"),
                *(np.strings.startswith(data["s"], b"B"), data["u"] > 5),
            ]
            for text, mask in zip(texts, wanted, strict=True):
                assert table.where(text).count() == mask.sum()
                same(table.where(text).to_numpy("a"), data["a"][mask])

        check(data)
        check(data)
        other = records(900, seed=5)
        # As many rows as before, and not the same ones.
        table.truncate(400)
        table.append(other[:500])
        data = np.concatenate([data[:400], other[:500]])
        check(data)
        table[10:600] = other[300:890]
        data[10:600] = other[300:890]
        check(data)
        table.append(other)
        data = np.concatenate([data, other])
        check(data)
        if layout == "columns":
            table.drop_column("u")
            table.rename_column("b", "u")
            texts[5:] = ["u > 0"]
            assert table.where("u > 0").count() == (data["b"] > 0).sum()
        for low in (1, 1.0, True, 2, -3):
            assert table.where("a > low", {"low": low}).count() == (data["a"] > low).sum()
        bound = np.array(1)
        for low in (1, 4):
            bound[...] = low
            assert table.where("a > bound", {"bound": bound}).count() == (data["a"] > low).sum()


def test_categories_that_come_are_found_by_known_conditions(tmp_path):
    with cq.create_table(tmp_path / "t.h5", (ColumnSpec("c", TEXT, categories=("x",)),)) as table:
        table.append({"c": ["x", None]})
        assert table.where("c == 'y'").count() == 0
        table.modify("c is null", {"c": "y"})
        assert table.where("c == 'y'").count() == 1


@both_layouts
@pytest.mark.parametrize("dtype", [FLAT, NESTED])
def test_records_are_filled_by_windows(tmp_path, layout, dtype, monkeypatch):
    if layout == "columns" and dtype is NESTED:
        pytest.skip("columns have no nests")
    monkeypatch.setattr(gathering, "_FILLED_BYTES", 1 << 12)
    data = records(6000, dtype)
    with make(tmp_path, layout, data) as table:
        names = list(dtype.names)[::-1]
        for start, stop, step in ((0, 6000, 1), (37, 5990, 1), (100, 600, 7), (3, 3, 1), (700, 705, 1)):
            same(table.read(start=start, stop=stop, step=step), data[start:stop:step])
            same(table.read(names, start, stop, step), data[names][start:stop:step])
            same(table[start:stop:step], data[start:stop:step])
            same(table[stop - 1 : start : -step], data[stop - 1 : start : -step])
        same(table.head(5000).to_numpy(), data[:5000])


def test_masks_are_filled_by_windows(tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "_FILLED_BYTES", 1 << 10)
    values = np.ma.MaskedArray(np.arange(2000), np.arange(2000) % 3 == 1)
    values.mask[:1000] = False
    texts = [None if at % 5 == 2 else str(at) for at in range(2000)]
    data = {"n": values, "x": np.arange(2000.0), "t": texts}
    with cq.create_table(tmp_path / "t.h5", data, chunk_rows=64) as table:
        for rows in (slice(0, 2000), slice(5, 1990), slice(1, 1500, 2)):
            found = table.read(start=rows.start, stop=rows.stop, step=rows.step)
            assert found["n"].tolist() == values[rows].tolist()
            assert found["x"].tolist() == data["x"][rows].tolist()
            assert found["t"].tolist() == texts[rows]
