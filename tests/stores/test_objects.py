"""Objects, batches, lists and packed arrays of python-blosc2 are what they are; no pickle is loaded."""

from itertools import product

import blosc2
import numpy as np
import pytest

import coquina as cq

VALUES = [
    None,
    True,
    -(2**40),
    2.5,
    "tëxt",
    b"\0\1",
    [1, [2]],
    (1, ("a",)),
    {"k": [1]},
    1 + 2j,
    {1, 2},
    np.arange(6).reshape(2, 3),
    np.zeros(3, "i4,f8"),
]


def is_same(found, wanted):
    if isinstance(wanted, np.ndarray):
        return found.dtype == wanted.dtype and np.array_equal(found, wanted)
    return type(found) is type(wanted) and found == wanted


def objects(path):
    made = blosc2.ObjectArray(urlpath=str(path), mode="w")
    made.extend(VALUES)
    made.vlmeta["unit"] = "K"
    return made


def test_objects_are_read_by_number(tmp_path):
    path = tmp_path / "x.b2f"
    peer = objects(path)
    for found in (cq.open(path), cq.from_bytes(path.read_bytes()), cq.from_bytes(peer.to_cframe())):
        assert isinstance(found, cq.stores.ObjectArray)
        assert len(found) == len(VALUES)
        assert all(is_same(*pair) for pair in zip(found, VALUES, strict=True))
        assert found[-7:4:-1] == VALUES[-7:4:-1]
        assert dict(found.attrs) == {"unit": "K"}
        with pytest.raises(IndexError):
            found[len(VALUES)]
        assert repr(found).startswith(f"<ObjectArray of {len(VALUES)}")
    with cq.open(path) as found:
        assert found.path == str(path)
    assert found.is_closed


@pytest.mark.parametrize("serializer", ["msgpack", "arrow"])
@pytest.mark.parametrize("items_per_block", [None, 2])
def test_batches_are_lists_of_values(tmp_path, serializer, items_per_block):
    batches = [[1, 2, 3], list(range(5000)), [-5, None]]
    if serializer == "msgpack":
        batches += [["a", (1, "b"), {"x": [None]}]]
    path = tmp_path / "x.b2b"
    options = {} if items_per_block is None else {"items_per_block": items_per_block}
    made = blosc2.BatchArray(urlpath=str(path), mode="w", serializer=serializer, **options)
    made.extend(batches)
    found = cq.open(path)
    assert isinstance(found, cq.stores.BatchArray)
    assert list(found) == batches
    flat = [value for batch in batches for value in batch]
    assert list(found.flat) == flat == list(made.iter_items())
    assert found.flat[-1] == flat[-1]
    assert found.flat[2:9:3] == flat[2:9:3]
    assert len(found.flat) == len(flat)


@pytest.mark.parametrize(
    ("storage", "serializer"), [("batch", "msgpack"), ("batch", "arrow"), ("vl", "msgpack")]
)
def test_lists_are_values(tmp_path, storage, serializer):
    wanted = [[1, 2], None, [], [3] * 10, *([n] for n in range(3000))]
    made = blosc2.ListArray(
        item_spec=blosc2.int64(),
        nullable=True,
        storage=storage,
        serializer=serializer,
        urlpath=str(tmp_path / "x.b2b"),
        mode="w",
    )
    made.extend(wanted)
    made.flush()
    found = cq.open(tmp_path / "x.b2b")
    assert list(found) == wanted
    assert found[1] is None


def test_objects_lie_in_stores(tmp_path):
    with blosc2.TreeStore(str(tmp_path / "x.b2z"), mode="w") as store:
        for name in ("objects", "batches"):
            made = blosc2.ObjectArray() if name == "objects" else blosc2.BatchArray()
            made.extend([[1, "a"], [2]])
            store[f"/g/{name}"] = made
    with cq.open(tmp_path / "x.b2z") as store:
        assert list(store["g/objects"]) == [[1, "a"], [2]]
        assert list(store["g/batches"].flat) == [1, "a", 2]


@pytest.mark.parametrize("dtype", ["f8", "<i2", ">f4", "?", "U3", "M8[ns]", "i4,f8", "c16"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (0, 2), (70, 3000)])
def test_packed_arrays_are_arrays(tmp_path, dtype, shape):
    wanted = np.zeros(shape, dtype)
    if wanted.dtype.fields is None:
        wanted[...] = np.arange(wanted.size).reshape(shape).astype(wanted.dtype)
    path = tmp_path / "x.b2frame"
    blosc2.save_array(wanted, str(path), mode="w")
    blosc2.save_tensor(wanted, str(tmp_path / "tensor.bl2"), mode="w")
    sources = [cq.open(path), cq.open(tmp_path / "tensor.bl2"), cq.from_bytes(blosc2.pack_array2(wanted))]
    for found in sources:
        assert isinstance(found, cq.Array)
        assert found.dtype == wanted.dtype
        assert np.array_equal(found[...], wanted)
        assert not found.attrs


def test_pickles_are_not_loaded(tmp_path):
    packed = blosc2.pack_array(np.arange(1000))
    with pytest.raises(cq.UnsupportedError):
        cq.from_bytes(packed)
    path = tmp_path / "x.b2f"
    made = blosc2.ObjectArray(urlpath=str(path), mode="w")
    made.append(blosc2.arange(5))
    with pytest.raises(cq.UnsupportedError, match="extension 42"):
        cq.open(path)[0]


def test_what_is_opened_to_be_changed_or_mended_is_its_chunks(tmp_path):
    objects(tmp_path / "x.b2f")
    with cq.open(tmp_path / "x.b2f", "a") as frame:
        assert isinstance(frame, cq.Frame)
        frame.append(b"\xa3new")
    assert blosc2.open(str(tmp_path / "x.b2f"), mode="r")[-1] == "new"
    assert isinstance(cq.open(tmp_path / "x.b2f", damaged=True), cq.Frame)


def batches(path):
    blosc2.BatchArray(urlpath=str(path), mode="w", items_per_block=2).extend([[1, "two", {"x": 3}], [4, [5]]])


def packed(path):
    blosc2.save_array(np.arange(90, dtype="i4"), str(path), mode="w")


@pytest.mark.parametrize("write", [objects, batches, packed])
def test_a_changed_bit_is_an_error_of_ours_or_some_values(tmp_path, write):
    write(tmp_path / "x.b2f")
    content = (tmp_path / "x.b2f").read_bytes()
    errors = 0
    for at, bit in product(range(len(content)), range(8)):
        damaged = bytearray(content)
        damaged[at] ^= 1 << bit
        try:
            found = cq.from_bytes(bytes(damaged))
            list(found)
            if isinstance(found, cq.stores.BatchArray):
                list(found.flat)
        except cq.CoquinaError:
            errors += 1
    assert errors > len(content)
    for length in range(len(content)):
        with pytest.raises(cq.CoquinaError):
            list(cq.from_bytes(content[:length]))


@pytest.mark.parametrize(
    "said",
    [
        5,
        ("numpy", (10,)),
        ("numpy", (-10,), "<i4"),
        ("numpy", (2**62, 4), "<i4"),
        ("numpy", (11,), "<i4"),
        ("numpy", (10,), "nonsense"),
        ("numpy", (10,), [5]),
        ("numpy", "10", "<i4"),
    ],
)
def test_wrong_shapes_of_packed_arrays_are_errors(tmp_path, said):
    blosc2.save_array(np.arange(10, dtype="i4"), str(tmp_path / "x"), mode="w")
    with cq.open(tmp_path / "x", "a") as frame:
        frame.attrs["__pack_tensor__"] = said
    with pytest.raises(cq.CorruptError):
        cq.open(tmp_path / "x")
    with cq.open(tmp_path / "x", "a") as frame:
        frame.attrs["__pack_tensor__"] = ("numpy", (5,), "|O")
    with pytest.raises(cq.UnsupportedError, match="objects"):
        cq.open(tmp_path / "x")
