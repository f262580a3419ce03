"""Docstrings of public names: a summary, parameters, what is returned and raised, an example that runs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import textwrap
from pathlib import Path

import pytest

import coquina as cq
from coquina.hdf5.h5py_members import Member

LIST = Path(__file__).with_name("public_names.txt")
#: Methods that only other parts of the package call, though their names do not say so.
INNER = re.compile(
    r"Index\..*|.*\.of|Table\.(?:index_store|own|put|ready|set_rows|shared|show|notify_indexes)"
    r"|hdf5\.(?:File|Group)\.(?:adopt|filling|hold|show|take_over)"
    r"|hdf5\.Dataset\.(?:exactly|note_reached|set_error_bound|rounded|shortened|tune|with_zones)"
    r"|(?:Array|hdf5\.Dataset)\.(?:append_items|blocks_of_selection|read_selection|resize_axes)"
)
#: Classes and functions without an example, and why.
WITHOUT_EXAMPLE = {
    "connect": "needs a server",
    "Viewer": "opens a browser",
    "Viewer.close": "opens a browser",
    "Viewer.wait": "opens a browser",
    "BlockInfo": "given to functions of plugins",
    "stores.BatchArray": "only python-blosc2 makes them",
    "stores.BatchArray.close": "only python-blosc2 makes them",
    "stores.FlatArray": "only python-blosc2 makes them",
    "stores.FlatArray.close": "only python-blosc2 makes them",
    "stores.ListArray": "only python-blosc2 makes them",
    "stores.ListArray.close": "only python-blosc2 makes them",
    "stores.ObjectArray": "only python-blosc2 makes them",
    "stores.ObjectArray.close": "only python-blosc2 makes them",
    "Expr.set_selection": "always raises",
    "from_dask": "its example needs a arrays of Dask, in the guide",
}
REFERS = re.compile(r"\b[Ss]ee `|\bAs `|\bas `|as in h5py|`numpy\.")


def public() -> dict[str, object]:
    """Return the classes and functions that users can name."""
    found: dict[str, object] = {}
    for name in LIST.read_text().split():
        top, *parts = name.split(".")
        if INNER.fullmatch(name):
            continue
        value = getattr(cq, top) if hasattr(cq, top) else importlib.import_module(f"coquina.{top}")
        for part in parts:
            value = inspect.getattr_static(value, part) if inspect.isclass(value) else getattr(value, part)
        value = getattr(value, "__func__", value)
        if inspect.isclass(value) or (inspect.isroutine(value) and not isinstance(value, Member)):
            found[name] = value
    return found


PUBLIC = public()


def doc(value: object) -> str:
    return inspect.getdoc(value) or ""


def raised(function: object) -> bool:
    """Whether a function raises an error of its own."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return False
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None]
    return bool(nodes)


def complaints(name: str, value: object) -> list[str]:
    """Return what is missing of the docstring of a class or function."""
    text = doc(value)
    wrong = []
    if not text.split("\n\n")[0].rstrip().endswith("."):
        wrong.append("no summary that is a sentence")
    if ">>> " not in text and name not in WITHOUT_EXAMPLE:
        wrong.append("no example")
    if inspect.isclass(value) or not inspect.isfunction(value):
        return wrong
    given = inspect.signature(value).parameters.values()
    named = [one.name for one in given if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    words = {*re.findall(r"\w+", text.partition(">>> ")[0])}
    unsaid = [one for one in named if one not in ("self", "cls", "stream") and one not in words]
    if len(unsaid) > 1 and not REFERS.search(text):
        wrong.append(f"nothing on {', '.join(unsaid)}")
    if raised(value) and "aise" not in text and not REFERS.search(text):
        wrong.append("nothing on what it raises")
    return wrong


def test_public_docstrings_are_complete():
    found = {name: wrong for name, value in PUBLIC.items() if (wrong := complaints(name, value))}
    assert found == {}


def test_what_is_left_out_is_there():
    assert WITHOUT_EXAMPLE.keys() <= PUBLIC.keys()
    assert all(">>> " not in doc(PUBLIC[name]) for name in WITHOUT_EXAMPLE)
    assert len(PUBLIC) > 700


def test_an_incomplete_docstring_is_noticed():
    def bad(first, second):
        """Do something"""
        raise ValueError("no")

    assert complaints("bad", bad) == [
        "no summary that is a sentence",
        "no example",
        "nothing on first, second",
        "nothing on what it raises",
    ]


@pytest.mark.parametrize("module", sorted({getattr(v, "__module__", "") or "" for v in PUBLIC.values()}))
def test_examples_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    done = set()
    for name, value in PUBLIC.items():
        text = doc(value)
        if (getattr(value, "__module__", "") or "") != module or text in done or "cq.register_" in text:
            continue
        done.add(text)
        found: list[str] = []
        runner.run(parser.get_doctest(text, {}, name, None, None), out=found.append)
        assert found == [], "".join(found)
