"""What users can name: modules, their names, and the members of classes, against a list.

`public_names.txt` says what there is. A name that goes needs an alias for one version; a new one is added.
"""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import coquina as cq

LIST = Path(__file__).with_name("public_names.txt")
#: Modules that the documentation names, beside the package.
MODULES = ("adapters", "fft", "hdf5", "linalg", "stores", "strings", "tuning")


def members(cls: type) -> set[str]:
    """Return the public members that a class has of this package, or of a class of its own kind."""
    ours = [one for one in cls.__mro__ if one.__module__.startswith("coquina")]
    return {name for one in ours for name in vars(one) if not name.startswith("_")}


def public_names() -> set[str]:
    """Return all names as users write them."""
    found = set()
    for place in ("", *MODULES):
        module = importlib.import_module(f"coquina.{place}".rstrip("."))
        prefix = f"{place}." if place else ""
        for name in getattr(module, "__all__", ()):
            found.add(prefix + name)
            value = getattr(module, name)
            if inspect.isclass(value):
                found |= {f"{prefix}{name}.{member}" for member in members(value)}
    return found


def test_public_names_are_those_of_the_list():
    listed, found = set(LIST.read_text().split()), public_names()
    assert sorted(listed - found) == [], "gone, without an alias"
    assert sorted(found - listed) == [], "new: add them to the list"


def test_a_name_that_goes_is_noticed(monkeypatch):
    monkeypatch.setattr(cq, "__all__", [name for name in cq.__all__ if name != "zeros"])
    assert "zeros" not in public_names()
    assert {"asarray", "Array.append", "hdf5.File"} <= public_names()


def test_importing_takes_few_modules_beyond_numpy():
    # Each costs about half a millisecond, of the sixty that an import may take.
    code = "import sys, numpy; known = set(sys.modules); import coquina; print(len(set(sys.modules) - known))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 75
