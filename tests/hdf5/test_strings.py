"""Strings of fixed length as HDF5 files hold them: ended by NUL, padded with NULs, of PyTables."""

import h5py
import hdf5plugin
import numpy as np
import pytest
import tables

import coquina as cq
from coquina.hdf5 import fast

STORED = [b"ab\0xyz", b"abcdef", b"\0zzzzz", b"ab\0\0\0q", b"b", b"ab"]
WORDS = np.array([STORED[at % 6] for at in range(600)], "S6")
MEANT = np.array([word.split(b"\0")[0] for word in WORDS], "S6")


def text_type(size=6, pad=h5py.h5t.STR_NULLTERM):
    tid = h5py.h5t.C_S1.copy()
    tid.set_size(size)
    tid.set_strpad(pad)
    return tid


def record_type():
    """Records of two strings, a number, and an array of strings."""
    tid = h5py.h5t.create(h5py.h5t.COMPOUND, 32)
    tid.insert(b"name", 0, text_type())
    tid.insert(b"n", 8, h5py.h5t.STD_I32LE)
    tid.insert(b"padded", 12, text_type(pad=h5py.h5t.STR_NULLPAD))
    tid.insert(b"pair", 18, h5py.h5t.array_create(text_type(), (2,)))
    return tid


RECORDS = np.zeros(
    600,
    np.dtype(
        {
            "names": ["name", "n", "padded", "pair"],
            "formats": ["S6", "<i4", "S6", ("S6", (2,))],
            "offsets": [0, 8, 12, 18],
            "itemsize": 32,
        }
    ),
)
RECORDS["name"], RECORDS["n"], RECORDS["padded"] = WORDS, np.arange(600) % 7, WORDS
RECORDS["pair"] = np.stack([WORDS, WORDS[::-1]], 1)

STORAGES = {
    "contiguous": {},
    "compact": {},
    "stored": {"chunks": (64,)},
    "gzip": {"chunks": (64,), "compression": "gzip"},
    "blosc": {"chunks": (64,), **hdf5plugin.Blosc()},
    "blosc2": {"chunks": (64,), **hdf5plugin.Blosc2()},
}


def write(path, tid, values, storage="gzip"):
    """Write a dataset "d" whose stored bytes are those of `values`."""
    values = np.ascontiguousarray(values)
    options = STORAGES[storage]
    with h5py.File(path, "w") as file:
        # h5py turns the names of filters into a list of properties.
        like = file.create_dataset("like", len(values), f"V{tid.get_size()}", **options)
        plist = like.id.get_create_plist()
        if storage == "compact":
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((len(values),))
        made = h5py.h5d.create(file.id, b"d", tid, space, plist)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, values, tid)
        del file["like"]


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("access", ["direct", "fetched", "whole"])
def test_strings_end_at_their_first_nul_in_every_access_path(tmp_path, storage, access):
    path = tmp_path / "x.h5"
    write(path, text_type(), WORDS, storage)
    with h5py.File(path) as file:
        theirs = file["d"]
        ours = fast(theirs)
        if access != ours.access and (
            ours.access == "whole" or (storage == "contiguous" and access == "fetched")
        ):
            return
        ours = fast(theirs, access=access)
        assert ours.access == access
        expected = theirs[...]
        np.testing.assert_array_equal(expected, MEANT)
        for key in (slice(None), slice(5, 300, 7), [3, 599, 0], slice(None, None, -1)):
            assert ours[key].tobytes() == MEANT[key].tobytes()
        for at in (0, 1, 2, 3, 70, 599):
            assert ours[at] == theirs[at]
        assert (ours == b"ab")[...].tolist() == (MEANT == b"ab").tolist()


@pytest.mark.parametrize("storage", ["contiguous", "gzip", "blosc2"])
def test_strings_in_records_end_at_their_first_nul_unless_they_are_padded(tmp_path, storage):
    path = tmp_path / "x.h5"
    write(path, record_type(), RECORDS, storage)
    with h5py.File(path) as file, cq.open(path) as g:
        theirs, ours = file["d"], g["d"]
        for name in ("name", "n", "padded", "pair"):
            assert ours[:][name].tobytes() == np.ascontiguousarray(theirs[:][name]).tobytes(), name
        assert ours[0]["name"] == b"ab"
        assert ours[0]["padded"] == b"ab\0xyz"


@pytest.mark.parametrize("marks", [{"CLASS": "TABLE"}, {"CLASS": "TABLE", "VERSION": "3.0", "TITLE": "H5TB"}])
@pytest.mark.parametrize("indexed", [False, True])
def test_queries_groups_and_indexes_see_no_bytes_behind_the_nul(tmp_path, indexed, marks):
    path = tmp_path / "x.h5"
    write(path, record_type(), RECORDS)
    with h5py.File(path, "r+") as file:
        for name, text in marks.items():
            file["d"].attrs[name] = np.bytes_(text)
    with cq.open(path, mode="a") as file:
        table = file.table("d")
        if indexed:
            table.create_index("name")
            assert not table.verify()
        expected = np.flatnonzero(MEANT == b"ab")
        ends = "endswith(name, 'b') & (name != 'b')"
        for condition in ("name == 'ab'", "name == b'ab'", "name in ['ab', 'zz']", ends):
            assert table.where(condition).row_numbers().tolist() == expected.tolist(), condition
        counts = table.group_by("name").count()
        assert dict(counts.tolist()) == {word: int((word == MEANT).sum()) for word in set(MEANT.tolist())}
        np.testing.assert_array_equal(table.read_sorted("name")["name"], np.sort(MEANT))
        assert table.where("padded == 'ab'").count() == 100


def test_what_is_written_reads_as_h5py_reads_it(tmp_path):
    path = tmp_path / "x.h5"
    write(path, text_type(), WORDS)
    with cq.open(path, mode="a") as file:
        file["d"][10:13] = np.array([b"q\0rs", b"tu", b"abcdef"])
        assert file["d"][9:14].tolist() == [*MEANT[9:10], b"q", b"tu", b"abcdef", MEANT[13]]
    with h5py.File(path) as file:
        assert file["d"][9:14].tolist() == [*MEANT[9:10], b"q", b"tu", b"abcdef", MEANT[13]]


def test_pytables_strings_keep_nuls_as_pytables_reads_them(tmp_path):
    path = tmp_path / "t.h5"
    with tables.open_file(path, "w") as file:
        file.create_table("/", "t", np.array(list(zip(WORDS, range(600), strict=True)), "S6,i4"))
        file.create_array("/", "a", WORDS)
        file.create_carray("/", "c", obj=WORDS)
    with cq.open(path) as file:
        np.testing.assert_array_equal(file["t"]["f0"][:], WORDS)
        np.testing.assert_array_equal(file["a"][...], WORDS)
        np.testing.assert_array_equal(file["c"][...], WORDS)
