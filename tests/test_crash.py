"""Programs that are killed, and full disks: the last commit is there, whole, and can be built on."""

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import coquina as cq
from tests.crash_worker import rows_of, step

SEED = 20260101
START = np.arange(40 * 90).reshape(40, 90)
CUT = {"chunks": (16, 50), "blocks": (8, 25), "codec": "lz4"}
KINDS = pytest.mark.parametrize("contiguous", [True, False], ids=["file", "directory"])

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="needs processes that can be forked and killed"
)


class Nursery:
    """Programs that are started and killed."""

    def __init__(self, module="tests.crash_worker"):
        root = Path(__file__).parent.parent
        command = [sys.executable, "-m", module]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=root, text=True, bufsize=1, **pipes)

    def told(self, seconds, name, path, *numbers, is_begun=False):
        """Run a program for so long, kill it, and return the lines that it has told, as words.

        is_begun: count the time from the first line on, not from the start of the program.
        """
        print(name, path, *numbers, file=self.process.stdin)
        started, child = self.process.stdout.readline().split()
        assert started == "started"
        lines = [self.process.stdout.readline().split()] if is_begun else []
        time.sleep(seconds)
        # One that is gone already has told why.
        with suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)
        for line in self.process.stdout:
            if line == "ended\n":
                return lines
            assert not line.startswith("failed"), line
            lines.append(line.split())
        raise AssertionError("the nursery has ended")

    def run(self, name, path, seed, number, seconds):
        """Run a program for so long, kill it, and return the number of the last step that it has told."""
        for _, made in self.told(seconds, name, path, seed, number):
            number = int(made)
        return number

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery()
    yield nursery
    nursery.close()


def kill_again_and_again(nursery, path, contiguous, kills, **cut):
    """Kill programs that change one array one after another, until they have made more steps than `kills`.

    A busy machine makes few steps between two kills: then more programs are killed than `kills`.
    """
    cq.asarray(START, path=path, contiguous=contiguous, **CUT | cut).close()
    x, number, kill = START, 0, 0
    delays = np.random.default_rng(SEED)
    while kill < kills or number <= kills:
        seed, delay = SEED + kill, delays.uniform(0, 0.05)
        told = nursery.run("change", path, seed, number, delay)
        while number < told:
            x = step(seed, number, x)
            number += 1
        # Killed between a commit and the word of it, the file is one step ahead.
        candidates = [x, step(seed, number, x)]
        a = cq.open(path)
        assert a.verify() == [], f"kill {kill}, seed {seed}"
        found = [n for n, y in enumerate(candidates) if a.shape == y.shape and (a[...] == y).all()]
        assert found, f"kill {kill}, seed {seed}: neither step {number} nor the next one"
        x = candidates[found[0]]
        number += found[0]
        kill += 1


@KINDS
def test_killed_programs_leave_their_last_commit(contiguous, nursery, tmp_path):
    kill_again_and_again(nursery, tmp_path / "x.b2nd", contiguous, 25)


def test_killed_programs_leave_their_last_commit_where_records_are_written_in_turns(nursery, tmp_path):
    cut = {"chunks": (2, 4), "blocks": (2, 4)}
    kill_again_and_again(nursery, tmp_path / "x.b2nd", True, 25, **cut)


@pytest.mark.long
@KINDS
def test_very_many_killed_programs_leave_their_last_commit(contiguous, nursery, tmp_path):
    kill_again_and_again(nursery, tmp_path / "x.b2nd", contiguous, 500)


@KINDS
def test_programs_that_are_killed_while_they_write_much_leave_their_last_commit(
    contiguous, nursery, tmp_path
):
    path, made = tmp_path / "x.b2nd", 0
    for seed, delay in enumerate(np.random.default_rng(SEED).uniform(0.01, 0.08, 8)):
        empty = np.zeros((0, 1 << 16), "u1")
        options = {"chunks": (16, 1 << 16), "blocks": (4, 1 << 16), "level": 1, "codec": "lz4"}
        cq.asarray(empty, path=path, contiguous=contiguous, overwrite=True, **options).close()
        number = nursery.run("grow", path, seed, 0, delay)
        a = cq.open(path)
        assert len(a) in (64 * number, 64 * (number + 1))
        assert a.verify() == []
        for n in range(len(a) // 64):
            np.testing.assert_array_equal(a[64 * n : 64 * (n + 1)], rows_of(seed, n))
        made += number
    assert made > 0


def test_what_killed_programs_leave_behind_is_cleared_away(nursery, tmp_path):
    path = tmp_path / "x.b2nd"
    kill_again_and_again(nursery, path, False, 5)
    with cq.open(path, "r+") as a:
        a.compact()
        stored = a.info.nchunks - a.info.special_chunks
    assert len(list(path.glob("*.chunk"))) == stored


@pytest.mark.parametrize("seed", [0, 1], ids=["file", "directory"])
def test_a_kill_while_an_array_is_replaced_leaves_a_whole_one(seed, nursery, tmp_path):
    path, number = tmp_path / "x.b2nd", 0
    cq.asarray(np.full((150, 150), -1), path=path).close()
    for delay in np.random.default_rng(SEED).uniform(0, 0.03, 8):
        number = nursery.run("replace", path, seed, number, delay)
        try:
            a = cq.open(path)
        except FileNotFoundError:
            # A directory is replaced in two steps: the old one aside, the new one in its place.
            assert seed == 1
            assert [hidden for hidden in tmp_path.iterdir() if (hidden / "chunks.b2frame").exists()]
            continue
        values = np.unique(a[...])
        assert len(values) == 1
        assert values[0] in (-1, number - 1, number)


@contextmanager
def disk_of(nbytes):
    """Let no file grow beyond so many bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def full_sizes(path):
    """Return sizes to which the largest file of an array may grow: from nothing to more than it needs."""
    files = path.iterdir() if path.is_dir() else [path]
    largest = max(file.stat().st_size for file in files)
    # Where a file grows at its end only what is beyond counts; a directory gets new files.
    start = 0 if path.is_dir() else largest
    return np.linspace(start, 2 * largest + 4000, 25).astype(int)


def _within_a_transaction(a, rows):
    with a.transaction():
        a.attrs["note"] = "long" * 500
        a[:, ::2] = rows[0, 0]
        a.append(rows)


CHANGES = {
    "append": lambda a, rows: a.append(rows),
    "update": lambda a, rows: a.__setitem__((slice(10, 30), slice(None)), rows[:20]),
    "resize": lambda a, rows: a.resize((100, 200)),
    "attrs": lambda a, rows: a.attrs.__setitem__("note", rows.tobytes()),
    "transaction": _within_a_transaction,
}


@KINDS
@pytest.mark.parametrize("what", CHANGES)
def test_a_full_disk_is_an_error_and_changes_nothing(what, contiguous, tmp_path):
    path, rows = tmp_path / "x.b2nd", np.random.default_rng(SEED).integers(0, 1 << 40, (40, 90))
    cq.asarray(START, path=path, contiguous=contiguous, **CUT).close()
    failed = 0
    with cq.open(path, "r+") as a:
        a.attrs["unit"] = "mm"
        for nbytes in full_sizes(path):
            try:
                with disk_of(nbytes):
                    CHANGES[what](a, rows)
            except OSError:
                failed += 1
            else:
                break
            for array in (a, cq.open(path)):
                np.testing.assert_array_equal(array[...], START)
                assert array.attrs == {"unit": "mm"}
                assert array.verify() == []
        # With room again, the same handle goes on.
        CHANGES[what](a, rows)
        after, attrs = a[...], dict(a.attrs)
    assert failed > 0
    again = cq.open(path)
    assert again.verify() == []
    np.testing.assert_array_equal(again[...], after)
    assert dict(again.attrs) == attrs


@KINDS
def test_an_array_for_which_there_is_no_room_leaves_nothing(contiguous, tmp_path):
    path = tmp_path / "x.b2nd"
    noise = np.random.default_rng(SEED).bytes(40_000)
    for nbytes in (0, 50, 3000, 9999):
        with disk_of(nbytes), pytest.raises(OSError, match="too large"):
            cq.asarray(np.frombuffer(noise), path=path, contiguous=contiguous, level=0, chunks=(4000,))
        assert list(tmp_path.iterdir()) == []


@KINDS
def test_an_array_that_is_to_be_replaced_stays_if_there_is_no_room(contiguous, tmp_path):
    path = tmp_path / "x.b2nd"
    cq.asarray(START, path=path, contiguous=contiguous).close()
    noise = np.frombuffer(np.random.default_rng(SEED).bytes(80_000))
    for nbytes in (100, 20_000):
        with disk_of(nbytes), pytest.raises(OSError, match="too large"):
            cq.asarray(noise, path=path, contiguous=contiguous, overwrite=True, level=0)
        np.testing.assert_array_equal(cq.open(path)[...], START)
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.b2nd"]


def test_compacting_and_copying_on_a_full_disk_change_nothing(tmp_path):
    path = tmp_path / "x.b2nd"
    cq.asarray(START, path=path, **CUT).close()
    with cq.open(path, "r+") as a:
        a[5:9] = START[5:9]
        with disk_of(1000):
            for work in (a.compact, lambda: a.save(tmp_path / "y"), lambda: a.repair(tmp_path / "y")):
                with pytest.raises(OSError, match="too large"):
                    work()
            np.testing.assert_array_equal(a[...], START)
        assert [entry.name for entry in tmp_path.iterdir()] == ["x.b2nd"]
        dead = a.info.dead_bytes
        a.compact()
        assert a.info.dead_bytes < dead
        a.append(START[:1])
    np.testing.assert_array_equal(cq.open(path)[...], np.concatenate([START, START[:1]]))
