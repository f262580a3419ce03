"""What is not done for a few rows: no zone maps asked, no order sorted again, nothing scanned for no rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coquina as cq
from coquina.indexes.access import disabled
from coquina.indexing import lower, resolve
from coquina.tables import access, homes, ordering

COUNT = 300_000


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("few") / "t.h5"
    rng = np.random.default_rng(3)
    data = {"x": rng.permutation(COUNT) / 4, "y": rng.integers(0, 50, COUNT), "z": np.arange(COUNT)}
    cq.create_table(path, data, index=["x", "z"], chunk_rows=4096).close()
    return path


@pytest.fixture
def table(path: Any) -> Iterator[cq.Table]:
    with cq.open_table(path) as table:
        yield table


@pytest.mark.parametrize(
    ("text", "names", "count"),
    [
        ("x == 100.25", "x", 0),
        ("(x >= 100.25) & (x < 101)", "x", 0),
        ("(x == 7) & (y < 99)", "x", 0),
        ("(x == 7) | (x == 70) & (y < 99)", "x", 0),
        ("(x < 0) & (y < 99)", "x", 0),
        ("x >= 100.25", "", 0),
        ("(x < 70000) & (y < 7)", "", 0),
        ("(x == 7) & (z == 7)", "x,z", 0),
        # That these rows lie together only zone maps tell.
        ("(z > 100000) & (z < 115000)", "", 1),
    ],
)
def test_zone_maps_are_asked_where_that_decides(table: cq.Table, text: str, names: str, count: int) -> None:
    found = table.where(text)
    with disabled():
        wanted = found.row_numbers()
    np.testing.assert_array_equal(found.row_numbers(), wanted)
    assert ",".join(sorted(found.will_use_index())) == names
    condition = found.plan.condition()
    assert condition is not None
    assert access.chosen(table, condition).is_surveyed == bool(count)


def test_what_no_index_has_is_not_scanned(table: cq.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "(x == 7.125) & (y * 3 < 99) | (x < 0) & (y / 2 > 1)"
    monkeypatch.setattr(access, "scan", None)
    assert not len(table.where(text)["y"])
    assert table.where(text).count() == 0
    with pytest.raises(TypeError):
        table.where("x * 2 == 7")["y"]


def test_the_first_rows_of_one_sorted_run_are_not_sorted_again(
    table: cq.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    sorted_x = np.sort(table["x"][:])
    monkeypatch.setattr(ordering, "argsort", None)
    np.testing.assert_array_equal(table.order_by("x").head(30)["x"], sorted_x[:30])
    rows = [row["x"] for row, _ in zip(table.itersorted("x"), range(1200), strict=False)]
    np.testing.assert_array_equal(rows, sorted_x[:1200])
    np.testing.assert_array_equal(table.read_sorted("x", "x", stop=70, step=7), sorted_x[:70:7])
    with pytest.raises(TypeError):
        table.order_by("x", descending=True).head(3)["x"]


def test_a_file_that_is_read_is_asked_once_for_each_name(path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    node_in = homes.node_in

    def counted(group: Any, name: str) -> Any:
        asked.append(f"{group.name}/{name}")
        return node_in(group, name)

    monkeypatch.setattr(homes, "node_in", counted)
    with cq.open_table(path) as table:
        assert table.where("x == 7").count() == 1
    assert any("/offsets" in name for name in asked)
    assert not any("_p_coquina/z" in name for name in asked)
    assert len(asked) == len(set(asked))


def test_the_only_table_is_found_among_what_is_no_other(tmp_path: Any) -> None:
    path = tmp_path / "t.h5"
    cq.create_table(path, {"x": np.arange(9)}, name="/a/t", index=["x"]).close()
    with h5py.File(path, "a") as file:
        file["a/t/within"] = np.zeros(3, "i4,i4")
        file["a/t/within"].attrs["CLASS"] = np.bytes_("TABLE")
        file["_p_hidden/t"] = np.zeros(3, "i4,i4")
        file["_p_hidden/t"].attrs["CLASS"] = np.bytes_("TABLE")
        file["a/loop"] = file["/"]
        file["b/again"] = file["a/t"]
        file["soft"] = h5py.SoftLink("/a/t")
        file["plain"] = np.arange(3)
    with cq.open_table(path) as table:
        assert table.name == "/a/t"
        assert table.columns == ("x",)


@given(st.lists(st.integers(-12, 12), min_size=1, max_size=6), st.integers(1, 12))
def test_row_numbers_select_what_other_keys_of_these_rows_do(numbers: list[int], size: int) -> None:
    rows = np.array(numbers)
    if not all(-size <= row < size for row in numbers):
        with pytest.raises(IndexError) as raised:
            lower(rows, (size,))
        with pytest.raises(IndexError) as wanted:
            np.empty(size)[rows]
        assert str(raised.value) == str(wanted.value)
        return
    found = lower(rows, (size,))
    other = resolve(rows, (size,))
    assert (found.shape, found.kind, found.points) == (other.shape, other.kind, None)
    (axis,) = found.axes
    taken = [axis[0]] if isinstance(axis, tuple) else axis.tolist()
    assert taken == np.arange(size)[rows].tolist()
