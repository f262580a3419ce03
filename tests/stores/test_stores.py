"""Stores that python-blosc2 writes are groups of arrays here."""

import io
import os
import pickle

import blosc2
import numpy as np
import pytest

import coquina as cq

from . import peer_stores
from .peer_stores import STORES, arrays


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    paths = {}
    for name, (_, suffix, write) in STORES.items():
        paths[name] = folder / f"{name}{suffix}"
        write(paths[name])
    return paths


@pytest.fixture(params=list(STORES))
def store(request, written):
    with cq.open(written[request.param]) as store:
        yield store


def leaves(group):
    found = {}
    group.visititems(lambda name, node: found.update({name: node}) if isinstance(node, cq.Array) else None)
    return found


def test_every_array_is_read_by_its_path(store):
    for key, wanted in arrays().items():
        array = store[key]
        assert isinstance(array, cq.Array)
        assert array.dtype == wanted.dtype
        assert array.shape == wanted.shape
        assert np.array_equal(array[...], wanted)
        assert f"/{key}" in store
        assert np.array_equal(store[f"/{key}/"][...], wanted)


def test_the_keys_are_those_that_python_blosc2_lists(written):
    for name, (kind, _, _) in STORES.items():
        path = str(written[name])
        peer = blosc2.EmbedStore(path, mode="r") if kind == "EmbedStore" else blosc2.open(path, mode="r")
        listed = []
        with cq.open(path) as store:
            assert store.kind == kind
            store.visit(listed.append)
        # A TreeStore lists its groups too.
        groups = set() if kind == "TreeStore" else {"g", "g/deeper"}
        assert set(listed) - groups == {key.strip("/") for key in peer.keys()}  # noqa: SIM118


def test_a_group_has_the_vocabulary_of_h5py(store):
    group = store["g"]
    assert isinstance(group, cq.stores.Group)
    assert group.name == "/g"
    assert group.parent is store
    assert group.file is store
    assert group["deeper"].parent == group
    assert set(group) >= {"b", "deeper"}
    assert list(group) == sorted(group)
    assert len(group) == len(list(group))
    assert "deeper/c" in group
    assert "nothing" not in group
    assert 5 not in group
    assert np.array_equal(group["/a"][...], arrays()["a"])
    assert np.array_equal(dict(group.items())["b"][...], arrays()["g/b"])
    assert group.get("nothing") is None
    assert group.get("b", getclass=True) is cq.Array
    with pytest.raises(KeyError, match="nothing"):
        group["nothing"]
    assert group.visit(lambda name: name if name.endswith("/c") else None) == "deeper/c"
    assert set(leaves(group)) == {key[2:] for key in arrays() if key.startswith("g/")}
    assert repr(group).startswith("<Group '/g'")
    assert "deeper" in group._repr_html_()


def test_a_name_may_be_an_array_and_lead_to_others(written):
    with cq.open(written["directory"]) as store:
        assert np.array_equal(store["a"][...], arrays()["a"])
        assert np.array_equal(store["a/below"][...], np.arange(4))


@pytest.mark.parametrize("name", ["tree directory", "tree archive"])
def test_attributes_of_groups_and_arrays_are_those_of_vlmeta(written, name):
    with cq.open(written[name]) as store:
        assert dict(store.attrs) == {"title": "the top", "origin": (1, None, {"x": [2.5]})}
        assert dict(store["g"].attrs) == {"unit": "K"}
        assert dict(store["g/deeper"].attrs) == {}
        assert dict(store["a"].attrs) == {"sensor": 7}
        assert "__vlmeta__" not in store
        assert "g/__vlmeta__" not in store
        assert list(store["g/chunks"]) == [b"x" * 100, b"x" * 100, b"x" * 50]
        for group in (store, store["g/deeper"]):
            with pytest.raises(Exception, match="read"):
                group.attrs["new"] = 1


def test_arrays_in_an_archive_are_read_in_place(written):
    path = str(written["archive"])
    with cq.open(path) as store:
        noise = store["noise"]
    assert noise.path == path
    assert noise.handle.offset > 0
    assert np.array_equal(pickle.loads(pickle.dumps(noise))[5:9], arrays()["noise"][5:9])


def test_what_was_taken_out_of_a_store_outlives_it(written):
    for path in written.values():
        with cq.open(path) as store:
            group, array = store["g"], store["a"]
        assert store.is_closed
        assert not store
        assert repr(store) == "<Store, closed>"
        for use in (lambda: store["a"], lambda: list(group), lambda: group.attrs):  # noqa: B023
            with pytest.raises(ValueError, match="closed"):
                use()
        assert np.array_equal(array[...], arrays()["a"])


def test_stores_are_pickled_by_their_path(written):
    for path in written.values():
        with cq.open(path) as store:
            again = pickle.loads(pickle.dumps(store["g"]))
        assert again.name == "/g"
        assert again.file.path == str(path)


@pytest.mark.parametrize("name", ["tree archive", "archive, all embedded", "embedded"])
def test_stores_in_memory_and_behind_file_objects(written, name):
    content = written[name].read_bytes()
    for source in (content, memoryview(content)):
        store = cq.from_bytes(source)
        assert np.array_equal(store["g/b"][...], arrays()["g/b"])
        with pytest.raises(TypeError):
            pickle.dumps(store)
    with open(written[name], "rb") as file:
        assert np.array_equal(cq.open(file)["g/b"][...], arrays()["g/b"])
    assert np.array_equal(cq.open(io.BytesIO(content))["g/b"][...], arrays()["g/b"])


@pytest.mark.parametrize("name", ["tree archive", "embedded"])
def test_stores_far_away_are_read_by_ranges(written, name):
    import fsspec

    content = written[name].read_bytes()
    with fsspec.open("memory://far/store", "wb") as file:
        file.write(content)
    store = cq.open("memory://far/store")
    assert np.array_equal(store["g/b"][3], arrays()["g/b"][3])
    assert 0 < store.remote.bytes_read < 3 * len(content)


@pytest.mark.parametrize("mode", ["r+", "a"])
def test_stores_without_groups_are_not_opened_to_be_changed(written, mode):
    for name in ("directory", "archive"):
        with pytest.raises(cq.UnsupportedError, match="read"):
            cq.open(written[name], mode)


def test_an_archive_that_python_blosc2_has_changed_is_noticed(tmp_path):
    path = tmp_path / "x.b2z"
    peer_stores.tree(path)
    store = cq.open(path)
    with blosc2.TreeStore(str(path), mode="a") as peer:
        peer["/more"] = np.arange(5)
    with pytest.raises(OSError, match="replaced"):
        store["a"]
    assert np.array_equal(cq.open(path)["more"][...], np.arange(5))


def test_frames_of_other_names_are_leaves(tmp_path):
    path = tmp_path / "x.b2d"
    peer_stores.tree(path)
    (path / "a.b2nd").rename(path / "other.name")
    (path / "notes.txt").write_text("no frame")
    with cq.open(path) as store:
        assert "other" in store
        assert "notes" not in store
        assert set(store) | {"a"} == {key.strip("/") for key in _top(path)} | {"a"}


def _top(path):
    with pytest.warns(UserWarning, match="uses extension"):
        return [key for key in blosc2.open(str(path), mode="r").keys() if key.count("/") == 1]  # noqa: SIM118


def test_a_folder_without_the_frame_of_a_store_is_none(tmp_path):
    path = tmp_path / "x.b2d"
    peer_stores.tree(path)
    os.remove(path / "embed.b2e")
    with pytest.raises(FileNotFoundError, match="folder"):
        cq.open(path)
