"""Every Python example of the documents runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import coquina

ROOT = Path(__file__).parents[1]
# `docs/api` and `docs/_build` are made when the site is built.
MADE = (ROOT / "docs/api", ROOT / "docs/_build")
WRITTEN = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not {*MADE} & {*path.parents}]
DOCUMENTS = [ROOT / "README.md", *WRITTEN]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_blocks_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(block, str(path), "exec"), names)


def test_the_readme_has_an_example_and_so_has_each_page_of_the_guide():
    without = {"rust.md", "command.md"}
    pages = [path for path in DOCUMENTS if path.parent.name == "guide" and path.name not in without]
    assert len(pages) > 8
    for path in [ROOT / "README.md", *pages]:
        assert "\n```python\n" in path.read_text(), path


def test_docstring_examples_hold():
    modules = [coquina] + [
        importlib.import_module(f"coquina.{found.name}") for found in pkgutil.iter_modules(coquina.__path__)
    ]
    results = [doctest.testmod(module) for module in modules if "__main__" not in module.__name__]
    assert sum(result.attempted for result in results) >= 3
    assert sum(result.failed for result in results) == 0
