"""Directories that the engine's tables and the Python package wrote, read by the package.

The same directories are read by `crates/coquina/tests/tables/goldens.rs`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coquina as cq

GOLDEN = Path(__file__).parents[1] / "golden"
FOLDERS = sorted((GOLDEN / "tables").iterdir())


def wanted() -> dict[str, Any]:
    """Return the values that both directories were made of."""
    sys.path.insert(0, str(GOLDEN))
    try:
        from make_tables import columns
    finally:
        sys.path.remove(str(GOLDEN))
    return columns()


def listed(values: Any) -> list[Any]:
    """Return values as Python's, None where one is missing."""
    given = np.ma.asarray(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    return [None if one != one else one for one in given.tolist()]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_directories_of_both_languages_have_the_values_that_they_were_made_of(folder: Path) -> None:
    with cq.open_table(folder) as table:
        assert len(table) == 5
        assert table.attrs["title"] == "golden"
        columns = wanted()
        assert list(table.columns) == list(columns)
        assert not table.info["skipped"]
        for name, values in columns.items():
            found = table[name][...]
            if name == "float64":
                np.testing.assert_array_equal(found.view("u8"), np.asarray(values).view("u8"))
            else:
                assert listed(found) == listed(values), name
        assert table.where("int8 >= 2")["text"].tolist() == ["d\n", "😀"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_directories_of_both_languages_are_changed_alike(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    with cq.open_table(copy, mode="r+") as table:
        table.append(wanted())
        table.delete(range(5))
    with cq.open_table(copy) as table:
        assert len(table) == 5
        for name, values in wanted().items():
            assert listed(table[name][...]) == listed(values), name


def test_directories_of_both_languages_are_described_alike() -> None:
    assert [folder.name for folder in FOLDERS] == ["coquina-python-0.1.0", "coquina-rust-0.1.0"]

    def described(folder: Path) -> Any:
        with cq.open_table(folder) as table:
            info = table.info
            kept = ("kind", "dtype", "encoding", "nbytes")
            return {name: {key: one[key] for key in kept} for name, one in info["columns"].items()}

    python, rust = map(described, FOLDERS)
    assert python == rust
