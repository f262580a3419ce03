"""The wheel and the sdist: what is in them, what they need, and that a user's first lines run from them."""

import email
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import coquina

ROOT = Path(__file__).parents[1]
MATURIN = Path(sys.executable).with_name("maturin")
WHEEL_BYTES_MAX = 8_000_000


def run(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel: what the environment of the tests was built from, so that little is compiled again."""
    folder = tmp_path_factory.mktemp("dist")
    run(MATURIN, "build", "--release", "-q", "-o", folder, cwd=ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def clean_python(wheel, tmp_path_factory):
    """The Python of an environment with the wheel, NumPy and h5py, and nothing else."""
    folder = tmp_path_factory.mktemp("clean")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    packages = next(folder.glob("lib*/python*/site-packages"))
    for module in (np, h5py):
        found = Path(module.__file__).parent
        for part in (found, found.with_name(f"{found.name}.libs")):
            if part.exists():
                (packages / part.name).symlink_to(part)
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", packages, wheel)
    return folder / "bin" / "python"


def test_the_wheel_is_small_and_needs_numpy_and_h5py_only(wheel):
    assert wheel.stat().st_size < WHEEL_BYTES_MAX
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        metadata = email.message_from_bytes(
            content.read(next(name for name in names if name.endswith(".dist-info/METADATA")))
        )
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert {re.match(r"[\w-]+", line)[0] for line in needed} == {"numpy", "h5py"}
    assert metadata["License-Expression"] == "BSD-3-Clause"
    links = [line.partition(", ")[2] for line in metadata.get_all("Project-URL")]
    links += re.findall(r"\]\((.*?)\)", metadata.get_payload())
    assert len(links) > 6
    assert not [link for link in links if not link.startswith("https://")]
    for licence in ("LICENSE", "LICENSES-third-party.txt"):
        assert any(name.endswith(f".dist-info/licenses/{licence}") for name in names)
    for wanted in ("coquina/_core.abi3.so", "coquina/py.typed", "coquina/plugins/libcoquina_h5plugin.so"):
        assert wanted in names
    assert not [name for name in names if name.startswith(("tests/", "bench/", "docs/"))]


def test_the_first_lines_of_the_readme_run_from_the_wheel(clean_python, tmp_path):
    first = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    run(clean_python, "-W", "error", "-c", first, cwd=tmp_path, env=environment)


def test_the_command_runs_from_the_wheel(clean_python, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(1000).reshape(10, 100))
    command = [clean_python, "-m", "coquina.cli"]
    run(*command, "convert", "x.npy", "x.b2nd", cwd=tmp_path)
    assert "105" in run(*command, "cat", "x.b2nd", "[1, 5]", cwd=tmp_path)


def test_importing_takes_numpy_and_the_standard_library_only(clean_python):
    """What is imported takes time: other packages come when they are needed."""
    listed = run(
        clean_python, "-c", "import sys, coquina; print(*{name.partition('.')[0] for name in sys.modules})"
    )
    others = set(listed.split()) - set(sys.stdlib_module_names) - {"numpy", "coquina", "__main__"}
    assert not {name for name in others if not name.startswith("_")}


def test_the_sdist_has_what_building_needs_and_no_more(tmp_path):
    run(MATURIN, "sdist", "-o", tmp_path, cwd=ROOT)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    wanted = {"Cargo.lock", "Cargo.toml", "LICENSE", "README.md", "pyproject.toml", "PKG-INFO"}
    assert wanted <= names
    assert "tools/build_backend.py" in names
    for crate in ("coquina", "coquina-kernels", "coquina-py", "coquina-h5plugin", "coquina-h5alias"):
        assert f"crates/{crate}/Cargo.toml" in names
    assert not [name for name in names if name.endswith((".so", ".h5", ".pyc"))]
    assert not [name for name in names if name.startswith(("tests/", "bench/", "docs/"))]


@pytest.mark.long
def test_the_sdist_builds_a_wheel_with_the_plugin(tmp_path):
    run(MATURIN, "sdist", "-o", tmp_path, cwd=ROOT)
    archive = next(tmp_path.glob("*.tar.gz"))
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path / "built", archive)
    made = next((tmp_path / "built").glob("*.whl"))
    assert made.stat().st_size < WHEEL_BYTES_MAX
    plugins = {name for name in zipfile.ZipFile(made).namelist() if "/plugins/lib" in name}
    ids = {f"coquina/plugins/libcoquina_filter_{number}.so" for number in (32001, 32004, 32008, 32015)}
    assert plugins == ids | {"coquina/plugins/libcoquina_h5plugin.so"}


TWIN = """
import sys
import blosc2
import numpy as np

def forward(input, output, meta, schunk):
    output[:] = input.view("u1") + np.uint8(1)

def backward(input, output, meta, schunk):
    output[:] = input.view("u1") - np.uint8(1)

blosc2.register_filter(160, forward, backward)
blosc2.set_nthreads(1)
blosc2.cparams_dflts["nthreads"] = 1
one = {"nthreads": 1}
ours, theirs = sys.argv[1:]
x = np.arange(10_000).reshape(100, 100)
assert np.array_equal(blosc2.open(ours, dparams=one)[:], x)
cparams = {"filters": [160, 1], "filters_meta": [0, 0], **one}
blosc2.asarray(x, urlpath=theirs, mode="w", cparams=cparams, dparams=one)
"""

EXAMPLE_WRITES = """
import sys
import coquina as cq
import numpy as np

x = np.arange(10_000).reshape(100, 100)
a = cq.asarray(x, filters=["plus_one", "shuffle"], path=sys.argv[1])
assert np.array_equal(a[:], x)
[plugin] = [plugin for plugin in cq.list_plugins() if plugin.name == "plus_one"]
assert (plugin.kind, plugin.id, plugin.is_loaded) == ("filter", 160, True)
"""

EXAMPLE_READS = """
import sys
import coquina as cq
import numpy as np

a = cq.open(sys.argv[1])
assert "plus_one" not in sys.modules or a.info.filters[0][0] == "plus_one"
assert np.array_equal(a[:], np.arange(10_000).reshape(100, 100))
"""


def test_the_example_plugin_works_from_a_clean_environment(clean_python, tmp_path):
    """Built by pip and Cargo, found by its entry point; blosc2 has the same filter as Python functions."""
    packages = next(clean_python.parents[1].glob("lib*/python*/site-packages"))
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    run(*pip, "--target", packages, ROOT / "examples" / "plus-one")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    listed = run(clean_python, "-m", "coquina.cli", "plugins", cwd=tmp_path, env=environment)
    assert "filter  160  the entry point filter-160 = plus_one:library of plus-one 0.1.0" in listed
    ours, theirs = tmp_path / "ours.b2nd", tmp_path / "theirs.b2nd"
    run(clean_python, "-c", EXAMPLE_WRITES, ours, env=environment)
    run(clean_python, "-c", EXAMPLE_READS, ours, env=environment)
    # One thread from the start on: of hundreds of such runs of blosc2 one was ended by a signal.
    run(sys.executable, "-c", TWIN, ours, theirs, env={**os.environ, "BLOSC_NTHREADS": "1"})
    run(clean_python, "-c", EXAMPLE_READS, theirs, env=environment)
    with pytest.raises(coquina.UnsupportedError, match="filter 160"):
        coquina.open(ours)[:]
