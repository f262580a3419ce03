"""Files that are damaged at rest: an error of ours or the values that were written, and no hang."""

import pytest

from tests.faults.trials import report

SUBJECTS = ("columns", "rows", "defaults", "tables", "directory", "frame", "sparse")
#: Damages of each subject: thousands in all.
FEW, MANY = 12, 10_000 // len(SUBJECTS) + 1


def _damaged(laboratory, name, seeds):
    complaints = [one for seed in seeds for one in laboratory.damaged(name, seed)]
    assert not complaints, report(complaints, len(seeds))


@pytest.mark.parametrize("name", SUBJECTS)
def test_some_damages_are_errors_and_never_other_values(name, laboratory):
    _damaged(laboratory, name, range(FEW))


@pytest.mark.long
@pytest.mark.parametrize("name", SUBJECTS)
def test_thousands_of_damages_are_errors_and_never_other_values(name, laboratory):
    _damaged(laboratory, name, range(MANY))
