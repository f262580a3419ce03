"""Our filters as a plugin for HDF5, in processes of programs that know nothing of coquina."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coquina.plugins import main_library, plugin_path

from . import plugin_worker
from .plugin_worker import BITSHUFFLE, BLOSC, BLOSC2, FILTERS, LZ4, ZSTD

h5py = pytest.importorskip("h5py")
ROOT = Path(__file__).parents[2]
NOWHERE = str(ROOT / "no-plugins-here")


def environment(plugins):
    return os.environ | {"HDF5_PLUGIN_PATH": plugins}


def worker(task, path, *flags, plugins=None):
    """Run a task of `plugin_worker.py`; with our plugins, unless other ones are named."""
    command = [sys.executable, "-m", "tests.hdf5.plugin_worker", task, str(path), *flags]
    env = environment(plugin_path() if plugins is None else plugins)
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-4000:]}"
    return done.stdout


def python(code, plugins=NOWHERE):
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment(plugins))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def tool(name, *arguments):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    command = [found, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(plugin_path()))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    path = tmp_path_factory.mktemp("ours") / "ours.h5"
    worker("write", path, "--ours")
    return path


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    pytest.importorskip("hdf5plugin")
    path = tmp_path_factory.mktemp("theirs") / "theirs.h5"
    worker("write", path, "--peer", plugins=NOWHERE)
    return path


def test_h5py_reads_what_it_wrote_through_the_plugin(ours):
    worker("read", ours, "--ours")


def test_hdf5plugin_reads_what_the_plugin_wrote(ours):
    pytest.importorskip("hdf5plugin")
    worker("read", ours, "--peer", plugins=NOWHERE)


def test_the_plugin_reads_what_hdf5plugin_wrote(theirs):
    worker("read", theirs, "--ours")


def test_parameters_are_completed_as_hdf5plugin_does(ours, theirs):
    def parameters(path):
        lines = worker("facts", path, plugins=NOWHERE).splitlines()
        return {line.split("|")[0]: line.split("|")[1] for line in lines}

    assert len(parameters(ours)) > 150
    assert parameters(ours) == parameters(theirs)


def test_every_chunk_goes_through_the_filter(ours):
    lines = worker("facts", ours, plugins=NOWHERE).splitlines()
    assert {line.split("|")[2] for line in lines} == {"[0]"}


def test_parameters_that_nobody_completed_are_enough(tmp_path):
    worker("bare", tmp_path / "x.h5", plugins=NOWHERE)
    worker("rewrite", tmp_path / "x.h5", "--ours")


def test_parameters_that_are_copied_follow_the_new_dataset(tmp_path):
    worker("copied", tmp_path / "x.h5", "--ours")


def test_damaged_chunks_are_errors(tmp_path):
    worker("damage", tmp_path / "x.h5", "--ours")


def test_threads_use_the_filters_at_once(tmp_path):
    worker("threads", tmp_path / "x.h5", "--ours")


def test_pytables_and_h5py_use_the_plugin_in_one_process(ours):
    pytest.importorskip("tables")
    worker("pytables", ours, "--ours")


def test_netcdf4_and_h5py_use_the_plugin_in_one_process(tmp_path):
    pytest.importorskip("netCDF4")
    worker("netcdf", tmp_path / "x.nc", "--ours")


def test_callers_that_are_no_libhdf5_are_answered():
    worker("c_border", main_library())


@pytest.mark.parametrize("number", [BLOSC, LZ4, BITSHUFFLE, ZSTD, BLOSC2])
def test_each_filter_is_found_first_in_a_process(number):
    code = f"import h5py; print(h5py.h5z.filter_avail({number}), h5py.h5z.filter_avail(32013))"
    assert python(code, plugin_path()) == "True False"
    assert python(code) == "False False"


def test_importing_gives_h5py_the_filters(ours):
    code = f"import coquina.hdf5, h5py; print(h5py.File({str(ours)!r})['blosc-lz4/line'][4999])"
    assert python(code) == "4999.0"
    code = "from coquina.hdf5.plugin import FILTERS, register; print(register(), len(FILTERS))"
    assert python(code) == "() 5"


def test_filters_of_others_are_left_alone():
    pytest.importorskip("hdf5plugin")
    code = "import hdf5plugin, coquina.hdf5; print('coquina_h5plugin' in open('/proc/self/maps').read())"
    assert python(code) == "False"
    code = "import coquina.hdf5, hdf5plugin, h5py; print(h5py.h5z.filter_avail(32026))"
    assert python(code) == "True"


def test_the_command_prints_the_folder():
    done = subprocess.run(
        [sys.executable, "-m", "coquina.cli", "plugin-path"], capture_output=True, text=True
    )
    names = sorted(path.name.split(".")[0] for path in Path(done.stdout.strip()).glob("lib*"))
    assert names == [f"libcoquina_filter_{n}" for n in [32001, 32004, 32008, 32015]] + ["libcoquina_h5plugin"]


@pytest.mark.parametrize("filter_name", FILTERS)
def test_h5dump_reads_what_the_plugin_wrote(ours, filter_name):
    printed = tool("h5dump", "-y", "-w", "1", "-d", f"/{filter_name}/plane", ours)
    body = printed.split("DATA {")[1].split("}")[0].replace(",", " ").split()
    np.testing.assert_array_equal(np.array(body, "f4"), plugin_worker.arrays()["plane"][0].ravel())


@pytest.mark.parametrize("filter_name", FILTERS)
def test_h5repack_writes_through_the_plugin(ours, tmp_path, filter_name):
    number, values = FILTERS[filter_name]
    listed = ",".join(map(str, [number, 1, len(values), *values]))
    path = tmp_path / "x.h5"
    tool("h5repack", "-f", f"/zstd/plane:UD={listed}", ours, path)
    code = f"import h5py; f = h5py.File({str(path)!r}); d = f['zstd/plane']; print(d._filters, d[...].sum())"
    assert python(code, plugin_path()).endswith(str(plugin_worker.arrays()["plane"][0].sum()))
    with h5py.File(path) as file, h5py.File(ours) as old:
        filters = file["zstd/plane"].id.get_create_plist().get_filter(0)
        assert filters[0] == number
        assert filters[2] == old[f"{filter_name}/plane"].id.get_create_plist().get_filter(0)[2]
