"""Stores that coquina writes: the words of h5py's groups, commits, and what python-blosc2 reads of them."""

import os
import pickle
import zipfile

import blosc2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coquina as cq

from . import peer_stores
from .peer_stores import arrays


@pytest.fixture(params=[".b2d", ".b2z"])
def path(request, tmp_path):
    return tmp_path / f"x{request.param}"


def told(path):
    """Return arrays and attributes by path, as coquina reads them."""
    found = {}

    def note(name, node):
        attrs = {key: node.attrs[key] for key in node.attrs}
        found[name] = ("group" if isinstance(node, cq.stores.Group) else node[...].tolist(), attrs)

    with cq.open(path) as store:
        found[""] = ("group", dict(store.attrs))
        store.visititems(note)
    return found


def _attrs(node):
    """Return the attributes, without the one in which coquina keeps what it knows of a frame."""
    return {name: value for name, value in node.vlmeta[:].items() if name != "coquina"}


def told_by_peer(path):
    """Return the same as python-blosc2 reads it."""
    with blosc2.TreeStore(str(path), mode="r") as store:
        found = {"": ("group", _attrs(store))}
        for key in store.keys():  # noqa: SIM118
            node = store[key]
            if isinstance(node, blosc2.TreeStore):
                found[key.strip("/")] = ("group", _attrs(node))
            else:
                found[key.strip("/")] = (node[()].tolist(), _attrs(node.schunk))
        return found


def test_all_that_is_written_is_read_back_here_and_by_python_blosc2(path):
    with cq.open(path, "w") as store:
        for key, array in arrays().items():
            store[key] = array
        store.attrs["title"] = "the top"
        store.attrs["origin"] = (1, None, {"x": [2.5]})
        store["g"].attrs["unit"] = "K"
        store["a"].attrs["sensor"] = 7
        store.create_group("bare/one").attrs["k"] = 3
    assert not [name for name in os.listdir(path.parent) if name != path.name]
    with cq.open(path) as store:
        for key, wanted in arrays().items():
            assert store[key].dtype == wanted.dtype
            assert np.array_equal(store[key][...], wanted)
    ours = told(path)
    assert ours == told_by_peer(path)
    assert ours[""][1] == {"title": "the top", "origin": (1, None, {"x": [2.5]})}
    assert ours["g"][1] == {"unit": "K"}
    assert ours["bare/one"] == ("group", {"k": 3})


def test_python_blosc2_changes_what_coquina_wrote_and_the_other_way_round(path):
    with cq.open(path, "w") as store:
        store["g/a"] = np.arange(10)
        store["b"] = np.arange(5)
    with blosc2.TreeStore(str(path), mode="a") as store:
        store["/g/new"] = np.arange(3)
        store.vlmeta["more"] = 1
        del store["/b"]
    with cq.open(path, "r+") as store:
        assert dict(store.attrs) == {"more": 1}
        assert "b" not in store
        store["g/new"][1] = 77
        store["g/a"].append([5])
        store.attrs["more"] = 2
    found = told_by_peer(path)
    assert found["g/new"][0] == [0, 77, 2]
    assert found["g/a"][0] == [*range(10), 5]
    assert found[""][1] == {"more": 2}


def test_groups_are_changed_by_h5py_s_words(path):
    with cq.open(path, "a") as store:
        data = store.create_dataset("d/zeros", (5, 6), "i2", chunks=(2, 3), codec="lz4")
        assert data is store["d/zeros"]
        assert data.chunks == (2, 3)
        assert data.info.codec == "lz4"
        data[1] = 5
        assert np.array_equal(store.create_dataset("r", (2, 2), "f4", [1, 2, 3, 4])[...], [[1, 2], [3, 4]])
        assert store.require_group("d").name == "/d"
        assert store.require_group("new").name == "/new"
        store.move("d/zeros", "new/deep/ones")
        assert data.is_closed
        assert len(store["d"]) == 0
        assert store["new/deep/ones"][1, 2] == 5
        store.move("new", "moved")
        store["gone/a"] = 1
        del store["gone/a"]
        assert list(store["gone"]) == []
        del store["gone"]
        store.update(scalar=3.5)
        assert store.mode == "r+"
        store["moved"].attrs.update(a=1, b=2)
        del store["moved"].attrs["a"]
        with pytest.raises(TypeError, match="no group"):
            store.require_group("r")
        with pytest.raises(KeyError):
            store["moved"].attrs["a"]
        with pytest.raises(KeyError):
            del store["nothing"]
        with pytest.raises(TypeError, match="blocks"):
            store.create_dataset("x", data=[1], block=3)
    found = told(path)
    assert set(found) == {"", "d", "r", "moved", "moved/deep", "moved/deep/ones", "scalar"}
    assert found["moved"][1] == {"b": 2}
    assert found == told_by_peer(path)


def test_what_is_there_is_not_written_over(path):
    with cq.open(path, "w") as store:
        store["g/a"] = np.arange(3)
        for change in (
            lambda: store.create_dataset("g/a", data=1),
            lambda: store.create_group("g"),
            lambda: store.create_dataset("g", data=1),
            lambda: store.create_dataset("g/a/below", data=1),
            lambda: store.move("g", "g/a"),
            lambda: store.move("g", "g/new"),
            lambda: store.create_group("/"),
        ):
            with pytest.raises(ValueError, match=r"g|names nothing"):
                change()
    assert set(told(path)) == {"", "g", "g/a"}


_REFUSED = [
    "..",
    "../out",
    "g/../../out",
    ".",
    "...",
    "a:b",
    "a\\b",
    "n\n",
    "\0",
    "__vlmeta__",
    "g/__vlmeta__",
]


@pytest.mark.parametrize("name", _REFUSED)
def test_no_name_leads_out_of_the_store_or_to_its_own_files(path, name):
    with cq.open(path, "w") as store:
        for change in (store.create_group, lambda name: store.create_dataset(name, data=1)):
            with pytest.raises(ValueError, match="name"):
                change(name)
        for group in ("x.b2nd", "embed.b2e", "x.b2f/below"):
            with pytest.raises(ValueError, match="file"):
                store.create_group(group)
        store["embed"], store["x.b2nd"], store["x"] = 1, 2, 3
    assert {key: value for key, (value, _) in told(path).items() if key} == {"embed": 1, "x.b2nd": 2, "x": 3}
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_that_is_a_link_is_not_written_through(tmp_path):
    path = tmp_path / "x.b2d"
    cq.open(path, "w").close()
    (tmp_path / "outside").mkdir()
    (path / "g").symlink_to(tmp_path / "outside")
    with cq.open(path, "r+") as store, pytest.raises(OSError, match="link"):
        store["g/a"] = 1
    assert not os.listdir(tmp_path / "outside")


def test_one_writer_at_a_time(path):
    with cq.open(path, "w") as store:
        store["a"] = np.arange(3)
        store.flush()
        with pytest.raises(BlockingIOError):
            cq.open(path, "r+")
        assert np.array_equal(cq.open(path)["a"][...], np.arange(3))
    with cq.open(path, "r+") as store:
        assert "a" in store


def test_a_folder_that_a_killed_writer_left_is_no_lock(tmp_path):
    path = tmp_path / "x.b2z"
    left = tmp_path / ".x.b2z.part"
    (left / "1").mkdir(parents=True)
    (left / "lock.b2f").write_bytes(b"torn")
    with cq.open(path, "w") as store:
        store["a"] = 1
        with pytest.raises(BlockingIOError):
            cq.open(path, "a")
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", [".b2d", ".b2z"])
def test_the_folder_of_a_new_store_is_there_before(tmp_path, suffix):
    with pytest.raises(FileNotFoundError):
        cq.open(tmp_path / "none" / f"x{suffix}", "w")
    assert not os.listdir(tmp_path)


def test_modes(path):
    with pytest.raises(FileNotFoundError):
        cq.open(path, "r+")
    with cq.open(path, "x") as store:
        store["a"] = 1
        store.attrs["a"] = 1
    with pytest.raises(FileExistsError):
        cq.open(path, "x")
    with cq.open(path, "a") as store:
        assert list(store) == ["a"]
    with cq.open(path) as store:
        assert store.mode == "r"
        for change in (
            lambda: store.create_group("g"),
            lambda: store.__setitem__("b", 1),
            lambda: store.__delitem__("a"),
            lambda: store.move("a", "b"),
            lambda: store.flush(),
        ):
            with pytest.raises(ValueError, match="reading"):
                change()
    with cq.open(path, "w") as store:
        assert list(store) == []
        assert dict(store.attrs) == {}
    assert set(told(path)) == {""}


def test_only_stores_are_replaced(tmp_path):
    (tmp_path / "x.b2d").mkdir()
    (tmp_path / "x.b2d" / "mine.txt").write_text("mine")
    for mode in ("w", "a", "x"):
        with pytest.raises((FileExistsError, FileNotFoundError)):
            cq.open(tmp_path / "x.b2d", mode)
    assert os.listdir(tmp_path / "x.b2d") == ["mine.txt"]


def test_an_archive_changes_by_commits_alone(tmp_path):
    path = tmp_path / "x.b2z"
    with cq.open(path, "w") as store:
        store["a"] = np.arange(100)
    before = path.read_bytes()
    with cq.open(path, "r+") as store:
        assert store["a"][5] == 5
    assert path.read_bytes() == before
    store = cq.open(path, "r+")
    store["a"][...] = 0
    store.__exit__(KeyError, KeyError("undone"), None)
    assert path.read_bytes() == before
    with cq.open(path, "r+") as store:
        store["b"] = 1
        assert path.read_bytes() == before
        store.flush()
        assert set(told(path)) == {"", "a", "b"}
        store["a"][0] = 5
        store["b"][...] = 2
        store.flush()
        assert told(path)["a"][0][0] == 5
        del store["b"]
    assert set(told(path)) == {"", "a"}


def test_members_that_have_not_changed_are_copied_as_they_are(tmp_path):
    path = tmp_path / "x.b2z"
    peer_stores.tree(path)
    with zipfile.ZipFile(path) as archive:
        before = {name: archive.read(name) for name in archive.namelist()}
    with cq.open(path, "r+") as store:
        store["new"] = np.arange(3)
        store.move("a", "moved")
        del store["noise"]
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        after = {name: archive.read(name) for name in archive.namelist()}
    assert all(info.compress_type == zipfile.ZIP_STORED for info in infos)
    sizes = [info.file_size for info in infos[:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert infos[-1].filename == "embed.b2e"
    before["moved.b2nd"] = before.pop("a.b2nd")
    del before["noise.b2nd"], after["new.b2nd"]
    assert before == after


def test_a_damaged_member_is_not_copied(tmp_path):
    path = tmp_path / "x.b2z"
    peer_stores.tree(path)
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("noise.b2nd")
    content = bytearray(path.read_bytes())
    content[info.header_offset + 50_000] ^= 1
    path.write_bytes(content)
    store = cq.open(path, "r+")
    store["new"] = 1
    with pytest.raises(cq.CorruptError, match="CRC"):
        store.close()
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["x.b2z"]


def test_groups_of_a_writable_store_are_pickled_by_their_path(path):
    with cq.open(path, "w") as store:
        store["g/a"] = np.arange(3)
        store.flush()
        again = pickle.loads(pickle.dumps(store["g"]))
        assert again.file.mode == "r"
        assert np.array_equal(again["a"][...], np.arange(3))


_NAMES = st.text("ab. é", min_size=1, max_size=3).filter(lambda name: name.strip("."))
_VALUES = st.one_of(
    st.integers(-5, 5), st.lists(st.floats(-1, 1), max_size=4), st.text("xyé", max_size=3).map(np.array)
)
_ATTRS = st.dictionaries(
    st.text("uvw", min_size=1, max_size=2), st.integers(0, 99) | st.text("é", max_size=2), max_size=2
)
_LEAVES = st.tuples(_VALUES, _ATTRS)
_TREES = st.recursive(
    _LEAVES, lambda below: st.tuples(st.dictionaries(_NAMES, below, max_size=3), _ATTRS), max_leaves=8
)


def _write(group, tree, wanted, above=""):
    below, attrs = tree
    group.attrs.update(attrs)
    wanted[above] = ("group", dict(group.attrs))
    for name, one in below.items():
        path = f"{above}/{name}".strip("/")
        if isinstance(one[0], dict):
            _write(group.create_group(name), one, wanted, path)
        else:
            group[name] = one[0]
            wanted[path] = (np.asarray(one[0]).tolist(), {})


@pytest.mark.parametrize("suffix", [".b2d", ".b2z"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=st.tuples(st.dictionaries(_NAMES, _TREES, max_size=4), _ATTRS))
def test_random_trees_are_read_back_by_both(tmp_path, suffix, tree):
    path, wanted = tmp_path / f"x{suffix}", {}
    with cq.open(path, "w") as store:
        _write(store, tree, wanted)
    assert told(path) == wanted
    assert told_by_peer(path) == wanted
