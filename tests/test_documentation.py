"""Every Python example of the documents runs, and prints what is shown of it."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import coquina

ROOT = Path(__file__).parents[1]
# `docs/api` and `docs/_build` are made when the site is built.
MADE = (ROOT / "docs/api", ROOT / "docs/_build")
WRITTEN = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not {*MADE} & {*path.parents}]
DOCUMENTS = [ROOT / "README.md", *WRITTEN]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_blocks_run_and_print_what_is_shown(path, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "extensions"))
    monkeypatch.chdir(tmp_path)
    text = path.read_text()
    assert importlib.import_module("outputs").filled(text, str(path)) == text


def test_other_outputs_are_noticed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "extensions"))
    monkeypatch.chdir(tmp_path)
    outputs = importlib.import_module("outputs")
    page = "```python\nx = 3\nprint(x)\n```\n\n```text\n{}\n```\n\n```python\nprint(x + 1)\n```\n"
    assert outputs.filled(page.format(2), "page") == page.format(3)
    with pytest.raises(ZeroDivisionError):
        outputs.filled("```python\n1 / 0\n```\n", "page")
    with pytest.raises(ValueError, match="rm -r x: is no command of ours"):
        outputs.filled("```console\n$ rm -r x\n```\n", "page")
    said = outputs.filled("```console\n$ coquina codecs\nold\n```\n", "page")
    assert "zstd" in said
    assert "old" not in said


def test_the_readme_has_an_example_and_so_has_each_page_of_the_guide():
    without = {"rust.md", "c.md", "command.md"}
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
