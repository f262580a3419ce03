"""Licences of what the wheel contains: each may be shipped, and its text is there. Offline."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from .cargo_tools import cargo_tool

ROOT = Path(__file__).parents[2]


@pytest.fixture
def third_party(monkeypatch):
    return cargo_tool("third_party", monkeypatch)


def test_each_crate_that_is_shipped_has_a_permissive_licence(third_party):
    found = {package["name"]: package["license"] or "none" for package in third_party.shipped()}
    assert {"zstd-sys", "lz4-sys", "libdeflate-sys", "pyo3", "rayon"} <= {*found}
    assert {name: one for name, one in found.items() if not third_party.is_permissive(one)} == {}


def test_a_copyleft_licence_is_noticed(third_party):
    assert third_party.is_permissive("MIT OR GPL-3.0")
    assert third_party.is_permissive("(MIT OR Apache-2.0) AND BSD-3-Clause")
    assert not third_party.is_permissive("MIT AND GPL-3.0")
    assert not third_party.is_permissive("AGPL-3.0-only")


def test_the_file_of_licences_is_that_of_the_crates(third_party):
    assert third_party.FILE.read_text() == third_party.text(), "python tools/third_party.py writes it"
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert third_party.FILE.name in metadata["license-files"]


def test_the_command_prints_the_licences():
    command = [sys.executable, "-m", "coquina.cli", "licenses"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for words in ("BSD 3-Clause", "of libzstd", "of liblz4", "of libdeflate"):
        assert words in said
