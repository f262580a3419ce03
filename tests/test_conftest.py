"""The suite itself: it draws the same cases on every run, and a test that never ends fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

DRAWING = """
from hypothesis import given, settings, strategies as st

@settings(max_examples=5)
@given(seed=st.integers(0, 2**62))
def test_draws(seed):
    print("drawn", seed)
"""

ENDLESS = """
def test_endless():
    seed = 20107
    while True:
        pass
"""

ENDLESS_IN_C = """
import numpy as np

def test_endless_in_c():
    np.take(np.zeros((0, 6, 0)), [1], axis=-3, mode="wrap")
"""


@pytest.fixture
def suite(tmp_path):
    """Run a test file with this suite's settings, and limits of seconds."""

    def run(text: str, *options: str) -> str:
        (tmp_path / "test_it.py").write_text(text)
        (tmp_path / "conftest.py").write_text(
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
            "import tests.conftest; from tests.conftest import pytest_runtest_call\n"
            "tests.conftest.LIMIT = 1\n"
        )
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-s",
            "-p",
            "no:cacheprovider",
            "-c",
            str(ROOT / "pyproject.toml"),
        ]
        ended = subprocess.run(
            [*command, "--rootdir", str(tmp_path), *options, str(tmp_path / "test_it.py")],
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        return ended.stdout + ended.stderr

    return run


def test_random_cases_are_the_same_on_each_run_unless_fresh_ones_are_asked_for(suite):
    # Each run drew its own cases: one of them, on one machine, never ended.
    drawn = {tuple(line for line in suite(DRAWING).splitlines() if "drawn" in line) for _ in range(2)}
    assert len(drawn) == 1
    others = ["--hypothesis-profile=fresh", "--hypothesis-seed=5"]
    fresh = tuple(line for line in suite(DRAWING, *others).splitlines() if "drawn" in line)
    assert len(fresh) == 5
    assert fresh not in drawn


def test_a_test_without_end_fails_with_its_traceback_and_its_seed(suite):
    said = suite(ENDLESS)
    assert "no end after 1 s, seed 20107" in said
    assert "while True" in said
    assert "1 failed" in said


def test_a_loop_in_c_that_never_ends_ends_the_run_with_the_place_it_is_at(suite):
    said = suite(ENDLESS_IN_C, "-o", "faulthandler_timeout=3")
    assert "Timeout" in said
    assert "in test_endless_in_c" in said
