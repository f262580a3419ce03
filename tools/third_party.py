"""Writes the licences of all that is linked into the wheel to LICENSES-third-party.txt.

    python tools/third_party.py

The crates are those that `coquina-py` and the HDF5 plugin use on any system, by `cargo metadata`, without
what runs only at build time. Texts come from the sources of the crates, and of the C libraries inside them.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FILE = ROOT / "LICENSES-third-party.txt"
SHIPPED = ("coquina-py", "coquina-h5plugin", "coquina-h5alias")
#: Licences that may be shipped. Of several that a crate offers, one must be here.
PERMISSIVE = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
}
#: C libraries in the sources of crates.
C_LIBRARIES = {
    "libdeflate-sys": ("libdeflate", "libdeflate/COPYING"),
    "lz4-sys": ("liblz4", "liblz4/lib/LICENSE"),
    "zstd-sys": ("libzstd", "zstd/LICENSE"),
}


def shipped() -> list[dict[str, Any]]:
    """Return what cargo knows of each crate of others that is linked into the wheel, sorted by name."""
    said = subprocess.run(
        ["cargo", "metadata", "--offline", "--locked", "--format-version", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    known = json.loads(said.stdout)
    packages = {package["id"]: package for package in known["packages"]}
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    left = [key for key, package in packages.items() if package["name"] in SHIPPED]
    met = {*left}
    while left:
        for dep in nodes[left.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dep["dep_kinds"])
            if is_linked and dep["pkg"] not in met and not _is_macro(packages[dep["pkg"]]):
                met.add(dep["pkg"])
                left.append(dep["pkg"])
    found = [packages[key] for key in met if packages[key]["source"] is not None]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def is_permissive(expression: str) -> bool:
    """Whether a licence expression of cargo lets us ship: each part of AND has a licence that does."""
    plain = expression.replace("/", " OR ").replace("(", "").replace(")", "")
    return all(any(one.strip() in PERMISSIVE for one in part.split(" OR ")) for part in plain.split(" AND "))


def _is_macro(package: dict[str, Any]) -> bool:
    return any("proc-macro" in target["kind"] for target in package["targets"])


def _texts(package: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each licence of a crate; one of those that may be chosen from."""
    folder = Path(package["manifest_path"]).parent
    files = [
        path
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name.upper().startswith(("LICEN", "COPYING", "UNLICENSE", "NOTICE"))
    ]
    chosen = [path for path in files if "MIT" in path.name.upper()] or files
    for path in chosen:
        yield path.name, path.read_text("utf-8", "replace")
    if package["name"] in C_LIBRARIES:
        library, place = C_LIBRARIES[package["name"]]
        if (folder / place).is_file():
            yield f"of {library}", (folder / place).read_text("utf-8", "replace")


def text() -> str:
    """Return the whole file: each text once, below the crates that it belongs to."""
    owners: dict[str, list[str]] = {}
    for package in shipped():
        title = f"{package['name']} {package['version']} ({package['license']})"
        texts = list(_texts(package)) or [("", "The crate has no text of its licence.\n")]
        for name, body in texts:
            owners.setdefault(body.strip(), []).append(f"{title} {name}".strip())
    parts = [
        "\n".join([*names, "", body]) for body, names in sorted(owners.items(), key=lambda item: item[1])
    ]
    rule = f"\n\n{'=' * 80}\n\n"
    head = "Coquina's wheel contains the following libraries of others, under these licences."
    return rule.join([head, *parts]) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
