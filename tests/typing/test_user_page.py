"""Type checkers take users' code for what it is: pyright on a page of it, on the guide, and on mistakes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = Path(__file__).with_name("user_page.py")
#: Pages of the guide whose code names no other library that has no types.
GUIDE = (
    "README.md",
    "docs/index.md",
    "docs/guide/first-steps.md",
    "docs/guide/arrays.md",
    "docs/computing.md",
    "docs/guide/beamline.md",
    "docs/guide/images.md",
    "docs/guide/looking.md",
)
MISTAKES = """import coquina as cq

cq.open("f.h5", "rw")
cq.asarray([1], clevel=5)
cq.open_table("t.h5").where(3.5).nothing()
with cq.open("f.h5", "w") as f:
    f.create_dataset("x", data=[1], clevel=5)
    f.dataset("x").nothing()
"""


def complaints(*paths: Path) -> str:
    """Return what pyright says of files."""
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, cwd=paths[0].parent).stdout


def test_pyright_takes_a_page_of_user_code():
    assert "0 errors" in complaints(PAGE)


def test_pyright_takes_the_code_of_the_guide(tmp_path):
    # `create_dataset(maxshape=)` was an error: `open(path, "w")` was a file or a store.
    for page in GUIDE:
        blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
        assert blocks, page
        path = tmp_path / f"{Path(page).stem.replace('-', '_')}.py"
        path.write_text("# pyright: reportPossiblyUnboundVariable=false\n" + "\n".join(blocks))
    said = complaints(*sorted(tmp_path.glob("*.py")))
    errors = [line for line in said.splitlines() if " - error: " in line]
    # What an h5py file holds is a group, a dataset or a datatype to its own types.
    assert [line for line in errors if not re.search(r'"(?:Datatype|Group)"', line)] == [], said


def test_type_checkers_know_every_public_name(tmp_path):
    # `cq.view` was an `object`, which cannot be called: names that are imported on demand are listed twice.
    names = sorted({line.split(".")[0] for line in (ROOT / "tests/public_names.txt").read_text().split()})
    path = tmp_path / "names.py"
    path.write_text("import coquina as cq\n" + "".join(f"reveal_type(cq.{name})\n" for name in names))
    said = complaints(path)
    assert said.count("information: Type of") == len(names) > 300, said
    assert re.findall(r'Type of "(\S+)" is "(?:object|Unknown)"', said) == []


def test_pyright_finds_mistakes(tmp_path):
    path = tmp_path / "mistakes.py"
    path.write_text(MISTAKES)
    said = complaints(path)
    for line in (3, 4, 5, 7, 8):
        assert f"mistakes.py:{line}:" in said, said
