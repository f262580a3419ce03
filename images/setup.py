"""Builds the library with Cargo, and puts it beside the Python file.

The crate is `crates/coquina-images` of the repository that this folder is in: wheels are built from there,
and there is no sdist.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
LIBRARY = {"darwin": "libcoquina_images.dylib", "win32": "coquina_images.dll"}.get(
    sys.platform, "libcoquina_images.so"
)


class BuildLibrary(build_py):
    """Copies the Python file, and the library that Cargo makes."""

    def run(self) -> None:
        """Build what the wheel holds."""
        super().run()
        command = ["cargo", "build", "--release", "-q", "-p", "coquina-images", "--target-dir", TARGET]
        subprocess.run(command, check=True, cwd=ROOT)
        self.copy_file(
            str(TARGET / "release" / LIBRARY), str(Path(self.build_lib) / "coquina_images" / LIBRARY)
        )


class WheelForAnyPython(bdist_wheel):
    """A wheel for one system, and every Python: the library knows nothing of Python."""

    def finalize_options(self) -> None:
        """Say that there is machine code in it."""
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        """Return which Python and system it is for."""
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": BuildLibrary, "bdist_wheel": WheelForAnyPython})
