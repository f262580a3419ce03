"""What a file shows of itself: a tree, lists and walks without the indexes of its tables."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import tables

import coquina as cq


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.h5"
    with cq.open(path, "w") as f:
        f.create_dataset("raw/images", data=np.zeros((4, 5), "u2"), chunks=(2, 5))
        f.create_table("trades", {"time": np.arange(50), "price": np.arange(50.0)}, index=["time"])
        f["link"] = h5py.SoftLink("/raw/images")
    return path


def test_a_tree_shows_each_object_once_and_a_table_in_a_line(path):
    with cq.open(path) as f:
        size = f["raw/images"].h5.id.get_storage_size()
        lines = str(f.tree()).splitlines()
        assert lines == [
            "/",
            "├── link -> /raw/images",
            "├── raw/",
            f"│   └── images  (4, 5) uint16, chunks (2, 5), {size} B",
            "└── trades  table: time, price",
        ]
        assert repr(f.tree()) == str(f.tree())
        assert str(f["raw"].tree()).splitlines()[0] == "/raw"
        assert "images" not in str(f.tree(depth=1)).partition("raw/\n")[2]
        assert "_p_coquina" in str(f.tree(show_hidden=True))


def test_no_list_and_no_walk_shows_an_index(path):
    with tables.open_file(path.with_name("t.h5"), "w") as peer:
        table = peer.create_table("/", "rows", np.zeros(9, [("a", "i4")]))
        table.cols.a.create_index()
    with cq.open(path.with_name("t.h5")) as f:
        assert list(f) == ["rows"] == list(reversed(f))
        assert len(f) == 1
        assert "_i_rows" in f
        assert f["_i_rows"].name == "/_i_rows"
        assert "_i_rows" in list(f.h5)
        assert "_i_" not in f._repr_html_()
    with cq.open(path) as f:
        met, visited = [], []
        f.visititems(lambda name, node: met.append(name))
        f.visit(visited.append)
        assert met == visited
        assert not [name for name in met if "_p_" in name]
        assert {"raw", "raw/images", "trades", "trades/time"} <= {*met}
        assert "_p_" not in f._repr_html_()


def test_only_names_that_begin_as_hidden_ones_are_hidden(tmp_path):
    """A dataset `max_i_mum` was left out of visits and of the view in notebooks: its name contains `_i_`."""
    names = ["_p_mine", "a_p_b", "group", "group/in_i_side", "max_i_mum"]
    with cq.open(tmp_path / "a.h5", "w") as f:
        for name in names:
            f.create_group(name) if name == "group" else f.create_dataset(name, data=np.arange(3))
        f.create_group("_i_index").create_dataset("x", data=np.arange(3))
        seen: list[str] = []
        f.visit(seen.append)
        assert sorted(seen) == names
        assert sorted(f) == ["_p_mine", "a_p_b", "group", "max_i_mum"]
        assert len(f) == 4
        assert "in_i_side" in str(f.tree())
        assert "max_i_mum" in f._repr_html_()
        assert "_i_index" not in f._repr_html_()
