"""The tree of the repository: no file that a program wrote, no merge that is left half done."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Kinds of files that examples, tests and demos write.
WRITTEN = {".b2frame", ".b2nd", ".blp", ".csv", ".h5", ".nc", ".npy", ".npz", ".parquet", ".zip"}
#: The folders whose data files are sources: of other libraries, and the sample of the benchmarks.
DATA = ("tests/", "bench/", "fuzz/")


def tracked() -> list[str]:
    """Return the files of the repository, as git knows them."""
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if found.returncode != 0:
        pytest.skip("the sources are no git repository here")
    return found.stdout.splitlines()


def test_no_data_file_is_tracked_outside_the_folders_of_data():
    # Eight files that examples of a page had written into the root were committed with the page.
    stray = [name for name in tracked() if Path(name).suffix in WRITTEN and not name.startswith(DATA)]
    assert stray == []


def test_git_ignores_what_an_example_writes_into_the_root():
    names = [f"example{suffix}" for suffix in sorted(WRITTEN - {".zip"})]
    found = subprocess.run(["git", "check-ignore", *names], cwd=ROOT, capture_output=True, text=True)
    if found.returncode == 128:
        pytest.skip("the sources are no git repository here")
    assert found.stdout.split() == names


def test_no_merge_is_left_half_done():
    """A docstring once had both sides of a merge: Python does not mind, and no linter reads it."""
    marks = re.compile(rb"^(<{7}|>{7}) ", re.MULTILINE)
    assert [name for name in tracked() if marks.search((ROOT / name).read_bytes())] == []
