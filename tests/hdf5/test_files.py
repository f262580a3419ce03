"""Files and groups: opened by content, made under another name, h5py's vocabulary, nodes on demand."""

from __future__ import annotations

import gc
import io
import os
import pickle
import subprocess
import sys
import warnings

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.hdf5 import Dataset, File, Group, fast
from coquina.hdf5.nodes import NODES_MAX

DATA = np.arange(60, dtype="i4").reshape(6, 10)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.h5"


def make(path, **options):
    with h5py.File(path, "w", **options) as f:
        f.create_dataset("a/b/c", data=DATA, chunks=(4, 4), compression="gzip")
        f["a"].attrs["unit"] = "m"
        f["soft"] = h5py.SoftLink("/a/b")
        f["text"] = "words"
        f["type"] = np.dtype("f8")


# Opening.


@pytest.mark.parametrize("userblock_size", [0, 512, 2048])
def test_files_are_known_by_their_content(path, userblock_size):
    make(path, userblock_size=userblock_size)
    if userblock_size:
        with path.open("r+b") as file:
            file.write(b"anything")
    strange = path.rename(path.with_suffix(".b2nd"))
    with cq.open(strange) as f:
        assert isinstance(f, File)
        assert (f.mode, f.path, f.filename) == ("r", str(strange), str(strange))
        np.testing.assert_array_equal(f["a/b/c"][1:3, ::4], DATA[1:3, ::4])
    np.testing.assert_array_equal(cq.open(io.BytesIO(strange.read_bytes()))["a/b/c"][...], DATA)
    np.testing.assert_array_equal(
        cq.from_bytes(strange.read_bytes())["a/b/c"][...], DATA
    ) if not userblock_size else 0


def test_other_files_are_what_they_were(tmp_path):
    array = cq.asarray(DATA, path=tmp_path / "a.b2nd")
    assert type(cq.open(tmp_path / "a.b2nd")) is type(array)
    (tmp_path / "x").write_bytes(bytes(5000))
    with pytest.raises(cq.CoquinaError):
        cq.open(tmp_path / "x")
    with pytest.raises(ValueError, match="'w' and 'x' are for"):
        cq.open(tmp_path / "x.dat", "w")
    with pytest.raises(FileNotFoundError):
        cq.open(tmp_path / "x.dat", "a")
    with pytest.raises(FileNotFoundError):
        cq.open(tmp_path / "x.h5")
    with pytest.raises(FileNotFoundError):
        cq.open(tmp_path / "x.h5", "r+")
    with pytest.raises(ValueError, match="mode 'rw'"):
        cq.open(tmp_path / "a.b2nd", "rw")
    with pytest.raises(ValueError, match="mode 'rw'"):
        File(tmp_path / "x.h5", "rw")


def test_damaged_files_are_for_the_command(path):
    make(path)
    with pytest.raises(cq.UnsupportedError, match="coquina recover"):
        cq.open(path, damaged=True)


def test_h5py_is_imported_only_when_it_is_needed(path):
    make(path)
    code = (
        "import sys, coquina as cq; assert 'h5py' not in sys.modules; cq.zeros(3)[...];"
        f"assert 'h5py' not in sys.modules; print(cq.open({str(path)!r})['a/b/c'][1, 2]);"
        "assert 'h5py' in sys.modules; cq.hdf5.File"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "12\n"


# New files.


@pytest.mark.parametrize("mode", ["w", "x", "a"])
def test_a_new_file_appears_when_it_is_complete(tmp_path, path, mode):
    with cq.open(path, mode) as f:
        f.create_dataset("d", data=DATA)
        assert f.path == f.filename == str(path)
        assert not path.exists()
        assert f["d"].path == str(path)
    assert os.listdir(tmp_path) == ["x.h5"]
    with cq.open(path, "a") as f:
        assert f.mode == "r+"
        f["d"][0] = -1
        f.create_group("more")
    with h5py.File(path) as f:
        assert f["d"][0, 3] == -1
        assert "more" in f


def test_a_file_that_is_there_stays_until_the_new_one_is_complete(tmp_path, path):
    make(path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        File(path, "x")
    with pytest.raises(ZeroDivisionError), File(path, "w") as f:  # noqa: PT012
        f.create_dataset("d", data=DATA)
        raise ZeroDivisionError
    assert not f
    assert os.listdir(tmp_path) == ["x.h5"]
    assert path.read_bytes() == before
    with File(path, "w") as f:
        f.create_dataset("d", data=DATA)
        assert path.read_bytes() == before
    assert list(cq.open(path)) == ["d"]


def test_somebody_else_may_make_the_file_meanwhile(tmp_path, path):
    f = File(path, "x")
    path.write_text("theirs")
    with pytest.raises(FileExistsError):
        f.close()
    assert os.listdir(tmp_path) == ["x.h5"]
    assert path.read_text() == "theirs"


def test_a_name_can_be_had_early(tmp_path, path):
    with pytest.raises(ZeroDivisionError), File(path, "w") as f:  # noqa: PT012
        f.create_dataset("d", data=DATA)
        f.publish()
        assert sorted(os.listdir(tmp_path)) == ["x.h5", "x.h5.journal"]
        f["d"][0, 0] = 5
        f.publish()
        f.flush(durable=True)
        raise ZeroDivisionError
    with cq.open(path) as f:
        assert f["d"][0, 0] == 5


def test_a_new_file_that_nobody_closes_is_finished(tmp_path, path):
    f = File(path, "w")
    f.create_dataset("d", data=DATA)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del f
        gc.collect()
    assert [w.category for w in caught] == [ResourceWarning]
    assert os.listdir(tmp_path) == ["x.h5"]
    np.testing.assert_array_equal(cq.open(path)["d"][...], DATA)


def test_what_is_closed_raises(path):
    make(path)
    with cq.open(path) as f:
        group, d = f["a"], f["a/b/c"]
        assert f
        assert group
    assert not f
    assert not group
    assert repr(f) == "<File, closed>"
    for call in (lambda: d[...], lambda: f["a"], lambda: d[0, 0]):
        with pytest.raises((ValueError, KeyError, cq.CoquinaError)):
            call()
    f.close()


# Groups.


def test_groups_are_mappings_with_h5pys_names(path):
    make(path)
    with cq.open(path) as f:
        a = f["a"]
        assert isinstance(a, Group)
        assert list(f) == list(f.keys()) == ["a", "soft", "text", "type"]
        assert (len(f), "a/b/c" in f, "a/x" in f, "/a" in f["a/b"]) == (4, True, False, True)
        assert dict(f.items())["a"] is a
        assert [type(v) for v in a.values()] == [Group]
        assert (a.name, a["b/c"].name, a["b"]["c"].parent.name) == ("/a", "/a/b/c", "/a/b")
        assert a.attrs["unit"] == "m"
        assert f["a/b"].parent is a
        assert a.file is f
        assert a["b/c"].file is f
        assert f["soft/c"] is f["a/b/c"]
        assert f["a"] == a == fast(a.h5)
        assert a != f["a/b"]
        assert len({a, f["a"], f["a/b"]}) == 2
        assert isinstance(f["text"], h5py.Dataset)
        assert isinstance(f["type"], h5py.Datatype)
        assert f.get("nothing", 3) == 3
        assert f.get("a/b/c") is f["a/b/c"]
        assert f.get("a/b/c", getclass=True) is Dataset
        assert isinstance(f.get("soft", getlink=True), h5py.SoftLink)
        assert f.get("soft", getlink=True, getclass=True) is h5py.SoftLink
        with pytest.raises(KeyError):
            f["nothing"]
        seen = []
        assert f.visit(seen.append) is None
        assert seen == ["a", "a/b", "a/b/c", "text", "type"]
        assert f.visititems(lambda name, node: node if isinstance(node, Dataset) else None) is f["a/b/c"]
        assert "4 members" in repr(f["/"])
        assert "'/a/b/c' (6, 10) int32, chunks (4, 4), gzip 4" in repr(f["a/b/c"])


def test_structure_is_changed_as_in_h5py(path):
    with File(path, "w") as f:
        g = f.create_group("g/h")
        assert f.require_group("g/h") is g
        d = g.create_array("d", DATA, chunks=(3, 3))
        f["hard"] = d
        assert f["hard"] is d
        f["g/copy"] = DATA
        f["soft"] = h5py.SoftLink("/g/h/d")
        f["words"] = "text"
        f["again"] = g
        assert isinstance(f["g/copy"], Dataset)
        assert f["words"][()] == b"text"
        f.move("hard", "g/moved")
        assert f["g/moved"] is d
        del f["g/h/d"]
        assert f["g/moved"] is d
        np.testing.assert_array_equal(d[...], DATA)
        f.copy(d, f["g"], "twin")
        f.copy("g", "all")
        d[0] = 0
        np.testing.assert_array_equal(f["all/twin"][...], DATA)
        with pytest.raises(ValueError, match="exists already"):
            f.create_dataset("g", data=DATA)
        with pytest.raises(TypeError):
            f.require_group("g/moved")
        with pytest.raises(KeyError):
            del f["nothing"]
        unnamed = f.create_dataset(None, data=DATA)
        assert unnamed.name is None
        f["named"] = unnamed
        assert f["named"] is unnamed
    with h5py.File(path) as f:
        np.testing.assert_array_equal(f["all/twin"][...], DATA)
        assert f["g/moved"][0, 3] == 0
        assert list(f["all"]) == ["copy", "h", "moved", "twin"]
        assert list(f["again"]) == []


def test_a_place_that_is_used_again_is_another_node(path):
    with File(path, "w") as f:
        for n in range(20):
            f.create_dataset("d", data=np.full(10, n))
            assert f["d"][5] == n
            del f["d"]
            gc.collect()


def test_another_shape_is_seen(path):
    with File(path, "w") as f:
        f.create_dataset("d", data=DATA, maxshape=(None, 10), chunks=(4, 4))
        f["d"].h5.resize((9, 10))
        assert f["d"].shape == (9, 10)
        f["d"].close()
        np.testing.assert_array_equal(f["d"][:6], DATA)


def test_external_links_lead_to_other_files(tmp_path, path):
    make(path)
    with h5py.File(tmp_path / "y.h5", "w") as f:
        f["out"] = h5py.ExternalLink("x.h5", "/a/b")
    with cq.open(tmp_path / "y.h5") as f:
        d = f["out/c"]
        np.testing.assert_array_equal(d[...], DATA)
        assert (d.path, d.file.filename) == (str(path), str(path))
        assert (d.name, d.access) == ("/a/b/c", "direct")
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(d))[...], DATA)


def test_walks_keep_few_nodes(path):
    count = 3 * NODES_MAX
    with h5py.File(path, "w", libver="latest") as f:
        for n in range(count):
            f.create_group(f"{n:05}")
    with cq.open(path) as f:
        held = f["00000"]
        assert sum(isinstance(node, Group) for node in f.values()) == count
        gc.collect()
        alive = sum(isinstance(thing, Group) for thing in gc.get_objects())
        assert alive <= NODES_MAX + 20
        assert f["00000"] is held


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="this system does not list open files there")
def test_a_file_is_opened_once_for_all_of_its_datasets(path):
    with h5py.File(path, "w") as f:
        for n in range(50):
            f.create_dataset(f"{n}", data=DATA, chunks=(4, 4), compression="gzip")
    with cq.open(path) as f:
        before = len(os.listdir("/dev/fd"))
        held = [f[name] for name in f]
        assert {dataset.access for dataset in held} == {"direct"}
        assert len(os.listdir("/dev/fd")) == before + 1
        for dataset in held:
            np.testing.assert_array_equal(dataset[...], DATA)
    del held, dataset, f
    gc.collect()
    # Another file of the name is another file.
    path.unlink()
    make(path)
    with cq.open(path) as f:
        np.testing.assert_array_equal(f["a/b/c"][...], DATA)


def test_nodes_are_pickled_by_path_and_name(path):
    make(path)
    with cq.open(path) as f:
        for name in ("a/b/c", "a", "/"):
            again = pickle.loads(pickle.dumps(f[name]))
            assert again.name == f[name].name
            again.file.close()
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(f["a/b/c"]))[...], DATA)
        assert list(pickle.loads(pickle.dumps(f))) == list(f)
    with h5py.File("none", "w", driver="core", backing_store=False) as f:
        f["d"] = DATA
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(fast(f["d"]))


def test_files_of_h5py_are_wrapped_and_stay_theirs(path):
    make(path)
    with h5py.File(path) as theirs:
        f = fast(theirs)
        assert isinstance(f, File)
        np.testing.assert_array_equal(f["a/b/c"][...], DATA)
        assert isinstance(fast(theirs["a"]), Group)
        d = fast(theirs["a/b/c"])
        del f
        gc.collect()
        assert theirs
        assert d[1, 1] == DATA[1, 1]
        assert d.file.filename == str(path)


def test_a_name_that_does_not_exist_is_told_with_one_like_it(tmp_path):
    with cq.hdf5.File(tmp_path / "f.h5", "w") as file:
        file["entry/temperature"] = np.arange(3)
        file["entry/pressure"] = np.arange(3)
        file["_i_hidden"] = np.arange(3)
        near = {
            "entri": "entry",
            "/entry/temprature": "/entry/temperature",
            "entry/press": "entry/pressure",
        }
        for name, meant in near.items():
            with pytest.raises(KeyError, match=f"did you mean '{meant}'"):
                file[name]
        with pytest.raises(KeyError, match="did you mean 'pressure'"):
            file["entry"]["presure"]
        for name in ("nothing", "entry/nothing", "nowhere/temperature", "_i_hiden", "entry/pressure/x", ""):
            with pytest.raises(KeyError) as caught:
                file[name]
            assert "did you mean" not in str(caught.value)
        assert file.get("entri") is None


def test_a_libver_that_does_not_exist_names_those_that_do(tmp_path):
    """A bare KeyError: 'f', the first letter of the version that was asked for."""
    path = tmp_path / "f.h5"
    for wrong in ("foo", ("v110", "foo"), 3, ["v110", "latest"], ("v110", "v112", "v114")):
        for mode in ("w", "r", "a"):
            with pytest.raises(ValueError, match=r"libver .*: takes 'earliest', 'latest', 'v108', 'v110'"):
                cq.hdf5.File(path, mode, libver=wrong)
    for right in ("earliest", "latest", "v110", ("v108", "v112")):
        with cq.hdf5.File(path, "w", libver=right) as f, h5py.File.in_memory(libver=right) as h5:
            assert f.libver == h5.libver
