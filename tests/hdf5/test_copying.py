"""`repack` and `copy`: the same file, stored otherwise. The judge is h5py alone, see `everything.py`."""

from __future__ import annotations

import ctypes
import os
import shutil

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.hdf5 import File, copying, storing, tree_copies
from coquina.hdf5.copying import copy, repack
from tests.hdf5 import everything
from tests.interop.test_hdf5_defects import _set_chunk_opts
from tests.test_crash import disk_of

LIBVERS = pytest.mark.parametrize("libver", ["earliest", "latest"])

OPTIONS = {
    "blosc2": {"filter": "blosc2", "codec": "lz4", "level": 3},
    "gzip and other chunks": {"filter": "gzip", "level": 9, "chunks": "auto"},
    "chunks of one axis and checksums": {"chunks": (7,), "fletcher32": True},
    "no filter": {"filter": "none"},
    "one group": {"filter": "bitshuffle", "only": ("g", "/records")},
    "blocks": {"filter": "blosc2", "chunks": (30, 25), "blocks": (10, 25)},
}


@pytest.fixture(scope="module", params=["earliest", "latest"])
def original(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("original") / "all.h5"
    everything.make(path, libver=request.param)
    return path


@pytest.fixture
def one(tmp_path):
    path = tmp_path / "one.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("x", data=np.arange(10_000).reshape(100, 100), chunks=(30, 40), compression="gzip")
        f["x"].attrs["unit"] = "m"
    return path


def chunks_of(dataset):
    rows = [dataset.id.get_chunk_info(at) for at in range(dataset.id.get_num_chunks())]
    return {row.chunk_offset: dataset.id.read_direct_chunk(row.chunk_offset) for row in rows}


def test_without_options_everything_is_the_same_and_no_chunk_is_encoded_anew(original, tmp_path):
    before = original.read_bytes()
    done = repack(original, tmp_path / "b.h5")
    assert everything.differences(original, tmp_path / "b.h5") == []
    assert original.read_bytes() == before
    assert {one.name: one.how for one in done.datasets if one.how != "copied"} == {"/skipping": "chunks"}
    with h5py.File(original) as a, h5py.File(tmp_path / "b.h5") as b:
        for name in ("grid", "g/apple", "noise", "records", "colours", "quarter", "sparse", "typed"):
            assert chunks_of(a[name]) == chunks_of(b[name]), name
        # Chunks that skipped filters do so no more; the others are what they were.
        old, new = chunks_of(a["skipping"]), chunks_of(b["skipping"])
        assert [mask for mask, _ in old.values()] == [0, 3, 0, 0]
        assert [mask for mask, _ in new.values()] == [0, 0, 0, 0]
        assert [start for start in old if old[start] != new[start]] == [(10,)]
        assert b["typed"].id.get_type() == b["kind"].id
        assert b.get("grid") == b["again"]
        assert b["g/zebra"] == b["g/deep/same"]
        assert b["loop"] == b["/"]
        assert list(b["g"]) == ["zebra", "apple", "mole", "deep"]


@pytest.mark.parametrize("name", OPTIONS)
def test_stored_otherwise_all_values_are_the_same(name, original, tmp_path):
    done = repack(original, tmp_path / "b.h5", **OPTIONS[name])
    assert everything.differences(original, tmp_path / "b.h5", only_values=True) == []
    assert sum(row.how == "encoded" for row in done.datasets) >= 3
    with h5py.File(tmp_path / "b.h5") as b:
        assert b["sparse"].id.get_num_chunks() < 20
        if OPTIONS[name].get("filter") == "blosc2":
            assert "32026" in b["grid"]._filters
        if "blocks" in OPTIONS[name]:
            assert b["grid"].chunks == (30, 25)
    if "blocks" in OPTIONS[name]:
        assert cq.open(tmp_path / "b.h5")["noise"].blocks == (10, 25)


def test_what_cannot_be_as_wished_stays_and_the_reason_is_told(original, tmp_path):
    done = repack(original, tmp_path / "b.h5", chunks=(50,))
    reasons = {row.name: row.reason for row in done.datasets if row.reason}
    assert "name another one" in reasons["/g/apple"]
    assert "variable length" in reasons["/text"]
    assert "no axes" in reasons["/scalar"]


def test_space_that_nobody_uses_is_given_back_in_place_too(one, tmp_path):
    with h5py.File(one, "a") as f:
        f["waste"] = np.random.default_rng(1).integers(0, 256, 200_000, "u1")
        f["more"] = 1
    with h5py.File(one, "a") as f:
        f["end"] = np.ones(1000)
    with h5py.File(one, "a") as f:
        del f["waste"]
    shutil.copy(one, tmp_path / "old.h5")
    os.chmod(one, 0o640)
    done = repack(one, in_place=True)
    assert (done.before, done.after) == ((tmp_path / "old.h5").stat().st_size, one.stat().st_size)
    assert done.after < done.before - 190_000
    assert everything.differences(tmp_path / "old.h5", one) == []
    assert one.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.h5", "one.h5"]


def test_a_group_or_a_dataset_becomes_a_file(original, tmp_path):
    repack(original, tmp_path / "g.h5", group="g")
    repack(original, tmp_path / "x.h5", group="/g/deep/er/plain")
    with h5py.File(original) as a, h5py.File(tmp_path / "g.h5") as g, h5py.File(tmp_path / "x.h5") as x:
        assert list(g) == ["zebra", "apple", "mole", "deep"]
        assert g.attrs["of_kind"] == a["g"].attrs["of_kind"]
        assert g["deep/same"] == g["zebra"]
        np.testing.assert_array_equal(g["mole"][:], a["g/mole"][:])
        assert list(x) == ["plain"]
        np.testing.assert_array_equal(x["plain"][:], np.arange(5.0))


def test_a_reference_to_what_is_not_copied_is_null(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["g/x"], f["other"] = 1, 2
        f["g"].attrs["inside"], f["g"].attrs["outside"] = f["g/x"].ref, f["other"].ref
    repack(tmp_path / "a.h5", tmp_path / "b.h5", group="/g")
    with h5py.File(tmp_path / "b.h5") as f:
        assert f[f.attrs["inside"]].name == "/x"
        assert not f.attrs["outside"]


@pytest.mark.parametrize("is_tracked", [False, True])
def test_user_block_and_order_of_creation_are_kept(is_tracked, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w", userblock_size=1024, track_order=is_tracked) as f:
        for name in ("z", "a", "m"):
            f.create_dataset(name, data=np.arange(100), chunks=(10,), track_order=is_tracked)
            f.attrs[name] = 1
            for attr in ("v", "c", "k"):
                f[name].attrs[attr] = 2
    with open(tmp_path / "a.h5", "r+b") as raw:
        raw.write(b"mine" * 256)
    repack(tmp_path / "a.h5", tmp_path / "b.h5", filter="blosc2")
    assert (tmp_path / "b.h5").read_bytes()[:1024] == b"mine" * 256
    assert everything.differences(tmp_path / "a.h5", tmp_path / "b.h5", only_values=True) == []
    with h5py.File(tmp_path / "b.h5", "a") as f:
        f["c"] = f["z"][:5]
        assert list(f) == (["z", "a", "m", "c"] if is_tracked else ["a", "c", "m", "z"])
        assert list(f["z"].attrs) == (["v", "c", "k"] if is_tracked else ["c", "k", "v"])


def test_virtual_and_external_datasets_stay_what_they_are(one, tmp_path):
    layout = h5py.VirtualLayout((100, 50), "i8")
    layout[:] = h5py.VirtualSource("one.h5", "x", (100, 100))[:, 50:]
    with h5py.File(tmp_path / "v.h5", "w") as f:
        f.create_virtual_dataset("virtual", layout, fillvalue=-1)
        f.create_dataset("outside", data=np.arange(5), external=[(str(tmp_path / "raw.bin"), 0, 40)])
    done = repack(tmp_path / "v.h5", tmp_path / "w.h5", filter="gzip", chunks="auto")
    assert all("by themselves" in row.reason for row in done.datasets)
    with h5py.File(tmp_path / "w.h5") as f:
        np.testing.assert_array_equal(f["virtual"][2], np.arange(250, 300))
        np.testing.assert_array_equal(f["outside"][:], np.arange(5))
        assert (f["virtual"].is_virtual, len(f["outside"].external)) == (True, 1)


@pytest.mark.parametrize("options", [{}, {"filter": "blosc2"}, {"chunks": (5, 30)}, {"fletcher32": True}])
def test_chunks_at_the_edge_that_filters_leave_alone(options, tmp_path):
    set_chunk_opts = _set_chunk_opts()
    if set_chunk_opts is None:
        pytest.skip("h5py's libhdf5 was not found, or more than one")
    set_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
    plist, x = h5py.h5p.create(h5py.h5p.DATASET_CREATE), np.arange(3000, dtype="<i4").reshape(60, 50)
    plist.set_chunk((7, 11))
    plist.set_deflate(4)
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as f:
        assert set_chunk_opts(plist.id, 2) == 0
        space = h5py.h5s.create_simple(x.shape)
        h5py.Dataset(h5py.h5d.create(f.id, b"x", h5py.h5t.STD_I32LE, space, plist))[...] = x
    repack(tmp_path / "a.h5", tmp_path / "b.h5", **options)
    with h5py.File(tmp_path / "b.h5") as f:
        np.testing.assert_array_equal(f["x"][...], x)


ALTERATIONS = {
    "an item": lambda f: f["grid"].__setitem__((0, 0), 99),
    "a stored chunk": lambda f: f["g/apple"].__setitem__(5, 77),
    "a plain item": lambda f: f["big"].__setitem__(9, -1),
    "a string": lambda f: f["text"].__setitem__(0, "b"),
    "a sequence": lambda f: f["ragged"].__setitem__(1, [1, 2]),
    "an item that was not stored": lambda f: f["sparse"].__setitem__((5, 5), 1),
    "an attribute": lambda f: f["grid"].attrs.modify("unit", "C"),
    "one attribute more": lambda f: f["kind"].attrs.create("more", 1),
    "one attribute less": lambda f: f["g"].attrs.__delitem__("of_kind"),
    "a reference": lambda f: f["refs"].__setitem__(0, f["kind"].ref),
    "a region": lambda f: f.attrs.modify("part", f["grid"].regionref[3:8, ::3]),
    "a soft link": lambda f: (f.__delitem__("soft"), f.__setitem__("soft", h5py.SoftLink("/else"))),
    "a name": lambda f: f.move("noise", "noises"),
    "a hard link": lambda f: (f.__delitem__("grid"), f.copy("again", "grid")),
    "a shape": lambda f: f["grid"].resize((61, 50)),
}


@pytest.mark.parametrize("filter", [None, "blosc2"])
@pytest.mark.parametrize("what", ALTERATIONS)
def test_a_copy_that_differs_gets_no_name(what, filter, original, tmp_path, monkeypatch):
    make = tree_copies.TreeCopy.make

    def make_wrongly(self):
        make(self)
        ALTERATIONS[what](self._new)

    monkeypatch.setattr(tree_copies.TreeCopy, "make", make_wrongly)
    with pytest.raises(cq.CorruptError):
        repack(original, tmp_path / "b.h5", filter=filter)
    assert list(tmp_path.iterdir()) == []
    repack(original, tmp_path / "b.h5", filter=filter, verify=False)


def test_what_fails_leaves_what_stood_there(one, tmp_path):
    before = one.read_bytes()
    (tmp_path / "there.h5").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        repack(one, tmp_path / "there.h5")
    with pytest.raises(ValueError, match="file itself"):
        repack(one, one, overwrite=True)
    with pytest.raises(ValueError, match="give the path of the copy"):
        repack(one)
    with pytest.raises(ValueError, match="not both"):
        repack(one, tmp_path / "b.h5", in_place=True)
    with pytest.raises(KeyError):
        repack(one, tmp_path / "b.h5", group="nowhere")
    for options in (
        {"filter": "zip"},
        {"codec": "lzma"},
        {"filter": "gzip", "level": 10},
        {"filter": "blosc2", "codec": "lzma"},
        {"chunks": (0,)},
    ):
        with pytest.raises(ValueError, match=r"takes|needs|name its filter|take one"):
            repack(one, tmp_path / "b.h5", **options)
    with h5py.File(one, "r+") as f:
        f["x"].id.write_direct_chunk((30, 40), b"\0" * 50)
    damaged = one.read_bytes()
    for overwrite in (False, True):
        out = tmp_path / ("there.h5" if overwrite else "b.h5")
        with pytest.raises(cq.CorruptError):
            repack(one, out, filter="blosc2", overwrite=overwrite)
    with pytest.raises(cq.CorruptError):
        repack(one, in_place=True, chunks="auto")
    assert one.read_bytes() == damaged != before
    assert (tmp_path / "there.h5").read_bytes() == b"mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.h5", "there.h5"]


def test_a_full_disk_leaves_no_file(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f["noise"] = np.frombuffer(np.random.default_rng(5).bytes(300_000), "u1")
    for nbytes in (0, 1000, 150_000):
        for options in ({}, {"filter": "blosc2", "chunks": (10_000,)}):
            with disk_of(nbytes), pytest.raises((OSError, RuntimeError)):
                repack(path, tmp_path / "b.h5", **options)
            assert [one.name for one in tmp_path.iterdir()] == ["a.h5"]
    repack(path, tmp_path / "b.h5")
    assert everything.differences(path, tmp_path / "b.h5") == []


def test_progress_counts_all_bytes_of_items_twice(one, tmp_path):
    told = []
    repack(one, tmp_path / "b.h5", filter="blosc2", progress=told.append)
    assert told == sorted(told)
    assert told[-1] == copying.work_bytes(one) == 2 * 80_000
    assert copying.work_bytes(one, verify=False) == 80_000


def test_memory_is_some_boxes_and_not_the_dataset(tmp_path, monkeypatch):
    monkeypatch.setattr(storing, "BOX_BYTES", 10_000)
    sizes = []
    read = storing.read

    def note(array, region, threads):
        items = read(array, region, threads)
        sizes.append(items.nbytes)
        return items

    monkeypatch.setattr(storing, "read", note)
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f.create_dataset("x", data=np.arange(50_000).reshape(500, 100), chunks=(9, 30))
    repack(tmp_path / "a.h5", tmp_path / "b.h5", filter="blosc2", chunks=(20, 10))
    assert sum(sizes) == 400_000
    assert max(sizes) <= 20_000


def test_a_dataset_is_copied_into_any_group(one, tmp_path):
    x = np.arange(10_000).reshape(100, 100)
    with File(one, "r+") as f, File(tmp_path / "b.h5", "w") as other:
        same = copy(f["x"], f.create_group("sub"), "y", filter="gzip", chunks=(50, 50))
        kept = copy(f["x"], other, filter=None)
        plain = copy(same, other, "plain", filter="none", chunks="auto", threads=1)
        for made in (same, kept, plain):
            np.testing.assert_array_equal(made[...], x)
            assert made.attrs["unit"] == "m"
        assert (same.chunks, kept.chunks, plain.filters) == ((50, 50), (30, 40), [])
        assert kept.read_chunk((30, 40)) == f["x"].read_chunk((30, 40))
        with pytest.raises(ValueError, match="exists already"):
            copy(f["x"], other)
