"""Every Python example of the documents runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import coquina

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python_blocks_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(block, str(path), "exec"), names)


def test_the_readme_has_examples():
    assert (ROOT / "README.md").read_text().count("```python") >= 2


def test_docstring_examples_hold():
    modules = [coquina] + [
        importlib.import_module(f"coquina.{found.name}") for found in pkgutil.iter_modules(coquina.__path__)
    ]
    results = [doctest.testmod(module) for module in modules if "__main__" not in module.__name__]
    assert sum(result.attempted for result in results) >= 3
    assert sum(result.failed for result in results) == 0
