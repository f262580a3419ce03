"""The laboratory that all tests of faults share: files are made, and states computed, once."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.faults.shim import why_not
from tests.faults.trials import Laboratory

#: Files in memory: a sync costs nothing there, and calls are the same.
_MEMORY = "/dev/shm"


@pytest.fixture(scope="session")
def laboratory():
    if reason := why_not():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None) as folder:
        laboratory = Laboratory(Path(folder).resolve())
        yield laboratory
        laboratory.close()
