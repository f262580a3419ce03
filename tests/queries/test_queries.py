"""The cases of `*.test` files, each over homes and indexes: the same rows in all of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import coquina as cq
from coquina.expressions.functions import FUNCTIONS
from coquina.expressions.grammar import BINARY, COMPARISONS, CONSTANTS, OPTIONS, UNARY
from tests.queries.query_files import Case, read_file
from tests.queries.query_runs import SETUPS, Run, Setup, make, path_of
from tests.queries.query_steps import AGGREGATES, ASKED, LINES
from tests.queries.query_tables import HOMES
from tests.queries.query_values import COMPLEX, FLOATS, INTEGERS, SIZED, TIMES

FILES = sorted(Path(__file__).parent.glob("*.test"))
#: What conditions have beside functions and constants.
QUESTIONS = ("isnull", "is_null", "isna", "notnull", "not_null", "notna", "isin")
QUESTIONS += ("startswith", "endswith", "contains")
NULLS = ("null", "NULL")
CASES = {f"{path.stem}: {case.title}": case for path in FILES for case in read_file(path)}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Tables that no case changes, each made once for each setup."""
    made: dict[tuple[int, str, str | None], cq.Table] = {}

    def table(case: Case, setup: Setup) -> cq.Table:
        key = id(case.table), setup.home, setup.kind
        if key not in made:
            made[key] = make(case.table, setup, tmp_path_factory.mktemp(case.table.name))
        return made[key]

    yield table
    for one in made.values():
        one.close()


@pytest.mark.parametrize("name", CASES)
def test_a_case_gives_the_same_in_all_homes_with_and_without_indexes(name, shared, tmp_path):
    case = CASES[name]
    for setup in SETUPS:
        if setup.home not in case.table.homes:
            continue
        if case.is_change:
            run_changes(case, setup, tmp_path)
        else:
            Run(case, setup, shared(case, setup)).all()


def run_changes(case, setup, folder):
    """Run a case on a table of its own, and its last questions again after the table was closed."""
    with make(case.table, setup, folder) as table:
        run = Run(case, setup, table)
        run.all()
    if setup.home == "memory":
        return
    last = max(at for at, step in enumerate(case.steps) if step.is_change)
    with cq.open_table(path_of(case.table, setup, folder)) as run.table:
        for step in case.steps[last + 1 :]:
            run.step(step)


def test_every_operator_function_and_constant_of_conditions_is_in_a_case():
    used = set()
    for case in CASES.values():
        for step in case.steps:
            if step.error is None:
                for text in step.where:
                    used |= names_in(text.strip())
    operators = {one.__name__ for table in (BINARY, UNARY, COMPARISONS) for one in table}
    operators |= {"And", "Or", "In", "NotIn", "Is", "IsNot"}
    names = {*FUNCTIONS, *OPTIONS, *CONSTANTS, *QUESTIONS, *NULLS, "col", "complex", "True", "False", "None"}
    # A condition has one axis, that of rows, so that there is nothing to reshape.
    names.remove("reshape")
    assert sorted((operators | names) - used) == []


def names_in(text):
    """The operators, names and called methods of a condition."""
    found = set()
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp):
            found.add(type(node.op).__name__)
        elif isinstance(node, ast.Compare):
            found |= {type(one).__name__ for one in node.ops}
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool)):
            found.add(str(node.value))
    return found


def test_there_are_cases_of_all_kinds_of_columns_homes_and_answers():
    columns = [column for case in CASES.values() for column in case.table.columns]
    bases = {*INTEGERS, *FLOATS, *COMPLEX, *SIZED, *TIMES, "bool", "text", "time32", "time64"}
    assert {one.type.base for one in columns} == bases
    assert any(one.is_nullable for one in columns)
    assert any(one.members for one in columns)
    assert any(one.categories for one in columns)
    assert any(one.zone for one in columns)
    assert any(one.shape for one in columns)
    assert any("/" in one.path for one in columns)
    steps = [step for case in CASES.values() for step in case.steps]
    assert len(CASES) >= 200
    for line in LINES:
        assert any(line in step.has for step in steps), line
    assert {one.kind for step in steps for one in step.aggregates} == set(AGGREGATES)
    assert {step.ask[0] for step in steps if step.ask} == set(ASKED)
    assert {home for case in CASES.values() for home in case.table.homes} == set(HOMES)


def test_most_cases_of_conditions_ask_indexes():
    steps = [step for case in CASES.values() for step in case.steps if step.where and step.error is None]
    assert sum(bool(step.index) for step in steps) > len(steps) // 2
    assert sum(len(step.index) > 1 for step in steps) > 50
