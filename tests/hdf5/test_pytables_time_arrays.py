"""PyTables' arrays of times: seconds as float64, as PyTables reads and writes them, in both directions."""

import h5py
import numpy as np
import pytest
import tables as tb

import coquina as cq
from coquina.cli import main

SECONDS = np.array([0.0, 7.0, 1.5, -2.25, 1_700_000_000.123456, -(2.0**31), 2.0**31 - 0.5, 1e-6])
FILTERS = [None, tb.Filters(5, "zlib"), tb.Filters(5, "blosc"), tb.Filters(5, "blosc2:zstd")]


def copy_of_other_order(group, name, source):
    """Write the array again as a machine of the other byte order would: HDF5 converts no times."""
    old = group[source]
    size = old.id.get_type().get_size()
    tid = h5py.h5t.UNIX_D64BE if size == 8 else h5py.h5t.UNIX_D32BE
    raw = np.empty(old.shape, f"<i{size}")
    old.id.read(h5py.h5s.ALL, h5py.h5s.ALL, raw, old.id.get_type())
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk(old.chunks)
    made = h5py.h5d.create(group.id, name.encode(), tid, old.id.get_space(), plist)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, raw.byteswap(), tid)
    for key, value in old.attrs.items():
        group[name].attrs[key] = np.bytes_(value) if isinstance(value, str) else value


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "times.h5"
    with tb.open_file(path, "w") as file:
        for at, filters in enumerate(FILTERS):
            array = file.create_carray("/", f"carray{at}", tb.Time64Atom(), (3, 8), filters=filters)
            array[:2] = np.stack([SECONDS, SECONDS[::-1]])
            file.create_earray("/", f"earray{at}", tb.Time64Atom(), (0,), filters=filters).append(SECONDS)
        file.create_carray("/", "unwritten", tb.Time64Atom(dflt=2.5), (3,))
        file.create_array("/", "array", obj=SECONDS, atom=tb.Time64Atom())
        file.create_carray("/", "pairs", tb.Time64Atom(shape=(2,)), (4,))[:] = SECONDS.reshape(4, 2)
        file.create_carray("/", "short", tb.Time32Atom(), (4,))[:] = [0, 7, -2, 2**31 - 1]
        lists = file.create_vlarray("/", "lists", tb.Time64Atom())
        lists.append(SECONDS[:3])
        lists.append(SECONDS[3:])
    with h5py.File(path, "a") as file:
        copy_of_other_order(file, "big", "carray0")
        copy_of_other_order(file, "big_short", "short")
    return path


def of_pytables(path, name):
    with tb.open_file(path) as file:
        return file.get_node("/" + name).read()


def names_of(path):
    with tb.open_file(path) as file:
        return [node._v_name for node in file.walk_nodes("/", "Leaf")]


def test_arrays_of_times_are_read_as_pytables_reads_them(path):
    # They came as the integers that are stored: 30064771072 for 7.
    with cq.open(path) as file:
        for name in names_of(path):
            theirs = of_pytables(path, name)
            if name == "lists":
                assert [one.tolist() for one in file[name]] == [one.tolist() for one in theirs]
                continue
            ours = file[name]
            assert ours.dtype.newbyteorder("=") == np.asarray(theirs).dtype, name
            assert ours[...].tolist() == np.asarray(theirs).tolist(), name
            assert ours[-1:].tolist() == np.asarray(theirs)[-1:].tolist(), name
        # PyTables stores the bytes of its default as if they were a time.
        assert file["unwritten"].fillvalue == of_pytables(path, "unwritten")[0] != 0
        assert file["carray1"][1:3, ::3].tolist() == [SECONDS[::-1][::3].tolist(), [0.0] * 3]
        assert (file["carray2"] + 1)[:2].max() == SECONDS.max() + 1
        assert file["carray3"][1].sum() == SECONDS[::-1].sum()


def test_what_is_written_pytables_reads(path):
    # PyTables read 7e-06 for 7.
    with cq.open(path, "a") as file:
        for name in ["carray0", "carray1", "carray2", "carray3", "big"]:
            file[name][0, 1:4] = [8, -0.75, 1e9]
            file[name][2, 0] = 7
        for at in range(len(FILTERS)):
            with file[f"earray{at}"].appending() as session:
                session.append(SECONDS + 0.25)
                session.flush()
                session.append(SECONDS[:1])
            file[f"earray{at}"].append(SECONDS[1:2])
        file["pairs"][1] = [3.25, -3.25]
        file["short"][1:3] = [-5, 5]
        file["big_short"][1:3] = [-5, 5]
    rows = np.zeros((3, 8))
    rows[:2] = np.stack([SECONDS, SECONDS[::-1]])
    rows[0, 1:4], rows[2, 0] = [8, -0.75, 1e9], 7
    for name in ["carray0", "carray1", "carray2", "carray3", "big"]:
        assert of_pytables(path, name).tolist() == rows.tolist(), name
    long = np.concatenate([SECONDS, SECONDS + 0.25, SECONDS[:2]])
    for at in range(len(FILTERS)):
        assert of_pytables(path, f"earray{at}").tolist() == long.tolist()
    assert of_pytables(path, "pairs")[1].tolist() == [3.25, -3.25]
    assert (
        of_pytables(path, "short").tolist()
        == of_pytables(path, "big_short").tolist()
        == [0, -5, 5, 2**31 - 1]
    )


@pytest.mark.parametrize("wrong", [np.nan, 2.0**31, -(2.0**31) - 1])
@pytest.mark.parametrize("name", ["carray0", "carray3", "big"])
def test_seconds_that_32_bits_cannot_count_are_refused(path, name, wrong):
    with cq.open(path, "a") as file:
        before = file[name][...]
        with pytest.raises(ValueError, match="seconds do not fit 32 bits"):
            file[name][1, 1] = wrong
        assert file[name][...].tolist() == before.tolist()
        with file["earray1"].appending() as session, pytest.raises(ValueError, match="do not fit 32 bits"):
            session.append([wrong])
        assert file["earray1"].shape == (8,)


@pytest.mark.parametrize(("access", "mode"), [("direct", "r"), ("fetched", "a"), ("whole", "a")])
def test_each_way_to_the_chunks_gives_seconds(path, access, mode):
    with cq.open(path, mode) as file:
        for name in ["carray0", "carray2", "carray3", "big"]:
            known = file[name]
            opened = type(known)(known.h5, known._facts, known._nodes, access=access)
            assert opened.access == access
            if mode == "a":
                opened[2, :2] = [1.25, -1.25]
                assert known[2].tolist() == [1.25, -1.25, *[0.0] * 6]
            assert opened[:2].tolist() == [SECONDS.tolist(), SECONDS[::-1].tolist()]
            assert opened[2].tolist() == known[2].tolist()


@pytest.mark.parametrize(
    "options", [[], ["--filter", "blosc2"], ["--filter", "gzip"], ["--auto"], ["--max-error", "0.5"]]
)
def test_times_are_verified_and_repacked(path, tmp_path, options):
    out = tmp_path / "out.h5"
    assert main(["verify", str(path)]) == 0
    assert main(["repack", str(path), str(out), *options]) == 0
    assert main(["verify", str(out)]) == 0
    with cq.open(path) as old, cq.open(out) as new:
        for name in names_of(path):
            theirs, again = of_pytables(path, name), of_pytables(out, name)
            if name == "lists":
                assert [one.tolist() for one in theirs] == [one.tolist() for one in again]
                assert [one.tolist() for one in old[name]] == [one.tolist() for one in new[name]]
            elif not (options[:1] == ["--max-error"] and np.asarray(theirs).dtype.kind == "f"):
                assert np.asarray(theirs).tolist() == np.asarray(again).tolist(), name
            else:
                assert np.abs(theirs - again).max() <= 0.5, name


def test_times_of_other_programs_stay_integers(tmp_path):
    with h5py.File(tmp_path / "b.h5", "w") as file:
        made = h5py.h5d.create(file.id, b"x", h5py.h5t.UNIX_D64LE, h5py.h5s.create_simple((3,)))
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1, 2, 2**40]), h5py.h5t.UNIX_D64LE)
    with cq.open(tmp_path / "b.h5") as file:
        assert file["x"].dtype == np.int64
        assert file["x"][...].tolist() == [1, 2, 2**40]


def test_copies_outside_of_hdf5_are_seconds(path, tmp_path):
    with cq.open(path) as file:
        copy = file["carray3"].copy(path=tmp_path / "a.b2nd")
        assert copy.dtype == np.float64
        assert copy[:2].tolist() == [SECONDS.tolist(), SECONDS[::-1].tolist()]
        assert cq.asarray(file["big"])[0].tolist() == SECONDS.tolist()
