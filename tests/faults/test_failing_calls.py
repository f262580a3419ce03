"""Disks that are full or broken at one call: an error, the last commit, a handle that works or is closed."""

import errno

import pytest

from tests.faults.scenarios import SCENARIOS
from tests.faults.trials import Fault, points, report

SHORT = (
    "append_columns",
    "append_columns_durable",
    "append_columns_latest",
    "modify_text_columns",
    "columns_columns",
    "create_index_columns",
    "delete_rows",
    "appending_datasets",
    "appending_datasets_durable",
    "append_rows",
    "assign_datasets",
    "transaction_tables",
    "repack_in_place_path",
    "append_directory",
    "append_directory_durable",
    "modify_text_directory",
    "columns_directory",
    "resize_frame",
    "transaction_frame_durable",
    "compact_frame_durable",
    "resize_frame_durable",
    "resize_sparse_durable",
)
#: Not sessions that stay open: their rows wait on when a flush fails, and these trials change other things in
#: the file meanwhile, which nobody is to do.
OPEN_SESSIONS = "session_"
FEW = 4
FAULTS = {"ENOSPC": ("fail", errno.ENOSPC), "EIO": ("fail", errno.EIO), "short": ("short", errno.ENOSPC)}


def _failed(laboratory, name, what, most):
    scenario, (mode, error) = SCENARIOS[name], FAULTS[what]
    calls = points(scenario, laboratory.calls(scenario), most)
    complaints = [one for call in calls for one in laboratory.failed(scenario, Fault(mode, call, error))]
    assert not complaints, report(complaints, len(calls))


@pytest.mark.parametrize("name", SHORT)
def test_some_call_that_fails_is_an_error_and_leaves_the_last_commit(name, laboratory):
    # The faults take turns.
    what = list(FAULTS)[SHORT.index(name) % len(FAULTS)]
    # Frames make few calls, and judging them takes little time.
    _failed(laboratory, name, what, None if "_frame" in name else FEW)


@pytest.mark.long
@pytest.mark.parametrize("what", FAULTS)
@pytest.mark.parametrize("name", [name for name in SCENARIOS if not name.startswith(OPEN_SESSIONS)])
def test_every_call_that_fails_is_an_error_and_leaves_the_last_commit(name, what, laboratory):
    _failed(laboratory, name, what, None)
