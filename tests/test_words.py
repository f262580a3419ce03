"""Words: docs/terms.md has one meaning for each, and words that were given up are not said to users again."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import coquina as cq
from coquina.cli import COMMANDS

ROOT = Path(__file__).parents[1]
#: Words and turns of phrase that were given up, and what is said in their place.
GIVEN_UP = {
    r"\bfar away\b": "remote",
    r"\bsalvag\w*": "recover",
    r"\bdistrust\w*": "disable the direct access path",
    r"\bopen rows\b": "unindexed rows",
    r"\bwhereabouts\b": "location",
    r"\b(?:is|are) said of\b": "metadata",
    r"\bgot at\b": "access path",
    r"\bknows? what will be read\b": "prefetch",
    r"\bwithout end\b": "unlimited",
    r"\bpeople have\b": "the formats you already use",
    r"\bnot earned\b": "memory is allocated once the data justify it",
    r"\banew\b": "again",
    r"\bhomes\b": "storage",
    r"\btally\b": "error statistics",
    r"\bgears?\b": "access path",
    r"\bpromised\b": "error bound, guaranteed",
    r"\bunder (?:its|a) contract\b": "error bound",
    r"(?<!there )\bis no (?:column|table|array|file|dataset|group|plugin)\b": "is not a column",
    r"\bis none of (?:its|the)\b": "is not one of",
    r"\bsomething (?:of the name|stands there)\b": "exists already",
    r"\bloses something itself\b": "is lossy",
    r"\bknows what is asked\b": "applies to the condition",
    r"\bin whose name\b|\bits author\b": "writer id",
    r"\bmemos?\b": "block cache",
    r"\blends?\b|\blent\b": "reuse",
    r"\bof a chunk of which\b": "if fewer than half of a chunk's blocks change",
    r"\bchoosing nothing\b": "automatic tuning",
    r"\bthat is there is not replaced\b": "existing files are kept",
    r"\bare to be good for\b": "for a goal",
    r"\bother numbers and not\b": "never returns wrong values",
}
OLD = re.compile("|".join(GIVEN_UP), re.IGNORECASE)
#: Parts of public names that were given up, of names in snake case or of types.
OLD_NAMES = {
    "asked", "author", "contract", "distrust", "fallback", "far", "gear", "gears", "held", "hint", "home",
    "homes", "lend", "lends", "lot", "lots", "means", "memo", "nest", "nests", "ordered", "picked", "piece",
    "pieces", "placed", "promise", "promised", "putter", "room", "salvage", "stood", "tail", "tally",
    "telling", "told", "turn", "turns", "way", "ways", "whereabouts",
}  # fmt: skip
#: Public names that were given up as a whole.
OLD_WHOLE_NAMES = {"open_rows"}
PAGES = [
    *(
        ROOT / name
        for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md")
    ),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/internals").glob("*.md")),
    *sorted((ROOT / "docs/guide").glob("*.md")),
]


def prose(path: Path) -> str:
    """Return a page without its code."""
    return re.sub(r"^```.*?^```|`[^`\n]+`", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)


def docstrings() -> dict[str, str]:
    """Return the docstrings of public names."""
    found: dict[str, str] = {}
    for name in (ROOT / "tests/public_names.txt").read_text().split():
        top, *parts = name.split(".")
        try:
            value = getattr(cq, top, None) or importlib.import_module(f"coquina.{top}")
            for part in parts:
                value = getattr(value, part)
        except (AttributeError, ImportError):  # of an instance
            continue
        if inspect.getdoc(value) and "The old name of" not in (inspect.getdoc(value) or ""):
            found[name] = inspect.getdoc(value) or ""
    return found


def errors_of(path: Path) -> str:
    """Return the texts of a module that are not docstrings: its errors, and what it prints."""
    # Not only what stands behind `raise`: functions make the sentences of many errors.
    tree = ast.parse(path.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node.body[0] for node in ast.walk(tree) if isinstance(node, documented) and node.body]
    docs = {id(one.value) for one in found if isinstance(one, ast.Expr)}
    texts = [one for one in ast.walk(tree) if isinstance(one, ast.Constant) and id(one) not in docs]
    return "\n".join(one.value for one in texts if isinstance(one.value, str) and " " in one.value)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_use_no_word_that_was_given_up(path):
    assert OLD.findall(prose(path)) == []


def test_docstrings_of_public_names_use_no_word_that_was_given_up():
    texts = docstrings()
    assert len(texts) > 1000
    assert {
        name: found for name, text in texts.items() if (found := OLD.findall(re.sub(r"`[^`]*`", "", text)))
    } == {}


def test_public_names_have_no_part_that_was_given_up():
    names = (ROOT / "tests/public_names.txt").read_text().split()
    parts = {
        name: set(re.findall(r"[a-z]+", re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower())) for name in names
    }
    assert {name: parts[name] & OLD_NAMES for name in names if parts[name] & OLD_NAMES} == {}
    for name in (name for name in names if name.split(".")[-1] in OLD_WHOLE_NAMES):
        top, *rest = name.split(".")
        value = getattr(cq, top)
        for part in rest:
            value = getattr(value, part)
        assert (inspect.getdoc(value) or "").startswith("The old name of"), name


def test_help_texts_use_no_word_that_was_given_up():
    for command in COMMANDS:
        assert OLD.findall(command.__doc__ or "") == [], command.__name__
        helps = re.findall(r'help=f?"([^"]*)"', inspect.getsource(command))
        assert OLD.findall(" ".join(helps)) == [], command.__name__


def test_errors_use_no_word_that_was_given_up():
    for path in sorted((ROOT / "python/coquina").rglob("*.py")):
        assert OLD.findall(errors_of(path)) == [], path


def test_errors_of_the_engine_use_no_word_that_was_given_up():
    for path in sorted((ROOT / "crates").glob("coquina*/src/**/*.rs")):
        code = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE)
        sentences = [text for text in re.findall(r'"((?:[^"\\\n]|\\.|\\\n)*)"', code) if " " in text]
        assert OLD.findall("\n".join(sentences)) == [], path


def test_each_term_has_one_row():
    rows = re.findall(r"^\| \*\*(.+?)\*\* \|", (ROOT / "docs/terms.md").read_text(), re.MULTILINE)
    terms = [term for row in rows for term in row.split(", ")]
    assert 40 <= len(terms) <= 60
    assert len(terms) == len({*terms})
