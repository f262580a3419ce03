"""Compiles the library of faults, and arms it in a process that has it loaded.

In: a folder, what is to happen, and at which call. Out: faults. `shim.c` says what the modes do.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

MODES = {"count": 1, "kill": 2, "torn": 3, "fail": 4, "short": 5, "log": 6}


def why_not() -> str | None:
    """Return why there can be no faults here; None if there can."""
    if not sys.platform.startswith("linux"):
        return "faults are made by a library that is loaded before the C library of Linux"
    return None if shutil.which("cc") else "needs `cc`, which compiles the library that makes faults"


def compiled(folder: Path) -> Path:
    """Return the library, compiled into a folder."""
    source, out = Path(__file__).with_name("shim.c"), folder / "faults.so"
    command = ["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", out, source, "-ldl", "-lpthread"]
    subprocess.run(command, check=True)
    return out


class Shim:
    """The library in this process, which was started with it."""

    def __init__(self) -> None:
        loaded = ctypes.CDLL(None)
        self._arm, self._note, self._disarm = loaded.faults_arm, loaded.faults_note, loaded.faults_disarm
        self._arm.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_long] + [ctypes.c_int] * 3
        self._note.argtypes = [ctypes.c_long]
        self._disarm.restype = ctypes.c_long

    def arm(
        self, folder: str, mode: str, call: int = 0, error: int = 0, report_fd: int = -1, log_fd: int = -1
    ) -> None:
        """Number the calls from now on. call: at which one it happens. error: what it fails with."""
        self._arm(folder.encode(), MODES[mode], call, error, report_fd, log_fd)

    def note(self, number: int) -> None:
        """Put a number into the log."""
        self._note(number)

    def disarm(self) -> int:
        """Return how many calls there were."""
        return self._disarm()
