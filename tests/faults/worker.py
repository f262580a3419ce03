"""The process that has the library of faults loaded, and forks a child for each thing that is asked of it.

Importing takes longer than most children live, so it is done once, here; nothing is computed here, so that
no thread exists when a child is forked. In: a line of JSON for each request. Out: a line of JSON with what
the child has said, line by line, and how it ended.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import time
from typing import Any

#: Seconds after which a child hangs.
PATIENCE = 60


def _say(line: str) -> None:
    os.write(_report, line.replace("\n", " ").encode(errors="replace") + b"\n")


def _say_error(what: str, error: BaseException) -> None:
    words = {"what": what, "type": type(error).__name__, "text": str(error)}
    words["is_os"], words["refuses"] = isinstance(error, OSError), isinstance(error, OSError | ValueError)
    _say(f"raised {json.dumps(words)}")


def make(subject: str, path: str) -> None:
    """Make a file."""
    SUBJECTS[subject].make(path)


def expect(scenario: str, path: str, steps: int) -> None:
    """Make the first steps without faults, and tell the state, and the one after a change more."""
    found = SCENARIOS[scenario]
    handle = found.open(path)
    for step in found.steps[:steps]:
        step(handle)
    found.subject.close(handle)
    _say(f"result {json.dumps(found.subject.state(path))}")
    handle = found.open(path)
    found.subject.go_on(handle)
    found.subject.close(handle)
    _say(f"result {json.dumps(found.subject.state(path))}")


def run(scenario: str, path: str, mode: str, call: int = 0, error: int = 0, log: str = "") -> None:
    """Make all steps with a fault; tell each commit when it is made."""
    found = SCENARIOS[scenario]
    shim = Shim()
    log_fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) if log else -1
    shim.arm(os.path.dirname(path), mode, call, error, _report, log_fd)
    _say("armed")
    handle = None
    try:
        handle = found.open(path)
        for number, step in enumerate(found.steps):
            step(handle)
            shim.note(number + 1)
            _say(f"committed {number + 1}")
    except Exception as problem:
        _say_error("open" if handle is None else "step", problem)
        if handle is not None:
            _use_again(found, handle)
    if handle is not None:
        try:
            found.subject.close(handle)
        except Exception as problem:
            _say_error("close", problem)
    # What is left to do at the end of a program counts too.
    handle = None
    if mode == "count":
        _say(f"calls {shim.disarm()}")


def _use_again(scenario: Any, handle: Any) -> None:
    """Go on after an error: that works, or is refused as often as it is tried."""
    try:
        scenario.subject.go_on(handle)
    except Exception as problem:
        _say_error("again", problem)
    else:
        _say("went_on")
        return
    try:
        scenario.subject.go_on(handle)
    except Exception as problem:
        _say_error("once more", problem)
    else:
        _say("revived")


def judge(scenario: str, path: str) -> None:
    """Tell the state of a file, twice; the state after a change more; and what lies beside it then."""
    found = SCENARIOS[scenario]
    try:
        read_by_others(path)
        for _ in range(2):
            _say(f"result {json.dumps(found.subject.state(path))}")
        handle = found.open(path)
        found.subject.go_on(handle)
        found.subject.close(handle)
        _say(f"result {json.dumps(found.subject.state(path))}")
        _say(f"verified {json.dumps(verified(path))}")
    except Exception as problem:
        _say_error("judge", problem)


def look(subject: str, path: str) -> None:
    """Tell what can be observed of a file that may be damaged, and the errors on the way."""
    _say(f"result {json.dumps(damaged_state_of(SUBJECTS[subject].tell, path))}")


def recover(scenario: str, path: str, out: str) -> None:
    """Recover a file that was killed into another one, and tell that one's state."""
    from coquina.hdf5 import recover as recovered

    recovered(path, out)
    _say(f"result {json.dumps(SCENARIOS[scenario].subject.state(out))}")


REQUESTS = {one.__name__: one for one in (make, expect, run, judge, look, recover)}


def _child(request: dict[str, Any], report: int) -> None:
    global _report
    _report = report
    signal.alarm(PATIENCE)
    REQUESTS[request.pop("do")](**request)


def _lines_of(child: int, pipe: int, seconds: float | None) -> list[str]:
    """Read what a child says until it ends; kill it so many seconds after it has begun."""
    said, deadline = b"", None
    while True:
        if deadline is None and seconds is not None and b"armed\n" in said:
            deadline = time.monotonic() + seconds
        wait = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not select.select([pipe], [], [], wait)[0]:
            os.kill(child, signal.SIGKILL)
            deadline, seconds = None, None
            continue
        more = os.read(pipe, 1 << 16)
        if not more:
            return said.decode().splitlines()
        said += more


def main() -> None:
    """Serve requests until there are no more."""
    assert len(os.listdir("/proc/self/task")) == 1, "a thread was started before a child was forked"
    for line in sys.stdin:
        request = json.loads(line)
        seconds = request.pop("seconds", None)
        # What a program does where it ends may change files, so runs do it; it takes time.
        request_ends_as_programs_do = request["do"] == "run"
        pipe, report = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(pipe)
            try:
                _child(request, report)
            except Exception as problem:
                _say_error("child", problem)
                raise
            if request_ends_as_programs_do:
                return
            os._exit(0)
        os.close(report)
        lines = _lines_of(child, pipe, seconds)
        os.close(pipe)
        status = os.waitpid(child, 0)[1]
        end = os.waitstatus_to_exitcode(status)
        print(json.dumps({"lines": lines, "end": end}), flush=True)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    import importlib
    import pkgutil

    import coquina
    from tests.faults.scenarios import SCENARIOS
    from tests.faults.shim import Shim
    from tests.faults.states import damaged_state_of
    from tests.faults.subjects import SUBJECTS, read_by_others, verified

    # What is imported on first use is so here, and not in each child.
    for name in ("tables", "hdf5", "indexes", "expressions", "cli"):
        package = importlib.import_module(f"coquina.{name}")
        for module in pkgutil.iter_modules(package.__path__, f"coquina.{name}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    del coquina
    # What is there now is for all children: none of them has to look through it, and have its pages copied.
    gc.freeze()
    main()
