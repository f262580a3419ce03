"""Programs that are killed at a call that changes a file, within one, and at any moment."""

import zlib

import numpy as np
import pytest

from tests.faults.scenarios import SCENARIOS
from tests.faults.trials import SEED, Fault, points, report

#: What the short suite looks at; the long one takes every scenario and every call.
SHORT = (
    "append_columns",
    "append_columns_latest",
    "append_columns_long",
    "append_columns_durable",
    "modify_text_columns",
    "delete_columns",
    "assign_columns",
    "columns_columns",
    "create_index_columns",
    "refresh_index_columns",
    "append_rows",
    "modify_rows",
    "delete_rows_latest",
    "refresh_index_rows",
    "append_pytables_rows",
    "appending_datasets",
    "appending_datasets_latest",
    "session_datasets",
    "appending_h5py_datasets",
    "assign_datasets",
    "resize_datasets",
    "groups_datasets",
    "transaction_tables",
    "undone_transaction_tables",
    "rollback_tables",
    "replace_path",
    "repack_in_place_path",
    "recover_path",
    "append_directory",
    "replace_directory_path",
    "modify_text_directory",
    "columns_directory",
    "attributes_directory",
    "refresh_index_directory",
    "append_frame",
    "transaction_sparse",
    "compact_frame",
    "make_store_b2d",
    "remove_store_b2d",
    "attributes_store_b2d",
    "tables_store_b2d",
    "move_store_b2z",
    "assign_store_b2z",
)
#: Calls of each scenario in the short suite; those of long tables take long.
FEW, FEWER = 4, 2


def _killed(laboratory, name, mode, most):
    scenario = SCENARIOS[name]
    calls = points(scenario, laboratory.calls(scenario), most)
    complaints = [one for call in calls for one in laboratory.killed(scenario, Fault(mode, call))]
    assert not complaints, report(complaints, len(calls))


@pytest.mark.parametrize("name", SHORT)
def test_a_kill_at_some_call_leaves_a_whole_commit(name, laboratory):
    _killed(laboratory, name, "kill", FEWER if "long" in name else FEW)


@pytest.mark.parametrize("name", SHORT[::6])
def test_a_kill_within_some_write_leaves_a_whole_commit(name, laboratory):
    _killed(laboratory, name, "torn", FEW)


@pytest.mark.long
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_kill_at_every_call_leaves_a_whole_commit(name, laboratory):
    _killed(laboratory, name, "kill", None)


@pytest.mark.long
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_kill_within_every_write_leaves_a_whole_commit(name, laboratory):
    _killed(laboratory, name, "torn", None)


def _recovered(laboratory, name, most):
    scenario = SCENARIOS[name]
    calls = points(scenario, laboratory.calls(scenario), most)
    complaints = [one for call in calls for one in laboratory.recovered(scenario, Fault("kill", call))]
    assert not complaints, report(complaints, len(calls))


@pytest.mark.parametrize("name", ["append_columns", "modify_rows", "assign_datasets_latest"])
def test_recover_after_a_kill_at_some_call_gives_a_whole_commit(name, laboratory):
    _recovered(laboratory, name, FEW)


HDF5 = [
    name for name, one in SCENARIOS.items() if one.subject.file == "x.h5" and "path" not in one.subject.name
]


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in HDF5 if "long" not in name])
def test_recover_after_a_kill_at_every_call_gives_a_whole_commit(name, laboratory):
    _recovered(laboratory, name, None)


def _killed_at_moments(laboratory, name, kills):
    scenario = SCENARIOS[name]
    seconds = laboratory.seconds(scenario)
    moments = np.random.default_rng((SEED, zlib.crc32(name.encode()))).uniform(0, seconds, kills)
    complaints = []
    for moment in moments:
        complaints += laboratory.killed(scenario, Fault("timer", seconds=float(moment)))
    assert not complaints, report(complaints, kills)


@pytest.mark.parametrize("name", ["append_columns", "append_rows", "appending_datasets", "append_frame"])
def test_a_kill_at_some_moments_leaves_a_whole_commit(name, laboratory):
    _killed_at_moments(laboratory, name, FEW)


#: Twenty scenarios are killed at fifty moments each.
MOMENTS = [name for name in SHORT if "long" not in name][:20]


@pytest.mark.long
@pytest.mark.parametrize("name", MOMENTS)
def test_a_kill_at_a_thousand_moments_leaves_a_whole_commit(name, laboratory):
    _killed_at_moments(laboratory, name, 1000 // len(MOMENTS))
