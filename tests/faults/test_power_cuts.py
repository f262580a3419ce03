"""Power that is cut: what was synced is there, of the rest any sectors; durable commits are kept."""

import pytest

from tests.faults.power_cuts import CREATE, RENAME, SYNC, TRUNCATE, UNLINK, WRITE, Before, Call, leave
from tests.faults.scenarios import SCENARIOS
from tests.faults.trials import SEED, points, report

DURABLE = tuple(name for name in SCENARIOS if SCENARIOS[name].durable)
SHORT = (
    "append_columns_durable",
    "modify_text_columns_latest_durable",
    "append_rows_durable",
    "assign_datasets_durable",
    "transaction_tables_durable",
    "append_directory_durable",
    "columns_directory_durable",
    "create_index_directory_durable",
    "transaction_frame_durable",
    "compact_frame_durable",
    "append_sparse_durable",
    "make_store_b2d_durable",
    "remove_store_b2z_durable",
)


def _cut(laboratory, name, most, seeds):
    scenario = SCENARIOS[name]
    logged = laboratory.logged(scenario)
    cuts = points(scenario, len(logged[1]), most)
    complaints = [
        one
        for cut in cuts
        for seed in range(seeds)
        for one in laboratory.cut(scenario, logged, cut, SEED + seed)
    ]
    assert not complaints, report(complaints, len(cuts) * seeds)


@pytest.mark.parametrize("name", SHORT)
def test_power_cut_after_some_calls_takes_no_durable_commit_back(name, laboratory):
    _cut(laboratory, name, 4, 1)


@pytest.mark.long
@pytest.mark.parametrize("name", DURABLE)
def test_power_cut_after_every_call_takes_no_durable_commit_back(name, laboratory):
    _cut(laboratory, name, None, 4)


def _left(folder, before, calls):
    """Return all that a power cut at the end may leave, as mappings of names to contents."""
    found = set()
    for seed in range(80):
        leave(before, calls, len(calls), seed, str(folder / "image"))
        files = sorted((one.name, one.read_bytes()) for one in (folder / "image").iterdir())
        found.add(tuple(files))
    return found


def _call(kind, file, path, offset=0, content=b"", second=""):
    return Call(kind, file, offset, path, second, content)


@pytest.fixture
def before(tmp_path):
    root = str(tmp_path / "root")
    return Before(root, {f"{root}/x": 1}, {1: b"a" * 1024}, (root,))


def test_images_have_every_synced_sector_and_any_of_the_others(tmp_path, before):
    path = f"{before.root}/x"
    writes = [
        _call(WRITE, 1, path, 0, b"b" * 1024),
        _call(SYNC, 1, path),
        _call(WRITE, 1, path, 0, b"c" * 1024),
    ]
    wanted = {(("x", first * 512 + second * 512),) for first in (b"b", b"c") for second in (b"b", b"c")}
    assert _left(tmp_path, before, writes) == wanted


def test_images_may_lack_a_length_and_sectors_before_the_last(tmp_path, before):
    path = f"{before.root}/x"
    found = _left(tmp_path, before, [_call(TRUNCATE, 1, path, 100), _call(WRITE, 1, path, 512, b"b" * 1024)])
    contents = {files[0][1] for files in found}
    assert b"a" * 1024 in contents
    assert b"a" * 100 in contents
    assert b"a" * 100 + bytes(924) + b"b" * 512 in contents


def test_images_may_lack_names_but_in_their_order_and_only_before_the_folder_is_synced(tmp_path, before):
    root = before.root
    new = [
        _call(CREATE, 2, f"{root}/new"),
        _call(WRITE, 2, f"{root}/new", 0, b"n"),
        _call(SYNC, 2, f"{root}/new"),
    ]
    moved = [*new, _call(RENAME, 2, f"{root}/new", second=f"{root}/x")]
    old, made = ("x", b"a" * 1024), ("new", b"n")
    assert _left(tmp_path, before, moved) == {(made, old), (("x", b"n"),)}
    assert _left(tmp_path, before, [*moved, _call(SYNC, 9, root)]) == {(("x", b"n"),)}
    assert _left(tmp_path, before, [_call(UNLINK, 1, f"{root}/x"), *new[:2]]) >= {(old,), (), (("new", b""),)}
