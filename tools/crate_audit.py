"""Checks the crates of Cargo.lock: where they come from, their licences, and advisories. Offline.

    python tools/crate_audit.py
    python tools/crate_audit.py --database advisory-db    # a clone of https://github.com/rustsec/advisory-db

Every crate must come from crates.io with a checksum, have a licence that allows its use, and be of a
version that no known advisory is about. Without a database, advisories are those of tools/advisories.toml,
a list that was read by hand and can lack new ones; the release fetches the database. The exit code is 1 if
there are complaints.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from third_party import ROOT, is_permissive, shipped

REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"
ADVISORIES = ROOT / "tools/advisories.toml"
#: Of tools that only make a file of the repository, or run in tests. They are not part of what is shipped.
TOOLS = {"cbindgen": "MPL-2.0"}
FENCED = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def locked(path: Path = ROOT / "Cargo.lock") -> list[dict[str, Any]]:
    """Return the crates of others that Cargo.lock names; ours have no source."""
    packages = tomllib.loads(path.read_text())["package"]
    return [one for one in packages if "source" in one or not one["name"].startswith("coquina")]


def sources(packages: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each crate that is not one of crates.io with a checksum."""
    for one in packages:
        if one.get("source") != REGISTRY or not one.get("checksum"):
            yield f"{one['name']} {one['version']}: not from crates.io with a checksum: {one.get('source')}"


def licences() -> Iterator[str]:
    """Yield a line for each crate whose licence is not on the list of third_party.py, or in `TOOLS`."""
    for one in metadata():
        licence = one["license"] or "none"
        if not is_permissive(licence) and TOOLS.get(one["name"]) != licence:
            yield f"{one['name']} {one['version']}: licence {licence}"
    for one in shipped():
        if one["name"] in TOOLS:
            yield f"{one['name']}: is a tool, and is linked into what is shipped"


def metadata() -> list[dict[str, Any]]:
    """Return what cargo knows of all crates of others, those of tests and builds too."""
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version", "1"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [one for one in json.loads(said)["packages"] if one["source"] is not None]


def listed() -> list[dict[str, Any]]:
    """Return the advisories of our own list."""
    return tomllib.loads(ADVISORIES.read_text())["advisory"]


def database(folder: Path) -> list[dict[str, Any]]:
    """Return the advisories of a clone of RustSec's database, without those that were withdrawn."""
    found: list[dict[str, Any]] = []
    for path in sorted(folder.glob("crates/*/RUSTSEC-*.md")):
        fenced = FENCED.search(path.read_text("utf-8"))
        if fenced is None:
            raise ValueError(f"{path}: has no block of TOML")
        table = tomllib.loads(fenced[1])
        if "withdrawn" not in table["advisory"]:
            found.append({**table["advisory"], **table.get("versions", {})})
    if not found:
        raise ValueError(f"{folder}: has no advisories; is it a clone of rustsec/advisory-db?")
    return found


def affected(packages: Iterable[dict[str, Any]], advisories: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each crate of a version that an advisory is about."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for advisory in advisories:
        by_name.setdefault(advisory["package"], []).append(advisory)
    for one in packages:
        for advisory in by_name.get(one["name"], []):
            fine = [*advisory.get("patched", []), *advisory.get("unaffected", [])]
            if not any(is_met(one["version"], wanted) for wanted in fine):
                patched = ", ".join(advisory.get("patched", [])) or "no version"
                yield f"{one['name']} {one['version']}: {advisory['id']}; patched: {patched}"


def is_met(version: str, wanted: str) -> bool:
    """Whether a version meets all parts of a requirement such as `>= 0.9.3, < 0.10.0` or `^1.2`."""
    return all(_is_part_met(_numbers(version), part.strip()) for part in wanted.split(","))


def _is_part_met(version: tuple[int, int, int], part: str) -> bool:
    operator, text = re.fullmatch(r"(>=|<=|>|<|=|\^|~|)\s*(\S+)", part).groups()  # type: ignore[union-attr]
    other = _numbers(text)
    if operator == "^" or not operator:
        first = next((at for at, number in enumerate(other) if number), 2)
        return version >= other and version[: first + 1] == other[: first + 1]
    if operator == "~":
        return version >= other and version[:2] == other[:2]
    return {
        ">=": version >= other,
        "<=": version <= other,
        ">": version > other,
        "<": version < other,
        "=": version == other,
    }[operator]


def _numbers(version: str) -> tuple[int, int, int]:
    """Return major, minor and patch. What is before a release counts as the release."""
    numbers = [int(one) for one in re.split(r"[-+]", version)[0].split(".")]
    major, minor, patch = [*numbers, 0, 0][:3]
    return major, minor, patch


def main() -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", type=Path, help="a clone of RustSec's advisory database")
    folder = parser.parse_args().database
    packages = locked()
    advisories = listed() if folder is None else database(folder)
    said = [*sources(packages), *licences(), *affected(packages, advisories)]
    print(*said, sep="\n", end="\n" if said else "")
    print(f"{len(packages)} crates, {len(advisories)} advisories, {len(said)} complaints")
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
