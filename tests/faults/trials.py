"""Runs scenarios with faults in the worker, and tells what is wrong with what they leave.

In: a scenario, and a fault: a mode of the library and the number of a call, or a time. Out: complaints; none
if the file is at the last commit that was reported or at the next one, whole, and can be built on.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.faults.damages import damage
from tests.faults.power_cuts import Before, Call, committed, leave, read_log
from tests.faults.scenarios import SCENARIOS
from tests.faults.shim import compiled
from tests.faults.states import State, difference
from tests.faults.subjects import SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.faults.scenarios import Scenario
    from tests.faults.subjects import Subject

SEED = 20260105
#: Calls whose failure must be an error: whether others were made good in another way is seen in the file.
_SYNCS = ("fsync", "fdatasync")
#: Names within directories that are of no use to anybody once a writer has come and gone.
_TEMPORARY = re.compile(r"\..*|.*\.json\..*|.*\.(tmp|part|journal)")


@dataclass(frozen=True)
class Fault:
    """mode: of the library, or "timer". call: at which one. seconds: when the timer ends."""

    mode: str
    call: int = 0
    error: int = 0
    seconds: float | None = None

    def __str__(self) -> str:
        if self.seconds is not None:
            return f"killed after {self.seconds:.5f} s"
        return f"{self.mode} at call {self.call}" + (f", {errno.errorcode[self.error]}" if self.error else "")


class Reply:
    """What a child has said, and how it ended."""

    def __init__(self, lines: list[str], end: int) -> None:
        self.lines = [line.partition(" ")[::2] for line in lines]
        self.end = end

    def of(self, word: str) -> list[str]:
        """Return what follows a word, in each line that begins with it."""
        return [rest for first, rest in self.lines if first == word]

    def json_of(self, word: str) -> list[Any]:
        """Return that of `of`, as JSON."""
        return [json.loads(rest) for rest in self.of(word)]

    @property
    def committed(self) -> int:
        """How many steps were reported as committed."""
        return max([int(number) for number in self.of("committed")], default=0)

    @property
    def call(self) -> str:
        """The call at which the fault happened, as the library tells it."""
        words = [f"{word} {rest}" for word in ("killed", "torn", "failed", "short") for rest in self.of(word)]
        return words[0] if words else "no such call"

    @property
    def raised(self) -> dict[str, dict[str, Any]]:
        """The errors, by what raised them."""
        return {one["what"]: one for one in self.json_of("raised")}

    def trouble(self) -> str:
        """Return why a child that should have done its work has not."""
        errors = [f"{one['what']}: {one['type']}: {one['text']}" for one in self.raised.values()]
        if self.end:
            errors.append("it hangs" if self.end == -signal.SIGALRM else f"it ended with {self.end}")
        return "; ".join(errors)


class Worker:
    """The process that has the library loaded."""

    def __init__(self, folder: Path) -> None:
        root = Path(__file__).parents[2]
        # NumPy's library for matrices starts threads when it is loaded.
        more = {"LD_PRELOAD": str(compiled(folder)), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment = {**os.environ, **more}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        command = [sys.executable, "-m", "tests.faults.worker"]
        self._errors = (folder / "errors").open("w+")
        self.process = subprocess.Popen(
            command, cwd=root, text=True, bufsize=1, env=environment, stderr=self._errors, **pipes
        )

    def ask(self, do: str, **request: Any) -> Reply:
        """Return what a child says that was asked for this."""
        print(json.dumps({"do": do, **request}), file=self.process.stdin)
        line = self.process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise AssertionError(f"the worker has ended: {self._errors.read()[-3000:]}")
        return Reply(**json.loads(line))

    def close(self) -> None:
        """End it."""
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self._errors.close()


class Laboratory:
    """Files that were made once, states that are expected, and folders in which runs are made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.worker = Worker(folder)
        self._made: dict[str, Path] = {}
        self._told: dict[str, tuple[State, dict[str, str]]] = {}
        self._expected: dict[str, list[tuple[State, State]]] = {}
        self._calls: dict[str, int] = {}

    def close(self) -> None:
        """End the worker."""
        self.worker.close()

    def prepared(self, scenario: Scenario, name: str = "run") -> str:
        """Return the path of a new copy of the scenario's file, in a folder of its own."""
        return self.copied(scenario.subject, name)

    def copied(self, subject: Subject, name: str = "run") -> str:
        """Return the path of a new copy of a subject's file, in a folder of its own."""
        made = self._made.get(subject.name)
        if made is None:
            made = self.folder / "made" / subject.name
            made.mkdir(parents=True, exist_ok=True)
            reply = self.worker.ask("make", subject=subject.name, path=str(made / subject.file))
            assert not reply.trouble(), f"{subject.name} cannot be made: {reply.trouble()}"
            self._made[subject.name] = made
        target = self.folder / name
        shutil.rmtree(target, ignore_errors=True)
        # With their times: indexes are believed as long as a file has the time that they were told.
        shutil.copytree(made, target)
        return str(target / subject.file)

    def expected(self, scenario: Scenario) -> list[tuple[State, State]]:
        """Return the states after each number of steps, and with a change more."""
        found = self._expected.get(scenario.name)
        if found is None:
            found = []
            for steps in range(len(scenario.steps) + 1):
                path = self.prepared(scenario)
                reply = self.worker.ask("expect", scenario=scenario.name, path=path, steps=steps)
                states = reply.json_of("result")
                if len(states) < 2:
                    raise AssertionError(
                        f"{scenario.name}: step {steps} fails without any fault: {reply.trouble()}"
                    )
                found.append((states[0], states[1]))
            self._expected[scenario.name] = found
        return found

    def calls(self, scenario: Scenario) -> int:
        """Return how many calls a run makes that change files."""
        found = self._calls.get(scenario.name)
        if found is None:
            self.expected(scenario)
            path = self.prepared(scenario, "counted")
            reply = self.worker.ask("run", scenario=scenario.name, path=path, mode="count")
            assert not reply.trouble(), f"{scenario.name} fails without any fault: {reply.trouble()}"
            found = self._calls[scenario.name] = int(reply.of("calls")[0])
        return found

    def seconds(self, scenario: Scenario) -> float:
        """Return how long a run takes."""
        self.expected(scenario)
        times = []
        for _ in range(3):
            path = self.prepared(scenario)
            begun = time.perf_counter()
            self.worker.ask("run", scenario=scenario.name, path=path, mode="count")
            times.append(time.perf_counter() - begun)
        return min(times)

    def run(self, scenario: Scenario, fault: Fault) -> tuple[Reply, str]:
        """Run a scenario with a fault; return what it said, and the path of what it left."""
        path = self.prepared(scenario)
        if fault.mode == "timer":
            request = {"mode": "count", "seconds": fault.seconds}
        else:
            request = {"mode": fault.mode, "call": fault.call, "error": fault.error}
        return self.worker.ask("run", scenario=scenario.name, path=path, **request), path

    def logged(self, scenario: Scenario) -> tuple[Before, list[Call]]:
        """Run a scenario without a fault; return the folder before it, and all its calls."""
        path, log = self.prepared(scenario), str(self.folder / "log")
        before = Before.of(os.path.dirname(path))
        reply = self.worker.ask("run", scenario=scenario.name, path=path, mode="log", log=log)
        assert not reply.trouble(), f"{scenario.name} fails without any fault: {reply.trouble()}"
        return before, read_log(log)

    def cut(self, scenario: Scenario, logged: tuple[Before, list[Call]], cut: int, seed: int) -> list[str]:
        """Cut the power after so many calls of a log; return what is wrong with what may be left."""
        before, calls = logged
        done, image = committed(calls, cut), str(self.folder / "image")
        leave(before, calls, cut, seed, image)
        complaints = self.judged(scenario, f"{image}/{scenario.subject.file}", (done, done + 1))
        last = f"{calls[cut - 1].path or 'note'} {calls[cut - 1].kind}" if cut else "nothing"
        return [
            f"{scenario.name}, power cut after call {cut} ({last}), seed {seed}, commit {done}: {one}"
            for one in complaints
        ]

    def judged(
        self, scenario: Scenario, path: str, commits: Iterable[int], *, went_on: bool = False
    ) -> list[str]:
        """Return what is wrong with a file that should be at one of these commits.

        went_on: the change more was made already.
        """
        expected = self.expected(scenario)
        numbers = [number for number in commits if number < len(expected)]
        reply = self.worker.ask("judge", scenario=scenario.name, path=path)
        states = reply.json_of("result")
        if not states:
            return [f"it cannot be read: {reply.trouble()}"]
        wanted = [expected[number][went_on] for number in numbers]
        if states[0] not in wanted:
            return [f"commit {numbers[0]} is lost: {difference(states[0], wanted[0])}"]
        at = numbers[wanted.index(states[0])]
        complaints = []
        if len(states) > 1 and states[1] != states[0]:
            complaints.append(f"opened again it differs: {difference(states[1], states[0])}")
        if len(states) < 3:
            return [*complaints, f"it cannot be built on: {reply.trouble()}"]
        if not went_on and states[2] != expected[at][1]:
            complaints.append(f"with a change more it differs: {difference(states[2], expected[at][1])}")
        complaints += [one for one in reply.json_of("verified") if one]
        if reply.trouble():
            complaints.append(reply.trouble())
        return complaints + self._left_behind(scenario, path)

    def damaged(self, name: str, seed: int) -> list[str]:
        """Damage a file of a subject; return what is wrong with what is read of it then."""
        subject = SUBJECTS[name]
        path = self.copied(subject)
        if name not in self._told:
            self._told[name] = self.worker.ask("look", subject=name, path=path).json_of("result")[0]
        wanted, nothing = self._told[name]
        assert not nothing, f"{name} has errors without any damage: {nothing}"
        how = damage(os.path.dirname(path), seed)
        reply = self.worker.ask("look", subject=name, path=path)
        if not reply.json_of("result"):
            return [f"{name}, {how}, seed {seed}: {reply.trouble()}"]
        found, errors = reply.json_of("result")[0]
        foreign = [f"{one or 'it'}: {error}" for one, error in errors.items() if error.startswith("foreign")]
        if subject.file == "x.h5":
            # Of attributes libhdf5 has no checksums, unless the file is of its newer formats.
            wanted, found = ({k: v for k, v in one.items() if "@" not in k} for one in (wanted, found))
        expected = {one: told for one, told in wanted.items() if not one.startswith(tuple(errors))}
        wrong = {one: told for one, told in found.items() if told != wanted.get(one)}
        # An index that cannot be read is as none: conditions look at the rows.
        missing = {one: told for one, told in expected.items() if one not in found and " index " not in one}
        complaints = foreign[:2]
        if wrong or missing:
            complaints.append(
                difference(wrong, {one: wanted[one] for one in wanted if one in {**wrong, **missing}})
            )
        return [f"{name}, {how}, seed {seed}: {one}" for one in complaints]

    def recovered(self, scenario: Scenario, fault: Fault) -> list[str]:
        """Kill a run and recover what it left; return what is wrong with the new file."""
        reply, path = self.run(scenario, fault)
        done, out = reply.committed, os.path.join(os.path.dirname(path), "out.h5")
        expected = self.expected(scenario)
        recovery = self.worker.ask("recover", scenario=scenario.name, path=path, out=out)
        found, wanted = recovery.json_of("result"), [one[0] for one in expected[done : done + 2]]
        told = f"{scenario.name}, {fault} ({reply.call}), commit {done}"
        if not found:
            return [f"{told}: it cannot be recovered: {recovery.trouble()}"]
        lost = [] if found[0] in wanted else [f"{told}: not recovered: {difference(found[0], wanted[0])}"]
        return lost

    def _left_behind(self, scenario: Scenario, path: str) -> list[str]:
        """Return names of what lies beside or in what was opened for writing and closed."""
        folder = os.path.dirname(path)
        names = set(os.listdir(folder)) - {scenario.subject.file, "out.h5"}
        # Of a file that a kill left without its name, the journal only says who made it.
        names = {one for one in names if one != "out.h5.journal" or os.path.getsize(f"{folder}/{one}") > 64}
        for _, folders, files in os.walk(path):
            names |= {name for name in folders + files if _TEMPORARY.fullmatch(name)}
        left = [name for name in names if not any(re.fullmatch(one, name) for one in scenario.subject.left)]
        return [f"left behind: {', '.join(sorted(left))}"] if left else []

    def killed(self, scenario: Scenario, fault: Fault) -> list[str]:
        """Kill a run, and return what is wrong with what it left."""
        reply, path = self.run(scenario, fault)
        if reply.end != -signal.SIGKILL and reply.trouble():
            return [f"{scenario.name}, {fault}: {reply.trouble()}"]
        done = reply.committed
        complaints = self.judged(scenario, path, (done, done + 1))
        return [f"{scenario.name}, {fault} ({reply.call}), commit {done}: {one}" for one in complaints]

    def failed(self, scenario: Scenario, fault: Fault) -> list[str]:
        """Let one call of a run fail; return what is wrong with how it went on and what it left."""
        reply, path = self.run(scenario, fault)
        done, raised = reply.committed, reply.raised
        complaints = []
        if reply.end:
            complaints.append("it hangs" if reply.end == -signal.SIGALRM else f"it ended with {reply.end}")
        first = next(iter(raised.values()), None)
        if first is None:
            if any(f" {one} " in reply.call for one in _SYNCS) and not self._is_stamp(scenario, fault, reply):
                complaints.append("nothing was raised")
        elif not first["is_os"]:
            complaints.append(f"{first['what']}: {first['type']} instead of OSError: {first['text'][:150]}")
        if "again" in raised and not raised["again"]["refuses"]:
            complaints.append(f"going on raised {raised['again']['type']}: {raised['again']['text'][:150]}")
        if reply.of("revived"):
            complaints.append("going on was refused, and then was not")
        went_on = bool(reply.of("went_on"))
        complaints += self.judged(scenario, path, (done, done + 1), went_on=went_on)
        on = ", went on" if went_on else ""
        return [f"{scenario.name}, {fault} ({reply.call}), commit {done}{on}: {one}" for one in complaints]

    def _is_stamp(self, scenario: Scenario, fault: Fault, reply: Reply) -> bool:
        """Whether the call that failed is for the time of a closed file, after all else: only that is lost.

        By this time indexes know that nobody else has changed the file; without it they look.
        """
        return f" fsync {scenario.subject.file} " in reply.call and fault.call == self.calls(scenario)


def points(scenario: Scenario, calls: int, most: int | None) -> list[int]:
    """Return calls at which something happens: all, or `most` of them by seed, spread over all."""
    only = os.environ.get("COQUINA_FAULT_CALL")
    if only:
        return [int(only)]
    if most is None or calls <= most:
        return list(range(1, calls + 1))
    rng = np.random.default_rng((SEED, zlib.crc32(scenario.name.encode())))
    edges = np.linspace(1, calls + 1, most + 1).astype(int)
    return [int(rng.integers(low, high)) for low, high in pairwise(edges)]


def report(complaints: list[str], faults: int) -> str:
    """Return what a failed test says."""
    shown = "\n  ".join(complaints[:6])
    return f"seed {SEED}: {len(complaints)} complaints at {faults} faults:\n  {shown}"


__all__ = ["SCENARIOS", "SEED", "Fault", "Laboratory", "points", "report"]
