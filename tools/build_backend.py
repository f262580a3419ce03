"""Builds wheels for pip: the HDF5 plugin, then all else by maturin. `pip install .` and sdists come here.

In: the hooks of PEP 517 and PEP 660. Out: what maturin makes; wheels hold the plugin's libraries.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import maturin

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

# Hooks that are maturin's own.
build_sdist = maturin.build_sdist
get_requires_for_build_editable = maturin.get_requires_for_build_editable
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = ROOT / "python/coquina/plugins"
#: Filters that a library points to the main one for: Blosc, LZ4, bitshuffle, Zstd.
ALIASES = (32001, 32004, 32008, 32015)
PREFIX, SUFFIX = {"darwin": ("lib", ".dylib"), "win32": ("", ".dll")}.get(sys.platform, ("lib", ".so"))


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Build the plugin and the wheel; return the name of the wheel."""
    build_plugins()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Build the plugin, and a wheel that points here; return the name of the wheel."""
    build_plugins()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_plugins() -> None:
    """Build the libraries of the HDF5 plugin, and put them into the package."""
    if sys.platform == "win32":
        return  # The plugin finds libhdf5 by dlopen.
    made = _target()
    _cargo("--release", "-p", "coquina-h5plugin")
    _cargo("--profile", "h5alias", "-p", "coquina-h5alias")
    for path in PLUGINS.glob("lib*"):
        path.unlink()
    main, alias = f"{PREFIX}coquina_h5plugin{SUFFIX}", f"{PREFIX}coquina_h5alias{SUFFIX}"
    shutil.copy(made / "release" / main, PLUGINS / main)
    for number in ALIASES:
        shutil.copy(made / "h5alias" / alias, PLUGINS / f"{PREFIX}coquina_filter_{number}{SUFFIX}")


def _cargo(*options: str) -> None:
    subprocess.run(["cargo", "build", "-q", "--locked", *options], cwd=ROOT, check=True)


def _target() -> Path:
    """Return the folder that cargo builds in, with the target that CARGO_BUILD_TARGET names."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return Path(json.loads(said)["target_directory"]) / os.environ.get("CARGO_BUILD_TARGET", "")


if __name__ == "__main__":
    build_plugins()
