"""Indexes of tables in directories: the Rust engine's tables and the package use, extend and change the same.

`crates/coquina/examples/indexes.rs` is the other side.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import coquina as cq
from coquina.indexes.access import disabled

ROOT = Path(__file__).parents[2]
ROWS = 100_000
CONDITIONS = (
    "id == 7919",
    "id == 7",
    "(id >= 1000) & (id < 1010)",
    "name == 'seven'",
    "name == 'name 00123'",
)

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="Rust is not installed")
Engine = Callable[..., list[str]]


@pytest.fixture(scope="module")
def engine() -> Engine:
    """What runs the example with commands, and returns the lines that it prints."""
    program = ROOT / "target" / "debug" / "examples" / "indexes"
    sources = [*(ROOT / "crates").rglob("*.rs"), ROOT / "Cargo.lock"]
    # `cargo test` builds it too: to do so again by other options takes a minute and more.
    if not program.exists() or program.stat().st_mtime < max(one.stat().st_mtime for one in sources):
        build = ["cargo", "build", "--quiet", "--offline", "-p", "coquina", "--example", "indexes"]
        built = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
        if built.returncode:
            pytest.skip(f"the example cannot be built here: {built.stderr[-200:]}")

    def run(*arguments: str | Path) -> list[str]:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    return run


def rows(first: int) -> dict[str, np.ndarray]:
    """Return the rows that the example appends."""
    ids = np.arange(first, first + ROWS) * 7919 % 1_000_003
    return {"id": ids, "name": np.array([f"name {one // 20:05}" for one in ids], object)}


def check(path: Path, engine: Engine) -> None:
    """Assert that both use the indexes, and find the rows of a scan."""
    lines = engine(path, *CONDITIONS)
    with cq.open_table(path) as table:
        for condition, line in zip(CONDITIONS, lines, strict=True):
            with disabled():
                wanted = table.where(condition).row_numbers().tolist()
            found = table.where(condition)
            name = condition.strip("(").split()[0]
            assert found.will_use_index() == {name}
            assert found.row_numbers().tolist() == wanted
            assert line == f"{name} {wanted}"


def append(path: Path) -> None:
    with cq.open_table(path, mode="r+") as table:
        table.append(rows(len(table)))


def change(path: Path) -> None:
    with cq.open_table(path, mode="r+") as table:
        table.modify(np.array([5, 70_000, 99_999]), {"id": [7, 7, -1], "name": ["seven", "seven", "none"]})


def test_the_package_uses_and_keeps_indexes_that_the_engine_made(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "t"
    engine(path, "make")
    check(path, engine)
    append(path)
    check(path, engine)
    change(path)
    check(path, engine)
    engine(path, "append")
    check(path, engine)


def test_the_engine_uses_and_keeps_indexes_that_the_package_made(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "t"
    with cq.create_table(path, rows(0)) as table:
        table.create_index("id")
        table.create_index("name")
    check(path, engine)
    engine(path, "append")
    check(path, engine)
    engine(path, "change")
    check(path, engine)
    append(path)
    check(path, engine)
    with cq.open_table(path, mode="r+") as table:
        table.refresh_index()
    check(path, engine)
