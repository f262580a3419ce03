"""What interpreters complete behind `x["`: names in files, groups and stores, columns and fields."""

from __future__ import annotations

import numpy as np

import coquina as cq


def test_names_columns_and_fields_are_completed(tmp_path):
    with cq.open(tmp_path / "f.h5", "w") as file:
        file.create_dataset("g/x", data=[1, 2])
        table = file.create_table("t", {"price": [1.5], "sym": ["a"]}, index=["price"])
        assert file._ipython_key_completions_() == ["g", "t"]
        assert file["g"]._ipython_key_completions_() == ["x"]
        assert table._ipython_key_completions_() == ["price", "sym"]
        assert table.where("price > 1").select("sym")._ipython_key_completions_() == ["sym"]
    records = cq.asarray(np.zeros(3, [("a", "i4"), ("b", "f8")]))
    assert records._ipython_key_completions_() == ["a", "b"]
    assert cq.zeros(3)._ipython_key_completions_() == []
    with cq.open(tmp_path / "s.b2d", "w") as store:
        store["x"] = cq.zeros(3)
        assert store._ipython_key_completions_() == ["x"]
