"""Chunks that are encoded as the parameters of HDF5's filter cannot say: all of Blosc2, read by everybody."""

from __future__ import annotations

import json

import h5py
import hdf5plugin
import numpy as np
import pytest
import tables
from h5py import h5z

import coquina as cq
from coquina import CorruptError
from coquina.hdf5 import chunk_encoding, fast, repack
from coquina.hdf5.places import inside

RNG = np.random.default_rng(0)
WAVES = np.cumsum(RNG.normal(size=(60, 48)), axis=1).astype("f4")
STEPS = (WAVES * 1000).astype("i4")
#: Options, items, and whether something is lost.
ENCODINGS = {
    "bytedelta": ({"filters": ["shuffle", "bytedelta"]}, WAVES, False),
    "bitshuffle and bytedelta": ({"filters": ["bitshuffle", ("bytedelta", 4)], "codec": "lz4"}, WAVES, False),
    "delta and shuffle": ({"filters": ["delta", "shuffle"], "codec": "zlib", "level": 3}, STEPS, False),
    "delta": ({"filters": "delta"}, STEPS, False),
    "ndcell": ({"filters": [("ndcell", 4)]}, WAVES, False),
    "dictionary": ({"dictionary": True, "level": 5}, WAVES, False),
    "dictionary of plain items": ({"dictionary": True, "filters": "nofilter"}, STEPS, False),
    "trunc_prec": ({"filters": ("trunc_prec", 10)}, WAVES, True),
    "trunc_prec and more": ({"filters": [("trunc_prec", 12), "shuffle", "bytedelta"]}, WAVES, True),
    "int_trunc": ({"filters": [("int_trunc", -8), "shuffle"]}, STEPS, True),
    "ndmean": ({"filters": [("ndmean", 4)]}, WAVES, True),
    "zfp_accuracy": ({"codec": ("zfp_accuracy", -3)}, WAVES, True),
    "zfp_precision": ({"codec": ("zfp_precision", 14)}, WAVES, True),
    "zfp_rate": ({"codec": ("zfp_rate", 40)}, WAVES, True),
    "zfp of doubles": ({"codec": ("zfp_accuracy", -6)}, WAVES.astype("f8"), True),
    "big-endian": ({"filters": ["shuffle", "bytedelta"]}, WAVES.astype(">f4"), False),
}
SHAPES = {1: ((2880,), (512,)), 2: ((60, 48), (16, 20)), 3: ((12, 10, 24), (5, 7, 9))}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.h5"


def peers_of(path, name="d"):
    """What h5py with hdf5plugin reads, and what PyTables does."""
    with h5py.File(path) as f:
        yield f[name][...]
    with tables.open_file(path) as f:
        yield f.get_node(f"/{name}")[...]


@pytest.mark.parametrize("axes", SHAPES)
@pytest.mark.parametrize("name", ENCODINGS)
def test_everybody_reads_what_is_written(path, name, axes):
    options, items, is_lossy = ENCODINGS[name]
    shape, chunks = SHAPES[axes]
    items = items.reshape(shape)
    with cq.open(path, "w") as f:
        d = f.create_dataset("d", data=items, chunks=chunks, maxshape=(None, *shape[1:]), **options)
        d[3:9] = items[3:9]
        d.append(items[:7])
        with d.appending(flush_every=3) as session:
            session.append(items[:5])
    with cq.open(path) as f:
        d = f["d"]
        found = d[...]
        assert (d.access, d.info.fallbacks, d.verify()) == ("direct", 0, [])
        np.testing.assert_array_equal(d[2:11], found[2:11])
    assert is_lossy != np.array_equal(found, np.concatenate([items, items[:7], items[:5]]))
    for theirs in peers_of(path):
        np.testing.assert_array_equal(theirs, found)


@pytest.mark.parametrize("name", [name for name in ENCODINGS if name not in ("delta", "big-endian")])
def test_chunks_are_encoded_as_arrays_in_frames_are(path, name):
    """The same codec, filters and parameters, in the chunks of writes to come too."""
    options, items, _ = ENCODINGS[name]
    with cq.open(path, "w") as f:
        f.create_dataset("d", data=items, chunks=(30, 48), blocks=(15, 24), **options)
    with cq.open(path, "r+") as f:
        assert f["d"].encoding is not None
        f["d"][:30] = items[30:]
    plain = {key: value for key, value in options.items() if key != "dictionary"}
    frame = cq.asarray(items, chunks=(30, 48), blocks=(15, 24), **plain).info
    with cq.open(path) as f:
        d = f["d"]
        for info in d.chunk_iter():
            array = cq.from_bytes(bytes(d.read_chunk(info.start)))
            assert (array.info.codec, array.info.filters) == (frame.codec, frame.filters)
            assert array.blocks == (15, 24)
            if "dictionary" in options:
                assert b"b2frame" in bytes(d.read_chunk(info.start))[:16]


def test_what_the_parameters_say_needs_no_attribute(path):
    with cq.open(path, "w") as f:
        for number, options in enumerate(
            [{}, {"filters": ["bitshuffle"]}, {"filters": []}, {"codec": "lz4hc"}]
        ):
            d = f.create_dataset(f"d{number}", data=STEPS, chunks=(30, 48), **options)
            assert d.encoding is None
            assert not chunk_encoding.is_stated(inside(d).id)
        assert [f[f"d{number}"].filters[0][2][5] for number in range(4)] == [1, 2, 0, 1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"filters": ["shuffle", "shrink"]}, "filter 'shrink'.* take one of .*bytedelta"),
        ({"codec": "grok"}, "HDF5 files take one of blosclz"),
        ({"codec": "snappy"}, "did you mean codec='lz4'"),
        ({"codec": ("zstd", {"rle": 1})}, "take a number"),
        ({"codec": "zfp_rate"}, "needs a parameter"),
        ({"codec": ("zfp_rate", 9), "filters": "shuffle"}, "needs whole elements"),
        ({"filters": [("trunc_prec", 10)], "fletcher32": True}, "'blosc2' as the only filter"),
        ({"filters": [("trunc_prec", 99)]}, "trunc_prec"),
        ({"filters": [("ndcell", 4)] * 7}, "filters"),
        ({"dictionary": True, "codec": "lz4"}, "needs codec 'zstd'"),
        ({"dictionary": True, "filter": "gzip"}, "is for the filter 'blosc2'"),
        ({"dictionary": True, "codec": "auto"}, "chooses codec and filters"),
        ({"filter": "gzip", "filters": ["shuffle", "bytedelta"]}, "one name"),
        ({"filters": [("ndcell", 4)], "chunks": (1009 * 1009,)}, "take a power of two"),
    ],
)
def test_what_cannot_be_is_an_error_and_leaves_nothing(path, options, said):
    with cq.open(path, "w") as f:
        chunks = options.get("chunks", (512,))
        with pytest.raises((ValueError, cq.UnsupportedError), match=said):
            f.create_dataset("d", (2 * 1009 * 1009,), "f4", **{"chunks": chunks, **options})
        assert "d" not in f


def test_a_damaged_attribute_is_told_by_writes_and_not_by_reads(path):
    for text in (b"{", b"[]", b'{"level": 1}', json.dumps({"codec": ["nothing", None]}).encode()):
        with cq.open(path, "w") as f:
            f.create_dataset("d", data=WAVES, chunks=(30, 48), filters=["shuffle", "bytedelta"])
        with h5py.File(path, "r+") as f:
            f["d"].attrs["coquina_encoding"] = text.decode()
        with cq.open(path, "r+") as f:
            np.testing.assert_array_equal(f["d"][...], WAVES)
            with pytest.raises(CorruptError, match="coquina_encoding"):
                f["d"][0] = 0
            with pytest.raises(CorruptError, match="coquina_encoding"):
                f["d"].encoding  # noqa: B018


def test_an_attribute_of_other_filters_says_nothing(path):
    """As other programs leave it, which copy a dataset to other filters, with its attributes."""
    with cq.open(path, "w") as f:
        f.create_dataset("d", data=WAVES, chunks=(30, 48), filters=[("trunc_prec", 4)])
    with h5py.File(path, "r+") as f:
        other = f.create_dataset("e", data=WAVES, chunks=(30, 48), **hdf5plugin.Blosc2(clevel=7))
        other.attrs["coquina_encoding"] = f["d"].attrs["coquina_encoding"]
        ours = fast(other)
        assert ours.encoding is None
        ours[...] = WAVES
        np.testing.assert_array_equal(ours[...], WAVES)


def test_others_write_to_the_dataset_by_its_parameters(path):
    with cq.open(path, "w") as f:
        f.create_dataset("d", data=WAVES, chunks=(30, 48), filters=["shuffle", "bytedelta"], codec="lz4")
    with h5py.File(path, "r+") as f:
        f["d"][:10] = WAVES[10:20]
    with cq.open(path, "r+") as f:
        d = f["d"]
        np.testing.assert_array_equal(d[:], np.concatenate([WAVES[10:20], WAVES[10:]]))
        d[:] = WAVES
        filters = [cq.from_bytes(bytes(d.read_chunk(row.start))).info.filters for row in d.chunk_iter()]
        assert filters == [[("shuffle", 0), ("bytedelta", 4)]] * 2


class TestTables:
    @pytest.fixture
    def records(self):
        made = np.zeros(9000, [("a", "i4"), ("b", "f8"), ("c", "S5")])
        made["a"], made["b"], made["c"] = np.arange(9000), RNG.normal(size=9000), b"abc"
        return made

    @pytest.mark.parametrize("layout", ["rows", "columns"])
    @pytest.mark.parametrize(
        "options",
        [{"filters": ["shuffle", "bytedelta"]}, {"filters": ["delta", "shuffle"]}, {"dictionary": True}],
        ids=str,
    )
    def test_both_layouts_take_what_loses_nothing(self, path, records, layout, options):
        with cq.create_table(path, records, layout=layout, **options) as t:
            t.append(records[:50])
            names = [None] if layout == "rows" else ["a", "b"]
            datasets = [t.dataset] if layout == "rows" else [t["a"], t["b"]]
            assert all(d.encoding is not None for d in datasets)
            assert all(t.chunk_info((0,), name).size for name in names)
        with cq.open_table(path, mode="r+") as t:
            t.append(records[:9])
            if layout == "columns":
                t["d"] = np.arange(len(t))
                assert t["d"].encoding is not None
        expected = np.concatenate([records, records[:50], records[:9]])
        with cq.open_table(path) as t:
            np.testing.assert_array_equal(t.to_numpy(["a", "b"]), expected[["a", "b"]])
            assert t.verify() == {}
        with tables.open_file(path) as f, h5py.File(path) as g:
            if layout == "rows":
                np.testing.assert_array_equal(f.root.table[:], expected)
                np.testing.assert_array_equal(g["table"][:], expected)
            else:
                np.testing.assert_array_equal(g["table/a"][:], expected["a"])

    def test_what_loses_something_is_refused(self, path, records):
        for layout in ("rows", "columns"):
            with pytest.raises(ValueError, match=r"exactly|lossy="):
                cq.create_table(path, records, layout=layout, filters=[("trunc_prec", 10)], overwrite=True)


class TestCopies:
    @pytest.fixture
    def source(self, path):
        with h5py.File(path, "w") as f:
            f.create_dataset("waves", data=WAVES, chunks=(30, 48), compression="gzip")
            f.create_dataset("steps", data=STEPS, chunks=(30, 48), compression="gzip")
        return path

    def test_repack_encodes_anew(self, source, tmp_path):
        out = tmp_path / "out.h5"
        done = repack(source, out, filter="blosc2", filters=["shuffle", "bytedelta"], level=5)
        assert [row.how for row in done.datasets] == ["encoded"] * 2
        with cq.open(out) as f:
            assert str(f["waves"].encoding) == "shuffle + bytedelta + zstd 5"
        for theirs in peers_of(out, "waves"):
            np.testing.assert_array_equal(theirs, WAVES)
        again = repack(out, tmp_path / "again.h5", filter="blosc2", filters=["shuffle", "bytedelta"], level=5)
        assert [row.how for row in again.datasets] == ["copied"] * 2
        recut = repack(out, tmp_path / "recut.h5", chunks=(12, 16))
        assert [row.how for row in recut.datasets] == ["encoded"] * 2
        with cq.open(tmp_path / "recut.h5") as f:
            assert str(f["waves"].encoding) == "shuffle + bytedelta + zstd 5"
        repack(out, tmp_path / "plain.h5", filter="blosc2", level=5)
        with cq.open(tmp_path / "plain.h5") as f:
            assert f["waves"].encoding is None
            assert "coquina_encoding" not in f["waves"].attrs
            np.testing.assert_array_equal(f["waves"][...], WAVES)

    def test_repack_says_what_it_leaves_as_it_is(self, source, tmp_path):
        out = tmp_path / "out.h5"
        with pytest.raises(ValueError, match="verify=False"):
            repack(source, out, filter="blosc2", codec=("zfp_accuracy", -3))
        with pytest.raises(ValueError, match="filter='blosc2'"):
            repack(source, out, dictionary=True)
        done = repack(source, out, filter="blosc2", codec=("zfp_accuracy", -3), verify=False)
        found = {row.name: (row.how, row.reason) for row in done.datasets}
        assert found["/waves"] == ("encoded", None)
        assert found["/steps"][0] == "copied"
        assert "zfp_accuracy" in found["/steps"][1]
        with cq.open(out) as f:
            np.testing.assert_array_equal(f["steps"][...], STEPS)
            waves = f["waves"][...]
            assert 0 < np.abs(waves - WAVES).max() < 1e-3
        for theirs in peers_of(out, "waves"):
            np.testing.assert_array_equal(theirs, waves)
        # What lost something keeps the rest when it is cut otherwise.
        repack(out, tmp_path / "recut.h5", chunks=(12, 16))
        with cq.open(tmp_path / "recut.h5") as f:
            np.testing.assert_array_equal(f["waves"][...], waves)
            assert f["waves"].encoding is None

    def test_copies_of_datasets_too(self, source):
        with cq.open(source, "r+") as f:
            made = cq.hdf5.copy(f["waves"], f, "copied", filters=["shuffle", "bytedelta"])
            assert made.encoding is not None
        for theirs in peers_of(source, "copied"):
            np.testing.assert_array_equal(theirs, WAVES)


def test_dask_encodes_as_the_dataset_does(path):
    array = pytest.importorskip("dask.array")
    with cq.open(path, "w") as f:
        x = array.from_array(WAVES, chunks=(15, 48))
        d = f.create_dataset("d", data=x, chunks=(30, 48), filters=["shuffle", "bytedelta"])
        for info in d.chunk_iter():
            stored = cq.from_bytes(bytes(d.read_chunk(info.start)))
            assert stored.info.filters == [("shuffle", 0), ("bytedelta", 4)]
        np.testing.assert_array_equal(d[...], WAVES)


def test_bounds_go_with_what_loses_nothing(path):
    with cq.open(path, "w") as f:
        bound = {"max_error": 0.01}
        d = f.create_dataset("d", data=WAVES, chunks=(30, 48), filters=["shuffle", "bytedelta"], lossy=bound)
        assert 0 < np.abs(d[...] - WAVES).max() <= 0.01
        assert "shuffle + bytedelta" in str(d.info)
        with pytest.raises(ValueError, match="is lossy"):
            f.create_dataset("e", (60, 48), "f4", filters=[("trunc_prec", 10)], lossy=bound)


class TestFiltersOfLibhdf5:
    """Filters that libhdf5 runs when items are written, and we when they are read."""

    @pytest.mark.parametrize("kind", ["i4", "u2", "f8", ">i4", "u1"])
    @pytest.mark.parametrize("name", ["lzf", "bzip2", "szip", "nbit", "scaleoffset"])
    def test_everybody_reads_them(self, path, name, kind):
        items = (STEPS[:, :40] % 200).astype(kind)
        with cq.open(path, "w") as f:
            if name == "scaleoffset" and kind == "f8":
                with pytest.raises(ValueError, match="takes integers"):
                    f.create_dataset("d", data=items, chunks=(25, 16), filter=name)
                return
            d = f.create_dataset("d", data=items, chunks=(25, 16), maxshape=(None, 40), filter=name)
            d[3:30:2] = items[4:31:2]
            d.append(items[:7])
            with d.appending() as session:
                session.append(items[:5])
            found = d[...]
            expected = np.concatenate([items, items[:7], items[:5]])
            expected[3:30:2] = items[4:31:2]
            np.testing.assert_array_equal(found, expected)
        with cq.open(path) as f:
            np.testing.assert_array_equal(f["d"][...], expected)
            assert f["d"].verify() == []
        with h5py.File(path) as f:
            np.testing.assert_array_equal(f["d"][...], expected)
            codes = {"lzf": 32000, "bzip2": 307, "szip": 4, "nbit": 5, "scaleoffset": 6}
            plist = f["d"].id.get_create_plist()
            assert plist.get_filter(plist.get_nfilters() - 1)[0] == codes[name]

    def test_repack_takes_them(self, path, tmp_path):
        with cq.open(path, "w") as f:
            f.create_dataset("d", data=STEPS, chunks=(30, 48))
        assert repack(path, tmp_path / "out.h5", filter="lzf").datasets[0].how == "encoded"
        with h5py.File(tmp_path / "out.h5") as f:
            assert f["d"].compression == "lzf"
            np.testing.assert_array_equal(f["d"][...], STEPS)

    def test_one_that_is_not_there_is_named(self, path, monkeypatch):
        monkeypatch.setattr(h5z, "filter_avail", lambda code: code != 307)
        with cq.open(path, "w") as f, pytest.raises(cq.UnsupportedError, match="'bzip2'"):
            f.create_dataset("d", data=STEPS, chunks=(30, 48), filter="bzip2")
