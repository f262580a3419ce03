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
