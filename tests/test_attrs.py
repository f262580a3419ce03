"""Metadata of arrays and frames: values there and back, shared with python-blosc2, hostile bytes."""

from contextlib import suppress

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coquina as cq
from coquina.msgpack_values import pack, unpack

blosc2 = pytest.importorskip("blosc2")

RECORD = np.dtype([("a", "<i4"), ("b", ">f8", (2,)), ("c", [("d", "S3")])])
VALUES = {
    "nothing": None,
    "truth": True,
    "int": -(2**63),
    "large": 2**64 - 1,
    "float": 1.5,
    "infinite": float("-inf"),
    "complex": 1 - 2.5j,
    "text": "naïve ☃",
    "bytes": b"\x00\xff",
    "list": [1, [2, "x"], []],
    "tuple": (1, (2, ()), [3]),
    "dict": {"a": 1, "b": {"c": (1, 2)}, "": None},
    "set": {1, 2, 3},
    "array": np.arange(6, dtype=">i2").reshape(2, 3),
    "empty": np.empty((0, 4), "f4"),
    "dates": np.array(["2020-01-01", "NaT"], "M8[D]"),
    "records": np.zeros(3, RECORD),
    "nested": [{"x": np.ones(2)}, {4}],
}


def same(a, b):
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and a.dtype == b.dtype
            and a.shape == b.shape
            and a.tobytes() == b.tobytes()
        )
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b


def test_values_come_back_from_memory_and_from_files(tmp_path):
    path = tmp_path / "a.b2nd"
    few = dict(list(VALUES.items())[:9])
    for a in (cq.zeros(3), cq.zeros(3, path=path)):
        a.attrs.update(few)
        assert set(a.attrs) == set(few)
        assert all(same(value, a.attrs[name]) for name, value in few.items())
        a.close()
    a = cq.open(path, "a")
    assert all(same(value, a.attrs[name]) for name, value in few.items())
    del a.attrs["int"]
    a.attrs["text"] = "another"
    a.close()
    a = cq.open(path)
    assert "int" not in a.attrs
    assert (a.attrs["text"], len(a.attrs)) == ("another", len(few) - 1)
    assert "another" in repr(a.attrs)
    with pytest.raises(KeyError):
        a.attrs["int"]
    with pytest.raises(ValueError, match="reading only"):
        a.attrs["x"] = 1


@pytest.mark.parametrize("name", VALUES)
def test_both_packages_read_what_the_other_wrote(name, tmp_path):
    value = VALUES[name]
    a = cq.zeros(3, path=tmp_path / "ours.b2nd")
    a.attrs["v"] = value
    a.close()
    theirs = blosc2.open(str(tmp_path / "ours.b2nd"), mode="r")
    assert same(value, theirs.vlmeta["v"])
    b = blosc2.zeros((3,), urlpath=str(tmp_path / "theirs.b2nd"), mode="w")
    b.vlmeta["v"] = value
    del b
    assert same(value, cq.open(tmp_path / "theirs.b2nd").attrs["v"])
    with cq.open(tmp_path / "theirs.b2nd", "a") as c:
        c.attrs["w"] = value
    both = blosc2.open(str(tmp_path / "theirs.b2nd"), mode="r")
    assert same(both.vlmeta["v"], value)
    assert same(both.vlmeta["w"], value)


def test_fixed_metadata_are_read(tmp_path):
    blosc2.asarray(np.arange(5), urlpath=str(tmp_path / "a.b2nd"), mode="w", meta={"unit": {"m": 1}})
    meta = cq.open(tmp_path / "a.b2nd").meta
    assert meta["unit"] == {"m": 1}
    assert set(meta) == {"unit", "b2nd"}
    assert meta["b2nd"][2] == [5]
    with pytest.raises(TypeError):
        meta["unit"] = 1


def test_numpys_scalars_come_back_as_plain_values():
    for value in (
        np.float32(0.5),
        np.int8(3),
        np.bool_(True),
        np.str_("x"),
        np.bytes_(b"x"),
        np.complex64(1j),
    ):
        assert unpack(pack(value)) == value.item()
        assert type(unpack(pack(value))) is type(value.item())


def test_what_cannot_be_stored_is_refused(tmp_path):
    for value in (object(), [object()], np.array([None]), print, 2**64, cq.zeros(3)):
        with pytest.raises((TypeError, OverflowError)):
            pack(value)
    deep = []
    for _ in range(2000):
        deep = [deep]
    with pytest.raises((ValueError, RecursionError)):
        pack(deep)
    with pytest.raises(ValueError, match="31"):
        cq.zeros(3, path=tmp_path / "a.b2nd").attrs["n" * 32] = 1


def test_values_that_refer_to_data_or_code_are_refused(tmp_path):
    for code in (42, 43, 99):
        with pytest.raises(cq.UnsupportedError, match=str(code)):
            unpack(msgpack.packb([1, msgpack.ExtType(code, b"abc")]))
    b = blosc2.zeros((3,), urlpath=str(tmp_path / "a.b2nd"), mode="w")
    b.vlmeta["inner"] = blosc2.asarray(np.arange(3))
    del b
    with pytest.raises(cq.UnsupportedError, match="42"):
        cq.open(tmp_path / "a.b2nd").attrs["inner"]


def nested(depth):
    value = msgpack.packb([])
    for _ in range(depth):
        value = msgpack.packb(msgpack.ExtType(45, value))
    return value


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xc1",
        b"\xdd\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xff",
        b"\x91" * 100_000,
        nested(1000),
        msgpack.packb(1) + b"\x00",
        msgpack.packb({(1,): 2}) if False else b"\x81\x91\x01\x02",
        msgpack.packb(msgpack.ExtType(44, b"123")),
        *(
            msgpack.packb(msgpack.ExtType(46, msgpack.packb(payload)))
            for payload in (
                [],
                {},
                {"shape": [2], "dtype": {"str": "<i4"}, "data": b"1234"},
                {"shape": [-1], "dtype": {"str": "<i4"}, "data": b"1234"},
                {"shape": [2**62, 2**62], "dtype": {"str": "|O"}, "data": b""},
                {"shape": [1], "dtype": {"str": "|O"}, "data": b"12345678"},
                {"shape": [1], "dtype": {"descr": 5}, "data": b""},
                {"shape": [1], "dtype": {"str": "zzz"}, "data": b"1"},
                {"shape": [3], "values": [1, 2]},
            )
        ),
    ],
    ids=lambda content: repr(content[:12]),
)
def test_hostile_values_are_corrupt(content):
    with pytest.raises(cq.CorruptError):
        unpack(content)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_an_error(content):
    with suppress(cq.CoquinaError):
        unpack(content)


PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
)


@given(
    st.recursive(
        PLAIN | st.complex_numbers(allow_nan=False),
        lambda inner: (
            st.lists(inner).filter(lambda x: x[:1] != ["__tuple__"])
            | st.lists(inner).map(tuple)
            | st.dictionaries(st.text(), inner)
        ),
        max_leaves=20,
    )
)
def test_any_value_comes_back(value):
    assert same(unpack(pack(value)), value)


def test_metadata_that_is_no_msgpack_is_its_bytes(tmp_path):
    # Reading one such layer, or all of them, was a CorruptError.
    raw = {"text": b"plain text, not msgpack", "two": msgpack.packb(1) + msgpack.packb(2)}
    theirs = blosc2.asarray(
        np.arange(100), urlpath=str(tmp_path / "a.b2nd"), mode="w", meta={"mine": {"a": 1}}
    )
    schunk = theirs.schunk
    layers = schunk.vlmeta
    layers["first"] = {"x": [1, 2]}
    for name, content in raw.items():
        super(type(layers), layers).set_vlmeta(name, content, typesize=1)
    layers["last"] = 5
    wanted = {"first": {"x": [1, 2]}, **raw, "last": 5}
    with cq.open(tmp_path / "a.b2nd", "a") as array:
        assert dict(array.attrs) == wanted
        assert "plain text" in repr(array.attrs)
        assert array.meta["mine"] == {"a": 1}
        with array.copy(path=tmp_path / "b.b2nd") as copy:
            assert dict(copy.attrs) == wanted
        array.attrs["new"] = 1
        del array.attrs["two"]
        assert array.attrs["text"] == raw["text"]
    with cq.open(tmp_path / "b.b2nd") as copy:
        assert copy.handle.layer("text") == raw["text"]


@pytest.mark.parametrize("text", ["f4,", "a4", "i4,f8", "(2,)f4", "float,", "O,", "<f3"])
@pytest.mark.parametrize("is_field", [False, True])
def test_dtypes_that_files_do_not_have_are_errors_of_ours(text, is_field):
    # NumPy runs Python's parser on some: it raised SyntaxError.
    dtype = {"descr": [["a", text]]} if is_field else {"str": text}
    payload = msgpack.packb({"dtype": dtype, "shape": [1], "data": bytes(4)})
    with pytest.raises(cq.CorruptError):
        unpack(msgpack.packb(msgpack.ExtType(46, payload)))
