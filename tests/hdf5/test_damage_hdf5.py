"""Damage in HDF5 files gives an error or the right values, never others, and reading always ends.

The law is for files as we make them by default. libhdf5 reads them too, so each lot is read in a process of
its own. What is judged: values, shapes, names of columns, and the attributes that are looked at.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.hdf5 import File
from coquina.hdf5.checking import check

WORKER = Path(__file__).with_name("damage_worker.py")
KINDS = ("arrays", "columns", "rows")


def outcomes(folder, kind, first, last):
    """Return how often each outcome came, and the lines of those that must not be."""
    subprocess.run([sys.executable, WORKER, folder, kind, "make"], check=True, timeout=60)
    count, bad = Counter(), []
    while first < last:
        command = [sys.executable, WORKER, folder, kind, str(first), str(last)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
            try:
                said, _ = worker.communicate(timeout=20 + 0.5 * (last - first))
                fate = "crash"
            except subprocess.TimeoutExpired:
                worker.kill()
                said, _ = worker.communicate()
                fate = "hang"
        lines = [line for line in said.splitlines() if line]
        begun = [line for line in lines if line.split()[1] == "begins"]
        for line in lines:
            outcome = line.split()[1]
            if outcome != "begins":
                count[outcome] += 1
                bad += [line] if outcome in ("wrong", "other") else []
        first = int(begun[-1].split()[0]) + 1 if begun else last
        if not begun or lines[-1].split()[1] == "begins":
            count[fate] += 1
            bad.append(f"{fate}: {lines[-1] if lines else 'nothing was said'}")
    return count, bad


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_give_errors_or_the_right_values(kind, tmp_path):
    count, bad = outcomes(tmp_path, kind, 0, 150)
    assert not bad, bad
    assert count["error"] > 75


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_damaged_files_give_errors_or_the_right_values(kind, tmp_path):
    count, bad = outcomes(tmp_path, kind, 150, 3500)
    assert not bad, bad
    assert count["error"] > 1600


def test_checksums_can_be_refused_and_stay_refused(tmp_path):
    path, items = tmp_path / "x.h5", np.arange(4000)
    with File(path, "w") as file:
        file.create_dataset("with", data=items, chunks=(1000,), maxshape=(None,))
        file.create_dataset("without", data=items, chunks=(1000,), maxshape=(None,), checksums=False)
        file.create_table("table", {"n": items}, checksums=False)
        file.create_table("rows", {"n": items}, layout="rows", checksums=False)
    with File(path, "r+") as file:
        assert (file["with"].checksums, file["without"].checksums) == (True, False)
        for name in ("with", "without"):
            file[name].append(items[:1500])
            file[name][10:20] = 0
            has = [b"coquina_sums" in file[name].read_chunk(one.start) for one in file[name].chunk_iter()]
            assert has == [name == "with"] * 6
        file["table"].append({"n": items})
        file["rows"].append({"n": items})
    with File(path) as file:
        checked = check(file.h5)
        assert sorted(checked.unprotected) == ["/rows", "/table/n", "/without"]
        assert not checked.bad


def test_verify_tells_what_has_no_checksums(tmp_path):
    path, items = tmp_path / "x.h5", np.arange(4000)
    with File(path, "w") as file:
        for name in ("blosc2", "gzip", "none"):
            file.create_dataset(name, data=items, filter=name)
        file.create_dataset("fletcher32", data=items, filter="gzip", fletcher32=True)
        file.create_dataset("empty", (0,), maxshape=(None,))
        file.create_dataset("scalar", data=5)
    with File(path) as file:
        assert sorted(check(file.h5).unprotected) == ["/gzip", "/none", "/scalar"]


def test_a_chunk_may_be_written_where_another_was_read(tmp_path):
    with File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("x", data=np.arange(3000), chunks=(1000,))
        dataset.write_chunk((0,), dataset.read_chunk((2000,)))
    with File(tmp_path / "x.h5") as file:
        assert np.array_equal(file["x"][:1000], np.arange(2000, 3000))


def test_a_name_that_is_not_there_is_a_key_error_and_damage_is_not(tmp_path):
    path = tmp_path / "x.h5"
    with File(path, "w") as file:
        file.create_group("a/b")["x"] = np.arange(10)
        file.h5["soft"] = h5py.SoftLink("/nowhere")
        file.h5["leads"] = h5py.SoftLink("/a/b/x")
        file.h5["a/type"] = np.dtype("f4")
        file.create_table("t", {"n": [1]})
        header = h5py.h5g.get_objinfo(file.h5["a/b"].id).objno[0]
    # Nothing is in what is no group.
    inside = ("a/b/x/y", "a/b/x/y/z", "leads/y", "a/type/y", "t/y", "t/n/y")
    for name in ("b", "a/c", "a/b/c/d", "soft", *inside):
        with File(path) as file, pytest.raises(KeyError):
            file[name]
    content = bytearray(path.read_bytes())
    content[header + 8] ^= 1
    path.write_bytes(content)
    with File(path) as file, pytest.raises(cq.CorruptError, match="a/b"):
        file["a/b"]
