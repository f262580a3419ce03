"""Type checkers take users' code for what it is: pyright on a page of it, and on a page with mistakes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).with_name("user_page.py")
MISTAKES = """import coquina as cq

cq.open("f.h5", "rw")
cq.asarray([1], clevel=5)
cq.open_table("t.h5").where(3.5).nothing()
"""


def complaints(path: Path) -> str:
    """Return what pyright says of a file."""
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(path)]
    return subprocess.run(command, capture_output=True, text=True, cwd=path.parent).stdout


def test_pyright_takes_a_page_of_user_code():
    assert "0 errors" in complaints(PAGE)


def test_pyright_finds_mistakes(tmp_path):
    path = tmp_path / "mistakes.py"
    path.write_text(MISTAKES)
    said = complaints(path)
    for line in (3, 4, 5):
        assert f"mistakes.py:{line}:" in said, said
