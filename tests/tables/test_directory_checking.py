"""`coquina verify` and `repair` of tables in directories: what is damaged is told, the rest is saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coquina as cq
from coquina.cli import main
from coquina.folder_members import TABLE as NAME

ROWS = 40_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    data = {
        "n": np.arange(ROWS) * 7919 % 10007,
        "x": np.random.default_rng(0).normal(size=ROWS),
        "text": [f"row {n}" for n in range(ROWS)],
    }
    with cq.create_table(tmp_path / "t", data, chunk_rows=4096, index=["n"]) as table:
        table.attrs["unit"] = "mm"
    return tmp_path / "t"


def run(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> dict[str, Any]:
    assert main([*map(str, arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def damage(file: Path, at: float) -> None:
    content = bytearray(file.read_bytes())
    content[int(len(content) * at)] ^= 16
    file.write_bytes(content)


def test_a_good_directory_is_verified_with_its_indexes(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(capsys, "verify", path)
    assert found["damage"] == []
    assert found["narrays"] > 4
    assert found["nchunks"] > 30


@pytest.mark.parametrize("at", [0.5, 0.999, 0.0])
def test_a_damaged_column_is_named_and_the_rest_is_saved(
    path: Path, at: float, capsys: pytest.CaptureFixture[str]
) -> None:
    file = path / "0002.b2nd"
    wanted: dict[str, Any] = {}
    with cq.open_table(path) as table:
        wanted = {name: table[name][:] for name in table.columns}
    damage(file, at)
    if at:
        found = run(capsys, "verify", path, code=1)
        assert {(one["array"], one["file"]) for one in found["damage"]} == {("x", "0002.b2nd")}
    target = path.parent / "good"
    lost = run(capsys, "repair", path, target)["damage"]
    assert {one["column"] for one in lost} == ({"x"} if at == 0.5 else set())
    assert run(capsys, "verify", target)["damage"] == []
    with cq.open_table(target) as table:
        assert table.attrs["unit"] == "mm"
        for name, values in wanted.items():
            found = np.asarray(table[name][:])
            if name == "x" and lost:
                (rows,) = [slice(*one["rows"]) for one in lost]
                assert np.isnan(found[rows]).all()
                assert np.isfinite(np.delete(found, np.arange(ROWS)[rows])).all()
                values[rows] = np.nan
            np.testing.assert_array_equal(found, values)


def test_a_missing_file_is_told_and_its_column_left_out(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path / "0001.b2nd").unlink()
    found = run(capsys, "verify", path, code=1)
    assert [(one["array"], one["file"]) for one in found["damage"]] == [("n", "0001.b2nd")]
    lost = run(capsys, "repair", path, path.parent / "good")["damage"]
    assert [(one["column"], one["rows"]) for one in lost] == [("n", None)]
    with cq.open_table(path.parent / "good") as table:
        assert table.columns == ("x", "text")
        assert table["text"][ROWS - 1] == f"row {ROWS - 1}"


def test_a_damaged_manifest_is_an_error(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(path / NAME, 0.5)
    assert main(["verify", str(path)]) == 1
    assert "checksum" in capsys.readouterr().err
