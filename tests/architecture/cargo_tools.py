"""Programs in tools/ that ask Cargo about the crates."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


def cargo_tool(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a program; skip the test where there is no Cargo."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed here")
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module(name)
