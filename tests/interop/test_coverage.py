"""The page of what is read and written says what is so: each cell is a test that there is, or a reason."""

import ast
import re
from functools import cache
from pathlib import Path

import blosc2
import pytest
import tables

from tests.interop import coverage
from tests.interop.bloscpack_package import bloscpack

ROOT = Path(__file__).parents[2]
PEERS = {"Blosc2": "blosc2", "Bloscpack": "bloscpack", "PyTables": "tables"}
#: Modules of tests that run peers for others.
MAKERS = ("bloscpack_package", "hdf5_makers", "peer_stores", "peer_tables", "pytables_index_cases")


#: Files that their packages wrote are in a folder of their own.
OTHER_NAMES = {"grok": "golden", "openhtj2k": "golden"}


@cache
def tree_of(file):
    return ast.parse((ROOT / file).read_text())


def runs(source, peer):
    """Whether a file of tests imports a peer, in a program that it runs too, or has another file do it."""
    return re.search(rf"import .*\b{peer}\b", source) or any(maker in source for maker in MAKERS)


@pytest.mark.parametrize("row", coverage.ROWS, ids=lambda row: f"{row.system}-{row.kind}-{row.name}")
def test_each_cell_is_a_test_that_runs_the_peer_or_says_why_not(row):
    for cell in (row.read, row.written):
        if not coverage.is_test(cell):
            assert len(cell.split()) > 3, "a reason is a sentence"
            continue
        file, _, name = cell.partition("::")
        functions = [one for one in ast.walk(tree_of(file)) if isinstance(one, ast.FunctionDef)]
        assert name in {one.name for one in functions}
        assert runs((ROOT / file).read_text(), PEERS[row.system]), f"{file} runs no {row.system}"


@cache
def sources_of(file):
    """Return the text of a file of tests, with those of the tests' own modules that it imports."""
    texts = [(ROOT / file).read_text()]
    for one in ast.walk(tree_of(file)):
        if not isinstance(one, ast.ImportFrom) or not (one.level or (one.module or "").startswith("tests")):
            continue
        folder = Path(file).parent if one.level else Path()
        base = folder / (one.module or "").replace(".", "/")
        names = [base, *(base / alias.name for alias in one.names)]
        texts += [(ROOT / f"{name}.py").read_text() for name in names if (ROOT / f"{name}.py").is_file()]
    return "".join(texts).lower()


#: Kinds whose rows have the names that tests call them by.
NAMED = ("codec", "filter", "checksum", "split mode")


@pytest.mark.parametrize("row", [row for row in coverage.ROWS if row.kind in NAMED], ids=lambda row: row.name)
def test_the_test_of_a_cell_names_what_the_row_is_about_and_is_not_skipped(row):
    for cell in filter(coverage.is_test, (row.read, row.written)):
        file, _, name = cell.partition("::")
        word = row.name.lower()
        # Our names of ZFP's modes are longer.
        words = {
            word,
            word.replace("_acc", "").replace("_prec", "").replace("_rate", ""),
            OTHER_NAMES.get(word, word),
        }
        assert any(one in sources_of(file) for one in words), f"{cell} does not name {row.name}"
        (test,) = (one for one in ast.walk(tree_of(file)) if getattr(one, "name", "") == name)
        assert "skip" not in "".join(map(ast.unparse, test.decorator_list))


def modules_of(file):
    """Yield a file of tests, and the tests' own modules that it imports."""
    yield file
    for one in ast.walk(tree_of(file)):
        if not isinstance(one, ast.ImportFrom) or not (one.level or (one.module or "").startswith("tests")):
            continue
        folder = Path(file).parent if one.level else Path()
        base = folder / (one.module or "").replace(".", "/")
        for name in (base, *(base / alias.name for alias in one.names)):
            if (ROOT / f"{name}.py").is_file():
                yield f"{name}.py"


@cache
def definitions(file):
    """Return what a file of tests and those that it imports define: functions, classes and values."""
    found = {}
    for module in dict.fromkeys(modules_of(file)):
        for one in tree_of(module).body:
            names = [one.name] if hasattr(one, "name") else []
            names += [target.id for target in getattr(one, "targets", []) if isinstance(target, ast.Name)]
            names += (
                [one.target.id] if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) else []
            )
            found |= {name: one for name in names if name not in found}
    return found


def reached(file, name):
    """Return all that a test uses of its file and of those that it imports: helpers, fixtures, values."""
    known, left, seen = definitions(file), [name], {}
    while left:
        one = left.pop()
        if one in seen or one not in known:
            continue
        seen[one] = known[one]
        for part in ast.walk(known[one]):
            left += [part.id] if isinstance(part, ast.Name) else []
            left += [part.attr] if isinstance(part, ast.Attribute) else []
            left += [part.arg] if isinstance(part, ast.arg) else []
            # A fixture may be named by `usefixtures`.
            left += [part.value] if isinstance(part, ast.Constant) and isinstance(part.value, str) else []
    return seen


#: What compares values.
COMPARES = ("assert_array_equal", "assert_equal", "assert_allclose", "array_equal", "allclose", "is_same")


def compares_values(nodes):
    """Whether a comparison of values is asserted: by NumPy, or by `==` of something that was read."""
    for node in nodes:
        for one in ast.walk(node):
            if isinstance(one, ast.Call) and ast.unparse(one.func).rpartition(".")[2] in COMPARES:
                return True
            if isinstance(one, ast.Assert) and any(
                isinstance(part, ast.Compare) and any(isinstance(op, ast.Eq) for op in part.ops)
                for part in ast.walk(one.test)
            ):
                return True
    return False


def names_of_peer(file, peer):
    """Return the names of a peer, or of what runs it, in a file of tests and those that it imports."""
    # C-Blosc is of the same house as C-Blosc2.
    packages = {peer, "hdf5plugin", *(["blosc"] if peer == "blosc2" else [])}
    names = set(MAKERS)
    for module in modules_of(file):
        for one in ast.walk(tree_of(module)):
            if isinstance(one, ast.Import):
                names |= {n.asname or n.name for n in one.names if n.name.partition(".")[0] in packages}
            elif isinstance(one, ast.ImportFrom):
                last = (one.module or "").rpartition(".")[2]
                if last in MAKERS or (one.module or "").partition(".")[0] in packages:
                    names |= {n.asname or n.name for n in one.names}
    return names


def calls(nodes, file, peer):
    """Whether something of a peer is called, in this process or in a program that is run in another one."""
    names = names_of_peer(file, peer)
    for node in nodes:
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id in names:
                return True
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and f"import {peer}" in one.value:
                return True
    return False


@pytest.mark.parametrize(
    "row",
    [row for row in coverage.ROWS if row.kind in ("container", "node", "column of a CTable", "chunk")],
    ids=lambda row: f"{row.system}-{row.name}",
)
def test_the_test_of_a_container_or_node_calls_the_peer_and_compares_values(row):
    for cell in filter(coverage.is_test, (row.read, row.written)):
        file, _, name = cell.partition("::")
        found = reached(file, name)
        assert calls(found.values(), file, PEERS[row.system]), f"{cell} does not call {row.system}"
        assert compares_values(found.values()), f"{cell} compares no values"
        assert "skip" not in "".join(map(ast.unparse, found[name].decorator_list))


def listed(system, kind):
    return [row.name for row in coverage.ROWS if (row.system, row.kind) == (system, kind)]


@pytest.mark.parametrize(
    ("system", "kind", "names"),
    [
        ("Blosc2", "codec", [one.name for one in blosc2.Codec]),
        ("Blosc2", "filter", [one.name for one in blosc2.Filter]),
        ("Blosc2", "split mode", [one.name for one in blosc2.SplitMode]),
        ("Blosc2", "tuner", [one.name for one in blosc2.Tuner]),
        ("Bloscpack", "checksum", [one.name for one in bloscpack.checksums.CHECKSUMS]),
        ("PyTables", "compression", list(tables.filters.all_complibs)),
    ],
)
def test_all_that_the_peer_lists_has_a_row_and_nothing_has_two(system, kind, names):
    assert sorted(listed(system, kind)) == sorted(names)


def test_special_chunks_all_have_a_row():
    assert {one.name for one in blosc2.SpecialValue} <= set(listed("Blosc2", "chunk"))


def test_the_page_is_what_the_registry_says():
    path = ROOT / "docs" / "supported-formats.md"
    assert path.read_text() == coverage.page(), (
        "run python -m tests.interop.coverage > docs/supported-formats.md"
    )
