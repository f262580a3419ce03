"""Disks that are full or broken at one call: an error, the last commit, a handle that works or is closed."""

import errno

import pytest

from tests.faults.power_cuts import NOTE, SYNC
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
    "move_store_b2d_durable",
    "make_store_b2z_durable",
)
#: Every kind of change, where it waits for the disk: a sync that fails closes the file.
DURABLE = (
    "append_columns_durable",
    "columns_columns_durable",
    "create_index_columns_durable",
    "refresh_index_rows_durable",
    "pytables_index_pytables_rows_durable",
    "modify_text_columns_durable",
    "session_datasets_durable",
    "transaction_tables_durable",
    "rollback_tables_durable",
    "append_directory_durable",
)
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


@pytest.mark.parametrize("name", DURABLE)
def test_a_sync_that_fails_is_an_os_error_whatever_was_going_on(name, laboratory):
    scenario = SCENARIOS[name]
    laboratory.expected(scenario)
    changes = [one for one in laboratory.logged(scenario)[1] if one.kind != NOTE]
    syncs = [number for number, one in enumerate(changes, 1) if one.kind == SYNC]
    # The first ones are of the file and of its journal; more of them, spread over the rest.
    calls = sorted({*syncs[:2], *syncs[2 :: max(1, len(syncs) // FEW)]})
    replies = [laboratory.failed(scenario, Fault("fail", call, errno.EIO)) for call in calls]
    complaints = [one for found in replies for one in found]
    assert calls
    assert not complaints, report(complaints, len(calls))


@pytest.mark.long
@pytest.mark.parametrize("what", FAULTS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_call_that_fails_is_an_error_and_leaves_the_last_commit(name, what, laboratory):
    _failed(laboratory, name, what, None)
