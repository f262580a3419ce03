"""Every Python example of the documents runs, and prints what is shown of it."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import coquina

ROOT = Path(__file__).parents[1]
# `docs/api` and `docs/_build` are made when the site is built.
MADE = (ROOT / "docs/api", ROOT / "docs/_build")
WRITTEN = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not {*MADE} & {*path.parents}]
DOCUMENTS = [ROOT / "README.md", ROOT / "python/README.md", *WRITTEN]
#: What registers a codec or filter, which stays until the program ends: its examples have one of their own.
REGISTERS = re.compile(r"^cq\.register_(?:codec|filter)\(", re.MULTILINE)
PAGE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import outputs
text = Path(sys.argv[2]).read_text()
assert outputs.filled(text, sys.argv[2]) == text
"""


def in_own_process(program, *arguments):
    """Run a program, and show what it says if it fails."""
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def files_of_the_root():
    """Return the files that stand beside the README."""
    return {path.name for path in ROOT.iterdir() if path.is_file()}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_blocks_run_and_print_what_is_shown(path, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "extensions"))
    monkeypatch.chdir(tmp_path)
    text, before = path.read_text(), files_of_the_root()
    if REGISTERS.search(text):
        in_own_process(PAGE, str(ROOT / "docs" / "extensions"), str(path))
    else:
        assert importlib.import_module("outputs").filled(text, str(path)) == text
    assert files_of_the_root() <= before, "the examples write into the repository"


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


def test_files_that_pages_on_the_inside_name_are_there():
    # Files were renamed, and the pages still named the old ones.
    others = ("docs/tuning.md", "docs/guide/extending.md")
    pages = [*(ROOT / "docs/internals").glob("*.md"), *(ROOT / page for page in others)]
    folders = ("crates", "python", "tools", "bench", "tests", "docs")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    names = {str(path.relative_to(ROOT)) for path in found} | {path.name for path in found}
    for page in pages:
        for name in re.findall(r"`([\w./]+\.(?:rs|py|tsv|h))`", page.read_text()):
            assert name in names or any(known.endswith(f"/{name}") for known in names), (page.name, name)


def has_examples(found):
    """Whether the source of a module has examples; modules in subpackages were left out once."""
    source = found.module_finder.find_spec(found.name).origin
    return source.endswith(".py") and ">>>" in Path(source).read_text()


def test_docstring_examples_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [
        found.name for found in pkgutil.walk_packages(coquina.__path__, "coquina.") if has_examples(found)
    ]
    modules = [coquina, *(importlib.import_module(name) for name in names)]
    plain, registering = [], []
    for module in modules:
        examples = [test.docstring for test in doctest.DocTestFinder().find(module)]
        is_registering = any(">>> cq.register_" in text for text in examples)
        (registering if is_registering else plain).append(module)
    results = []
    for module in plain:
        # Examples of several modules write files of the same name.
        (folder := tmp_path / module.__name__).mkdir()
        monkeypatch.chdir(folder)
        results.append(doctest.testmod(module))
    assert sum(result.attempted for result in results) >= 3
    assert sum(result.failed for result in results) == 0
    program = "import doctest, importlib, sys; found = doctest.testmod(importlib.import_module(sys.argv[1]))"
    for module in registering:
        in_own_process(f"{program}; assert found.attempted and not found.failed", module.__name__)
    assert registering


def test_examples_leave_no_codec_or_filter_behind():
    # `lzma` of a page was a codec in all tests that came later in the same process.
    found = {plugin.name for plugin in coquina.list_plugins()}
    assert not found & {"lzma", "row_differences", "flip"}
