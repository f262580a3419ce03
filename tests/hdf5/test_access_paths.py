"""How chunks may be got at: every rule, and the counters that tell what was done."""

from __future__ import annotations

import os

import h5py
import hdf5plugin
import numpy as np
import pytest

import coquina as cq
from coquina.hdf5 import fast
from coquina.hdf5.describing import describe

DATA = np.arange(40 * 30, dtype="f4").reshape(40, 30)
GZIP = {"chunks": (7, 11), "compression": "gzip", "shuffle": True}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.h5"


def make(path, *, file=None, **options):
    with h5py.File(path, "w", **(file or {})) as f:
        f.create_dataset("d", data=DATA, **(options or GZIP))


def check(h5, access, reason=""):
    """Check the access, that its counter moves and no fallback is taken, and every value."""
    d = fast(h5)
    assert d.access == access
    assert (d.access_reason or "") == "" if access == "direct" else reason in d.access_reason
    np.testing.assert_array_equal(d[...], DATA)
    np.testing.assert_array_equal(d[3:33:5, ::-7], DATA[3:33:5, ::-7])
    info = d.info
    counts = {"direct": info.chunks_direct, "fetched": info.chunks_fetched, "whole": info.boxes_whole}
    assert counts.pop(access) > 0
    assert not any(counts.values())
    assert info.fallbacks == 0
    assert info.access == access
    d.close()
    return d


@pytest.mark.parametrize("libver", ["earliest", "v108", "v110", "v112", "latest"])
def test_a_file_that_is_only_read_is_read_directly(path, libver):
    make(path, file={"libver": libver})
    with h5py.File(path) as f:
        check(f["d"], "direct")


def test_contiguous_items_are_read_directly_and_what_is_not_there_is_not(path):
    with h5py.File(path, "w") as f:
        f["d"] = DATA
        f.create_dataset("none", shape=(3, 4), dtype="i2", fillvalue=7)
        f["scalar"] = np.float32(2.5)
        f["empty"] = np.empty((0, 3))
    with h5py.File(path) as f:
        check(f["d"], "direct")
        none = fast(f["none"])
        assert (none.access, none[1, 2], none[...].sum()) == ("whole", 7, 84)
        assert "nothing was written" in none.access_reason
        assert fast(f["scalar"])[()] == 2.5
        assert fast(f["empty"])[...].shape == (0, 3)


def test_a_file_that_may_change_is_left_to_libhdf5(path):
    make(path)
    with h5py.File(path, "r+") as f:
        check(f["d"], "fetched", "opened for writing")
        # Another handle of the same file, opened to read, writes nothing; but the first one may.
        with h5py.File(path, "r") as g:
            check(g["d"], "fetched", "opened for writing")


def test_contiguous_items_in_a_file_that_may_change_are_left_to_libhdf5(path):
    with h5py.File(path, "w") as f:
        f["d"] = DATA
        check(f["d"], "whole", "opened for writing")
        f["d"][0] = -1.0
        assert fast(f["d"])[0, 5] == -1


def test_changes_of_h5py_are_seen(path):
    make(path)
    with h5py.File(path, "r+") as f:
        d = fast(f["d"])
        assert d[0, 0] == 0
        f["d"][0, 0] = 77  # in libhdf5's cache, not in the file
        assert d[0, 0] == 77
        f["d"][:, 3] = np.arange(40)
        np.testing.assert_array_equal(d[:, 3], np.arange(40))
        d[5] = -3
        np.testing.assert_array_equal(f["d"][5], np.full(30, -3, "f4"))


def test_pages_in_memory_are_libhdf5s(path):
    make(path, file={"fs_strategy": "page", "fs_page_size": 4096})
    with h5py.File(path, "r+", page_buf_size=1 << 20) as f:
        check(f["d"], "fetched", "opened for writing")
    with h5py.File(path, page_buf_size=1 << 20) as f:
        check(f["d"], "direct")


@pytest.mark.parametrize("options", [GZIP, {"chunks": None}], ids=["chunked", "contiguous"])
def test_a_user_block_in_front_is_counted(path, options):
    make(path, file={"userblock_size": 1024}, **options)
    with h5py.File(path) as f:
        if h5py.version.hdf5_version_tuple >= (1, 14, 4):
            check(f["d"], "direct")
        else:
            check(f["d"], "fetched" if options == GZIP else "whole", "user block")


@pytest.mark.parametrize("driver", ["core", "stdio", "split", "family"])
def test_other_drivers_are_libhdf5s(tmp_path, driver):
    path = str(tmp_path / ("x%d.h5" if driver == "family" else "x.h5"))
    options = {"driver": driver, **({"memb_size": 1 << 20} if driver == "family" else {})}
    make(path, file=options)
    with h5py.File(path, **options) as f:
        check(f["d"], "fetched", "file driver")


def test_files_in_memory_and_file_objects_are_libhdf5s(path):
    with h5py.File("none", "w", driver="core", backing_store=False) as f:
        f.create_dataset("d", data=DATA, **GZIP)
        check(f["d"], "fetched", "file driver")
    make(path)
    with path.open("rb") as file, h5py.File(file) as f:
        check(f["d"], "fetched", "file driver")


@pytest.mark.parametrize("is_chunked", [True, False])
def test_external_and_virtual_and_compact_items_are_libhdf5s(tmp_path, path, is_chunked):
    make(path, **(GZIP if is_chunked else {"chunks": None}))
    with h5py.File(tmp_path / "y.h5", "w") as f:
        layout = h5py.VirtualLayout(DATA.shape, "f4")
        layout[...] = h5py.VirtualSource(path, "d", DATA.shape)
        f.create_virtual_dataset("virtual", layout)
        f.create_dataset("external", data=DATA, external=[(str(tmp_path / "raw"), 0, h5py.h5f.UNLIMITED)])
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple(DATA.shape)
        h5py.Dataset(h5py.h5d.create(f.id, b"compact", h5py.h5t.IEEE_F32LE, space, plist))[...] = DATA
    with h5py.File(tmp_path / "y.h5") as f:
        check(f["virtual"], "whole", "virtual")
        check(f["external"], "whole", "external storage")
        check(f["compact"], "whole", "compact")


def test_a_swmr_reader_fetches_and_follows(path):
    with h5py.File(path, "w", libver="latest") as f:
        d = f.create_dataset("d", data=DATA, maxshape=(None, 30), **GZIP)
        f.swmr_mode = True
        with h5py.File(path, swmr=True) as g:
            ours = fast(g["d"])
            assert ours.access == "fetched"
            assert "SWMR" in ours.access_reason
            np.testing.assert_array_equal(ours[...], DATA)
            d.resize(80, axis=0)
            d[40:] = DATA
            d.flush()
            assert ours.refresh()
            assert not ours.refresh()
            np.testing.assert_array_equal(ours[...], np.concatenate([DATA, DATA]))


def test_a_name_that_leads_elsewhere_is_not_followed(tmp_path, path, monkeypatch):
    make(path)
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as f:
        f.create_dataset("d", data=-DATA, **GZIP)
    with h5py.File(path) as f:
        # A dataset that is open keeps its descriptor.
        held = fast(f["d"])
        os.replace(other, path)
        np.testing.assert_array_equal(held[...], DATA)
        check(f["d"], "fetched", "no longer leads")
        path.unlink()
        check(f["d"], "fetched", "no longer leads")
    make(path)
    monkeypatch.chdir(tmp_path)
    with h5py.File("x.h5") as f:
        check(f["d"], "direct")
        (tmp_path / "deeper").mkdir()
        monkeypatch.chdir(tmp_path / "deeper")
        check(f["d"], "fetched", "no longer leads")


def test_unknown_filters_are_libhdf5s(path):
    smooth = np.linspace(0, 1, 1200, dtype="f4").reshape(40, 30)
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=smooth, chunks=(7, 11), **hdf5plugin.SZ3(absolute=1e-3))
    with h5py.File(path) as f:
        d = fast(f["d"])
        assert d.access == "whole"
        assert "32024" in d.access_reason
        np.testing.assert_array_equal(d[...], f["d"][...])
        np.testing.assert_array_equal(d[5:9, ::-2], f["d"][5:9][:, ::-2])


ODD = h5py.h5t.STD_I32LE.copy()
ODD.set_precision(20)
ODD.set_offset(3)
SPACED = h5py.h5t.C_S1.copy()
SPACED.set_size(6)
SPACED.set_strpad(h5py.h5t.STR_SPACEPAD)


@pytest.mark.parametrize("tid", [ODD, SPACED], ids=["odd precision", "padded with spaces"])
def test_items_that_numpy_does_not_have_are_converted_by_libhdf5(path, tid):
    with h5py.File(path, "w") as f:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((4,))
        theirs = h5py.Dataset(h5py.h5d.create(f.id, b"d", tid, h5py.h5s.create_simple((10,)), plist))
        values = np.arange(10).astype("i4" if tid is ODD else "S6")
        theirs[...] = values
        d = fast(theirs)
        assert (d.access, d.dtype) == ("whole", theirs.dtype)
        assert "datatype" in d.access_reason
        np.testing.assert_array_equal(d[...], values)
        d[3:5] = values[:2]
        np.testing.assert_array_equal(theirs[...], [*values[:3], *values[:2], *values[5:]])


@pytest.mark.parametrize("dtype", [h5py.string_dtype(), h5py.vlen_dtype("i4"), h5py.ref_dtype, "V5"], ids=str)
def test_what_no_array_has_stays_h5pys(path, dtype):
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (3,), dtype)
        f["null"] = h5py.Empty("f4")
        assert describe(f["d"]) is None
        with pytest.raises(TypeError, match="an array cannot hold"):
            fast(f["d"])
    with cq.open(path) as f:
        assert isinstance(f["d"], h5py.Dataset)
        assert isinstance(f["null"], h5py.Dataset)


def test_a_slower_access_path_can_be_asked_for_and_a_faster_one_not(path):
    make(path)
    with h5py.File(path) as f:
        for access in ("direct", "fetched", "whole"):
            d = fast(f["d"], access=access)
            assert d.access == access
            np.testing.assert_array_equal(d[...], DATA)
    with h5py.File(path, "r+") as f, pytest.raises(ValueError, match="opened for writing"):
        fast(f["d"], access="direct")


def test_what_h5py_has_not_open_is_no_dataset(path):
    make(path)
    with pytest.raises(TypeError, match="not str; open takes paths"):
        fast(str(path))


def test_a_foreign_connector_leaves_all_to_libhdf5(path, monkeypatch):
    make(path)
    with h5py.File(path) as f:
        monkeypatch.setenv("HDF5_VOL_CONNECTOR", "elsewhere")
        check(f["d"], "whole", "HDF5_VOL_CONNECTOR")
