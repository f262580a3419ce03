"""The laboratory that all tests of faults share: files are made, and states computed, once."""

from __future__ import annotations

import pytest

from tests.faults.shim import why_not
from tests.faults.trials import Laboratory


@pytest.fixture(scope="session")
def laboratory(tmp_path_factory):
    if reason := why_not():
        pytest.skip(reason)
    laboratory = Laboratory(tmp_path_factory.mktemp("laboratory"))
    yield laboratory
    laboratory.close()
