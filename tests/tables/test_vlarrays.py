"""Arrays of variable length: what PyTables writes is read as it is meant, and damage is an error."""

import io
import pickle

import h5py
import numpy as np
import pytest
import tables

import coquina as cq
from coquina import CoquinaError, UnsupportedError
from coquina.hdf5 import File
from coquina.tables.pytables_attrs import pytables_attrs
from coquina.tables.vlarrays import VLArray

SEED = 20261123
ROWS = 60
ATOMS = {
    "bool": tables.BoolAtom(),
    "int8": tables.Int8Atom(),
    "uint16": tables.UInt16Atom(),
    "int64": tables.Int64Atom(),
    "float32": tables.Float32Atom(),
    "float64": tables.Float64Atom(),
    "complex128": tables.ComplexAtom(16),
    "string": tables.StringAtom(5),
    "time32": tables.Time32Atom(),
    "time64": tables.Time64Atom(),
    "enum": tables.EnumAtom({"red": 3, "green": 70}, "red", "uint16"),
    "matrix": tables.Float32Atom(shape=(2, 3)),
    "bools": tables.BoolAtom(shape=(4,)),
    "times": tables.Time64Atom(shape=(2, 1)),
}
#: What PyTables writes as on this machine under a datatype of the other byte order, and reads so too.
NOT_SWAPPED = {"complex128", "matrix"}


def random_rows(atom):
    """Return rows of random lengths, some of them empty; not of times, which PyTables fails to read then."""
    rng = np.random.default_rng(SEED)
    rows = []
    for length in rng.integers(0, 20, ROWS) * rng.integers(0, 2, ROWS) + (atom.kind == "time"):
        numbers = rng.integers(0, 100, (length, *atom.shape))
        if atom.kind == "enum":
            numbers = np.where(numbers < 50, 3, 70)
        rows.append(numbers.astype(f"S{atom.itemsize}" if atom.kind == "string" else atom.dtype.base))
    return rows


def made(path, atom, rows, **options):
    """Write rows with PyTables."""
    with tables.open_file(path, "w") as file:
        array = file.create_vlarray("/", "v", atom, **options)
        for row in rows:
            array.append(row)


def check(found, theirs):
    assert len(found) == len(theirs)
    for one, other in zip(found, theirs, strict=True):
        other = np.asarray(other)
        assert one.dtype == other.dtype
        assert one.flags.writeable
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("byteorder", ["little", "big"])
@pytest.mark.parametrize("kind", ATOMS)
def test_rows_are_those_of_pytables(kind, byteorder, tmp_path):
    path = tmp_path / "x.h5"
    rows = random_rows(ATOMS[kind])
    options = {"byteorder": byteorder, "chunkshape": 7, "filters": tables.Filters(3, "zlib")}
    made(path, ATOMS[kind], rows, **options)
    with tables.open_file(path) as file:
        theirs = file.root.v.read()
    if byteorder == "big" and kind in NOT_SWAPPED:
        theirs = [row.byteswap() for row in theirs]
    with cq.open(path) as file:
        v = file["v"]
        assert isinstance(v, VLArray)
        assert (v.kind, v.item_shape, len(v), v.shape) == ("numbers", ATOMS[kind].shape, ROWS, (ROWS,))
        assert v.dtype == theirs[0].dtype
        check(v[:], theirs)
        check(list(v), theirs)
        check(v[50:3:-4], theirs[50:3:-4])
        check(v[[5, -1, 5]], [theirs[5], theirs[-1], theirs[5]])
        check([v[7], v[-2]], [theirs[7], theirs[-2]])
        mask = np.arange(ROWS) % 3 == 0
        check(v[mask], theirs[::3])
        np.testing.assert_array_equal(v.lengths(), [len(row) for row in rows])


def test_times_are_seconds(tmp_path):
    rows = [[0.0, 1.5, -0.25, 1e9 + 0.125], [], [-3.75]]
    made(tmp_path / "x.h5", tables.Time64Atom(), rows)
    with cq.open(tmp_path / "x.h5") as file:
        for found, row in zip(file["v"], rows, strict=True):
            np.testing.assert_array_equal(found, row)


TEXTS = {
    "bytes": (tables.VLStringAtom(), [b"", b"one", b"nul\0s", bytes(range(256)), b"x" * 9000]),
    "str": (tables.VLUnicodeAtom(), ["", "one", "κοχύλι", "\U0001f41a" * 40, "nul\0s"]),
    "pickle": (tables.ObjectAtom(), [None, [1, 2], {"a": (3, "b")}, b"x" * 70_000]),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_texts_are_texts_and_pickles_stay_bytes(kind, tmp_path):
    atom, rows = TEXTS[kind]
    made(tmp_path / "x.h5", atom, rows)
    with cq.open(tmp_path / "x.h5") as file:
        v = file["v"]
        assert (v.kind, v.dtype) == (kind, None)
        found = v[:]
        assert type(found[1]) is (str if kind == "str" else bytes)
        assert [pickle.loads(row) if kind == "pickle" else row for row in found] == rows
        assert list(v) == found
        assert v[-1] == found[-1]


def test_pickles_are_never_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("it was loaded",))

    with tables.open_file(tmp_path / "x.h5", "w") as file:
        file.create_vlarray("/", "v", tables.ObjectAtom()).append(Trap())
        file.root._v_attrs.trap = Trap()
    with cq.open(tmp_path / "x.h5") as file:
        assert b"it was loaded" in file["v"][0]
        assert b"it was loaded" in pytables_attrs(file)["trap"]


@pytest.mark.parametrize("how", ["userblock", "memory", "core", "latest"])
def test_files_of_every_kind(how, tmp_path):
    path = tmp_path / "x.h5"
    rows = [np.arange(length) for length in range(30)]
    options = {"userblock_size": 512} if how == "userblock" else {"libver": how} if how == "latest" else {}
    with h5py.File(path, "w", **options) as file:
        v = file.create_dataset("v", (30,), h5py.vlen_dtype("i8"), maxshape=(None,), compression="gzip")
        v.attrs["CLASS"] = "VLARRAY"
        for at, row in enumerate(rows):
            v[at] = row
    source = io.BytesIO(path.read_bytes()) if how == "memory" else path
    with File(source, driver="core") if how == "core" else cq.open(source) as file:
        check(file["v"][:], rows)


def test_what_is_written_meanwhile_is_seen(tmp_path):
    path = tmp_path / "x.h5"
    made(path, tables.Int32Atom(), [[1, 2]])
    with cq.open(path, "r+") as file:
        v = file["v"]
        check(v[:], [np.array([1, 2], "i4")])
        v.h5.resize((3,))
        v.h5[2] = np.array([4, 5, 6], "i4")
        assert [row.tolist() for row in v] == [[1, 2], [], [4, 5, 6]]
        assert repr(v) == "<VLArray '/v' (3 rows) of int32, ()>"


def test_arrays_without_rows_and_keys_that_are_none(tmp_path):
    made(tmp_path / "x.h5", tables.Int32Atom(), [])
    with cq.open(tmp_path / "x.h5") as file:
        v = file["v"]
        assert v[:] == list(v) == v[[]] == []
        assert isinstance(v, VLArray)
        with pytest.raises(IndexError):
            v[0]
    with cq.open(tmp_path / "x.h5") as file, pytest.raises(IndexError):
        file["v"][0, 0]


def test_other_sequences_are_those_of_h5py(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("plain", (3,), h5py.vlen_dtype("i8"), chunks=(2,))
        file.create_dataset("two", (3, 2), h5py.vlen_dtype("i8"), chunks=(2, 2)).attrs["CLASS"] = "VLARRAY"
        file.create_dataset("whole", (3,), h5py.vlen_dtype("i8")).attrs["CLASS"] = "VLARRAY"
    with cq.open(tmp_path / "x.h5") as file:
        assert isinstance(file["plain"], h5py.Dataset)
        assert isinstance(file["two"], h5py.Dataset)
        with pytest.raises(UnsupportedError, match="contiguous"):
            file["whole"][:]


def test_flipped_bits_and_cut_files_are_values_or_errors_of_ours(tmp_path):
    path = tmp_path / "x.h5"
    made(path, tables.Int32Atom(), [np.arange(length) for length in range(12)], chunkshape=5)
    good = path.read_bytes()
    heap = good.index(b"GCOL")
    with h5py.File(path) as file:
        chunks = [file["v"].id.get_chunk_info(at) for at in range(3)]
    places = [range(heap, heap + 600), *(range(c.byte_offset, c.byte_offset + c.size) for c in chunks)]
    rng = np.random.default_rng(SEED)
    kinds = set()
    for at in rng.permutation(np.concatenate(places))[:400].tolist():
        bad = bytearray(good)
        bad[at] ^= 1 << int(rng.integers(8))
        with cq.open(io.BytesIO(bytes(bad))) as file:
            try:
                kinds.add(len(file["v"][:]))
            except CoquinaError as error:
                kinds.add(f"{type(error).__name__} {'/v' in str(error)}")
    assert kinds == {12, "CorruptError True"}
