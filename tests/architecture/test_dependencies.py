"""Each dependency of Rust and Python has a row in docs/dependencies.md, with its licence and the reason."""

import re
import tomllib
from pathlib import Path

from .pages import table, ticked

ROOT = Path(__file__).parents[2]
PAGE = "docs/dependencies.md"
KINDS = ("Product", "Build, tests and benchmarks")
OURS = re.compile(r"coquina(-[\w-]+)?$")


def rows(page, language):
    """The rows of the tables of a language, as cells, by the name of the package."""
    return {ticked(row[0])[0]: row[1:] for kind in KINDS for row in table(page, f"{kind}: {language}")}


def crates(manifest):
    """The names under all tables of dependencies of a Cargo.toml, those for some systems only too."""
    found = set()
    for name, section in manifest.items():
        if isinstance(section, dict):
            is_table = name in ("dependencies", "dev-dependencies", "build-dependencies")
            found |= set(section) if is_table else crates(section)
    return found


def packages(manifest):
    """What a pyproject.toml names: to run, with an extra, and to build."""
    project = manifest["project"]
    wanted = [*manifest["build-system"]["requires"], *project.get("dependencies", [])]
    wanted += [one for extra in project.get("optional-dependencies", {}).values() for one in extra]
    return {re.match(r"[\w.-]+", one)[0] for one in wanted}


def manifests(name):
    paths = [
        path for folder in ("", "crates", "fuzz", "images", "examples") for path in (ROOT / folder).glob(name)
    ]
    paths += [path for folder in ("crates", "examples") for path in (ROOT / folder).glob(f"*/{name}")]
    assert len(paths) > 2
    return [tomllib.loads(path.read_text()) for path in paths]


def complaints(listed, named):
    named = {name for name in named if not OURS.match(name)}
    without = [f"{name}: has no row in {PAGE}" for name in sorted(named - set(listed))]
    stale = [f"{name}: has a row in {PAGE}, and nothing names it" for name in sorted(set(listed) - named)]
    empty = [f"{name}: an empty cell in {PAGE}" for name, cells in listed.items() if not all(cells)]
    return without + stale + empty


def test_every_dependency_has_a_row_and_every_row_a_dependency():
    page = (ROOT / PAGE).read_text()
    named = set().union(*map(crates, manifests("Cargo.toml")))
    said = complaints(rows(page, "Rust"), named)
    named = set().union(*map(packages, manifests("pyproject.toml")))
    said += complaints(rows(page, "Python"), named)
    assert not said, "\n".join(said)


def test_a_dependency_without_a_row_is_found():
    manifest = tomllib.loads("""
        [workspace.dependencies]
        rayon = "1"
        [target.'cfg(unix)'.dependencies]
        libc = { version = "1" }
        [dev-dependencies]
        proptest.workspace = true
        coquina-kernels.workspace = true
        [lib]
        name = "x"
    """)
    assert crates(manifest) == {"rayon", "libc", "proptest", "coquina-kernels"}
    project = tomllib.loads("""
        [build-system]
        requires = ["maturin>=1"]
        [project]
        dependencies = ["numpy>=2"]
        [project.optional-dependencies]
        dask = ["dask[array]>=1", "coquina[bench]"]
    """)
    assert packages(project) == {"maturin", "numpy", "dask", "coquina"}
    assert complaints({"numpy": ["BSD", ""], "old": ["MIT", "x"]}, {"numpy", "dask", "coquina"}) == [
        f"dask: has no row in {PAGE}",
        f"old: has a row in {PAGE}, and nothing names it",
        f"numpy: an empty cell in {PAGE}",
    ]
