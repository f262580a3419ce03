"""`recover`: damaged files are read as far as they can be, what is lost is told, and nothing else is lost."""

import fcntl
import json
import os
import re
import subprocess
import sys

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main
from coquina.hdf5.recovery import recover
from coquina.hdf5.superblock import Superblock, lookup3
from tests.test_cli import coquina

SEED = 20261122
LIBVER = pytest.mark.parametrize("libver", ["earliest", "v108", "latest"])
GRID = np.arange(100 * 7, dtype="i4").reshape(100, 7)


def make(path, libver, **options):
    """Write a file with something of everything."""
    with h5py.File(path, "w", libver=libver, **options) as file:
        file.attrs["title"] = "all"
        x = file.create_dataset("group/x", data=np.arange(6), maxshape=(None,), chunks=(2,))
        y = file.create_dataset("group/y", data=np.arange(6.0))
        file["group/root"] = file["/"]
        x.make_scale("x")
        y.dims[0].attach_scale(x)
        file.create_dataset("refs", data=[x.ref, y.ref], dtype=h5py.ref_dtype)
        file["region"] = x.regionref[2:4]
        file.create_dataset("words", data=["a", "bcd", ""], dtype=h5py.string_dtype(), chunks=(2,))
        file["empty"], file["scalar"] = h5py.Empty("f4"), 3.5
        file["soft"], file["far"] = h5py.SoftLink("/group/x"), h5py.ExternalLink("other.h5", "/a")
        file["hard"], file["group/loop"], file["type"] = file["group/x"], file["group"], np.dtype("f4")
        z = file.create_dataset(
            "z", GRID.shape, "i4", chunks=(9, 3), maxshape=(None, None), compression="gzip", fillvalue=-7
        )
        z[...] = GRID
        z.attrs["unit"] = "mm"


def chunk_at(path, name, start):
    """Return where a chunk is in the file, and its bytes."""
    with h5py.File(path, "r") as file:
        info = file[name].id.get_chunk_info_by_coord(start)
        return info.byte_offset, info.size


def spoil(path, at, content):
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


@LIBVER
def test_all_of_a_sound_file_is_saved(libver, tmp_path):
    path, out = tmp_path / "x.h5", tmp_path / "out.h5"
    make(path, libver, userblock_size=512)
    spoil(path, 3, b"user block")
    report = recover(path, out)
    assert report.is_whole
    assert report.notes == []
    assert out.read_bytes()[3:13] == b"user block"
    with h5py.File(path, "r") as old, h5py.File(out, "r") as new:
        assert set(new) == set(old)
        for name in ("group/x", "group/y", "words", "scalar", "z"):
            np.testing.assert_array_equal(new[name][()], old[name][()])
            assert new[name].dtype == old[name].dtype
        assert new["group/loop"] == new["group"]
        assert new["group/root"] == new["/"]
        assert new["hard"] == new["group/x"]
        assert new.get("soft", getlink=True).path == "/group/x"
        assert new.get("far", getlink=True).filename == "other.h5"
        assert new["group/y"].dims[0][0] == new["group/x"]
        assert [new[ref] for ref in new["refs"][...]] == [new["group/x"], new["group/y"]]
        np.testing.assert_array_equal(new[new["region"][()]][new["region"][()]], [2, 3])
        assert new["z"].id.read_direct_chunk((9, 3)) == old["z"].id.read_direct_chunk((9, 3))
        assert dict(new["z"].attrs) == {"unit": "mm"}
        assert new["z"].maxshape == (None, None)
        assert new.attrs["title"] == "all"


@LIBVER
def test_a_damaged_chunk_is_told_and_is_the_fill_value(libver, tmp_path):
    path, out = tmp_path / "x.h5", tmp_path / "out.h5"
    make(path, libver)
    at, size = chunk_at(path, "z", (18, 3))
    spoil(path, at + 8, bytes(size - 8))
    before = path.read_bytes()
    report = recover(path, out)
    assert path.read_bytes() == before
    (found,) = [one for one in report.datasets if not one.is_whole]
    assert found.name == "/z"
    assert [one.region for one in found.lost] == [np.s_[18:27, 3:6]]
    assert found.rows_lost == [(18, 27)]
    assert "/z [18:27, 3:6]" in str(report)
    wanted = GRID.copy()
    wanted[18:27, 3:6] = -7
    with h5py.File(out, "r") as file:
        np.testing.assert_array_equal(file["z"][...], wanted)
        assert dict(file["z"].attrs) == {"unit": "mm"}


def test_chunks_that_claim_the_same_bytes_are_both_lost(tmp_path):
    path, out = tmp_path / "x.h5", tmp_path / "out.h5"
    with h5py.File(path, "w") as file:
        x = file.create_dataset("x", (8,), "i4", chunks=(2,), fillvalue=-1)
        x[...] = np.arange(8)
        first, second = x.id.get_chunk_info(1), x.id.get_chunk_info(2)
    raw = path.read_bytes()
    old, new = second.byte_offset.to_bytes(8, "little"), first.byte_offset.to_bytes(8, "little")
    assert raw.count(old) == 1
    path.write_bytes(raw.replace(old, new))
    (found,) = recover(path, out).datasets
    assert found.rows_lost == [(2, 6)]
    with h5py.File(out, "r") as file:
        assert list(file["x"]) == [0, 1, -1, -1, -1, -1, 6, 7]


@LIBVER
def test_a_file_that_was_cut_gives_what_is_before_the_cut(libver, tmp_path):
    path, out = tmp_path / "x.h5", tmp_path / "out.h5"
    items = np.random.default_rng(SEED).integers(0, 100, 20_000)
    with h5py.File(path, "w", libver=libver) as file:
        for name in ("chunked", "packed", "contiguous"):
            chunks = None if name == "contiguous" else (1000,)
            file.create_dataset(
                name, data=items, chunks=chunks, compression="gzip" if name == "packed" else None
            )
        end = file["contiguous"].id.get_offset() + items.nbytes
    size = path.stat().st_size
    saved = 0
    for cut in np.linspace(500, max(end - 1, size - 1), 12).astype(int):
        whole = path.read_bytes()
        (tmp_path / "cut.h5").write_bytes(whole[:cut])
        try:
            report = recover(tmp_path / "cut.h5", out, overwrite=True)
        except cq.CorruptError:
            continue
        assert report.notes
        with h5py.File(out, "r") as file:
            for one in report.datasets:
                wanted = items.copy()
                for start, stop in one.rows_lost:
                    wanted[start:stop] = 0
                np.testing.assert_array_equal(
                    file[one.name][...], wanted, err_msg=f"{one.name}, cut at {cut}"
                )
                saved += one.nchunks - len(one.lost)
    assert saved > 20


@pytest.mark.parametrize(
    ("libver", "maxshape", "mark"),
    [
        ("earliest", (None, 4), b"TREE\1"),
        ("latest", (None, 4), b"EADB"),
        ("latest", (None, None), b"BTLF"),
        ("latest", (3000, 4), b"FADB"),
    ],
    ids=["B-tree 1", "extensible array", "B-tree 2", "fixed array"],
)
def test_an_index_that_is_damaged_costs_what_it_lists(libver, maxshape, mark, tmp_path):
    path, out = tmp_path / "x.h5", tmp_path / "out.h5"
    items = np.arange(1, 8001, dtype="i4").reshape(2000, 4)
    with h5py.File(path, "w", libver=libver) as file:
        made = file.create_dataset("x", data=items, chunks=(2, 4), maxshape=maxshape, compression="gzip")
        made.attrs["unit"] = "mm"
    places = [found.start() for found in re.finditer(re.escape(mark), path.read_bytes())]
    spoil(path, places[len(places) // 2] + 7, b"\xff\xff\xff")
    report = recover(path, out)
    assert not report.is_whole
    (found,) = report.datasets
    assert "index" in found.lost[0].reason
    wanted = items.copy()
    for start, stop in found.rows_lost:
        wanted[start:stop] = 0
    with h5py.File(out, "r") as file:
        np.testing.assert_array_equal(file["x"][...], wanted)
        assert file["x"].attrs["unit"] == "mm"


def leave_open(path, **options):
    """Write a file in a program that ends without closing it."""
    program = (
        f"import h5py, os; f = h5py.File({str(path)!r}, 'w', **{options!r});"
        "f.create_dataset('x', data=range(50), chunks=(10,), maxshape=(None,)); f.flush(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_file_whose_program_ended_is_not_open_any_more(tmp_path):
    path, out = tmp_path / "x.h5", tmp_path / "out.h5"
    leave_open(path, libver="latest", userblock_size=1024)
    with pytest.raises(OSError, match="already open for write"):
        h5py.File(path, "r")
    report = recover(path, out)
    assert report.is_whole
    assert report.notes == ["was open for writing when its program ended"]
    with h5py.File(out, "r+") as file:
        assert list(file["x"]) == list(range(50))
    # Nothing else is left, and the file itself still says so.
    assert sorted(os.listdir(tmp_path)) == ["out.h5", "x.h5"]
    with pytest.raises(OSError, match="already open for write"):
        h5py.File(path, "r")


def test_the_target_is_not_overwritten_unless_asked(tmp_path):
    path, out = tmp_path / "x.h5", tmp_path / "out.h5"
    make(path, "latest")
    out.write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        recover(path, out)
    assert out.read_bytes() == b"mine"
    recover(path, out, overwrite=True)
    with pytest.raises(ValueError, match="itself"):
        recover(path, path, overwrite=True)


@LIBVER
@pytest.mark.parametrize("nbytes", [100, 3000, 10_000, 39_000])
def test_a_full_disk_is_an_error_and_leaves_nothing(libver, nbytes, tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w", libver=libver) as file:
        for name in "abcde":
            file[name] = np.random.default_rng(SEED).integers(0, 1 << 60, 1000)
    # libhdf5 cannot close what it cannot write: a program of its own ends with that.
    program = (
        "import resource; from coquina.cli import main; hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1];"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({nbytes}, hard));"
        f"code = main(['recover', {str(path)!r}, {str(tmp_path / 'out.h5')!r}]); print(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "1\n"
    assert "coquina:" in done.stderr
    assert os.listdir(tmp_path) == ["x.h5"]


def test_a_file_that_is_written_now_is_refused(tmp_path):
    path = tmp_path / "x.h5"
    make(path, "earliest")
    with path.open("rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError, match="open for writing"):
            recover(path, tmp_path / "out.h5")
    assert os.listdir(tmp_path) == ["x.h5"]


@pytest.mark.parametrize("content", [b"", b"no", b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" + bytes(90)])
def test_what_is_no_hdf5_file_is_an_error_and_leaves_nothing(content, tmp_path):
    path = tmp_path / "x.h5"
    path.write_bytes(content)
    with pytest.raises((cq.CorruptError, cq.UnsupportedError)):
        recover(path, tmp_path / "out.h5")
    assert os.listdir(tmp_path) == ["x.h5"]


@LIBVER
@pytest.mark.parametrize("userblock", [0, 512, 2048])
def test_a_superblock_is_written_as_it_was_read(libver, userblock, tmp_path):
    path = tmp_path / "x.h5"
    make(path, libver, userblock_size=userblock)
    with path.open("rb") as file:
        superblock = Superblock.read(file)
    assert superblock.at == userblock
    assert superblock.end == path.stat().st_size
    assert superblock.is_sound
    assert superblock.packed() == superblock.raw == superblock.mended(superblock.end).packed()


def test_the_checksum_is_that_of_lookup3():
    # From the comments of lookup3.c itself: hashlittle of its example text, begun with 0.
    assert lookup3(b"") == 0xDEADBEEF
    assert lookup3(b"Four score and seven years ago") == 0x17770551


def test_the_command_recovers_and_says_what_is_lost(tmp_path, capsys):
    path, out = tmp_path / "x.h5", tmp_path / "out.h5"
    make(path, "earliest")
    assert "datasets" in coquina("recover", path, out)
    at, size = chunk_at(path, "z", (18, 3))
    spoil(path, at + 8, bytes(size - 8))
    assert "exists" in coquina("recover", path, out, code=1)
    assert main(["recover", str(path), str(out), "--force", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert not facts["is_whole"]
    (damaged,) = [one for one in facts["datasets"] if one["lost"]]
    assert damaged["name"] == "/z"
    assert damaged["lost"][0]["region"] == [[18, 27], [3, 6]]


def test_strings_of_variable_length_keep_their_fill_value(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        text = h5py.string_dtype()
        names = file.create_dataset("names", (5,), text, chunks=(2,), maxshape=(None,), fillvalue="none")
        names[:2] = ["one", "another"]
        names.attrs["note"] = "kept"
    recover(tmp_path / "a.h5", tmp_path / "b.h5")
    # libhdf5 2.0 cannot read fill values of variable length from a file that it may not write.
    with h5py.File(tmp_path / "b.h5", "r+") as file:
        assert list(file["names"].asstr()) == ["one", "another", "none", "none", "none"]
        assert file["names"].attrs["note"] == "kept"
