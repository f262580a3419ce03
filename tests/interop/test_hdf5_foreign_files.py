"""HDF5 files of other packages: every dataset that has items of an array has the maker's."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import h5py
import hdf5plugin
import numpy as np
import pytest

import coquina as cq
from coquina.hdf5 import Dataset

#: How many datasets of each maker are to be read at least, with this access.
LEAST = {"netcdf": 90, "pytables": 260, "pandas": 20}


@pytest.fixture(scope="module", params=LEAST)
def made(request, tmp_path_factory):
    """Return a maker, its file, and the items that it reads of it, by name."""
    folder = tmp_path_factory.mktemp(request.param)
    command = [sys.executable, "-m", "tests.interop.hdf5_makers", request.param]
    done = subprocess.run(
        [*command, str(folder / "x.h5"), str(folder / "items.npz")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    with np.load(folder / "items.npz") as items:
        return request.param, folder / "x.h5", {name.replace("|", "/"): items[name] for name in items.files}


def datasets(group: cq.hdf5.Group) -> Iterator[Dataset]:
    """Walk over all datasets that are arrays, the records of tables among them."""
    for name, node in group.items():
        if isinstance(node, cq.hdf5.Group):
            yield from datasets(node)
        elif isinstance(node, Dataset):
            yield node
        elif isinstance(node, cq.Table):
            yield group.dataset(name)


def flat(items: np.ndarray) -> list[np.ndarray]:
    """Return the columns of records, and of the records in them; of other items these alone."""
    if items.dtype.names is None:
        return [items]
    return [column for name in items.dtype.names for column in flat(items[name])]


def assert_same(ours: np.ndarray, theirs: np.ndarray, name: str) -> None:
    """Check the items; makers may read truth values as such, and in their own byte order."""
    assert ours.shape == theirs.shape, name
    for column, their_column in zip(flat(ours), flat(theirs), strict=True):
        np.testing.assert_array_equal(column, their_column, name)


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_every_dataset_has_the_makers_items(made, mode):
    maker, path, items = made
    access_paths: Counter[str] = Counter()
    with cq.open(path, mode) as f:
        for ours in datasets(f):
            theirs = items.get(ours.name)
            if theirs is None:
                # Axes that have no items; what PyTables finds rows by, and does not show.
                assert maker == "netcdf" or "/_i_" in ours.name, ours.name
                continue
            assert_same(ours[...], theirs, ours.name)
            if ours.ndim:
                rows = slice(ours.shape[0] // 3, None, 3)
                assert_same(ours[rows], theirs[rows], ours.name)
                assert_same(ours[[-1, 0]], theirs[[-1, 0]], ours.name)
            access = ours.access
            if ours.layout == "chunked":
                assert access == ("direct" if mode == "r" else "fetched"), (ours.name, ours.access_reason)
                assert ours.info.fallbacks == 0, ours.name
            access_paths[access] += 1
            assert_same(ours[...], ours.h5[...], ours.name)
            ours.close()
    fast = access_paths["direct"] if mode == "r" else access_paths["fetched"]
    assert fast >= LEAST[maker], access_paths


def test_rows_of_tables_are_written_for_their_makers(made, tmp_path):
    """Columns are changed in place, and PyTables reads them."""
    maker, path, items = made
    if maker != "pytables":
        pytest.skip("has no tables")
    (tmp_path / "y.h5").write_bytes(path.read_bytes())
    with cq.open(tmp_path / "y.h5", "r+") as f:
        tables = [d for d in datasets(f) if d.name.endswith(("/rows", "/wide", "/rows_checked"))]
        names = [
            d.name for d in tables if all(writes for code, *_ in d.filters for writes in [is_written(code)])
        ]
        assert len(names) > 20
        for name in names:
            f[name]["id"] = f[name]["id"] + 5
    code = """
import sys, tables
with tables.open_file(sys.argv[1]) as f:
    for name in sys.argv[2:]:
        ids = f.get_node(name).col("id")
        assert (ids[1:] - ids[:-1] == 1).all() and ids[0] == 5, name
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "y.h5"), *names], check=True)
    with h5py.File(tmp_path / "y.h5") as f:
        for name in names:
            np.testing.assert_array_equal(f[name]["id"], items[name]["id"] + 5)


def is_written(code: int) -> bool:
    return any(code == known and encodes for known, _, _, encodes in cq._core.hdf5_filters())


def test_a_file_laid_out_as_anndata_does(tmp_path):
    """Sparse matrices of three datasets, columns of a frame, categories, strings of any length."""
    rng = np.random.default_rng(5)
    dense = rng.random((300, 120)) < 0.1
    data = rng.random(dense.sum()).astype("f4")
    indices = np.nonzero(dense)[1].astype("i4")
    indptr = np.concatenate([[0], dense.sum(1).cumsum()]).astype("i8")
    packed = {"compression": "gzip", "shuffle": True}
    with h5py.File(tmp_path / "x.h5ad", "w") as f:
        f.attrs["encoding-type"] = "anndata"
        x = f.create_group("X")
        x.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": dense.shape})
        for name, values in {"data": data, "indices": indices, "indptr": indptr}.items():
            x.create_dataset(name, data=values, chunks=(1000,) if len(values) > 1000 else (100,), **packed)
        obs = f.create_group("obs")
        obs.attrs["column-order"] = np.array(["kind"], h5py.string_dtype())
        obs.create_dataset("_index", data=[f"cell {n}" for n in range(300)], dtype=h5py.string_dtype())
        kind = obs.create_group("kind")
        kind.create_dataset("codes", data=rng.integers(-1, 3, 300, "i1"), chunks=(64,), **packed)
        kind.create_dataset("categories", data=["a", "b", "c"], dtype=h5py.string_dtype())
        obs.create_dataset("is_good", data=rng.random(300) < 0.5, chunks=(100,), compression="lzf")
        f.create_dataset("obsm/X_pca", data=rng.random((300, 50)), chunks=(40, 50), **hdf5plugin.Zstd())
        f.create_dataset(
            "layers/counts", data=rng.poisson(1, dense.shape), chunks=(64, 64), **hdf5plugin.Blosc2()
        )
        expected = {d: f[d][...] for d in ("X/data", "obs/kind/codes", "obs/is_good", "obsm/X_pca")}
        expected["layers/counts"] = f["layers/counts"][...]
    with cq.open(tmp_path / "x.h5ad") as f:
        for name, theirs in expected.items():
            assert f[name].access == "direct", name
            assert_same(f[name][...], theirs, name)
        start, stop = f["X/indptr"][[7, 8]]
        row = np.zeros(120, "f4")
        row[f["X/indices"][start:stop]] = f["X/data"][start:stop]
        assert set(np.nonzero(row)[0]) == set(np.nonzero(dense[7])[0])
        assert isinstance(f["obs/_index"], h5py.Dataset)
        assert f["obs/_index"].asstr()[3] == "cell 3"
        assert f["X"].attrs["encoding-type"] == "csr_matrix"
        counts = Counter(d.access for d in datasets(f))
        assert counts == {"direct": 7}


def test_a_file_laid_out_as_nexus_does(tmp_path):
    """Frames of a detector behind links, in a file of their own, and joined by a virtual dataset."""
    frames = np.random.default_rng(1).poisson(0.1, (12, 60, 50)).astype("u4")
    for part in range(2):
        with h5py.File(tmp_path / f"data_{part}.h5", "w") as f:
            f.create_dataset(
                "entry/data/data",
                data=frames[part * 6 : part * 6 + 6],
                chunks=(1, 60, 50),
                **(hdf5plugin.LZ4() if part else hdf5plugin.Bitshuffle()),
            )
    with h5py.File(tmp_path / "master.h5", "w", libver="latest") as f:
        entry = f.create_group("entry")
        entry.attrs["NX_class"] = "NXentry"
        detector = entry.create_group("instrument/detector")
        detector.attrs["NX_class"] = "NXdetector"
        layout = h5py.VirtualLayout(frames.shape, "u4")
        for part in range(2):
            name = f"data_{part}.h5"
            entry[f"data_{part}"] = h5py.ExternalLink(name, "entry/data/data")
            source = h5py.VirtualSource(tmp_path / name, "entry/data/data", (6, 60, 50))
            layout[part * 6 : part * 6 + 6] = source
        detector.create_virtual_dataset("data", layout)
        detector["count_time"] = 0.1
        detector["pixel_mask"] = np.zeros((60, 50), "u4")
        entry["link"] = h5py.SoftLink("/entry/instrument/detector/pixel_mask")
        entry["title"] = "a scan"
    with cq.open(tmp_path / "master.h5") as f:
        for part in range(2):
            d = f[f"entry/data_{part}"]
            assert d.access == "direct"
            assert d.path == str(tmp_path / f"data_{part}.h5")
            np.testing.assert_array_equal(d[...], frames[part * 6 : part * 6 + 6])
            np.testing.assert_array_equal(d[[5, 0], 3:50:7], frames[part * 6 :][[5, 0], 3:50:7])
        joined = f["entry/instrument/detector/data"]
        assert (joined.access, joined.layout) == ("whole", "virtual")
        np.testing.assert_array_equal(joined[...], frames)
        np.testing.assert_array_equal(joined[4:8, ::9], frames[4:8, ::9])
        assert f["entry/instrument/detector/count_time"][()] == 0.1
        assert f["entry/link"].shape == (60, 50)
        assert isinstance(f["entry/title"], h5py.Dataset)
