"""The cases of `*.test` files, each over homes and indexes: the same rows in all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import coquina as cq
from tests.queries.query_files import Case, read_file
from tests.queries.query_runs import SETUPS, Run, Setup, make, path_of

FILES = sorted(Path(__file__).parent.glob("*.test"))
CASES = {f"{path.stem}: {case.title}": case for path in FILES for case in read_file(path)}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Tables that no case changes, each made once for each setup."""
    made: dict[tuple[int, Setup], cq.Table] = {}

    def table(case: Case, setup: Setup) -> cq.Table:
        key = id(case.table), setup
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
        Run(case, setup, table).all()
    if setup.home == "memory":
        return
    last = max(at for at, step in enumerate(case.steps) if step.is_change)
    with cq.open_table(path_of(case.table, setup, folder)) as table:
        for step in case.steps[last + 1 :]:
            Run(case, setup, table).step(step)
