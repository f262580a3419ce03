"""Crates come from crates.io, have licences that allow their use, and no known advisory. Offline."""

from __future__ import annotations

import pytest

from .cargo_tools import cargo_tool


@pytest.fixture
def audit(monkeypatch):
    return cargo_tool("crate_audit", monkeypatch)


def test_each_crate_comes_from_crates_io_and_has_a_licence_that_allows_it(audit):
    packages = audit.locked()
    assert len(packages) > 50
    assert [*audit.sources(packages), *audit.licences()] == []


def test_no_crate_has_a_known_advisory(audit):
    assert [*audit.affected(audit.locked(), audit.listed())] == []


def test_each_listed_advisory_is_about_a_crate_that_there_is(audit):
    names = {one["name"] for one in audit.locked()}
    assert {one["package"] for one in audit.listed()} <= names


def test_old_versions_other_sources_and_a_tool_that_is_shipped_are_noticed(audit, monkeypatch):
    old = [{"name": "lz4-sys", "version": "1.9.3", "source": "git+https://example.org", "checksum": "0"}]
    assert "RUSTSEC-2022-0051" in next(audit.affected(old, audit.listed()))
    assert "not from crates.io" in next(audit.sources(old))
    monkeypatch.setattr(audit, "TOOLS", {"rayon": "none"})
    assert any(line.startswith("cbindgen") for line in audit.licences())
    assert any(line.startswith("rayon: is a tool") for line in audit.licences())


@pytest.mark.parametrize(
    ("version", "wanted", "is_met"),
    [
        ("0.29.0", ">= 0.29.0", True),
        ("0.28.9", ">= 0.29.0", False),
        ("0.9.3", ">= 0.9.3, < 0.10.0", True),
        ("0.10.0", ">= 0.9.3, < 0.10.0", False),
        ("1.11.1+lz4-1.10.0", ">1.9.4", True),
        ("1.4.0", "^1.2", True),
        ("2.0.0", "^1.2", False),
        ("0.3.0", "^0.2.1", False),
        ("0.2.9", "~0.2.1", True),
        ("1.0.0", "= 1.0.0", True),
    ],
)
def test_requirements_are_those_of_cargo(audit, version, wanted, is_met):
    assert audit.is_met(version, wanted) is is_met


def test_a_clone_of_the_database_is_read(audit, tmp_path):
    crate = tmp_path / "crates/lz4-sys"
    crate.mkdir(parents=True)
    text = '```toml\n[advisory]\nid = "{}"\npackage = "lz4-sys"\n{}\n[versions]\npatched = []\n```\n\n# Why\n'
    (crate / "RUSTSEC-2030-0001.md").write_text(text.format("RUSTSEC-2030-0001", ""))
    (crate / "RUSTSEC-2030-0002.md").write_text(text.format("RUSTSEC-2030-0002", 'withdrawn = "2030-01-01"'))
    said = [*audit.affected(audit.locked(), audit.database(tmp_path))]
    assert len(said) == 1
    assert "RUSTSEC-2030-0001; patched: no version" in said[0]
    with pytest.raises(ValueError, match="no advisories"):
        audit.database(tmp_path / "crates")
