"""One writer, one more that waits, four readers: no row is lost, and none is torn."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import beside

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="needs processes that can be forked, and locks of POSIX"
)


def _side_by_side(kind, folder, seconds):
    path = str(folder / beside.SUBJECTS[beside.KINDS[kind].subject].file)
    beside.make(kind, path)
    command = [sys.executable, "-m", "tests.faults.beside", kind, path, str(seconds)]
    root = Path(__file__).parents[2]
    said = subprocess.run(
        command, cwd=root, capture_output=True, text=True, timeout=seconds + 200, check=True
    )
    reports = [json.loads(line) for line in said.stdout.splitlines()]
    assert len(reports) == 2 + beside.READERS, f"a program ended without a word: {said.stdout}{said.stderr}"
    wrong = [f"{one['program']}: {what}" for one in reports for what in one["wrong"]]
    assert not wrong, f"{kind}: {len(wrong)} complaints: " + "; ".join(wrong[:6])
    assert all(one["commits" if one["program"] == "write" else "looks"] for one in reports), reports
    commits = sum(one["commits"] for one in reports)
    handle = beside.KINDS[kind].open(path, "r")
    try:
        assert beside.KINDS[kind].length(handle) == beside.START + commits * beside.BATCH
        assert beside.complaints(beside.KINDS[kind], handle, 0) == []
    finally:
        handle.close()


@pytest.mark.parametrize("kind", beside.KINDS)
def test_readers_beside_a_writer_see_whole_commits_for_a_second(kind, tmp_path):
    _side_by_side(kind, tmp_path, 1)


@pytest.mark.long
@pytest.mark.parametrize("kind", beside.KINDS)
def test_readers_beside_a_writer_see_whole_commits_for_minutes(kind, tmp_path):
    # Ten minutes in all.
    _side_by_side(kind, tmp_path, 600 / len(beside.KINDS))
