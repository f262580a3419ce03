"""Builds the library with Cargo, and puts it beside the Python file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
LIBRARY = {"darwin": "libplus_one.dylib", "win32": "plus_one.dll"}.get(sys.platform, "libplus_one.so")


class BuildLibrary(build_py):
    """Copies the Python file, and the library that Cargo makes."""

    def run(self) -> None:
        """Build, and copy."""
        super().run()
        target = HERE / "build" / "cargo"
        command = ["cargo", "build", "--release", "--target-dir", target]
        subprocess.run(command, cwd=HERE, check=True)
        self.copy_file(str(target / "release" / LIBRARY), str(Path(self.build_lib) / "plus_one" / LIBRARY))


class WheelForAnyPython(bdist_wheel):
    """A wheel for one system, and every Python: the library knows nothing of Python."""

    def finalize_options(self) -> None:
        """Say that it is not for every system."""
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        """Return Python, ABI and system."""
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": BuildLibrary, "bdist_wheel": WheelForAnyPython})
