"""Checks wheels before they are published: size, licences, plugin, links; and installs and uses each one.

    python tools/check_wheel.py dist/*.whl

Needs a network: each wheel is installed with what it depends on in an environment that is removed afterwards.
Exits with 1 at the first fault.
"""

from __future__ import annotations

import email
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

BYTES_MAX = 8_000_000
LICENCES = ("LICENSE", "LICENSES-third-party.txt")
PLUGIN = re.compile(r"coquina/plugins/libcoquina_(h5plugin|filter_\d+)\.(so|dylib)$")
#: A link of Markdown that is relative: it leads nowhere from a package index.
RELATIVE = re.compile(r"\]\((?!https?://|#)[^)]*\)")
TRIAL = """
import h5py, numpy as np, coquina as cq
x = np.arange(60_000.0).reshape(100, 600)
with cq.asarray(x, path="a.b2nd") as a:
    assert np.array_equal(a[3, ::-7], x[3, ::-7]) and a.sum() == x.sum()
with cq.open("a.h5", "w") as f:
    f.create_dataset("d", data=x)
with cq.create_table("t.h5", {"x": [1, 2, 3]}) as t:
    assert t.where("x > 1").count() == 2
"""
READ = "import h5py; assert h5py.File('a.h5')['d'][3, 5] == 1805"


def check(wheel: Path) -> None:
    """Raise AssertionError for a wheel that should not be published."""
    assert wheel.stat().st_size < BYTES_MAX, f"{wheel.stat().st_size} bytes"
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        text = content.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
    for licence in LICENCES:
        assert any(name.endswith(f"/licenses/{licence}") for name in names), f"no {licence}"
    plugins = [name for name in names if PLUGIN.match(name)]
    assert len(plugins) == (0 if "win" in wheel.stem.rpartition("-")[2][:3] else 5), plugins
    body = email.message_from_string(text).get_payload()
    assert not (found := RELATIVE.findall(str(body))), f"relative links in the description: {found[:5]}"
    try_out(wheel, has_plugin=bool(plugins))


def try_out(wheel: Path, *, has_plugin: bool) -> None:
    """Install a wheel, and use it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
        scripts = Path(folder, "venv", "Scripts" if sys.platform == "win32" else "bin")
        python = scripts / "python"
        subprocess.run([python, "-m", "pip", "install", "-q", wheel.resolve()], check=True)
        subprocess.run([python, "-W", "error", "-c", TRIAL], check=True, cwd=folder)
        subprocess.run([scripts / "coquina", "verify", "a.b2nd"], check=True, cwd=folder)
        if has_plugin:
            command = [scripts / "coquina", "plugin-path"]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
            subprocess.run([python, "-c", READ], check=True, cwd=folder, env={"HDF5_PLUGIN_PATH": said})


def main() -> None:
    """Check the wheels that the arguments name."""
    paths = [Path(one) for one in sys.argv[1:]]
    assert paths, "no wheels"
    for path in paths:
        check(path)
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, fine")


if __name__ == "__main__":
    main()
