"""Damaged tables, expressions and packed values of python-blosc2: an error of ours or values, no more memory.

Frames that python-blosc2 writes have no checksums, so damaged numbers may be read; nothing else may happen.
"""

import os
import random
import shutil
import tracemalloc
import warnings

import blosc2
import numpy as np
import pytest

import coquina as cq

from . import peer_tables

#: Of each file so many changes are tried.
CHANGES = 40
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 40))]
#: What reading a damaged file of some kilobytes may allocate at once: one chunk of the largest size that a
#: CTable declares, of each column.
MEMORY = 256 << 20
NAMES = ["n", "x", "text", "kind", "fixed", "when", "long", "place", "text_mask", "n_sentinel", "kind_null"]


def is_allowed(error):
    """Whether an error is ours, or that of a filter that another test has registered.

    A damaged text of an expression may be no expression, or name files that are not there.
    """
    return isinstance(error, cq.CoquinaError | cq.ExpressionError | FileNotFoundError) or any(
        note.endswith("(noted)") for note in getattr(error, "__notes__", ())
    )


def read(found):
    """Read all of something that was opened."""
    if isinstance(found, cq.Table):
        for name in found.columns:
            list(found[name][:20])
        found.nrows, dict(found.attrs)
    elif hasattr(found, "visititems"):
        found.visititems(lambda name, node: read(node))
    elif hasattr(found, "shape"):
        found[...]
    else:
        list(found)


def tried(path):
    """Return the error of opening and reading, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cq.open(path)
            try:
                read(found)
            finally:
                if hasattr(found, "close"):
                    found.close()
    except Exception as error:
        if not is_allowed(error):
            raise
        return error
    return None


def hurt(path, file, seed, count=CHANGES):
    """Flip bits of a file, fill parts with other bytes, and cut it; count the errors."""
    content = file.read_bytes()
    choose = random.Random(f"{seed} {file.name}")
    errors = 0
    for number in range(count):
        damaged = bytearray(content)
        at = choose.randrange(len(content))
        if number % 3 == 0:
            damaged[at] ^= 1 << choose.randrange(8)
        elif number % 3 == 1:
            damaged[at : at + 8] = choose.randbytes(len(damaged[at : at + 8]))
        else:
            del damaged[at:]
        file.write_bytes(damaged)
        try:
            errors += tried(path) is not None
        except Exception as error:
            error.add_note(f"seed {seed!r}, number {number}, byte {at} of {file}")
            raise
    file.write_bytes(content)
    return errors


def held(work):
    """Run work within bounds of memory that NumPy and Python allocate."""
    tracemalloc.start()
    try:
        found = work()
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()
    return found


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "t.b2d"
    peer_tables.write(path, names=NAMES)
    return path


def files_of(folder):
    return sorted(one for one in folder.rglob("*") if one.is_file())


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_files_of_a_table_are_errors_of_ours_or_values(table, tmp_path, seed):
    errors = 0
    path = tmp_path / "t.b2d"
    shutil.copytree(table, path)
    files = files_of(path)
    for file in files:
        errors += held(lambda file=file: hurt(path, file, seed))
    assert errors > 5 * len(files)
    assert tried(path) is None


def test_missing_and_exchanged_files_of_a_table_are_errors_of_ours_or_values(table, tmp_path):
    names = [one.relative_to(table) for one in files_of(table)]
    for name in names:
        path = tmp_path / "t.b2d"
        shutil.copytree(table, path)
        os.remove(path / name)
        # A mask, and attributes, need not be there.
        error = tried(path)
        assert (
            error is not None
            or ".notnull" in name.name
            or name.parts[0] in ("_meta.b2f", "_vlmeta.b2f", "_valid_rows.b2nd", "_indexes")
        ), name
        other = names[(names.index(name) + 1) % len(names)]
        shutil.copy(table / other, path / name)
        tried(path)
        shutil.rmtree(path)


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_archives_of_a_table_are_errors_of_ours_or_values(tmp_path, seed):
    path = tmp_path / "t.b2z"
    peer_tables.write(path, names=NAMES)
    assert held(lambda: hurt(path, path, seed, 5 * CHANGES)) > 3 * CHANGES


@pytest.mark.parametrize("kind", ["tree", "dict", "embed"])
@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_files_of_a_store_are_errors_of_ours_or_values(tmp_path, kind, seed):
    path = tmp_path / ("s.b2e" if kind == "embed" else "s.b2d")
    if kind == "embed":
        store = blosc2.EmbedStore(str(path), mode="w")
        store["/a"] = np.arange(40)
        store["/g/b"] = np.linspace(0, 1, 30)
    else:
        with {"tree": blosc2.TreeStore, "dict": blosc2.DictStore}[kind](
            str(path), mode="w", threshold=300
        ) as store:
            store["/a"] = np.arange(4)
            store["/g/b"] = np.linspace(0, 1, 3000)
            store["/g/c"] = blosc2.SChunk(data=b"abc" * 100)
            if kind == "tree":
                store.vlmeta["title"] = "right"
    assert tried(path) is None
    for file in [path] if path.is_file() else files_of(path):
        assert held(lambda file=file: hurt(path, file, seed)) > 5


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_expressions_are_errors_of_ours_or_values(tmp_path, monkeypatch, seed):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        blosc2.asarray(np.arange(12.0).reshape(3, 4), urlpath=f"{name}.b2nd", mode="w")
    there = {name: blosc2.open(f"{name}.b2nd", mode="r") for name in "ab"}
    blosc2.lazyexpr("sin(a) + b * 2", there).save("e.b2nd")
    cq.open("a.b2nd").copy(path="c.b2nd")
    (cq.open("a.b2nd") * 3 + cq.open("c.b2nd")).save("ours.b2nd")
    for name in ("e.b2nd", "ours.b2nd"):
        file = tmp_path / name
        assert tried(file) is None
        assert held(lambda file=file: hurt(file, file, seed, 5 * CHANGES)) > CHANGES


@pytest.mark.parametrize("kind", ["objects", "batches", "lists", "packed"])
@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_values_are_errors_of_ours_or_values(tmp_path, kind, seed):
    path = tmp_path / "v.b2f"
    values = [{"a": [1, 2.5, None]}, "text" * 20, b"bytes", (1, 2), 3 + 4j, {"k": np.arange(3)}]
    if kind == "objects":
        store = blosc2.ObjectArray(urlpath=str(path), mode="w")
        store.extend(values)
    elif kind == "batches":
        store = blosc2.BatchArray(urlpath=str(path), mode="w")
        store.append(values)
        store.append(values[:2])
    elif kind == "lists":
        store = blosc2.ListArray(item_spec=blosc2.int64(), nullable=True, urlpath=str(path), mode="w")
        store.extend([[1, 2], None, [], [3]])
        store.flush()
    else:
        blosc2.save_array(np.arange(100, dtype=">i4").reshape(10, 10), str(path), mode="w")
    assert tried(path) is None
    assert held(lambda: hurt(path, path, seed, 5 * CHANGES)) > CHANGES
